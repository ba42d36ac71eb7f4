"""One output of what an estimator says of its rows, and whether the caller's rows are those."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..core.arrays import HostArray
from ..judgement import Judgement, judgement_of


def judged_rows(estimator: Any, X: Any = None, y: Any = None) -> Judgement:
    """Return how a robust estimator judged its training rows, or raise a clear error.

    Parameters
    ----------
    estimator : estimator
        A fitted robust estimator or a pipeline that ends in one.
    X, y : array-like or None
        The training rows, if given: they are counted.

    Returns
    -------
    Judgement
        Of the rows in the order of the fit.
    """
    judged = judgement_of(estimator)
    n_rows = len(judged.inlier_weight)
    for name, given in (("X", X), ("y", y)):
        if given is not None and _num_samples(given) != n_rows:
            raise ValueError(
                f"{name} has {_num_samples(given)} rows, but the estimator was fitted on "
                f"{n_rows}: give the training rows, or use from_predictions for others"
            )
    return judged


def one_output(values: Any, output: int) -> HostArray:
    """Return one column of targets or residuals, which may be one-dimensional."""
    columns = np.asarray(values, dtype=np.float64)
    columns = columns.reshape(len(columns), -1)
    if not 0 <= output < columns.shape[1]:
        raise ValueError(f"output must be between 0 and {columns.shape[1] - 1}, got {output!r}")
    return columns[:, output]
