"""Targets whose noise grows with them: learned as logarithms or square roots, told in their unit.

Both keep order, so that the median of the transformed target is the transformed median: what is
predicted is the median of the clean target, with a transformation and without one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import Tags, check_array, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import HostArray
from ._base import RobustMixin
from ._certainty import ONE_DEVIATION, half_width
from ._parameters import check_parameters
from ._shown import ShownMixin
from ._suspects import in_deviations
from .flagship import RobustSCNRegressor

UNEVEN = 0.3
"""Rank correlation between the sizes of left-out residuals and the values expected, from which on
noise grows with the value. Of the tables tried prices and diamonds had 0.4 to 0.5, others up to
0.3 (treasury, concrete), Friedman's function and stock none."""

EVENED = 1.0 / 3.0
"""Share of that correlation that a transformation may leave. Of logarithms of prices and diamonds
next to none was left, at most 0.06."""

FEWEST = 50
"""Believed rows from which on such a correlation is told from chance: 0.3 is two of its standard
errors there."""

TOLD = (
    "inlier_weight_",
    "outliers_",
    "outlier_probability_",
    "estimated_outlier_share_",
    "n_features_in_",
    "feature_names_in_",
    "growth_path_",
    "error_path_",
    "n_nodes_",
    "n_rounds_",
)
"""What the estimator inside tells of its fit, as far as it does, and holds in any unit."""


@dataclass(frozen=True)
class Transform:
    """A way to learn a target.

    Parameters
    ----------
    there, back : callable
        To what is learned, and from it.
    slope : callable
        How far the target moves with what is learned, at values of the target.
    """

    there: Callable[[HostArray], HostArray]
    back: Callable[[HostArray], HostArray]
    slope: Callable[[HostArray], HostArray]


TRANSFORMS = {
    "none": Transform(lambda y: y, lambda z: z, np.ones_like),
    "log": Transform(np.log, np.exp, lambda y: y),
    "sqrt": Transform(np.sqrt, lambda z: np.maximum(z, 0.0) ** 2, lambda y: 2.0 * np.sqrt(y)),
}
"""By name. All of them rise."""


def _knows_intervals(estimator: RobustTransformedRegressor) -> bool:
    return estimator.estimator is None or hasattr(estimator.estimator, "predict_interval")


class RobustTransformedRegressor(
    RobustMixin, ShownMixin, RegressorMixin, MetaEstimatorMixin, BaseEstimator
):
    """A robust estimator that learns the logarithm or square root of its targets where that helps.

    *When to use it*: prices, concentrations, counts: positive targets whose noise, or whose errors,
    grow with them. One scale for all of them distrusts what is dear and believes what is cheap.

    Parameters
    ----------
    estimator : robust estimator or None, default=None
        What learns; None takes `RobustSCNRegressor`.
    transformation : {"auto", "none", "log", "sqrt"}, default="auto"
        "auto" learns the targets as they are and looks whether left-out residuals grow with the
        value; where they do, it learns logarithms (square roots where there are zeros) and keeps
        these if residuals are even then.
    random_state : int, RandomState instance or None, default=None
        Seed of the default estimator.

    Attributes
    ----------
    estimator_ : robust estimator
        Fitted to what is learned.
    transformation_ : {"none", "log", "sqrt"}
        What that is.
    evenness_ : dict of float
        Rank correlation between sizes of left-out residuals and values, by transformation tried.
    inlier_weight_, outliers_, outlier_probability_, estimated_outlier_share_ : array or float
        As of `estimator_`.
    expected_, residuals_ : array of shape (n_samples,) or (n_samples, n_outputs)
        In the targets' unit.
    residual_scale_ : array of shape (n_outputs,)
        One robust standard deviation at the median of what is expected, in the targets' unit.
    n_features_in_ : int
        Number of inputs.

    See Also
    --------
    RobustSCNRegressor : Learns targets as they are, with a scale that follows the inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import RobustSCNRegressor, RobustTransformedRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 1))
    >>> y = np.exp(4 * X[:, 0] + 0.2 * rng.normal(size=300))
    >>> quick = RobustSCNRegressor(n_networks=4, max_nodes=20, random_state=0)
    >>> RobustTransformedRegressor(quick).fit(X, y).transformation_
    'log'
    """

    def __init__(
        self, estimator: Any = None, *, transformation: str = "auto", random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.transformation = transformation
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        trusted: Any = None,
        groups: Any = None,
    ) -> Self:
        """Learn from dirty rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative.
        trusted : array-like of bool of shape (n_samples,) or None
            Rows that are known to be right: they are believed in full and never flagged.
        groups : array-like of shape (n_samples,) or None
            What rows that belong together have in common: a day, a batch, a plant. A row is then
            judged by members that have seen none of its group, which cannot vouch for it.

        Returns
        -------
        RobustTransformedRegressor
            Itself.
        """
        check_parameters(self)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        targets = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        wanted = self.transformation
        _check_range(wanted, targets)
        first = "none" if wanted == "auto" else wanted
        told = {"trusted": trusted, "groups": groups}  # which the paper's estimators do not know
        rows = {"sample_weight": sample_weight}
        rows |= {name: column for name, column in told.items() if column is not None}
        fitted = {first: self._fitted_to(first, X, targets, rows)}
        self.evenness_ = {first: evenness(fitted[first])}
        self.transformation_ = first
        other = _remedy(targets) if wanted == "auto" else None
        if other is not None and self.evenness_["none"] > UNEVEN:
            fitted[other] = self._fitted_to(other, X, targets, rows)
            self.evenness_[other] = evenness(fitted[other])
            if abs(self.evenness_[other]) < EVENED * self.evenness_["none"]:
                self.transformation_ = other
        self._keep(fitted[self.transformation_], targets)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets and, where asked, how far clean ones are from them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return standard deviations as well; `estimator` must know intervals.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The median of the clean target, in its unit.
        y_std : array of the same shape
            Only with `return_std`: half the width of `predict_interval(X, 0.6827)`, in the unit of
            y. Intervals of a transformed target are longer on one side, which one number for each
            row cannot say.
        """
        check_is_fitted(self)
        found = self._back(self.estimator_.predict(X))
        return (found, half_width(self.predict_interval(X, ONE_DEVIATION))) if return_std else found

    @available_if(_knows_intervals)
    def predict_interval(self, X: Any, coverage: float = 0.9) -> HostArray:
        """Predict between which values clean targets lie.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.9
            Share of clean targets that should lie inside, between 0 and 1.

        Returns
        -------
        array of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            Lower and upper ends, for each output by itself.
        """
        check_is_fitted(self)
        return self._back(self.estimator_.predict_interval(X, coverage))

    def _interval(self, X: Any, coverage: float, expected: HostArray) -> HostArray:
        there = TRANSFORMS[self.transformation_].there
        return self._back(self.estimator_._interval(X, coverage, there(expected)))

    def _back(self, learned: Any) -> HostArray:
        # Beyond the range of numbers is infinite, and says so.
        with np.errstate(over="ignore"):
            return TRANSFORMS[self.transformation_].back(np.asarray(learned, dtype=np.float64))

    def _fitted_to(self, transform: str, X: Any, y: HostArray, rows: dict[str, Any]) -> Any:
        inner = RobustSCNRegressor(random_state=self.random_state)
        if self.estimator is not None:
            inner = clone(self.estimator)
        return inner.fit(X, TRANSFORMS[transform].there(y), **rows)

    def _keep(self, inner: Any, targets: HostArray) -> None:
        self.estimator_, self._observed, self._flat = inner, targets, targets.ndim == 1
        for name in TOLD:
            if hasattr(inner, name):
                setattr(self, name, getattr(inner, name))
        self.expected_ = self._back(inner.expected_)
        self.residuals_ = targets - self.expected_
        middle = np.median(self.expected_.reshape(len(targets), -1), axis=0)
        slope = TRANSFORMS[self.transformation_].slope(middle)
        self.residual_scale_ = np.atleast_1d(inner.residual_scale_) * slope
        why = "" if self.transformation_ == "none" else f"learned as {self.transformation_}; "
        self.stop_reason_ = why + str(getattr(inner, "stop_reason_", ""))

    def _deviations(self, observed: HostArray, expected: HostArray) -> HostArray:
        there = TRANSFORMS[self.transformation_].there
        # A target that cannot be transformed is as far away as can be.
        with np.errstate(divide="ignore", invalid="ignore"):
            residuals = np.nan_to_num(there(observed) - there(expected), nan=-np.inf)
        return in_deviations(residuals, self.estimator_.residual_scale_)

    def __sklearn_tags__(self) -> Tags:
        """Return what the estimator can do."""
        tags = super().__sklearn_tags__()
        inner = RobustSCNRegressor() if self.estimator is None else self.estimator
        tags.input_tags = get_tags(inner).input_tags
        tags.target_tags = get_tags(inner).target_tags
        return tags


def evenness(fitted: Any) -> float:
    """Return the rank correlation between sizes of left-out residuals and values expected.

    Parameters
    ----------
    fitted : robust estimator
        Fitted.

    Returns
    -------
    float
        Of the rows that are believed, the mean over outputs; zero where these are few.
    """
    believed = np.asarray(fitted.inlier_weight_) > 0.5
    if np.sum(believed) < FEWEST:
        return 0.0
    n = len(believed)
    sizes = np.abs(np.asarray(fitted.residuals_)).reshape(n, -1)[believed]
    values = np.asarray(fitted.expected_).reshape(n, -1)[believed]
    found = [
        spearmanr(size, value).statistic
        for size, value in zip(sizes.T, values.T, strict=True)
        if np.ptp(size) > 0 and np.ptp(value) > 0
    ]
    return float(np.mean(found)) if found else 0.0


def _remedy(targets: HostArray) -> str | None:
    """Return what may even out noise that grows with the value; None where targets are negative."""
    least = float(targets.min())
    if least < 0:
        return None
    return "log" if least > 0 else "sqrt"


def _check_range(transform: str, targets: HostArray) -> None:
    least = float(targets.min())
    if (transform == "log" and least <= 0) or (transform == "sqrt" and least < 0):
        bound = "above zero" if transform == "log" else "zero or above"
        raise ValueError(
            f"transformation={transform!r} needs targets {bound}, the smallest is {least:g}: leave "
            "the row out, or take transformation='auto'"
        )
