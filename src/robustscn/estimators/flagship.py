"""The estimator for users who have dirty data and nothing else.

Rounds of weighted growth, as in RSC-KDE, with five changes that make a clean validation set
unnecessary:

1. A row is judged by its residual at networks that were grown without it and solved without
   it (cross-fitted nodes, leave-one-out output weights): no network can excuse a wrong target
   by having learned it.
2. The ridge of every network is the one with the lowest weighted leave-one-out error.
3. The scale by which residuals are judged starts at the largest of them and halves each
   round: what is true but not yet learned, a narrow peak, is kept until it is.
4. Networks of several rounds are kept and solved again under each round's weights; the
   prediction is their mean.
5. The round that is kept has the lowest Huber loss of all rows' left-out residuals. The loss
   is the same for all rounds and counts rejected rows too, so rejecting good rows shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from array_api_compat import is_numpy_array
from joblib import effective_n_jobs

from .._arrays import Array, HostArray, like, namespace
from ..growth import Problem, Recipe, Round, grow, reweight, sketch_of
from ..least_squares import Tuned, ridge_by_leave_one_out
from ..nodes import Draw, Network, Nodes, network, pass_through
from ..rows import Column, LocalRows, Totals, quantile, sample
from ..weighting import Weighting, distances, named, trimmed_scales
from ._base import NetworkRegressor, RobustMixin, Training, Validation, one_blas_thread

GROSS = 10.0
"""Multiples of the 95 % quantile of |y - median| beyond which a target is gross."""

FOLDS = 4
"""Networks grown together; each row is kept from one of them."""

FIRST_TRUSTED_ROUND = 3
"""Networks grown earlier saw the wrong rows with nearly full weight and are replaced."""

FEW_ROWS = 40
"""Below this number no row is kept from a network's growing, and any round may be kept."""

RANKED_ROWS = 2**15
"""Rows from which the ranks of inputs are learned, at most."""

RIDGES = 10.0 ** np.arange(-9.0, 0.5, 0.5)
"""Penalties tried, for each unit of weight and targets of size one."""


@dataclass(frozen=True)
class Scaling:
    """Maps that bring inputs to [0, 1], in two ways, and targets to a centre of zero.

    Parameters
    ----------
    low, width : arrays of shape (n_features,)
        Smallest input and range; a constant input has width one.
    knots, ranks : tuples of n_features arrays
        Values of each input and the share of weight below them.
    centre : array of shape (n_outputs,)
        Median target.
    """

    low: HostArray
    width: HostArray
    knots: tuple[HostArray, ...]
    ranks: tuple[HostArray, ...]
    centre: HostArray

    def inputs(self, X: Array) -> Array:
        """Return the inputs scaled linearly and by rank, side by side."""
        xp = namespace(X)
        linear = (X - like(self.low, X)) / like(self.width, X)
        ranked = [
            interpolated(X[:, j], knots, ranks)[:, None]
            for j, (knots, ranks) in enumerate(zip(self.knots, self.ranks, strict=True))
        ]
        return xp.concat([linear, *ranked], axis=1)


def interpolated(x: Array, knots: HostArray, values: HostArray) -> Array:
    """Return the piecewise linear function through the knots at x, constant outside."""
    xp = namespace(x)
    if len(knots) == 1:
        return xp.full_like(x, float(values[0]))
    at, to = like(knots, x), like(values, x)
    right = xp.clip(xp.searchsorted(at, x), 1, len(knots) - 1)
    left = right - 1
    start, stop = xp.take(at, left), xp.take(at, right)
    share = xp.clip((x - start) / (stop - start), 0.0, 1.0)
    return xp.take(to, left) * (1.0 - share) + xp.take(to, right) * share


@dataclass(frozen=True)
class Ensemble:
    """Networks solved under one set of weights.

    Parameters
    ----------
    networks : tuple of Network
        The networks.
    scales : array of shape (n_outputs,)
        Robust standard deviations of the left-out residuals.
    """

    networks: tuple[Network, ...]
    scales: HostArray


class RobustSCNRegressor(RobustMixin, NetworkRegressor):
    """Robust regression from dirty data alone: no clean rows, no tuning, raw units.

    Several stochastic configuration networks share one set of row weights. A row is judged by
    what networks predict for it that have not seen its target; the same left-out residuals
    choose the ridge of each network and the round that is kept.

    Parameters
    ----------
    n_networks : int, default=16
        Networks whose predictions are averaged.
    max_nodes : int, default=150
        Hidden nodes of each; at most half the number of rows.
    n_rounds : int, default=10
        Rounds of reweighting.
    weighting : str or Weighting, default="geman-mcclure"
        How residuals become weights: "geman-mcclure", "kde", "kde-textbook", "huber", "tukey",
        "cauchy", "welsch", "laplace", "student-t", or an object of your own.
    n_candidates : int, default=20
        Candidates drawn for each scope and step.
    scopes : sequence of float, default=(0.1, 0.3, 1, 3, 10, 30, 100, 300)
        How steep nodes may be, for inputs scaled to [0, 1].
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
    n_jobs : int or None, default=-1
        Networks fitted at the same time; -1 uses all cores.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    inlier_weight_ : array of shape (n_samples,)
        How far each row is believed, between 0 and 1.
    outliers_ : bool array of shape (n_samples,)
        Rows whose left-out residual is beyond three robust standard deviations: 1.4826 times
        the median absolute residual, computed again without such rows until it settles, and
        not below the scale of the kept round, under which rows were not told apart.
    n_nodes_ : int
        Hidden nodes of all networks together.
    n_rounds_ : int
        The round that was kept.
    error_path_ : array of shape (n_rounds,)
        Huber loss of the left-out residuals in each round, as a root mean square.
    stop_reason_ : str
        Which round was kept and why.
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
    >>> bool(model.outliers_[::10].all())
    True
    """

    def __init__(
        self,
        *,
        n_networks: int = 16,
        max_nodes: int = 150,
        n_rounds: int = 10,
        weighting: str | Weighting = "geman-mcclure",
        n_candidates: int = 20,
        scopes: Sequence[float] = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
        activation: str = "logistic",
        n_jobs: int | None = -1,
        random_state: Any = None,
    ) -> None:
        self.n_networks = n_networks
        self.max_nodes = max_nodes
        self.n_rounds = n_rounds
        self.weighting = weighting
        self.n_candidates = n_candidates
        self.scopes = scopes
        self.activation = activation
        self.n_jobs = n_jobs
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
            Trusted rows, if there are any: they then choose the round that is kept.

        Returns
        -------
        RobustSCNRegressor
            Itself.
        """
        training = self._training(X, y, sample_weight)
        weighting = named(self.weighting)
        validation = self._validation(X_val, y_val, training)
        self._scaling = _scaling(training.problem)
        problem = _scaled(training.problem, self._scaling)
        workers = effective_n_jobs(self.n_jobs)
        if not is_numpy_array(problem.X):
            workers = 1  # a device runs one thing at a time
        with ThreadPoolExecutor(workers) as pool, one_blas_thread():
            rounds = list(
                reweight(
                    problem.rows,
                    problem.weight,
                    self._builder(problem, pool.map),
                    weighting,
                    self.n_rounds,
                    start=_not_gross(problem),
                    negligible=training.negligible(1e-6),
                    least_scale=_narrowing(problem),
                )
            )
        losses = _huber_losses(problem, rounds)
        errors = losses
        if validation is not None:
            errors = [self._validation_error(validation, round_.model) for round_ in rounds]
        # Networks of the first rounds were grown with every row believed; one that put a node on
        # a wrong row vouches for it. A handful of rows cannot bear so much doubt.
        many = len(rounds) > FIRST_TRUSTED_ROUND and _n_rows(problem) >= FEW_ROWS
        trusted = FIRST_TRUSTED_ROUND if many else 0
        best = trusted + int(np.argmin(errors[trusted:]))
        self._keep_round(training, rounds[best])
        self.n_rounds_ = best + 1
        self.error_path_ = np.sqrt(losses) * training.scale
        judge = "validation rows" if validation is not None else "left-out residuals"
        self.stop_reason_ = f"round {best + 1} of {len(rounds)} had the lowest error on {judge}"
        return self

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
            max_nodes=min(self.max_nodes, max(FEW_ROWS // 2, _n_rows(problem) // 2)),
            block=5,
            exact=True,
            shortlist=40,
            ridge=1e-6,
        )

    def _builder(
        self, problem: Problem, each: Callable[..., Any]
    ) -> Callable[[int, Column], tuple[Ensemble, Column]]:
        """Return what one round does: grow networks where due, solve all, judge the rows."""
        recipe = self._recipe(problem)
        folds = _folds(problem, recipe.draw.seed)
        batches = _batches(self.n_networks, self.n_rounds)
        layers: list[Nodes] = []
        hidden_from: list[int] = []

        def build(number: int, weight: Column) -> tuple[Ensemble, Column]:
            if number == FIRST_TRUSTED_ROUND:
                layers.clear()
                hidden_from.clear()
            weighted = replace(problem, weight=weight)
            new = [f % FOLDS for f in range(len(layers), len(layers) + batches.get(number, 0))]
            recipes = [replace(recipe, round=100 * number + k) for k in range(len(new))]
            layers.extend(each(partial(_grown_without, weighted, folds), new, recipes))
            hidden_from.extend(new)
            tuned = list(each(partial(_tuned, weighted, problem.weight), layers))
            evidence = _evidence(problem, folds, tuned, hidden_from)
            scales = trimmed_scales(problem.rows, evidence, problem.weight)
            return Ensemble(_networks(problem, layers, tuned), scales), evidence

        return build

    def _keep_round(self, training: Training, kept: Round[Ensemble]) -> None:
        self._networks = kept.model.networks
        self._scale, self._flat = training.scale, training.flat
        self.n_nodes_ = sum(n.output_weights.shape[0] - 1 for n in self._networks)
        self._keep_weights(training, kept)

    def _output(self, X: Array) -> Array:
        return ensemble_output(self._networks, self._scaling, X)

    def _width(self) -> int:
        return max(n.output_weights.shape[0] for n in self._networks)

    def _validation_error(self, validation: Validation, model: Ensemble) -> float:
        xp = namespace(validation.X)
        error = validation.y - ensemble_output(model.networks, self._scaling, validation.X)
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
    rows, n_outputs = problem.rows, problem.y.shape[1]
    low, high = _extent(problem)
    X, weight = sample(rows, min(1.0, RANKED_ROWS / rows.n_rows), problem.X, problem.weight)
    X, weight = X[weight > 0], weight[weight > 0]
    ranked = [_ranks(X[:, j], weight) for j in range(X.shape[1])]
    centre = [quantile(rows, problem.y[:, q], problem.weight, 0.5) for q in range(n_outputs)]
    return Scaling(
        low,
        np.where(high > low, high - low, 1.0),
        tuple(knots for knots, _ in ranked),
        tuple(shares for _, shares in ranked),
        np.array(centre),
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

    def widest(a: Totals, b: Totals) -> Totals:
        return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])

    low, high = problem.rows.reduce(extent, problem.X, problem.weight, combine=widest)
    return low, high


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


def _n_rows(problem: Problem) -> int:
    """Return the number of rows, a weight of k counted k times and one below one as a row."""

    def count(w: Array) -> Totals:
        xp = namespace(w)
        return (xp.sum(xp.where(w > 0, xp.clip(w, 1.0, None), xp.zeros_like(w))),)

    return int(problem.rows.reduce(count, problem.weight)[0])


def _scaled(problem: Problem, scaling: Scaling) -> Problem:
    X = problem.rows.map(scaling.inputs, problem.X, width=4 * problem.X.shape[1])
    y = problem.rows.map(lambda t: t - like(scaling.centre, t), problem.y)
    # Networks are fitted side by side; threads inside each would only be in the way.
    rows = problem.rows
    if isinstance(rows, LocalRows):
        rows = replace(rows, n_threads=1)
    sketch = None if problem.sketch is None else sketch_of(rows, X)
    return replace(problem, rows=rows, X=X, y=y, sketch=sketch)


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


def _folds(problem: Problem, seed: int) -> Column:
    """Return each row's fold, a function of its inputs: copies of a row stay together.

    Where rows are few, or their distinct inputs so few that a fold would hold nearly half of
    the weight, all rows get the fold -1, which no network leaves out.
    """
    draw = np.random.default_rng((seed, 1)).uniform(1e3, 1e4, problem.X.shape[1])

    def fold(x: Array) -> Array:
        xp = namespace(x)
        mixed = xp.zeros_like(x[:, 0])
        for j in range(x.shape[1]):  # column by column: a row's sum must not depend on others
            mixed = mixed + float(draw[j]) * x[:, j]
        return xp.floor((mixed - xp.floor(mixed)) * FOLDS)

    def masses(f: Array, w: Array) -> Totals:
        xp = namespace(f)
        return (xp.stack([xp.sum(xp.where(f == k, w, xp.zeros_like(w))) for k in range(FOLDS)]),)

    folds = problem.rows.map(fold, problem.X)
    (mass,) = problem.rows.reduce(masses, folds, problem.weight)
    if mass.max() > 0.45 * mass.sum() or _n_rows(problem) < FEW_ROWS:
        return problem.rows.map(lambda f: namespace(f).full_like(f, -1.0), folds)
    return folds


def _batches(n_networks: int, n_rounds: int) -> dict[int, int]:
    """Return how many networks are grown in which round.

    Round 0 grows one batch on rows that are all believed; from `FIRST_TRUSTED_ROUND` to the
    last but one, batches spread evenly make up the ensemble.
    """
    batch = min(FOLDS, n_networks)
    if n_rounds <= FIRST_TRUSTED_ROUND:
        return {0: n_networks}
    last = max(FIRST_TRUSTED_ROUND, n_rounds - 2)
    due = {0: batch}
    for place in np.linspace(FIRST_TRUSTED_ROUND, last, -(-n_networks // FOLDS)):
        count = min(FOLDS, n_networks - sum(v for r, v in due.items() if r > 0))
        due[round(place)] = due.get(round(place), 0) + count
    return due


def _grown_without(problem: Problem, folds: Column, fold: int, recipe: Recipe) -> Nodes:
    """Return nodes grown on the rows of all other folds."""

    def others(w: Array, f: Array) -> Array:
        return namespace(w).where(f == fold, namespace(w).zeros_like(w), w)

    weight = problem.rows.map(others, problem.weight, folds)
    *_, state = grow(replace(problem, weight=weight), recipe)
    return state.nodes


def _tuned(problem: Problem, sample_weight: Column, nodes: Nodes) -> Tuned:
    return ridge_by_leave_one_out(
        problem.rows,
        problem.X,
        problem.y,
        problem.weight,
        sample_weight,
        nodes.hidden,
        len(nodes),
        RIDGES,
    )


def _networks(
    problem: Problem, layers: Sequence[Nodes], tuned: Sequence[Tuned]
) -> tuple[Network, ...]:
    n_features = problem.X.shape[1]
    one = pass_through(n_features, inputs=False, constant=True, reference=problem.X)
    return tuple(
        network((nodes, one), fit.output_weights) for nodes, fit in zip(layers, tuned, strict=True)
    )


def _evidence(
    problem: Problem, folds: Column, tuned: Sequence[Tuned], hidden_from: Sequence[int]
) -> Column:
    """Return each row's mean left-out residual over the networks grown without it.

    Rows that no network was grown without, in an ensemble smaller than the folds, take the
    mean over all.
    """

    def mean(f: Array, *left_out: Array) -> Array:
        xp = namespace(f)
        stacked = xp.stack(left_out)
        unseen = xp.stack([xp.astype(f == k, f.dtype) for k in hidden_from])
        none = xp.astype(xp.sum(unseen, axis=0) == 0, f.dtype)
        votes = unseen + none[None, :]
        return xp.sum(votes[:, :, None] * stacked, axis=0) / xp.sum(votes, axis=0)[:, None]

    columns = [fit.left_out for fit in tuned]
    return problem.rows.map(mean, folds, *columns, width=2 * len(columns))


def _narrowing(problem: Problem) -> Callable[[int, Column], HostArray]:
    """Return the schedule of scales: a third of the largest residual, halved each round."""
    widest: list[HostArray] = []

    def largest(e: Array, w: Array) -> Totals:
        xp = namespace(e)
        counted = xp.where((w > 0)[:, None], xp.abs(e), xp.zeros_like(e))
        return (xp.max(counted, axis=0),)

    def least_scale(number: int, evidence: Column) -> HostArray:
        if not widest:
            believed = problem.rows.map(lambda s, w: s * w, _not_gross(problem), problem.weight)
            (size,) = problem.rows.reduce(
                largest, evidence, believed, combine=lambda a, b: (np.maximum(a[0], b[0]),)
            )
            widest.append(size)
        return widest[0] / 3.0 * 0.5**number

    return least_scale


def _huber_losses(problem: Problem, rounds: Sequence[Round[Ensemble]]) -> list[float]:
    """Return each round's Huber loss of all rows' left-out residuals."""
    bend = 4.0 * np.min([round_.model.scales for round_ in rounds], axis=0)

    def loss(e: Array, w: Array) -> Totals:
        xp = namespace(e)
        near, size = like(bend, e), xp.abs(e)
        inside = xp.where(size < near, size, near)
        return xp.sum(w[:, None] * inside * (2.0 * size - inside)), xp.sum(w)

    totals = [problem.rows.reduce(loss, round_.evidence, problem.weight) for round_ in rounds]
    return [float(total / count) / problem.y.shape[1] for total, count in totals]
