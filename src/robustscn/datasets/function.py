"""One input, one broad bump and two peaks about 0.02 wide.

    y = 0.2 exp(-(10x - 4)^2) + 0.5 exp(-(80x - 40)^2) + 0.3 exp(-(80x - 20)^2)

The peaks are what makes the task hard: among 600 points on [-1, 1] each has about
ten, few enough for a robust fit to mistake them for outliers. Neither x nor y is
rescaled, and there is no noise; see ``contamination`` for that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def function_target(x: ArrayLike) -> NDArray[np.float64]:
    """Value of the function at ``x``.

    Parameters
    ----------
    x : array-like of any shape
        Where to evaluate.

    Returns
    -------
    ndarray of the shape of ``x``
        The clean target.

    Examples
    --------
    >>> from robustscn.datasets import function_target
    >>> [round(float(y), 4) for y in function_target([0.25, 0.5])]
    [0.3211, 0.5736]
    """
    x = np.asarray(x, dtype=np.float64)
    broad = 0.2 * np.exp(-((10 * x - 4) ** 2))
    tall = 0.5 * np.exp(-((80 * x - 40) ** 2))
    short = 0.3 * np.exp(-((80 * x - 20) ** 2))
    return broad + tall + short


def make_function(
    n_samples: int = 600, *, grid: bool = False, rng: int | np.random.Generator | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw clean samples of the function on [-1, 1].

    Parameters
    ----------
    n_samples : int, default=600
        Number of rows.
    grid : bool, default=False
        Equally spaced inputs, both ends included, instead of uniform random ones.
    rng : int, numpy.random.Generator or None, default=None
        Source of the random inputs; not used by a grid.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        Inputs.
    y : ndarray of shape (n_samples,)
        Clean targets.

    Examples
    --------
    >>> from robustscn.datasets import make_function
    >>> X, y = make_function(600, rng=0)
    >>> X.shape, y.shape
    ((600, 1), (600,))
    """
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1, got {n_samples}.")
    if grid:
        x = np.linspace(-1.0, 1.0, n_samples)
    else:
        x = np.random.default_rng(rng).uniform(-1.0, 1.0, n_samples)
    return x[:, np.newaxis], function_target(x)
