"""Weighted training rows, all of them or some."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from array_api_compat import is_numpy_array

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
    fold : column of shape (n_rows,) or None
        Which part each row is in, where rows that belong together are to be judged together;
        None where parts follow from the inputs.
    """

    rows: Rows
    X: Column
    y: Column
    weight: Column
    sketch: Sketch | None = None
    trusted: Column | None = None
    fold: Column | None = None

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
    told = {name: getattr(problem, name) for name in ("trusted", "fold")}
    told = {name: column for name, column in told.items() if column is not None}
    _, taken = problem.rows.some(numbers, problem.X, problem.y, problem.weight, *told.values())
    X, y, weight, *others = (to_host64(column) for column in taken)
    rows = LocalRows(count)
    return Problem(rows, X, y, weight, sketch_of(rows, X), **dict(zip(told, others, strict=True)))


def weighed(problem: Problem) -> Problem:
    """Return the rows that have weight, where they are in this memory; the others only take time.

    A device waits for the count, and a cluster's rows lie where they lie: there it is all of them.
    """
    if not isinstance(problem.rows, LocalRows) or not is_numpy_array(problem.X):
        return problem
    numbers = np.flatnonzero(problem.weight > 0)
    if len(numbers) in (0, problem.rows.n_rows):
        return problem
    rows, (X, y, weight) = problem.rows.some(numbers, problem.X, problem.y, problem.weight)
    sketch = None if problem.sketch is None else sketch_of(rows, X)
    return Problem(rows, X, y, weight, sketch)
