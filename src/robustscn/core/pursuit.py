"""What the residual itself says of where to look: candidates along its slope, inputs that tell.

Random directions in many inputs are hardly ever the one in which the targets rise. A ridge
regression of the residual on the inputs finds that one, at the price of one reading of the rows.
Flat nodes along it make up a linear trend, steep ones what bends it.

Where rows are few beside the inputs, that direction is mostly chance: with 300 rows of 200 inputs
one node along it met the rows it was found on and no others. There the inputs are asked one by one
first, and those that tell no more of the residual than most do are left out.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, HostArray, namespace
from .nodes import Nodes
from .rows import Column, Rows

ALONG = tuple((steepness, place) for steepness in (0.3, 1.0, 3.0) for place in (-1.0, 0.0, 1.0))
"""Steepness and place of the candidates, for inputs that have the standard deviation one along
the slope: nearly linear over the data, bent, and saturated at both ends."""

ROUNDED = 2.0**20
"""Weights are multiples of one part in so many: machines whose last bits differ meet the same
candidates."""

RIDGE = 0.01
"""Penalty as a share of the inputs' mean variance: directions with next to no data do not count. By
argument."""


TELLING = 4.0
"""An input tells of the residual if its squared correlation is this many times the median input's:
of inputs that tell nothing one in twenty seems to. Measured on development draws: Friedman's
function with 300 rows of 200 inputs errs half as much for it."""


def telling(rows: Rows, X: Column, residuals: Column, weight: Column) -> HostArray:
    """Return how much each input tells, by itself, of each output's residual.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    X, residuals, weight : columns
        Inputs in [0, 1], residuals of shape (n_rows, n_outputs), weights.

    Returns
    -------
    array of shape (n_features, n_outputs)
        The share of the residual's variance that the input explains as it is or bent in the
        middle, whichever is more, beyond `TELLING` times that of the median input; zero for the
        others.
    """

    def sums(x: Array, e: Array, w: Array) -> tuple[Array, ...]:
        xp = namespace(x)
        both = xp.concat([x, (x - 0.5) ** 2], axis=1)
        return (
            both.T @ (w[:, None] * e),
            (w[None, :] @ both)[0, :],
            (w[None, :] @ (both * both))[0, :],
            (w[None, :] @ e)[0, :],
            (w[None, :] @ (e * e))[0, :],
            xp.sum(w),
        )

    products, *sums_, total = rows.reduce(sums, X, residuals, weight, width=4 * X.shape[1])
    mean, square, e_mean, e_square = (each / total for each in sums_)
    covariance = products / total - np.outer(mean, e_mean)
    # Neither a constant input nor a residual of zero explains anything.
    variances = np.outer(square - mean**2, e_square - e_mean**2)
    shares = np.where(variances > 1e-24, covariance**2 / np.maximum(variances, 1e-24), 0.0)
    best = np.max(shares.reshape(2, -1, shares.shape[1]), axis=0)
    return np.maximum(best - TELLING * np.median(best, axis=0), 0.0)


def along_the_slope(
    rows: Rows,
    X: Column,
    residuals: Column,
    weight: Column,
    activation: str,
    told: HostArray | None = None,
) -> Nodes:
    """Return candidates along the direction in which each output's residual rises.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    X, residuals, weight : columns
        Inputs, residuals of shape (n_rows, n_outputs), weights.
    activation : str
        See `Nodes`.
    told : array of shape (n_features, n_outputs) or None
        What `telling` returns: inputs that tell nothing are left out. None: all are asked.

    Returns
    -------
    Nodes
        As many for each output as `ALONG` has entries.
    """

    def sums(x: Array, e: Array, w: Array) -> tuple[Array, ...]:
        xp = namespace(x)
        weighted = (x * w[:, None]).T
        return weighted @ x, weighted @ e, xp.sum(weighted, axis=1), w[None, :] @ e, xp.sum(w)

    products, moments, x_sum, e_sum, total = rows.reduce(
        sums, X, residuals, weight, width=2 * X.shape[1]
    )
    centre = x_sum / total
    covariance = products / total - np.outer(centre, centre)
    moments = moments / total - np.outer(centre, e_sum[0] / total)
    # The second term is for inputs that are all constant.
    ridge = RIDGE * np.trace(covariance) / len(covariance) + 1e-12
    penalised = covariance + ridge * np.eye(len(covariance))
    if told is None:
        slopes = np.linalg.solve(penalised, moments)
    else:
        slopes = np.zeros_like(moments)
        for output in range(moments.shape[1]):
            at = np.flatnonzero(told[:, output])
            slopes[at, output] = np.linalg.solve(penalised[np.ix_(at, at)], moments[at, output])
    deviation = np.sqrt(np.maximum(np.sum(slopes * (covariance @ slopes), axis=0), 1e-300))
    directions = slopes / deviation
    weights = np.hstack([steepness * directions for steepness, _ in ALONG])
    biases = [-steepness * (centre @ directions + place) for steepness, place in ALONG]
    # Rounded, so that machines whose sums differ in the last bits have the same candidates.
    weights = np.round(weights * ROUNDED) / ROUNDED
    rounded = np.round(np.concatenate(biases) * ROUNDED) / ROUNDED
    return Nodes(weights, rounded, activation).beside(X)
