"""What a fitted robust estimator says about its training rows, as plain NumPy arrays.

Pictures and pages take it from here: they need not know where rows live or which estimator
judged them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .core.arrays import HostArray, to_host, to_host64

NEEDED = ("inlier_weight_", "outliers_", "residuals_", "expected_", "residual_scale_")


@dataclass(frozen=True)
class Judgement:
    """Weights and residuals of all rows, in the order of the fit.

    Parameters
    ----------
    inlier_weight : array of shape (n_rows,)
        How far each row is believed.
    outliers : bool array of shape (n_rows,)
        Which rows are suspect.
    expected, residuals : array of shape (n_rows, n_outputs)
        Targets as the model would have them, and observed less expected.
    scale : array of shape (n_outputs,)
        One robust standard deviation of the residuals.
    left_out : bool
        Whether the networks that judged a row had not seen it.
    deviations : array of shape (n_rows, n_outputs)
        Residuals in robust standard deviations; infinite beside a scale of zero.
    probability : array of shape (n_rows,) or None
        How probably each row is wrong, where the estimator says so.
    """

    inlier_weight: HostArray
    outliers: HostArray
    expected: HostArray
    residuals: HostArray
    scale: HostArray
    left_out: bool
    deviations: HostArray
    probability: HostArray | None = None

    @property
    def n_maybe_right(self) -> int | None:
        """How many of the suspect rows are expected to be right after all, where that is known."""
        if self.probability is None:
            return None
        return round(float(np.sum(1.0 - self.probability[self.outliers])))


def fitted_model(estimator: Any) -> Any:
    """Return the fitted estimator itself, or the last step of a fitted pipeline.

    Parameters
    ----------
    estimator : estimator or Pipeline
        Fitted.

    Returns
    -------
    estimator
        Ours, if the caller has it right.
    """
    model = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    if not hasattr(model, "fit"):
        raise TypeError(f"give a fitted estimator or a pipeline that ends in one, got {model!r}")
    check_is_fitted(model)
    return model


def plausible_of(estimator: Any, inputs: Any, rows: HostArray, coverage: float) -> HostArray | None:
    """Return between which values clean targets of training rows lie, by those who judged them.

    Parameters
    ----------
    estimator : estimator or Pipeline
        A fitted robust estimator, or a pipeline that ends in one.
    inputs : array-like of shape (n, n_features)
        Inputs of some training rows, as the caller's estimator takes them.
    rows : int array of shape (n,)
        Which rows of the fit these are.
    coverage : float
        Share of clean targets that should lie inside.

    Returns
    -------
    array of shape (n, n_outputs, 2) or None
        As wide as `predict_interval`, about what was expected of rows that had not been seen; None
        where the estimator knows no intervals.
    """
    model = fitted_model(estimator)
    if not hasattr(model, "predict_interval"):
        return None
    if len(getattr(estimator, "steps", ())) > 1:
        inputs = estimator[:-1].transform(inputs)
    ends = model._interval(inputs, coverage, to_host64(model.expected_)[rows])
    return to_host64(ends).reshape(len(rows), -1, 2)


def judgement_of(estimator: Any) -> Judgement:
    """Return how a robust estimator judged its training rows, or raise a clear error.

    Parameters
    ----------
    estimator : estimator or Pipeline
        A fitted robust estimator, or a pipeline that ends in one.

    Returns
    -------
    Judgement
        Of all rows and outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import RSCKDERegressor
    >>> from robustscn.judgement import judgement_of
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> y = X[:, 0] + 2.0 * (np.arange(50) == 7)
    >>> judged = judgement_of(RSCKDERegressor(5, random_state=0).fit(X, y))
    >>> bool(judged.outliers[7])
    True
    """
    model = fitted_model(estimator)
    if not all(hasattr(model, name) for name in NEEDED):
        raise TypeError(
            f"{type(model).__name__} does not judge rows: fit a robust estimator, such as "
            "robustscn.RobustSCNRegressor, or a pipeline that ends in one"
        )
    weight = to_host64(model.inlier_weight_)
    residuals = to_host64(model.residuals_).reshape(len(weight), -1)
    expected = to_host64(model.expected_).reshape(residuals.shape)
    return Judgement(
        weight,
        to_host(model.outliers_).astype(bool),
        expected,
        residuals,
        np.atleast_1d(to_host64(model.residual_scale_)),
        hasattr(model, "outlier_probability_"),
        model._deviations(expected + residuals, expected),
        to_host64(model.outlier_probability_) if hasattr(model, "outlier_probability_") else None,
    )
