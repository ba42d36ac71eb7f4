"""Inputs and targets in units of their own: what the networks see is the same in any unit.

Each input enters scaled linearly to [0, 1], and by rank too where its values crowd together:
ranks spread them out. Of an input that is spread evenly already, or has two values, the rank says
the same again with the sample's noise in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .problem import Problem
from .rows import LocalRows, Totals, sample
from .sketch import sketch_of
from .statistics import outermost, quantiles

ALIKE = 0.99
"""Correlation of an input with its ranks from which on these are left out. Measured in the
ablation: with all ranks friedman errs 20 % more, other tables alike; the number itself was not
tuned."""

BEYOND = 0.1
"""Share of its range by which an input counts beyond it: an input that is a thousand times what was
ever seen says no more than one that is a little larger. By argument."""

RANKED_ROWS = 2**15
"""Rows from which the ranks of inputs are learned, at most: ranks are then known to half a
percent."""


@dataclass(frozen=True)
class Scaling:
    """Maps that bring inputs to [0, 1], some in two ways, and targets to a centre of zero.

    Parameters
    ----------
    low, width : arrays of shape (n_features,)
        Smallest input and range; a constant input has width one.
    ranked : tuple of int
        Numbers of the inputs that enter by rank too.
    knots, ranks : tuples of arrays
        Values of each of those and the share of weight below them.
    centre : array of shape (n_outputs,)
        Median target.
    """

    low: HostArray
    width: HostArray
    ranked: tuple[int, ...]
    knots: tuple[HostArray, ...]
    ranks: tuple[HostArray, ...]
    centre: HostArray

    def inputs(self, X: Array) -> Array:
        """Return the inputs scaled linearly and by rank, side by side."""
        xp = namespace(X)
        linear = (X - like(self.low, X)) / like(self.width, X)
        linear = xp.clip(linear, -BEYOND, 1.0 + BEYOND)
        by_rank = [
            interpolated(X[:, j], knots, ranks)[:, None]
            for j, knots, ranks in zip(self.ranked, self.knots, self.ranks, strict=True)
        ]
        return xp.concat([linear, *by_rank], axis=1)


def interpolated(x: Array, knots: HostArray, values: HostArray) -> Array:
    """Return the piecewise linear function through the knots at x, constant outside."""
    xp = namespace(x)
    if len(knots) == 1:
        return xp.full_like(x, float(values[0]))
    at, to = like(knots, x), like(values, x)
    x = xp.asarray(x, copy=True)  # contiguous, where x is a column of a matrix: torch warns
    right = xp.clip(xp.searchsorted(at, x), 1, len(knots) - 1)
    left = right - 1
    start, stop = xp.take(at, left), xp.take(at, right)
    share = xp.clip((x - start) / (stop - start), 0.0, 1.0)
    return xp.take(to, left) * (1.0 - share) + xp.take(to, right) * share


def scaling_of(problem: Problem, alike: float = ALIKE) -> Scaling:
    """Return the scaling of the rows that have weight.

    Parameters
    ----------
    problem : Problem
        The rows.
    alike : float
        Correlation of an input with its ranks from which on these are left out.

    Returns
    -------
    Scaling
        Of inputs and targets.
    """
    rows = problem.rows
    low, high = _extent(problem)
    X, weight = sample(rows, min(1.0, RANKED_ROWS / rows.n_rows), problem.X, problem.weight)
    X, weight = X[weight > 0], weight[weight > 0]
    width = np.where(high > low, high - low, 1.0)
    linear = (X - low) / width
    ranked = tuple(j for j in range(X.shape[1]) if not _evenly_spread(linear[:, j], weight, alike))
    ranks = [_ranks(X[:, j], weight) for j in ranked]
    return Scaling(
        low,
        width,
        ranked,
        tuple(knots for knots, _ in ranks),
        tuple(shares for _, shares in ranks),
        quantiles(rows, problem.y, problem.weight, 0.5),
    )


def _extent(problem: Problem) -> tuple[HostArray, HostArray]:
    """Return the smallest and largest inputs of rows that have weight."""

    def extent(x: Array, w: Array) -> Totals:
        xp = namespace(x)
        infinite = xp.full_like(x, float("inf"))
        counted = (w > 0)[:, None]
        return (
            xp.min(xp.where(counted, x, infinite), axis=0),
            xp.max(xp.where(counted, x, -infinite), axis=0),
        )

    low, high = problem.rows.reduce(extent, problem.X, problem.weight, combine=outermost)
    return low, high


def _evenly_spread(values: HostArray, weight: HostArray, alike: float) -> bool:
    """Return whether ranks would say hardly anything that the values do not say."""
    _, place = np.unique(values, return_inverse=True)
    if place.max() < 2:
        return True
    mass = np.bincount(place, weight)
    shares = (np.cumsum(mass) - 0.5 * mass)[place] / mass.sum()
    a, b = (v - np.average(v, weights=weight) for v in (values, shares))
    product, first, second = (np.sum(weight * v) for v in (a * b, a * a, b * b))
    return bool(product >= alike * np.sqrt(first * second))


def _ranks(values: HostArray, weight: HostArray) -> tuple[HostArray, HostArray]:
    """Return up to 65 values of an input and the share of weight below each.

    A value that many rows share gets the middle of the shares it spans.
    """
    distinct, place = np.unique(values, return_inverse=True)
    mass = np.bincount(place, weight)
    middle = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    if len(distinct) <= 65:
        return distinct, middle
    shares = np.linspace(middle[0], middle[-1], 65)
    at = np.minimum(np.searchsorted(middle, shares), len(distinct) - 1)
    knots, first = np.unique(distinct[at], return_index=True)
    return knots, middle[at][first]


def scaled(problem: Problem, scaling: Scaling) -> Problem:
    """Return the problem with inputs and targets scaled."""
    X = problem.rows.map(scaling.inputs, problem.X, width=4 * problem.X.shape[1])
    y = problem.rows.map(lambda t: t - like(scaling.centre, t), problem.y)
    # Networks are fitted side by side; threads inside each would only be in the way.
    rows = problem.rows
    if isinstance(rows, LocalRows):
        rows = replace(rows, n_threads=1)
    sketch = None if problem.sketch is None else sketch_of(rows, X)
    return replace(problem, rows=rows, X=X, y=y, sketch=sketch)
