"""The algorithm: grow a network node by node.

    X, y -> draw pool -> rank -> score -> choose nodes -> append -> residuals, leverage
     ^                                                                  |
     +----- inlier weights <- weighting (see judging.py) <---------------+

`step` adds one block of nodes to a state and gives a new state; `grow` is the loop around it, a
generator of immutable values: progress, callbacks, early stopping and checkpoints are loops in
the caller, not flags in here. Nothing raises: a network that cannot go on carries the reason in
`stop`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

import numpy as np

from .arrays import Array, HostArray, eps, like, namespace
from .nodes import AtHand, Nodes, like_index
from .problem import Problem
from .proposals import Draw, Experience
from .pursuit import along_the_slope
from .race import Track, least_remainder, track_of
from .rows import Column, LocalRows, Rows
from .search import (
    chosen_in_turn,
    error_shares,
    gains,
    pool_sums,
    pool_sums_exact,
    ranked,
    squared_error,
)
from .solve import Fit, Fixed, Orthogonal, appended, newest_only, no_nodes, window

Coarse = tuple[Rows, Column, Column, Column]
"""Rows to rank candidates by: where they live, inputs, residuals, weights."""

OUTPUTS_AT_HAND = 2**18
"""Outputs of candidates (rows times units) up to which they are computed once and kept."""

WORTH = 0.05
"""Share of the gain of a raced block's first node that the others must have at their turn."""

CONTRACTIONS = (0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)


class Stop(Enum):
    """Why a network grew no further, or the rounds of reweighting ended."""

    MAX_NODES = "the network has max_nodes nodes"
    TOLERANCE = "the weighted error fell to the tolerance"
    NO_CANDIDATE = "no candidate satisfied the supervisory inequality"
    DEPENDENT = "new nodes no longer differ, to rounding, from the network's"
    VALIDATION = "the validation error stopped falling"
    SOLVED = "all nodes were given at once"
    CALLER = "a callback ended the fit"


@dataclass(frozen=True)
class Recipe:
    """How a network grows.

    Parameters
    ----------
    draw : Draw
        Where candidates come from.
    max_nodes : int
        Size at which growth ends.
    solve : {"all", "window", "newest"}
        Which output weights are renewed when a node is added: SC-III, SC-II, SC-I.
    window : int
        How many of the newest nodes "window" refits.
    block : int
        How many nodes a step adds at most.
    exact : bool
        Rank candidates by the exact decrease of the error instead of its bound.
    shortlist : int or None
        Compute the exact decrease only for this many candidates with the largest bounds; None
        for all.
    pooled : bool
        Put the candidates of all scopes in one pool. Otherwise scopes are tried in order and
        the first that has an admissible candidate is used.
    contractions : tuple of float
        Values of r, the most demanding first.
    worth : float or None
        Share of the gain of a block's first node that the others must have at their turn, at
        whatever r admits them. None: all nodes of a block are admissible at the same r.
    pursued : bool
        Whether candidates along the direction in which the residual rises join each pool.
    ridge : float
        Penalty on squared output weights for each unit of total weight.
    tolerance : float
        Growth ends when the weighted error is this share of the targets' own size.
    round : int
        Round of reweighting; each has its own draws.
    experience : Experience or None
        What the search knows before the first node; it then learns from those it chooses. None:
        the draw is blind and stays so.
    """

    draw: Draw
    max_nodes: int
    solve: Literal["all", "window", "newest"] = "all"
    window: int = 20
    block: int = 1
    exact: bool = False
    shortlist: int | None = None
    pooled: bool = True
    contractions: tuple[float, ...] = CONTRACTIONS
    worth: float | None = None
    pursued: bool = False
    ridge: float = 0.0
    tolerance: float = 0.0
    round: int = 0
    experience: Experience | None = None

    @property
    def n_steps(self) -> int:
        """Steps to `max_nodes` where each adds a whole block."""
        return -(-self.max_nodes // self.block)


@dataclass(frozen=True)
class State:
    """A network at one size.

    Parameters
    ----------
    nodes : Nodes
        Hidden nodes in the order they were added.
    fit : Fit
        Output weights, residuals, leverage.
    energy : array of shape (n_outputs,)
        Weighted squared error.
    stop : Stop or None
        Why it cannot or need not grow; None if it can.
    contraction : float
        The r at which the newest nodes were admissible.
    share : float
        Share of the squared error that each of the newest nodes removed.
    track : Track or None
        What blocks of candidates race on, where rows are many.
    experience : Experience or None
        What its nodes teach the search.
    """

    nodes: Nodes
    fit: Fit
    energy: HostArray
    stop: Stop | None = None
    contraction: float = float("nan")
    share: float = 1e-2
    track: Track | None = None
    experience: Experience | None = None


def empty(problem: Problem, recipe: Recipe) -> State:
    """Return the network without nodes."""
    y = problem.y
    nodes = Nodes(
        like(np.zeros((recipe.draw.n_features, 0)), problem.X),
        like(np.zeros(0), problem.X),
        recipe.draw.activation,
    )
    ridge = recipe.ridge * problem.total_weight()
    fit: Fit = Fixed(np.zeros((0, y.shape[1])), y)
    if recipe.solve == "all":
        fit = no_nodes(problem.rows, y, capacity=recipe.max_nodes, ridge=ridge)
    track = None
    if recipe.block > 1:
        track = track_of(
            problem.rows,
            problem.X,
            y,
            problem.weight,
            problem.sketch,
            capacity=recipe.max_nodes,
            ridge=recipe.ridge,
            exact=recipe.exact,
        )
    energy = problem.energy(fit.residuals)
    return State(nodes, fit, energy, track=track, experience=recipe.experience)


def restored(problem: Problem, recipe: Recipe, nodes: Nodes) -> State:
    """Return the network that has grown these nodes, as far as they are independent.

    They are appended one by one, as they were when they were chosen: growing on gives what
    growing without a pause would have given.
    """
    state = empty(problem, recipe)
    for k in range(len(nodes)):
        node = nodes.take([k]).beside(problem.X)
        fit = _extended(problem, recipe, state, Choice(node))
        if fit is not None:
            energy = problem.energy(fit.residuals)
            state = replace(
                state,
                nodes=state.nodes.joined(node),
                fit=fit,
                energy=energy,
                track=None if state.track is None else state.track.followed(node),
                experience=_learned(state, node, fit, energy),
            )
    return state


def step(problem: Problem, recipe: Recipe, state: State) -> State:
    """Return the network with the best admissible nodes added, or the reason why it has none."""
    room = recipe.max_nodes - len(state.nodes)
    if room <= 0:
        return replace(state, stop=Stop.MAX_NODES)
    choose = _chosen if state.track is None else _raced
    coarse = _ranked_by(problem, state)
    for pool in _pools(problem, recipe, state):
        choice = choose(problem, recipe, state, coarse, pool, min(room, recipe.block))
        if choice is not None:
            break
    else:
        if state.track is not None:
            # A sample may lack what all rows have, above all where most weights are zero.
            return step(problem, recipe, replace(state, track=None))
        return replace(state, stop=Stop.NO_CANDIDATE)
    fit = _extended(problem, recipe, state, choice)
    while fit is None and state.track is not None and len(choice.nodes) > 1:
        choice = choice.first(len(choice.nodes) // 2)
        fit = _extended(problem, recipe, state, choice)
    if fit is None:
        return replace(state, stop=Stop.DEPENDENT)
    energy = problem.energy(fit.residuals)
    return State(
        state.nodes.joined(choice.nodes),
        fit,
        energy,
        contraction=choice.contraction,
        share=float((1.0 - energy.sum() / state.energy.sum()) / len(choice.nodes)),
        track=None if state.track is None else state.track.followed(choice.nodes),
        experience=_learned(state, choice.nodes, fit, energy),
    )


def _learned(state: State, nodes: Nodes, fit: Fit, energy: HostArray) -> Experience | None:
    """Return the experience with new nodes, their gains as shares of the error that was left."""
    if state.experience is None:
        return None
    before = state.energy.sum()
    removed = np.full(len(nodes), (before - energy.sum()) / len(nodes))
    if isinstance(fit, Orthogonal):
        removed = np.sum(fit.coefficients[-len(nodes) :] ** 2, axis=1)
    # No node removes more than there was: at the end of what rounding leaves, it would seem so.
    left = np.maximum(before - np.cumsum(removed) + removed, np.maximum(removed, 1e-300))
    return state.experience.learned(nodes, removed / left)


def grow(problem: Problem, recipe: Recipe, state: State | None = None) -> Iterator[State]:
    """Yield the network at each size; the last one says why it is the last.

    Parameters
    ----------
    problem : Problem
        The rows.
    recipe : Recipe
        How to grow.
    state : State or None
        Where to go on from; None starts without nodes.

    Yields
    ------
    State
        After every step.
    """
    state = empty(problem, recipe) if state is None else replace(state, stop=None)
    # Below some tens of rounding units the residual is noise and so is every gain.
    floor = max(recipe.tolerance, 30 * eps(problem.y)) ** 2 * problem.energy(problem.y).sum()
    while state.stop is None:
        if state.energy.sum() <= floor:
            state = replace(state, stop=Stop.TOLERANCE)
        else:
            state = step(problem, recipe, state)
            if state.stop is None and len(state.nodes) >= recipe.max_nodes:
                state = replace(state, stop=Stop.MAX_NODES)
        yield state


Watcher = Callable[[int, int], bool]
"""Told how many nodes a network had and has; returns whether that is enough."""


def watched(states: Iterator[State], watch: Watcher | None) -> Iterator[State]:
    """Yield states until a watcher, told of each, says that it is enough.

    Parameters
    ----------
    states : iterator of State
        From `grow`.
    watch : Watcher or None
        Whom to tell.

    Yields
    ------
    State
        Each, the last with a reason.
    """
    before = 0
    for state in states:
        enough = watch is not None and watch(before, len(state.nodes))
        yield replace(state, stop=state.stop or Stop.CALLER) if enough else state
        if enough:
            return
        before = len(state.nodes)


def _pools(problem: Problem, recipe: Recipe, state: State) -> Iterator[Nodes]:
    draw, place = recipe.draw, {"node": len(state.nodes), "round": recipe.round}
    if recipe.pooled:
        pool = draw.all_pools(problem.X, **place, experience=state.experience)
        if recipe.pursued:
            columns = problem.X, state.fit.residuals, problem.weight
            pool = along_the_slope(problem.rows, *columns, draw.activation).joined(pool)
        return iter([pool])
    return draw.pools(problem.X, **place, experience=state.experience)


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


def _raced(
    problem: Problem, recipe: Recipe, state: State, coarse: Coarse, pool: Nodes, size: int
) -> Choice | None:
    track, fit = state.track, state.fit
    assert track is not None
    assert isinstance(fit, Orthogonal)
    # Half as many again as wanted: what the sample misplaced by a little is put right.
    finalists = track.finalists(coarse[2], pool, size + max(4, size // 2), exact=recipe.exact)
    if len(finalists) == 0:
        return None
    pool = pool.take(finalists)
    sums, gram = pool_sums_exact(
        problem.rows, problem.X, fit.residuals, problem.weight, pool, fit.basis, fit.ridge
    )
    taken, contraction = chosen_in_turn(
        sums,
        gram,
        state.energy,
        recipe.contractions,
        len(state.nodes) + 1,
        size,
        exact=recipe.exact,
        least_remainder=least_remainder(problem.y),
        worth=WORTH,
    )
    if not taken:
        return None
    known = sums.take(np.array(taken))
    return Choice(pool.take(taken), contraction, known.overlaps, known.squares)


def _chosen(
    problem: Problem, recipe: Recipe, state: State, coarse: Coarse, pool: Nodes, size: int
) -> Choice | None:
    rows, X, weight, e = problem.rows, problem.X, problem.weight, state.fit.residuals
    n_nodes = len(state.nodes) + 1
    if not recipe.exact:
        # Several times as many as wanted: rounding may have misplaced the first, and near
        # copies of a chosen node drop out of a block.
        pool = pool.take(_best_bounds(problem, recipe, state, coarse, pool, 4 * size))
        if len(pool) == 0:
            return None
        if size == 1:
            sums = pool_sums(rows, X, e, weight, pool)
            found = ranked(gains(sums), state.energy, recipe.contractions, n_nodes)
            return None if found is None else Choice(pool.take(found[0][:1]), found[1])
    elif recipe.shortlist is not None and recipe.shortlist < len(pool):
        # Bounds may all be too small where the exact decrease is not.
        gain = _coarse_gains(coarse, pool).sum(axis=0)
        # In the pool's order, in which nodes of several units are neighbours.
        pool = pool.take(np.sort(np.argsort(-gain, kind="stable")[: recipe.shortlist]))
    elif size > 1 and len(pool) > 8 * size:
        # Inner products between all candidates would take most of the time.
        sums, _ = pool_sums_exact(
            rows, X, e, weight, pool, *_basis(problem, state.fit), between=False
        )
        gain = gains(sums).sum(axis=0)
        pool = pool.take(np.argsort(-gain, kind="stable")[: 8 * size])
    outputs, at_hand = _outputs(problem, pool)
    sums, gram = pool_sums_exact(
        rows, outputs, e, weight, at_hand, *_basis(problem, state.fit), between=size > 1
    )
    gain = gains(sums if recipe.exact else replace(sums, remainders=sums.squares))
    found = ranked(gain, state.energy, recipe.contractions, n_nodes)
    if found is None:
        return None
    # A block is filled at whatever r it takes, as far as its nodes are worth it.
    left = (
        (found[1],)
        if recipe.worth is None
        else tuple(r for r in recipe.contractions if r >= found[1])
    )
    taken, contraction = chosen_in_turn(
        sums,
        gram,
        state.energy,
        left,
        n_nodes,
        size,
        exact=recipe.exact,
        worth=recipe.worth or 0.0,
    )
    if not taken:
        return None
    known = sums.take(np.array(taken))
    columns = None
    if isinstance(at_hand, AtHand):
        columns = rows.map(lambda h: namespace(h).take(h, like_index(taken, h), axis=1), outputs)
    return Choice(pool.take(taken), contraction, known.overlaps, known.squares, columns)


def _outputs(problem: Problem, pool: Nodes) -> tuple[Column, Nodes | AtHand]:
    """Return the candidates' outputs where rows are few, else the inputs to make them of."""
    many = problem.rows.n_rows * pool.n_units > OUTPUTS_AT_HAND
    if many or not isinstance(problem.rows, LocalRows):
        return problem.X, pool
    columns = problem.rows.map(pool.hidden, problem.X, width=pool.n_units)
    return columns, AtHand(len(pool))


def _ranked_by(problem: Problem, state: State) -> Coarse:
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


def _basis(problem: Problem, fit: Fit) -> tuple[Column, float]:
    if isinstance(fit, Orthogonal):
        return fit.basis, fit.ridge
    # With older output weights fixed, only the new node can lower the error: nothing of it
    # is lost to the others, and its bound is exact as it stands.
    return problem.rows.stack(problem.y, 0), 0.0


def _extended(problem: Problem, recipe: Recipe, state: State, choice: Choice) -> Fit | None:
    rows, X, weight, fit = problem.rows, problem.X, problem.weight, state.fit
    nodes = choice.nodes
    if isinstance(fit, Orthogonal):
        known = {"overlaps": choice.overlaps, "squares": choice.squares}
        if choice.columns is not None:
            return appended(rows, choice.columns, weight, fit, AtHand(len(nodes)), **known)
        return appended(rows, X, weight, fit, nodes, **known)
    assert isinstance(fit, Fixed)
    if recipe.solve == "newest":
        return newest_only(rows, X, weight, fit, nodes)
    return window(rows, X, weight, fit, state.nodes.joined(nodes), recipe.window)


def validated(
    states: Iterator[State], X: Array, y: Array, weight: Array, patience: int
) -> Iterator[tuple[State, float]]:
    """Yield each state with its error on other rows, until that has stopped falling.

    Parameters
    ----------
    states : iterator of State
        From `grow`.
    X, y, weight : arrays
        Validation rows; y of shape (n_rows, n_outputs).
    patience : int
        Nodes to go on without a new best.

    Yields
    ------
    tuple of State and float
        The state and its root mean squared validation error.
    """
    xp = namespace(X)
    total = float(xp.sum(weight)) * y.shape[1]
    hidden = xp.empty((X.shape[0], 0), dtype=X.dtype, device=getattr(X, "device", None))
    best, best_nodes = float("inf"), 0
    for state in states:
        new = state.nodes.take(range(hidden.shape[1], len(state.nodes)))
        hidden = xp.concat([hidden, new.hidden(X)], axis=1)
        error = y - hidden @ like(state.fit.output_weights, X)
        rmse = float(np.sqrt(float(xp.sum(weight[:, None] * error * error)) / total))
        if rmse < best:
            best, best_nodes = rmse, len(state.nodes)
        if state.stop is None and len(state.nodes) - best_nodes >= patience:
            state = replace(state, stop=Stop.VALIDATION)
        yield state, rmse
        if state.stop is not None:
            return
