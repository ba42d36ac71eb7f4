"""Trees as plain arrays: what boosting learned, in a form that files and ONNX can carry.

A library's own trees hold numbers that its compiled code follows without looking; a crafted file
could lead it anywhere. Here a tree is five columns, a child always comes after its parent, and
NumPy looks where it is led.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import HostArray

LEAF = -1
"""Input that a leaf asks for: no input has this number."""

AT_ONCE = 2**20
"""Places in trees (rows times trees) that are followed together: some megabytes for each column."""

MANY_ROWS = 512
"""Rows from which on it pays to make tables of the trees first. Changes time."""

BITS = 32
"""Leaves of a tree that the bits of a word can stand for; words of 64 bits would take twice as
long to read, and boosted trees have 31 leaves at most unless they are told otherwise."""

EVERY_LEAF = np.uint32(2**BITS - 1)
"""The word in which no leaf is struck out, where nothing is asked of an input."""

TREES_AT_ONCE = 64
"""Trees of which tables are made together: a few megabytes."""


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
        if len(X) >= MANY_ROWS:
            trees = self._trees()
            if np.bincount(trees[self.inputs == LEAF]).max() <= BITS:
                return self._struck_out(X, trees)
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

    def _trees(self) -> HostArray:
        """Return the number of the tree that each place belongs to."""
        return np.searchsorted(self.roots, np.arange(len(self.inputs)), side="right") - 1

    def _struck_out(self, X: HostArray, trees: HostArray) -> HostArray:
        """Return predictions by striking leaves out: what every answer leaves of a tree is one.

        Following the way down takes a step for each question, at another place for each row. Here
        a tree's leaves are bits, and what all its questions to one input leave of them is read
        from a table: an input's place among the thresholds says where.
        """
        inner = np.flatnonzero(self.inputs != LEAF)
        below = self._leaves_below(trees)
        left, right = ~below[self.right[inner]], ~below[self.left[inner]]
        found = np.full(len(X), self.baseline)
        places, at, n_places = self._places(X, inner)
        leaf_values = np.zeros((len(self.roots), BITS))
        leaves = np.flatnonzero(self.inputs == LEAF)
        leaf_values[trees[leaves], _rank(trees[leaves])] = self.values[leaves]
        for start in range(0, len(self.roots), TREES_AT_ONCE):
            own = (trees[inner] >= start) & (trees[inner] < start + TREES_AT_ONCE)
            nodes = inner[own]
            pairs, of = np.unique(
                trees[nodes] * self.n_features + self.inputs[nodes], return_inverse=True
            )
            tables = _tables(of, at[own], left[own], right[own], self.missing_left[nodes], n_places)
            owners = pairs // self.n_features
            for tree in range(start, min(start + TREES_AT_ONCE, len(self.roots))):
                first, last = np.searchsorted(owners, (tree, tree + 1))
                left_over = np.full(len(X), below[self.roots[tree]])
                for pair in range(first, last):
                    where = places[pairs[pair] % self.n_features]
                    left_over &= np.take(tables[pair], where, mode="clip")
                leaf = np.frexp(left_over.astype(np.float64))[1] - 1
                found += np.take(leaf_values[tree], leaf, mode="clip")
        return found

    def _leaves_below(self, trees: HostArray) -> HostArray:
        """Return which leaves of its tree each place leads to, as bits."""
        leaf = self.inputs == LEAF
        inner = np.flatnonzero(~leaf)
        below = np.zeros(len(leaf), dtype=np.uint32)
        below[leaf] = np.uint32(1) << _rank(trees[leaf]).astype(np.uint32)
        for _ in range(BITS):  # no way is longer than there are leaves
            below[inner] = below[self.left[inner]] | below[self.right[inner]]
        return below

    def _places(self, X: HostArray, inner: HostArray) -> tuple[list[HostArray], HostArray, int]:
        """Return where inputs lie among their thresholds, where questions do, how many places.

        The last place is that of what is missing.
        """
        edges = [
            np.unique(self.thresholds[inner[self.inputs[inner] == j]])
            for j in range(self.n_features)
        ]
        n_places = max(map(len, edges)) + 2
        places = [np.searchsorted(each, x) for each, x in zip(edges, X.T, strict=True)]
        for place, x in zip(places, X.T, strict=True):
            place[np.isnan(x)] = n_places - 1
        at = np.empty(len(inner), dtype=np.int64)
        for j, each in enumerate(edges):
            asked = self.inputs[inner] == j
            at[asked] = np.searchsorted(each, self.thresholds[inner[asked]])
        return places, at, n_places

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


def _rank(groups: HostArray) -> HostArray:
    """Return each entry's number within its group; entries of a group follow each other."""
    new = np.r_[True, groups[1:] != groups[:-1]]
    starts = np.flatnonzero(new)
    return np.arange(len(groups)) - starts[np.cumsum(new) - 1]


def _tables(
    of: HostArray,
    at: HostArray,
    left: HostArray,
    right: HostArray,
    missing_left: HostArray,
    n_places: int,
) -> HostArray:
    """Return what questions leave of the leaves, by tree and input, at each place of the input."""
    order = np.argsort(of, kind="stable")
    rank = np.empty(len(of), dtype=np.int64)
    rank[order] = _rank(of[order])
    tables = np.full((int(of.max(initial=-1)) + 1, n_places), EVERY_LEAF, dtype=np.uint32)
    numbers = np.arange(n_places)
    for turn in range(int(rank.max(initial=-1)) + 1):
        asked = np.flatnonzero(rank == turn)
        goes_left = numbers <= at[asked, None]
        goes_left[:, -1] = missing_left[asked]
        tables[of[asked]] &= np.where(goes_left, left[asked, None], right[asked, None])
    return tables


def mean_of(forests: Sequence[Forest], shares: Sequence[float]) -> Forest:
    """Return one forest that predicts a weighted mean of several."""
    offsets = np.cumsum([0, *(len(each.inputs) for each in forests)])[:-1]
    moved = {
        name: np.concatenate(
            [getattr(each, name) + o for each, o in zip(forests, offsets, strict=True)]
        )
        for name in ("roots", "left", "right")
    }
    kept = {
        name: np.concatenate([getattr(each, name) for each in forests])
        for name in ("inputs", "thresholds", "missing_left")
    }
    values = [share * each.values for each, share in zip(forests, shares, strict=True)]
    baseline = sum(share * each.baseline for each, share in zip(forests, shares, strict=True))
    return Forest(
        float(baseline),
        **moved,
        **kept,
        values=np.concatenate(values),
        n_features=forests[0].n_features,
    )
