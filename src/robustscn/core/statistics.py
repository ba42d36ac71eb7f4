"""What is asked of all rows at once: sums of weights, largest and smallest values, quantiles.

Each counts a weight of two as the row twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import Array, HostArray, histogram, namespace, to_host64
from .rows import Column, Rows, Totals, end_to_end

SORTED_ROWS = 2**15
"""Rows left in a bin at which a quantile is found by sorting them: some milliseconds. Changes
time."""

BINS = 512
"""Bins that each reading of many rows refines a quantile by: three readings do for ten million."""

MET = 1 - 1e-13
"""Summed weights round; a share met to the last digit counts as met."""


def total_weight(rows: Rows, weight: Column) -> float:
    """Return the sum of the weights."""
    return float(rows.reduce(lambda w: (namespace(w).sum(w),), weight)[0])


def larger(left: Totals, right: Totals) -> Totals:
    """Combine two partial results by taking the larger of each."""
    return tuple(np.maximum(a, b) for a, b in zip(left, right, strict=True))


def outermost(left: Totals, right: Totals) -> Totals:
    """Combine two pairs of a smallest and a largest value."""
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])


def quantiles(
    rows: Rows, columns: Column, weight: Column, share: float, *, of_sizes: bool = False
) -> HostArray:
    """Return the quantile of each of some columns that lie side by side, or of its sizes.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    columns : column of shape (n_rows, n_columns)
        The numbers, finite.
    weight : column of shape (n_rows,)
        Weights, none negative.
    share : float
        Between 0 and 1.
    of_sizes : bool
        Whether signs are taken off.

    Returns
    -------
    array of shape (n_columns,)
        See `quantile`.
    """

    def one(block: Array, q: int) -> Array:
        return namespace(block).abs(block[:, q]) if of_sizes else block[:, q]

    each = (rows.map(lambda c, q=q: one(c, q), columns) for q in range(columns.shape[1]))
    return np.array([quantile(rows, column, weight, share) for column in each])


def quantile(rows: Rows, values: Column, weight: Column, share: float) -> float:
    """Return the smallest value up to which at least `share` of the total weight lies.

    Few rows are brought here and sorted. Of many, bins are refined around the answer until few
    are left in the one that holds it. The answer is exact, and weight k is k times the row. One
    reading of the rows does for 32,768 of them, three for ten million; each two more for 512
    times as many.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    values : column of shape (n_rows,)
        The numbers, finite.
    weight : column of shape (n_rows,)
        Weights, none negative.
    share : float
        Between 0 and 1.

    Returns
    -------
    float
        The weighted quantile; minus infinity where no row has weight.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn.core.rows import LocalRows
    >>> quantile(LocalRows(3), np.array([5.0, 1.0, 9.0]), np.ones(3), 0.5)
    5.0
    """
    if rows.n_rows <= SORTED_ROWS:
        return _sorted_quantile(
            rows, values, weight, lambda _, w: w > 0, lambda total: share * total * MET
        )
    low, high = _extremes(rows, values, weight, lambda _, w: w > 0)
    while low < high and np.isfinite(BINS / (high - low)):
        edges = (low, high)

        def masses(block: Array, w: Array, edges: tuple[float, float] = edges) -> Totals:
            xp = namespace(block)
            index = xp.astype(_bins(block, w, *edges) + 1, xp.int64)
            return histogram(index, w, BINS + 3), histogram(index, xp.ones_like(w), BINS + 3)

        mass, count = rows.reduce(masses, values, weight)
        reached = np.cumsum(mass[1:])
        wanted = share * reached[-1] * MET
        hit = int(np.searchsorted(reached, wanted))
        hit = min(max(hit, 1), BINS)

        def inside(block: Array, w: Array, hit: int = hit, edges: Any = edges) -> Array:
            return _bins(block, w, *edges) == hit

        if count[hit + 1] <= SORTED_ROWS:
            left = float(wanted - reached[hit - 1])

            def remaining(_: float, left: float = left) -> float:
                return left

            return _sorted_quantile(rows, values, weight, inside, remaining)
        low, high = _extremes(rows, values, weight, inside)
    return high


def _bins(block: Array, w: Array, low: float, high: float) -> Array:
    # 0: below low; 1 .. BINS: between low and high; BINS + 1: above; -1: no weight.
    xp = namespace(block)
    # Clipped first: a row far outside of the bins would overflow on its way into the last.
    near = xp.clip(block, low, high) - low
    inside = xp.clip(xp.floor(near * (BINS / (high - low))), 0.0, BINS - 1.0) + 1
    inside = xp.where(block < low, xp.zeros_like(block), inside)
    inside = xp.where(block > high, xp.full_like(block, BINS + 1), inside)
    return xp.where(w > 0, inside, xp.full_like(block, -1))


def _extremes(
    rows: Rows, values: Column, weight: Column, wanted: Callable[[Array, Array], Array]
) -> tuple[float, float]:
    """Return the smallest and the largest of the wanted values."""

    def extent(block: Array, w: Array) -> Totals:
        xp = namespace(block)
        counted, infinite = wanted(block, w), xp.full_like(block, float("inf"))
        return (
            xp.min(xp.where(counted, block, infinite)),
            xp.max(xp.where(counted, block, -infinite)),
        )

    low, high = rows.reduce(extent, values, weight, combine=outermost)
    return float(low), float(high)


def _sorted_quantile(
    rows: Rows,
    values: Column,
    weight: Column,
    inside: Callable[[Array, Array], Array],
    wanted: Callable[[float], float],
) -> float:
    """Return the smallest of some rows' values up to which the wanted weight of theirs lies."""

    def kept(block: Array, w: Array) -> Totals:
        chosen = inside(block, w)  # by a mask where the rows are: few of them come here
        return to_host64(block[chosen]), to_host64(w[chosen])

    few, counts = rows.reduce(kept, values, weight, combine=end_to_end)
    if not len(few):
        return -np.inf
    order = np.argsort(few, kind="stable")
    reached = np.cumsum(counts[order])
    place = int(np.searchsorted(reached, wanted(float(reached[-1]))))
    return float(few[order][min(place, len(few) - 1)])
