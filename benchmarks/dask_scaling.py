"""Two workers against arrays in memory on the same cores, and data larger than the workers.

    overhead   the same fit in memory and on a cluster of two processes
    memory     rows whose columns exceed the workers' memory limit: peak, spilled, restarts
    costs      what the parts of a fit take on the cluster, for the model in `dask_model.py`

Data are drawn lazily, chunk by chunk, and are the same in all places. Times want an idle machine,
for at most five minutes: all of it but `memory`, which takes far longer.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import threading
import time
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dask
import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait

from robustscn import SCNRegressor
from robustscn.core.growth import grow
from robustscn.core.nodes import Nodes
from robustscn.core.rows import LocalRows
from robustscn.core.search import pool_sums
from robustscn.core.sketch import MOST_SAMPLED
from robustscn.dask import DaskRows, DaskSCNRegressor
from robustscn.estimators._growing import recipe_of

RESULTS = Path(__file__).parent / "results" / "dask.json"
FEATURES = 20


def drawn(n_rows: int, chunk: int) -> tuple[da.Array, da.Array]:
    """Return inputs in [0, 1] and targets of which a tenth are wrong, in float32."""
    rng = da.random.default_rng(0)
    X = rng.random((n_rows, FEATURES), dtype=np.float32, chunks=(chunk, FEATURES))
    noise = rng.normal(size=n_rows, chunks=chunk).astype(np.float32)
    wrong = rng.random(n_rows, dtype=np.float32, chunks=chunk) < 0.1
    y = da.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + da.where(wrong, 2.0, 0.05) * noise
    return X, y.astype(np.float32)


def settings(nodes: int) -> dict[str, Any]:
    return {
        "max_nodes": nodes,
        "n_candidates": 100,
        "scopes": (0.5, 1.0, 3.0, 9.0),
        "scope_order": "pooled",
        "block": 10,
        "random_state": 0,
    }


class Steps:
    """A callback that notes when each block of nodes was complete."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """End."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        """Note when the rounds begin."""
        if context.task_name == "round":
            self.times.append(time.perf_counter())

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        """Note when a block is complete."""
        if context.task_name == "nodes":
            self.times.append(time.perf_counter())


@contextmanager
def two_workers(limit: str) -> Any:
    with (
        # Not taken for dead while the machine does something else for a while.
        dask.config.set({"distributed.scheduler.worker-ttl": None}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def timed(model: Any, X: Any, y: Any) -> tuple[float, list[float]]:
    steps = Steps()
    model.set_callbacks(steps)
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began, np.diff(steps.times).tolist()


def cpu_seconds() -> float:
    """Return the processor time of this process and its workers: it minds other loads less."""
    own = psutil.Process()
    return sum(sum(p.cpu_times()[:2]) for p in (own, *own.children(recursive=True)))


def persisted(client: Client, n_rows: int, chunk: int) -> list[da.Array]:
    """Return data that lie on workers which have imported what a fit needs."""
    X, y = client.persist(list(drawn(n_rows, chunk)))
    wait([X, y])
    DaskSCNRegressor(**settings(10), client=client).fit(X[: 2 * chunk], y[: 2 * chunk])
    return [X, y]


def overhead(n_rows: int, nodes: int, chunk: int) -> dict[str, Any]:
    """Return seconds in memory and on two workers, both from data that lie in memory."""
    X, y = drawn(n_rows, chunk)
    in_memory = X.compute(), y.compute()
    here = SCNRegressor(**settings(nodes))
    before = cpu_seconds()
    here_seconds, here_steps = timed(here, *in_memory)
    here_cpu = cpu_seconds() - before
    del in_memory
    with two_workers("auto") as client:
        X, y = persisted(client, n_rows, chunk)
        there = DaskSCNRegressor(**settings(nodes), client=client)
        before = cpu_seconds()
        there_seconds, there_steps = timed(there, X, y)
        there_cpu = cpu_seconds() - before
        apart = abs(there.predict(X[:1000]).compute() - here.predict(X[:1000].compute())).max()
    same = np.array_equal(here._network.layers[0].weights, there._network.layers[0].weights)
    return {
        "rows": n_rows,
        "features": FEATURES,
        "nodes": here.n_nodes_,
        "chunk_rows": chunk,
        "in_memory_seconds": here_seconds,
        "two_workers_seconds": there_seconds,
        "ratio": there_seconds / here_seconds,
        "in_memory_cpu_seconds": here_cpu,
        "two_workers_cpu_seconds": there_cpu,
        "cpu_ratio": there_cpu / here_cpu,
        "passes": there.n_passes_,
        "blocks": there._passes.count("update"),
        "in_memory_step_seconds": here_steps,
        "two_workers_step_seconds": there_steps,
        "same_nodes": bool(same),
        "largest_difference": float(apart),
    }


class Watch(threading.Thread):
    """Notes the largest memory of some workers, and how much they keep on disk."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True)
        self.processes = [psutil.Process(pid) for pid in client.run(os.getpid).values()]
        self.folders = [Path(folder) for folder in client.run(folder_of).values()]
        self.peak = [0] * len(self.processes)
        self.on_disk, self.gone, self.done = 0, False, threading.Event()

    def run(self) -> None:
        """Look every fifth of a second."""
        while not self.done.wait(0.2):
            for number, process in enumerate(self.processes):
                try:
                    rss = process.memory_info().rss
                except psutil.NoSuchProcess:
                    self.gone = True
                    continue
                self.peak[number] = max(self.peak[number], rss)
            self.on_disk = max(self.on_disk, sum(size_of(folder) for folder in self.folders))


def folder_of(dask_worker: Any) -> str:
    return dask_worker.local_directory


def size_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:  # gone by now
            continue
    return total


def memory(n_rows: int, nodes: int, chunk: int, limit: str) -> dict[str, Any]:
    """Return peak memory of two workers that cannot hold the columns."""
    with two_workers(limit) as client:
        X, y = drawn(n_rows, chunk)
        watch = Watch(client)
        watch.start()
        model = DaskSCNRegressor(**settings(nodes), client=client)
        before = cpu_seconds()
        seconds, steps = timed(model, X, y)
        cpu = cpu_seconds() - before
        watch.done.set()
    return {
        "rows": n_rows,
        "features": FEATURES,
        "nodes": model.n_nodes_,
        "chunk_rows": chunk,
        "memory_limit": limit,
        "inputs_GiB": n_rows * FEATURES * 4 / 2**30,
        "factor_GiB": n_rows * model.n_nodes_ * 4 / 2**30,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "passes": model.n_passes_,
        "blocks": model._passes.count("update"),
        "step_seconds": steps,
        "peak_GiB_of_each_worker": [peak / 2**30 for peak in watch.peak],
        "a_worker_was_killed": watch.gone,
        "peak_on_disk_GiB": watch.on_disk / 2**30,
    }


def costs(n_rows: int, nodes: int, chunk: int) -> dict[str, Any]:
    """Return seconds of each block of nodes, of a pass without work, and of ranking candidates."""
    with two_workers("auto") as client:
        X, y = persisted(client, n_rows, chunk)
        model = DaskSCNRegressor(**settings(nodes), client=client)
        began = time.perf_counter()
        training = model._training(X, y, None)
        start = time.perf_counter() - began
        blocks, before, began = [], 0, time.perf_counter()
        for state in grow(training.problem, recipe_of(model, training)):
            blocks.append({"nodes_before": before, "seconds": time.perf_counter() - began})
            before, began = len(state.nodes), time.perf_counter()
        updates = np.flatnonzero(np.array(training.problem.rows.passes) == "update")
        return {
            "rows": n_rows,
            "chunk_rows": chunk,
            "nodes": before,
            "passes_of_a_block": int(updates[-1] - updates[-2]),
            "start_seconds": start,
            "ranking_seconds": ranking_seconds(),
            "blocks": blocks,
            "idle_passes": [idle_pass(client, chunks) for chunks in (2, 8, 32)],
        }


def idle_pass(client: Client, chunks: int, times: int = 30) -> dict[str, float]:
    """Return what a pass costs that has nothing to do: seconds, and processor time outside."""
    rows = DaskRows(client, (1,) * chunks)
    column = rows.positions(None)
    rows.reduce(nothing, column)
    own = psutil.Process()
    before, began = sum(own.cpu_times()[:2]), time.perf_counter()
    for _ in range(times):
        rows.reduce(nothing, column)
    return {
        "chunks": chunks,
        "seconds": (time.perf_counter() - began) / times,
        "client_and_scheduler_cpu_seconds": (sum(own.cpu_times()[:2]) - before) / times,
    }


def nothing(block: Any) -> tuple[Any]:
    return (block.sum(),)


def ranking_seconds() -> float:
    """Return how long 400 candidates take on the largest sample."""
    rng = np.random.default_rng(0)
    X = rng.random((MOST_SAMPLED, FEATURES), dtype=np.float32)
    pool = Nodes(rng.random((FEATURES, 400), dtype=np.float32), np.zeros(400, np.float32))
    rows = LocalRows(MOST_SAMPLED, n_threads=os.cpu_count() or 1)
    began = time.perf_counter()
    pool_sums(rows, X, X[:, :1], X[:, 0], pool)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["overhead", "costs", "memory"])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--chunks", type=int, nargs="*", default=[1_000_000, 500_000])
    parser.add_argument("--many-rows", type=int, default=20_000_000)
    parser.add_argument("--many-nodes", type=int, default=100)
    parser.add_argument("--many-chunk", type=int, default=250_000)
    parser.add_argument("--limit", default="3GiB")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    parts = {
        "overhead": lambda: [overhead(given.rows, given.nodes, chunk) for chunk in given.chunks],
        "costs": lambda: costs(given.rows, given.nodes, given.chunks[0]),
        "memory": lambda: memory(given.many_rows, given.many_nodes, given.many_chunk, given.limit),
    }
    for name in given.parts:
        found = parts[name]()
        print(json.dumps({name: found}, indent=1), flush=True)
        report = json.loads(given.out.read_text()) if given.out.exists() else {}
        report |= {"machine": machine(), name: found}
        given.out.write_text(json.dumps(report, indent=1) + "\n")


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "dask", "distributed")},
    }


if __name__ == "__main__":
    main()
