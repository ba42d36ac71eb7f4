"""Screening a block of nodes by a race: most candidates run on a sample, few on all rows.

A block is chosen node by node, each as if the ones before it were in the network already; that
takes the candidates' inner products with each other and with the network. On a sample these cost
little, for as many candidates as one likes. So the sample has a fit of its own, which the
network's nodes are appended to as they are chosen, and hands on little more than a block. The
inequality is checked on all rows, in full precision, for whatever gets that far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .arrays import Array, HostArray, eps, namespace
from .nodes import Nodes
from .problem import Problem
from .rows import Column, Rows, spread
from .search import Rule, Span, chosen_in_turn, gains, pool_sums, pool_sums_exact, squared_error
from .solve import Orthogonal, appended, no_nodes
from .statistics import total_weight

RACED_ROWS = 2**13
"""Blocks are chosen by all rows where these are no more: a race would save no time."""

FEWEST_ON_TRACK, MOST_ON_TRACK = 2**12, 2**15
"""Bounds on the rows that candidates race on; in between, a quarter of all.

Four standard errors of a correlation with the residual are 0.06 and 0.02 on so many rows: what is
further apart keeps its order, and finalists beyond the block's size make up for the rest.
"""


@dataclass(frozen=True)
class Track:
    """A sample of the rows and the network's fit to it.

    Parameters
    ----------
    rows : Rows
        Where they live.
    X, weight : columns
        Their inputs and weights.
    fit : Orthogonal
        The network's nodes on these rows. Candidates are ranked by its own residuals: those of
        all rows are not orthogonal to its columns.
    """

    rows: Rows
    X: Column
    weight: Column
    fit: Orthogonal

    @property
    def least_remainder(self) -> float:
        """Share of a candidate that rounding lets be told from the network's nodes."""
        return least_remainder(self.X)

    def finalists(self, residuals: Column, pool: Nodes, count: int, *, exact: bool) -> HostArray:
        """Return the candidates that are worth a look on all rows.

        Parameters
        ----------
        residuals : column of shape (n_some, n_outputs)
            The network's residuals on the sample.
        pool : Nodes
            The candidates.
        count : int
            How many are wanted.
        exact : bool
            Whether candidates are ranked by the exact decrease.

        Returns
        -------
        int array of shape (count,) or fewer
            Numbers of candidates that are useful together, in the order in which they were
            chosen, then those with the largest gains.
        """
        rows, X, weight = self.rows, self.X, self.weight
        span = Span(self.fit.basis, self.fit.ridge)
        pool = pool.astype(X)
        if exact or len(pool) <= 4 * count:
            between = len(pool) <= 4 * count
            sums, gram = pool_sums_exact(rows, X, residuals, weight, pool, span, between=between)
        else:
            between, sums = False, pool_sums(rows, X, residuals, weight, pool)
        gain = gains(sums if exact else replace(sums, remainders=sums.squares)).sum(axis=0)
        if exact:
            gain = np.where(sums.remainders > self.least_remainder * sums.squares, gain, 0.0)
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > 0]
        near = order[: 4 * count]
        if between:
            sums, gram = sums.take(near), gram[np.ix_(near, near)]
        else:
            sums, gram = pool_sums_exact(rows, X, residuals, weight, pool.take(near), span)
        energy = squared_error(rows, residuals, weight)
        # Whether the inequality holds is not for the sample to say: r = 1 asks for any gain.
        rule = Rule((1.0,), exact, least_remainder=self.least_remainder)
        taken, _ = chosen_in_turn(sums, gram, energy, rule, 1, count)
        chosen = near[list(taken)]
        return np.concatenate([chosen, order[~np.isin(order, chosen)]])[:count]

    def followed(self, nodes: Nodes) -> Track:
        """Return the track with the network's new nodes appended, as far as it tells them apart."""
        nodes = nodes.astype(self.X)
        fit = appended(self.rows, self.X, self.weight, self.fit, nodes)
        if fit is not None:
            return replace(self, fit=fit)
        fit = self.fit
        for k in range(len(nodes)):
            fit = appended(self.rows, self.X, self.weight, fit, nodes.take([k])) or fit
        return replace(self, fit=fit)


def least_remainder(reference: Array) -> float:
    """Return the share of a column that rounding lets be told from what others span."""
    return max(1e-10, 100 * eps(reference))


def track_of(problem: Problem, *, capacity: int, ridge: float, exact: bool) -> Track | None:
    """Return the track of a network without nodes; None where all rows are few.

    Parameters
    ----------
    problem : Problem
        All rows. Single candidates are ranked by its sketch, by the same rows; float64 without a
        sketch is beyond what float32 can hold.
    capacity : int
        Nodes there will be at most.
    ridge : float
        Penalty on squared output weights for each unit of total weight.
    exact : bool
        Whether candidates will be ranked by the exact decrease. It lives on what little of a
        candidate the network lacks, which float32 may not hold where the rows' dtype does.

    Returns
    -------
    Track or None
        With rows that are spread over all.
    """
    rows, X, sketch = problem.rows, problem.X, problem.sketch
    xp = namespace(X)
    if rows.n_rows <= RACED_ROWS or (sketch is None and xp.float64 == X.dtype):
        return None
    count = int(np.clip(rows.n_rows // 4, FEWEST_ON_TRACK, MOST_ON_TRACK))
    if sketch is None or sketch.numbers is None:
        numbers = spread(rows.n_rows, count)
    else:
        numbers = sketch.numbers[:count]
    few, (x, t, w) = rows.some(numbers, X, problem.y, problem.weight)
    if not exact:
        x = xp.astype(xp.clip(x, -1e12, 1e12), xp.float32)
    t, w = (few.map(lambda values: _shortened(values, x), column) for column in (t, w))
    fit = no_nodes(few, t, capacity=capacity, ridge=ridge * total_weight(few, w))
    return Track(few, x, w, fit)


def _shortened(values: Array, reference: Array) -> Array:
    xp = namespace(values)
    # A row of weight zero may hold anything that float64 does.
    return xp.astype(xp.clip(values, -1e15, 1e15), reference.dtype)
