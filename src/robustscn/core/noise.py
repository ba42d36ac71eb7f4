"""Noise as a function of the inputs (heteroscedastic noise): where residuals scatter more or less.

A learner is asked to foresee log |residual| from the inputs, each row by members that have not
seen it. How far these forecasts can be trusted is seen from the rows themselves (slope.py): the
slope of log |residual| on its forecast is near one where noise depends on the inputs (more where
forecasts are timid) and near zero where it does not, and what is within its own error counts as
zero. So where the noise is even, or rows are too few to tell, one scale serves all rows as if
nothing had been asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows, Totals
from .slope import likeliest

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

ERRORS = 2.0
"""Standard errors of the slope that count as none: the usual 95 %."""

VOTE = 10.0
"""One over the inlier weight from which on a row counts fully when noise is measured: under
Geman-McClure weights all up to four and a half standard deviations do. With a hundred (nine
deviations) wrong rows among quiet ones have votes: of the noisiest fifth 78 % lay within their
intervals instead of 84 where a quarter of the rows was wrong."""


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


def noise_of(
    rows: Rows,
    sample_weight: Column,
    weight: Column,
    sizes: Column,
    foreseen: tuple[Column, Any],
) -> Noise:
    """Return how noise depends on the inputs.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        The caller's weights.
    weight : column of shape (n_rows,)
        How far each row counts; see `votes`.
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
    fit, error = likeliest(rows, sample_weight, sizes, forecast, centre)
    certain = (fit.slope / np.maximum(error, 1e-300)) ** 2
    sure = np.maximum(0.0, 1.0 - ERRORS**2 / np.maximum(certain, 1e-9))
    slope = np.clip(fit.slope, 0.0, STEEPEST) * sure
    relative = rows.map(lambda f: relative_scale(f, slope, centre), forecast)
    return Noise(relative, slope, centre, model)


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
