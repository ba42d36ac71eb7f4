"""Weights that adapt to how dirty the rows are: how probable it is that a row is right.

A fixed curve must choose: one that is strict enough for rows of which a quarter is wrong throws
good ones away where none is. Here the residuals themselves say how many are wrong. They are taken
for a mixture of two kinds,

    right   Student's t with four degrees of freedom, one robust standard deviation wide,
    wrong   Cauchy, of unknown width,

whose shares and width are found by expectation maximisation. The tails of the second are the
heavier ones, so a larger residual is never the more probable to be right. Where the scale is held
above the rows' own, or outputs are many, distances have no such shape, and a fixed curve judges.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, HostArray, histogram, namespace
from .rows import Column, Rows
from .scale import distances, trimmed_scales

SUSPECT = 3.0
"""Distance beyond which rows are taken for wrong to begin with; also the least width."""

LEAST_SHARE = 0.002
"""Share of wrong rows that is always allowed for."""

MOST_OUTPUTS = 10
"""Beyond this the length of the residuals of a right row is nearly always the same."""

HELD = 0.999
"""Robust standard deviation of standardised residuals below which the scale was held up."""

BINS = 1024
"""Bins for the logarithm of the distance: the share and the width need no more detail."""

FARTHEST = 1e6
"""Distance beyond which one is as far as another."""

STEPS = 15
"""Steps of expectation maximisation; the share has settled by then."""


def squared_probability(rows: Rows, standardised: Column, sample_weight: Column) -> Column:
    """Return the squared probability that a row is right.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    standardised : column of shape (n_rows, n_outputs)
        Residuals in robust standard deviations.
    sample_weight : column of shape (n_rows,)
        How often each row counts.

    Returns
    -------
    column of shape (n_rows,)
        Between 0 and 1.
    """
    distance = distances(rows, standardised)
    # The cap keeps quotients finite, in float32 too, where most rows are met exactly.
    capped = rows.map(lambda z: namespace(z).clip(z, -FARTHEST, FARTHEST), standardised)
    own = trimmed_scales(rows, capped, sample_weight)
    if np.any(own < HELD) or len(own) > MOST_OUTPUTS:
        # What counts as one standard deviation is more, or right rows lie in a shell and
        # not around zero: no such mixture has this shape.
        return rows.map(geman_mcclure, distance)
    share, width = wrong_rows(rows, distance, sample_weight)

    def squared(d: Array) -> Array:
        right = 1.0 - probability_wrong(d, share, width)
        return right * right

    return rows.map(squared, distance)


def geman_mcclure(distance: Array, cutoff: float = 3.0) -> Array:
    """Return 1 / (1 + (distance / cutoff)^2)^2."""
    bounded = namespace(distance).clip(distance / cutoff, None, 1e9)
    return (1.0 / (1.0 + bounded * bounded)) ** 2


def probability_wrong(distance: Array, share: float, width: float) -> Array:
    """Return how probable it is that rows at the given distances are wrong.

    Parameters
    ----------
    distance : array
        Distances in robust standard deviations.
    share : float
        Share of wrong rows.
    width : float
        Median distance of these.

    Returns
    -------
    array
        Between 0 and 1, never less for a larger distance.
    """
    d = namespace(distance).clip(distance, None, FARTHEST)
    right = (1.0 - share) * 0.75 * (1.0 + d * d / 4.0) ** -2.5
    wrong = share * (2.0 / np.pi) / (width * (1.0 + (d / width) ** 2))
    return wrong / (right + wrong)


def wrong_rows(rows: Rows, distance: Column, sample_weight: Column) -> tuple[float, float]:
    """Return the share of wrong rows and their median distance.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    distance : column of shape (n_rows,)
        Distances in robust standard deviations.
    sample_weight : column of shape (n_rows,)
        How often each row counts.

    Returns
    -------
    share, width : float
        By expectation maximisation on a histogram, read from the rows once. The width is a
        median: one target of a million does not move it.
    """
    unit = float(np.log1p(FARTHEST)) / BINS

    def counts(d: Array, w: Array) -> tuple[HostArray]:
        xp = namespace(d)
        place = xp.floor(xp.log1p(xp.clip(d, None, FARTHEST)) / unit)
        return (histogram(xp.astype(xp.clip(place, None, BINS - 1.0), xp.int64), w, BINS),)

    (mass,) = rows.reduce(counts, distance, sample_weight)
    return share_and_width(mass / mass.sum(), np.expm1(unit * (np.arange(BINS) + 0.5)))


def share_and_width(mass: HostArray, centre: HostArray) -> tuple[float, float]:
    """Return the share of wrong rows and their median distance, from a histogram.

    Parameters
    ----------
    mass : array of shape (n_bins,)
        Share of the rows in each bin.
    centre : array of shape (n_bins,)
        Distance that the bin stands for.

    Returns
    -------
    share, width : float
        By expectation maximisation.
    """
    wrong = np.where(centre > SUSPECT, 1.0, 0.0)
    for _ in range(STEPS):
        found = np.cumsum(mass * wrong)
        share = max(float(found[-1]), LEAST_SHARE)
        middle = centre[np.searchsorted(found, 0.5 * found[-1])]
        width = max(float(middle), SUSPECT)
        wrong = probability_wrong(centre, share, width)
    return share, width
