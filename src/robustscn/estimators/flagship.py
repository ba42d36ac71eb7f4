"""The estimator for users who have dirty data and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._arrays import Array, HostArray, like, namespace
from ..growth import Problem, Recipe, Round, State, Stop, grow, reweight
from ..nodes import ACTIVATIONS, Draw, Network, network
from ..rows import Column, Totals, quantile
from ..solve import leave_one_out
from ..weighting import Weighting, distances, named
from ._base import (
    NetworkRegressor,
    RobustMixin,
    Training,
    Validation,
    checked_choice,
    checked_numbers,
)

GROSS = 10.0
"""Multiples of the 95 % quantile of |y - median| beyond which a target is gross."""


@dataclass(frozen=True)
class Scaling:
    """Affine maps that bring inputs to [0, 1] and targets to a centre of zero.

    Parameters
    ----------
    low, width : arrays of shape (n_features,)
        Smallest input and range; a constant input has width one.
    centre : array of shape (n_outputs,)
        Median target.
    """

    low: HostArray
    width: HostArray
    centre: HostArray

    def inputs(self, X: Array) -> Array:
        """Return scaled inputs."""
        return (X - like(self.low, X)) / like(self.width, X)


@dataclass(frozen=True)
class Member:
    """One network of the ensemble.

    Parameters
    ----------
    network : Network
        At the size with the lowest leave-one-out error.
    evidence : column of shape (n_rows, n_outputs)
        Its leave-one-out residuals.
    errors : list of float
        Leave-one-out error after each step.
    stop : Stop
        Why growth ended.
    """

    network: Network
    evidence: Column
    errors: list[float]
    stop: Stop


class RobustSCNRegressor(RobustMixin, NetworkRegressor):
    """Robust regression from dirty data alone: no clean rows, no tuning, raw units.

    Several stochastic configuration networks share one set of row weights. A row is judged by
    what networks predict for it that have not seen its target (leave-one-out residuals, which
    the fit gives for free), so a network cannot excuse a wrong target by having learned it;
    the same residuals choose each network's size.

    Parameters
    ----------
    n_networks : int, default=4
        Networks whose predictions are averaged.
    max_nodes : int, default=100
        Largest number of hidden nodes of each.
    n_rounds : int, default=5
        Rounds of growing and reweighting.
    weighting : str or Weighting, default="kde"
        How residuals become weights: "kde", "kde-textbook", "huber", "tukey", "cauchy",
        "welsch", "laplace", "student-t", or an object of your own.
    n_candidates : int, default=20
        Candidates drawn for each scope and node.
    scopes : sequence of float, default=(0.5, 1, 3, 10, 30, 100)
        How steep nodes may be, for inputs scaled to [0, 1].
    ridge : float, default=1e-6
        Penalty on the squared output weights, for each unit of weight.
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
    patience : int, default=20
        Nodes to add without a lower leave-one-out error before stopping.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    inlier_weight_ : array of shape (n_samples,)
        How far each row is believed, between 0 and 1.
    outliers_ : bool array of shape (n_samples,)
        Rows whose leave-one-out residual is beyond three robust standard deviations: 1.4826
        times the median absolute residual, computed again without such rows until it settles.
    n_nodes_ : int
        Hidden nodes of all networks together.
    error_path_ : array of shape (n_steps,)
        Weighted leave-one-out error of the first network after each step.
    stop_reason_ : str
        Why its growth ended.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import RobustSCNRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> y[::10] += 3.0
    >>> model = RobustSCNRegressor(random_state=0).fit(X, y)
    >>> int(model.outliers_.sum())
    20
    """

    def __init__(
        self,
        *,
        n_networks: int = 4,
        max_nodes: int = 100,
        n_rounds: int = 5,
        weighting: str | Weighting = "kde",
        n_candidates: int = 20,
        scopes: Sequence[float] = (0.5, 1.0, 3.0, 10.0, 30.0, 100.0),
        ridge: float = 1e-6,
        activation: str = "logistic",
        patience: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_networks = n_networks
        self.max_nodes = max_nodes
        self.n_rounds = n_rounds
        self.weighting = weighting
        self.n_candidates = n_candidates
        self.scopes = scopes
        self.ridge = ridge
        self.activation = activation
        self.patience = patience
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Learn from dirty rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative; 2 is the same as the row twice.
        X_val, y_val : array-like or None
            Trusted rows, if there are any: the round with the lowest error on them is kept.

        Returns
        -------
        RobustSCNRegressor
            Itself.
        """
        self._check_parameters()
        weighting = named(self.weighting)
        training = self._training(X, y, sample_weight)
        self._scaling = _scaling(training.problem)
        validation = self._validation(X_val, y_val, training)
        problem = _scaled(training.problem, self._scaling)
        recipe = self._recipe(problem)

        def build(number: int, weight: Column) -> tuple[tuple[Member, ...], Column]:
            weighted = replace(problem, weight=weight)
            members = tuple(
                _member(
                    weighted, problem.weight, self._of_network(recipe, number, k), self.patience
                )
                for k in range(self.n_networks)
            )
            return members, _consensus(problem, [member.evidence for member in members])

        best: tuple[float, Round[tuple[Member, ...]]] | None = None
        for round_ in reweight(
            problem.rows,
            problem.weight,
            build,
            weighting,
            self.n_rounds,
            start=_not_gross(problem),
            negligible=problem.rounding(),
        ):
            error = self._validation_error(validation, round_.model)
            if best is None or validation is None or error < best[0]:
                best = error, round_
        assert best is not None
        self._keep_members(training, best[1])
        return self

    def _check_parameters(self) -> None:
        checked_numbers(
            self,
            n_networks=(int, 1),
            max_nodes=(int, 1),
            n_rounds=(int, 1),
            n_candidates=(int, 1),
            patience=(int, 1),
            ridge=(float, 0),
        )
        checked_choice(self, "activation", tuple(a for a in ACTIVATIONS if a != "identity"))
        if not len(self.scopes) or not all(scope > 0 for scope in self.scopes):
            raise ValueError(f"scopes must be positive numbers, got {self.scopes!r}")

    def _recipe(self, problem: Problem) -> Recipe:
        n_features = problem.X.shape[1]
        return Recipe(
            Draw(
                self._seed(),
                n_features,
                tuple(float(scope) for scope in self.scopes),
                self.n_candidates,
                centres=np.stack([np.zeros(n_features), np.ones(n_features)]),
                activation=self.activation,
            ),
            max_nodes=self.max_nodes,
            ridge=float(self.ridge),
        )

    def _of_network(self, recipe: Recipe, number: int, k: int) -> Recipe:
        return replace(recipe, round=number * self.n_networks + k)

    def _keep_members(self, training: Training, last: Round[tuple[Member, ...]]) -> None:
        self._networks = tuple(member.network for member in last.model)
        self._scale, self._flat = training.scale, training.flat
        self.n_nodes_ = sum(n.output_weights.shape[0] for n in self._networks)
        self.error_path_ = np.array(last.model[0].errors) * training.scale
        self.stop_reason_ = last.model[0].stop.value
        self._keep_weights(training, last)

    def _output(self, X: Array) -> Array:
        return ensemble_output(self._networks, self._scaling, X)

    def _width(self) -> int:
        return max(n.output_weights.shape[0] for n in self._networks)

    def _validation_error(
        self, validation: Validation | None, members: tuple[Member, ...]
    ) -> float:
        if validation is None:
            return 0.0
        xp = namespace(validation.X)
        networks = tuple(member.network for member in members)
        error = validation.y - ensemble_output(networks, self._scaling, validation.X)
        return float(xp.mean(error * error))


def ensemble_output(networks: tuple[Network, ...], scaling: Scaling, X: Array) -> Array:
    """Return the mean of the networks' outputs for raw inputs."""
    X = scaling.inputs(X)
    total = networks[0].output(X)
    for other in networks[1:]:
        total = total + other.output(X)
    return total / len(networks) + like(scaling.centre, X)


def _scaling(problem: Problem) -> Scaling:
    """Return the scaling of the rows that have weight."""

    def extent(x: Array, w: Array) -> Totals:
        xp = namespace(x)
        counted = (w > 0)[:, None]
        infinite = xp.full_like(x, float("inf"))
        return (
            xp.min(xp.where(counted, x, infinite), axis=0),
            xp.max(xp.where(counted, x, -infinite), axis=0),
        )

    def widest(a: Totals, b: Totals) -> Totals:
        return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])

    low, high = problem.rows.reduce(extent, problem.X, problem.weight, combine=widest)
    width = high - low
    centre = [
        quantile(problem.rows, problem.y[:, q], problem.weight, 0.5)
        for q in range(problem.y.shape[1])
    ]
    return Scaling(low, np.where(width > 0, width, 1.0), np.array(centre))


def _scaled(problem: Problem, scaling: Scaling) -> Problem:
    X = problem.rows.map(scaling.inputs, problem.X)
    y = problem.rows.map(lambda t: t - like(scaling.centre, t), problem.y)
    return replace(problem, X=X, y=y)


def _not_gross(problem: Problem) -> Column:
    """Return first weights: one, but nothing for targets far outside of all the others.

    The first network is fitted before any residual exists; a single target of a million would
    bend it beyond repair. Rows set aside here are judged again after the first round.
    """
    rows = problem.rows
    scales = []
    for q in range(problem.y.shape[1]):
        size = rows.map(lambda t, q=q: namespace(t).abs(t[:, q]), problem.y)
        scales.append(quantile(rows, size, problem.weight, 0.95) or 1.0)
    return rows.map(
        lambda d: namespace(d).astype(d <= GROSS, d.dtype),
        distances(rows, problem.y, np.array(scales)),
    )


def _consensus(problem: Problem, evidence: Sequence[Column]) -> Column:
    """Return the median over the networks of each row's leave-one-out residual."""
    if len(evidence) == 1:
        return evidence[0]

    def median(*blocks: Array) -> Array:
        xp = namespace(*blocks)
        ordered = xp.sort(xp.stack(blocks), axis=0)
        n = len(blocks)
        return 0.5 * (ordered[(n - 1) // 2, ...] + ordered[n // 2, ...])

    return problem.rows.map(median, *evidence)


def _member(problem: Problem, sample_weight: Column, recipe: Recipe, patience: int) -> Member:
    """Return a network at the size with the lowest weighted leave-one-out error."""
    divisor = problem.total_weight() * problem.y.shape[1]

    def squares(e: Array, leverage: Array, w: Array, sample: Array) -> Totals:
        out = leave_one_out(e, leverage, sample)
        return (namespace(w).sum(w[:, None] * out * out),)

    errors: list[float] = []
    kept: State | None = None
    best, stop = float("inf"), Stop.LEAVE_ONE_OUT
    for state in grow(problem, recipe):
        fit = state.fit
        (square,) = problem.rows.reduce(
            squares, fit.residuals, fit.leverage, problem.weight, sample_weight
        )
        error = float(np.sqrt(square / divisor))
        errors.append(error)
        if kept is None or error < best:
            kept, best = state, error
        if state.stop is not None:
            stop = state.stop
        elif len(state.nodes) - len(kept.nodes) >= patience:
            break
    assert kept is not None
    evidence = problem.rows.map(leave_one_out, kept.fit.residuals, kept.fit.leverage, sample_weight)
    return Member(network((kept.nodes,), kept.fit.output_weights), evidence, errors, stop)
