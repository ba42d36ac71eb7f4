"""Categories as columns of zeros and ones.

The encoder itself is asked what it makes of each category and of one it does not know, so that
rare levels, dropped levels and unknown levels come out as it has them. A category is looked up,
and its row of that table taken. A level that the encoder would refuse with an error becomes NaN.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder

from ..core.arrays import HostArray
from .graph import CannotExport, Columns, Graph, joined

_UNKNOWN_TEXT = "\N{NULL}a level that no table has"


def encoded(graph: Graph, step: OneHotEncoder, columns: Columns) -> Columns:
    """Return the columns of a fitted encoder, those of each category in turn.

    Parameters
    ----------
    graph : Graph
        Where the nodes go.
    step : OneHotEncoder
        Fitted.
    columns : Columns
        Text or numbers.

    Returns
    -------
    Columns
        Zeros and ones.
    """
    blocks = []
    for j in range(len(step.categories_)):
        x = columns.take(graph, [j]).together(graph)
        known, unknown = _rows_of(step, j)
        if not known.shape[1]:
            continue
        text = any(isinstance(level, str) for level in step.categories_[j])
        place = (_text_place if text else _number_place)(graph, step.categories_[j], x)
        table = graph.constant(np.vstack([known, unknown]))
        place = graph.add("Reshape", place, graph.constant([-1]))
        blocks.append(Columns([graph.add("Gather", table, place, axis=0)], known.shape[1]))
    return joined(graph, blocks)


def _text_place(graph: Graph, levels: Any, x: str) -> str:
    """Return the number of each row's level; one past the last for a level not known."""
    keys = [level if isinstance(level, str) else "" for level in levels]
    if len(set(keys)) < len(keys):
        raise CannotExport(
            "a column has both empty and missing text, which an ONNX graph does not tell apart: "
            "make them one before the fit"
        )
    return graph.add(
        "LabelEncoder",
        x,
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=range(len(keys)),
        default_int64=len(keys),
    )


def _number_place(graph: Graph, levels: Any, x: str) -> str:
    """Return the same for numbers: the first column of [x = level ..., 1] that is true."""
    # Rounded as the inputs are: 0.1 in float32 is not the 0.1 that was learned.
    values = np.asarray(levels, dtype=float).astype(graph.border).astype(float)
    found = graph.add("Equal", x, graph.constant(np.where(np.isnan(values), np.inf, values)))
    if np.isnan(values).any():
        absent = graph.add("And", graph.add("IsNaN", x), graph.constant(np.isnan(values)))
        found = graph.add("Or", found, absent)
    found = graph.cast(found, np.float64)
    numbers = np.arange(len(values)) - float(len(values))
    place = graph.add("MatMul", found, graph.constant(numbers[:, None]))
    return graph.cast(graph.add("Add", place, graph.constant(float(len(values)))), np.int64)


def _rows_of(step: OneHotEncoder, j: int) -> tuple[HostArray, HostArray]:
    """Return the encoder's columns for each level of column j, and for one it does not know."""
    levels = step.categories_[j]
    text = any(isinstance(level, str) for level in levels)
    strange = _UNKNOWN_TEXT if text else np.nanmax(np.asarray(levels, dtype=float)) + 1e6
    ends = np.cumsum([0, *step._n_features_outs])

    def rows(values: Any) -> HostArray:
        others = [np.full(len(values), c[0], dtype=c.dtype) for c in step.categories_]
        others[j] = np.asarray(values, dtype=object)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names of columns, and levels not known
            made = step.transform(np.stack([o.astype(object) for o in others], axis=1))
        made = made.toarray() if hasattr(made, "toarray") else np.asarray(made)
        return made[:, ends[j] : ends[j + 1]].astype(float)

    known = rows(levels)
    try:
        return known, rows([strange])
    except ValueError:  # handle_unknown="error"
        return known, np.full((1, known.shape[1]), np.nan)
