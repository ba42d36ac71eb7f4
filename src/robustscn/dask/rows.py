"""Training rows in chunks on a Dask cluster.

A column is a handle: one future for each chunk, and what the chunks look like. A reading of the
rows is one named task for each chunk, which works through it as `LocalRows` works through an
array; partial sums are merged in a tree on the workers, always in the order of the chunks, and
only the last few come here. Every task is a pure function of futures that are held, so a chunk
that a dying worker takes along is made again, and a step's tasks are as many for the hundredth
node as for the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from functools import reduce as fold
from itertools import accumulate
from typing import Any
from uuid import uuid4

import array_api_compat.numpy as numpy_namespace
import numpy as np
from distributed import Client, Future
from distributed.protocol.pickle import dumps
from joblib import effective_n_jobs

from ..core.arrays import HostArray
from ..core.rows import Column, Combine, LocalRows, Rows, Sums, Totals, added
from . import chunks
from .waiting import explained, gathered

FAN_IN = 8
"""Partial results that one task merges."""


@dataclass(frozen=True, eq=False)
class ChunkedColumn:
    """One entry for each row, in chunks that stay on the workers.

    To the algorithm it looks like an array whose elements cannot be asked for: it has a shape,
    a dtype and the namespace of its chunks.

    Parameters
    ----------
    parts : tuple of Future
        The chunks, none of them empty.
    shape : tuple of int
        Shape of the whole column.
    dtype : numpy.dtype
        Of its entries.
    place : tuple of int
        Where the column is in what a task made: empty if that is the column itself. A task for
        each of several columns, to take it out, would cost more than it does to carry them on.
    """

    parts: tuple[Future, ...]
    shape: tuple[int, ...]
    dtype: Any
    place: tuple[int, ...] = ()
    device: str = "cpu"

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return numpy_namespace

    def example(self) -> HostArray:
        """Return one row that looks like those of the column."""
        return np.ones((1, *self.shape[1:]), dtype=self.dtype)


@dataclass(frozen=True, eq=False)
class ChunkedStack(ChunkedColumn):
    """Append-only columns of which every shorter version stays valid; see `chunks.StackChunk`."""

    rows: DaskRows = field(kw_only=True)

    def appended(self, columns: ChunkedColumn) -> ChunkedStack:
        """Return a stack with the columns added."""
        work = partial(chunks.appended, columns.place)
        parts = self.rows.each_chunk("append", work, self.parts, columns.parts)
        shape = self.shape[0], self.shape[1] + columns.shape[1]
        return ChunkedStack(parts, shape, self.dtype, rows=self.rows)


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows in chunks on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    lengths : tuple of int
        Rows of each chunk, none of them zero.
    passes : list of str
        What the rows were read for, a word for each time.
    """

    client: Client
    lengths: tuple[int, ...]
    passes: list[str] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.lengths)

    @property
    def starts(self) -> list[int]:
        """The number of each chunk's first row."""
        return [0, *accumulate(self.lengths)][:-1]

    def each_chunk(self, what: str, fn: Callable[..., Any], *arguments: Any) -> tuple[Future, ...]:
        """Return one named task for each chunk; see `tasks`."""
        # There and back: where chunks do not all fit memory, those read last are still in it.
        way = slice(None, None, -1 if len(self.passes) % 2 else 1)
        made = tasks(self.client, what, fn, *(list(argument)[way] for argument in arguments))
        return made[way]

    def map(self, fn: Callable[..., Any], *columns: Column, width: int = 1) -> Any:
        """Return the column, or tuple of columns, that `fn` makes of each block."""
        return self._columns(self._read(chunks.mapped, fn, columns, width), _example(fn, columns))

    def reduce(
        self, fn: Sums, *columns: Column, width: int = 1, combine: Combine = added
    ) -> Totals:
        """Return what `fn` makes of each block, combined over the blocks on the host."""
        work = partial(chunks.reduced, sent(combine))
        return self._total(self._read(work, fn, columns, width), combine)

    def sweep(self, fn: Callable[..., Any], *columns: Column, width: int = 1) -> tuple[Any, Totals]:
        """Return new columns and sums: `fn` gives (column or tuple of columns, tuple of sums)."""
        both = self._read(chunks.swept, fn, columns, width)
        made = self._columns(both, _example(fn, columns)[0], (0,))
        # The sums alone travel; the columns stay.
        return made, self._total(self.each_chunk("pick", chunks.sums_of, both), added)

    def stack(self, reference: Column, capacity: int) -> ChunkedStack:
        """Return an empty stack of columns with the dtype of `reference`, beside its chunks."""
        start = partial(chunks.empty_stack, capacity, reference.place)
        parts = self.each_chunk("stack", start, reference.parts)
        return ChunkedStack(parts, (self.n_rows, 0), reference.dtype, rows=self)

    def positions(self, reference: Column) -> Column:  # noqa: ARG002
        """Return the rows' numbers, from zero."""
        parts = self.each_chunk("positions", chunks.numbered, self.starts, self.lengths)
        return ChunkedColumn(parts, (self.n_rows,), np.dtype(np.int64))

    def some(self, numbers: HostArray, *columns: Column) -> tuple[Rows, tuple[Column, ...]]:
        """Return the rows with the given numbers, in that order, in this process's memory."""
        self.passes.append("sample")
        chunk = np.searchsorted(np.cumsum(self.lengths), numbers, side="right")
        order = np.argsort(chunk, kind="stable")
        present, first = np.unique(chunk[order], return_index=True)
        starts = np.asarray(self.starts)[present]
        wanted = [
            group - start
            for group, start in zip(np.split(numbers[order], first[1:]), starts, strict=True)
        ]
        chosen = [[column.parts[i] for i in present] for column in columns]
        work = partial(chunks.taken, _places(columns))
        parts = gathered(self.client, self.each_chunk("sample", work, wanted, *chosen))
        back = np.argsort(order, kind="stable")
        joined = tuple(np.concatenate(pieces)[back] for pieces in zip(*parts, strict=True))
        return LocalRows(len(numbers), n_threads=effective_n_jobs(-1)), joined

    def _read(
        self, work: Callable[..., Any], fn: Callable[..., Any], columns: Any, width: int
    ) -> tuple[Future, ...]:
        self.passes.append(_name(fn))
        work = partial(work, sent(fn), width, _places(columns))
        return self.each_chunk(_name(fn), work, *(column.parts for column in columns))

    def _columns(self, parts: tuple[Future, ...], example: Any, place: tuple[int, ...] = ()) -> Any:
        if isinstance(example, tuple):
            return tuple(
                self._columns(parts, one, (*place, number)) for number, one in enumerate(example)
            )
        return ChunkedColumn(parts, (self.n_rows, *example.shape[1:]), example.dtype, place)

    def _total(
        self, parts: Sequence[Future], combine: Callable[[Totals, Totals], Totals]
    ) -> Totals:
        while len(parts) > FAN_IN:
            groups = [list(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
            parts = self.each_chunk("merge", partial(chunks.merged, sent(combine)), groups)
        # One more task for the last few would cost a round trip, and they are small.
        return fold(combine, gathered(self.client, parts))


def tasks(client: Client, what: str, fn: Callable[..., Any], *arguments: Any) -> tuple[Future, ...]:
    """Return named tasks, one for each of some arguments.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    what : str
        Shown on the dashboard.
    fn : callable
        A pure function.
    *arguments : sequences
        What each task is given.

    Returns
    -------
    tuple of Future
        The tasks.
    """
    name = f"robustscn-{what}-{uuid4().hex}"
    keys: list[Any] = [(name, number) for number in range(len(arguments[0]))]
    with explained(client):
        return tuple(client.map(fn, *arguments, key=keys, pure=False))


def sent(fn: Callable[..., Any]) -> chunks.Sent:
    """Return a function as it travels: pickled once, not once for each task."""
    return chunks.Sent(dumps(fn))


def _places(columns: Sequence[Column]) -> list[tuple[int, ...]]:
    return [column.place for column in columns]


def _example(fn: Callable[..., Any], columns: Sequence[Column]) -> Any:
    """Return what `fn` makes of one row: what the new columns look like, without waiting."""
    with np.errstate(all="ignore"):
        return fn(*(column.example() for column in columns))


def _name(fn: Callable[..., Any]) -> str:
    name = getattr(fn, "__name__", "rows").strip("_").replace("_", "-")
    return name if name.replace("-", "").isalpha() else "rows"
