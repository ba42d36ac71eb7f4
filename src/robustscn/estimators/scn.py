"""Stochastic configuration networks: SC-I, SC-II and SC-III."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from ..core.arrays import HostArray
from ..core.growth import restored
from ..core.recipe import CONTRACTIONS, Recipe, State, Stop
from ._base import NetworkRegressor, Training, one_blas_thread
from ._growing import Grown, grown, recipe_of
from ._stream import StreamMixin
from ._watch import Watch, fitted_network, with_callbacks

SCOPES = (0.5, 1.0, 3.0, 5.0, 7.0, 9.0, 15.0, 25.0, 50.0, 100.0, 150.0, 200.0)


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
        watch = Watch(self, [1.0], X, y)
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
