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
from .mixture import BINS, CENTRES, UNIT, Kinds, bin_of, kinds_in
from .rows import Column, Rows, Totals
from .scale import distances, trimmed_scales

SIDES_DIFFER = 3.0
"""Standard errors by which the scales of the two sides must differ to be two."""

QUANTILES = (np.arange(2000) + 0.5) / 2000
"""Shares at which the distribution of right rows is kept."""


@dataclass(frozen=True)
class Certainty:
    """What the residuals of all rows say about right and wrong ones.

    Parameters
    ----------
    kinds : Kinds
        What right and wrong rows look like.
    cut : float
        Distance beyond which rows are flagged.
    below, above : array of shape (n_outputs,)
        Robust standard deviation of standardised residuals on each side.
    quantiles : array of shape (2000, n_outputs)
        Standardised residuals of right rows, from the smallest to the largest.
    """

    kinds: Kinds
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
        return rows.map(self.kinds.probability_wrong, distance)


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
    (mass,) = rows.reduce(lambda d, w: (histogram(bin_of(d), w, BINS),), distance, sample_weight)
    kinds = kinds_in(mass / mass.sum())
    cut = _cut(mass, kinds.probability_wrong(CENTRES), rate)

    def masses(z: Array, d: Array, w: Array) -> Totals:
        xp = namespace(z)
        right = w * (1.0 - kinds.probability_wrong(d))
        columns = []
        for q in range(z.shape[1]):
            place = bin_of(xp.abs(z[:, q])) + BINS * xp.astype(z[:, q] >= 0, xp.int64)
            columns.append(histogram(place, right, 2 * BINS))
        return (np.stack(columns, axis=1),)

    (mass,) = rows.reduce(masses, standardised, distance, sample_weight)
    edges = np.expm1(UNIT * np.arange(BINS + 1))
    ends = np.concatenate([-edges[:0:-1], edges])
    quantiles = [
        np.interp(QUANTILES, np.concatenate([[0.0], np.cumsum(m) / m.sum()]), ends)
        for m in np.concatenate([mass[BINS - 1 :: -1], mass[BINS:]]).T
    ]
    return Certainty(kinds, cut, below, above, np.stack(quantiles, axis=1))


def _cut(mass: HostArray, wrong: HostArray, rate: float) -> float:
    """Return the smallest distance beyond which few enough rows are expected to be right."""
    beyond = np.cumsum(mass[::-1])[::-1]
    right = np.cumsum((mass * (1.0 - wrong))[::-1])[::-1]
    few = (right <= rate * beyond) & (beyond > 0)
    first = int(np.argmax(few)) if np.any(few) else BINS
    return float(np.expm1(UNIT * first))


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
