"""Noise as a function of the inputs (heteroscedastic noise): where residuals scatter more or less.

A learner is asked to foresee log |residual| from the inputs, each row by members that have not
seen it. How far these forecasts can be trusted is seen from the rows themselves. Residuals are
taken for

    residual = exp(level + slope (forecast - centre)) T,   T by Student's t,

and level and slope are the likeliest: the slope is near one where noise depends on the inputs (more
where forecasts are timid) and near zero where it does not, and what is within its own error counts
as zero. So where the noise is even, or rows are too few to tell, one scale serves all rows as if
nothing had been asked. Few degrees of freedom, because wrong rows among quiet ones would flatten
the slope: the pull of a row is bounded by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows, Totals

NEAREST, FARTHEST = 0.1, 3.0
"""Residuals in standard deviations between which their size is foreseen: what is smaller is luck,
and what is larger may be wrong. With six the slope was less by a tenth where noise grows tenfold
and a quarter of the rows is wrong."""

WIDEST = 10.0
"""Times the overall scale, or its reciprocal, beyond which no local scale goes: a forecast of a
forecast is not to be trusted further. By argument."""

STEEPEST = 2.0
"""Slope that is not exceeded: forecasts are timid, since bounds and wrong rows flatten what they
learn from, but none was met that stood for less than half. By argument."""

DEGREES = 2.0
"""Degrees of freedom of the residuals' distribution: the fewest of those that are tried for the
flags. On 20 draws of noise that grows tenfold, with a tenth to four tenths of the rows wrong, the
noisiest fifth lay within intervals of 90 % as often as with three, or more often."""

STEPS = 20
"""Steps of Fisher scoring. By argument: each leaves less than half of the distance."""

ERRORS = 2.0
"""Standard errors of the slope that count as none: the usual 95 %."""

VOTE = 10.0
"""One over the inlier weight from which on a row counts fully when noise is measured: under
Geman-McClure weights all up to four and a half standard deviations do. With a hundred (nine
deviations) wrong rows among quiet ones have votes: of the noisiest fifth 78 % lay within their
intervals instead of 84 where a quarter of the rows was wrong."""

BOUND = 1e6
"""Standard deviations beyond which one residual is as far as another; its square is finite, in
float32 too."""


@dataclass(frozen=True)
class Noise:
    """How noise depends on the inputs.

    Parameters
    ----------
    relative : column of shape (n_rows, n_outputs)
        Local scale at each training row, as a multiple of the overall one.
    slope, centre : arrays of shape (n_outputs,)
        Of log |residual| on its forecast: how far it is trusted, and where it is one.
    model : object
        Makes the forecasts.
    """

    relative: Column
    slope: HostArray
    centre: HostArray
    model: Any

    def at(self, forecast: Array) -> Array:
        """Return the local scale that forecasts stand for, as a multiple of the overall one."""
        return relative_scale(forecast, self.slope, self.centre)


def noise_of(rows: Rows, weight: Column, sizes: Column, foreseen: tuple[Column, Any]) -> Noise:
    """Return how noise depends on the inputs.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    weight : column of shape (n_rows,)
        How far each row counts.
    sizes : column of shape (n_rows, n_outputs)
        Residuals in standard deviations.
    foreseen : column of shape (n_rows, n_outputs), object
        Forecasts of their `logarithm` for rows that were not seen, and what made them.

    Returns
    -------
    Noise
        Even, with a slope of zero, where forecasts say nothing.
    """
    forecast, model = foreseen

    def sums(f: Array, w: Array) -> Totals:
        return w[None, :] @ f, namespace(w).sum(w)

    total, mass = rows.reduce(sums, forecast, weight)
    centre = total[0] / mass
    slope, error = _likeliest_slope(rows, weight, sizes, forecast, centre)
    certain = (slope / np.maximum(error, 1e-300)) ** 2
    sure = np.maximum(0.0, 1.0 - ERRORS**2 / np.maximum(certain, 1e-9))
    slope = np.clip(slope, 0.0, STEEPEST) * sure
    relative = rows.map(lambda f: relative_scale(f, slope, centre), forecast)
    return Noise(relative, slope, centre, model)


def _likeliest_slope(
    rows: Rows, weight: Column, sizes: Column, forecast: Column, centre: HostArray
) -> tuple[HostArray, HostArray]:
    """Return the slope of log |residual| on its forecast, and its standard error.

    By Fisher scoring: forecasts are centred, so level and slope are found side by side. The error
    is that of the pulls as they are, whatever the noise is distributed like.
    """
    level, slope = np.zeros_like(centre), np.zeros_like(centre)
    information = 2.0 * DEGREES / (DEGREES + 3.0)

    def sums(size: Array, f: Array, w: Array) -> Totals:
        f = f - like(centre, f)
        pull = _pull(size, like(level, f) + like(slope, f) * f)
        w = w[None, :]
        return w @ pull, w @ (pull * f), w @ (f * f), w @ ((pull * f) ** 2), namespace(w).sum(w)

    for _ in range(STEPS):
        pulls, slopes, squares, _, mass = rows.reduce(sums, sizes, forecast, weight)
        level = level + pulls[0] / (information * mass)
        slope = slope + slopes[0] / np.maximum(information * squares[0], 1e-300)
    *_, squares, scattered, mass = rows.reduce(sums, sizes, forecast, weight)
    return slope, np.sqrt(scattered[0]) / np.maximum(information * squares[0], 1e-300)


def _pull(size: Array, log_scale: Array) -> Array:
    """Return the derivative of Student's log-likelihood by the logarithm of the scale."""
    xp = namespace(size)
    bounded = xp.clip(xp.abs(size), None, BOUND) * xp.exp(-xp.clip(log_scale, -20.0, 20.0))
    square = bounded * bounded
    return (DEGREES + 1.0) * square / (DEGREES + square) - 1.0


def logarithm(residuals: Array) -> Array:
    """Return the logarithm of the sizes of residuals in standard deviations, within bounds."""
    xp = namespace(residuals)
    return xp.log(xp.clip(xp.abs(residuals), NEAREST, FARTHEST))


def relative_scale(forecast: Array, slope: HostArray, centre: HostArray) -> Array:
    """Return the local scale that forecasts stand for, as a multiple of the overall one."""
    xp = namespace(forecast)
    limit = float(np.log(WIDEST))
    return xp.exp(
        xp.clip(like(slope, forecast) * (forecast - like(centre, forecast)), -limit, limit)
    )


def votes(sample_weight: Array, believed: Array) -> Array:
    """Return how far rows count when it is asked how large residuals are.

    Believed by halves they would count by halves, most of all where noise is large, and it would
    look smaller than it is: a row that is not rejected has its vote.
    """
    return sample_weight * namespace(believed).clip(VOTE * believed, 0.0, 1.0)
