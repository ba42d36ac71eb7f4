"""The algorithm: grow a network node by node, each admitted by the supervisory inequality.

    X, y -> draw a pool -> screen -> choose nodes (choosing.py) -> append (solve.py) -> residuals
     ^                                                                                   |
     +------------- inlier weights <- weighting (see judging.py) <-----------------------+

`step` adds one block of nodes to a state and gives a new state; `grow` is the loop around it, a
generator of immutable values: progress, callbacks, early stopping and checkpoints are loops in
the caller, not flags in here. Nothing raises: a network that cannot go on carries the reason in
`stop`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .arrays import HostArray, eps, like
from .choosing import Choice, chosen, pools, raced, ranked_by
from .nodes import AtHand, Nodes
from .problem import Problem
from .proposals import Experience
from .race import track_of
from .recipe import Recipe, State, Stop
from .solve import Fit, Fixed, Orthogonal, appended, newest_only, no_nodes, window


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
        track = track_of(problem, capacity=recipe.max_nodes, ridge=recipe.ridge, exact=recipe.exact)
    energy = problem.energy(fit.residuals)
    return State(nodes, fit, energy, track=track, experience=recipe.experience)


def opened(problem: Problem, recipe: Recipe) -> State:
    """Return the network that has no nodes but those that the recipe begins with."""
    if recipe.opening is None:
        return empty(problem, recipe)
    opening = recipe.opening.beside(problem.X)
    together = _joined(problem, recipe, empty(problem, recipe), Choice(opening))
    # Inputs may depend on each other: then those that do are left out, one by one.
    return together or restored(problem, recipe, opening)


def restored(problem: Problem, recipe: Recipe, nodes: Nodes) -> State:
    """Return the network that has grown these nodes, as far as they are independent.

    They are appended one by one, as they were when they were chosen: growing on gives what
    growing without a pause would have given.
    """
    state = empty(problem, recipe)
    for k in range(len(nodes)):
        choice = Choice(nodes.take([k]).beside(problem.X))
        state = _joined(problem, recipe, state, choice) or state
    return replace(state, contraction=float("nan"))


def step(problem: Problem, recipe: Recipe, state: State) -> State:
    """Return the network with the best admissible nodes added, or the reason why it has none."""
    wanted = recipe.wanted(len(state.nodes))
    if wanted <= 0:
        return replace(state, stop=Stop.MAX_NODES)
    choose = chosen if state.track is None else raced
    coarse = ranked_by(problem, state)
    for pool in pools(problem, recipe, state):
        choice = choose(problem, recipe, state, coarse, pool, wanted)
        if choice is not None:
            break
    else:
        if state.track is not None:
            # A sample may lack what all rows have, above all where most weights are zero.
            return step(problem, recipe, replace(state, track=None))
        return replace(state, stop=Stop.NO_CANDIDATE)
    found = _joined(problem, recipe, state, choice)
    while found is None and state.track is not None and len(choice.nodes) > 1:
        choice = choice.first(len(choice.nodes) // 2)
        found = _joined(problem, recipe, state, choice)
    return found or replace(state, stop=Stop.DEPENDENT)


def _joined(problem: Problem, recipe: Recipe, state: State, choice: Choice) -> State | None:
    """Return the network with the chosen nodes; None where they depend on others to rounding."""
    fit = _extended(problem, recipe, state, choice)
    if fit is None:
        return None
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
        Where to go on from; None starts with what the recipe begins with.

    Yields
    ------
    State
        After every step.
    """
    state = opened(problem, recipe) if state is None else replace(state, stop=None)
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
