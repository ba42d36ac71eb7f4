"""Stretches in which a column has another unit or level than elsewhere, and slow drift."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from .finding import Finding
from .order import Order
from .segments import maximal_segments, odds

FEWEST_ROWS = 6
FEWEST_CONVERTED = 12
"""Rows from which on a stretch may be another unit that is no power of ten: of fewer, chance and a
gust of wind look like one."""
_SURE = 6.0


class Conversion(NamedTuple):
    """Value here = slope * value there + start, and how a person would say it."""

    slope: float
    start: float
    words: str


CONVERSIONS = (
    Conversion(1 / 1.8, -32 / 1.8, "value / 1.8 - 17.8: °F read as °C"),
    Conversion(1.8, 32.0, "value x 1.8 + 32: °C read as °F"),
    *(Conversion(f, 0.0, f"{f:g} times the value") for f in (10.0, 100.0, 1000.0)),
    *(Conversion(1 / f, 0.0, f"value / {f:g}") for f in (10.0, 100.0, 1000.0)),
    Conversion(2.20462, 0.0, "value x 2.205: kg as lb"),
    Conversion(1 / 2.20462, 0.0, "value / 2.205: lb as kg"),
    Conversion(14.5038, 0.0, "value x 14.5: bar as psi"),
    Conversion(1 / 14.5038, 0.0, "value / 14.5: psi as bar"),
    Conversion(1.0, 273.15, "value + 273: °C as K"),
    Conversion(1.0, -273.15, "value - 273: K as °C"),
    Conversion(3.6, 0.0, "value x 3.6"),
    Conversion(1 / 3.6, 0.0, "value / 3.6"),
    Conversion(-1.0, 0.0, "the value with its sign turned"),
)


def levels(name: str, values: NDArray[np.float64], order: Order) -> Iterator[Finding]:
    """Find stretches of another unit, and drift.

    Parameters
    ----------
    name : str
        The column.
    values : ndarray of shape (n_rows,)
        Numbers and NaN.
    order : Order
        In which order rows follow each other.

    Yields
    ------
    Finding
        "unit" or "drift".
    """
    rows = order.rows[np.isfinite(values[order.rows])]
    along = values[rows]
    if len(rows) < 60 or len(np.unique(along)) < 10:
        return
    outside = _beyond(along)
    found = list(_stretches(name, rows, along, outside, order))
    yield from found
    if not found and (drift := _drift(name, rows, along, order)):
        yield drift


def _beyond(along: NDArray[np.float64]) -> NDArray[np.bool_]:
    low, middle, high = np.quantile(along, [0.25, 0.5, 0.75])
    reach = 2.5 * max(high - low, 1e-9 * abs(middle), 1e-300)
    return np.asarray((along < low - reach) | (along > high + reach))


def _stretches(
    name: str,
    rows: NDArray[np.int64],
    along: NDArray[np.float64],
    outside: NDArray[np.bool_],
    order: Order,
) -> Iterator[Finding]:
    if not outside.any():
        return
    scores = odds(outside, 0.9, float(np.clip(outside.mean() / 4, 1e-3, 0.2)))
    usual = along[~outside]
    low, middle, high = np.quantile(usual, [0.05, 0.5, 0.95])
    for first, end, _ in maximal_segments(scores, np.log(len(rows)) + _SURE):
        here = along[first:end]
        if end - first < FEWEST_ROWS or end - first > 0.4 * len(rows):
            continue
        near = np.abs(np.median(here) - middle) < 2 * (high - low)
        for unit in CONVERSIONS:
            back = (here - unit.start) / unit.slope
            fits = np.mean((back >= low) & (back <= high))
            few = end - first < FEWEST_CONVERTED and np.log10(abs(unit.slope)) % 1 != 0
            if fits >= 0.6 and not (near and unit.slope == 1.0) and not few:
                words = f"is about {unit.words}, for {order.length(rows[first:end])}: unit?"
                break
        else:
            change = np.median(here) - middle
            words = f"has another level ({change:+.4g}) for {order.length(rows[first:end])}"
        kind = "level" if "another level" in words else "unit"
        where = order.where(int(rows[first]), int(rows[end - 1]))
        yield Finding(name, kind, words, rows[first:end], where)


def _drift(
    name: str, rows: NDArray[np.int64], along: NDArray[np.float64], order: Order
) -> Finding | None:
    """Return a slow rise or fall over the whole table, beyond what the values scatter.

    What never turns back counts something: batches, hours, energy. A sensor that drifts scatters.
    """
    steps = np.diff(along)
    if (steps >= 0).all() or (steps <= 0).all():
        return None
    blocks = np.array_split(np.arange(len(rows)), 12)
    medians = np.array([np.median(along[block]) for block in blocks])
    if abs(kendalltau(np.arange(12), medians).statistic) < 0.9:
        return None
    clock, unit = order.clock(rows)
    times = np.array([np.median(clock[block]) for block in blocks])
    if np.ptp(times) == 0:
        return None
    slope, start = np.polyfit(times, medians, 1)
    scatter = 1.4826 * np.median(np.abs(along - start - slope * clock))
    change = slope * (clock[-1] - clock[0])
    if abs(change) < 2 * scatter:
        return None
    words = f"drifts by {slope:+.3g} {unit}, {change:+.4g} in all"
    return Finding(name, "drift", words, np.empty(0, dtype=np.int64))
