"""Flags with a stated error rate, intervals and deviations of those who judge rows by others."""

from __future__ import annotations

from math import erf, sqrt
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Array, HostArray, like, namespace
from ..core.certainty import certainty_of
from ..core.judging import Round
from ..core.problem import Problem
from ..core.stream import WARY
from ..core.verdict import Verdict, verdict
from ._base import FLAGGING, RobustMixin

ONE_DEVIATION = erf(sqrt(0.5))
"""Share of a normal distribution within one standard deviation of its middle, 68.27 %: half of such
an interval is what one deviation is told by. The root mean square of right residuals asks for their
tails, of which wrong rows leave the less the more there are: of 1,500 rows with Laplace noise it
fell from 1.46 to 1.25 when two fifths of them were wrong, and half the interval from 1.18 to 1.09;
with normal noise it rose by up to 8 %, half the interval by 2 %."""


class CertainMixin(RobustMixin):
    """Fitted attributes, predictions and intervals of estimators whose residuals are left out."""

    fdr: float
    _flat: bool
    _scale: float
    _point: Any

    def _flag(self, problem: Problem, last: Round[Any]) -> Verdict:
        """Flag as many rows as the false discovery rate allows; keep what intervals need."""
        rows, weight, noise = problem.rows, problem.weight, last.noise
        judged = verdict(
            rows,
            weight,
            last.evidence,
            last.doubt,
            FLAGGING,
            # Below it rows were not told apart: where there is hardly any noise, errors of the
            # networks have tails as heavy as wrong rows'.
            last.widest * last.plan.floor,
            None if noise is None else noise.relative,
        )
        sure, probability = certainty_of(
            rows, judged.standardised, weight, self.fdr, problem.trusted
        )
        self.outlier_probability_ = self._shown(probability)
        self.outliers_ = self._shown(rows.map(lambda p: p > sure.cut, probability))
        self.estimated_outlier_share_ = sure.share
        self._quantiles, self._deviation, self._doubt_left = (
            sure.quantiles,
            judged.scale,
            judged.left,
        )
        # Residuals are less their median; what predicts is not shifted.
        centre = last.opinion.centre
        self._centre = np.zeros_like(judged.scale) if centre is None else centre
        self._noise = None
        if noise is not None and np.any(noise.slope > 0):
            self._noise = noise.model, noise.slope, noise.centre
        return judged

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets and, where asked, how far clean ones are from them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return standard deviations as well.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        y_std : array of the same shape
            Only with `return_std`: one robust standard deviation of a clean target, noise and the
            models' disagreement together, in the unit of y. It is half the width of
            `predict_interval(X, 0.6827)`, which of normal noise is the standard deviation; tails,
            where right rows cannot be told from wrong ones, do not move it.
        """
        found = self._point(X)
        return (found, half_width(self.predict_interval(X, ONE_DEVIATION))) if return_std else found

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
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
            Lower and upper ends, for each output by itself. After `partial_fit` they hold that
            share of the errors of the last 500 rows, each predicted before it was learned, the
            latest counted most and each by its probability to be a right row's, as judged by what
            has been learned since: so they follow a world that changes. They are then as far from
            the median of these errors on either side. For the first 200 rows after a `fit` they are
            the fit's own.
        """
        check_is_fitted(self)
        check_coverage(coverage)
        lately = self._ends_lately(coverage)
        if lately is not None:
            middle = np.asarray(self._point(X))
            lower, upper = lately[:, 0] if self._flat else lately
            return np.stack([middle + lower, middle + upper], axis=-1)
        if not hasattr(self, "_quantiles"):  # a stream that has only begun
            raise NotFittedError(
                f"intervals need a fit, or {WARY} rows given to partial_fit: errors tell how sure "
                "a prediction is"
            )
        return self._interval(X, coverage)

    def _interval(self, X: Any, coverage: float, expected: Any = None) -> Array:
        """Return the fit's own interval, about its prediction or about what was expected instead.

        Training rows are judged by members that have not seen them: what these expect may lie
        outside the interval about what is predicted with the rows.
        """
        middle, doubt, relative = self._spread(X)
        low, high = ends_of(self._quantiles, coverage)
        xp = namespace(middle)
        size = xp.sqrt(
            (relative * like(self._deviation, middle)) ** 2
            + (doubt * like(self._doubt_left, middle)) ** 2
        )
        middle = middle + like(self._centre, middle)
        if expected is not None:
            middle = like(np.reshape(expected, tuple(middle.shape)) / self._scale, middle)
        ends = [middle + size * like(end, middle) for end in (low, high)]
        both = xp.stack(ends, axis=-1) * self._scale
        return both[:, 0, :] if self._flat else both

    def _ends_lately(self, coverage: float) -> HostArray | None:  # noqa: ARG002 - streams ask it
        """Return between which errors a stream's right rows lie, where there is one."""
        return None

    def _spread(self, X: Any) -> tuple[Array, Array, Array]:
        """Return prediction, doubt and relative noise, each of shape (n_rows, n_outputs)."""
        raise NotImplementedError


def half_width(ends: Any) -> Any:
    """Return half the width of intervals, whose last axis has their two ends."""
    return 0.5 * (ends[..., 1] - ends[..., 0])


def check_coverage(coverage: float) -> None:
    """Raise where a coverage is no share."""
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must be between 0 and 1, got {coverage!r}")


def ends_of(quantiles: HostArray, coverage: float) -> tuple[HostArray, HostArray]:
    """Return between which standardised residuals a share of the right rows lies."""
    shares = (np.arange(len(quantiles)) + 0.5) / len(quantiles)
    ends = ((1.0 - coverage) / 2.0, (1.0 + coverage) / 2.0)
    low, high = (np.array([np.interp(e, shares, q) for q in quantiles.T]) for e in ends)
    return low, high
