"""Which round is kept: the last, unless an earlier one clearly met unseen rows better.

Rounds are compared by Huber's loss of the left-out residuals of all rows, rejected or not: nothing
is gained by rejecting good rows, for a model that does predicts them badly, and that shows. A
wrong row adds nearly the same in every round; its square would swamp all else. Of rounds that are
not told apart the latest has judged the most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows, Totals
from .scale import robust_scales

BEND = 3.0
"""Robust standard deviations at which squares become sizes: right rows hardly lie beyond. With two
and five choices were hardly others; with all sizes or all squares trees erred 4 to 8 % more."""

ERRORS = 1.0
"""Standard errors of a difference within which rounds are not told apart: the usual rule."""


def kept_round(rows: Rows, sample_weight: Column, evidence: Sequence[Column]) -> int:
    """Return the number of the round to keep.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        How often each row counts.
    evidence : sequence of columns of shape (n_rows, n_outputs)
        Left-out residuals of each round. The scale is that of the last, whose model was bent the
        least by wrong rows.

    Returns
    -------
    int
        The last whose mean loss is within a standard error of the lowest.
    """
    scale = robust_scales(rows, evidence[-1], sample_weight)
    losses = [rows.map(lambda e: _huber(e, like(scale, e)), each) for each in evidence]

    above, error = above_the_lowest(rows, sample_weight, losses)
    return int(np.flatnonzero(above <= ERRORS * error)[-1])


def above_the_lowest(
    rows: Rows, sample_weight: Column, losses: Sequence[Column]
) -> tuple[HostArray, HostArray]:
    """Return how far mean losses lie above the lowest, and the standard errors of that.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        How often each row counts.
    losses : sequence of columns of shape (n_rows,)
        What each row costs under each of the models that are compared.

    Returns
    -------
    arrays of shape (n_models,)
        Of paired differences: what a row costs under all models alike does not matter.
    """

    def sums(w: Array, *columns: Array) -> Totals:
        xp = namespace(w)
        return *(xp.sum(w * column) for column in columns), xp.sum(w)

    *totals, mass = rows.reduce(sums, sample_weight, *losses)
    best = int(np.argmin(totals))

    def squares(w: Array, lowest: Array, *columns: Array) -> Totals:
        return tuple(namespace(w).sum(w * (column - lowest) ** 2) for column in columns)

    spread = rows.reduce(squares, sample_weight, losses[best], *losses)
    above = (np.array(totals, dtype=np.float64) - totals[best]) / mass
    return above, np.sqrt(np.maximum(np.array(spread) / mass - above**2, 0.0) / mass)


def _huber(e: Array, scale: Array) -> Array:
    xp = namespace(e)
    size = xp.abs(e) / scale
    bent = xp.clip(size, None, BEND)
    return xp.sum(bent * (size - 0.5 * bent), axis=1)
