"""Steps of a pipeline as nodes of a graph.

Written here are those that tables need: columns chosen, missing values filled and marked,
categories with rare and unknown levels, scaling. Any other step is left to skl2onnx, which knows
most of scikit-learn; a step that it does not know either is named in the error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from ..tables.columns import LARGEST_INPUT, Numbers, Text
from .categories import encoded
from .graph import OPSETS, CannotExport, Columns, Graph, joined


def transformed(graph: Graph, step: Any, columns: Columns, name: str) -> Columns:
    """Return the columns that a fitted step makes of columns.

    Parameters
    ----------
    graph : Graph
        Where the nodes go.
    step : transformer
        Fitted, or "passthrough".
    columns : Columns
        What it is given.
    name : str
        Its place in the pipeline, for messages.

    Returns
    -------
    Columns
        What it gives.
    """
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return columns
    if isinstance(step, Pipeline):
        for inner, part in step.steps:
            columns = transformed(graph, part, columns, f"{name} / {inner}")
        return columns
    if isinstance(step, ColumnTransformer):
        return _by_column(graph, step, columns, name)
    if isinstance(step, FeatureUnion):
        return _weighted(graph, step, [(*part, columns) for part in step.transformer_list], name)
    converter = CONVERTERS.get(type(step))
    if converter is not None:
        return converter(graph, step, columns)
    if isinstance(step, FunctionTransformer) and step.func is None:
        return columns
    return _by_skl2onnx(graph, step, columns, name)


def text_columns(step: Any) -> set[int]:
    """Return the numbers of the columns that a fitted step takes as text.

    Parameters
    ----------
    step : transformer
        Fitted.

    Returns
    -------
    set of int
        Numbers of columns.
    """
    if isinstance(step, ColumnTransformer):
        return {int(indices[j]) for _, part, indices in _branches(step) for j in text_columns(part)}
    if isinstance(step, Pipeline):
        return text_columns(step.steps[0][1])
    if isinstance(step, Text):
        return set(range(step.n_features_in_))
    learned = getattr(step, "categories_", None)
    if learned is None and isinstance(step, SimpleImputer):
        learned = [[value] for value in step.statistics_]
    return {j for j, values in enumerate(learned or ()) if any(isinstance(v, str) for v in values)}


def used_columns(step: ColumnTransformer) -> set[int]:
    """Return the numbers of the columns that a fitted step does not drop.

    Parameters
    ----------
    step : ColumnTransformer
        Fitted.

    Returns
    -------
    set of int
        Numbers of columns.
    """
    return {int(j) for _, _, numbers in _branches(step) for j in numbers}


def _branches(step: ColumnTransformer) -> list[tuple[str, Any, np.ndarray]]:
    """Return name, fitted transformer and column numbers of what is not dropped."""
    branches = []
    for name, part, _ in step.transformers_:
        indices = step._transformer_to_input_indices[name]
        numbers = np.arange(step.n_features_in_)[indices]
        if not (isinstance(part, str) and part == "drop") and len(numbers):
            branches.append((name, part, numbers))
    return branches


def _by_column(graph: Graph, step: ColumnTransformer, columns: Columns, name: str) -> Columns:
    branches = _branches(step)
    parts = [(inner, part, columns.take(graph, numbers)) for inner, part, numbers in branches]
    return _weighted(graph, step, parts, name)


def _weighted(graph: Graph, step: Any, parts: list[tuple[str, Any, Columns]], name: str) -> Columns:
    """Return what the parts of a step make of their columns, side by side."""
    blocks = []
    for inner, part, columns in parts:
        if isinstance(part, str) and part == "drop":
            continue
        block = transformed(graph, part, columns, f"{name} / {inner}")
        share = (step.transformer_weights or {}).get(inner)
        if share is not None:
            scaled = graph.add("Mul", block.together(graph), graph.constant(float(share)))
            block = Columns([scaled], block.width)
        blocks.append(block)
    return joined(graph, blocks)


def _missing(graph: Graph, x: str, marker: Any) -> str:
    """Return where values are missing, as booleans."""
    if isinstance(marker, float) and np.isnan(marker):
        return graph.add("IsNaN", x)
    return graph.add("Equal", x, graph.constant(float(np.dtype(graph.border).type(marker))))


def _filled(graph: Graph, step: SimpleImputer, columns: Columns) -> Columns:
    if text_columns(step):
        return _filled_text(graph, step, columns)
    values = np.asarray(step.statistics_, dtype=float)
    kept = np.arange(len(values))
    if step.strategy != "constant" and not step.keep_empty_features:
        kept = kept[~np.isnan(values)]
    x = columns.take(graph, kept).together(graph)
    absent = _missing(graph, x, step.missing_values)
    full = Columns([graph.add("Where", absent, graph.constant(values[kept]), x)], len(kept))
    if not step.add_indicator:
        return full
    return joined(graph, [full, _marked(graph, step.indicator_, columns)])


def _filled_text(graph: Graph, step: SimpleImputer, columns: Columns) -> Columns:
    if step.add_indicator:
        raise CannotExport("a SimpleImputer of text columns with add_indicator is not exported")
    filled = []
    for j, value in enumerate(step.statistics_):
        x = columns.take(graph, [j]).together(graph)
        absent = graph.add(
            "LabelEncoder",
            x,
            domain="ai.onnx.ml",
            keys_strings=[""],
            values_int64s=[1],
            default_int64=0,
        )
        filled.append(graph.add("Where", graph.cast(absent, bool), graph.constant([value]), x))
    return Columns(filled, len(filled))


def _read_text(graph: Graph, step: Text, columns: Columns) -> Columns:  # noqa: ARG001
    return columns  # text already: what is missing is "" here, NaN there


def _read_numbers(graph: Graph, step: Numbers, columns: Columns) -> Columns:  # noqa: ARG001
    x = columns.together(graph)
    sound = graph.add("LessOrEqual", graph.add("Abs", x), graph.constant(LARGEST_INPUT))
    return Columns([graph.add("Where", sound, x, graph.constant(np.nan))], columns.width)


def _marked(graph: Graph, step: MissingIndicator, columns: Columns) -> Columns:
    if not len(step.features_):
        return Columns([], 0)
    x = columns.take(graph, step.features_).together(graph)
    marks = graph.cast(_missing(graph, x, step.missing_values), np.float64)
    return Columns([marks], len(step.features_))


def _shifted(graph: Graph, step: Any, columns: Columns) -> Columns:
    """Return (x - centre) / scale, for StandardScaler, RobustScaler and MaxAbsScaler."""
    x = columns.together(graph)
    centre = getattr(step, "mean_" if isinstance(step, StandardScaler) else "center_", None)
    if centre is not None and getattr(step, "with_mean", True):
        x = graph.add("Sub", x, graph.constant(centre))
    if step.scale_ is not None:
        x = graph.add("Div", x, graph.constant(step.scale_))
    return Columns([x], columns.width)


def _stretched(graph: Graph, step: MinMaxScaler, columns: Columns) -> Columns:
    x = graph.add("Mul", columns.together(graph), graph.constant(step.scale_))
    x = graph.add("Add", x, graph.constant(step.min_))
    if step.clip:
        low, high = (graph.constant(float(end)) for end in step.feature_range)
        x = graph.add("Clip", x, low, high)
    return Columns([x], columns.width)


CONVERTERS: dict[type, Callable[[Graph, Any, Columns], Columns]] = {
    Numbers: _read_numbers,
    Text: _read_text,
    SimpleImputer: _filled,
    MissingIndicator: _marked,
    OneHotEncoder: encoded,
    StandardScaler: _shifted,
    RobustScaler: _shifted,
    MaxAbsScaler: _shifted,
    MinMaxScaler: _stretched,
}


def _by_skl2onnx(graph: Graph, step: Any, columns: Columns, name: str) -> Columns:
    """Return what skl2onnx makes of the step, with its nodes among ours."""
    from onnx import checker

    try:
        skl2onnx = import_module("skl2onnx")
    except ImportError as missing:
        raise ImportError(
            f"exporting {name} ({type(step).__name__}) needs skl2onnx: "
            "pip install 'robustscn[onnx]'"
        ) from missing
    prefix = f"/{len(graph.nodes)}_{type(step).__name__}/"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            converted = skl2onnx.convert_sklearn(
                step,
                initial_types=[
                    ("X", skl2onnx.common.data_types.DoubleTensorType([None, columns.width]))
                ],
                target_opset=dict(OPSETS),
            )
            checker.check_model(converted, full_check=True)
            part, width = converted.graph, len(step.get_feature_names_out())
    except Exception as reason:
        raise CannotExport(
            f"the step '{name}' ({type(step).__name__}) cannot be exported to ONNX: do its work "
            "on the table beforehand, and fit the model without it"
        ) from reason
    renamed = {"X": columns.together(graph), "": ""}
    for constant in part.initializer:
        constant.name = renamed.setdefault(constant.name, prefix + constant.name)
    for node in part.node:
        node.name = prefix + node.name
        for names in (node.input, node.output):
            names[:] = [renamed.setdefault(name, prefix + name) for name in names]
    graph.constants += part.initializer
    graph.nodes += part.node
    return Columns([graph.cast(renamed[part.output[0].name], np.float64)], width)
