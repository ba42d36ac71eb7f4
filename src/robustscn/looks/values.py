"""Single values that cannot be measurements: marks in disguise, percent beyond 100, slips."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .finding import Finding, counted
from .order import Order

_MARKS = {-999.0, -9999.0, -99999.0, -99.0, 999.0, 9999.0, 99999.0, 999999.0, -32768.0} | {
    *(32767.0, 65535.0, -999.25, -9999.25, 1e30, -1e30, -99.9, -999.9, 999.9, 9999.9)
}
_PERCENT = re.compile(r"(?i)%|percent|prozent|(?:^|[^a-z])(pct|humidity|moisture|purity)")
_LOWEST = {"°C": -273.15, "°F": -459.67, "K": 0.0, "%": 0.0}
FEW = 0.05
"""More rows than this share are no slips but a way of measuring."""
FACTORS = (10.0, 100.0, 1000.0)


def odd_values(
    name: str, values: NDArray[np.float64], order: Order, unit: str = ""
) -> Iterator[Finding]:
    """Find values that are no measurements.

    Parameters
    ----------
    name : str
        The column.
    values : ndarray of shape (n_rows,)
        Numbers and NaN.
    order : Order
        What rows are called.
    unit : str
        The column's unit, where it is known.

    Yields
    ------
    Finding
        "sentinel", "impossible" or "unit".
    """
    known = np.isfinite(values)
    if known.sum() < 20 or len(np.unique(values[known])) < 5:
        return
    taken = np.zeros(len(values), dtype=bool)
    for finding in _sentinels(name, values, order):
        taken[finding.rows] = True
        yield finding
    rest = np.where(taken, np.nan, values)
    for finding in _impossible(name, rest, order, unit):
        taken[finding.rows] = True
        yield finding
    yield from _slips(name, np.where(taken, np.nan, values), order)


def _finding(name: str, kind: str, words: str, rows: NDArray[np.int64], order: Order) -> Finding:
    return Finding(name, kind, words, rows, order.some(rows))


def _sentinels(name: str, values: NDArray[np.float64], order: Order) -> Iterator[Finding]:
    known = values[np.isfinite(values)]
    levels, counts = np.unique(known, return_counts=True)
    ends = np.unique(np.r_[0:3, -3:0] % len(levels))  # marks lie beyond all measurements
    for level, count in zip(levels[ends], counts[ends], strict=True):
        if count < 3 and level not in _MARKS:
            continue
        others = known[known != level]
        if count > 0.5 * len(known) or len(others) < 20:
            continue
        low, high = np.quantile(others, [0.01, 0.99])
        far = 2 * (high - low) + 1e-12
        alone = level < low - far or level > high + far
        if alone and (count >= 3 or level in _MARKS):
            rows = np.flatnonzero(values == level)
            words = f"is {level:.6g} in {counted(rows)}, far from all else: a mark for nothing?"
            remedy = f" (--na {level:.6g} reads it so)"
            yield _finding(name, "sentinel", words + remedy, rows, order)


def _impossible(
    name: str, values: NDArray[np.float64], order: Order, unit: str
) -> Iterator[Finding]:
    known = np.isfinite(values)
    few = max(1.0, FEW * known.sum())
    with np.errstate(invalid="ignore"):
        if unit == "%" or (not unit and _PERCENT.search(name)):
            over = np.flatnonzero(values > 100.5)
            if 0 < len(over) <= few and np.nanmedian(values) > 1.5:
                yield _finding(name, "impossible", f"is over 100 % in {counted(over)}", over, order)
        if unit in _LOWEST:
            under = np.flatnonzero(values < _LOWEST[unit])
            if 0 < len(under) <= few:
                words = f"is below {_LOWEST[unit]:g} {unit} in {counted(under)}"
                yield _finding(name, "impossible", words, under, order)
                return
        negative = np.flatnonzero(values < 0)
        positive = values[known & (values > 0)]
        if 0 < len(negative) <= min(few, 0.01 * known.sum() + 1) and len(positive) > 20:
            # By far: the usual values do not come near zero.
            low, middle = np.quantile(positive, [0.01, 0.5])
            if low > 0.05 * middle and len(positive) + len(negative) == known.sum():
                words = f"is negative in {counted(negative)} and positive by far in all others"
                yield _finding(name, "impossible", words, negative, order)


def _apart(logs: NDArray[np.float64], rows: NDArray[np.int64], beyond: NDArray[np.bool_]) -> bool:
    """Return whether values that may be slips are no tail: nothing lies between them and others."""
    away = logs[rows] - np.nanmedian(logs)
    side = np.sign(np.median(away))
    near = np.flatnonzero(beyond & (side * (logs - np.nanmedian(logs)) > 0))
    between = np.setdiff1d(near, rows)
    closer = np.abs(logs[between] - np.nanmedian(logs)) < np.abs(away).min()
    return int(closer.sum()) <= 0.2 * len(rows)


def _slips(name: str, values: NDArray[np.float64], order: Order) -> Iterator[Finding]:
    """Find values that are ten, a hundred or a thousand times what they should be, or a part."""
    with np.errstate(invalid="ignore"):
        positive = values > 0
    if positive.sum() < 0.98 * np.isfinite(values).sum() or positive.sum() < 30:
        return
    logs = np.full(len(values), np.nan)
    logs[positive] = np.log(values[positive])
    middle = np.nanmedian(logs)
    low, high = np.nanquantile(logs, [0.05, 0.95])
    if high - low > 0.6 * np.log(10):
        return  # the column spans so much that a tenth of a value may be one
    for factor in FACTORS:
        for direction in (1, -1):
            step = direction * np.log(factor)
            with np.errstate(invalid="ignore"):
                there = (np.abs(logs - middle) > 0.6 * np.log(factor)) & (
                    (logs - step > low - 0.2 * (high - low))
                    & (logs - step < high + 0.2 * (high - low))
                )
                beyond = (logs > high + 0.5 * (high - low)) | (logs < low - 0.5 * (high - low))
            rows = np.flatnonzero(there & beyond & (np.abs(logs - middle) < 1.5 * np.log(factor)))
            if 0 < len(rows) <= FEW * len(values) + 1 and _apart(logs, rows, beyond):
                times = f"{factor:g} times" if direction > 0 else f"1/{factor:g} of"
                words = (
                    f"is about {times} its usual value in {counted(rows)}: unit or decimal sign?"
                )
                logs[rows] = np.nan
                yield _finding(name, "unit", words, rows, order)
