"""Rows spread evenly over the workers: a pass takes as long as the worker that has the most.

Dask makes chunks wherever a worker is free at that moment and leaves them there. A fit reads them
some hundred times, so moving a few of them once, before it begins, is cheap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

UNEVEN = 1.1
"""Times a worker's fair share of the rows above which chunks are moved from it."""


def moves(
    lengths: Sequence[int], homes: Sequence[str], threads: Mapping[str, int]
) -> dict[int, str]:
    """Return which chunks are to move where.

    Parameters
    ----------
    lengths : sequence of int
        Rows of each chunk.
    homes : sequence of str
        The worker that has each chunk.
    threads : mapping of str to int
        Threads of each worker: one with two works on twice as many rows in the same time.

    Returns
    -------
    dict
        From a chunk's number to a worker. Each move lowers the larger of two workers' rows for
        each thread, until none does or nobody has much more than a fair share.
    """
    rows = dict.fromkeys(threads, 0)
    for length, home in zip(lengths, homes, strict=True):
        rows[home] += length
    place, fair = list(homes), sum(lengths) / sum(threads.values())
    while True:
        full, free = (
            which(threads, key=lambda worker: rows[worker] / threads[worker])
            for which in (max, min)
        )
        most = rows[full] / threads[full]

        def after(chunk: int, full: str = full, free: str = free) -> float:
            left = (rows[full] - lengths[chunk]) / threads[full]
            return max(left, (rows[free] + lengths[chunk]) / threads[free])

        there = [chunk for chunk, home in enumerate(place) if home == full and after(chunk) < most]
        if most <= UNEVEN * fair or not there:
            return {chunk: to for chunk, to in enumerate(place) if to != homes[chunk]}
        best = min(there, key=after)
        place[best] = free
        rows[full] -= lengths[best]
        rows[free] += lengths[best]
