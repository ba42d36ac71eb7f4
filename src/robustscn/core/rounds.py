"""Rounds of reweighting: build with the present weights, renew them from the errors, repeat.

    theta = 1 -> build -> residuals -> weighting -> theta -> build -> ...

What is built is the caller's: a grown network, one solved again, a whole committee. The loop
is a generator; when to stop and which round to keep are the caller's as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows, Totals, filled
from .scale import trimmed_scales
from .weighting import Weighting

Model = TypeVar("Model")


@dataclass(frozen=True)
class Round(Generic[Model]):
    """One round of reweighting.

    Parameters
    ----------
    model : object
        What was built with `weight_used`.
    weight_used : column of shape (n_rows,)
        Inlier weights it was built with.
    inlier_weight : column of shape (n_rows,)
        Inlier weights that its residuals suggest.
    evidence : column of shape (n_rows, n_outputs)
        Those residuals.
    judged : column of shape (n_rows, n_outputs)
        The same, smaller where the model is in doubt: what the weights were made of.
    least_scale : array of shape (n_outputs,) or None
        What one standard deviation was at least taken to be.
    """

    model: Model
    weight_used: Column
    inlier_weight: Column
    evidence: Column
    judged: Column
    least_scale: HostArray | None = None


def reweight(
    rows: Rows,
    sample_weight: Column,
    build: Callable[[int, Column], tuple[Model, Column]],
    weighting: Weighting | Sequence[Weighting],
    n_rounds: int,
    *,
    start: Column | None = None,
    normalise: bool = True,
    negligible: float = 0.0,
    least_scale: Callable[[int, Column], HostArray] | None = None,
    doubt: Callable[[int], Column] | None = None,
) -> Iterator[Round[Model]]:
    """Yield the rounds of: build with the present inlier weights, renew them from the errors.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        The caller's weights.
    build : callable
        From the round's number and the rows' weights (the caller's times the learned) to a
        model and the residuals by which rows are judged.
    weighting : Weighting or sequence of these
        Turns residuals into inlier weights; several are one for each round.
    n_rounds : int
        Number of builds.
    start : column of shape (n_rows,) or None
        Inlier weights of the first build; None believes every row.
    normalise : bool
        Scale inlier weights to mean one. Only a ridge of fixed size tells the difference.
    negligible : float
        Residuals up to this size count as none: where a network meets every row, what is left
        is rounding, and no row is stranger than another for it.
    least_scale : callable or None
        From the round's number and its residuals to what one standard deviation of each output
        is at least taken to be: a scale that starts wide and narrows keeps what is true but
        not yet learned.
    doubt : callable or None
        Asked after each build, with the round's number: how far the model may be from the truth
        at each row, shape (n_rows, n_outputs). A row is as strange as its residual is large
        beside that and the scale together.

    Yields
    ------
    Round
        After every build.
    """
    inlier_weight = filled(rows, 1.0, sample_weight) if start is None else start
    several = [weighting] * n_rounds if isinstance(weighting, Weighting) else weighting
    for number in range(n_rounds):
        model, evidence = build(number, rows.map(_product, sample_weight, inlier_weight))
        evidence = rows.map(lambda e: _without(e, negligible), evidence)
        least = None if least_scale is None else least_scale(number, evidence)
        judged = evidence
        if doubt is not None:
            judged = doubted(rows, evidence, doubt(number), sample_weight, least)
        renewed = renewed_weight(
            rows, judged, sample_weight, several[number], least, normalise=normalise
        )
        yield Round(model, inlier_weight, renewed, evidence, judged, least)
        inlier_weight = renewed


def renewed_weight(
    rows: Rows,
    judged: Column,
    sample_weight: Column,
    weighting: Weighting,
    least: HostArray | None,
    *,
    normalise: bool = True,
) -> Column:
    """Return the inlier weights that residuals suggest.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    judged : column of shape (n_rows, n_outputs)
        Residuals, smaller where the model is in doubt.
    sample_weight : column of shape (n_rows,)
        The caller's weights.
    weighting : Weighting
        Turns residuals into inlier weights.
    least : array of shape (n_outputs,) or None
        What one standard deviation is at least taken to be.
    normalise : bool
        Scale inlier weights to mean one.

    Returns
    -------
    column of shape (n_rows,)
        Inlier weights.
    """
    # A weighting of the caller's own need not know of least scales where there are none.
    scale = () if least is None else (least,)
    renewed = weighting.inlier_weight(rows, judged, sample_weight, *scale)
    return mean_one(rows, renewed, sample_weight) if normalise else renewed


def doubted(
    rows: Rows, residuals: Column, doubt: Column, sample_weight: Column, least: HostArray | None
) -> Column:
    """Return residuals made smaller where the model is in doubt.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    residuals, doubt : columns of shape (n_rows, n_outputs)
        Residuals, and how far the model may be from the truth there.
    sample_weight : column of shape (n_rows,)
        How often each row counts.
    least : array of shape (n_outputs,) or None
        What one standard deviation is at least taken to be.

    Returns
    -------
    column of shape (n_rows, n_outputs)
        e / sqrt(1 + (doubt / s)^2): measured by the one standard deviation s, these are the
        residuals measured by s and the row's doubt together.
    """
    scales = trimmed_scales(rows, residuals, sample_weight)
    scales = scales if least is None else np.maximum(scales, least)

    def smaller(e: Array, d: Array) -> Array:
        xp = namespace(e)
        # Where nearly all rows are met exactly, the quotient or its square would overflow.
        share = xp.minimum(d, like(1e9 * scales, d)) / like(scales, d)
        return e / xp.sqrt(1.0 + share * share)

    return rows.map(smaller, residuals, doubt)


def _without(residuals: Array, negligible: float) -> Array:
    xp = namespace(residuals)
    return xp.where(xp.abs(residuals) > negligible, residuals, xp.zeros_like(residuals))


def _product(left: Array, right: Array) -> Array:
    return left * right


def mean_one(rows: Rows, inlier_weight: Column, sample_weight: Column) -> Column:
    """Return inlier weights scaled to a weighted mean of one; ones where none is positive."""

    def sums(theta: Array, w: Array) -> Totals:
        xp = namespace(w)
        return xp.sum(theta * w), xp.sum(w)

    mass, count = (float(total) for total in rows.reduce(sums, inlier_weight, sample_weight))
    if not mass > 0:
        return filled(rows, 1.0, sample_weight)
    return rows.map(lambda theta: theta * (count / mass), inlier_weight)


def at_most_one(rows: Rows, inlier_weight: Column, sample_weight: Column) -> Column:
    """Return inlier weights scaled so that the largest of a counted row is one."""

    def peak(theta: Array, w: Array) -> Totals:
        xp = namespace(theta)
        return (xp.max(xp.where(w > 0, theta, xp.zeros_like(theta))),)

    def larger(a: Totals, b: Totals) -> Totals:
        return (np.maximum(a[0], b[0]),)

    (largest,) = rows.reduce(peak, inlier_weight, sample_weight, combine=larger)
    # Dividing may give 1 + 1e-16; the cap makes the promise exact.
    return rows.map(
        lambda theta: namespace(theta).clip(theta / float(largest), 0.0, 1.0), inlier_weight
    )
