"""What all estimators share: checked data in, predictions and fitted attributes out.

Targets are divided by a power of two near their largest size before the fit and multiplied
back in `predict`. That changes no bit of an ordinary fit and keeps squares of targets like
1e300 or 1e-300 inside the range of floating-point numbers.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from multiprocessing import current_process
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from array_api_compat import is_array_api_obj, is_numpy_array
from joblib import effective_n_jobs
from sklearn import get_config
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ..core.arrays import ORDER, Array, HostArray, eps, like, namespace, to_host64
from ..core.folds import FOLDS
from ..core.judging import Round
from ..core.missing import Missing
from ..core.nodes import Network
from ..core.problem import Problem
from ..core.rows import Column, LocalRows, Rows, Totals
from ..core.scale import distances
from ..core.sketch import UNSAMPLED_ROWS, Sketch, sketch_of
from ..core.statistics import larger, quantile
from ..core.verdict import Verdict, verdict
from ..core.weighting import GemanMcClure, at_most_one
from ._parameters import check_parameters
from ._shown import ShownMixin
from ._suspects import in_deviations, suspects
from ._threads import ONE_BLAS_THREAD
from ._watch import CallbackSupportMixin

if TYPE_CHECKING:
    import pandas as pd

OUTLIER_DISTANCE = 3.0
"""Robust standard deviations beyond which `outliers_` marks a row."""

FLAGGING = GemanMcClure()
"""Says what one standard deviation is where an estimator's own weighting has none that wrong rows
leave alone: densities, and weights in the unit of y."""


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
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        The caller's targets.
    missing : Missing or None
        What the gaps of the inputs were filled with; None where gaps are not let in.
    """

    problem: Problem
    scale: float
    flat: bool
    y: Array
    missing: Missing | None = None

    def negligible(self, tolerance: float = 0.0) -> float:
        """Return the size of a residual that counts as none: rounding, or within tolerance."""
        return max(1e3 * eps(self.problem.y), tolerance)


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


class NetworkRegressor(
    ShownMixin, CallbackSupportMixin, MultiOutputMixin, RegressorMixin, BaseEstimator
):
    """Base of all estimators."""

    _finite: bool | Literal["allow-nan"] = True
    """Which inputs are let in, in scikit-learn's words; see `MissingMixin`."""

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
        return self._point(X)

    def _point(self, X: Any) -> Array:
        """Return predictions, as the caller's targets were shaped."""
        check_is_fitted(self)
        X = self._inputs(X)
        check_size(X)
        X = self._known(X)
        with one_blas_thread():
            return self._predicted(rows_of(X), X)

    def _inputs(self, X: Any) -> Array:
        """Return inputs, checked but for their size, gaps and all."""
        return validate_data(
            self,
            X,
            reset=False,
            dtype=float_dtypes(X),
            order=ORDER,
            ensure_all_finite=self._finite,
        )

    def _known(self, X: Array) -> Array:
        """Return checked inputs as the networks know them: without gaps, marks beside them."""
        return self._filled(X, vars(self).get("_missing"))

    def _filled(self, X: Array, missing: Missing | None) -> Array:  # noqa: ARG002
        return X

    def _missing_of(self, rows: Rows, X: Column, weight: Column) -> Missing | None:  # noqa: ARG002
        """Return what is learned of the inputs' gaps, by estimators that let them in."""
        return None

    def _predicted(self, rows: Rows, X: Column) -> Array:
        y = rows.map(self._output, X, width=2 * max(1, self._width()))
        return in_unit(y, self._scale, self._flat)

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
        check_parameters(self)
        with np.errstate(invalid="ignore"):  # scikit-learn adds up values of both signs near 1e308
            X, y = validate_data(
                self,
                X,
                y,
                multi_output=True,
                y_numeric=True,
                dtype=float_dtypes(X),
                order=ORDER,
                ensure_all_finite=self._finite,
            )
        if is_numpy_array(y):  # scikit-learn orders the inputs only
            y = np.asarray(y, order=ORDER)
        check_size(X)
        rows, weight = rows_of(X), _checked_weight(sample_weight, X)
        missing = self._missing_of(rows, X, weight)
        X = self._filled(X, missing)
        training = replace(training_of(rows, X, y, weight), missing=missing)
        self._learned_weight = training.problem.total_weight()
        self._forget_stream()
        return training

    def _forget_stream(self) -> None:
        """Begin anew; estimators that learn on from streams forget what they learned there."""

    def _validation(self, X_val: Any, y_val: Any, training: Training) -> Validation | None:
        if X_val is None and y_val is None:
            return None
        if X_val is None or y_val is None:
            raise ValueError("give both X_val and y_val, or neither")
        X_val = self._inputs(X_val)
        check_size(X_val)
        X_val = self._filled(X_val, training.missing)
        y_val = check_array(
            y_val, ensure_2d=False, dtype="numeric", order=ORDER, input_name="y_val"
        )
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
        self.inlier_weight_ = self._shown(at_most_one(rows, last.inlier_weight, problem.weight))
        judged = self._flag(problem, last)
        expected = self._shown(rows.map(lambda t, e: t - e, problem.y, last.evidence))
        observed = self._shown(training.y)
        # Targets near the end of the range: what lies beyond it is infinite, and says so.
        with np.errstate(over="ignore", invalid="ignore"):
            self.residual_scale_ = judged.scale * training.scale
            self.expected_ = in_unit(expected, training.scale, training.flat)
            self._observed = namespace(observed).astype(observed, self.expected_.dtype)
            self.residuals_ = self._observed - self.expected_

    def _flag(self, problem: Problem, last: Round[Any]) -> Verdict:
        """Flag rows beyond three robust standard deviations; return how they were measured."""
        rows, judged = problem.rows, last.verdict
        if not last.plan.weighting.trimmed:
            judged = verdict(rows, problem.weight, last.evidence, last.doubt, FLAGGING)
        far = distances(rows, judged.standardised)
        self.outliers_ = self._shown(rows.map(lambda d: d > OUTLIER_DISTANCE, far))
        return judged

    def _shown(self, column: Column) -> Array:
        """Return a column as the array that a user sees."""
        return column

    def _deviations(self, observed: HostArray, expected: HostArray) -> HostArray:
        """Return how far targets are from what was expected, in robust standard deviations."""
        return in_deviations(observed - expected, self.residual_scale_)

    def outlier_table(self, index: Any = None) -> pd.DataFrame:
        """Return the suspect rows, the strangest first.

        Parameters
        ----------
        index : array-like of shape (n_samples,) or None
            Names of the training rows; None numbers them from zero.

        Returns
        -------
        pandas.DataFrame
            One line for each row in `outliers_`: its name (`row`), the target it came with
            (`observed`), what the other rows suggest (`expected`), their difference
            (`residual`), the same in robust standard deviations (`deviations`) and how far the
            row is believed (`inlier_weight`); where it is known, how probably it is wrong
            (`probability`). With several outputs, those of the output that
            deviates most, whose number is in `output`.
        """
        check_is_fitted(self, "outliers_")
        return suspects(self, index)


def one_blas_thread() -> AbstractContextManager[None]:
    """Return a context in which products are formed by one thread.

    Blocks of rows are small; threads of our own, one for each run of blocks, serve them better
    than threads inside each product, which would spend their time waiting for each other.
    """
    return ONE_BLAS_THREAD.held()


def rows_of(X: Array) -> LocalRows:
    """Return where the rows live: cores share their blocks, a device takes large ones."""
    if is_numpy_array(X):
        # A worker of the caller's own pool has one core; joblib would say so with each fit.
        n_threads = 1 if current_process().daemon else effective_n_jobs(-1)
        return LocalRows(X.shape[0], n_threads=n_threads)
    return LocalRows(X.shape[0], block_bytes=2**32)


def in_unit(y: Array, scale: float, flat: bool) -> Array:
    """Return scaled targets in the caller's unit and number of dimensions."""
    xp = namespace(y)
    if not 1e-30 < scale < 1e30:  # beyond what float32 can hold
        y = xp.astype(y, xp.float64)
    y = y * scale
    return y[:, 0] if flat else y


def check_size(X: Array) -> None:
    """Raise where squares of sums of the inputs would leave the range of their dtype."""
    xp = namespace(X)
    largest = float(xp.max(xp.abs(X)))
    if np.isnan(largest):  # something is missing: what is there is looked at
        largest = float(xp.max(xp.where(xp.isnan(X), xp.zeros_like(X), xp.abs(X))))
    check_largest(largest, X)


def check_largest(largest: float, X: Column) -> None:
    """Raise where the largest of the inputs is too large for their dtype."""
    limit = 1e100 if X.dtype == namespace(X).float64 else 1e12
    if largest > limit:
        raise ValueError(
            f"X has values beyond {limit:g}, which overflow in sums of squares: scale the inputs, "
            "for example with sklearn.preprocessing.MinMaxScaler"
        )


def _checked_weight(sample_weight: Any, X: Array) -> Array:
    if sample_weight is None:
        return namespace(X).ones_like(X[:, 0])
    weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
    if not bool(namespace(weight).any(weight > 0)):
        raise ValueError("all sample weights are zero: there is no row to learn from")
    xp = namespace(weight)
    counted = weight[weight > 0]
    check_weight_range(float(xp.min(counted)), float(xp.max(counted)))
    return weight


def check_weight_range(smallest: float, largest: float) -> None:
    """Raise where products of the weights that are not zero would leave the range of numbers."""
    if largest > 1e30 or smallest < 1e-30:
        raise ValueError(
            "sample weights must be zero or between 1e-30 and 1e30, which keeps their products "
            f"in range; got {smallest:g} to {largest:g}"
        )


def training_of(rows: Rows, X: Column, y: Column, weight: Column) -> Training:
    """Return checked columns as training data."""
    scaled, scale = _scaled_targets(rows, X, y, weight)
    problem = Problem(rows, X, scaled, weight, _sketch(rows, X, scaled, weight))
    return Training(problem, scale, len(y.shape) == 1, y)


def told(training: Training, trusted: Any, groups: Any, seed: int) -> Training:
    """Return training data with what the caller knows about the rows.

    Parameters
    ----------
    training : Training
        Checked.
    trusted : array-like of bool of shape (n_rows,) or None
        Rows that are right.
    groups : array-like of shape (n_rows,) or None
        What rows that belong together have in common.
    seed : int
        Of the draw that deals groups to folds.

    Returns
    -------
    Training
        The same rows.
    """
    problem = training.problem
    if trusted is None and groups is None:
        return training
    if not isinstance(problem.rows, LocalRows):
        raise ValueError(
            "trusted rows and groups are known to estimators in memory only, not on a cluster"
        )
    if trusted is not None:
        known = _trusted(trusted, problem.rows.n_rows)
        problem = replace(problem, trusted=like(known, problem.weight))
    if groups is not None:
        fold = _dealt(groups, problem.rows.n_rows, seed)
        problem = replace(problem, fold=like(fold, problem.weight))
    return replace(training, problem=problem)


def _trusted(trusted: Any, n_rows: int) -> HostArray:
    known = np.asarray(trusted)
    if known.dtype != bool or known.shape != (n_rows,):
        raise ValueError(
            f"trusted must be one bool for each of the {n_rows} rows, got {known.dtype} of shape "
            f"{known.shape}"
        )
    return known.astype(np.float64)


def _dealt(groups: Any, n_rows: int, seed: int) -> HostArray:
    """Return each row's fold, the same for all rows of a group."""
    names = np.asarray(groups)
    if names.shape != (n_rows,):
        raise ValueError(
            f"groups must be one name for each of the {n_rows} rows, got shape {names.shape}"
        )
    _, number = np.unique(names, return_inverse=True)
    count = int(number.max()) + 1
    if count < FOLDS:
        raise ValueError(
            f"rows of {count} groups cannot be judged by others: give at least {FOLDS}"
        )
    dealt = np.random.default_rng((seed, 2)).permutation(count) % FOLDS
    return dealt[number.reshape(-1)].astype(np.float64)


def _scaled_targets(rows: Rows, X: Column, y: Column, weight: Column) -> tuple[Column, float]:
    """Return the targets divided by a power of two near their size, and that power.

    The size is the 95 % quantile of |y|, so that one target of 1e200 does not shrink the
    others to nothing; what is beyond a million million times that is as good as infinite.
    """
    dtype = X.dtype

    def precise(t: Array) -> Array:
        xp = namespace(t)
        return xp.astype(t if t.ndim == 2 else t[:, None], xp.float64, copy=False)

    def sized(t: Array, w: Array) -> tuple[Array, Array]:
        xp = namespace(t)
        return xp.max(xp.abs(precise(t)), axis=1), xp.astype(w, xp.float64, copy=False)

    sizes, counts = rows.map(sized, y, weight)
    size = quantile(rows, sizes, counts, 0.95) or quantile(rows, sizes, counts, 1.0) or 1.0
    # A power of two: dividing by it is exact. Not beyond 2^1023, the largest there is.
    scale = float(2.0 ** np.clip(np.frexp(size)[1], -1021, 1023))

    def scaled(t: Array) -> Array:
        xp = namespace(t)
        with np.errstate(over="ignore"):  # infinite beside such a scale: brought back by the limit
            t = precise(t) / scale
        return xp.astype(xp.clip(t, -1e12, 1e12), dtype, copy=False)

    return rows.map(scaled, y), scale


def _sketch(rows: Rows, X: Column, y: Column, weight: Column) -> Sketch | None:
    """Return what candidates are ranked by; None where it gains nothing or would overflow."""
    if X.dtype != namespace(X).float64 and rows.n_rows <= UNSAMPLED_ROWS:
        return None

    def largest(x: Array, t: Array, w: Array) -> Totals:
        xp, counted = namespace(x), (w > 0)[:, None]
        return tuple(xp.max(xp.where(counted, xp.abs(a), xp.zeros_like(a))) for a in (x, t))

    sizes = rows.reduce(largest, X, y, weight, width=X.shape[1], combine=larger)
    return None if max(float(size) for size in sizes) > 1e12 else sketch_of(rows, X)


def float_dtypes(X: Any) -> list[Any]:
    """Return the dtypes that are kept as they are, in the words of the caller's library."""
    if get_config()["array_api_dispatch"] and is_array_api_obj(X):
        xp = namespace(X)
        return [xp.float64, xp.float32]
    return [np.float64, np.float32]
