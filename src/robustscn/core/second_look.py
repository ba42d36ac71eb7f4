"""The second look: wrong rows lie scattered, what a learner has missed does not.

Members are asked to predict rejection (one minus the inlier weight) from the inputs, for rows that
they have not seen. Where they can, a peak or an edge may have been taken for outliers: rows there
are under suspicion, and as doubt they get a share of the size of their residuals, which narrows
again from round to round. If nothing was missed, the rows are rejected once more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows, Totals
from .weighting import at_most_one


@dataclass(frozen=True)
class SecondLook:
    """Where rejection can be predicted, and how large residuals are there.

    Parameters
    ----------
    suspicion : column of shape (n_rows,)
        Between 0, where rows are rejected no more often than elsewhere, and 1, where all are.
    size : array of shape (n_outputs,)
        Root mean square of the residuals, rows counted by their suspicion and gross targets
        not at all.
    """

    suspicion: Column
    size: HostArray

    def widened(self, rows: Rows, doubt: Column | None, share: float) -> Column:
        """Return the doubt or, where it is larger, a share of the size of suspected residuals.

        Parameters
        ----------
        rows : Rows
            Where the rows live.
        doubt : column of shape (n_rows, n_outputs) or None
            The learner's own.
        share : float
            Between 1, when the second look begins, and 0.

        Returns
        -------
        column of shape (n_rows, n_outputs)
            How far the learner may be from the truth at each row.
        """
        size = share * self.size

        def allowed(s: Array) -> Array:
            return s[:, None] * like(size, s)[None, :]

        if doubt is None:
            return rows.map(allowed, self.suspicion)
        return rows.map(lambda d, s: namespace(d).maximum(d, allowed(s)), doubt, self.suspicion)


def second_look(
    rows: Rows,
    sample_weight: Column,
    inlier_weight: Column,
    residuals: Column,
    believable: Column,
    foresee: Callable[[Column], Column],
) -> SecondLook:
    """Return where a learner rejects rows that lie together.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        The caller's weights.
    inlier_weight : column of shape (n_rows,)
        How far rows are believed at the end of the first look.
    residuals : column of shape (n_rows, n_outputs)
        The residuals that this follows from.
    believable : column of shape (n_rows,)
        Zero where targets are gross: one of a million, suspected ever so little, would widen
        the scale to nonsense.
    foresee : callable
        Predicts a column, here rejection, for rows by members that have not seen them.

    Returns
    -------
    SecondLook
        Where rows are suspected, and how much.
    """
    believed = at_most_one(rows, inlier_weight, sample_weight)
    rejected = rows.map(lambda theta: 1.0 - theta[:, None], believed)

    def sums(t: Array, w: Array) -> Totals:
        return w[None, :] @ t, namespace(w).sum(w)

    mass, count = rows.reduce(sums, rejected, sample_weight)
    share = float(mass[0, 0] / count)
    target = rows.map(lambda t: t - share, rejected)
    foreseen = foresee(target)

    def suspicion(t: Array) -> Array:
        # Where every row is rejected nothing is left to compare with.
        return namespace(t).clip(t[:, 0] / max(1.0 - share, 1e-9), 0.0, 1.0)

    suspected = rows.map(suspicion, foreseen)

    def squares(e: Array, s: Array, w: Array, b: Array) -> Totals:
        counted = s * w * b
        e = e * b[:, None]
        return counted[None, :] @ (e * e), namespace(w).sum(counted)

    square, count = rows.reduce(squares, residuals, suspected, sample_weight, believable)
    return SecondLook(suspected, np.sqrt(square[0] / max(float(count), 1e-300)))
