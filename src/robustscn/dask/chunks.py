"""What workers do with a chunk of rows: they read it in blocks, as `LocalRows` reads an array.

Every function here is pure, so a result that dies with its worker can be made again. The one
thing that is shared and written to is the buffer of a stack's chunk, of which each version sees
only the columns that it was made with.
"""

from __future__ import annotations

import ctypes
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from functools import reduce as fold
from threading import Lock
from typing import Any

import numpy as np

from ..core.arrays import HostArray
from ..core.rows import ColumnStack, LocalRows, Totals

KEPT_BYTES = 2**22
"""Arrays up to this size are kept by a worker for the next one of their kind."""

MOST_ROOM = 64
"""Columns that a stack has room for at first; more are found when they come."""

Place = tuple[int, ...]
"""Where a column is in what a task made."""

_one_at_a_time = Lock()


@dataclass(frozen=True)
class Sent:
    """A function on its way to the workers, each of which makes it of the bytes only once.

    Parameters
    ----------
    pickled : bytes
        The function with what it has closed over.
    """

    pickled: bytes

    @property
    def function(self) -> Callable[..., Any]:
        """The function."""
        return _unpickled(self.pickled)


@lru_cache(maxsize=32)
def _unpickled(pickled: bytes) -> Any:
    return pickle.loads(pickled)


@dataclass(frozen=True, eq=False)
class StackChunk:
    """One chunk of a stack: append-only columns in a buffer that newer versions share.

    Only the columns of this version count for its size and travel with it, to another worker
    or to the disk.

    Parameters
    ----------
    columns : ColumnStack
        The columns.
    """

    columns: ColumnStack

    @property
    def dtype(self) -> Any:
        """Of the entries."""
        return self.columns.buffer.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.columns.buffer.shape[1], self.columns.width

    def __getitem__(self, place: tuple[slice, Any]) -> HostArray:
        return self.columns.block(place[0].start, place[0].stop)

    def __sizeof__(self) -> int:
        n_rows, width = self.shape
        return n_rows * width * self.dtype.itemsize

    def __reduce__(self) -> tuple[Any, ...]:
        return _stack_of, (self.columns.buffer[: self.columns.width],)


def _stack_of(columns: HostArray) -> StackChunk:
    # What comes from elsewhere may be read-only: it counts as taken, so nothing is added to it.
    return StackChunk(ColumnStack(columns, len(columns), [len(columns) + 1]))


def empty_stack(capacity: int, place: Place, made: Any) -> StackChunk:
    """Return a chunk of a stack without columns, with the rows and dtype of another column."""
    reference = at(place, made)
    room = np.empty((min(capacity, MOST_ROOM), len(reference)), dtype=reference.dtype)
    return StackChunk(ColumnStack(room, 0, [0]))


def appended(place: Place, stack: StackChunk, made: Any) -> StackChunk:
    """Return the chunk with columns added; the one without them stays as it is."""
    with _one_at_a_time:  # two threads must not take the same place in a buffer
        return StackChunk(stack.columns.appended(at(place, made)))


def at(place: Place, made: Any) -> Any:
    """Return one of the columns that a task made."""
    return fold(lambda whole, number: whole[number], place, made)


def mapped(fn: Sent, width: int, places: Sequence[Place], *made: Any) -> Any:
    """Return the columns that `fn` makes of a chunk."""
    rows, columns = _chunk(places, made)
    return rows.map(fn.function, *columns, width=width)


def reduced(combine: Sent, fn: Sent, width: int, places: Sequence[Place], *made: Any) -> Totals:
    """Return the sums of `fn` over a chunk."""
    rows, columns = _chunk(places, made)
    return rows.reduce(fn.function, *columns, width=width, combine=combine.function)


def swept(fn: Sent, width: int, places: Sequence[Place], *made: Any) -> tuple[Any, Totals]:
    """Return columns and sums of a chunk."""
    rows, columns = _chunk(places, made)
    return rows.sweep(fn.function, *columns, width=width)


def sums_of(both: tuple[Any, Totals]) -> Totals:
    """Return the sums of what `swept` gave."""
    return both[1]


def merged(combine: Sent, parts: list[Totals]) -> Totals:
    """Return partial results as one, in their order."""
    return fold(combine.function, parts)


def numbered(start: int, length: int) -> HostArray:
    """Return the numbers of a chunk's rows."""
    return np.arange(start, start + length)


def taken(places: Sequence[Place], numbers: HostArray, *made: Any) -> tuple[HostArray, ...]:
    """Return some rows of a chunk."""
    return tuple(np.take(at(*one), numbers, axis=0) for one in zip(places, made, strict=True))


def _chunk(places: Sequence[Place], made: Sequence[Any]) -> tuple[LocalRows, list[Any]]:
    keep_small_arrays()
    columns = [at(*one) for one in zip(places, made, strict=True)]
    return LocalRows(columns[0].shape[0]), columns


@lru_cache(maxsize=1)
def keep_small_arrays() -> None:
    """Let this process keep the memory of small arrays instead of giving it back each time.

    Dask starts workers with MALLOC_TRIM_THRESHOLD_, under which the GNU allocator asks the
    system for every array over 128 KiB and gives it back at once. For the temporary arrays of a
    block that takes as long as the work on them. Large arrays, the columns themselves, are still
    given back. Who sets MALLOC_MMAP_THRESHOLD_ has chosen, and other allocators have no need.
    """
    if "MALLOC_MMAP_THRESHOLD_" in os.environ:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        mmap_threshold, trim_threshold = -3, -1  # from malloc.h
        mallopt(mmap_threshold, KEPT_BYTES)
        mallopt(trim_threshold, 4 * KEPT_BYTES)
