"""Noise as a function of the inputs (heteroscedastic noise): where residuals scatter more or less.

A learner is asked to foresee log |residual| from the inputs, each row by members that have not
seen it. How far these forecasts can be trusted is seen from the rows themselves: the slope of
log |residual| on its forecast is near one where noise depends on the inputs and near zero where it
does not, and what is within its own error counts as zero. So where the noise is even, or rows are
too few to tell, one scale serves all rows as if nothing had been asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows, Totals

NEAREST, FARTHEST = 0.1, 6.0
"""Residuals in standard deviations between which their size is told apart: what is smaller is
luck, and what is larger may be wrong."""

WIDEST = 10.0
"""Times the overall scale, or its reciprocal, beyond which no local scale goes: a forecast of a
forecast is not to be trusted further. By argument."""

ERRORS = 2.0
"""Standard errors of the slope that count as none: the usual 95 %."""

VOTE = 100.0
"""One over the inlier weight from which on a row counts fully when noise is measured: under
Geman-McClure weights all up to nine standard deviations do. By argument, not tuned."""


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


def noise_of(rows: Rows, weight: Column, standard: Column, foreseen: tuple[Column, Any]) -> Noise:
    """Return how noise depends on the inputs.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    weight : column of shape (n_rows,)
        How far each row counts.
    standard : column of shape (n_rows, n_outputs)
        What was foreseen: `logarithm` of residuals.
    foreseen : column of shape (n_rows, n_outputs), object
        Forecasts for rows that were not seen, and what made them.

    Returns
    -------
    Noise
        Even, with a slope of zero, where forecasts say nothing.
    """
    forecast, model = foreseen

    def first(t: Array, f: Array, w: Array) -> Totals:
        return w[None, :] @ t, w[None, :] @ f, namespace(w).sum(w)

    sum_t, sum_f, mass = rows.reduce(first, standard, forecast, weight)
    mean_t, mean_f = sum_t[0] / mass, sum_f[0] / mass

    def second(t: Array, f: Array, w: Array) -> Totals:
        t, f = t - like(mean_t, t), f - like(mean_f, f)
        return w[None, :] @ (t * t), w[None, :] @ (t * f), w[None, :] @ (f * f)

    tt, tf, ff = (total[0] for total in rows.reduce(second, standard, forecast, weight))
    slope = tf / np.maximum(ff, 1e-300)
    unexplained = np.maximum(tt - slope * tf, 0.0)
    # Squared, in standard errors; a weight of two is a row twice.
    certain = slope * slope * ff * mass / np.maximum(unexplained, 1e-300)
    slope = np.clip(slope, 0.0, 1.0) * np.maximum(0.0, 1.0 - ERRORS**2 / np.maximum(certain, 1e-9))
    relative = rows.map(lambda f: relative_scale(f, slope, mean_f), forecast)
    return Noise(relative, slope, mean_f, model)


def logarithm(residuals: Array, scale: HostArray) -> Array:
    """Return the logarithm of the residuals' sizes in standard deviations, within bounds."""
    xp = namespace(residuals)
    return xp.log(xp.clip(xp.abs(residuals) / like(scale, residuals), NEAREST, FARTHEST))


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
