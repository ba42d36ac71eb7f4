"""Waiting for a cluster without hanging: what cannot come any more is an error that says why.

Distributed makes lost chunks again by itself when a worker dies. Three things it cannot mend:
a scheduler that is gone, a cluster that was restarted (it forgets all data), and a cluster
without workers, for which it would wait for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from time import monotonic
from typing import Any

from distributed import Client, Future, KilledWorker
from distributed.comm import CommClosedError

LOOK_SECONDS = 2.0
"""How often a waiting client looks whether the cluster is still there."""

LONELY_SECONDS = 120.0
"""How long a fit waits for a cluster that has lost its scheduler or all of its workers."""


class ClusterError(RuntimeError):
    """The cluster cannot go on with a fit."""


@contextmanager
def explained(client: Client) -> Iterator[None]:
    """Turn errors for which the cluster is to blame into a `ClusterError` that says so.

    Parameters
    ----------
    client : distributed.Client
        The cluster.

    Yields
    ------
    None
        While something is asked of it; an error of a task itself is raised as it is.
    """
    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            "a chunk of rows ended every worker that tried it, most likely for want of memory: "
            "use smaller chunks, fewer threads for each worker, or workers with more memory"
        ) from error
    except ClusterError:
        raise
    except Exception as error:
        lost = isinstance(error, CancelledError | CommClosedError)
        if not lost and client.status == "running":
            raise
        raise ClusterError(
            "the cluster lost the data of this fit: its scheduler went away or it was restarted; "
            "connect to a running cluster and fit again"
        ) from error


def gathered(client: Client, futures: Sequence[Future]) -> list[Any]:
    """Return the results of some tasks, or raise an error that says why there are none.

    Parameters
    ----------
    client : distributed.Client
        Where they were submitted.
    futures : sequence of Future
        The tasks.

    Returns
    -------
    list
        Their results, in order.
    """
    with explained(client):
        return _patiently(client, list(futures))


Found = tuple[BaseException | None, list[Any]]
"""The first error there is, or all results."""


def _patiently(client: Client, futures: list[Future]) -> list[Any]:
    alone_since = None
    work = client.sync(_begun, client, futures)
    while True:
        found = client.sync(_looked_at, work, LOOK_SECONDS)
        if found is not None:
            error, results = found
            if error is not None:
                raise error
            return results
        missing = _missing(client)
        if missing is None:
            alone_since = None
            continue
        alone_since = alone_since or monotonic()
        if client.status == "closed" or monotonic() - alone_since > LONELY_SECONDS:
            work.get_loop().call_soon_threadsafe(work.cancel)
            raise ClusterError(f"{missing}: start it again and fit again")


async def _begun(client: Client, futures: list[Future]) -> asyncio.Task[Found]:
    return asyncio.ensure_future(_results(client, futures))


async def _looked_at(work: asyncio.Task[Found], seconds: float) -> Found | None:
    """Return what there is after some seconds, None if nothing.

    No timeout is raised: an exception would hold on to the columns of the pass that waits, and
    so to memory on the workers, until the collector of cycles comes by. Nor is the work ended
    to be begun again: a client lets one request wait for another, which would end with it.
    """
    finished, _ = await asyncio.wait([work], timeout=seconds)
    if not finished:
        return None
    return (CancelledError("the client was closed"), []) if work.cancelled() else work.result()


async def _results(client: Client, futures: list[Future]) -> Found:
    for future in futures:
        error = await future.exception()
        if error is not None:
            return error, []
    return None, await client.gather(futures, asynchronous=True)


def _missing(client: Client) -> str | None:
    """Return what a cluster lacks to go on, None if nothing."""
    if client.status != "running":
        return "the cluster's scheduler does not answer"
    try:
        return None if client.nthreads() else "the cluster has no workers"
    except (OSError, TimeoutError):
        return "the cluster's scheduler does not answer"
