"""Other people's regressors as a learner that judging can teach and ask.

Rows are dealt out to folds; for each fold a clone is fitted to the rows of all others, with
weights, and says what it expects for the rows that it has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.validation import _num_samples, has_fit_parameter
from threadpoolctl import threadpool_limits

from ..core.arrays import HostArray
from ..core.doubt import disagreement
from ..core.learner import Opinion, Task
from ..core.rows import LocalRows
from ..core.scale import centred
from ._forest import forest_of

KNOTS = 7
"""Values between which noise is taken to change evenly."""

MANY_ROWS = 20_000
"""Rows from which on two folds do, since a clone that has seen half of so many knows enough, and
from which on threads are worth their waiting."""

LEAST_WEIGHT = 1e-3
"""Share of the mean weight below which a row is left out of a fit: what counts rows and not
weights, such as the least number in a leaf, is then not met by rows that count for nothing."""


@dataclass(frozen=True)
class Fitted:
    """A regressor for all outputs: one, or one for each where it knows only one.

    Parameters
    ----------
    parts : tuple of estimators
        Fitted.
    """

    parts: tuple[Any, ...]

    def output(self, X: Any) -> HostArray:
        """Return predictions of shape (n_rows, n_outputs)."""
        with few_threads(_num_samples(X)):
            columns = [np.asarray(part.predict(X), dtype=np.float64) for part in self.parts]
        return np.column_stack([c[:, None] if c.ndim == 1 else c for c in columns])

    def light(self) -> Fitted:
        """Return the same with trees as plain arrays, where they can be: for files and ONNX."""
        return Fitted(tuple(forest_of(part) or part for part in self.parts))


class Teaching(Protocol):
    """How clones, each without the rows of a fold, are taught, and what predicts."""

    def parted(
        self,
        X: Any,
        y: HostArray,
        weight: HostArray,
        folds: HostArray,
        each: Callable[..., Iterable[Any]] = map,
    ) -> tuple[Fitted, ...]:
        """Return a clone for each fold, taught by the rows of all others."""
        ...

    def whole(self, X: Any, y: HostArray, weight: HostArray, parted: Sequence[Fitted]) -> Fitted:
        """Return what predicts: taught by the rows of all folds, as the clones suggest."""
        ...


@dataclass(frozen=True)
class Teacher:
    """How a regressor is fitted with weights.

    Parameters
    ----------
    estimator : regressor
        Not fitted.
    seed : int
        Of the draws of rows, where the regressor takes no weights.
    """

    estimator: Any
    seed: int

    def fitted(self, X: Any, y: HostArray, weight: HostArray) -> Fitted:
        """Return the regressor fitted to the rows that have weight.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Inputs of any kind.
        y : array of shape (n_rows, n_outputs)
            Targets.
        weight : array of shape (n_rows,)
            Weights.

        Returns
        -------
        Fitted
            With the weights where it takes them; else fitted to rows each drawn as often as its
            weight says, ordinary ones once.
        """
        rows, kept = counted(weight), {}
        name = weight_name(self.estimator)
        if name is None:
            rows = _drawn(rows, weight[rows], self.seed)
        elif unless_even(weight[rows]) is not None:
            kept[name] = weight[rows]
        X, y = _safe_indexing(X, rows), y[rows]
        targets = [*y.T]
        if y.shape[1] > 1 and get_tags(self.estimator).target_tags.multi_output:
            targets = [y]
        with few_threads(len(rows)):
            return Fitted(tuple(clone(self.estimator).fit(X, t, **kept) for t in targets))

    def parted(
        self,
        X: Any,
        y: HostArray,
        weight: HostArray,
        folds: HostArray,
        each: Callable[..., Iterable[Any]] = map,
    ) -> tuple[Fitted, ...]:
        """Return a clone for each fold, fitted to the rows of all others."""
        one = partial(_without_fold, self, X, y, weight, folds)
        return tuple(each(one, range(int(folds.max()) + 1)))

    def whole(
        self,
        X: Any,
        y: HostArray,
        weight: HostArray,
        parted: Sequence[Fitted],  # noqa: ARG002
    ) -> Fitted:
        """Return the regressor fitted to the rows of all folds."""
        return self.fitted(X, y, weight)


def counted(weight: HostArray) -> HostArray:
    """Return the numbers of the rows whose weight is worth mentioning."""
    return np.flatnonzero(weight > LEAST_WEIGHT * np.mean(weight))


def unless_even(weight: HostArray) -> HostArray | None:
    """Return weights, None where all are the same: some regressors take a shorter way then."""
    return weight if np.ptp(weight) > 0 else None


def few_threads(n_rows: int) -> AbstractContextManager[Any]:
    """Return a context in which fits to few rows are done by one thread of OpenMP.

    Its threads wait for each other some thousand times in a fit, spinning. Where another program
    has one of the cores, a fit of histogram boosting to 4,000 rows took 68 seconds so, and 0.4 by
    one thread; on idle cores a second thread gains nothing before 20,000 rows.
    """
    if n_rows >= MANY_ROWS:
        return nullcontext()
    return threadpool_limits(1, user_api="openmp")


def weight_name(estimator: Any) -> str | None:
    """Return the name by which `fit` takes weights, for a pipeline its last step's; or None."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_name(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def ready_for(estimator: Any, X: Any) -> Any:
    """Return the inputs as a regressor is fitted to them.

    Histogram boosting sorts each input into at most 255 bins. Where there are weights,
    scikit-learn 1.8 and later sort it anew for the edge of each bin, which takes several times as
    long as the fit. An input that has no more than 255 values needs no sorting; so each value is
    replaced by the mean of its bin, once for all fits, with edges that do not depend on weights.

    Parameters
    ----------
    estimator : regressor
        Not fitted.
    X : array-like of shape (n_rows, n_features)
        Inputs.

    Returns
    -------
    array-like of shape (n_rows, n_features)
        As they are, unless they are numbers and the regressor is histogram boosting.
    """
    if not isinstance(estimator, HistGradientBoostingRegressor):
        return X
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f":
        return X
    return np.column_stack([_binned(column, estimator.max_bins) for column in X.T])


def _binned(values: HostArray, count: int) -> HostArray:
    """Return each value replaced by the mean of its bin, where there are more than `count`."""
    known = ~np.isnan(values)
    if len(np.unique(values[known])) <= count:
        return values
    shares = np.arange(1, count) / count
    edges = np.unique(np.quantile(values[known], shares, method="inverted_cdf"))
    place = np.searchsorted(edges, values[known])
    sums, counts = (np.bincount(place, w, len(edges) + 1) for w in (values[known], None))
    binned = values.copy()
    binned[known] = (sums / np.maximum(counts, 1))[place]
    return binned


def _drawn(rows: HostArray, weight: HostArray, seed: int) -> HostArray:
    """Return rows, each as often as its weight over that of an ordinary one, the rest by lot."""
    often = np.cumsum(weight / np.quantile(weight, 0.75))
    start = check_random_state(seed).uniform()
    places = np.arange(start, often[-1], 1.0)
    return rows[np.searchsorted(often, places, side="right")]


@dataclass(frozen=True)
class CrossFitted:
    """A learner made of clones, one for each fold.

    Parameters
    ----------
    teacher : Teaching
        How clones are taught.
    X : array-like of shape (n_rows, n_features)
        Inputs of any kind.
    y : array of shape (n_rows, n_outputs)
        Targets.
    weight : array of shape (n_rows,)
        The caller's weights.
    folds : array of shape (n_rows,)
        Each row's fold.
    each : callable
        Like `map`, perhaps at the same time.
    doubted : bool
        Whether the clones' disagreement counts as doubt.
    """

    teacher: Teaching
    X: Any
    y: HostArray
    weight: HostArray
    folds: HostArray
    each: Callable[..., Iterable[Any]] = map
    doubted: bool = True

    @property
    def rows(self) -> LocalRows:
        """Where the rows live."""
        return LocalRows(len(self.y))

    def opinion(
        self,
        before: Opinion[tuple[Fitted, ...]] | None,  # noqa: ARG002
        task: Task,  # noqa: ARG002
        number: int,  # noqa: ARG002
        weight: HostArray,
    ) -> Opinion[tuple[Fitted, ...]]:
        """Return what clones say of rows that they have not seen, fitted under the weights."""
        members, outputs = self._taught(self.y, weight)
        left_out = self.y - _of_own_fold(outputs, self.folds)
        doubt = disagreement(self.rows, list(outputs)) if self.doubted else None
        residuals, middles = centred(self.rows, left_out, self.weight)
        return Opinion(members, residuals, doubt, members, middles)

    def on_all_rows(self, weight: HostArray, members: Sequence[Fitted]) -> Fitted:
        """Return the regressor fitted to the rows of all folds, as its members suggest."""
        return self.teacher.whole(self.X, self.y, weight, members)

    def foreseen(self, target: HostArray, number: int) -> HostArray:  # noqa: ARG002
        """Return what clones say of another column for rows that they have not seen."""
        _, outputs = self._taught(target, self.weight)
        return _of_own_fold(outputs, self.folds)

    def scatter(
        self,
        sizes: HostArray,
        weight: HostArray,
        said: Opinion[tuple[Fitted, ...]],
        number: int,  # noqa: ARG002
    ) -> tuple[HostArray, ByValue]:
        """Return what is foreseen of the sizes of residuals from the value that is expected.

        Parameters
        ----------
        sizes : array of shape (n_rows, n_outputs)
            Logarithms.
        weight : array of shape (n_rows,)
            How far each row counts.
        said : Opinion
            What residuals are of.
        number : int
            The round.

        Returns
        -------
        array of shape (n_rows, n_outputs), ByValue
            Forecasts from the rows of other folds, and what makes them. Noise that grows with
            the value is the commonest that is not even, and this costs no further fit.
        """
        expected = self.y - said.residuals
        whole = by_value(expected, sizes, weight)
        forecast = np.empty_like(sizes)
        for fold in range(int(self.folds.max()) + 1):
            own = self.folds == fold
            others = by_value(expected, sizes, np.where(own, 0.0, weight), whole.knots)
            forecast[own] = others.forecast(expected[own])
        return forecast, whole

    def _taught(self, y: HostArray, weight: HostArray) -> tuple[tuple[Fitted, ...], HostArray]:
        members = self.teacher.parted(self.X, y, weight, self.folds, self.each)
        outputs = np.stack(list(self.each(partial(_output, self.X), members)))
        return members, outputs


@dataclass(frozen=True)
class ByValue:
    """Forecasts that depend on what is expected alone, linear between knots.

    Parameters
    ----------
    knots : array of shape (n_knots, n_outputs)
        Expected values.
    heights : array of shape (n_knots, n_outputs)
        Forecasts there.
    """

    knots: HostArray
    heights: HostArray

    def forecast(self, expected: HostArray) -> HostArray:
        """Return forecasts, flat beyond the outermost knots."""
        columns = zip(expected.T, self.knots.T, self.heights.T, strict=True)
        return np.column_stack([np.interp(value, *points) for value, *points in columns])


def _quantiles(values: HostArray, weight: HostArray, shares: HostArray) -> HostArray:
    """Return the values below or at which given shares of the weight lie."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weight[order])
    # NumPy has had quantiles with weights since 2.0 only.
    return values[order[np.searchsorted(mass, shares * mass[-1])]]


def by_value(
    expected: HostArray, target: HostArray, weight: HostArray, knots: HostArray | None = None
) -> ByValue:
    """Return what a target is on average, given what was expected.

    Parameters
    ----------
    expected, target : arrays of shape (n_rows, n_outputs)
        Values and the target.
    weight : array of shape (n_rows,)
        How far each row counts.
    knots : array of shape (n_knots, n_outputs) or None
        Where forecasts may bend; None takes quantiles of what is expected.

    Returns
    -------
    ByValue
        By weighted least squares, held a little by its mean: a knot may have hardly a row.
    """
    if knots is None:
        shares = np.linspace(0.02, 0.98, KNOTS)
        knots = np.column_stack([_quantiles(column, weight, shares) for column in expected.T])
    heights: list[HostArray] = []
    root = np.sqrt(weight)[:, None]
    for value, column, places in zip(expected.T, target.T, knots.T, strict=True):
        # Equal knots share their rows: one of them alone would have none.
        places = np.unique(places)
        basis = np.column_stack([np.interp(value, places, one) for one in np.eye(len(places))])
        mean = float(np.average(column, weights=weight))
        held = np.sqrt(1e-4 * np.sum(weight)) * np.eye(len(places))
        sides = np.concatenate([root[:, 0] * (column - mean), np.zeros(len(places))])
        found, *_ = np.linalg.lstsq(np.vstack([root * basis, held]), sides, rcond=None)
        heights.append(np.interp(knots.T[len(heights)], places, mean + found))
    return ByValue(knots, np.column_stack(heights))


def _without_fold(
    teacher: Teacher, X: Any, y: HostArray, weight: HostArray, folds: HostArray, fold: int
) -> Fitted:
    return teacher.fitted(X, y, np.where(folds == fold, 0.0, weight))


def _output(X: Any, member: Fitted) -> HostArray:
    return member.output(X)


def _of_own_fold(outputs: HostArray, folds: HostArray) -> HostArray:
    return outputs[folds, np.arange(len(folds))]


def dealt_out(X: Any, weight: HostArray, n_folds: int, seed: int) -> HostArray:
    """Return each row's fold, a function of its inputs: copies of a row stay together.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Inputs of any kind.
    weight : array of shape (n_rows,)
        The caller's weights; rows without weight change nothing for the others.
    n_folds : int
        Number of folds, at most that of different rows.
    seed : int
        Other seeds deal other hands.

    Returns
    -------
    array of int of shape (n_rows,)
        Different rows are sorted by a number made of their inputs and dealt out in turn.
    """
    marks = _marks(X, seed)
    different = np.unique(marks[weight > 0])
    if len(different) < 2:
        raise ValueError("rows are judged by others: all rows have the same inputs")
    return np.searchsorted(different, marks) % min(n_folds, len(different))


def _marks(X: Any, seed: int) -> HostArray:
    """Return a number for each row that depends on its inputs and the seed alone."""
    if hasattr(X, "to_numpy") and hasattr(X, "dtypes"):
        X = X.to_numpy()
    elif hasattr(X, "tocsr"):
        X = X.toarray()
    values = np.asarray(X)
    if values.dtype.kind in "fiub":
        values = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # minus zero is zero
        texts: Sequence[bytes] = [row.tobytes() for row in values]
    else:
        texts = [repr(row.tolist()).encode() for row in values.reshape(len(values), -1)]
    start = seed.to_bytes(8, "little", signed=True)
    # Two checksums of one text tell four thousand million million rows apart.
    return np.array([crc32(start + t) << 32 | crc32(t + start) for t in texts], dtype=np.uint64)
