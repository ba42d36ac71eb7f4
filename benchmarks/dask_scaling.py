"""Two workers against arrays in memory on the same cores, and data larger than the workers.

    overhead   the same fit in memory and on a cluster of two processes
    memory     rows whose columns exceed the workers' memory limit: peak, spilled, restarts
    model      time against rows, workers and nodes, from the steps of the fit on the cluster

Data are drawn lazily, chunk by chunk, and are the same in all places.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dask
import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster

from robustscn import SCNRegressor
from robustscn.dask import DaskSCNRegressor
from robustscn.nodes import Nodes
from robustscn.rows import LocalRows
from robustscn.search import pool_sums
from robustscn.sketch import MOST_SAMPLED

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
        X, y = client.persist([X, y])
        client.gather(client.map(len, client.compute(X.to_delayed().ravel().tolist())))
        # A fit that does not count: workers import what they need once.
        DaskSCNRegressor(**settings(10), client=client).fit(X[: 2 * chunk], y[: 2 * chunk])
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
        "step_seconds": steps,
        "peak_GiB_of_each_worker": [peak / 2**30 for peak in watch.peak],
        "a_worker_was_killed": watch.gone,
        "peak_on_disk_GiB": watch.on_disk / 2**30,
    }


def model_of(measured: dict[str, Any]) -> dict[str, Any]:
    """Return seconds of a block of ten nodes as a + b * nodes before it, and what follows.

    Workers share the rows; they do not share the ranking of candidates on a sample, which the
    client does, taken to be of the largest size and as fast as here, nor the round trips, of
    20 ms for each of 8 passes of a block.
    """
    steps = measured["two_workers_step_seconds"]
    before = 10.0 * np.arange(len(steps))
    slope, start = np.polyfit(before, steps, 1) if len(steps) > 1 else (0.0, steps[0])
    ranking = ranking_seconds()
    start = max(start - ranking, 0.0)
    each = 2.0 / measured["rows"]  # worker-seconds for each row
    cases = []
    for rows, workers, nodes in (
        (20_000_000, 2, 100),
        (100_000_000, 10, 100),
        (1_000_000_000, 100, 100),
    ):
        blocks = np.arange(0, nodes, 10)
        work = np.sum(start + slope * blocks) * each * rows / workers
        cases.append(
            {
                "rows": rows,
                "workers": workers,
                "nodes": nodes,
                "minutes": float(work + (ranking + 8 * 0.02) * len(blocks)) / 60,
            }
        )
    return {
        "ranking_seconds": ranking,
        "block_seconds_at_zero": float(start),
        "per_node_before": float(slope),
        "cases": cases,
    }


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
    parser.add_argument("parts", nargs="*", default=["overhead", "memory"])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--chunk", type=int, default=250_000)
    parser.add_argument("--many-rows", type=int, default=20_000_000)
    parser.add_argument("--many-nodes", type=int, default=100)
    parser.add_argument("--limit", default="3GiB")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    report = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    report["cores"] = os.cpu_count()
    report["load_before"] = os.getloadavg()[0]  # near zero where times mean anything
    if "overhead" in arguments.parts:
        report["overhead"] = overhead(arguments.rows, arguments.nodes, arguments.chunk)
        report["model"] = model_of(report["overhead"])
        print(json.dumps(report, indent=1), flush=True)
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    if "memory" in arguments.parts:
        report["memory"] = memory(
            arguments.many_rows, arguments.many_nodes, arguments.chunk, arguments.limit
        )
        print(json.dumps(report["memory"], indent=1), flush=True)
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
