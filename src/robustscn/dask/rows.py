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
from joblib import effective_n_jobs

from .._arrays import Array, HostArray
from ..rows import Column, LocalRows, Rows, Totals, added
from .waiting import explained, gathered

FAN_IN = 8
"""Partial results that one task merges."""

BLOCK_BYTES = 2**17 - 2**12
"""Bound on a temporary array in a task. Above 128 KiB a worker would give it back to the system
and ask for it anew each time (MALLOC_TRIM_THRESHOLD_), which takes as long as the work on it."""

WIDEST_LAYER = 32
"""Columns up to which layers of a stack are joined: more would be copied too often."""


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
    """

    parts: tuple[Future, ...]
    shape: tuple[int, ...]
    dtype: Any
    device: str = "cpu"

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return numpy_namespace

    def chunks(self) -> list[Any]:
        """Return what a task is given for each chunk."""
        return list(self.parts)

    def example(self) -> HostArray:
        """Return one row that looks like those of the column."""
        return np.ones((1, *self.shape[1:]), dtype=self.dtype)


@dataclass(frozen=True, eq=False)
class ChunkedStack:
    """Append-only columns of which every shorter version stays valid.

    A chunk of it is a list of layers, each with its columns as contiguous rows. New layers are
    joined with older ones that are not wider, so that their number grows only slowly and no
    column is copied often.

    Parameters
    ----------
    rows : DaskRows
        Where they live.
    layers : tuple of ChunkedColumn
        Layers; the `shape` of each is that of its columns side by side.
    dtype : numpy.dtype
        Of the entries.
    """

    rows: DaskRows
    layers: tuple[ChunkedColumn, ...]
    dtype: Any
    device: str = "cpu"

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return numpy_namespace

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.rows.n_rows, sum(layer.shape[1] for layer in self.layers)

    def chunks(self) -> list[Any]:
        """Return what a task is given for each chunk."""
        return [list(parts) for parts in zip(*(layer.parts for layer in self.layers), strict=True)]

    def example(self) -> HostArray:
        """Return one row that looks like those of the stack."""
        return np.ones((1, self.shape[1]), dtype=self.dtype)

    def appended(self, columns: ChunkedColumn) -> ChunkedStack:
        """Return a stack with the columns added."""
        older, width = list(self.layers), columns.shape[1]
        joined: list[ChunkedColumn] = []
        while older and older[-1].shape[1] <= width <= WIDEST_LAYER - older[-1].shape[1]:
            joined.insert(0, older.pop())
            width += joined[0].shape[1]
        layers = [list(parts) for parts in zip(*(layer.parts for layer in joined), strict=True)]
        parts = self.rows.each_chunk(
            "append", _joined, layers or [[] for _ in columns.parts], columns.parts
        )
        newest = ChunkedColumn(parts, (self.rows.n_rows, width), self.dtype)
        return ChunkedStack(self.rows, (*older, newest), self.dtype)


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
        self.passes.append(_name(fn))
        parts = self.each_chunk(_name(fn), partial(_mapped, fn, width), *_chunks(columns))
        return self._columns(parts, _example(fn, columns))

    def reduce(
        self,
        fn: Callable[..., tuple[Array, ...]],
        *columns: Column,
        width: int = 1,
        combine: Callable[[Totals, Totals], Totals] = added,
    ) -> Totals:
        """Return what `fn` makes of each block, combined over the blocks on the host."""
        self.passes.append(_name(fn))
        work = partial(_reduced, fn, width, combine)
        return self._total(self.each_chunk(_name(fn), work, *_chunks(columns)), combine)

    def sweep(self, fn: Callable[..., Any], *columns: Column, width: int = 1) -> tuple[Any, Totals]:
        """Return new columns and sums: `fn` gives (column or tuple of columns, tuple of sums)."""
        self.passes.append(_name(fn))
        both = self.each_chunk(_name(fn), partial(_swept, fn, width), *_chunks(columns))
        made = self._columns(self._picked(both, 0), _example(fn, columns)[0])
        return made, self._total(self._picked(both, 1), added)

    def stack(self, reference: Column, capacity: int) -> ChunkedStack:  # noqa: ARG002
        """Return an empty stack of columns with the dtype of `reference`."""
        empty = self.each_chunk("stack", partial(_empty_layer, reference.dtype), self.lengths)
        layer = ChunkedColumn(empty, (self.n_rows, 0), reference.dtype)
        return ChunkedStack(self, (layer,), reference.dtype)

    def positions(self, reference: Column) -> Column:  # noqa: ARG002
        """Return the rows' numbers, from zero."""
        parts = self.each_chunk("positions", _numbered, self.starts, self.lengths)
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
        chosen = [[chunks[i] for i in present] for chunks in _chunks(columns)]
        parts = gathered(self.client, self.each_chunk("sample", _taken, wanted, *chosen))
        back = np.argsort(order, kind="stable")
        joined = tuple(np.concatenate(pieces)[back] for pieces in zip(*parts, strict=True))
        return LocalRows(len(numbers), n_threads=effective_n_jobs(-1)), joined

    def _columns(self, parts: tuple[Future, ...], example: Any) -> Any:
        if not isinstance(example, tuple):
            return self._column(parts, example)
        return tuple(
            self._column(self._picked(parts, number), one) for number, one in enumerate(example)
        )

    def _column(self, parts: tuple[Future, ...], example: Array) -> ChunkedColumn:
        return ChunkedColumn(parts, (self.n_rows, *example.shape[1:]), example.dtype)

    def _picked(self, parts: tuple[Future, ...], number: int) -> tuple[Future, ...]:
        # Apart from each other, what is no longer needed can be let go of.
        return self.each_chunk("pick", partial(_item, number), parts)

    def _total(
        self, parts: Sequence[Future], combine: Callable[[Totals, Totals], Totals]
    ) -> Totals:
        while len(parts) > FAN_IN:
            groups = [list(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
            parts = self.each_chunk("merge", partial(_merged, combine), groups)
        # One more task for the last few would cost a round trip, and they are small.
        return _merged(combine, gathered(self.client, parts))


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


def _chunks(columns: Sequence[Column]) -> list[list[Any]]:
    return [column.chunks() for column in columns]


def _example(fn: Callable[..., Any], columns: Sequence[Column]) -> Any:
    """Return what `fn` makes of one row: what the new columns look like, without waiting."""
    with np.errstate(all="ignore"):
        return fn(*(column.example() for column in columns))


def _name(fn: Callable[..., Any]) -> str:
    name = getattr(fn, "__name__", "rows").strip("_").replace("_", "-")
    return name if name.replace("-", "").isalpha() else "rows"


# What follows runs on the workers.


@dataclass(frozen=True)
class _Layers:
    """Layers of a stack that are read as one array, block by block."""

    layers: list[HostArray]

    @property
    def dtype(self) -> Any:
        return self.layers[0].dtype

    @property
    def shape(self) -> tuple[int, int]:
        return self.layers[0].shape[1], sum(len(layer) for layer in self.layers)

    def __getitem__(self, place: tuple[slice, Any]) -> HostArray:
        return np.concatenate([layer[:, place[0]] for layer in self.layers]).T


def _local(chunks: Sequence[Any]) -> tuple[LocalRows, list[Any]]:
    columns = [_Layers(chunk) if isinstance(chunk, list) else chunk for chunk in chunks]
    itemsize = max(column.dtype.itemsize for column in columns)
    # LocalRows reckons with eight bytes for each number.
    return LocalRows(columns[0].shape[0], BLOCK_BYTES * 8 // itemsize), columns


def _mapped(fn: Callable[..., Any], width: int, *chunks: Any) -> Any:
    rows, columns = _local(chunks)
    return rows.map(fn, *columns, width=width)


def _reduced(
    fn: Callable[..., Any], width: int, combine: Callable[[Totals, Totals], Totals], *chunks: Any
) -> Totals:
    rows, columns = _local(chunks)
    return rows.reduce(fn, *columns, width=width, combine=combine)


def _swept(fn: Callable[..., Any], width: int, *chunks: Any) -> tuple[Any, Totals]:
    rows, columns = _local(chunks)
    return rows.sweep(fn, *columns, width=width)


def _merged(combine: Callable[[Totals, Totals], Totals], parts: list[Totals]) -> Totals:
    return fold(combine, parts)


def _item(number: int, made: tuple[Any, ...]) -> Any:
    return made[number]


def _empty_layer(dtype: Any, n_rows: int) -> HostArray:
    return np.empty((0, n_rows), dtype=dtype)


def _joined(layers: list[HostArray], columns: HostArray) -> HostArray:
    # Without room given, NumPy would lay the result out as it finds `columns`.
    width = sum(len(layer) for layer in layers) + columns.shape[1]
    room = np.empty((width, columns.shape[0]), dtype=columns.dtype)
    return np.concatenate([*layers, columns.T], out=room)


def _numbered(start: int, length: int) -> HostArray:
    return np.arange(start, start + length)


def _taken(numbers: HostArray, *chunks: HostArray) -> tuple[HostArray, ...]:
    return tuple(np.take(chunk, numbers, axis=0) for chunk in chunks)
