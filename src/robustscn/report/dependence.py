"""How the prediction depends on the inputs that matter most.

Everything is asked of a sample of trusted rows, so that wrong rows neither choose an input nor
bend its curve. An input matters as much as predictions move, in robust standard deviations,
when its values are shuffled among those rows. For the inputs that matter most, partial
dependence: the mean prediction with the input set to one value in all rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column, column_of

if TYPE_CHECKING:
    import pandas as pd

SAMPLE_ROWS = 200
MAIN_INPUTS = 6
GRID_POINTS = 24
MOST_LEVELS = 8
SECONDS = 8.0
"""After this time no further input is tried."""

Predict = Callable[[Any], NDArray[np.float64]]


@dataclass(frozen=True)
class Dependence:
    """Mean prediction over the values of one input.

    Parameters
    ----------
    grid : Column
        Values that the input was set to.
    mean : array of shape (n_values, n_targets)
        Mean prediction over the sampled rows at each value.
    deciles : array
        Where the data are: the tenths of the input's values; empty for text.
    """

    grid: Column
    mean: NDArray[np.float64]
    deciles: NDArray[np.float64]


@dataclass(frozen=True)
class Inputs:
    """The main inputs, and how far the search for them came.

    Parameters
    ----------
    main : tuple of Dependence
        Most important first.
    n_tried, n_all : int
        Inputs that were shuffled in the time given, and inputs there are.
    n_rows : int
        Trusted rows that were asked.
    """

    main: tuple[Dependence, ...]
    n_tried: int
    n_all: int
    n_rows: int


def inputs_of(
    predict: Predict,
    trusted: pd.DataFrame,
    features: Sequence[Any],
    scales: NDArray[np.float64],
    *,
    seconds: float = SECONDS,
) -> Inputs:
    """Find the inputs that matter most and how predictions depend on them.

    Parameters
    ----------
    predict : callable
        Takes a frame of the features, returns predictions of shape (n_rows, n_targets).
    trusted : pandas.DataFrame
        Rows that are believed.
    features : sequence
        Columns that the model reads.
    scales : array of shape (n_targets,)
        One robust standard deviation of each target.
    seconds : float
        When to try no further input.

    Returns
    -------
    Inputs
        At most `MAIN_INPUTS` of them.
    """
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(trusted))[:SAMPLE_ROWS]
    sample = trusted[list(features)].iloc[np.sort(chosen)].reset_index(drop=True)
    if len(sample) < 2:
        return Inputs((), 0, len(features), len(sample))
    until = time.monotonic() + seconds
    base, unit = predict(sample), np.where(scales > 0, scales, 1.0)
    importance: dict[Any, float] = {}
    for name in features:
        shuffled = sample.copy()
        shuffled[name] = sample[name].take(rng.permutation(len(sample))).set_axis(sample.index)
        importance[name] = float(np.mean(np.abs(predict(shuffled) - base) / unit))
        if time.monotonic() > until:
            break
    ranked = sorted(importance, key=lambda name: -importance[name])[:MAIN_INPUTS]
    main = tuple(
        _dependence(predict, sample, trusted[name]) for name in ranked if importance[name] > 0
    )
    return Inputs(main, len(importance), len(features), len(sample))


def _dependence(predict: Predict, sample: pd.DataFrame, values: pd.Series) -> Dependence:
    grid = _grid(values)
    varied = sample.take(np.tile(np.arange(len(sample)), len(grid))).reset_index(drop=True)
    varied[values.name] = grid.take(np.repeat(np.arange(len(grid)), len(sample))).set_axis(
        varied.index
    )
    mean = predict(varied).reshape(len(grid), len(sample), -1).mean(axis=1)
    column, whole = column_of(grid, str(values.name)), column_of(values)
    # What was chosen of a column may be all dates where the whole has words among them.
    ordered = "text" not in (column.kind, whole.kind)
    deciles = np.nanquantile(whole.values, np.arange(0.1, 0.95, 0.1)) if ordered else np.array([])
    return Dependence(column, mean, deciles)


def _grid(values: pd.Series) -> pd.Series:
    """Return values to set an input to, of the input's own dtype."""
    known = values.dropna()
    distinct = known.value_counts()
    column = column_of(known)
    if column.kind == "text":
        return distinct.index[:MOST_LEVELS].to_series().astype(values.dtype)
    if len(distinct) <= MOST_LEVELS or column.kind == "date":
        return _chosen(known, column.values)
    return _spread(known).astype(values.dtype)


def _chosen(known: pd.Series, order_by: NDArray[np.float64]) -> pd.Series:
    """Return some of the values, in order: a date that was text stays the text it was."""
    ordered = known.iloc[np.argsort(order_by, kind="stable")].drop_duplicates()
    shares = np.linspace(0.02, 0.98, GRID_POINTS) if len(ordered) > GRID_POINTS else None
    return (
        ordered
        if shares is None
        else ordered.iloc[np.round(shares * (len(ordered) - 1)).astype(int)]
    )


def _spread(known: pd.Series) -> pd.Series:
    import pandas as pd
    from pandas.api.types import is_integer_dtype

    low, high = (known.quantile(share) for share in (0.02, 0.98))
    steps = np.linspace(0.0, 1.0, GRID_POINTS)
    grid = pd.Series([low + step * (high - low) for step in steps])
    return grid.round().drop_duplicates() if is_integer_dtype(known.dtype) else grid
