"""Rows that lie outside what a model has seen: a prediction for them is a guess, and says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables.columns import as_numbers, as_texts

if TYPE_CHECKING:
    import pandas as pd

    from ..tables import Plan

MARGIN = 0.1
"""Share of a column's range that a value may lie beyond it: predictions still follow there."""
MOST_LEVELS = 200


def seen_in(frame: pd.DataFrame, plan: Plan, trusted: Any) -> dict[str, Any]:
    """Return the ranges and levels of the rows that a model believes.

    Parameters
    ----------
    frame : pandas.DataFrame
        Training rows.
    plan : Plan
        What their columns are.
    trusted : bool array of shape (n_rows,)
        Rows that were believed.

    Returns
    -------
    dict
        Plain data, to be kept beside the model.
    """
    numbers = {}
    for name in plan.numbers:
        values = as_numbers(frame[name])[trusted]
        if np.isfinite(values).any():
            numbers[name] = [float(np.nanmin(values)), float(np.nanmax(values))]
    levels = {}
    for name in plan.categories:
        texts = sorted({str(v) for v in as_texts(frame[name])})
        if len(texts) <= MOST_LEVELS:
            levels[name] = texts
    return {"numbers": numbers, "levels": levels}


def outside(frame: pd.DataFrame, seen: Mapping[str, Any]) -> list[str]:
    """Return for each row the columns in which it lies outside what was seen.

    Parameters
    ----------
    frame : pandas.DataFrame
        New rows.
    seen : mapping
        From `seen_in`.

    Returns
    -------
    list of str
        Names with commas between; empty where all is as it was.
    """
    found: list[list[str]] = [[] for _ in range(len(frame))]
    for name, (low, high) in seen.get("numbers", {}).items():
        values = as_numbers(frame[name])
        reach = MARGIN * (high - low)
        with np.errstate(invalid="ignore"):
            beyond = (values < low - reach) | (values > high + reach)
        for row in np.flatnonzero(beyond):
            found[row].append(name)
    for name, levels in seen.get("levels", {}).items():
        new = ~np.isin(as_texts(frame[name]).astype(str), levels)
        for row in np.flatnonzero(new):
            found[row].append(name)
    return [", ".join(names) for names in found]
