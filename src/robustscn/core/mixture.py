"""Weights that adapt to how dirty the rows are: how probable it is that a row is right.

A fixed curve must choose: one that is strict enough for rows of which a quarter is wrong throws
good ones away where none is. Here the residuals themselves say how many are wrong. They are taken
for a mixture of two kinds,

    right   Student's t, about one robust standard deviation wide, with heavy or light tails,
    wrong   as many at all distances up to some, then falling with the fourth power or, where the
            right ones' tails are heavy, the square,

whose shares, widths and tails are those of the largest likelihood, found by expectation
maximisation. The tails of the second are the heavier ones, so a larger residual is never the more
probable to be right. Where the scale is held
above the rows' own, or outputs are many, distances have no such shape, and a fixed curve judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import gammaln, stdtrit

from .arrays import Array, HostArray, histogram, namespace
from .rows import Column, Rows
from .scale import distances, trimmed_scales

SUSPECT = 3.0
"""Distance beyond which rows are taken for wrong to begin with; also the least median distance of
wrong rows: nearer ones cannot be told from the shoulders of residuals that are not normal."""

UNITS = (1.0, 1.5)
"""Scale of right rows. Not less than one, or their outer half would be called wrong; not far above,
or wrong rows would widen it."""

LEAST_SHARE = 0.002
"""Share of wrong rows that is always allowed for: no table is sure to have fewer. By argument."""

MOST_OUTPUTS = 10
"""Beyond this the length of the residuals of a right row is nearly always the same, and says
nothing of how wrong it is."""

HELD = 0.9
"""Robust standard deviation of standardised residuals below which the scale was held up: by its own
scale it is one, to the error of a hundred rows."""

BINS = 1024
"""Bins for the logarithm of the distance, 1.4 % each: the share and the width need no more
detail."""

FARTHEST = 1e6
"""Distance beyond which one is as far as another: nothing is believed there."""

STEPS = 25
"""Steps of expectation maximisation; the share has settled by then."""

DEGREES = (2.0, 3.0, 4.0, 6.0)
"""Degrees of freedom of right rows that are tried. Left-out residuals have heavier tails than the
noise, since no model errs alike everywhere: with more, good rows are flagged. Measured on simulated
residuals, on which flags hold their stated rate."""


def believed(rows: Rows, standardised: Column, sample_weight: Column) -> Column:
    """Return how far each row is believed.

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
    return rows.map(kinds_of(rows, distance, sample_weight).inlier_weight, distance)


def geman_mcclure(distance: Array, cutoff: float = 3.0) -> Array:
    """Return 1 / (1 + (distance / cutoff)^2)^2."""
    bounded = namespace(distance).clip(distance / cutoff, None, 1e9)
    return (1.0 / (1.0 + bounded * bounded)) ** 2


@dataclass(frozen=True)
class Kinds:
    """What right and wrong rows look like.

    Parameters
    ----------
    share : float
        Share of wrong rows.
    width : float
        Median distance of these.
    degrees : float
        Degrees of freedom of the right ones: few where their tails are heavy.
    unit : float
        Scale of the right ones, about one.
    """

    share: float
    width: float
    degrees: float = 4.0
    unit: float = 1.0

    def densities(self, distance: Array) -> tuple[Array, Array]:
        """Return how dense right and wrong rows lie at the given distances.

        Parameters
        ----------
        distance : array
            Distances in robust standard deviations.

        Returns
        -------
        right, wrong : arrays
            They add up to a density of the distance.
        """
        d = namespace(distance).clip(distance, None, FARTHEST)
        t = d / self.unit
        power = -(self.degrees + 1.0) / 2.0
        peak = 2.0 * _peak(self.degrees) / self.unit
        right = (1.0 - self.share) * peak * (1.0 + t * t / self.degrees) ** power
        # Never lighter than the tails of right rows, of which a power of d + 1 is left.
        fall = 2.0 if self.degrees <= 3.0 else 4.0
        reach = self.width / _flat_median(fall)
        area = float(np.pi / fall / np.sin(np.pi / fall))
        return right, self.share / (area * reach) / (1.0 + (d / reach) ** fall)

    def probability_wrong(self, distance: Array) -> Array:
        """Return how probable it is that rows at the given distances are wrong.

        Parameters
        ----------
        distance : array
            Distances in robust standard deviations.

        Returns
        -------
        array
            Between 0 and 1.
        """
        right, wrong = self.densities(distance)
        return wrong / (right + wrong)

    def inlier_weight(self, distance: Array) -> Array:
        """Return the squared probability that rows at the given distances are right.

        Parameters
        ----------
        distance : array
            Distances in robust standard deviations.

        Returns
        -------
        array
            Between 0 and 1. A right row counts fully however far it lies: where noise is small,
            a large left-out residual says that the model is wrong there, not the row.
        """
        right = 1.0 - self.probability_wrong(distance)
        return right * right


@cache
def _peak(degrees: float) -> float:
    """Return the density of Student's t at zero."""
    return float(
        np.exp(gammaln((degrees + 1) / 2) - gammaln(degrees / 2)) / np.sqrt(degrees * np.pi)
    )


@cache
def _flat_median(fall: float) -> float:
    """Return where half of the area under 1 / (1 + x^fall) lies, for x above zero."""
    return {2.0: 1.0, 4.0: 0.5663960}[fall]


@cache
def _median(degrees: float) -> float:
    """Return the median size of a variable with Student's t distribution."""
    return float(stdtrit(degrees, 0.75))


def kinds_of(rows: Rows, distance: Column, sample_weight: Column) -> Kinds:
    """Return what right and wrong rows look like.

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
    Kinds
        By expectation maximisation on a histogram, read from the rows once. Width and unit are
        medians: one target of a million does not move them.
    """
    (mass,) = rows.reduce(lambda d, w: (histogram(bin_of(d), w, BINS),), distance, sample_weight)
    return kinds_in(mass / mass.sum())


UNIT = float(np.log1p(FARTHEST)) / BINS
"""Width of a bin, in the logarithm of one plus the distance."""

CENTRES = np.expm1(UNIT * (np.arange(BINS) + 0.5))
"""Distances that bins stand for."""


def bin_of(distance: Array) -> Array:
    """Return the bins that distances fall into."""
    xp = namespace(distance)
    place = xp.floor(xp.log1p(xp.clip(distance, None, FARTHEST)) / UNIT)
    return xp.astype(xp.clip(place, None, BINS - 1.0), xp.int64)


def kinds_in(mass: HostArray) -> Kinds:
    """Return what right and wrong rows look like, from the shares of all rows in each bin."""
    fits = [_fitted(mass, degrees) for degrees in DEGREES]
    return max(fits, key=lambda kinds: _likelihood(mass, kinds))


def _likelihood(mass: HostArray, kinds: Kinds) -> float:
    return float(mass @ np.log(np.maximum(sum(kinds.densities(CENTRES)), 1e-300)))


def _fitted(mass: HostArray, degrees: float) -> Kinds:
    wrong = np.where(CENTRES > SUSPECT, 1.0, 0.0)
    for _ in range(STEPS):
        found, kept = np.cumsum(mass * wrong), np.cumsum(mass * (1.0 - wrong))
        width = CENTRES[np.searchsorted(found, 0.5 * found[-1])]
        unit = CENTRES[np.searchsorted(kept, 0.5 * kept[-1])] / _median(degrees)
        kinds = Kinds(
            max(float(found[-1]), LEAST_SHARE),
            max(float(width), SUSPECT),
            degrees,
            float(np.clip(unit, *UNITS)),
        )
        wrong = kinds.probability_wrong(CENTRES)
    return kinds
