"""Where the training rows live: the only questions the algorithm may ask of them.

A column is anything with one entry for each row (inputs, targets, weights, residuals, a
stack of orthogonal columns). `map` makes new columns, `reduce` sums small arrays over the
rows, `sweep` does both in one reading of the data. Functions passed in see aligned blocks
of rows and nothing else, so the same algorithm runs on one machine's memory, on a device
and on a cluster; only the class that implements `Rows` differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from functools import reduce as fold
from os import getpid
from typing import Any, Protocol

import numpy as np
from array_api_compat import device

from .arrays import Array, HostArray, namespace, to_host64

GROUPS = 32
"""Runs of blocks that are folded apart: the same for any number of threads, so that sums are the
same to the bit. No more cores than that are used."""

ROWS_WORTH_A_CALL = 1024
"""Rows of a block beyond which it is better small than high: calls cost little by then. Changes
time."""


Column = Any
Totals = tuple[HostArray, ...]
Sums = Callable[..., tuple[Array, ...]]
Combine = Callable[[Totals, Totals], Totals]


def added(left: Totals, right: Totals) -> Totals:
    """Combine two partial results by adding them."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


class Stack(Protocol):
    """Append-only columns, read like one wide column."""

    def appended(self, columns: Column) -> Stack:
        """Return a stack with the columns, of shape (n_rows, k), added; this one stays valid."""
        ...


class Rows(Protocol):
    """Aligned columns of training rows."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def map(self, fn: Callable[..., Any], *columns: Column, width: int = 1) -> Any:
        """Return the column, or tuple of columns, that `fn` makes of each block."""
        ...

    def reduce(
        self, fn: Sums, *columns: Column, width: int = 1, combine: Combine = added
    ) -> Totals:
        """Return what `fn` makes of each block, combined over the blocks on the host."""
        ...

    def sweep(self, fn: Callable[..., Any], *columns: Column, width: int = 1) -> tuple[Any, Totals]:
        """Return new columns and sums: `fn` gives (column or tuple of columns, tuple of sums)."""
        ...

    def stack(self, reference: Column, capacity: int) -> Stack:
        """Return an empty stack of columns with the library and dtype of `reference`."""
        ...

    def positions(self, reference: Column) -> Column:
        """Return the rows' numbers, from zero, beside `reference`."""
        ...

    def some(self, numbers: HostArray, *columns: Column) -> tuple[Rows, tuple[Column, ...]]:
        """Return the rows with the given numbers, in that order, as rows of their own."""
        ...


@dataclass(frozen=True)
class ColumnStack:
    """Append-only columns of which every shorter version stays valid.

    Columns are contiguous and share one buffer. Appending to the newest version writes into
    the buffer; appending to an older one, whose next columns are taken, copies first.

    Parameters
    ----------
    buffer : array of shape (capacity, n_rows)
        The shared storage, one column of the matrix in each row.
    width : int
        How many columns this version has.
    claimed : list of int
        One number shared by all versions: how many columns of the buffer are in use.
    """

    buffer: Array
    width: int
    claimed: list[int]

    def block(self, start: int, stop: int) -> Array:
        """Return rows `start` to `stop` as an array of shape (stop - start, width)."""
        return self.buffer[: self.width, start:stop].T

    def appended(self, columns: Array) -> ColumnStack:
        """Return a stack with the columns, an array of shape (n_rows, k), added."""
        xp = namespace(self.buffer)
        stop = self.width + columns.shape[1]
        capacity, n_rows = self.buffer.shape
        buffer, claimed = self.buffer, self.claimed
        if self.width < claimed[0] or stop > capacity:
            buffer = xp.empty(
                (max(stop, min(2 * capacity, stop + 64)), n_rows),
                dtype=buffer.dtype,
                device=device(buffer),
            )
            buffer[: self.width, :] = self.buffer[: self.width, :]
            claimed = [self.width]
        buffer[self.width : stop, :] = columns.T
        claimed[0] = stop
        return ColumnStack(buffer, stop, claimed)


@dataclass(frozen=True)
class LocalRows:
    """Rows in one memory, read in blocks small enough to stay in cache.

    Blocks are gathered into at most `GROUPS` runs. A run is folded from its first block to its
    last and the runs in order, whoever works on them, so sums are the same to the last bit for
    any number of threads.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    block_bytes : int
        Bound on one temporary array of a block: rows times `width` times the item size. A
        quarter of it where that leaves rows enough.
    n_threads : int
        Runs worked on at the same time. NumPy lets go of the interpreter inside its loops.

    Examples
    --------
    >>> import numpy as np
    >>> rows = LocalRows(3)
    >>> rows.reduce(lambda x: (x.sum(),), np.array([1.0, 2.0, 3.0]))
    (array(6.),)
    """

    n_rows: int
    block_bytes: int = 2**22
    n_threads: int = 1

    def _runs(self, width: int) -> list[range]:
        """Return runs of blocks, each a range of first rows whose step is the block's height."""
        step = max(1, self.block_bytes // (8 * max(1, width)))
        if step > ROWS_WORTH_A_CALL:
            step = max(ROWS_WORTH_A_CALL, step // 4)
        n_blocks = -(-self.n_rows // step)
        each = -(-n_blocks // GROUPS)
        return [
            range(start, min(start + each * step, self.n_rows), step)
            for start in range(0, self.n_rows, each * step)
        ]

    def _each(self, work: Callable[[range], Any], runs: Sequence[range]) -> Iterator[Any]:
        if self.n_threads == 1 or len(runs) < 2:
            return map(work, runs)
        return _threads(self.n_threads).map(work, runs)

    def _blocks(
        self, run: range, columns: tuple[Column, ...]
    ) -> Iterator[tuple[int, int, list[Array]]]:
        for start in run:
            stop = min(start + run.step, self.n_rows)
            yield start, stop, [_block(column, start, stop) for column in columns]

    def map(self, fn: Callable[..., Any], *columns: Column, width: int = 1) -> Any:
        """Return the column, or tuple of columns, that `fn` makes of each block."""
        return self.sweep(lambda *blocks: (fn(*blocks), ()), *columns, width=width)[0]

    def reduce(
        self, fn: Sums, *columns: Column, width: int = 1, combine: Combine = added
    ) -> Totals:
        """Return what `fn` makes of each block, combined over the blocks on the host."""

        def folded(run: range) -> Totals:
            parts = (
                tuple(to_host64(value) for value in fn(*blocks))
                for _, _, blocks in self._blocks(run, columns)
            )
            return fold(combine, parts)

        return fold(combine, self._each(folded, self._runs(width)))

    def sweep(self, fn: Callable[..., Any], *columns: Column, width: int = 1) -> tuple[Any, Totals]:
        """Return new columns and sums: `fn` gives (column or tuple of columns, tuple of sums)."""
        runs = self._runs(width)
        # The first block shows what the new columns look like.
        start, stop, blocks = next(self._blocks(runs[0], columns))
        first, partial = fn(*blocks)
        opening = tuple(to_host64(value) for value in partial)
        if stop == self.n_rows:
            return first, opening
        several = isinstance(first, tuple)
        made = tuple(_room_for(value, self.n_rows) for value in (first if several else (first,)))

        def keep(start: int, stop: int, new: Any) -> None:
            for target, value in zip(made, new if several else (new,), strict=True):
                target[start:stop, ...] = value

        def folded(run: range) -> Totals | None:
            totals = opening if run.start == 0 else None
            rest = run[1:] if run.start == 0 else run
            for start, stop, blocks in self._blocks(rest, columns):
                new, partial = fn(*blocks)
                part = tuple(to_host64(value) for value in partial)
                totals = part if totals is None else added(totals, part)
                keep(start, stop, new)
            return totals

        keep(start, stop, first)
        totals = fold(added, self._each(folded, runs))
        return (made if several else made[0]), totals

    def stack(self, reference: Column, capacity: int) -> ColumnStack:
        """Return an empty stack of columns with the library and dtype of `reference`."""
        xp = namespace(reference)
        buffer = xp.empty((capacity, self.n_rows), dtype=reference.dtype, device=device(reference))
        return ColumnStack(buffer, 0, [0])

    def positions(self, reference: Column) -> Column:
        """Return the rows' numbers, from zero, beside `reference`."""
        return namespace(reference).arange(self.n_rows, device=device(reference))

    def some(self, numbers: HostArray, *columns: Column) -> tuple[Rows, tuple[Column, ...]]:
        """Return the rows with the given numbers, in that order, as rows of their own."""
        xp = namespace(*columns)
        index = xp.asarray(numbers, device=device(columns[0]))
        taken = tuple(xp.take(column, index, axis=0) for column in columns)
        return replace(self, n_rows=len(numbers)), taken


@lru_cache(maxsize=4)
def _threads_of(process: int, n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix=f"robustscn-{process}")


def _threads(n_threads: int) -> ThreadPoolExecutor:
    # Threads do not survive a fork: each process has its own.
    return _threads_of(getpid(), n_threads)


def _block(column: Column, start: int, stop: int) -> Array:
    if isinstance(column, ColumnStack):
        return column.block(start, stop)
    return column[start:stop, ...]


def _room_for(block: Array, n_rows: int) -> Array:
    xp = namespace(block)
    # Transposed: columns are contiguous, as a stack keeps them.
    shape = (*reversed(block.shape[1:]), n_rows)
    made = xp.empty(shape, dtype=block.dtype, device=device(block))
    return made.T if made.ndim == 2 else made


def filled(rows: Rows, value: float, reference: Column) -> Column:
    """Return a column of one constant with the library and dtype of `reference`."""
    return rows.map(
        lambda block: namespace(block).full(
            (block.shape[0],), value, dtype=block.dtype, device=device(block)
        ),
        reference,
    )


def spread(n_rows: int, count: int) -> HostArray:
    """Return `count` row numbers of which every first few are spread over all rows; see `taken`."""
    limit = 1.01 * count / n_rows + 64 / n_rows if count < n_rows else 1.0
    chosen, turns = [], []
    for start in range(0, n_rows, 2**22):  # of a thousand million rows, not all at once
        numbers = np.arange(start, min(start + 2**22, n_rows))
        turned = numbers * 0.6180339887498949
        turned -= np.floor(turned)
        chosen.append(numbers[turned < limit])
        turns.append(turned[turned < limit])
    return np.concatenate(chosen)[np.argsort(np.concatenate(turns), kind="stable")][:count]


def taken(position: Array, share: float) -> Array:
    """Return which row numbers belong to a sample of the given share of all rows.

    Multiples of the golden ratio, modulo one, spread evenly along every periodic pattern of
    rows; being a function of the number alone, they take the same rows in any partition.
    """
    xp = namespace(position)
    turned = xp.astype(position, xp.float64) * 0.6180339887498949
    return turned - xp.floor(turned) < share


def sample(rows: Rows, share: float, *columns: Column) -> Totals:
    """Return the same share of the rows of several columns, on the host."""

    def chosen(at: Array, *blocks: Array) -> Totals:
        wanted = taken(at, share)
        return tuple(to_host64(block[wanted]) for block in blocks)

    return rows.reduce(chosen, rows.positions(columns[0]), *columns, combine=end_to_end)


def end_to_end(left: Totals, right: Totals) -> Totals:
    """Combine two partial results by putting them end to end."""
    return tuple(np.concatenate(pair) for pair in zip(left, right, strict=True))
