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

from .arrays import Array, HostArray, histogram, namespace, to_host64

GROUPS = 32
"""Runs of blocks that are folded apart: the same for any number of threads, so that sums are the
same to the bit. No more cores than that are used."""

ROWS_WORTH_A_CALL = 1024
"""Rows of a block beyond which it is better small than high: calls cost little by then. Changes
time."""

SORTED_ROWS = 2**15
"""Rows left in a bin at which a quantile is found by sorting them: some milliseconds. Changes
time."""

BINS = 512
"""Bins that each reading of many rows refines a quantile by: three readings do for ten million."""

MET = 1 - 1e-13
"""Summed weights round; a share met to the last digit counts as met."""

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

    return rows.reduce(chosen, rows.positions(columns[0]), *columns, combine=_end_to_end)


def quantile(rows: Rows, values: Column, weight: Column, share: float) -> float:
    """Return the smallest value up to which at least `share` of the total weight lies.

    Few rows are brought here and sorted. Of many, bins are refined around the answer until few
    are left in the one that holds it. The answer is exact, and weight k is k times the row. One
    reading of the rows does for 32,768 of them, three for ten million; each two more for 512
    times as many.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    values : column of shape (n_rows,)
        The numbers, finite.
    weight : column of shape (n_rows,)
        Weights, none negative.
    share : float
        Between 0 and 1.

    Returns
    -------
    float
        The weighted quantile; minus infinity where no row has weight.

    Examples
    --------
    >>> import numpy as np
    >>> quantile(LocalRows(3), np.array([5.0, 1.0, 9.0]), np.ones(3), 0.5)
    5.0
    """
    if rows.n_rows <= SORTED_ROWS:
        return _sorted_quantile(
            rows, values, weight, lambda _, w: w > 0, lambda total: share * total * MET
        )
    low, high = _extremes(rows, values, weight, lambda _, w: w > 0)
    while low < high and np.isfinite(BINS / (high - low)):
        edges = (low, high)

        def masses(block: Array, w: Array, edges: tuple[float, float] = edges) -> Totals:
            xp = namespace(block)
            index = xp.astype(_bins(block, w, *edges) + 1, xp.int64)
            return histogram(index, w, BINS + 3), histogram(index, xp.ones_like(w), BINS + 3)

        mass, count = rows.reduce(masses, values, weight)
        reached = np.cumsum(mass[1:])
        wanted = share * reached[-1] * MET
        hit = int(np.searchsorted(reached, wanted))
        hit = min(max(hit, 1), BINS)

        def inside(block: Array, w: Array, hit: int = hit, edges: Any = edges) -> Array:
            return _bins(block, w, *edges) == hit

        if count[hit + 1] <= SORTED_ROWS:
            left = float(wanted - reached[hit - 1])

            def remaining(_: float, left: float = left) -> float:
                return left

            return _sorted_quantile(rows, values, weight, inside, remaining)
        low, high = _extremes(rows, values, weight, inside)
    return high


def _bins(block: Array, w: Array, low: float, high: float) -> Array:
    # 0: below low; 1 .. BINS: between low and high; BINS + 1: above; -1: no weight.
    xp = namespace(block)
    # Clipped first: a row far outside of the bins would overflow on its way into the last.
    near = xp.clip(block, low, high) - low
    inside = xp.clip(xp.floor(near * (BINS / (high - low))), 0.0, BINS - 1.0) + 1
    inside = xp.where(block < low, xp.zeros_like(block), inside)
    inside = xp.where(block > high, xp.full_like(block, BINS + 1), inside)
    return xp.where(w > 0, inside, xp.full_like(block, -1))


def _extremes(
    rows: Rows, values: Column, weight: Column, wanted: Callable[[Array, Array], Array]
) -> tuple[float, float]:
    """Return the smallest and the largest of the wanted values."""

    def extent(block: Array, w: Array) -> Totals:
        xp = namespace(block)
        counted, infinite = wanted(block, w), xp.full_like(block, float("inf"))
        return (
            xp.min(xp.where(counted, block, infinite)),
            xp.max(xp.where(counted, block, -infinite)),
        )

    def widest(left: Totals, right: Totals) -> Totals:
        return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])

    low, high = rows.reduce(extent, values, weight, combine=widest)
    return float(low), float(high)


def _sorted_quantile(
    rows: Rows,
    values: Column,
    weight: Column,
    inside: Callable[[Array, Array], Array],
    wanted: Callable[[float], float],
) -> float:
    """Return the smallest of some rows' values up to which the wanted weight of theirs lies."""

    def kept(block: Array, w: Array) -> Totals:
        chosen = inside(block, w)  # by a mask where the rows are: few of them come here
        return to_host64(block[chosen]), to_host64(w[chosen])

    few, counts = rows.reduce(kept, values, weight, combine=_end_to_end)
    if not len(few):
        return -np.inf
    order = np.argsort(few, kind="stable")
    reached = np.cumsum(counts[order])
    place = int(np.searchsorted(reached, wanted(float(reached[-1]))))
    return float(few[order][min(place, len(few) - 1)])


def _end_to_end(left: Totals, right: Totals) -> Totals:
    return tuple(np.concatenate(pair) for pair in zip(left, right, strict=True))
