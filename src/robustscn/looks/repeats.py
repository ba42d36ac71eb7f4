"""Values that repeat where measured ones do not: a sensor that is stuck, a result that is held."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .finding import Finding
from .order import Order
from .segments import maximal_segments, odds, usual_rate

FEWEST_TIES = 4
"""Values equal to the one before it that a stretch must have."""
_INSIDE = 0.85
_SURE = 5.0
_CONSTANT = 0.8
"""Share of a stretch that is one value where a sensor is stuck: spikes may lie within. By argument;
where values are held one after the other, each has far less."""


def repeated(name: str, values: NDArray[np.float64], order: Order) -> Iterator[Finding]:
    """Find stretches in which a column repeats its values, unlike elsewhere.

    Parameters
    ----------
    name : str
        The column.
    values : ndarray of shape (n_rows,)
        Numbers and NaN, in the order of the table.
    order : Order
        In which order rows follow each other.

    Yields
    ------
    Finding
        "stuck" where one value repeats, "held" where several do.
    """
    rows = order.rows[np.isfinite(values[order.rows])]
    along = values[rows]
    if len(np.unique(along)) < 10:
        return  # a setting, not a measurement
    tie = np.append(False, along[1:] == along[:-1])
    usual = usual_rate(tie)
    if usual >= 0.5:
        yield _held_throughout(name, rows, along, tie)
        return
    rate = float(np.clip(usual, 2e-3, 0.5))
    for first, end, _ in maximal_segments(odds(tie, _INSIDE, rate), np.log(len(rows)) + _SURE):
        if tie[first:end].sum() < FEWEST_TIES:
            continue
        stretch = slice(first - 1, end)  # the first tie repeats the value before it
        finding = _stretch(name, rows[stretch], along[stretch], along, order)
        if finding is not None:
            yield finding


def _held_throughout(
    name: str,
    rows: NDArray[np.int64],
    along: NDArray[np.float64],
    tie: NDArray[np.bool_],
) -> Finding:
    runs = np.diff(np.flatnonzero(np.append(~tie, True)))
    words = (
        f"repeats each value about {np.median(runs):.0f} times: held between samples? "
        f"There are {len(runs):,} measurements in {len(along):,} rows"
    )
    return Finding(name, "held", words, rows[tie])


def _stretch(
    name: str,
    rows: NDArray[np.int64],
    here: NDArray[np.float64],
    along: NDArray[np.float64],
    order: Order,
) -> Finding | None:
    repeats = np.append(False, here[1:] == here[:-1])
    core = _constant(here, repeats)
    if core is not None:
        rows, here = rows[core], here[core]
        value = here[0]
        if value in (along.min(), along.max()) and _returns_to(along, float(value)):
            return None  # a pump that is off, a scale at its end
        words = f"is constant at {value:.6g} for {order.length(rows)}"
        where = order.where(int(rows[0]), int(rows[-1]))
        return Finding(name, "stuck", words, rows[here == value][1:], where)
    runs = np.diff(np.flatnonzero(np.append(~repeats, True)))
    words = f"holds each value for about {np.median(runs):.0f} rows during {order.length(rows)}"
    return Finding(name, "held", words, rows[repeats], order.where(int(rows[0]), int(rows[-1])))


def _constant(here: NDArray[np.float64], repeats: NDArray[np.bool_]) -> slice | None:
    """Return from where to where one value is nearly all there is, if most repeats are there."""
    values, counts = np.unique(here, return_counts=True)
    places = np.flatnonzero(here == values[counts.argmax()])
    core = slice(int(places[0]), int(places[-1]) + 1)
    mostly = len(places) >= _CONSTANT * (core.stop - core.start)
    return core if mostly and repeats[core].sum() > 0.5 * repeats.sum() else None


def _returns_to(along: NDArray[np.float64], value: float, times: int = 4) -> bool:
    at = along == value
    return int(np.sum(at[1:] & ~at[:-1]) + at[0]) >= times
