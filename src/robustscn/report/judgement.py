"""What a fitted robust estimator says about its training rows, checked and on the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import to_host64

NEEDED = ("inlier_weight_", "outliers_", "residuals_", "expected_", "residual_scale_")


@dataclass(frozen=True)
class Judgement:
    """Weights and residuals of all rows.

    Parameters
    ----------
    weight : array of shape (n_rows,)
        Inlier weights.
    suspect : bool array of shape (n_rows,)
        Rows that were distrusted.
    expected, residuals : array of shape (n_rows, n_targets)
        What the rows were judged by.
    scale : array of shape (n_targets,)
        One robust standard deviation.
    left_out : bool
        Whether the networks that judged a row had not seen it.
    """

    weight: NDArray[np.float64]
    suspect: NDArray[np.bool_]
    expected: NDArray[np.float64]
    residuals: NDArray[np.float64]
    scale: NDArray[np.float64]
    left_out: bool

    @property
    def deviations(self) -> NDArray[np.float64]:
        """Residuals in robust standard deviations; infinite beside a scale of zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.residuals == 0.0, 0.0, self.residuals / self.scale)


@dataclass(frozen=True)
class ErrorPath:
    """Errors while the model was made.

    Parameters
    ----------
    along : str
        What is counted: "nodes", "rounds" or "steps".
    count : array of shape (n,)
        How many there were.
    errors : tuple of (str, array of shape (n,))
        Named errors at each count.
    kept : float
        The count that was kept.
    """

    along: str
    count: NDArray[np.float64]
    errors: tuple[tuple[str, NDArray[np.float64]], ...]
    kept: float


def model_of(model: Any) -> Any:
    """Return the estimator at the end of a Pipeline, or the estimator itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def judgement_of(model: Any, n_rows: int, n_targets: int) -> Judgement:
    """Return what a model says about its rows.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted.
    n_rows, n_targets : int
        What the caller believes it was fitted on.

    Returns
    -------
    Judgement
        NumPy arrays.
    """
    estimator = model_of(model)
    if not all(hasattr(estimator, name) for name in NEEDED):
        raise TypeError(
            f"{type(estimator).__name__} does not say which rows it distrusts: give a fitted "
            "robust estimator of robustscn, for example RobustSCNRegressor"
        )
    weight = to_host64(estimator.inlier_weight_)
    residuals = to_host64(estimator.residuals_).reshape(len(weight), -1)
    if residuals.shape != (n_rows, n_targets):
        raise ValueError(
            f"the model was fitted on {residuals.shape[0]} rows and {residuals.shape[1]} targets, "
            f"got {n_rows} rows and {n_targets} targets: give the rows of the fit, in its order"
        )
    return Judgement(
        weight,
        to_host64(estimator.outliers_) > 0,
        to_host64(estimator.expected_).reshape(residuals.shape),
        residuals,
        np.atleast_1d(to_host64(estimator.residual_scale_)),
        hasattr(estimator, "growth_path_"),
    )


def paths_of(model: Any) -> tuple[ErrorPath, ...]:
    """Return how the errors fell while the model was made.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted.

    Returns
    -------
    tuple of ErrorPath
        By nodes, where the estimator has kept that, and by rounds or steps.
    """
    estimator, paths = model_of(model), []
    growth = getattr(estimator, "growth_path_", None)
    if growth is not None:
        nodes = np.asarray(growth["nodes"], dtype=float)
        errors = (
            ("on rows the network grew on", np.asarray(growth["training_error"], dtype=float)),
            ("on rows kept from it", np.asarray(growth["left_out_error"], dtype=float)),
        )
        paths.append(ErrorPath("nodes", nodes, errors, float(nodes[-1])))
    errors_ = np.asarray(getattr(estimator, "error_path_", ()), dtype=float)
    if len(errors_) > 1:
        # Estimators that grow one network count its steps; the others count rounds.
        by_step = hasattr(estimator, "validation_path_")
        kept = len(errors_) if by_step else estimator.n_rounds_
        count = np.arange(1.0, len(errors_) + 1)
        label = "on left-out rows" if growth is not None else "on the training rows"
        along = "steps" if by_step else "rounds"
        paths.append(ErrorPath(along, count, ((label, errors_),), float(kept)))
    return tuple(paths)
