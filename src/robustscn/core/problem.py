"""Weighted training rows, all of them or some."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import HostArray, to_host64
from .rows import Column, LocalRows, Rows, spread
from .search import squared_error
from .sketch import Sketch, sketch_of
from .statistics import total_weight


@dataclass(frozen=True)
class Problem:
    """Weighted training rows.

    Parameters
    ----------
    rows : Rows
        Where they live.
    X : column of shape (n_rows, n_features)
        Inputs.
    y : column of shape (n_rows, n_outputs)
        Targets.
    weight : column of shape (n_rows,)
        The caller's weights times the learned ones.
    sketch : Sketch or None
        What candidates are ranked by before the best are scored as they are, on all rows.
    trusted : column of shape (n_rows,) or None
        One where a row is known to be right, else zero; None where no row is known to be.
    """

    rows: Rows
    X: Column
    y: Column
    weight: Column
    sketch: Sketch | None = None
    trusted: Column | None = None

    def energy(self, residuals: Column) -> HostArray:
        """Return the weighted sum of squares of each output."""
        return squared_error(self.rows, residuals, self.weight)

    def total_weight(self) -> float:
        """Return the sum of the weights."""
        return total_weight(self.rows, self.weight)


def some_rows(problem: Problem, count: int) -> Problem:
    """Return `count` of the rows, spread over all, as a problem on the host.

    In float64: some thousand rows are looked at faster by a processor than by a device that waits
    for each small step.
    """
    numbers = spread(problem.rows.n_rows, count)
    columns = [problem.X, problem.y, problem.weight]
    if problem.trusted is not None:
        columns.append(problem.trusted)
    _, taken = problem.rows.some(numbers, *columns)
    X, y, weight, *trusted = (to_host64(column) for column in taken)
    rows = LocalRows(count)
    return Problem(rows, X, y, weight, sketch_of(rows, X), *trusted)
