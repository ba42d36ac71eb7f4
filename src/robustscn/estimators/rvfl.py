"""The random vector functional-link network."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..core.arrays import eps
from ..core.least_squares import solved_triangle, triangular_factor
from ..core.nodes import network
from ..core.problem import Problem
from ..core.recipe import Stop
from ._base import Validation, one_blas_thread
from ._layer import Layer, RandomLayerRegressor, design_of, rmse, solved
from ._watch import Watch, with_callbacks


class RVFLRegressor(RandomLayerRegressor):
    """Random vector functional-link network: random nodes, output weights by least squares.

    *When to use it*: as the plain method that others are compared with, or where a fit must take
    milliseconds. The scope has to suit the data; nothing here finds it.

    Parameters
    ----------
    n_nodes : int, default=100
        Number of hidden nodes.
    scope : float, default=1.0
        Weights and biases are uniform in [-scope, scope].
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
    n_nodes_ : int
        Number of hidden nodes.
    error_path_ : array of shape (1,)
        Weighted root mean squared training error.
    stop_reason_ : str
        Says that all nodes were given at once, or that validation chose their number.
    output_weights_ : array of shape (n_columns, n_outputs)
        Output weights: inputs and constant first, where handed on, then the nodes.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    See Also
    --------
    SCNRegressor : Nodes join only if the error is sure to fall.
    ImprovedRVFLRegressor : The same with rows weighted by the density of their residuals.

    Notes
    -----
    One least squares problem, equation (5) of the RSC-KDE paper without its inequality: O(n L^2)
    for n rows and L nodes.

    References
    ----------
    Y.-H. Pao, Y. Takefuji, "Functional-link net computing: theory, system architecture, and
    functionalities", Computer 25 (1992).

    B. Igelnik, Y.-H. Pao, "Stochastic choice of basis functions in adaptive function
    approximation and the functional-link net", IEEE Transactions on Neural Networks 6 (1995).

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import RVFLRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> model = RVFLRegressor(50, scope=10.0, random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> model.n_nodes_
    50
    """

    def __init__(
        self,
        n_nodes: int = 100,
        *,
        scope: float = 1.0,
        direct_link: bool = False,
        bias: bool = False,
        ridge: float = 0.0,
        activation: str = "logistic",
        random_state: Any = None,
    ) -> None:
        self.n_nodes = n_nodes
        self.scope = scope
        self.direct_link = direct_link
        self.bias = bias
        self.ridge = ridge
        self.activation = activation
        self.random_state = random_state

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Draw the nodes and solve for the output weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative; 2 is the same as the row twice.
        X_val, y_val : array-like or None
            Trusted rows; of up to twenty numbers of nodes, evenly spaced up to `n_nodes`, the
            one with the lowest error on them is kept.

        Returns
        -------
        RVFLRegressor
            Itself.
        """
        training = self._training(X, y, sample_weight)
        validation = self._validation(X_val, y_val, training)
        layer = self._layer(training)
        problem = training.problem
        watch = Watch(self, [], X, y)
        self.stop_reason_ = Stop.SOLVED.value
        with one_blas_thread():
            if validation is not None:
                layer = _best_size(problem, layer, self.ridge, validation)
            solution = solved(problem, layer, self.ridge)
        if len(layer.nodes) < self.n_nodes:
            self.stop_reason_ = Stop.VALIDATION.value
        error = rmse(problem, solution.residuals)
        self._keep_solution(training, layer, solution.output_weights, [error])
        watch.end()
        return self


def _best_size(problem: Problem, layer: Layer, ridge: float, validation: Validation) -> Layer:
    """Return the layer cut to the size that errs least on the validation rows."""
    n_extra = layer.width - len(layer.nodes)
    sizes = np.unique(np.linspace(1, len(layer.nodes), min(20, len(layer.nodes))).astype(int))
    factor = triangular_factor(design_of(problem, layer))

    def error(size: int) -> float:
        width = n_extra + size
        targets = np.hstack([factor[:, :width], factor[:, layer.width :]])
        weights = solved_triangle(targets, width, ridge=ridge, cutoff=1e3 * eps(problem.y))
        return validation.rmse(network(layer.first(size).groups, weights))

    return layer.first(int(min(sizes, key=error)))
