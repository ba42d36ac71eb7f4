"""The two robust versions of RVFL: kernel density weights, and Laplace noise with a prior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from ..core.arrays import HostArray, eps
from ..core.judging import Plan, Round, judge
from ..core.learner import Taught
from ..core.nodes import Network, network
from ..core.problem import Problem
from ..core.rows import Column
from ..core.weighting import Laplace, Weighting, named
from ._base import RobustMixin, Training, Validation, one_blas_thread
from ._layer import Layer, RandomLayerRegressor, rmse, solved
from ._watch import Watch, fitted_network, with_callbacks


@dataclass(frozen=True)
class _Solved:
    """One round: the network, how far its weights moved, and its error."""

    network: Network
    change: float
    error: float


def _rounds(
    problem: Problem,
    layer: Layer,
    ridge: float,
    weighting: Weighting,
    n_rounds: int,
    tol: float,
    *,
    negligible: float,
) -> Iterator[Round[_Solved]]:
    """Yield rounds until the output weights have settled."""
    before: HostArray | None = None

    def build(_: int, weight: Column) -> tuple[_Solved, Column]:
        nonlocal before
        weighted = replace(problem, weight=weight)
        solution = solved(weighted, layer, ridge)
        new = solution.output_weights
        size = float(np.linalg.norm(new))
        change = np.inf if before is None else float(np.linalg.norm(new - before))
        before = new
        made = _Solved(
            network(layer.groups, new),
            0.0 if size == 0 else change / size,
            rmse(weighted, solution.residuals),
        )
        return made, solution.residuals

    plans = [Plan(weighting)] * n_rounds
    for round_ in judge(problem.rows, problem.weight, Taught(build), plans, negligible=negligible):
        yield round_
        if round_.model.change <= tol:
            return


class ReweightedLayerRegressor(RobustMixin, RandomLayerRegressor):
    """Shared by the two robust ones: iterate weights and weighted least squares."""

    def _fit(
        self,
        training: Training,
        validation: Validation | None,
        weighting: Weighting,
        ridge: float,
        watch: Watch,
    ) -> None:
        layer = self._layer(training)
        rounds = _rounds(
            training.problem,
            layer,
            ridge,
            weighting,
            self.n_rounds,
            self.tol,
            negligible=training.negligible(),
        )
        errors: list[float] = []
        best: tuple[float, int, Round[_Solved]] | None = None
        with one_blas_thread():
            for round_ in rounds:
                errors.append(round_.model.error)
                error = 0.0 if validation is None else validation.rmse(round_.model.network)
                if best is None or validation is None or error < best[0]:
                    best = error, len(errors), round_
                watch.begin_round()
                made = round_.model.network
                if watch.end_round(partial(fitted_network, training, made)):
                    break
        assert best is not None
        _, self.n_rounds_, kept = best
        settled = round_.model.change <= self.tol
        self.stop_reason_ = "the output weights settled" if settled else "n_rounds were done"
        self._keep_solution(training, layer, kept.model.network.output_weights, errors)
        self._keep_weights(training, kept)
        watch.end()


class ImprovedRVFLRegressor(ReweightedLayerRegressor):
    """Random vector functional-link network with kernel density weights.

    One random hidden layer; output weights by weighted least squares and row weights by the
    kernel density of the residuals are renewed in turn.

    *When to use it*: for comparison, or where a scope that suits the data is known and a robust
    fit must be fast.

    Parameters
    ----------
    n_nodes : int, default=100
        Number of hidden nodes.
    scope : float, default=1.0
        Weights and biases are uniform in [-scope, scope].
    weighting : str or Weighting, default="kde-textbook"
        How residuals become weights; see `RSCKDERegressor`.
    n_rounds : int, default=40
        Largest number of rounds.
    tol : float, default=1e-4
        Rounds end when the output weights change by less than this share.
    direct_link : bool, default=False
        Hand the inputs on to the output as well.
    bias : bool, default=False
        Give the output a constant term.
    ridge : float, default=0.0
        Penalty on the squared output weights; 0 uses the pseudo-inverse.
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    inlier_weight_ : array of shape (n_samples,)
        How far each row is believed, between 0 and 1.
    outliers_ : bool array of shape (n_samples,)
        Rows whose residual is beyond three robust standard deviations; see
        `RSCKDERegressor`.
    expected_ : array of shape (n_samples,) or (n_samples, n_outputs)
        The kept network's predictions for the training rows.
    residuals_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Targets minus `expected_`: what rows are judged by.
    residual_scale_ : array of shape (n_outputs,)
        One robust standard deviation of the residuals.
    n_nodes_ : int
        Number of hidden nodes.
    n_rounds_ : int
        The round whose network was kept.
    error_path_ : array of shape (n_rounds,)
        Weighted root mean squared training error after each round.
    stop_reason_ : str
        Whether the output weights settled.
    output_weights_ : array of shape (n_columns, n_outputs)
        Output weights.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    See Also
    --------
    RSCKDERegressor : The same weights around a network that grows.
    PRNNRWRegressor : The same layer, with weights of Laplace noise.

    Notes
    -----
    Row weights as in equation (11) of the RSC-KDE paper. Each round is one weighted least squares
    problem and one density: O(n L^2) for n rows and L nodes.

    References
    ----------
    W. Dai, Q. Liu, T. Chai, "Particle size estimate of grinding processes using random vector
    functional link networks with improved robustness", Neurocomputing 169 (2015).

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import ImprovedRVFLRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> y[::10] += 3.0
    >>> model = ImprovedRVFLRegressor(20, scope=5.0, random_state=0).fit(X, y)
    >>> bool(model.outliers_[::10].all())
    True
    """

    def __init__(
        self,
        n_nodes: int = 100,
        *,
        scope: float = 1.0,
        weighting: str | Weighting = "kde-textbook",
        n_rounds: int = 40,
        tol: float = 1e-4,
        direct_link: bool = False,
        bias: bool = False,
        ridge: float = 0.0,
        activation: str = "logistic",
        random_state: Any = None,
    ) -> None:
        self.n_nodes = n_nodes
        self.scope = scope
        self.weighting = weighting
        self.n_rounds = n_rounds
        self.tol = tol
        self.direct_link = direct_link
        self.bias = bias
        self.ridge = ridge
        self.activation = activation
        self.random_state = random_state

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Draw the nodes, then renew output weights and row weights in turn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative; 2 is the same as the row twice.
        X_val, y_val : array-like or None
            Trusted rows; the round with the lowest error on them is kept.

        Returns
        -------
        ImprovedRVFLRegressor
            Itself.
        """
        training = self._training(X, y, sample_weight)
        weighting = named(self.weighting)
        validation = self._validation(X_val, y_val, training)
        watch = Watch(self, [1.0] * self.n_rounds, X, y)
        self._fit(training, validation, weighting, self.ridge, watch)
        return self


class PRNNRWRegressor(ReweightedLayerRegressor):
    """Probabilistic robust network with random weights (PRNNRW).

    One random hidden layer; Laplace noise on the targets and a Gaussian prior on the output
    weights, fitted by expectation maximisation: weights 1 / |e| and a ridge, in turn.

    *When to use it*: for comparison, or where noise has heavy tails but few rows are plainly
    wrong: weights of 1 / |e| never lose a far row altogether.

    Parameters
    ----------
    n_nodes : int, default=100
        Number of hidden nodes.
    scope : float, default=1.0
        Weights and biases are uniform in [-scope, scope].
    ridge : float, default=10.0
        Precision of the prior on the output weights, in the unit of the targets. 10 gives the
        published figures for targets between 0 and 1; smaller values trust the rows more.
    delta : float, default=1e-5
        Smallest residual told from zero, in the unit of the targets; not below rounding, which
        is 1000 rounding units of targets of the usual size.
    weighting : None, str or Weighting, default=None
        None is the method's own; others as in `RSCKDERegressor`.
    n_rounds : int, default=100
        Largest number of rounds.
    tol : float, default=1e-4
        Rounds end when the output weights change by less than this share.
    direct_link : bool, default=False
        Hand the inputs on to the output as well.
    bias : bool, default=False
        Give the output a constant term.
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    inlier_weight_ : array of shape (n_samples,)
        How far each row is believed, between 0 and 1.
    outliers_ : bool array of shape (n_samples,)
        Rows whose residual is beyond three robust standard deviations; see
        `RSCKDERegressor`.
    expected_ : array of shape (n_samples,) or (n_samples, n_outputs)
        The kept network's predictions for the training rows.
    residuals_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Targets minus `expected_`: what rows are judged by.
    residual_scale_ : array of shape (n_outputs,)
        One robust standard deviation of the residuals.
    n_nodes_ : int
        Number of hidden nodes.
    n_rounds_ : int
        The round whose network was kept.
    error_path_ : array of shape (n_rounds,)
        Weighted root mean squared training error after each round.
    stop_reason_ : str
        Whether the output weights settled.
    output_weights_ : array of shape (n_columns, n_outputs)
        Output weights.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    See Also
    --------
    ImprovedRVFLRegressor : The same layer, with weights by the density of residuals.
    RSCKDERegressor : A network that grows, with those.

    Notes
    -----
    Each round is one ridge regression with row weights: O(n L^2) for n rows and L nodes.

    References
    ----------
    F. Cao, H. Ye, D. Wang, "A probabilistic learning algorithm for robust modeling using
    neural networks with random weights", Information Sciences 313 (2015).

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import PRNNRWRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> y[::10] += 3.0
    >>> model = PRNNRWRegressor(50, scope=5.0, ridge=1e-3, random_state=0).fit(X, y)
    >>> bool(model.outliers_[::10].all())
    True
    """

    def __init__(
        self,
        n_nodes: int = 100,
        *,
        scope: float = 1.0,
        ridge: float = 10.0,
        delta: float = 1e-5,
        weighting: str | Weighting | None = None,
        n_rounds: int = 100,
        tol: float = 1e-4,
        direct_link: bool = False,
        bias: bool = False,
        activation: str = "logistic",
        random_state: Any = None,
    ) -> None:
        self.n_nodes = n_nodes
        self.scope = scope
        self.ridge = ridge
        self.delta = delta
        self.weighting = weighting
        self.n_rounds = n_rounds
        self.tol = tol
        self.direct_link = direct_link
        self.bias = bias
        self.activation = activation
        self.random_state = random_state

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Draw the nodes, then renew output weights and row weights in turn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative; 2 is the same as the row twice.
        X_val, y_val : array-like or None
            Trusted rows; the round with the lowest error on them is kept.

        Returns
        -------
        PRNNRWRegressor
            Itself.
        """
        training = self._training(X, y, sample_weight)
        validation = self._validation(X_val, y_val, training)
        own = self.weighting is None
        if own and eps(training.problem.y) > 1e-10 and not 1e-31 < training.scale < 1e31:
            raise ValueError(
                "the prior has the unit of y, and targets of this size do not fit float32: "
                "scale y, or give X in float64"
            )
        # Residuals that count as none are set to zero. A row met so is believed as far as one at
        # the edge of that, not 1e30 times more, which would leave the other rows to rounding.
        delta = max(self.delta, training.negligible() * training.scale)
        weighting: Weighting = (
            named(self.weighting)
            if self.weighting is not None
            else Laplace(delta, unit=training.scale)
        )
        watch = Watch(self, [1.0] * self.n_rounds, X, y)
        self._fit(training, validation, weighting, self.ridge, watch)
        return self
