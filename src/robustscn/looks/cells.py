"""Single cells that neither the other columns nor the rows before and after explain.

A wrong cell also spoils what is expected of the other columns of its row, and in a column that
remembers, of its neighbours in time. So each cell that is far away is repaired for a try, and the
one is taken whose repair leaves the whole row as rows usually are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .finding import Finding, counted
from .order import Order
from .others import Others

Array = NDArray[np.float64]

FAR, FAR_SLIP = 10.0, 6.0
"""Times the distance from both neighbours within which 95 % of a column's cells lie; and the same
for a cell that is as usual once its decimal point is moved. Measured on other draws and tables than
the page of planted faults reports: slips lay beyond 7, but for those of the laser; at 4 the laser's
own jumps were blamed, one row in two hundred."""
MOST = 0.05
"""Share of a column's cells from which on they are no slips but how the column is."""
CROWD, MOST_CROWDED = 16, 4
"""So many cells of a column within so many rows are a stretch, of which others look for the cause.
"""
SLIPS = (10.0, 0.1, 100.0, 0.01, 1000.0, 0.001)
_ROUNDS = 4
_FITS = 2.0
"""Times the usual distance within which a cell is as usual: few right ones lie beyond."""


class Cell(NamedTuple):
    """A cell that is odd.

    Parameters
    ----------
    row, column : int
        Its place.
    expected : float
        What it should be by all around it.
    times : float or None
        How many times too much it is, where that is a power of ten.
    """

    row: int
    column: int
    expected: float
    times: float | None


def odd_cells(others: Others, known: NDArray[np.bool_]) -> list[Cell]:
    """Return single cells that contradict all around them.

    Parameters
    ----------
    others : Others
        What columns say of each other.
    known : bool ndarray of shape (n_rows, n_columns)
        Cells that are no gaps.

    Returns
    -------
    list of Cell
        In the order of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn.looks.cells import odd_cells
    >>> from robustscn.looks.others import Others
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal([[20.0], [50.0]], 3.0, (2, 500))
    >>> table = np.column_stack([a, b, a + b + rng.normal(size=500)])
    >>> table[200, 1] *= 10
    >>> (cell,) = odd_cells(Others(table), np.ones(table.shape, dtype=bool))
    >>> cell.row, cell.column, cell.times, bool(abs(10 * cell.expected / table[200, 1] - 1) < 0.1)
    (200, 1, 10.0, True)
    """
    table = others.table.copy()
    found: dict[tuple[int, int], Cell] = {}
    usual = np.zeros(table.shape[1])
    for _ in range(_ROUNDS):
        deviations = np.where(known, others.deviations(table), 0.0)
        if not found:
            alone = _sides(deviations).alone(deviations)
            usual = np.maximum(np.quantile(alone, 0.95, axis=0), 1.0)
        new = _blamed(others, table, deviations, usual)
        if not new:
            break
        for cell in new:
            found[cell.row, cell.column] = cell
            table[cell.row, cell.column] = cell.expected
    return _single(list(found.values()), others.table)


class _Sides(NamedTuple):
    """Deviations of the rows before and after: medians of three, which single cells do not move."""

    before: Array
    after: Array

    def told(self, memory: Array) -> Array:
        """Return what they let expect of the row between them."""
        told: Array = memory / (1 + memory**2) * (self.before + self.after)
        return told

    def alone(self, now: Array) -> Array:
        """Return how far cells are from both, if to one side: a step is close to one of them."""
        steps = np.stack([now - self.before, now - self.after])
        same = np.sign(steps[0]) == np.sign(steps[1])
        return np.where(same, np.abs(steps).min(axis=0), 0.0)


def _sides(deviations: Array) -> _Sides:
    wide = np.pad(deviations, ((3, 3), (0, 0)), mode="reflect")
    medians = np.median(np.lib.stride_tricks.sliding_window_view(wide, 3, axis=0), axis=-1)
    return _Sides(medians[: len(deviations)], medians[4:])


def _blamed(others: Others, table: Array, deviations: Array, usual: Array) -> list[Cell]:
    """Return the cell of each odd row whose repair leaves the row as usual."""
    sides = _sides(deviations)
    told = sides.told(others.memory)
    far = np.abs(deviations - told) / usual
    rows, columns = np.nonzero((far > FAR_SLIP) & (sides.alone(deviations) / usual > far / 2))
    if not len(rows):
        return []
    each, first = np.arange(len(rows)), table[rows]

    def left(values: Array) -> Array:
        """Return how far the cells of each row would be, had one of them this value."""
        tried = first.copy()
        tried[each, columns] = values
        return np.abs(others.deviations(tried, places=rows) - told[rows]) / usual

    times = np.full(len(rows), np.nan)
    for factor in SLIPS:
        fits = left(first[each, columns] / factor)[each, columns] < _FITS
        times[np.isnan(times) & fits] = factor
    expected = _expected(others, first, columns, rows, told[rows, columns])
    after = left(expected).max(axis=1)
    chosen = []
    for row in np.unique(rows):
        here = np.flatnonzero(rows == row)
        best = int(here[np.argmin(after[here])])
        column, slip = int(columns[best]), None if np.isnan(times[best]) else float(times[best])
        before = far[row, column]
        if before > (FAR if slip is None else FAR_SLIP) and after[best] < max(FAR_SLIP, before / 5):
            chosen.append(Cell(int(row), column, float(expected[best]), slip))
    return chosen


def _expected(
    others: Others,
    rows: Array,
    columns: NDArray[np.int64],
    places: NDArray[np.int64],
    deviation: Array,
) -> Array:
    """Return what one cell of each row should be."""
    values = np.empty(len(rows))
    for column in np.unique(columns):
        mine = columns == column
        values[mine] = others.expected(rows[mine], int(column), places[mine], deviation[mine])
    return values


def _single(cells: list[Cell], table: Array) -> list[Cell]:
    """Return cells that stand alone, and are a power of ten off or beyond all that is usual.

    A crowd of them in one column has another cause; a value that the column often has may be right
    and the models wrong.
    """
    kept = []
    low, high = np.quantile(table, [0.01, 0.99], axis=0)
    low, high = low - (high - low) / 2, high + (high - low) / 2
    for column in range(table.shape[1]):
        mine = [cell for cell in cells if cell.column == column]
        if len(mine) > max(1.0, MOST * len(table)):
            continue
        rows = np.array([cell.row for cell in mine], dtype=int)
        near = (np.abs(rows[:, None] - rows[None, :]) < CROWD).sum(axis=1)
        beyond = (table[rows, column] < low[column]) | (table[rows, column] > high[column])
        kept += [
            cell
            for cell, n, out in zip(mine, near, beyond, strict=True)
            if n < MOST_CROWDED and (out or cell.times is not None)
        ]
    return sorted(kept, key=lambda cell: cell[:2])


def without(cells: list[Cell], others: Others) -> tuple[Others, NDArray[np.bool_]]:
    """Return what columns say of each other with these cells repaired.

    Parameters
    ----------
    cells : list of Cell
        Those that are odd.
    others : Others
        What columns say of each other. Its models stay: a few cells do not move them.

    Returns
    -------
    Others
        The same models beside the repaired table.
    repaired : bool ndarray of shape (n_rows, n_columns)
        Cells that say nothing any more.
    """
    table, repaired = others.table.copy(), np.zeros(others.table.shape, dtype=bool)
    for cell in cells:
        table[cell.row, cell.column] = cell.expected
        repaired[cell.row, cell.column] = True
    return others.with_table(table), repaired


def findings_of(
    cells: list[Cell], names: Sequence[str], rows: NDArray[np.int64], order: Order
) -> Iterator[Finding]:
    """Say of each column which of its cells are odd.

    Parameters
    ----------
    cells : list of Cell
        Those that are odd.
    names : sequence of str
        The columns.
    rows : ndarray of shape (n_rows,)
        Which rows of the table they are counted in.
    order : Order
        What rows are called.

    Yields
    ------
    Finding
        "unit" of those that are a power of ten too large or small, "cell" of others.
    """
    for column, name in enumerate(names):
        mine = [cell for cell in cells if cell.column == column]
        for factor in (*SLIPS, None):
            here = rows[[cell.row for cell in mine if cell.times == factor]]
            if not len(here):
                continue
            if factor is None:
                words = f"is far from what all around it says in {counted(here)}"
            else:
                times = f"{factor:g} times" if factor > 1 else f"1/{1 / factor:g} of"
                words = f"is about {times} what all around it says in {counted(here)}"
                words += ": unit or decimal sign?"
            kind = "cell" if factor is None else "unit"
            yield Finding(name, kind, words, here, order.some(here))
