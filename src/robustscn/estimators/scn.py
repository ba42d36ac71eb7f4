"""Stochastic configuration networks, and their robust version with kernel density weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from ..core.arrays import HostArray
from ..core.growth import (
    CONTRACTIONS,
    Problem,
    Recipe,
    State,
    Stop,
    grow,
    restored,
    validated,
    watched,
)
from ..core.judging import Plan, Round, Taught, judge
from ..core.nodes import Network, network
from ..core.proposals import Draw, Experience
from ..core.renewal import renewed
from ..core.rows import Column
from ..core.sketch import UNSAMPLED_ROWS
from ..core.solve import Fit
from ..core.weighting import Weighting, named
from ._base import NetworkRegressor, RobustMixin, Training, Validation, one_blas_thread
from ._stream import StreamMixin
from ._watch import Watch, fitted_network, with_callbacks

SCOPES = (0.5, 1.0, 3.0, 5.0, 7.0, 9.0, 15.0, 25.0, 50.0, 100.0, 150.0, 200.0)
ALGORITHMS = {"SC-I": "newest", "SC-II": "window", "SC-III": "all"}

GROWN_ONCE_ROWS = 2**17
"""Rows beyond which `rebuild="auto"` keeps the first round's nodes: wrong targets are outvoted
in choosing nodes long before they are in choosing output weights."""


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


class SCNRegressor(StreamMixin, NetworkRegressor):
    """Stochastic configuration network.

    Hidden nodes are drawn at random, but a node joins the network only if it satisfies a
    supervisory inequality that guarantees the error to fall; of the admissible candidates
    the one with the largest guaranteed fall is taken.

    *When to use it*: the targets can be trusted and the relation is smooth; or as the network that
    a method of your own is built around. Where targets may be wrong, `RobustSCNRegressor`.

    Parameters
    ----------
    max_nodes : int, default=100
        Largest number of hidden nodes.
    algorithm : {"SC-III", "SC-II", "SC-I"}, default="SC-III"
        Which output weights are renewed when a node is added: all, those of the last `window`
        nodes, or only the new one.
    window : int, default=20
        Number of nodes that SC-II refits.
    n_candidates : int, default=100
        Candidates drawn for each scope.
    scopes : sequence of float, default=(0.5, 1, 3, ..., 200)
        Half widths of the interval that weights and biases are drawn from.
    scope_order : {"ascending", "pooled"}, default="ascending"
        Try scopes one after the other and stop at the first with an admissible candidate, or
        choose among the candidates of all scopes.
    proposals : {"random", "adaptive"}, default="random"
        How candidates are drawn: "random" as in the literature, "adaptive" with a few of the
        inputs each, those with which earlier nodes gained the more often, and two fifths of them
        as variations of these nodes. For many inputs of which few matter.
    contractions : sequence of float, default=(0.9, 0.99, ..., 0.999999)
        Values of r in the inequality, tried in this order.
    rule : {"inequality", "exact"}, default="inequality"
        Rank candidates by the inequality's bound, or by how far the error really falls. The
        exact rule needs SC-III, finds better nodes and costs more time for each.
    block : int, default=1
        Nodes added in one step; more than one needs SC-III.
    ridge : float, default=0.0
        Penalty on the squared output weights, for each unit of sample weight; needs SC-III.
    tol : float, default=1e-6
        Growth ends when the weighted error is below this share of the targets' size.
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
    patience : int, default=20
        With validation data, nodes to add without a lower validation error before stopping.
    warm_start : bool, default=False
        Go on from the nodes of the last fit, up to a larger `max_nodes`. On the same rows, with
        the same integer `random_state`, the network is that of one longer fit.
    half_life : float or None, default=None
        Rows after which a row that `partial_fit` learned counts half; None never forgets, but a
        change of the world is still taken in.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    n_nodes_ : int
        Number of hidden nodes.
    error_path_ : array of shape (n_steps,)
        Weighted root mean squared training error after each step.
    validation_path_ : array of shape (n_steps,)
        Root mean squared validation error after each step; empty without validation data.
    stop_reason_ : str
        Why growth ended.
    output_weights_ : array of shape (n_nodes, n_outputs)
        Output weights.
    drift_ : list of Drift
        Changes that `partial_fit` took in: `row`, `began`, `size`, `deviations`.
    suspects_ : list of Suspect
        Rows that `partial_fit` found strange: `row`, `observed`, `expected`, `deviations`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    See Also
    --------
    RSCKDERegressor : The same in rounds, rows weighted by the density of their residuals.
    RobustSCNRegressor : Several of them that judge rows which they have not seen.
    RVFLRegressor : All nodes drawn at once, none refused.

    Notes
    -----
    As published, the output has no constant term: centre targets that lie far from zero, or use
    `RobustSCNRegressor`, which does.

    The inequality is equation (4) of the RSC-KDE paper, the score (8) with all weights one, and
    the output weights of SC-III (5). With n rows, d inputs, L nodes and C candidates for each, a
    fit costs O(n L (C d + L)) and O(n L) memory.

    References
    ----------
    D. Wang, M. Li, "Stochastic configuration networks: fundamentals and algorithms", IEEE
    Transactions on Cybernetics 47 (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import SCNRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> model = SCNRegressor(max_nodes=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.999)
    True
    """

    _distrusts = False

    def __init__(
        self,
        max_nodes: int = 100,
        *,
        algorithm: str = "SC-III",
        window: int = 20,
        n_candidates: int = 100,
        scopes: Sequence[float] = SCOPES,
        scope_order: str = "ascending",
        proposals: str = "random",
        contractions: Sequence[float] = CONTRACTIONS,
        rule: str = "inequality",
        block: int = 1,
        ridge: float = 0.0,
        tol: float = 1e-6,
        activation: str = "logistic",
        patience: int = 20,
        warm_start: bool = False,
        half_life: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.max_nodes = max_nodes
        self.algorithm = algorithm
        self.window = window
        self.n_candidates = n_candidates
        self.scopes = scopes
        self.scope_order = scope_order
        self.proposals = proposals
        self.contractions = contractions
        self.rule = rule
        self.block = block
        self.ridge = ridge
        self.tol = tol
        self.activation = activation
        self.patience = patience
        self.warm_start = warm_start
        self.half_life = half_life
        self.random_state = random_state

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Grow the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative; 2 is the same as the row twice.
        X_val, y_val : array-like or None
            Trusted rows; the size with the lowest error on them is kept.

        Returns
        -------
        SCNRegressor
            Itself.
        """
        training = self._training(X, y, sample_weight)
        validation = self._validation(X_val, y_val, training)
        recipe = recipe_of(self, training)
        watch = Watch(self, 1, X, y)
        with one_blas_thread():
            watch.begin_round(recipe.n_steps, recipe.block)
            start = self._earlier(training, recipe)
            result = grown(training.problem, recipe, validation, self.patience, watch, start)
            watch.end_round(partial(fitted_network, training, result.network))
        self._keep(training, result.network)
        self._keep_paths(training, result)
        watch.end()
        return self

    def _earlier(self, training: Training, recipe: Recipe) -> State | None:
        """Return the network of the last fit on these rows, where growing goes on from it."""
        if not self.warm_start or not hasattr(self, "_network"):
            return None
        (nodes,) = self._network.layers
        if nodes.weights.shape[0] != recipe.draw.n_features:
            raise ValueError(
                f"warm_start goes on from nodes with {nodes.weights.shape[0]} inputs, X has "
                f"{recipe.draw.n_features}: use warm_start=False to begin anew"
            )
        if len(nodes) > recipe.max_nodes:
            raise ValueError(
                f"warm_start goes on from {len(nodes)} nodes: max_nodes must be at least that, "
                f"got {recipe.max_nodes}"
            )
        return restored(training.problem, recipe, nodes)

    def _keep_paths(self, training: Training, result: Grown) -> None:
        self.error_path_ = _paths(result.errors, training)
        self.validation_path_ = _paths(result.validation_errors, training)
        self.stop_reason_ = result.stop.value
        best = int(np.argmin(result.validation_errors)) if result.validation_errors else -1
        if result.stop is not Stop.VALIDATION and 0 <= best < len(result.validation_errors) - 1:
            nodes = result.network.output_weights.shape[0]
            self.stop_reason_ += f"; {nodes} had the lowest validation error"


def _paths(errors: list[float], training: Training) -> HostArray:
    return np.array(errors) * training.scale


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


class RSCKDERegressor(RobustMixin, SCNRegressor):
    """Robust stochastic configuration network with kernel density weights (RSC-KDE).

    Rounds alternate between growing a network by weighted least squares and renewing each
    row's weight as the kernel density of the residuals at its residual: rows whose error is
    unlike the others' count less in the next round.

    *When to use it*: there are clean validation rows to say when to stop, or the published method
    itself is wanted. Without clean rows `RobustSCNRegressor` needs no choice of `max_nodes`.

    Parameters
    ----------
    max_nodes : int, default=100
        Largest number of hidden nodes.
    n_rounds : int, default=5
        Rounds, each of which builds a network with the weights that the last one suggests.
    weighting : str or Weighting, default="kde-textbook"
        How residuals become weights: "kde-textbook" is the paper's; "kde", "mixture",
        "geman-mcclure", "huber", "tukey", "cauchy", "welsch", "laplace", "student-t" or an object
        of your own.
    rebuild : {"auto"} or bool, default="auto"
        True grows each round's network from nothing, as the paper does; False keeps the first
        round's nodes and renews only the output weights. "auto" is True up to 32768 rows,
        grows nodes in the first and the last round up to 131072, and is False beyond.
    algorithm : {"SC-III", "SC-II", "SC-I"}, default="SC-III"
        Which output weights are renewed when a node is added.
    window : int, default=20
        Number of nodes that SC-II refits.
    n_candidates : int, default=100
        Candidates drawn for each scope.
    scopes : sequence of float, default=(0.5, 1, 3, ..., 200)
        Half widths of the interval that weights and biases are drawn from.
    scope_order : {"ascending", "pooled"}, default="ascending"
        Try scopes one after the other, or choose among the candidates of all scopes.
    proposals : {"random", "adaptive"}, default="random"
        How candidates are drawn: "random" as in the literature, "adaptive" with a few of the
        inputs each, those with which earlier nodes gained the more often, and two fifths of them
        as variations of these nodes. For many inputs of which few matter.
    contractions : sequence of float, default=(0.9, 0.99, ..., 0.999999)
        Values of r in the inequality, tried in this order.
    rule : {"inequality", "exact"}, default="inequality"
        Rank candidates by the inequality's bound, or by how far the error really falls.
    block : int, default=1
        Nodes added in one step; more than one needs SC-III.
    ridge : float, default=0.0
        Penalty on the squared output weights, for each unit of weight.
    tol : float, default=1e-6
        Growth ends when the weighted error is below this share of the targets' size.
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
    patience : int, default=20
        With validation data, nodes to add without a lower validation error before stopping.
    warm_start : bool, default=False
        Go on with further rounds, up to a larger `n_rounds`, from the row weights of the last
        fit, which must have been on the same rows.
    half_life : float or None, default=None
        Rows after which a row that `partial_fit` learned counts half; None never forgets, but a
        change of the world is still taken in.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    inlier_weight_ : array of shape (n_samples,)
        How far each row is believed, between 0 and 1, from the last round's residuals.
    outliers_ : bool array of shape (n_samples,)
        Rows whose residual is beyond three robust standard deviations: 1.4826 times the
        median absolute residual, computed again without such rows until it settles.
    expected_ : array of shape (n_samples,) or (n_samples, n_outputs)
        The kept network's predictions for the training rows.
    residuals_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Targets minus `expected_`: what rows are judged by.
    residual_scale_ : array of shape (n_outputs,)
        One robust standard deviation of the residuals.
    n_nodes_ : int
        Number of hidden nodes.
    n_rounds_ : int
        The round whose network was kept: the last, or the one with the lowest validation
        error.
    nodes_round_ : int
        The round in which its nodes were grown; later rounds up to `n_rounds_` renewed their
        output weights.
    error_path_ : array of shape (n_steps,)
        Weighted root mean squared training error after each step in which they were grown.
    validation_path_ : array of shape (n_steps,)
        Its validation error after each step; empty without validation data.
    stop_reason_ : str
        Why its growth ended.
    output_weights_ : array of shape (n_nodes, n_outputs)
        Output weights.
    drift_ : list of Drift
        Changes that `partial_fit` took in: `row`, `began`, `size`, `deviations`.
    suspects_ : list of Suspect
        Rows that `partial_fit` found strange: `row`, `observed`, `expected`, `deviations`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    See Also
    --------
    RobustSCNRegressor : Rows judged by networks that have not seen them; no clean rows needed.
    SCNRegressor : One round, every row believed.
    ImprovedRVFLRegressor : The same weights around one random layer.

    Notes
    -----
    Candidates are scored by the paper's equation (8), row weights are its (11) and (13), output
    weights (12) and (14). `weighting="kde-textbook"` is that density; `"kde"` takes a robust scale
    for the bandwidth and leaves a row out of its own density.

    Each of the `n_rounds` costs what a fit of `SCNRegressor` costs and one density of the
    residuals, which is linear in the number of rows where these are many.

    References
    ----------
    D. Wang, M. Li, "Robust stochastic configuration networks with kernel density estimation for
    uncertain data regression", Information Sciences 412-413 (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import RSCKDERegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> y[::10] += 3.0
    >>> model = RSCKDERegressor(max_nodes=15, random_state=0).fit(X, y)
    >>> bool(model.outliers_[::10].all())
    True
    """

    _distrusts = True

    def __init__(
        self,
        max_nodes: int = 100,
        *,
        n_rounds: int = 5,
        weighting: str | Weighting = "kde-textbook",
        rebuild: bool | str = "auto",
        algorithm: str = "SC-III",
        window: int = 20,
        n_candidates: int = 100,
        scopes: Sequence[float] = SCOPES,
        scope_order: str = "ascending",
        proposals: str = "random",
        contractions: Sequence[float] = CONTRACTIONS,
        rule: str = "inequality",
        block: int = 1,
        ridge: float = 0.0,
        tol: float = 1e-6,
        activation: str = "logistic",
        patience: int = 20,
        warm_start: bool = False,
        half_life: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            max_nodes,
            algorithm=algorithm,
            window=window,
            n_candidates=n_candidates,
            scopes=scopes,
            scope_order=scope_order,
            proposals=proposals,
            contractions=contractions,
            rule=rule,
            block=block,
            ridge=ridge,
            tol=tol,
            activation=activation,
            patience=patience,
            warm_start=warm_start,
            half_life=half_life,
            random_state=random_state,
        )
        self.n_rounds = n_rounds
        self.weighting = weighting
        self.rebuild = rebuild

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Grow and reweight.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative; 2 is the same as the row twice.
        X_val, y_val : array-like or None
            Trusted rows, which the paper assumes to be at hand: in each round the number of
            nodes with the lowest error on them is kept, and of the rounds the best.

        Returns
        -------
        RSCKDERegressor
            Itself.
        """
        training = self._training(X, y, sample_weight)
        weighting = named(self.weighting)
        validation = self._validation(X_val, y_val, training)
        recipe = recipe_of(self, training)
        problem = training.problem
        done, start = self._earlier_rounds(training)
        watch = Watch(self, self.n_rounds - done, X, y)
        kept: Grown | None = None

        def build(number: int, weight: Column) -> tuple[Grown, Column]:
            nonlocal kept
            weighted = replace(problem, weight=weight)
            this = replace(recipe, round=done + number)
            again = kept is not None and not self._grows_anew(problem.rows.n_rows, this.round)
            watch.begin_round(0 if again else recipe.n_steps, recipe.block)
            if kept is not None and again:
                result = _solved_again(weighted, kept, recipe.ridge)
            else:
                kept = None  # its columns make room for the new ones
                kept = grown(weighted, this, validation, self.patience, watch)
                result = kept
            # Rounds are kept by whoever asked for them; the columns only for the next build.
            return replace(result, fit=None), result.residuals

        best: tuple[float, int, Round[Grown]] | None = None
        with one_blas_thread():
            for number, round_ in enumerate(
                judge(
                    problem.rows,
                    problem.weight,
                    Taught(build),
                    [Plan(weighting)] * (self.n_rounds - done),
                    start=start,
                    negligible=training.negligible(10 * recipe.tolerance),
                )
            ):
                made = round_.model.network
                error = 0.0 if validation is None else validation.rmse(made)
                if best is None or validation is None or error < best[0]:
                    best = error, done + number + 1, round_
                if watch.end_round(partial(fitted_network, training, made)):
                    break
        assert best is not None
        _, self.n_rounds_, chosen = best
        self.nodes_round_ = chosen.model.round + 1
        self._keep(training, chosen.model.network)
        self._keep_paths(training, chosen.model)
        self._keep_weights(training, chosen)
        self._last_round = done + number + 1, round_.inlier_weight
        watch.end()
        return self

    def _grows_anew(self, n_rows: int, round_: int) -> bool:
        """Return whether a round after the first starts from nothing."""
        if self.rebuild == "auto":
            last = round_ == self.n_rounds - 1
            return n_rows <= UNSAMPLED_ROWS or (last and n_rows <= GROWN_ONCE_ROWS)
        return bool(self.rebuild)

    def _earlier_rounds(self, training: Training) -> tuple[int, Column | None]:
        """Return how many rounds are done, and the row weights they came to."""
        if not self.warm_start or not hasattr(self, "_last_round"):
            return 0, None
        done, weight = self._last_round
        if weight.shape[0] != training.problem.rows.n_rows:
            raise ValueError(
                f"warm_start goes on from the weights of {weight.shape[0]} rows, X has "
                f"{training.problem.rows.n_rows}: use warm_start=False to begin anew"
            )
        if self.n_rounds <= done:
            raise ValueError(
                f"warm_start goes on after {done} rounds: n_rounds must be larger, "
                f"got {self.n_rounds}"
            )
        return done, weight


def _solved_again(problem: Problem, kept: Grown, ridge: float) -> Grown:
    """Return the kept nodes with output weights renewed under the problem's weights."""
    (nodes,) = (layer.beside(problem.X) for layer in kept.network.layers)
    output_weights, residuals = renewed(problem, nodes, kept.fit, ridge)
    return replace(kept, network=network((nodes,), output_weights), residuals=residuals)
