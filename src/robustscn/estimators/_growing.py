"""A network grown as an estimator's parameters say, at its best size where validation decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.early_stopping import validated, watched
from ..core.growth import grow
from ..core.nodes import Network, network
from ..core.problem import Problem
from ..core.proposals import Draw, Experience
from ..core.recipe import Recipe, State, Stop
from ..core.rows import Column
from ..core.solve import Fit
from ._base import Training, Validation
from ._watch import Watch

ALGORITHMS = {"SC-I": "newest", "SC-II": "window", "SC-III": "all"}


@dataclass(frozen=True)
class Grown:
    """A network as it came out of growing.

    Parameters
    ----------
    network : Network
        At the size that was kept.
    residuals : column of shape (n_rows, n_outputs)
        Its residuals.
    errors : list of float
        Weighted root mean squared training error after each step.
    validation_errors : list of float
        The same on the validation rows, if there were any.
    stop : Stop
        Why growth ended.
    round : int
        Round of reweighting in which it grew.
    fit : Fit or None
        How its output weights were found, where that is wanted again.
    """

    network: Network
    residuals: Column
    errors: list[float]
    validation_errors: list[float]
    stop: Stop
    round: int
    fit: Fit | None


def grown(
    problem: Problem,
    recipe: Recipe,
    validation: Validation | None,
    patience: int,
    watch: Watch,
    start: State | None = None,
) -> Grown:
    """Return the network grown by the recipe, at its best size where validation rows decide.

    Parameters
    ----------
    problem : Problem
        Training rows.
    recipe : Recipe
        How to grow.
    validation : Validation or None
        Trusted rows.
    patience : int
        Nodes to go on without a lower validation error.
    watch : Watch
        Told of each state.
    start : State or None
        Where to go on from; None starts without nodes.

    Returns
    -------
    Grown
        The last state, or the one with the lowest validation error.
    """
    divisor = problem.total_weight() * problem.y.shape[1]
    growing = watched(grow(problem, recipe, start), watch.step)
    states: Iterator[tuple[State, float]] = (
        ((state, float("nan")) for state in growing)
        if validation is None
        else validated(growing, validation.X, validation.y, validation.weight, patience)
    )
    errors, validation_errors, best, n_nodes = [], [], float("inf"), 0
    kept: State | None = None
    for state, error in states:
        if kept is None or len(state.nodes) > n_nodes:
            n_nodes = len(state.nodes)
            errors.append(float(np.sqrt(state.energy.sum() / divisor)))
            validation_errors.append(error)
        if validation is None or kept is None or error < best:
            kept, best = state, error
    assert kept is not None
    assert state.stop is not None
    return Grown(
        network((kept.nodes,), kept.fit.output_weights),
        kept.fit.residuals,
        errors,
        [] if validation is None else validation_errors,
        state.stop,
        recipe.round,
        kept.fit,
    )


def recipe_of(estimator: Any, training: Training) -> Recipe:
    """Return the recipe that an estimator's parameters describe, or raise a clear error."""
    needs_all = estimator.block > 1 or estimator.rule == "exact" or estimator.ridge > 0
    if estimator.algorithm != "SC-III" and needs_all:
        raise ValueError(
            'block > 1, rule="exact" and a ridge need algorithm="SC-III", got '
            f"{estimator.algorithm!r}"
        )
    adaptive, n_features = estimator.proposals == "adaptive", training.problem.X.shape[1]
    return Recipe(
        Draw(
            seed=estimator._seed(),
            n_features=n_features,
            scopes=tuple(float(scope) for scope in estimator.scopes),
            n_candidates=estimator.n_candidates,
            activation=estimator.activation,
            sparse=adaptive,
        ),
        max_nodes=estimator.max_nodes,
        solve=ALGORITHMS[estimator.algorithm],  # type: ignore[arg-type]
        window=estimator.window,
        block=estimator.block,
        exact=estimator.rule == "exact",
        pooled=estimator.scope_order == "pooled",
        contractions=tuple(float(r) for r in estimator.contractions),
        ridge=float(estimator.ridge),
        tolerance=float(estimator.tol),
        experience=Experience(np.zeros(n_features)) if adaptive else None,
    )
