"""What all estimators share: checked data in, predictions and fitted attributes out.

Targets are divided by a power of two near their largest size before the fit and multiplied
back in `predict`. That changes no bit of an ordinary fit and keeps squares of targets like
1e300 or 1e-300 inside the range of floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from .._arrays import Array, HostArray, like, namespace, to_host64
from ..growth import Problem, Round, at_most_one
from ..nodes import Network
from ..rows import Column, LocalRows
from ..weighting import distances, trimmed_scales

OUTLIER_DISTANCE = 3.0
"""Robust standard deviations beyond which `outliers_` marks a row."""


@dataclass(frozen=True)
class Training:
    """Checked training data.

    Parameters
    ----------
    problem : Problem
        Rows with scaled targets of shape (n_rows, n_outputs); its weight is the caller's.
    scale : float
        What the targets were divided by.
    flat : bool
        Whether the caller's targets had one dimension.
    """

    problem: Problem
    scale: float
    flat: bool


@dataclass(frozen=True)
class Validation:
    """Trusted rows that decide when to stop.

    Parameters
    ----------
    X, y, weight : arrays
        Inputs, scaled targets of shape (n_rows, n_outputs), ones.
    """

    X: Array
    y: Array
    weight: Array

    def rmse(self, network: Network) -> float:
        """Return the network's root mean squared error on these rows."""
        xp = namespace(self.X)
        error = self.y - network.output(self.X)
        return float(xp.sqrt(xp.mean(error * error)))


class NetworkRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Base of all estimators."""

    def predict(self, X: Any) -> Array:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        y = LocalRows(X.shape[0]).map(self._output, X, width=2 * max(1, self._width()))
        xp = namespace(y)
        if not 1e-30 < self._scale < 1e30:  # beyond what float32 can hold
            y = xp.astype(y, xp.float64)
        y = y * self._scale
        return y[:, 0] if self._flat else y

    def _output(self, X: Array) -> Array:
        return self._network.output(X)

    def _width(self) -> int:
        return self._network.output_weights.shape[0]

    def _keep(self, training: Training, network: Network) -> None:
        self._network = network
        self._scale = training.scale
        self._flat = training.flat
        self.n_nodes_ = network.output_weights.shape[0]

    @property
    def output_weights_(self) -> HostArray:
        """Output weights in the unit of y, shape (n_nodes, n_outputs)."""
        check_is_fitted(self)
        with np.errstate(over="ignore"):
            return self._network.output_weights * self._scale

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X, y = validate_data(
            self, X, y, multi_output=True, y_numeric=True, dtype=[np.float64, np.float32]
        )
        flat = y.ndim == 1
        weight = _checked_weight(sample_weight, X)
        scaled, scale = _scaled_targets(y, weight, X)
        problem = Problem(LocalRows(X.shape[0]), X, scaled, weight)
        return Training(problem, scale, flat)

    def _validation(self, X_val: Any, y_val: Any, training: Training) -> Validation | None:
        if X_val is None and y_val is None:
            return None
        if X_val is None or y_val is None:
            raise ValueError("give both X_val and y_val, or neither")
        X_val = validate_data(self, X_val, reset=False, dtype=[np.float64, np.float32])
        y_val = check_array(y_val, ensure_2d=False, dtype="numeric", input_name="y_val")
        check_consistent_length(X_val, y_val)
        y_val = y_val[:, None] if y_val.ndim == 1 else y_val
        if y_val.shape[1] != training.problem.y.shape[1]:
            raise ValueError(
                f"y_val has {y_val.shape[1]} outputs, y has {training.problem.y.shape[1]}"
            )
        X_val = like(to_host64(X_val), training.problem.X)
        y_val = like(to_host64(y_val) / training.scale, X_val)
        return Validation(X_val, y_val, namespace(X_val).ones_like(X_val[:, 0]))


class RobustMixin:
    """Fitted attributes of estimators that learn which rows to believe."""

    def _keep_weights(self, training: Training, last: Round[Any]) -> None:
        problem = training.problem
        rows = problem.rows
        self.inlier_weight_ = at_most_one(rows, last.inlier_weight)
        self.outliers_ = strange(problem, last)


def strange(problem: Problem, last: Round[Any]) -> Column:
    """Return which rows err by more than `OUTLIER_DISTANCE` robust standard deviations."""
    scales = trimmed_scales(problem.rows, last.evidence, problem.weight)
    if last.least_scale is not None:
        scales = np.maximum(scales, last.least_scale)
    return problem.rows.map(
        lambda d: d > OUTLIER_DISTANCE, distances(problem.rows, last.evidence, scales)
    )


def _checked_weight(sample_weight: Any, X: Array) -> Array:
    if sample_weight is None:
        return namespace(X).ones_like(X[:, 0])
    weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    if not bool(namespace(weight).any(weight > 0)):
        raise ValueError("all sample weights are zero: there is no row to learn from")
    return weight


def _scaled_targets(y: Array, weight: Array, X: Array) -> tuple[Array, float]:
    """Return the targets of counted rows divided by a power of two, and that power."""
    xp = namespace(y)
    y = xp.astype(y if y.ndim == 2 else y[:, None], xp.float64, copy=False)
    largest = float(xp.max(xp.where((weight > 0)[:, None], xp.abs(y), xp.zeros_like(y))))
    # A power of two: dividing by it is exact. Not beyond 2^1023, the largest there is.
    scale = float(2.0 ** np.clip(np.frexp(largest)[1], -1021, 1023)) if largest > 0 else 1.0
    return xp.astype(y / scale, X.dtype, copy=False), scale


def checked_numbers(estimator: Any, **least: tuple[type, float]) -> None:
    """Raise a clear error unless each named parameter is a number of at least the given size.

    Parameters
    ----------
    estimator : object
        Has the parameters as attributes.
    **least : tuple of type and float
        For each parameter its type, int or float, and its smallest value.
    """
    for name, (kind, smallest) in least.items():
        value = getattr(estimator, name)
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        ok = whole if kind is int else whole or isinstance(value, (float, np.floating))
        if not ok or not value >= smallest:
            noun = "a whole number" if kind is int else "a number"
            raise ValueError(f"{name} must be {noun} of at least {smallest:g}, got {value!r}")


def checked_choice(estimator: Any, name: str, choices: Sequence[str]) -> None:
    """Raise a clear error unless the named parameter is one of the choices."""
    value = getattr(estimator, name)
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not known; use one of {', '.join(choices)}")
