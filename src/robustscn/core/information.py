"""Output weights of a stream: recursive least squares by a square-root information filter.

All that least squares needs of the rows so far is the triangular factor of the weighted, faded rows

    [ R  z ]          R' R = sum of w h h',   R' z = sum of w h y',
    [ 0  t ]          output weights: R beta = z.

New rows are put below it and Householder reflections bring the whole back to triangular form.
Nothing is squared and nothing inverted, so digits do not get lost, however many rows there are;
fading old rows multiplies the factor by one number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dtpqrt, dtrtrs

from .arrays import HostArray

PANEL = 8
"""Columns that LAPACK reflects at once; for factors of some hundred columns the fastest."""

CUTOFF = 1e-13
"""Share of the largest diagonal element below which a direction counts as not seen: some hundred
rounding units of float64."""


@dataclass(frozen=True)
class Information:
    """What rows say about output weights.

    Parameters
    ----------
    factor : array of shape (n_columns + n_outputs, n_columns + n_outputs)
        Upper triangular, in Fortran's order.
    n_columns : int
        Number of hidden columns.
    weight : float
        Sum of the weights of the rows, faded as they are.
    """

    factor: HostArray
    n_columns: int
    weight: float = 0.0

    def updated(
        self, columns: HostArray, targets: HostArray, weight: HostArray, kept: float = 1.0
    ) -> Information:
        """Return the information with further rows.

        Parameters
        ----------
        columns : array of shape (n_rows, n_columns)
            Hidden columns.
        targets : array of shape (n_rows, n_outputs)
            Targets.
        weight : array of shape (n_rows,)
            How far each row counts.
        kept : float
            Share of the weight of all earlier rows that is left.

        Returns
        -------
        Information
            Of all rows.
        """
        below = np.empty((len(weight), self.factor.shape[0]), order="F")
        root = np.sqrt(weight)[:, None]
        np.multiply(columns, root, out=below[:, : self.n_columns])
        np.multiply(targets, root, out=below[:, self.n_columns :])
        factor = self.factor if kept == 1.0 else self.factor * np.sqrt(kept)
        panel = min(PANEL, factor.shape[0])
        factor, _, _, failed = dtpqrt(0, panel, factor, below, overwrite_b=True)
        assert failed == 0
        return replace(self, factor=factor, weight=kept * self.weight + float(np.sum(weight)))

    def output_weights(self) -> HostArray:
        """Return the output weights, shape (n_columns, n_outputs).

        Where the rows leave a direction open, those of smallest norm.
        """
        p = self.n_columns
        R, z = self.factor[:p, :p], self.factor[:p, p:]
        size = np.abs(np.diagonal(R))
        if size.min(initial=np.inf) > CUTOFF * size.max(initial=0.0):
            solution, failed = dtrtrs(R, z)
            if failed == 0:
                return solution
        return np.linalg.lstsq(R, z, rcond=CUTOFF)[0]


def nothing_known(n_columns: int, n_outputs: int) -> Information:
    """Return the information of no rows."""
    width = n_columns + n_outputs
    return Information(np.zeros((width, width), order="F"), n_columns)


def information_of(
    columns: HostArray,
    targets: HostArray,
    weight: HostArray,
    ridge: float = 0.0,
    towards: HostArray | None = None,
) -> Information:
    """Return the information of rows that are all given at once.

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns)
        Hidden columns, the constant last.
    targets : array of shape (n_rows, n_outputs)
        Targets.
    weight : array of shape (n_rows,)
        How far each row counts.
    ridge : float
        Penalty on the squared output weights, that of the constant aside, for each unit of
        weight. It stands in the factor like further rows, and fades as rows do.
    towards : array of shape (n_columns, n_outputs) or None
        Output weights that the penalty draws to; None stands for zero.

    Returns
    -------
    Information
        Of the rows and the penalty.
    """
    n_columns, n_outputs = columns.shape[1], targets.shape[1]
    total = float(np.sum(weight))
    root = np.sqrt(weight)[:, None]
    penalty = np.eye(n_columns, n_columns + n_outputs)
    if towards is not None:
        penalty[:, n_columns:] = towards
    penalty *= np.sqrt(ridge * total)
    penalty[n_columns - 1] = 0.0
    stacked = np.vstack([np.hstack([columns * root, targets * root]), penalty])
    width = n_columns + n_outputs
    if len(stacked) < width:
        stacked = np.vstack([stacked, np.zeros((width - len(stacked), width))])
    factor = np.linalg.qr(stacked, mode="r")
    return Information(np.asfortranarray(factor), n_columns, total)
