"""Drift: residuals that leave zero at some time and move away steadily until the table ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .others import memory_of, spread

Array = NDArray[np.float64]

BINS = 240
"""Means of neighbouring rows that a line is laid through: a matter of time only."""
FEWEST_ROWS = 60
_LARGEST = 5.0
_LEAST_CHANGE = 1.0
"""Standard deviations of a residual that a drift must come to."""
_PARTS, _STRAIGHT = 6, 3.0
"""Parts of a steep drift, and how many deviations from its line may not come to a third of it. By
argument: a random walk strays from its line by a quarter of its way."""
_SURE = 5.0
"""Standard errors that a drift must be from none. By argument: some 200 beginnings are tried, and
residuals remember more than one number says."""


class Ramp(NamedTuple):
    """A drift: where it begins, and how far it comes, in robust standard deviations."""

    first: int
    change: float


def ramp_of(deviations: Array) -> Ramp | None:
    """Return the drift at the end of a sequence of residuals, where there is one.

    Parameters
    ----------
    deviations : ndarray of shape (n_rows,)
        Residuals in robust standard deviations, in order.

    Returns
    -------
    Ramp or None
        None where nothing, or a step, describes the residuals as well.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn.looks.ramps import ramp_of
    >>> noise = np.random.default_rng(0).normal(size=1000)
    >>> ramp_of(noise) is None
    True
    >>> drifting = noise + np.clip(np.arange(1000) - 700, 0, None) / 100
    >>> found = ramp_of(drifting)
    >>> bool(abs(found.first - 700) < 60), bool(abs(found.change - 3) < 0.5)
    (True, True)
    """
    n = len(deviations)
    if n < FEWEST_ROWS:
        return None
    width = -(-n // BINS)
    edges = np.arange(0, n, width)
    middle = float(np.median(deviations[: n // 2]))
    bounded = np.clip(deviations - middle, -_LARGEST, _LARGEST)
    means = np.add.reduceat(bounded, edges) / np.diff(np.append(edges, n))
    starts = np.arange(len(means) // 10, len(means) - len(means) // 12)
    places = np.arange(len(means))
    ramps = np.clip(places[None, :] - starts[:, None] + 1.0, 0.0, None)
    steps = (places[None, :] >= starts[:, None]).astype(float)
    slopes, left = _fitted(ramps, means)
    best = int(np.argmin(left))
    left_by_steps = _fitted(steps, means)[1]
    if left[best] > 0.98 * left_by_steps.min():
        return _steep(deviations - middle, int(edges[starts[np.argmin(left_by_steps)]]))
    shape = ramps[best] - ramps[best].mean()
    rest = means - means.mean() - slopes[best] * shape
    memory = memory_of(rest / max(float(rest.std()), 1e-300))
    error = float(rest.std()) * np.sqrt((1 + memory) / (1 - memory) / (shape @ shape))
    change = float(slopes[best] * ramps[best][-1])
    if abs(slopes[best]) < _SURE * error or abs(change) < _LEAST_CHANGE:
        return None
    return Ramp(int(edges[starts[best]]), change)


def _steep(residuals: Array, first: int) -> Ramp | None:
    """Return a drift so far beyond the noise that, once residuals are bounded, it is a step.

    Medians of parts need no bound: they must rise from next to nothing, each further than the one
    before and all nearly on a line.
    """
    tail = residuals[first:]
    if len(tail) < FEWEST_ROWS:
        return None
    parts = np.array_split(np.arange(len(tail)), _PARTS)
    medians = np.array([np.median(tail[part]) for part in parts])
    slope, start = np.polyfit([part.mean() for part in parts], medians, 1)
    change = float(slope * len(tail))
    off_line = spread(tail - start - slope * np.arange(len(tail)))
    grows = bool((np.diff(medians) * np.sign(change) > 0).all())
    near = max(abs(start), _STRAIGHT * off_line, _STRAIGHT * spread(residuals[:first]))
    return Ramp(first, change) if grows and abs(change) > max(_LARGEST, 3 * near) else None


def _fitted(shapes: Array, means: Array) -> tuple[Array, Array]:
    """Return the slope of each shape beside a constant, and the squares that it leaves."""
    centred = shapes - shapes.mean(axis=1, keepdims=True)
    target = means - means.mean()
    slopes = centred @ target / np.maximum((centred**2).sum(axis=1), 1e-300)
    left = target @ target - slopes * (centred @ target)
    return slopes, left
