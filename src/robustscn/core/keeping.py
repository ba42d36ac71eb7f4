"""Which round is kept: the last, unless an earlier one clearly met unseen rows better.

Rounds are compared by Huber's loss of the left-out residuals of all rows, rejected or not: nothing
is gained by rejecting good rows, for a model that does predicts them badly, and that shows. A
wrong row adds nearly the same in every round; its square would swamp all else. Of rounds that are
not told apart the latest has judged the most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import Array, like, namespace
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

    def sums(w: Array, *columns: Array) -> Totals:
        xp = namespace(w)
        return *(xp.sum(w * column) for column in columns), xp.sum(w)

    *totals, mass = rows.reduce(sums, sample_weight, *losses)
    best = int(np.argmin(totals))

    def squares(w: Array, lowest: Array, *columns: Array) -> Totals:
        return tuple(namespace(w).sum(w * (column - lowest) ** 2) for column in columns)

    spread = rows.reduce(squares, sample_weight, losses[best], *losses)
    above = (np.array(totals, dtype=np.float64) - totals[best]) / mass
    error = np.sqrt(np.maximum(np.array(spread) / mass - above**2, 0.0) / mass)
    return int(np.flatnonzero(above <= ERRORS * error)[-1])


def _huber(e: Array, scale: Array) -> Array:
    xp = namespace(e)
    size = xp.abs(e) / scale
    bent = xp.clip(size, None, BEND)
    return xp.sum(bent * (size - 0.5 * bent), axis=1)
