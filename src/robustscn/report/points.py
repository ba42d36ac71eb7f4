"""Single rows for the charts and the table, and the share of distrusted rows along them all.

Charts of a million points are slow and say no more than charts of ten thousand. Suspect rows
are kept first, the strangest before the others, up to half of what is kept; the rest is drawn
evenly from the trusted rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ..judgement import Judgement
from .columns import Column

MOST_POINTS = 10_000
MOST_STRETCHES = 60
SHORTEST_STRETCH = 20
UNLIKELY = 1e-3
"""Chance below which a stretch of distrusted rows is worth a sentence."""


@dataclass(frozen=True)
class Points:
    """Rows that are shown: trusted ones in row order, then suspects, the strangest last.

    Parameters
    ----------
    name : Column
        What the data call each row.
    position : array of shape (n,)
        Which training row it is, from zero.
    along : Column or None
        Its time, if the data have one.
    weight : array of shape (n,)
        Inlier weight.
    observed, expected, deviations : array of shape (n, n_targets)
        The target as it came, what was expected, and the difference in robust standard
        deviations.
    worst : array of shape (n,)
        The target that deviates most.
    n_suspects : int
        How many of the rows, the last ones, are suspect.
    raw : tuple of Column
        The main inputs as they came.
    plausible : array of shape (n, n_targets, 2) or None
        Between which values clean targets lie, where the estimator knows intervals.
    """

    name: Column
    position: NDArray[np.int64]
    along: Column | None
    weight: NDArray[np.float64]
    observed: NDArray[np.float64]
    expected: NDArray[np.float64]
    deviations: NDArray[np.float64]
    worst: NDArray[np.int64]
    n_suspects: int
    raw: tuple[Column, ...]
    plausible: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.position)

    def thinned(self, most: int) -> Points:
        """Return at most so many rows, suspects first, the strangest before the others."""
        n_trusted = len(self) - self.n_suspects
        suspects = min(self.n_suspects, max(most - n_trusted, most // 2))
        trusted = min(n_trusted, most - suspects)
        even = np.linspace(0, max(n_trusted - 1, 0), trusted).round().astype(int)
        rows = np.concatenate([even, np.arange(len(self) - suspects, len(self))])
        return replace(self._take(rows), n_suspects=suspects)

    def _take(self, rows: NDArray[Any]) -> Points:
        columns = ("position", "weight", "observed", "expected", "deviations", "worst")
        return replace(
            self,
            **{column: getattr(self, column)[rows] for column in columns},
            name=self.name.take(rows),
            along=None if self.along is None else self.along.take(rows),
            plausible=None if self.plausible is None else self.plausible[rows],
            raw=tuple(column.take(rows) for column in self.raw),
        )


def points_of(
    judge: Judgement, name: Column, along: Column | None, raw: tuple[Column, ...]
) -> Points:
    """Return the rows that are shown.

    Parameters
    ----------
    judge : Judgement
        Weights and residuals of all rows.
    name, along, raw : Column, Column or None, tuple of Column
        All rows' names, times and main inputs.

    Returns
    -------
    Points
        At most `MOST_POINTS`.
    """
    size = np.abs(judge.deviations)
    strangeness = np.where(judge.outliers, size.max(axis=1), -1.0)
    order = np.argsort(strangeness, kind="stable")
    everything = Points(
        name,
        np.arange(len(order)),
        along,
        judge.inlier_weight,
        judge.expected + judge.residuals,
        judge.expected,
        judge.deviations,
        size.argmax(axis=1),
        int(judge.outliers.sum()),
        raw,
    )
    return everything._take(order).thinned(MOST_POINTS)


@dataclass(frozen=True)
class Stretches:
    """Runs of rows that follow each other, equally many in each.

    Parameters
    ----------
    middle : array of shape (n,)
        Position, or time, in the middle of each stretch.
    share : array of shape (n,)
        Share of its rows that were distrusted.
    first, last : tuple of str or float
        Name, or time, of the first and the last row of the stretch that is distrusted most.
    n_rows : int
        Rows in that stretch.
    stands_out : bool
        Whether its share is beyond what chance makes of the share of all rows.
    """

    middle: NDArray[np.float64]
    share: NDArray[np.float64]
    first: Any
    last: Any
    n_rows: int
    stands_out: bool


def stretches_of(suspect: NDArray[np.bool_], name: Column, along: Column | None) -> Stretches:
    """Return the share of distrusted rows along the rows.

    Parameters
    ----------
    suspect : bool array of shape (n_rows,)
        Rows that were distrusted.
    name : Column
        What the data call each row.
    along : Column or None
        Times to put the rows in order by.

    Returns
    -------
    Stretches
        At most `MOST_STRETCHES`, with at least `SHORTEST_STRETCH` rows each.
    """
    shown = name if along is None else along
    where = np.arange(len(suspect), dtype=float) if along is None else along.values
    order = np.argsort(where, kind="stable")
    order = order[np.isfinite(where[order])]
    number = min(MOST_STRETCHES, len(order) // SHORTEST_STRETCH)
    if number < 2:
        return Stretches(np.array([]), np.array([]), "", "", 0, False)
    runs = np.array_split(order, number)
    share = np.array([suspect[run].mean() for run in runs])
    worst = int(np.argmax(share))
    # The chance of so many or more, were suspects scattered at random; one of `number` looked at.
    count = int(suspect[runs[worst]].sum())
    chance = number * binom.sf(count - 1, len(runs[worst]), suspect.mean())
    return Stretches(
        np.array([where[run[len(run) // 2]] for run in runs]),
        share,
        shown.values[runs[worst][0]],
        shown.values[runs[worst][-1]],
        len(runs[worst]),
        bool(count and chance < UNLIKELY),
    )
