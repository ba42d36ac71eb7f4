"""Trees as plain arrays: what boosting learned, in a form that files and ONNX can carry.

A library's own trees hold numbers that its compiled code follows without looking; a crafted file
could lead it anywhere. Here a tree is five columns, a child always comes after its parent, and
NumPy looks where it is led.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import HostArray

LEAF = -1
"""Input that a leaf asks for: no input has this number."""

AT_ONCE = 2**20
"""Places in trees (rows times trees) that are followed together: some megabytes for each column."""


@dataclass(frozen=True)
class Forest:
    """Regression trees whose values are summed.

    Parameters
    ----------
    baseline : float
        What is predicted where no tree says anything.
    roots : int array of shape (n_trees,)
        Where each tree begins.
    inputs : int array of shape (n_places,)
        Which input is asked for at each place; `LEAF` ends the way.
    thresholds : array of shape (n_places,)
        Up to which value the way goes left.
    left, right : int arrays of shape (n_places,)
        Where it goes on.
    missing_left : bool array of shape (n_places,)
        Whether it goes left where the input is missing.
    values : array of shape (n_places,)
        What a leaf adds.
    n_features : int
        Number of inputs.
    """

    baseline: float
    roots: HostArray
    inputs: HostArray
    thresholds: HostArray
    left: HostArray
    right: HostArray
    missing_left: HostArray
    values: HostArray
    n_features: int

    def predict(self, X: HostArray) -> HostArray:
        """Return the sum over all trees, shape (n_rows,).

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Inputs; NaN where they are missing.

        Returns
        -------
        array of shape (n_rows,)
            Predictions.
        """
        X = np.asarray(X, dtype=np.float64)
        if X.shape[1:] != (self.n_features,):
            raise ValueError(f"X has {X.shape[1]} inputs, the trees ask for {self.n_features}")
        found = np.empty(len(X))
        size = max(1, AT_ONCE // max(1, len(self.roots)))
        for start in range(0, len(X), size):
            found[start : start + size] = self._followed(X[start : start + size])
        return found

    def _followed(self, X: HostArray) -> HostArray:
        place = np.repeat(self.roots[None, :], len(X), axis=0)
        rows, trees = np.nonzero(self.inputs[place] != LEAF)
        while len(rows):
            at = place[rows, trees]
            x = X[rows, self.inputs[at]]
            goes_left = np.where(np.isnan(x), self.missing_left[at], x <= self.thresholds[at])
            at = np.where(goes_left, self.left[at], self.right[at])
            place[rows, trees] = at
            on = self.inputs[at] != LEAF
            rows, trees = rows[on], trees[on]
        return self.baseline + np.sum(self.values[place], axis=1)

    def sound(self) -> bool:
        """Return whether every way stays within the arrays, asks for an input and ends."""
        columns = (self.inputs, self.left, self.right, self.roots)
        if any(c.ndim != 1 or c.dtype.kind not in "iu" for c in columns):
            return False
        n = len(self.inputs)
        others = (self.thresholds, self.left, self.right, self.missing_left, self.values)
        if any(np.shape(c) != (n,) for c in others):
            return False
        inner = np.flatnonzero(self.inputs != LEAF)
        # A child comes after its parent: whatever the numbers are, the way ends.
        on = all(np.all((c[inner] > inner) & (c[inner] < n)) for c in (self.left, self.right))
        asked = np.all((self.inputs[inner] >= 0) & (self.inputs[inner] < self.n_features))
        return bool(on and asked and np.all((self.roots >= 0) & (self.roots < n)))
