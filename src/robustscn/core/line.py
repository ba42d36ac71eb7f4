"""A robust plane through the latest rows of a stream: what networks must earn their place against.

Ridge regression under robust weights, solved by reweighting (IRLS): a few steps under Huber's
weights, which find the majority from anywhere, then under those of Geman and McClure, which forget
the rest. So few numbers are learned from so many rows that a burst of wrong ones, which a network
would bend to, stays strange.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import HostArray
from .channel import LEVEL
from .running import LEAST, far, inlier_weight, running_scales

HUBER_STEPS, STEPS = 6, 6
"""Reweightings from nothing, of either kind. Measured on streams of development: three of either
err more on some; more than six were not tried."""

MORE_STEPS = 2
"""Reweightings from the plane before. By argument: it was right but for the latest rows."""

FIRST_RIDGE = 1e-4
"""The penalty before slopes are known, for each unit of weight and inputs of deviation one: enough
to solve, and hardly seen."""

LEAST_RIDGE, LARGEST_RIDGE = 1e-6, 1.0
"""Bounds of the penalty: the first keeps inputs apart that are nearly the same, the other halves
slopes of inputs that do not depend on each other. By argument."""


@dataclass(frozen=True)
class Line:
    """A plane, and a level that follows faster.

    Parameters
    ----------
    centre : array of shape (n_features,)
        Inputs at which the constant is meant.
    slopes : array of shape (n_features, n_outputs)
        For raw inputs.
    constant : array of shape (n_outputs,)
        What is predicted at the centre.
    tail : array of shape (LEVEL, n_outputs)
        Last errors that were believed.
    """

    centre: HostArray
    slopes: HostArray
    constant: HostArray
    tail: HostArray

    def says(self, X: HostArray) -> HostArray:
        """Return predictions, shape (n_rows, n_outputs)."""
        return (X - self.centre) @ self.slopes + self.constant


def robust_line(X: HostArray, y: HostArray, weight: HostArray, before: Line | None = None) -> Line:
    """Return the plane that most rows follow.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Raw inputs.
    y : array of shape (n_rows, n_outputs)
        Targets.
    weight : array of shape (n_rows,)
        The caller's weights.
    before : Line or None
        Where to begin; None begins with the median of the targets.

    Returns
    -------
    Line
        Its last errors are those of the latest rows, or those before, moved as predictions were.
    """
    total = weight.sum()
    centre = weight @ X / total
    offset = X - centre
    width = np.sqrt(weight @ (offset * offset) / total)
    width[width == 0.0] = 1.0
    columns = np.concatenate([offset / width, np.ones((len(X), 1)), y], axis=1)
    n = X.shape[1]
    if before is None:
        says, slopes, steps = np.median(y, axis=0), np.zeros((n, y.shape[1])), HUBER_STEPS + STEPS
    else:
        says, slopes, steps = before.says(X), before.slopes * width[:, None], MORE_STEPS
    for step in range(steps):
        scales = running_scales(y - says)
        distance = far(y - says, scales)
        huber = step < steps - STEPS
        believed = weight * (1.0 / np.maximum(1.0, distance) if huber else inlier_weight(distance))
        gram = (columns * believed[:, None]).T @ columns
        penalty = _ridge(slopes / scales, float(believed.sum())) if before or step else FIRST_RIDGE
        gram.flat[: n * len(gram) : len(gram) + 1] += penalty * believed.sum()
        solution = np.linalg.solve(gram[: n + 1, : n + 1], gram[: n + 1, n + 1 :])
        says, slopes = columns[:, : n + 1] @ solution, solution[:-1]
    return Line(centre, slopes / width[:, None], solution[-1], y[-LEVEL:] - says[-LEVEL:])


def _ridge(slopes: HostArray, total: float) -> float:
    """Return Hoerl, Kennard and Baldwin's ridge, for each unit of weight.

    Parameters
    ----------
    slopes : array of shape (n_features, n_outputs)
        For inputs of deviation one, in standard deviations of the errors.
    total : float
        Weight of the rows.

    Returns
    -------
    float
        As many as there are slopes, over their squares: one that says nothing is drawn to zero.
    """
    squares = float(np.sum(np.minimum(np.abs(slopes), 1e100) ** 2))
    highest = slopes.size / max(total * squares, LEAST)
    return min(max(highest, LEAST_RIDGE), LARGEST_RIDGE)
