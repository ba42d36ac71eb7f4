"""How far forecasts of the size of residuals prove right, wrong rows apart.

Where wrong rows lie together their residuals can be foreseen, as noise can that is larger there.
What tells the two apart is shape: beside wrong rows the right ones are as near as elsewhere, while
noise moves all of them. Residuals are taken for a mixture of which both parts depend on the
forecast f, less its mean,

    right   exp(level + slope f) T,   T by Student's t,
    wrong   as many at all distances up to some, then falling with the fourth power; the logarithm
            of their odds is odds + tilt f,

and level, slope, odds and tilt are the likeliest, found by expectation maximisation: given how
probable each row is to be right, a step of Fisher scoring for either part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows, Totals
from .statistics import quantiles, total_weight

DEGREES = 4.0
"""Degrees of freedom of right residuals, in the midst of those that are tried for the flags. With
two, as if there were no other part for what lies far, noise among many wrong rows looks even."""

STEPS = 40
"""Steps of expectation maximisation; what is left to the likeliest slope is below its error."""

REACH, LEAST_REACH = 0.98, 4.0
"""Share of the rows up to whose size wrong rows are taken to lie as many at all distances, and the
least distance: nearer, wrong rows are not told from the tails of right ones."""

AREA = np.pi / np.sqrt(2.0)
"""Area under 1 / (1 + x^4), by which the density of wrong rows is divided."""

FIRST_ODDS = -2.2
"""Logarithm of the odds of wrong rows to begin with: a tenth."""

ODDS, TILT = (-7.0, 2.0), 6.0
"""Bounds of the logarithm of the odds, a thousandth to nine tenths, and of the tilt. By
argument: they only keep steps from leaping where there is no wrong row."""

LEANING = 1e-3
"""Weight of a tilt of zero, as a share of the rows': the odds are alike everywhere unless rows say
otherwise. By argument."""

BOUND = 1e6
"""Standard deviations beyond which one residual is as far as another; its fourth power is finite,
in float32 too."""


@dataclass(frozen=True)
class Fit:
    """Level, slope, odds and tilt of each output; see the module.

    Parameters
    ----------
    level, slope, odds, tilt : arrays of shape (n_outputs,)
        The likeliest.
    reach : array of shape (n_outputs,)
        Distance up to which wrong rows are as many at all distances.
    """

    level: HostArray
    slope: HostArray
    odds: HostArray
    tilt: HostArray
    reach: HostArray

    def parts(self, size: Array, f: Array) -> tuple[Array, Array, Array]:
        """Return how probable rows are to be wrong, before and after their size is seen, and pull.

        Parameters
        ----------
        size : array of shape (n_rows, n_outputs)
            Residuals in standard deviations.
        f : array of shape (n_rows, n_outputs)
            Forecasts less their mean.

        Returns
        -------
        before, after, pull : arrays of shape (n_rows, n_outputs)
            The pull is the derivative of the right part's log-likelihood by the logarithm of the
            scale.
        """
        xp = namespace(size)
        size = xp.clip(xp.abs(size), None, BOUND)
        log_scale = xp.clip(like(self.level, f) + like(self.slope, f) * f, -20.0, 20.0)
        square = (size * xp.exp(-log_scale)) ** 2
        right = PEAK - log_scale - (DEGREES + 1.0) / 2.0 * xp.log1p(square / DEGREES)
        far = (size / like(self.reach, size)) ** 4
        wrong = -like(np.log(AREA * self.reach), size) - xp.log1p(far)
        log_odds = like(self.odds, f) + like(self.tilt, f) * f
        pull = (DEGREES + 1.0) * square / (DEGREES + square) - 1.0
        return _share(log_odds), _share(log_odds + wrong - right), pull


PEAK = float(
    gammaln((DEGREES + 1.0) / 2.0) - gammaln(DEGREES / 2.0) - 0.5 * np.log(DEGREES * np.pi)
)
"""Logarithm of the density of Student's t at zero."""


def likeliest(
    rows: Rows, weight: Column, sizes: Column, forecast: Column, centre: HostArray
) -> tuple[Fit, HostArray]:
    """Return the likeliest fit, and the standard error of its slope.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    weight : column of shape (n_rows,)
        How often each row counts, whether it is believed or not.
    sizes : column of shape (n_rows, n_outputs)
        Residuals in standard deviations.
    forecast : column of shape (n_rows, n_outputs)
        Of the logarithm of their size.
    centre : array of shape (n_outputs,)
        What is taken off the forecasts.

    Returns
    -------
    Fit, array of shape (n_outputs,)
        The error is that of the pulls as they are, whatever the noise is distributed like.
    """
    reach = np.maximum(quantiles(rows, sizes, weight, REACH, of_sizes=True), LEAST_REACH)
    zero = np.zeros_like(centre)
    fit = Fit(zero, zero, zero + FIRST_ODDS, zero, np.minimum(reach, BOUND))
    information, leaning = 2.0 * DEGREES / (DEGREES + 3.0), LEANING * total_weight(rows, weight)

    def sums(size: Array, f: Array, w: Array) -> Totals:
        f = f - like(centre, f)
        before, after, pull = fit.parts(size, f)
        w = w[:, None]
        right, seen, spread = w * (1.0 - after), w * (after - before), w * before * (1.0 - before)
        xp = namespace(f)
        terms = (pull, pull * f, xp.ones_like(f), f, f * f, (pull * f) ** 2)
        return (
            *(xp.sum(right * term, axis=0) for term in terms),
            *(xp.sum(seen * term, axis=0) for term in terms[2:4]),
            *(xp.sum(spread * term, axis=0) for term in terms[2:5]),
        )

    for _ in range(STEPS):
        found = rows.reduce(sums, sizes, forecast, weight)
        pulls, slopes, ones, first, second, _, seen, tilted, flat, leaned, bent = found
        level, slope = _step(information * np.stack([ones, first, second]), pulls, slopes)
        odds, tilt = _step(
            np.stack([flat, leaned, bent + leaning]), seen, tilted - leaning * fit.tilt
        )
        fit = Fit(
            fit.level + level,
            fit.slope + slope,
            np.clip(fit.odds + odds, *ODDS),
            np.clip(fit.tilt + tilt, -TILT, TILT),
            fit.reach,
        )
    *_, second, scattered = rows.reduce(sums, sizes, forecast, weight)[:6]
    return fit, np.sqrt(scattered) / np.maximum(information * second, 1e-300)


def _step(information: HostArray, one: HostArray, two: HostArray) -> tuple[HostArray, HostArray]:
    """Return the step that two pulls and their information, ((a, b), (b, c)), ask for."""
    a, b, c = information
    determinant = np.maximum(a * c - b * b, 1e-12 * np.maximum(a * c, 1e-288))
    return (c * one - b * two) / determinant, (a * two - b * one) / determinant


def _share(log_odds: Array) -> Array:
    xp = namespace(log_odds)
    return 1.0 / (1.0 + xp.exp(-xp.clip(log_odds, -60.0, 60.0)))
