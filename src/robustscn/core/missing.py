"""Missing inputs: what stands for them, and a mark where something was missing.

A value that is not known gets the median of those that are; that it was missing may itself say
something of the target, so each input that had gaps when it was learned has a column of marks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .rows import Column, Rows, Totals
from .statistics import quantile


@dataclass(frozen=True)
class Missing:
    """What was learned of the inputs' gaps.

    Parameters
    ----------
    fill : array of shape (n_features,)
        What a missing value is replaced by; NaN for an input of which no value was ever known:
        it is zero whatever it holds, as nothing was learned of its values.
    marked : tuple of int
        Numbers of the inputs that have a column of marks, in order: those of which some values
        were missing and others known.

    Examples
    --------
    >>> import numpy as np
    >>> Missing(np.array([5.0, 7.0]), (1,)).filled(np.array([[1.0, np.nan], [np.nan, 2.0]]))
    array([[1., 7., 1.],
           [5., 2., 0.]])
    """

    fill: HostArray
    marked: tuple[int, ...]

    @property
    def width(self) -> int:
        """Number of columns, marks included."""
        return len(self.fill) + len(self.marked)

    def unheard(self) -> HostArray:
        """Return which inputs had no known value, a bool for each."""
        return np.isnan(self.fill)

    def filled(self, X: Array) -> Array:
        """Return the inputs without gaps and marks, zero or one, beside them.

        Where there is nothing to do these are the inputs themselves, not a copy.
        """
        xp = namespace(X)
        gaps = xp.isnan(X)
        instead = like(np.nan_to_num(self.fill), X)
        known = X
        if self.unheard().any():
            replaced = xp.logical_or(gaps, like(self.unheard(), X) > 0)
            known = xp.where(replaced, instead, X)
        elif bool(xp.any(gaps)):
            known = xp.where(gaps, instead, X)
        if not self.marked:
            return known
        marks = [xp.astype(gaps[:, j : j + 1], X.dtype) for j in self.marked]
        return xp.concat([known, *marks], axis=1)

    def sound(self) -> bool:
        """Return whether the parts agree, as those of a file may not."""
        fill, marked = self.fill, self.marked
        if not isinstance(fill, np.ndarray) or fill.ndim != 1 or fill.dtype != np.float64:
            return False
        if not isinstance(marked, tuple) or not all(type(j) is int for j in marked):
            return False
        within = all(0 <= j < len(fill) for j in marked)
        return within and list(marked) == sorted(set(marked)) and not np.isinf(fill).any()


def missing_of(rows: Rows, X: Column, weight: Column) -> Missing:
    """Return what is to be known of the gaps in the inputs of rows that have weight.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    X : column of shape (n_rows, n_features)
        Inputs, NaN where they are missing.
    weight : column of shape (n_rows,)
        Weights, none negative.

    Returns
    -------
    Missing
        Weighted medians of the known values, and marks for inputs that have gaps.
    """

    def absent(x: Array, w: Array) -> Totals:
        xp = namespace(x)
        gaps = xp.logical_and(xp.isnan(x), (w > 0)[:, None])
        return (xp.sum(xp.astype(gaps, xp.int64), axis=0),)

    def known(x: Array, w: Array, j: int) -> tuple[Array, Array]:
        xp = namespace(x)
        gaps, none = xp.isnan(x[:, j]), xp.zeros_like(w)
        return xp.where(gaps, none, x[:, j]), xp.where(gaps, none, w)

    (n_gaps,) = rows.reduce(absent, X, weight, width=X.shape[1])
    each = (rows.map(lambda x, w, j=j: known(x, w, j), X, weight) for j in range(X.shape[1]))
    medians = np.array([quantile(rows, values, counts, 0.5) for values, counts in each])
    heard = np.isfinite(medians)  # of no known value it is minus infinity
    marked = np.flatnonzero(heard & (n_gaps > 0))
    return Missing(np.where(heard, medians, np.nan), tuple(int(j) for j in marked))
