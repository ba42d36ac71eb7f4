"""What may have gone wrong in a stretch, told from what was observed and what was expected."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .levels import CONVERSIONS

Array = NDArray[np.float64]

_NEAR = 0.35
"""Share of a multiple that a value may be off and still be about it. By argument: half as much
again is no longer about the same, and reaches to where twice and half the multiple begin."""


class Cause(NamedTuple):
    """A kind, in a word, and a sentence without a verb."""

    kind: str
    words: str


def cause_of(observed: Array, expected: Array, scale: float, along: Array, unit: str) -> Cause:
    """Return the likely cause of a stretch.

    Parameters
    ----------
    observed, expected : ndarray of shape (n_rows,)
        Targets as they came and as the model would have them, in order.
    scale : float
        One robust standard deviation of the residuals elsewhere.
    along : ndarray of shape (n_rows,)
        Time or place of each row.
    unit : str
        Of that: "a day", "an hour", "a row".

    Returns
    -------
    Cause
        "stuck", "unit", "drift", "shift" or "unclear".

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn.looks.causes import cause_of
    >>> expected = np.linspace(60.0, 90.0, 50)
    >>> along = np.arange(50.0)
    >>> cause_of((expected - 32) / 1.8, expected, 0.5, along, "a row").words
    'about value / 1.8 - 17.8: °F read as °C?'
    >>> cause_of(1.05 * expected, expected, 0.5, along, "a row").words
    'shift of +5 %'
    """
    scale = max(scale, 1e-12 * float(np.abs(expected).max(initial=0.0)), 1e-300)
    values, counts = np.unique(observed, return_counts=True)
    if len(observed) >= 5 and counts.max() >= 0.9 * len(observed):
        return Cause("stuck", f"constant at {values[counts.argmax()]:.6g}")
    residuals = observed - expected
    shift = float(np.median(residuals))
    left_by_shift = _spread(residuals - shift)
    best = min(
        CONVERSIONS, key=lambda c: float(np.median(np.abs(observed - c.start - c.slope * expected)))
    )
    left = float(np.median(np.abs(observed - best.start - best.slope * expected)))
    noise = max(1.0, abs(best.slope)) * scale
    if left < 2 * noise and left < 0.35 * float(np.median(np.abs(residuals))):
        return Cause("unit", f"about {best.words}?")
    ratio = _ratio(observed, expected)
    left_by_ratio = np.inf if ratio is None else _spread(observed - ratio * expected)
    left = min(left_by_shift, left_by_ratio)
    slope, start = _trend(residuals, along)
    change = slope * (along[-1] - along[0])
    drifted = _spread(residuals - start - slope * along)
    if len(residuals) >= 20 and drifted < 0.75 * left and abs(change) > 2 * scale:
        return Cause("drift", f"drift of {slope:+.3g} {unit}")
    if (left < 2.5 * scale and abs(shift) > 0.5 * scale) or abs(shift) > left:
        if ratio is not None and left_by_ratio <= 1.02 * left_by_shift:
            return Cause("shift", f"shift of {100 * (ratio - 1):+.2g} %")
        return Cause("shift", f"shift of {shift:+.3g}")
    return Cause("unclear", "no simple pattern: inputs wrong or swapped?")


def _ratio(observed: Array, expected: Array) -> float | None:
    """Return how many times what was expected was observed, where that can be said."""
    sized = np.abs(expected) > 1e-9 * np.abs(expected).max()
    if not sized.all() or (np.sign(expected) != np.sign(expected[0])).any():
        return None
    ratio = float(np.median(observed / expected))
    return ratio if abs(ratio - 1) < 2 else None


def _spread(values: Array) -> float:
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


def _trend(residuals: Array, along: Array) -> tuple[float, float]:
    """Return slope and start of a line through the medians of thirds, which spikes do not move."""
    order = np.argsort(along, kind="stable")
    thirds = np.array_split(order, 3)
    places = [float(np.median(along[third])) for third in thirds]
    heights = [float(np.median(residuals[third])) for third in thirds]
    run = places[2] - places[0]
    slope = (heights[2] - heights[0]) / run if run > 0 else 0.0
    start = float(np.mean([h - slope * p for h, p in zip(heights, places, strict=True)]))
    return slope, start


def slips(observed: Array, expected: Array, scale: float) -> str:
    """Say how many of single wrong values are ten, a hundred or a thousand times too much.

    Parameters
    ----------
    observed, expected : ndarray of shape (n_rows,)
        Targets as they came and as the model would have them.
    scale : float
        One robust standard deviation.

    Returns
    -------
    str
        Such as "3 of them about 10 times the value: decimal sign?", or nothing.
    """
    far = np.abs(observed - expected) > 3 * scale

    def near(factor: float) -> int:
        """Count values this many times what was expected, where that can be told from others."""
        reach = np.minimum(4 * factor * scale, _NEAR * factor * np.abs(expected))
        return int((far & (np.abs(observed - factor * expected) < reach)).sum())

    parts = []
    for factor in (10.0, 0.1, 100.0, 0.01, 1000.0, 0.001):
        n = near(factor)
        # Errors of any size fall beside a factor as often as on it; slips of the sign do not.
        if n >= 2 and n > 2 * (near(2 * factor) + near(factor / 2)):
            times = f"{factor:g} times the value" if factor > 1 else f"value / {1 / factor:g}"
            parts.append(f"{'all' if n == len(observed) else f'{n:,} of them'} about {times}")
    return ", ".join(parts[:2]) + (": decimal sign?" if parts else "")
