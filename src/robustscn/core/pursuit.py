"""Candidates along the slope of the residual.

Random directions in many inputs are hardly ever the one in which the targets rise. A ridge
regression of the residual on the inputs finds that one, at the price of one reading of the rows.
Flat nodes along it make up a linear trend, steep ones what bends it.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, namespace
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


def along_the_slope(
    rows: Rows, X: Column, residuals: Column, weight: Column, activation: str
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
    slopes = np.linalg.solve(covariance + ridge * np.eye(len(covariance)), moments)
    deviation = np.sqrt(np.maximum(np.sum(slopes * (covariance @ slopes), axis=0), 1e-300))
    directions = slopes / deviation
    weights = np.hstack([steepness * directions for steepness, _ in ALONG])
    biases = [-steepness * (centre @ directions + place) for steepness, place in ALONG]
    # Rounded, so that machines whose sums differ in the last bits have the same candidates.
    weights = np.round(weights * ROUNDED) / ROUNDED
    rounded = np.round(np.concatenate(biases) * ROUNDED) / ROUNDED
    return Nodes(weights, rounded, activation).beside(X)
