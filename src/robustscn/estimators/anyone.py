"""Any regressor made robust: the flagship's judging around other people's models.

The learner is a parameter of the judging: clones of a regressor, each fitted without the rows of
one fold, take the place of the networks. Everything else is the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

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
    check_is_fitted,
)

from ..core.arrays import Array
from ..core.committee import disagreement_of
from ..core.judging import HALVED, WIDEST, Plan, Start, judge
from ..core.noise import relative_scale
from ..core.problem import Problem
from ..core.rows import LocalRows
from ..core.scale import centred, mean_size
from ..core.verdict import not_gross
from ..core.weighting import Weighting, named
from ._base import Training, check_weight_range
from ._certainty import CertainMixin
from ._crossfit import CrossFitted, Teacher, dealt_out, ready_for
from ._parameters import check_parameters
from ._shown import ShownMixin

FINAL_ROUNDS = 2
"""Last rounds, in which rows are weighed by how probable it is that they are right."""

ROUNDS, FEW_ROUNDS = 6, 3
"""Rounds, and where rows are many; the scale narrows from and to the same."""

LOCAL_ROUNDS = 3
"""Last rounds, in which the scale follows the noise."""

MANY_ROWS = 20_000
"""Rows from which on two folds do: a clone that has seen half of so many knows enough."""


class RobustRegressor(CertainMixin, ShownMixin, RegressorMixin, MetaEstimatorMixin, BaseEstimator):
    """Any regressor, made robust against wrong targets, with no clean rows and no tuning.

    Rows are judged by clones of the regressor that have not seen them; wrong rows lose their
    weight; the regressor is then fitted to all rows with these weights.

    *When to use it*: a regressor that suits the data is there already, such as trees for steps and
    categories or a linear model that shall stay one, and some targets are wrong.

    Parameters
    ----------
    estimator : regressor or None, default=None
        What is to be made robust; None takes scikit-learn's HistGradientBoostingRegressor.
        Weights go to the `sample_weight` of its `fit`, for a pipeline to that of its last step.
        A regressor without it is fitted to rows that are drawn as often as their weights say.
    n_folds : int or None, default=None
        Parts of the rows, each judged by a clone fitted to the others; None takes five, and two
        for 20,000 rows and more.
    n_rounds : int or None, default=None
        Rounds of judging and fitting; None takes six, and three for 20,000 rows and more.
    weighting : str or Weighting, default="auto"
        How residuals become weights; as in `RobustSCNRegressor`.
    fdr : float, default=0.1
        False discovery rate: share of right rows allowed among those in `outliers_`.
    n_jobs : int or None, default=None
        Clones fitted at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the parts. The regressor's own is its own affair.

    Attributes
    ----------
    estimator_ : regressor
        Fitted to all rows, as far as they are believed; a list of these, one for each output,
        where it knows only one.
    inlier_weight_ : array of shape (n_samples,)
        How far each row is believed, between 0 and 1.
    outliers_ : bool array of shape (n_samples,)
        The rows that are flagged: the most probably wrong ones, as many as `fdr` allows.
    outlier_probability_ : array of shape (n_samples,)
        How probable it is that each row is wrong, given its left-out residual.
    estimated_outlier_share_ : float
        Share of all rows that is wrong, flagged or not.
    expected_ : array of shape (n_samples,) or (n_samples, n_outputs)
        What clones predict for rows that they have not seen, shifted alike for all so that as
        many targets lie above as below.
    residuals_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Targets minus `expected_`.
    residual_scale_ : array of shape (n_outputs,)
        One robust standard deviation of the residuals.
    error_path_ : array of shape (n_rounds,)
        Mean absolute left-out residual of all rows in each round.
    n_features_in_ : int
        Number of inputs, where they can be counted.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    See Also
    --------
    RobustSCNRegressor : Networks of its own; faster than 31 fits, and no regressor to choose.

    Notes
    -----
    Costs `n_folds * n_rounds + 1` fits of the regressor, all but the last of them to a part of the
    rows: 31 by default; from 20,000 rows on six to half of the rows and one to all.

    References
    ----------
    S. Geman, D. E. McClure, "Statistical methods for tomographic image reconstruction", Bulletin
    of the International Statistical Institute 52 (1987).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from robustscn import RobustRegressor
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> y = 2 * X[:, 0] + 0.01 * np.sin(100 * X[:, 0])
    >>> y[::10] += 3.0
    >>> model = RobustRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> bool(model.outliers_[::10].all()), round(float(model.predict([[0.5]])[0]), 2)
    (True, 1.0)
    """

    _may_be_none = ("n_rounds",)

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_folds: int | None = None,
        n_rounds: int | None = None,
        weighting: str | Weighting = "auto",
        fdr: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.n_rounds = n_rounds
        self.weighting = weighting
        self.fdr = fdr
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from dirty rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, of any kind that the regressor takes.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative.

        Returns
        -------
        RobustRegressor
            Itself.
        """
        training = self._training(X, y, sample_weight)
        problem = training.problem
        X = ready_for(self._regressor(), problem.X)
        rows, weight = problem.rows, problem.weight
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        teacher = Teacher(self._regressor(), seed)
        n_folds = self.n_folds or (5 if rows.n_rows < MANY_ROWS else 2)
        folds = dealt_out(problem.X, weight, n_folds, seed)
        learner = CrossFitted(teacher, X, problem.y, weight, folds, self._each())
        start = Start(not_gross(rows, centred(rows, problem.y, weight), weight))
        rounds = list(judge(rows, weight, learner, self._schedule(rows.n_rows), start))
        last = rounds[-1]
        self._fitted = teacher.fitted(X, problem.y, weight * last.inlier_weight)
        parts = self._fitted.parts
        self.estimator_ = parts[0] if len(parts) == 1 else list(parts)
        self.error_path_ = np.array([mean_size(rows, r.evidence, weight) for r in rounds])
        self._flat, self._scale = training.flat, training.scale
        self._members = last.model
        self._keep_weights(training, last)
        return self

    def predict(self, X: Any) -> Array:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
            What the regressor, fitted to the rows that are believed, predicts.
        """
        check_is_fitted(self)
        self._look_at(X, reset=False)
        y = self._fitted.output(X)
        return y[:, 0] if self._flat else y

    def _schedule(self, n_rows: int) -> list[Plan]:
        """Return what happens in which round: a scale that narrows, then adaptive weights."""
        auto = self.weighting == "auto"
        first = named("geman-mcclure" if auto else self.weighting)
        final = named("mixture") if auto else first
        count = self.n_rounds or (ROUNDS if n_rows < MANY_ROWS else FEW_ROUNDS)
        narrowest = HALVED ** (ROUNDS - 1)
        return [
            Plan(
                final if k >= count - FINAL_ROUNDS else first,
                floor=WIDEST * narrowest ** (k / max(1, count - 1)),
                local=k >= count - LOCAL_ROUNDS,
            )
            for k in range(count)
        ]

    def _spread(self, X: Any) -> tuple[Array, Array, Array]:
        self._look_at(X, reset=False)
        found = self._fitted.output(X)
        doubt = disagreement_of(np.stack([member.output(X) for member in self._members]))
        if self._noise is None:
            return found, doubt, np.ones_like(found)
        by_value, slope, centre = self._noise
        return found, doubt, relative_scale(by_value.forecast(found), slope, centre)

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
