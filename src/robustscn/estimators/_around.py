"""What estimators around other people's regressors share: which one, rows, workers, tags."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.utils import Tags, check_array, check_random_state, get_tags, indexable
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    _num_features,
    _num_samples,
)

from ..core.problem import Problem
from ..core.rows import LocalRows
from ._base import Training, check_weight_range
from ._boosting import Boosting
from ._certainty import CertainMixin
from ._crossfit import MANY_ROWS, CrossFitted, Fitted, Teacher, Teaching, dealt_out, ready_for
from ._parameters import check_parameters
from ._shown import ShownMixin
from ._watch import CallbackSupportMixin


class Around(
    CertainMixin,
    ShownMixin,
    CallbackSupportMixin,
    RegressorMixin,
    MetaEstimatorMixin,
    BaseEstimator,
):
    """Estimators that teach clones of a regressor, each without the rows of one fold."""

    estimator: Any
    n_folds: int | None
    n_jobs: int | None
    random_state: Any
    _fitted: Fitted
    _members: tuple[Fitted, ...]

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _clones(self, problem: Problem, seed: int) -> CrossFitted:
        """Return the learner that clones of the regressor make."""
        if problem.fold is None:
            n_folds = self.n_folds or (5 if problem.rows.n_rows < MANY_ROWS else 2)
            folds = dealt_out(problem.X, problem.weight, n_folds, seed)
        else:
            folds = problem.fold.astype(np.int64)
        regressor = self._regressor()
        teacher: Teaching = Teacher(regressor, seed)
        if self.estimator is None and problem.rows.n_rows < MANY_ROWS:
            teacher = Boosting(seed)
        elif self.estimator is None:
            # Beyond 10,000 rows it draws those by which it stops.
            regressor.set_params(random_state=seed)
        return CrossFitted(
            teacher,
            ready_for(regressor, problem.X),
            problem.y,
            problem.weight,
            folds,
            self._each(),
        )

    def _keep_clones(self, whole: Fitted, members: tuple[Fitted, ...]) -> None:
        """Keep the regressor fitted to all rows, and the clones that intervals ask."""
        if self.estimator is None:
            whole, members = whole.light(), tuple(member.light() for member in members)
        self._fitted, self._members = whole, members
        parts = whole.parts
        self.estimator_ = parts[0] if len(parts) == 1 else list(parts)

    def _regressor(self) -> Any:
        return HistGradientBoostingRegressor() if self.estimator is None else self.estimator

    def _each(self) -> Callable[..., Iterable[Any]]:
        if self.n_jobs in (None, 1):
            return map

        def each(function: Callable[..., Any], *several: Iterable[Any]) -> list[Any]:
            calls = (delayed(function)(*args) for args in zip(*several, strict=True))
            return list(Parallel(n_jobs=self.n_jobs, prefer="threads")(calls))

        return each

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        check_parameters(self)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        X, y = indexable(X, y)
        self._look_at(X, reset=True)
        y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
        if sample_weight is not None and not np.any(np.asarray(sample_weight)):
            raise ValueError("all sample weights are zero: there is no row to learn from")
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        counted = weight[weight > 0]
        check_weight_range(float(counted.min()), float(counted.max()))
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        if len(counted) < 2:
            raise ValueError(f"rows are judged by others: n_samples={len(counted)} is too few")
        problem = Problem(LocalRows(len(y)), X, targets, weight)
        return Training(problem, 1.0, y.ndim == 1, y)

    def _look_at(self, X: Any, *, reset: bool) -> None:
        """Note, or compare, how many inputs there are and what they are called."""
        _check_feature_names(self, X, reset=reset)
        try:
            _num_features(X)
        except TypeError:  # texts, say: the regressor's own affair
            return
        _check_n_features(self, X, reset=reset)
        if reset and self.n_features_in_ == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape=({_num_samples(X)}, 0)) while a minimum of "
                "1 is required."
            )

    def __sklearn_tags__(self) -> Tags:
        """Return what the regressor can do."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self._regressor())
        tags.input_tags = inner.input_tags
        tags.target_tags.multi_output = True
        return tags
