"""Suspect rows as a table that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import HostArray, to_host

if TYPE_CHECKING:
    import pandas as pd


def in_deviations(residuals: HostArray, scale: Any) -> HostArray:
    """Return residuals in robust standard deviations.

    Infinite beside a scale of zero, where all other rows were met exactly, or of next to nothing.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(residuals == 0.0, 0.0, residuals / scale)


def suspects(estimator: Any, index: Any = None) -> pd.DataFrame:
    """Return the rows a robust estimator distrusts, the strangest first.

    Parameters
    ----------
    estimator : RobustMixin
        Fitted.
    index : array-like of shape (n_samples,) or None
        Names of the training rows.

    Returns
    -------
    pandas.DataFrame
        See `RobustMixin.outlier_table`.
    """
    try:
        import pandas as pd
    except ImportError as missing:  # pragma: no cover
        raise ImportError(
            "outlier_table needs pandas: pip install 'robustscn[frames]'"
        ) from missing
    chosen = np.flatnonzero(to_host(estimator.outliers_))
    n_rows = estimator.outliers_.shape[0]
    names = np.arange(n_rows) if index is None else np.asarray(index)
    if names.shape[0] != n_rows:
        raise ValueError(f"index names {names.shape[0]} rows, the training data had {n_rows}")
    residuals = _by_output(estimator.residuals_)[chosen]
    expected = _by_output(estimator.expected_)[chosen]
    observed = _by_output(estimator._observed)[chosen]
    deviations = estimator._deviations(observed, expected)
    worst = np.argmax(np.abs(deviations), axis=1)
    each = np.arange(chosen.shape[0])
    table = pd.DataFrame(
        {
            "row": names[chosen],
            "observed": observed[each, worst],
            "expected": expected[each, worst],
            "residual": residuals[each, worst],
            "deviations": deviations[each, worst],
            "inlier_weight": to_host(estimator.inlier_weight_)[chosen],
        }
    )
    if hasattr(estimator, "outlier_probability_"):
        table["probability"] = to_host(estimator.outlier_probability_)[chosen]
    if residuals.shape[1] > 1:
        table.insert(1, "output", worst)
    order = np.argsort(-np.abs(table["deviations"].to_numpy()), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def _by_output(column: Any) -> np.ndarray:
    column = to_host(column)
    return column[:, None] if column.ndim == 1 else column
