"""Which nodes join next: a pool is drawn, screened on few rows, and scored on all of them.

    pools -> screening by bounds (sketch, race) -> exact sums of the few left -> `Choice`

Screening only saves time: whatever it lets through satisfies the supervisory inequality
(search.py) on all rows, in full precision, before it joins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .arrays import HostArray, namespace
from .nodes import AtHand, Nodes, like_index
from .problem import Problem
from .pursuit import along_the_slope, telling
from .race import least_remainder
from .recipe import Recipe, State
from .rows import Column, LocalRows, Rows
from .search import (
    Rule,
    Span,
    chosen_in_turn,
    error_shares,
    gains,
    pool_sums,
    pool_sums_exact,
    ranked,
    squared_error,
)
from .solve import Fit, Orthogonal

Coarse = tuple[Rows, Column, Column, Column]
"""Rows to rank candidates by: where they live, inputs, residuals, weights."""

OUTPUTS_AT_HAND = 2**18
"""Outputs of candidates (rows times units) up to which they are computed once and kept: two
megabytes, which a processor's cache holds. Changes time and no result."""

WORTH = 0.05
"""Share of the gain of a raced block's first node that the others must have at their turn: with
less, the next pool would do better. Not tuned."""


@dataclass(frozen=True)
class Choice:
    """Nodes that are to be appended.

    Parameters
    ----------
    nodes : Nodes
        The nodes.
    contraction : float
        The r at which they are admissible.
    overlaps, squares : arrays or None
        What `appended` would ask of the rows first, where it is known already.
    columns : column of shape (n_rows, n_nodes) or None
        Their outputs, where these are at hand.
    """

    nodes: Nodes
    contraction: float = float("nan")
    overlaps: HostArray | None = None
    squares: HostArray | None = None
    columns: Column | None = None

    def first(self, count: int) -> Choice:
        """Return the choice of the first few of these nodes."""
        return Choice(
            self.nodes.take(range(count)),
            self.contraction,
            None if self.overlaps is None else self.overlaps[:, :count],
            None if self.squares is None else self.squares[:count],
            None,
        )


def pools(problem: Problem, recipe: Recipe, state: State) -> Iterator[Nodes]:
    """Yield the candidates for the next step: those of all scopes at once, or scope by scope."""
    draw, place = recipe.draw, {"node": len(state.nodes), "round": recipe.round}
    if recipe.pooled:
        experience, told = state.experience, None
        columns = problem.X, state.fit.residuals, problem.weight
        if recipe.screened and experience is not None:
            told = telling(problem.rows, *columns)
            experience = replace(experience, told=told.mean(axis=1))
        pool = draw.all_pools(problem.X, **place, experience=experience)
        if recipe.pursued:
            pool = along_the_slope(problem.rows, *columns, draw.activation, told).joined(pool)
        return iter([pool])
    return draw.pools(problem.X, **place, experience=state.experience)


def raced(
    problem: Problem, recipe: Recipe, state: State, coarse: Coarse, pool: Nodes, size: int
) -> Choice | None:
    """Return the best nodes of a pool that races on a sample of the rows; None: none will do.

    Parameters
    ----------
    problem : Problem
        The rows.
    recipe : Recipe
        How to grow.
    state : State
        The network so far, with a track.
    coarse : Coarse
        Rows to rank candidates by.
    pool : Nodes
        The candidates.
    size : int
        How many nodes are wanted.

    Returns
    -------
    Choice or None
        Useful together, and each admissible on all rows at its turn.
    """
    track, fit = state.track, state.fit
    assert track is not None
    assert isinstance(fit, Orthogonal)
    # Half as many again as wanted: what the sample misplaced by a little is put right.
    finalists = track.finalists(coarse[2], pool, size + max(4, size // 2), exact=recipe.exact)
    if len(finalists) == 0:
        return None
    pool, span = pool.take(finalists), Span(fit.basis, fit.ridge)
    sums, gram = pool_sums_exact(problem.rows, problem.X, fit.residuals, problem.weight, pool, span)
    rule = Rule(recipe.contractions, recipe.exact, WORTH, least_remainder(problem.y))
    taken, r = chosen_in_turn(sums, gram, state.energy, rule, len(state.nodes) + 1, size)
    if not taken:
        return None
    known = sums.take(np.array(taken))
    return Choice(pool.take(taken), r, known.overlaps, known.squares)


def chosen(
    problem: Problem, recipe: Recipe, state: State, coarse: Coarse, pool: Nodes, size: int
) -> Choice | None:
    """Return the best admissible nodes of a pool by all rows; None where none is admissible.

    Parameters
    ----------
    problem : Problem
        The rows.
    recipe : Recipe
        How to grow.
    state : State
        The network so far.
    coarse : Coarse
        Rows to screen candidates by.
    pool : Nodes
        The candidates.
    size : int
        How many nodes are wanted.

    Returns
    -------
    Choice or None
        Useful together, and each admissible at its turn.
    """
    rows, weight, e = problem.rows, problem.weight, state.fit.residuals
    n_nodes = len(state.nodes) + 1
    pool = _screened(problem, recipe, state, coarse, pool, size)
    if len(pool) == 0:
        return None
    if size == 1 and not recipe.exact:
        sums = pool_sums(rows, problem.X, e, weight, pool)
        found = ranked(gains(sums), state.energy, recipe.contractions, n_nodes)
        return None if found is None else Choice(pool.take(found[0][:1]), found[1])
    outputs, at_hand = _outputs(problem, pool)
    span = _span(problem, state.fit)
    sums, gram = pool_sums_exact(rows, outputs, e, weight, at_hand, span, between=size > 1)
    gain = gains(sums if recipe.exact else replace(sums, remainders=sums.squares))
    found = ranked(gain, state.energy, recipe.contractions, n_nodes)
    if found is None:
        return None
    left: tuple[float, ...] = (found[1],)
    if recipe.worth is not None:
        # A block is filled at whatever r it takes, as far as its nodes are worth it.
        left = tuple(r for r in recipe.contractions if r >= found[1])
    rule = Rule(left, recipe.exact, recipe.worth or 0.0)
    taken, r = chosen_in_turn(sums, gram, state.energy, rule, n_nodes, size)
    if not taken:
        return None
    known = sums.take(np.array(taken))
    columns = None
    if isinstance(at_hand, AtHand):
        columns = rows.map(lambda h: namespace(h).take(h, like_index(taken, h), axis=1), outputs)
    return Choice(pool.take(taken), r, known.overlaps, known.squares, columns)


def _screened(
    problem: Problem, recipe: Recipe, state: State, coarse: Coarse, pool: Nodes, size: int
) -> Nodes:
    """Return the candidates that are worth to be scored as they are, on all rows."""
    if not recipe.exact:
        # Several times as many as wanted: rounding may have misplaced the first, and near
        # copies of a chosen node drop out of a block.
        return pool.take(_best_bounds(problem, recipe, state, coarse, pool, 4 * size))
    if recipe.shortlist is not None and recipe.shortlist * size < len(pool):
        # Bounds may all be too small where the exact decrease is not.
        gain = _coarse_gains(coarse, pool).sum(axis=0)
        # In the pool's order, in which nodes of several units are neighbours.
        return pool.take(np.sort(np.argsort(-gain, kind="stable")[: recipe.shortlist * size]))
    if size > 1 and len(pool) > 8 * size:
        # Inner products between all candidates would take most of the time.
        sums, _ = pool_sums_exact(
            problem.rows,
            problem.X,
            state.fit.residuals,
            problem.weight,
            pool,
            _span(problem, state.fit),
            between=False,
        )
        gain = gains(sums).sum(axis=0)
        return pool.take(np.argsort(-gain, kind="stable")[: 8 * size])
    return pool


def _outputs(problem: Problem, pool: Nodes) -> tuple[Column, Nodes | AtHand]:
    """Return the candidates' outputs where rows are few, else the inputs to make them of."""
    many = problem.rows.n_rows * pool.n_units > OUTPUTS_AT_HAND
    if many or not isinstance(problem.rows, LocalRows):
        return problem.X, pool
    columns = problem.rows.map(pool.hidden, problem.X, width=pool.n_units)
    return columns, AtHand(len(pool))


def ranked_by(problem: Problem, state: State) -> Coarse:
    """Return what candidates are screened by: a track, a sketch, or all rows."""
    track = state.track
    if track is not None:
        return track.rows, track.X, track.fit.residuals, track.weight
    if problem.sketch is None:
        return problem.rows, problem.X, state.fit.residuals, problem.weight
    return problem.sketch.columns(problem.rows, state.fit.residuals, problem.weight, state.share)


def _coarse_gains(coarse: Coarse, pool: Nodes) -> HostArray:
    rows, X, e, weight = coarse
    return gains(pool_sums(rows, X, e, weight, pool.astype(X)))


def _best_bounds(
    problem: Problem,
    recipe: Recipe,
    state: State,
    coarse: Coarse,
    pool: Nodes,
    count: int,
) -> HostArray:
    """Return the candidates that look best, admissible ones where there are any.

    By all rows these are `count`. By a sample, also those that chance may have put behind them:
    whose correlation with the residual is within four standard errors of the best, up to 64.
    """
    gain = _coarse_gains(coarse, pool)
    rows, _, e, weight = coarse
    if rows.n_rows < problem.rows.n_rows:
        energy = squared_error(rows, e, weight)
        correlation = np.sqrt(np.maximum(error_shares(gain, energy), 0.0))
        near = correlation >= correlation.max() - 4.0 / np.sqrt(rows.n_rows)
        order = np.argsort(-gain.sum(axis=0), kind="stable")
        return order[near[order]][: max(count, min(8 * count, 64))]
    found = ranked(gain, state.energy, recipe.contractions, len(state.nodes) + 1)
    if found is not None:
        return found[0][:count]
    # None is admissible, but rounding may have decided that for those that come close.
    shares = error_shares(gain, state.energy)
    least = min(1.0 - r for r in recipe.contractions) * (1.0 - 1.0 / (len(state.nodes) + 2))
    order = np.argsort(-shares, kind="stable")
    return order[shares[order] >= 0.99 * least][:count]


def _span(problem: Problem, fit: Fit) -> Span:
    if isinstance(fit, Orthogonal):
        return Span(fit.basis, fit.ridge)
    # With older output weights fixed, only the new node can lower the error: nothing of it
    # is lost to the others, and its bound is exact as it stands.
    return Span(problem.rows.stack(problem.y, 0))
