"""Doubt: where the members of an ensemble disagree about a row, it is not to be rejected for it."""

from __future__ import annotations

from collections.abc import Sequence

from .arrays import Array, middle, namespace
from .rows import Column, Rows
from .scale import NORMAL_MAD

DOUBT = 0.5
"""Share of the networks' disagreement that counts as doubt: as much as the mean of four has.
Measured in the ablation: without any doubt laser errs 12 % more and the function 25 %, other sets
not for sure; the share itself was not tuned."""


def disagreement(rows: Rows, left_out: Sequence[Column], share: float = DOUBT) -> Column:
    """Return how far networks disagree about each row, as far as it counts as doubt.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    left_out : sequence of columns of shape (n_rows, n_outputs)
        Each network's left-out residuals.
    share : float
        How much of it counts.

    Returns
    -------
    column of shape (n_rows, n_outputs)
        That share of 1.4826 times their median absolute deviation from their median, which one
        odd network cannot move.
    """

    def deviation(*columns: Array) -> Array:
        return disagreement_of(namespace(*columns).stack(columns), share)

    return rows.map(deviation, *left_out, width=2 * len(left_out))


def disagreement_of(outputs: Array, share: float = DOUBT) -> Array:
    """Return how far members disagree, from outputs of shape (n_members, n_rows, n_outputs)."""
    deviations = namespace(outputs).abs(outputs - middle(outputs)[None, ...])
    return share * NORMAL_MAD * middle(deviations)
