"""From Dask arrays and data frames to checked columns on the workers, and back.

One task for each chunk makes an array of it and looks at every number, so that a missing
value, a text or a chunk that does not fit is an error with its name before any long work. The
chunks are made by tasks of the caller's own graph: one that a dying worker takes along can be
made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.highlevelgraph import HighLevelGraph
from distributed import Client, Future

from ..core.arrays import ORDER, HostArray
from ..core.rows import filled
from .chunks import at
from .placing import moves
from .rows import ChunkedColumn, DaskRows, tasks
from .waiting import ClusterError, explained, gathered


@dataclass(frozen=True)
class Loaded:
    """Checked training rows.

    Parameters
    ----------
    rows : DaskRows
        Where they live.
    X, y, weight : ChunkedColumn
        Inputs, targets as they were given, weights.
    lengths : tuple of int
        Rows of each chunk of the caller's, the empty ones too.
    header : array or pandas.DataFrame
        One row with the number of the inputs, and their names where they have any.
    largest : float
        Largest size of an input.
    weight_range : tuple of float
        Smallest and largest weight that is not zero; infinity and zero if there is none.
    """

    rows: DaskRows
    X: ChunkedColumn
    y: ChunkedColumn
    weight: ChunkedColumn
    lengths: tuple[int, ...]
    header: Any
    largest: float
    weight_range: tuple[float, float]


@dataclass(frozen=True)
class Look:
    """What was seen in one chunk.

    Parameters
    ----------
    lengths : dict
        Rows in each of X, y, sample_weight.
    fault : str or None
        What is wrong with its numbers.
    largest : float
        Largest size of an input.
    smallest_weight, largest_weight : float
        Of the weights that are not zero.
    """

    lengths: dict[str, int]
    fault: str | None
    largest: float
    smallest_weight: float
    largest_weight: float


def loaded(client: Client, X: Any, y: Any, sample_weight: Any = None) -> Loaded:
    """Return a caller's collections as checked columns.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    X, y, sample_weight : Dask arrays, data frames or series
        Training rows; weights may be None.

    Returns
    -------
    Loaded
        Columns whose chunks are on the workers.
    """
    given = {"X": as_array(X, "X"), "y": as_array(y, "y", flat_too=True)}
    if sample_weight is not None:
        given["sample_weight"] = as_array(sample_weight, "sample_weight", flat_too=True)
        if given["sample_weight"].ndim != 1:
            raise ValueError("sample_weight must be one number for each row, not a table")
    _check_alike(given)
    header = header_of(X)
    names = [str(name) for name in getattr(header, "columns", range(header.shape[1]))]
    parts = {name: _parts(client, name, array) for name, array in given.items()}
    looks = _looked_at(client, parts, names)
    for number, look in enumerate(looks):
        _check_chunk(number, look)
    lengths = tuple(look.lengths["X"] for look in looks)
    rows = DaskRows(client, tuple(n for n in lengths if n))
    if not rows.lengths:
        raise ValueError("X has no rows")
    parts = _evenly(client, parts, lengths)

    def column(name: str) -> ChunkedColumn:
        kept = tuple(part for part, n in zip(parts[name], lengths, strict=True) if n)
        return ChunkedColumn(kept, (rows.n_rows, *given[name].shape[1:]), given[name].dtype)

    inputs = column("X")
    weight = (
        filled(rows, 1.0, inputs)
        if sample_weight is None
        else rows.map(partial(np.asarray, dtype=inputs.dtype), column("sample_weight"))
    )
    return Loaded(
        rows,
        inputs,
        column("y"),
        weight,
        lengths,
        header,
        max(look.largest for look in looks),
        (min(k.smallest_weight for k in looks), max(k.largest_weight for k in looks)),
    )


def header_of(X: Any) -> Any:
    """Return one row that has the number of the inputs, and their names if there are any.

    Parameters
    ----------
    X : Dask array or data frame
        Inputs.

    Returns
    -------
    array or pandas.DataFrame
        Its values mean nothing.
    """
    if hasattr(X, "_meta_nonempty"):
        return X._meta_nonempty.iloc[:1]
    return np.zeros((1, X.shape[1]))


def as_array(collection: Any, name: str, *, flat_too: bool = False) -> da.Array:
    """Return a collection as an array of float64 or float32, lazily, in chunks of whole rows.

    Parameters
    ----------
    collection : Dask array, data frame or series
        What the caller gave.
    name : str
        What it is called in an error.
    flat_too : bool
        Whether one dimension is right as well as two.

    Returns
    -------
    dask.array.Array
        Rows may be unknown in number.
    """
    if not is_dask_collection(collection) or not hasattr(collection, "ndim"):
        kind = type(collection)
        raise TypeError(
            f"{name} is a {kind.__module__}.{kind.__qualname__}, not a Dask array or data frame: "
            "make one with dask.array.from_array or dask.dataframe.from_pandas, or use the "
            "estimator of the same name without Dask, which takes arrays in memory"
        )
    if collection.ndim != 2 and not (flat_too and collection.ndim == 1):
        raise ValueError(f"{name} has {collection.ndim} dimensions and needs two, rows and columns")
    if hasattr(collection, "_meta_nonempty"):
        dtype = _frame_dtype(collection, name)
        return collection.astype(dtype).to_dask_array().map_blocks(_floats, dtype)
    if collection.ndim == 2 and collection.shape[1] == 0:
        raise ValueError(f"{name} has no columns")
    if collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    return collection.map_blocks(_floats, _float_dtype(collection.dtype, name))


def _frame_dtype(frame: Any, name: str) -> Any:
    meta = frame._meta
    columns = meta.dtypes.items() if frame.ndim == 2 else [(meta.name, meta.dtype)]
    found = []
    for label, dtype in columns:
        if getattr(dtype, "kind", "O") not in "fiub":
            raise ValueError(
                f"column {label!r} of {name} has the type {dtype}, which is no number: leave it "
                "out, or encode it, for example with sklearn.preprocessing.OneHotEncoder"
            )
        # pandas' own types with missing values name the plain one they stand for.
        found.append(np.dtype(getattr(dtype, "numpy_dtype", dtype)))
    if not found:
        raise ValueError(f"{name} has no columns")
    return _float_dtype(np.result_type(*found), name)


def _float_dtype(dtype: Any, name: str) -> Any:
    """Return float32 for itself and float64 for any other number."""
    if dtype.kind not in "fiubO":
        raise ValueError(f"{name} has the type {dtype}, which is no number")
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)


def _check_alike(given: dict[str, da.Array]) -> None:
    """Raise where chunks are known not to belong together."""
    inputs = given["X"]
    for name, other in given.items():
        if other.numblocks[0] != inputs.numblocks[0]:
            raise ValueError(
                f"X has {inputs.numblocks[0]} chunks of rows and {name} has "
                f"{other.numblocks[0]}: {_how_to_align(name)}"
            )
        for number, sizes in enumerate(zip(inputs.chunks[0], other.chunks[0], strict=True)):
            if not any(isnan(size) for size in sizes):
                _check_lengths(number, dict(zip(("X", name), sizes, strict=True)))


def _check_lengths(number: int, lengths: dict[str, int]) -> None:
    for name, length in lengths.items():
        if length != lengths["X"]:
            raise ValueError(
                f"chunk {number} of X has {lengths['X']} rows and chunk {number} of {name} has "
                f"{length}: {_how_to_align(name)}"
            )


def _how_to_align(name: str) -> str:
    return (
        f"rows must lie in the same chunks, for example {name} = {name}.rechunk((X.chunks[0], "
        "...)), or take both from one data frame"
    )


def _check_chunk(number: int, look: Look) -> None:
    _check_lengths(number, look.lengths)
    if look.fault is not None:
        raise ValueError(f"chunk {number}: {look.fault}")


def _parts(client: Client, name: str, array: da.Array) -> tuple[Future, ...]:
    """Return the chunks of an array as tasks of the caller's graph."""
    blocks = client.compute(list(array.to_delayed().ravel()))
    return tasks(client, name.replace("_", "-"), np.ascontiguousarray, blocks)


def _evenly(
    client: Client, parts: dict[str, tuple[Future, ...]], lengths: Sequence[int]
) -> dict[str, tuple[Future, ...]]:
    """Return the same chunks, some of them elsewhere.

    Workers that had fewer rows get more, and what belongs to the same rows lies together.
    """
    with explained(client):
        threads = client.nthreads()
        found = client.who_has([part for futures in parts.values() for part in futures])
    homes = {
        name: [next(iter(found.get(part.key, ())), "") for part in futures]
        for name, futures in parts.items()
    }
    if not all(home in threads for at in homes.values() for home in at):
        return parts  # a worker came or went just now: as good a place as any
    places = list(homes["X"])
    for chunk, worker in moves(lengths, homes["X"], threads).items():
        places[chunk] = worker
    moved = {name: list(futures) for name, futures in parts.items()}
    for name, futures in moved.items():
        for chunk, worker in enumerate(places):
            if homes[name][chunk] == worker:
                continue
            # A wish, no demand: should that worker die, another takes its place.
            futures[chunk] = client.submit(
                np.asarray, futures[chunk], key=f"robustscn-{name}-{uuid4().hex}",
                workers=[worker], allow_other_workers=True,
            )  # fmt: skip
    return {name: tuple(futures) for name, futures in moved.items()}


def _looked_at(
    client: Client, parts: dict[str, tuple[Future, ...]], names: list[str]
) -> list[Look]:
    looks = tasks(client, "check", partial(_look, list(parts), names), *parts.values())
    try:
        return gathered(client, looks)
    except ClusterError:
        raise
    except Exception as error:
        failed = [number for number, look in enumerate(looks) if look.status == "error"]
        where = f"chunk {failed[0]}" if failed else "a chunk"
        raise ValueError(
            f"{where} of the training data could not be made: {type(error).__name__}: {error}"
        ) from error


def shown(column: ChunkedColumn, lengths: Sequence[int]) -> da.Array:
    """Return a column as a Dask array whose chunks are those the caller gave.

    Parameters
    ----------
    column : ChunkedColumn
        On the workers.
    lengths : sequence of int
        Rows of each chunk, the empty ones too.

    Returns
    -------
    dask.array.Array
        Made of the tasks that are already done.
    """
    name = f"robustscn-column-{uuid4().hex}"
    whole = column.parts
    if column.place:
        whole = tasks(whole[0].client, "column", partial(at, column.place), whole)
    rest, parts = column.shape[1:], iter(whole)
    place = (0,) * len(rest)
    graph: dict[Any, Any] = {
        (name, number, *place): next(parts) if length else np.empty((0, *rest), column.dtype)
        for number, length in enumerate(lengths)
    }
    chunks = (tuple(lengths), *((size,) for size in rest))
    return da.Array(HighLevelGraph.from_collections(name, graph), name, chunks, column.dtype)


# What follows runs on the workers.


def _floats(block: HostArray, dtype: Any) -> HostArray:
    return np.asarray(block, dtype=dtype, order=ORDER)


def _look(names: list[str], labels: list[str], *arrays: HostArray) -> Look:
    chunk = dict(zip(names, arrays, strict=True))
    X, weight = chunk["X"], chunk.get("sample_weight", np.ones(1))
    counted = weight[weight > 0]
    return Look(
        {name: len(array) for name, array in chunk.items()},
        _fault(chunk, labels),
        float(np.max(np.abs(X), initial=0.0)),
        float(np.min(counted, initial=np.inf)),
        float(np.max(counted, initial=0.0)),
    )


def _fault(chunk: dict[str, HostArray], labels: list[str]) -> str | None:
    """Return what is wrong with a chunk's numbers, None if nothing."""
    for name, array in chunk.items():
        wrong = np.argwhere(~np.isfinite(array))
        if len(wrong):
            row, *column = (int(number) for number in wrong[0])
            value = "a missing value" if np.isnan(array[*wrong[0]]) else "an infinite value"
            where = f"column {column[0]} of {name}" if column else name
            if name == "X":
                where = f"column {labels[column[0]]!r} of X"
            return f"{where} has {value} in row {row} of the chunk"
    if "sample_weight" in chunk and np.any(chunk["sample_weight"] < 0):
        row = int(np.argmax(chunk["sample_weight"] < 0))
        return f"sample_weight is negative in row {row} of the chunk"
    return None
