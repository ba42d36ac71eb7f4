"""How far residuals lie from zero: robust standard deviations, distances, sizes, the middle."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import chdtrc, chdtri

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows, Totals
from .statistics import larger, quantiles

NORMAL_MAD = 1.4826022185056018
"""Standard deviations in one median absolute deviation of normal noise."""


def standard_deviation(rows: Rows, residuals: Column, sample_weight: Column) -> float:
    """Return the weighted standard deviation of the residuals, pooled over the outputs.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    residuals : column of shape (n_rows, n_outputs)
        Residuals.
    sample_weight : column of shape (n_rows,)
        How often each row counts.

    Returns
    -------
    float
        With the sum of the weights, not that less one, as divisor.
    """

    def first(e: Array, w: Array) -> Totals:
        return w[None, :] @ e, namespace(w).sum(w)

    sums, count = rows.reduce(first, residuals, sample_weight)
    mean = sums[0] / count

    def second(e: Array, w: Array) -> Totals:
        deviation = e - like(mean, e)
        return (namespace(w).sum(w[:, None] * deviation * deviation),)

    (squares,) = rows.reduce(second, residuals, sample_weight)
    return float(np.sqrt(squares / (count * len(mean))))


def robust_scales(rows: Rows, residuals: Column, sample_weight: Column) -> HostArray:
    """Return each output's scale: 1.4826 times the weighted median of |e|.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    residuals : column of shape (n_rows, n_outputs)
        Residuals.
    sample_weight : column of shape (n_rows,)
        How often each row counts.

    Returns
    -------
    array of shape (n_outputs,)
        Not zero: where more than half of the rows are met exactly, every other row is as
        strange as can be.
    """
    medians = quantiles(rows, residuals, sample_weight, 0.5, of_sizes=True)
    return np.maximum(NORMAL_MAD * medians, 1e-30)


def trimmed_scales(
    rows: Rows, residuals: Column, sample_weight: Column, *, cutoff: float = 3.0
) -> HostArray:
    """Return each output's scale with rows beyond `cutoff` of it left out, until it settles.

    The plain median rises with the share of wrong rows (1.4 times at 25 %); without the rows
    it condemns it comes back down.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    residuals : column of shape (n_rows, n_outputs)
        Residuals.
    sample_weight : column of shape (n_rows,)
        How often each row counts.
    cutoff : float
        Distance beyond which rows are left out.

    Returns
    -------
    array of shape (n_outputs,)
        Robust standard deviations.
    """
    scales = robust_scales(rows, residuals, sample_weight)
    floor = 1e-3 * scales
    for _ in range(20):
        near = rows.map(
            lambda d, w: namespace(w).where(d <= cutoff, w, namespace(w).zeros_like(w)),
            distances(rows, residuals, scales),
            sample_weight,
        )
        renewed = np.maximum(robust_scales(rows, residuals, near), floor)
        if np.all(renewed >= (1 - 1e-6) * scales):
            break
        scales = renewed
    return scales


def distances(rows: Rows, residuals: Column, scales: HostArray | None = None) -> Column:
    """Return each row's distance from zero in robust standard deviations.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    residuals : column of shape (n_rows, n_outputs)
        Residuals.
    scales : array of shape (n_outputs,) or None
        One standard deviation of each output; None where residuals are standardised already.

    Returns
    -------
    column of shape (n_rows,)
        For one output |e| / scale. For several the length of the scaled residual, shrunk so
        that normal noise goes beyond three as seldom as with one output: cut-offs, which all
        lie out there, mean the same.
    """
    scales = np.ones(residuals.shape[1]) if scales is None else scales
    shrink = shrinking(len(scales))

    def length(e: Array) -> Array:
        xp = namespace(e)
        # The cap keeps squares finite, in float32 too, beside a scale of nearly zero.
        scaled = xp.clip(e / like(scales, e), -1e18, 1e18)
        return shrink * xp.sqrt(xp.sum(scaled * scaled, axis=1))

    return rows.map(length, residuals)


@cache
def shrinking(n_outputs: int) -> float:
    """Return what the length of several outputs' scaled residuals is multiplied by."""
    beyond = chdtrc(1, 9.0)  # the share of a chi-squared variable of one degree beyond 3 squared
    return float(3.0 / np.sqrt(chdtri(n_outputs, beyond)))


def at_least(scales: HostArray, least_scale: HostArray | None) -> HostArray:
    """Return scales that are not below the least ones, where there are such."""
    return scales if least_scale is None else np.maximum(scales, least_scale)


def centred(rows: Rows, residuals: Column, sample_weight: Column) -> tuple[Column, HostArray]:
    """Return residuals less the median of each output, and these medians.

    Wrong rows that all lie on one side pull every prediction to it. The pull is common to all
    rows; taken off, rows are judged by how they differ from the others.
    """
    middles = quantiles(rows, residuals, sample_weight, 0.5)
    return rows.map(lambda e: e - like(middles, e), residuals), middles


def mean_size(rows: Rows, residuals: Column, sample_weight: Column) -> float:
    """Return the mean absolute residual over rows and outputs, by which rounds are compared.

    It counts every row, rejected or not: nothing is gained by rejecting good ones. A wrong row
    adds nearly the same in each round; its square would not.
    """

    def sums(e: Array, w: Array) -> Totals:
        xp = namespace(e)
        # In float32 one target of 1e9 would drown all that the rounds differ in.
        return xp.sum(w[:, None] * xp.astype(xp.abs(e), xp.float64)), xp.sum(w)

    total, count = rows.reduce(sums, residuals, sample_weight)
    return float(total / count) / residuals.shape[1]


def largest_residuals(rows: Rows, residuals: Column, weight: Column) -> HostArray:
    """Return the largest residual of each output among rows that have weight."""

    def largest(e: Array, w: Array) -> Totals:
        xp = namespace(e)
        counted = xp.where((w > 0)[:, None], xp.abs(e), xp.zeros_like(e))
        return (xp.max(counted, axis=0),)

    (size,) = rows.reduce(largest, residuals, weight, combine=larger)
    return size
