"""How rows are judged by their residuals: scale, standardised residuals, M-estimator weights.

One robust standard deviation is estimated for each output; residuals are divided by it, widened
where the learner doubts itself and where noise is larger; and the weighting, a curve of those
standardised residuals, says how far each row is believed. `inlier_weight_` and `outliers_` come
from nowhere else. Before there are residuals, targets alone say which rows are not looked at yet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows
from .scale import at_least, distances
from .statistics import quantiles
from .weighting import Weighting, mean_one

GROSS = 10.0
"""Multiples of the 95 % quantile of |y - median| beyond which a target is gross. By argument, not
tuned: normal targets end at two of them, heavy tails at a few, and what the guard is for lies at
thousands. Taken out, no draw of the ablation without a gross target changes."""


@dataclass(frozen=True)
class Verdict:
    """How residuals are judged.

    Parameters
    ----------
    scale : array of shape (n_outputs,)
        One robust standard deviation, of rows without doubt: what everything is measured by.
    standardised : column of shape (n_rows, n_outputs)
        Residuals over a multiple of the root of scale^2 + doubt^2: the one that makes their own
        robust standard deviation one, or less where the scale is held up.
    inlier_weight : column of shape (n_rows,)
        How far rows are believed.
    left : array of shape (n_outputs,)
        That multiple: residuals were divided by the root of scale^2 + (left doubt)^2.
    """

    scale: HostArray
    standardised: Column
    inlier_weight: Column
    left: HostArray


def verdict(
    rows: Rows,
    sample_weight: Column,
    residuals: Column,
    doubt: Column | None,
    weighting: Weighting,
    floor: HostArray | None = None,
    relative: Column | None = None,
) -> Verdict:
    """Return how residuals are judged: one scale, standardised residuals, inlier weights.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        How often each row counts.
    residuals : column of shape (n_rows, n_outputs)
        Residuals.
    doubt : column of shape (n_rows, n_outputs) or None
        How far the model may be from the truth there.
    weighting : Weighting
        Says what one standard deviation is, and what standardised residuals weigh.
    floor : array of shape (n_outputs,) or None
        What one standard deviation is at least taken to be.
    relative : column of shape (n_rows, n_outputs) or None
        Local scales as multiples of the overall one.

    Returns
    -------
    Verdict
        Its weights have the weighted mean one.
    """
    even = residuals if relative is None else rows.map(_quotient, residuals, relative)
    scale = at_least(weighting.scale(rows, even, sample_weight), floor)
    if relative is None:
        standard = standardised(rows, residuals, doubt, scale)
    else:
        local = rows.map(lambda r: _local(r, scale, floor), relative)
        standard = rows.map(_quotient, residuals, local)
        doubt = None if doubt is None else rows.map(_quotient, doubt, local)
        standard = standardised(rows, standard, doubt, np.ones(len(scale)))
    left = np.ones(len(scale))
    if doubt is not None:
        # Doubt explains a part of what was taken for noise: what is left of that is the scale.
        left = weighting.scale(rows, standard, sample_weight)
        left = at_least(left, None if floor is None else floor / scale)
        standard, scale = rows.map(lambda z: z / like(left, z), standard), scale * left
    weight = weighting.inlier_weight(rows, standard, sample_weight)
    if weighting.normalised:
        weight = mean_one(rows, weight, sample_weight)
    return Verdict(scale, standard, weight, left)


def standardised(rows: Rows, residuals: Column, doubt: Column | None, scale: HostArray) -> Column:
    """Return residuals over the root of scale^2 + doubt^2.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    residuals : column of shape (n_rows, n_outputs)
        Residuals.
    doubt : column of shape (n_rows, n_outputs) or None
        How far the model may be from the truth there.
    scale : array of shape (n_outputs,)
        One standard deviation.

    Returns
    -------
    column of shape (n_rows, n_outputs)
        Not beyond 1e18, the square of which float32 can hold.
    """

    def plain(e: Array) -> Array:
        return namespace(e).clip(e / like(scale, e), -1e18, 1e18)

    def doubted(e: Array, d: Array) -> Array:
        xp = namespace(e)
        # Where nearly all rows are met exactly, the quotient or its square would overflow.
        share = xp.minimum(d, like(1e9 * scale, d)) / like(scale, d)
        return plain(e / xp.sqrt(1.0 + share * share))

    return rows.map(plain, residuals) if doubt is None else rows.map(doubted, residuals, doubt)


def not_gross(rows: Rows, y: Column, sample_weight: Column) -> Column:
    """Return first weights: one, but nothing for targets far outside of all the others.

    The first model is fitted before any residual exists; a single target of a million would bend
    it beyond repair. Rows set aside here are judged again after the first round.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    y : column of shape (n_rows, n_outputs)
        Targets, less their medians.
    sample_weight : column of shape (n_rows,)
        How often each row counts.

    Returns
    -------
    column of shape (n_rows,)
        Zeros and ones.
    """
    scales = quantiles(rows, y, sample_weight, 0.95, of_sizes=True)
    scales = np.where(scales == 0, 1.0, scales)
    far = distances(rows, rows.map(lambda t: t / like(scales, t), y))
    return rows.map(lambda d: namespace(d).astype(d <= GROSS, d.dtype), far)


def _local(relative: Array, own: HostArray, floor: HostArray | None) -> Array:
    scale = relative * like(own, relative)
    return scale if floor is None else namespace(scale).maximum(scale, like(floor, scale)[None, :])


def _quotient(left: Array, right: Array) -> Array:
    return left / right
