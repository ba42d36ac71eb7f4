"""How sure: which rows are flagged at a stated rate of error, and how far predictions may be off.

Both follow from standardised residuals, taken for a mixture of right and wrong rows (`mixture`),
each output's for itself.

- A row's probability to be wrong, in any output. Flagged are the most probable ones, as many as
  there may be so that no more than the allowed share of them is expected to be right: the false
  discovery rate.
- The distribution of the residuals of right rows: that of all rows, less what wrong ones are
  expected to have of it. Trimmed by their own residuals, rows would look closer together than they
  are.

Noise may be skewed: a row is far if it is far for its side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, HostArray, histogram, like, namespace
from .mixture import BINS, Kinds, bin_of, kinds_in
from .right_quantiles import right_quantiles
from .rows import Column, Rows, Totals, filled
from .scale import NORMAL_MAD
from .statistics import quantile, total_weight

ODDS = 4096
"""Bins for the odds that a row is wrong, even in their logarithm: steps of 2 %, finer than the odds
are known. Changes memory on a cluster, hardly a flag."""

LONGEST_ODDS = 40.0
"""Logarithm of odds beyond which one is as good as another: e^40 is more than any rate of error
asks about."""

SIDES_DIFFER = 3.0
"""Standard errors by which the scales of the two sides must differ to be two. By argument: at
three, even noise is called skewed in three fits of a thousand."""

TRIMMED = 4
"""How often the scale of a side is taken anew without rows beyond three of it. By argument."""

LEAST = 0.2
"""Probability to be wrong that a flagged row has at least: sure rows would make room for some that
are hardly suspect, and nobody wants these on a list. Not more, because probabilities are cautious
(of flagged rows half as many are right as `fdr` allows): at a half, rows six deviations off were
missed."""


@dataclass(frozen=True)
class Certainty:
    """What the residuals of all rows say about right and wrong ones.

    Parameters
    ----------
    kinds : tuple of Kinds
        What right and wrong rows look like in each output.
    below, above : array of shape (n_outputs,)
        Robust standard deviation of standardised residuals on each side.
    share : float
        Share of wrong rows.
    cut : float
        Probability to be wrong beyond which rows are flagged.
    quantiles : array of shape (2000, n_outputs)
        Standardised residuals of right rows, from the smallest to the largest.
    """

    kinds: tuple[Kinds, ...]
    below: HostArray
    above: HostArray
    share: float
    cut: float
    quantiles: HostArray


def certainty_of(
    rows: Rows,
    standardised: Column,
    sample_weight: Column,
    rate: float,
    trusted: Column | None = None,
) -> tuple[Certainty, Column]:
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
    trusted : column of shape (n_rows,) or None
        One where a row is known to be right, else zero.

    Returns
    -------
    Certainty, column of shape (n_rows,)
        And each row's probability to be wrong.
    """
    n_outputs = standardised.shape[1]
    below, above = _sides(rows, standardised, sample_weight)
    far = rows.map(lambda z: namespace(z).abs(_sided(z, below, above)), standardised)

    known = filled(rows, 0.0, sample_weight) if trusted is None else trusted

    def counts(d: Array, w: Array, known: Array) -> Totals:
        asked = w * (1.0 - known)
        columns = [histogram(bin_of(d[:, q]), asked, BINS) for q in range(n_outputs)]
        return (np.stack(columns),)

    (mass,) = rows.reduce(counts, far, sample_weight, known)
    kinds = tuple(kinds_in(each / max(each.sum(), 1e-300)) for each in mass)

    def right(d: Array, known: Array) -> Array:
        columns = [1.0 - kind.probability_wrong(d[:, q]) for q, kind in enumerate(kinds)]
        return namespace(d).maximum(namespace(d).stack(columns, axis=1), known[:, None])

    def wrong(d: Array, known: Array) -> Array:
        each = right(d, known)
        product = each[:, 0]
        for q in range(1, n_outputs):
            product = product * each[:, q]
        return 1.0 - product

    probability = rows.map(wrong, far, known)
    share, cut = _share_and_cut(rows, probability, sample_weight, rate)

    def masses(z: Array, d: Array, w: Array, known: Array) -> Totals:
        xp, asked, columns = namespace(z), w * (1.0 - known), []
        for q, kind in enumerate(kinds):
            place = bin_of(d[:, q]) + BINS * xp.astype(z[:, q] >= 0, xp.int64)
            wrong = asked * kind.probability_wrong(d[:, q])
            columns.append([histogram(place, each, 2 * BINS) for each in (asked, w * known, wrong)])
        return (np.array(columns),)

    (mass,) = rows.reduce(masses, standardised, far, sample_weight, known)
    quantiles = [
        right_quantiles(counted, sure, wrong.sum(axis=1), kind, (below[q], above[q]))
        for q, (kind, (counted, sure, wrong)) in enumerate(
            zip(kinds, mass.reshape(n_outputs, 3, 2, BINS), strict=True)
        )
    ]
    found = Certainty(kinds, below, above, share, cut, np.stack(quantiles, axis=1))
    return found, probability


def _share_and_cut(
    rows: Rows, probability: Column, sample_weight: Column, rate: float
) -> tuple[float, float]:
    """Return the share of wrong rows, and the smallest probability at which rows are flagged.

    That at which the rate holds, or `LEAST`.
    """

    def sums(p: Array, w: Array) -> Totals:
        xp = namespace(p)
        odds = xp.log(xp.clip(p, 1e-17, None)) - xp.log(xp.clip(1.0 - p, 1e-17, None))
        place = (xp.clip(odds / LONGEST_ODDS, -1.0, 1.0) + 1.0) * (0.5 * (ODDS - 1))
        place = xp.astype(xp.floor(place), xp.int64)
        return histogram(place, w, ODDS), histogram(place, w * (1.0 - p), ODDS)

    mass, right = rows.reduce(sums, probability, sample_weight)
    beyond, right_beyond = np.cumsum(mass[::-1])[::-1], np.cumsum(right[::-1])[::-1]
    share = float(1.0 - right_beyond[0] / beyond[0])
    few = (right_beyond <= rate * beyond) & (beyond > 0)
    if not np.any(few):
        # No row that counts; one that does not may still be probable enough by itself.
        return share, 1.0 - rate
    odds = LONGEST_ODDS * (2.0 * np.argmax(few) / (ODDS - 1) - 1.0)
    return share, max(LEAST, float(1.0 / (1.0 + np.exp(-odds))))


def _sides(rows: Rows, standardised: Column, sample_weight: Column) -> tuple[HostArray, HostArray]:
    """Return the robust standard deviations of residuals below and above zero.

    Of rows within three of their own side's. Both are one where they do not clearly differ.
    """
    scales, counts = np.ones((2, standardised.shape[1])), np.zeros((2, standardised.shape[1]))
    for side, sign in enumerate((-1.0, 1.0)):
        for q in range(standardised.shape[1]):
            size = rows.map(lambda z, q=q, s=sign: s * z[:, q], standardised)
            limit = float("inf")
            for _ in range(TRIMMED):
                own = rows.map(lambda z, w, limit=limit: _within(z, w, limit), size, sample_weight)
                count = total_weight(rows, own)
                if not count > 0:
                    break
                scales[side, q] = max(NORMAL_MAD * quantile(rows, size, own, 0.5), 1e-30)
                counts[side, q] = count
                limit = 3.0 * float(scales[side, q])
    # The relative error of a median absolute deviation is about 1.17 / sqrt(rows).
    error = 1.17 * np.sqrt(np.sum(1.0 / np.maximum(counts, 1.0), axis=0))
    differ = np.abs(np.log(scales[1] / scales[0])) > SIDES_DIFFER * error
    below, above = np.where(differ, scales, 1.0)
    return below, above


def _within(size: Array, weight: Array, limit: float) -> Array:
    xp = namespace(size)
    return xp.where((size > 0) & (size <= limit), weight, xp.zeros_like(weight))


def _sided(standardised: Array, below: HostArray, above: HostArray) -> Array:
    xp = namespace(standardised)
    low, high = like(below, standardised), like(above, standardised)
    return xp.where(standardised < 0, standardised / low, standardised / high)
