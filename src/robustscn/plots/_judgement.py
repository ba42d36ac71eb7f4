"""What a fitted estimator says of the rows it learned from, as plain NumPy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._arrays import HostArray, to_host, to_host64


@dataclass(frozen=True)
class Judgement:
    """The training rows of one output as their estimator judged them.

    Parameters
    ----------
    expected : array of shape (n_rows,)
        Targets as the model would have them.
    residuals : array of shape (n_rows,)
        Observed less expected.
    scale : float
        One robust standard deviation of the residuals.
    inlier_weight : array of shape (n_rows,)
        How far each row is believed.
    outliers : bool array of shape (n_rows,)
        Which rows are suspect.
    n_outputs : int
        Number of outputs, of which this is one.
    """

    expected: HostArray
    residuals: HostArray
    scale: float
    inlier_weight: HostArray
    outliers: HostArray
    n_outputs: int


def fitted_model(estimator: Any) -> Any:
    """Return the fitted estimator itself, or the last step of a fitted pipeline."""
    model = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(model, "fit"):
        raise TypeError(f"give a fitted estimator or a pipeline that ends in one, got {model!r}")
    check_is_fitted(model)
    return model


def judgement_of(estimator: Any, output: int, X: Any = None, y: Any = None) -> Judgement:
    """Return how a robust estimator judged its training rows, or raise a clear error.

    Parameters
    ----------
    estimator : estimator
        A fitted robust estimator or a pipeline that ends in one.
    output : int
        Which output.
    X, y : array-like or None
        The training rows, if given: they are counted.

    Returns
    -------
    Judgement
        Of the rows in the order of the fit.
    """
    model = fitted_model(estimator)
    if not hasattr(model, "inlier_weight_"):
        raise TypeError(
            f"{type(model).__name__} does not judge rows: it has no inlier_weight_. Fit a robust "
            "estimator, such as robustscn.RobustSCNRegressor, or a pipeline that ends in one"
        )
    inlier_weight = to_host64(model.inlier_weight_)
    for name, given in (("X", X), ("y", y)):
        if given is not None and _num_samples(given) != len(inlier_weight):
            raise ValueError(
                f"{name} has {_num_samples(given)} rows, but the estimator was fitted on "
                f"{len(inlier_weight)}: give the training rows, or use from_predictions for others"
            )
    scales = np.atleast_1d(to_host64(model.residual_scale_))
    return Judgement(
        one_output(to_host64(model.expected_), output),
        one_output(to_host64(model.residuals_), output),
        float(scales[output]),
        inlier_weight,
        to_host(model.outliers_).astype(bool),
        len(scales),
    )


def one_output(values: Any, output: int) -> HostArray:
    """Return one column of targets or residuals, which may be one-dimensional."""
    columns = np.asarray(values, dtype=np.float64)
    columns = columns.reshape(len(columns), -1)
    if not 0 <= output < columns.shape[1]:
        raise ValueError(f"output must be between 0 and {columns.shape[1] - 1}, got {output!r}")
    return columns[:, output]
