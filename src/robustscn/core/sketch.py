"""Screening: what candidates are ranked by before the best are scored on all rows as they are.

Ranking takes most of the time of a fit and needs little precision: float32 always, and on large
data a sample of the rows. The inequality is checked on all rows in full precision, so its
guarantee does not depend on anything in here; only which candidates get that far does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, HostArray, namespace
from .rows import Column, Rows, spread

UNSAMPLED_ROWS = 2**15
"""Candidates are ranked by all rows where these are no more: a sample would save no time."""

FEWEST_SAMPLED, MOST_SAMPLED = 2**13, 2**17
"""Bounds on the rows of a sample by which candidates are ranked: four standard errors of a
correlation are 0.04 and 0.01. The tests ask that no more than 2 % of the error is lost by it."""


@dataclass(frozen=True)
class Sketch:
    """Inputs in float32, of all rows or of a sample: enough to tell good candidates from bad.

    Parameters
    ----------
    X : column of shape (n_some, n_features)
        The inputs.
    numbers : int array of shape (n_some,) or None
        Which rows they are of, each first few spread over all; None for all rows in order.
    """

    X: Column
    numbers: HostArray | None = None

    def columns(
        self, rows: Rows, residuals: Column, weight: Column, share: float
    ) -> tuple[Rows, Column, Column, Column]:
        """Return rows, inputs, residuals and weights to rank candidates of the next node by.

        The share s of the error that a candidate removes is the square of a correlation, which
        n rows tell to about 1 / sqrt(n). With 100 / s rows that is a tenth of the correlation
        itself; s is reckoned to be what the newest node removed.

        Parameters
        ----------
        rows : Rows
            Where all rows live.
        residuals, weight : columns
            Of all rows.
        share : float
            Share of the squared error that the newest node removed.

        Returns
        -------
        Rows, column, column, column
            The rows to rank by, their inputs, residuals and weights in float32.
        """
        X, e = self.X, residuals
        if self.numbers is not None:
            n = int(np.clip(100.0 / max(share, 1e-12), FEWEST_SAMPLED, len(self.numbers)))
            rows, (e, weight) = rows.some(self.numbers[:n], e, weight)
            X = X[:n, :]
        dtype = X.dtype

        def shortened(e: Array, w: Array) -> tuple[Array, Array]:
            xp = namespace(e)
            # A row of weight zero may hold anything that float64 does.
            return xp.astype(xp.clip(e, -1e15, 1e15), dtype), xp.astype(w, dtype)

        return rows, X, *rows.map(shortened, e, weight)


def sketch_of(rows: Rows, X: Column) -> Sketch:
    """Return the sketch of some inputs: all rows where they are few, else a sample."""

    def shortened(x: Array) -> Array:
        xp = namespace(x)
        return xp.astype(xp.clip(x, -1e12, 1e12), xp.float32)

    if rows.n_rows <= UNSAMPLED_ROWS:
        return Sketch(rows.map(shortened, X))
    numbers = spread(rows.n_rows, MOST_SAMPLED)
    _, (some,) = rows.some(numbers, X)
    return Sketch(shortened(some), numbers)
