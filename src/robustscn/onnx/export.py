"""From a fitted model to an ONNX file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..atomic import write_whole
from ..estimators import RobustTransformedRegressor
from ..estimators._around import Around
from ..estimators._base import NetworkRegressor
from ..estimators._certainty import check_coverage
from .graph import OPSETS, CannotExport, Columns, Graph
from .intervals import interval_columns
from .networks import columns_of
from .steps import text_columns, transformed, used_columns
from .trees import trees_of

if TYPE_CHECKING:
    import onnx

OUTPUT = "prediction"
ENDS = ("lower", "upper")


def to_onnx(
    model: Any,
    *,
    dtype: str = "float32",
    target_names: Sequence[str] | None = None,
    coverage: float | None = None,
) -> onnx.ModelProto:
    """Return the whole prediction of a model as an ONNX graph.

    The output is `prediction`, shaped as `predict` shapes it; with `coverage` there are two more of
    that shape, `lower` and `upper`, which are what `predict_interval` says. The input is `X`, of
    shape (n_rows, n_features); or, for a Pipeline that begins with a ColumnTransformer fitted on a
    frame, one input of shape (n_rows, 1) for each column it uses, with the column's name: strings
    for columns of text, "" where the text is missing, else numbers, NaN where they are missing.

    Parameters
    ----------
    model : estimator
        One of ours, fitted, or a scikit-learn Pipeline that ends in one.
    dtype : {"float32", "float64"}, default="float32"
        Of inputs and predictions.
    target_names : sequence of str or None
        What is predicted, noted in the file.
    coverage : float or None
        Share of clean targets that lie between `lower` and `upper`, such as 0.9; None leaves these
        out. Of trees the clones are then exported too, whose disagreement counts: the file is some
        six times as large.

    Returns
    -------
    onnx.ModelProto
        The graph. Its metadata name the version of robustscn, the features and the targets, and
        the coverage where there is one.

    Raises
    ------
    CannotExport
        Names the step of the pipeline that has no ONNX counterpart, or the estimator that has no
        intervals.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from robustscn import RobustSCNRegressor
    >>> X = np.linspace(0, 1, 60, dtype=np.float32)[:, None]
    >>> model = RobustSCNRegressor(n_networks=2, max_nodes=10, n_rounds=2, random_state=0)
    >>> graph = to_onnx(model.fit(X, np.sin(6 * X[:, 0])))
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> (y,) = session.run(["prediction"], {"X": X})
    >>> bool(np.allclose(y, model.predict(X), atol=1e-5))
    True
    """
    _check_installed()
    if coverage is not None:
        check_coverage(coverage)
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    graph = Graph(np.dtype(dtype))
    steps = _steps(model)
    (_, first), (_, last) = steps[0], steps[-1]
    outputs = (OUTPUT,) if coverage is None else (OUTPUT, *ENDS)
    inputs, columns = _inputs(graph, first, outputs)
    for name, step in steps[:-1]:
        columns = transformed(graph, step, columns, name)
    x = columns.together(graph)
    if coverage is None:
        found = [columns_of(graph, last, x)]
    else:
        found = interval_columns(graph, last, x, coverage)
    for name, y in zip(outputs, found, strict=True):
        shaped = graph.add("Squeeze", y, graph.constant([1])) if last._flat else y
        graph.cast(shaped, graph.border, output=name)
    about = _names(first, last, target_names)
    if coverage is not None:
        about["coverage"] = json.dumps(coverage)
    return _proto(graph, inputs, outputs, last, about)


def save_onnx(
    model: Any,
    path: str | os.PathLike[str],
    *,
    dtype: str = "float32",
    target_names: Sequence[str] | None = None,
    coverage: float | None = None,
) -> Path:
    """Write the whole prediction of a model to an ONNX file.

    Parameters
    ----------
    model : estimator
        See `to_onnx`.
    path : str or path
        Where to; a file of that name is replaced once the new one is complete.
    dtype : {"float32", "float64"}, default="float32"
        Of inputs and predictions.
    target_names : sequence of str or None
        What is predicted, noted in the file.
    coverage : float or None
        Share of clean targets that lie between the outputs `lower` and `upper`; None leaves these
        out.

    Returns
    -------
    Path
        Where the file is.

    Examples
    --------
    See `to_onnx`.
    """
    graph = to_onnx(model, dtype=dtype, target_names=target_names, coverage=coverage)
    return write_whole(path, graph.SerializeToString())


def _check_installed() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError as missing:
        raise ImportError("ONNX export needs onnx: pip install 'robustscn[onnx]'") from missing


def _steps(model: Any) -> list[tuple[str, Any]]:
    """Return the steps of a model, pipelines in it opened, the last of them one of ours."""
    check_is_fitted(model)
    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, Pipeline):
        steps = [(type(model).__name__, model)]
    else:
        *front, (_, last) = model.steps
        steps = [(name, step) for name, step in front if not _idle(step)]
        steps += _steps(last)
    if not isinstance(steps[-1][1], (NetworkRegressor, Around, RobustTransformedRegressor)):
        raise CannotExport(
            f"{type(steps[-1][1]).__name__} is not exported to ONNX: give an estimator of "
            "robustscn, or a scikit-learn Pipeline that ends in one"
        )
    return steps


def _idle(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _inputs(graph: Graph, first: Any, outputs: Sequence[str]) -> tuple[list[Any], Columns]:
    """Return what the first step is given, and the same as columns of float64 or of strings."""
    from onnx import TensorProto, helper

    border = helper.np_dtype_to_tensor_dtype(graph.border)
    if not isinstance(first, ColumnTransformer) or not hasattr(first, "feature_names_in_"):
        width = int(first.n_features_in_)
        X = helper.make_tensor_value_info("X", border, ["n_rows", width])
        return [X], Columns([graph.cast("X", np.float64)], width)
    text, used = text_columns(first), used_columns(first)
    given, parts = [], []
    for j, name in enumerate(str(name) for name in first.feature_names_in_):
        if name in outputs and j in used:
            raise CannotExport(f"an output of the graph is called {name!r}: rename the column")
        if j in used:
            kind = TensorProto.STRING if j in text else border
            given.append(helper.make_tensor_value_info(name, kind, ["n_rows", 1]))
        parts.append(name if j in text or j not in used else graph.cast(name, np.float64))
    return given, Columns(parts, len(parts))


def _names(first: Any, last: Any, target_names: Sequence[str] | None) -> dict[str, str]:
    """Return what the file says of the names of features and targets."""
    n_outputs = _n_outputs(last)
    names = [f"y{q}" for q in range(n_outputs)] if target_names is None else list(target_names)
    if len(names) != n_outputs:
        raise ValueError(f"target_names has {len(names)} names, the model {n_outputs} outputs")
    features = getattr(first, "feature_names_in_", [f"x{j}" for j in range(first.n_features_in_)])
    return {
        "feature_names": json.dumps([str(name) for name in features]),
        "target_names": json.dumps([str(name) for name in names]),
    }


def _proto(
    graph: Graph, inputs: list[Any], outputs: Sequence[str], last: Any, about: dict[str, str]
) -> onnx.ModelProto:
    from onnx import checker, helper

    shape: list[str | int | None] = ["n_rows"] if last._flat else ["n_rows", _n_outputs(last)]
    border = helper.np_dtype_to_tensor_dtype(graph.border)
    given = [helper.make_tensor_value_info(name, border, shape) for name in outputs]
    body = helper.make_graph(graph.nodes, "robustscn", inputs, given, graph.constants)
    opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    proto = helper.make_model(
        body,
        opset_imports=opsets,
        producer_name="robustscn",
        producer_version=__version__,
        ir_version=8,
    )
    known = {"robustscn_version": __version__, "estimator": type(last).__name__}
    helper.set_model_props(proto, known | about)
    checker.check_model(proto, full_check=True)
    return proto


def _n_outputs(estimator: Any) -> int:
    if isinstance(estimator, RobustTransformedRegressor):
        return _n_outputs(estimator.estimator_)
    if isinstance(estimator, Around):
        return len(trees_of(estimator._fitted))
    scaling = getattr(estimator, "_scaling", None)
    network = estimator._network if scaling is None else estimator._networks[0]
    return int(network.output_weights.shape[1])
