"""How errors are written: in tables, claims and sentences alike."""

from __future__ import annotations

from .published import Printed
from .results import Summary

NONE = "-"
NEEDED = "what the printed figures seem to need"
"""How errors that were chosen on the test rows are called wherever they stand: not a result."""


def number(value: float) -> str:
    """Return an error with three digits that count, four decimals at least."""
    return f"{value:.4f}" if value >= 0.001 else f"{value:.5f}"


def carried(found: Summary | Printed | None) -> bool:
    """Return whether a few trials carry the mean: then the median says more."""
    return isinstance(found, Summary) and found.std > found.mean


def usual(found: Summary | Printed) -> float:
    """Return the mean, or the median where a few trials carry the mean."""
    return found.median if isinstance(found, Summary) and carried(found) else found.mean


def mean_of(found: Summary | Printed | None) -> str:
    """Return a mean, or a median with an m."""
    if found is None:
        return NONE
    return number(usual(found)) + (" m" if carried(found) else "")


def with_ratio(ours: Summary | None, printed: Printed | None) -> list[str]:
    """Return the paper's mean, and ours with how many times the paper's it is."""
    text = mean_of(ours)
    if ours and printed:
        text += f" ({usual(ours) / printed.mean:.2f})"
    return [mean_of(printed), text]


def without_ratio(ours: Summary | None, printed: Printed | None) -> list[str]:
    """Return the two means: simulated and private data are not divided by each other."""
    return [mean_of(printed), mean_of(ours)]


def deviations(ours: Summary | None, printed: Printed | None) -> list[str]:
    """Return the two standard deviations over trials; our mean too, where the median was given."""
    found = (printed.std if printed else None, ours.std if ours else None)
    cells = [NONE if s is None else number(s) if s >= 1e-4 else f"{s:.0e}" for s in found]
    if ours and carried(ours):
        cells[1] = f"{ours.std:.3g} ({ours.mean:.3g})"
    return cells
