"""How the errors fell while a model was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..judgement import fitted_model


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
    estimator, paths = fitted_model(model), []
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
        left_out = hasattr(estimator, "outlier_probability_")
        label = "on left-out rows" if left_out else "on the training rows"
        along = "steps" if by_step else "rounds"
        paths.append(ErrorPath(along, count, ((label, errors_),), float(kept)))
    return tuple(paths)
