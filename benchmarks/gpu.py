"""Fits on a GPU by passing GPU arrays: the same nodes as on the CPU, and how long they take.

Runs wherever torch sees a device; says so and ends where it does not. Times are medians after a
fit that does not count, with the device's queue empty before the clock is read.
"""

from __future__ import annotations

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read by SciPy when it is imported

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
from learner_tasks import Task, friedman, smooth
from sklearn import config_context

from robustscn import RobustSCNRegressor, RSCKDERegressor, SCNRegressor
from robustscn.datasets import contaminate

RESULTS = Path(__file__).parent / "results" / "gpu.json"


def drawn(n_rows: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs in [0, 1] and targets of which a tenth are wrong."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n_rows, 20)).astype(dtype)
    y = np.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.05 * rng.normal(size=n_rows).astype(dtype)
    return X, contaminate(y, 0.1, rng=0)[0].astype(dtype)


def settings(nodes: int, rounds: int) -> dict[str, Any]:
    return {
        "max_nodes": nodes,
        "n_rounds": rounds,
        "n_candidates": 500,
        "scopes": (1.0,),
        "block": 10,
        "random_state": 0,
    }


def same_nodes(torch: Any, dtype: str, block: int) -> dict[str, Any]:
    """Return how far the CPU's and the device's networks are apart."""
    X, y = drawn(50_000, dtype)
    model = SCNRegressor(50, n_candidates=200, scopes=(1.0, 5.0), block=block, random_state=0)
    here = model.fit(X, y)
    weights, expected = here._network.layers[0].weights, here.predict(X)
    with config_context(array_api_dispatch=True):
        there = model.fit(torch.asarray(X, device="cuda"), torch.asarray(y, device="cuda"))
        found = there.predict(torch.asarray(X, device="cuda"))
    nodes = there._network.layers[0].weights
    shared = min(nodes.shape[1], weights.shape[1])
    equal = np.all(nodes[:, :shared] == weights[:, :shared], axis=0)
    return {
        "dtype": dtype,
        "block": block,
        "nodes_cpu": weights.shape[1],
        "nodes_gpu": nodes.shape[1],
        "equal_from_the_start": int(np.argmin(equal)) if not equal.all() else int(shared),
        "largest_difference": float(np.max(np.abs(found.cpu().numpy() - expected))),
    }


def timed(torch: Any, n_rows: int, dtype: str, repeats: int) -> dict[str, Any]:
    X, y = (torch.asarray(a, device="cuda") for a in drawn(n_rows, dtype))
    seconds = []
    torch.cuda.reset_peak_memory_stats()
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        with config_context(array_api_dispatch=True):
            model = RSCKDERegressor(**settings(100, 5)).fit(X, y)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return {
        "rows": n_rows,
        "dtype": dtype,
        "seconds": statistics.median(seconds[1:]),
        "nodes": model.n_nodes_,
        "peak_GiB": torch.cuda.max_memory_allocated() / 2**30,
        "outliers": int(model.outliers_.sum()),
    }


def flagship(torch: Any, n_rows: int, dtype: str) -> dict[str, Any]:
    """Return seconds and error of `RobustSCNRegressor` on its defaults, here and on the device.

    A quarter of the targets is wrong, as for docs/learner.md.
    """
    found: dict[str, Any] = {"rows": n_rows, "dtype": dtype}
    for name, function in (("smooth", smooth), ("Friedman", friedman)):
        task = Task(function, n_rows, 20, 0.25, 9000)
        X, y, tested = (a.astype(dtype) for a in (task.X, task.y, task.tested))
        for where in ("cuda", "cpu"):
            model = RobustSCNRegressor(random_state=0)
            if where == "cuda":
                X_fit, y_fit, asked = (torch.asarray(a, device="cuda") for a in (X, y, tested))
            else:
                X_fit, y_fit, asked = X, y, tested
            with config_context(array_api_dispatch=where == "cuda"):
                start = time.perf_counter()
                model.fit(X_fit, y_fit)
                torch.cuda.synchronize()
                seconds = time.perf_counter() - start
                said = model.predict(asked)
            said = said.cpu().numpy() if where == "cuda" else said
            error = float(np.sqrt(np.mean((said - task.truth) ** 2)))
            found[f"{name}, {where}"] = {"seconds": round(seconds, 2), "rmse": round(error, 5)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        print("no device: install torch with CUDA and run this where it sees a GPU")
        return
    report: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    report["same_nodes"] = [
        same_nodes(torch, dtype, block) for block in (1, 10) for dtype in ("float64", "float32")
    ]
    for row in report["same_nodes"]:
        print(row, flush=True)
    report["fits"] = []
    for n_rows in arguments.rows:
        for dtype in ("float32", "float64"):
            report["fits"].append(timed(torch, n_rows, dtype, arguments.repeats))
            print(report["fits"][-1], flush=True)
    flagship(torch, 20_000, "float32")  # which does not count
    report["flagship"] = []
    report["cores"] = os.cpu_count()
    for n_rows in (100_000, 1_000_000):
        report["flagship"].append(flagship(torch, n_rows, "float32"))
        print(report["flagship"][-1], flush=True)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
