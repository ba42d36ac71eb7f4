"""How sure: which rows are flagged at a stated rate of error, and how far predictions may be off.

Both follow from standardised residuals, taken for a mixture of right and wrong rows (`mixture`).

- A row's probability to be wrong. Flagged are the rows beyond the smallest distance at which, of
  all rows beyond it, no more than the allowed share is expected to be right: the false discovery
  rate.
- The distribution of the residuals of right rows: each row counted by its probability to be right.
  Trimmed by their own residuals, rows would look closer together than they are.

Noise may be skewed: a row is far if it is far for its side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, HostArray, histogram, like, namespace
from .mixture import probability_wrong, share_and_width
from .rows import Column, Rows, Totals
from .scale import distances, trimmed_scales

BINS = 2048
"""Bins for the distances of each side, even in log(1 + distance)."""

FARTHEST = 1e6
"""Distance beyond which one is as far as another."""

SIDES_DIFFER = 3.0
"""Standard errors by which the scales of the two sides must differ to be two."""

QUANTILES = (np.arange(2000) + 0.5) / 2000
"""Shares at which the distribution of right rows is kept."""


@dataclass(frozen=True)
class Certainty:
    """What the residuals of all rows say about right and wrong ones.

    Parameters
    ----------
    share : float
        Share of wrong rows.
    width : float
        Their median distance.
    cut : float
        Distance beyond which rows are flagged.
    below, above : array of shape (n_outputs,)
        Robust standard deviation of standardised residuals on each side.
    quantiles : array of shape (2000, n_outputs)
        Standardised residuals of right rows, from the smallest to the largest.
    """

    share: float
    width: float
    cut: float
    below: HostArray
    above: HostArray
    quantiles: HostArray

    def distance(self, rows: Rows, standardised: Column) -> Column:
        """Return how far rows are for their side, in robust standard deviations."""
        sided = rows.map(lambda z: _sided(z, self.below, self.above), standardised)
        return distances(rows, sided)

    def probability(self, rows: Rows, distance: Column) -> Column:
        """Return how probable it is that rows at these distances are wrong."""
        return rows.map(lambda d: probability_wrong(d, self.share, self.width), distance)


def certainty_of(rows: Rows, standardised: Column, sample_weight: Column, rate: float) -> Certainty:
    """Return what standardised residuals say about right and wrong rows.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    standardised : column of shape (n_rows, n_outputs)
        Residuals in robust standard deviations.
    sample_weight : column of shape (n_rows,)
        How often each row counts.
    rate : float
        Share of right rows allowed among the flagged ones.

    Returns
    -------
    Certainty
        By expectation maximisation on a histogram.
    """
    below, above = _sides(rows, standardised, sample_weight)
    sided = rows.map(lambda z: _sided(z, below, above), standardised)
    distance = distances(rows, sided)
    unit = float(np.log1p(FARTHEST)) / BINS

    def bins(d: Array) -> Array:
        xp = namespace(d)
        place = xp.floor(xp.log1p(xp.clip(d, None, FARTHEST)) / unit)
        return xp.astype(xp.clip(place, None, BINS - 1.0), xp.int64)

    (mass,) = rows.reduce(lambda d, w: (histogram(bins(d), w, BINS),), distance, sample_weight)
    centre = np.expm1(unit * (np.arange(BINS) + 0.5))
    share, width = share_and_width(mass / mass.sum(), centre)
    cut = _cut(mass, centre, probability_wrong(centre, share, width), rate)

    def masses(z: Array, d: Array, w: Array) -> Totals:
        xp = namespace(z)
        right = w * (1.0 - probability_wrong(d, share, width))
        columns = []
        for q in range(z.shape[1]):
            place = bins(xp.abs(z[:, q])) + BINS * xp.astype(z[:, q] >= 0, xp.int64)
            columns.append(histogram(place, right, 2 * BINS))
        return (np.stack(columns, axis=1),)

    (mass,) = rows.reduce(masses, standardised, distance, sample_weight)
    edges = np.expm1(unit * np.arange(BINS + 1))
    ends = np.concatenate([-edges[:0:-1], edges])
    quantiles = [
        np.interp(QUANTILES, np.concatenate([[0.0], np.cumsum(m) / m.sum()]), ends)
        for m in np.concatenate([mass[BINS - 1 :: -1], mass[BINS:]]).T
    ]
    return Certainty(share, width, cut, below, above, np.stack(quantiles, axis=1))


def _cut(mass: HostArray, centre: HostArray, wrong: HostArray, rate: float) -> float:
    """Return the smallest distance beyond which few enough rows are expected to be right."""
    beyond = np.cumsum(mass[::-1])[::-1]
    right = np.cumsum((mass * (1.0 - wrong))[::-1])[::-1]
    few = right <= rate * beyond
    # The rate of the rows beyond falls with the distance, as each row's own probability does.
    first = int(np.argmax(few)) if np.any(few) else len(centre) - 1
    unit = np.log1p(centre[1]) - np.log1p(centre[0])
    return float(np.expm1(np.log1p(centre[first]) - 0.5 * unit))


def _sides(rows: Rows, standardised: Column, sample_weight: Column) -> tuple[HostArray, HostArray]:
    """Return the robust standard deviations of residuals below and above zero.

    Both are one where they do not clearly differ, or where a side has hardly a row.
    """
    sides = []
    for sign in (-1.0, 1.0):
        columns = []
        for q in range(standardised.shape[1]):
            one = rows.map(lambda z, q=q: z[:, q : q + 1], standardised)
            own = rows.map(
                lambda z, w, s=sign: w * namespace(w).astype(s * z[:, 0] > 0, w.dtype),
                one,
                sample_weight,
            )
            (count,) = rows.reduce(lambda w: (namespace(w).sum(w),), own)
            scale = trimmed_scales(rows, one, own)[0] if count > 0 else 1.0
            columns.append((scale, float(count)))
        sides.append(columns)
    below, above = (np.array([scale for scale, _ in side]) for side in sides)
    counts = np.array([[count for _, count in side] for side in sides])
    # The relative error of a median absolute deviation is about 1.17 / sqrt(rows).
    error = 1.17 * np.sqrt(np.sum(1.0 / np.maximum(counts, 1.0), axis=0))
    differ = np.abs(np.log(above / below)) > SIDES_DIFFER * error
    ones = np.ones_like(below)
    return np.where(differ, below, ones), np.where(differ, above, ones)


def _sided(standardised: Array, below: HostArray, above: HostArray) -> Array:
    xp = namespace(standardised)
    low, high = like(below, standardised), like(above, standardised)
    return xp.where(standardised < 0, standardised / low, standardised / high)
