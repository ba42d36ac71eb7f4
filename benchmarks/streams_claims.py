"""What is promised of streams beside errors: speed, digits, memory, calm, recovery, coverage.

    python benchmarks/streams_claims.py                # all, a quarter of an hour
    python benchmarks/streams_claims.py memory --rows 10000000

Streams of known truth: 10 inputs, a sine and a plane, noise of a tenth; for recovery after a change
river's Friedman streams. None of the seeds was used to choose a constant.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from streams import METHODS, SCORED_FROM, errors_of, read_results, write_results
from streams_data import DRAWS, STREAMS, friedman, spoiled, stream

from robustscn import RobustSCNRegressor
from robustscn.core.information import nothing_known
from robustscn.core.memory import BLOCK, Plan
from robustscn.core.nodes import Nodes
from robustscn.core.regrowth import Evidence
from robustscn.core.stream import Stream, begun
from robustscn.core.upkeep import solve

Array = np.ndarray
REFITTED = "ours, refitted"
BEFORE_CHANGE, AFTER_CHANGE, CHANGED_STREAMS = 500, 400, 8
COVERAGE, COVERED = 0.9, ("10 %", "25 % in bursts")
CHANGES = {
    "in two regions of the inputs": ("lea", (500, 10**6, 10**6 + 1)),
    "everywhere": ("gra", (500, 10**6)),
}
"""Kinds of change of river's Friedman streams, and their rows of change."""


def none(block: Array) -> Array:
    return np.zeros((len(block), 0))


def rows(n: int, seed: int, wrong: float = 0.0) -> tuple[Array, Array]:
    """Return inputs and targets, of which a share is off by up to five standard deviations."""
    rng = np.random.default_rng((seed, 31))
    X = rng.uniform(size=(n, 10))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)
    hit = rng.uniform(size=n) < wrong
    y[hit] += rng.uniform(-5, 5, hit.sum()) * np.std(y)
    return X, y[:, None]


def learned(model: Stream, X: Array, y: Array) -> Stream:
    model.learn(X, y, np.ones(len(X)), none)
    return model


def fresh() -> Stream:
    return begun(Plan(None, True, 100, 0), n_given=0, n_features=10, n_outputs=1)


def with_hundred_nodes() -> Stream:
    """Return a stream after 2,000 rows, with a hundred nodes that stay."""
    model = learned(fresh(), *rows(2000, 0))
    rng = np.random.default_rng(1)
    model.nodes = Nodes(5 * rng.normal(size=(10, 100)), 3 * rng.normal(size=100))
    kept = model.kept
    evidence = Evidence(kept.y, kept.weight, kept.y, 0.0)
    solve(model, [evidence, evidence], model.columns(kept.X, kept.given))
    X, y = rows(1000, 3)
    for start in range(0, len(X), BLOCK):  # until what it erred before it had them is past
        model.due = 2**62
        learned(model, X[start : start + BLOCK], y[start : start + BLOCK])
    model.due = 2**62
    return model


def speed() -> dict[str, float]:
    """Return rows a second of one core's time: 10 inputs, 100 nodes."""
    found = {}
    for size, n in ((100, 20_000), (1, 5_000)):
        model, (X, y) = with_hundred_nodes(), rows(n, 2)
        began = time.process_time()
        for start in range(0, n, size):
            learned(model, X[start : start + size], y[start : start + size])
        found[f"rows a second, {size} a call"] = n / (time.process_time() - began)
    return found


def digits() -> dict[str, float]:
    """Return how far a million updates that fade are from a fresh weighted solve."""
    rng = np.random.default_rng(3)
    n, columns, half_life = 1_000_000, 12, 50_000.0
    H = rng.normal(size=(n, columns)) * 10.0 ** -np.linspace(0, 4, columns)
    y, weight = H.sum(axis=1, keepdims=True) + rng.normal(size=(n, 1)), rng.uniform(size=n)
    known, kept = nothing_known(columns, 1), 2.0 ** (-1.0 / half_life)
    for i in range(n):
        known = known.updated(H[i : i + 1], y[i : i + 1], weight[i : i + 1], kept)
    root = np.sqrt(weight * kept ** np.arange(n - 1, -1, -1))[:, None]
    expected = np.linalg.lstsq(H * root, y * root, rcond=None)[0]
    apart = np.max(np.abs(known.output_weights() - expected) / np.max(np.abs(expected)))
    return {"updates": n, "largest relative difference": float(apart)}


def memory(n_rows: int) -> dict[str, Any]:
    """Return the bytes of a stream's state as rows go by."""
    model, sizes = fresh(), {}
    for at in range(0, n_rows, 10_000):
        learned(model, *rows(10_000, at + 7, 0.1))
        sizes[at + 10_000] = len(pickle.dumps(model))
    late = [size for n, size in sizes.items() if n > n_rows // 10]
    return {"rows": n_rows, "bytes": late[-1], "largest over smallest": max(late) / min(late)}


def calm() -> dict[str, float]:
    """Return by how much of its own error one wrong row moves what is said next, at worst."""
    X, y = rows(4000, 11)
    probe = rows(200, 12)[0]
    model, worst = learned(fresh(), X[:1000], y[:1000]), 0.0
    rng = np.random.default_rng(13)
    for start in range(1000, 4000, BLOCK):
        at, spoiled = slice(start, start + BLOCK), y[start : start + BLOCK].copy()
        off = 10.0 ** rng.uniform(-0.3, 6.0)
        spoiled[rng.integers(BLOCK)] += off
        other = learned(deepcopy(model), X[at], spoiled)
        learned(model, X[at], y[at])
        moved = np.abs(other.predict(probe, none) - model.predict(probe, none))
        worst = max(worst, float(moved.max()) / off)
    return {"wrong rows": (4000 - 1000) // BLOCK, "largest share": worst}


def false_drifts() -> dict[str, float]:
    """Return drift events in worlds that stay, a quarter of whose rows is wrong."""
    streams, n = 10, 10_000
    events = [len(learned(fresh(), *rows(n, 20 + k, 0.25)).drifts) for k in range(streams)]
    return {"rows": streams * n, "drift events": int(sum(events))}


def recovery() -> dict[str, dict[str, Any]]:
    """Return how methods fare around abrupt changes.

    Returns
    -------
    dict of str to dict
        Kind of change and share of wrong rows to methods to rows after the change until a method
        is as good as the best peer becomes, one number for each stream, none where they are not
        enough, and mean errors over streams: of 200 rows before the change, the 60 after, and the
        last 200.
    """
    found = {}
    for said, (kind, position) in CHANGES.items():
        for condition in ("clean", "10 %"):
            its: dict[str, Any] = {m: {"rows": [], "errors": []} for m in METHODS if m != REFITTED}
            for seed in range(101, 101 + CHANGED_STREAMS):
                data = friedman(kind, BEFORE_CHANGE + AFTER_CHANGE, position, seed=seed)
                y, _ = spoiled(data.y, condition, seed)
                errors = {m: np.abs(errors_of(METHODS[m](), data, y)) for m in its}
                late = {m: float(np.mean(e[-200:])) for m, e in errors.items()}
                goal = 1.25 * min(late[m] for m in its if m != "ours")
                for method, e in errors.items():
                    its[method]["rows"].append(_rows_until(e[BEFORE_CHANGE:], goal))
                    parts = e[BEFORE_CHANGE - 200 : BEFORE_CHANGE], e[BEFORE_CHANGE:][:60], e[-200:]
                    its[method]["errors"].append([float(np.mean(part)) for part in parts])
            for one in its.values():
                one["errors"] = np.mean(one["errors"], axis=0).tolist()
            found[f"{said}|{condition}"] = its
            print(said, condition, its, flush=True)
    return found


def _rows_until(errors: Array, goal: float) -> int | None:
    """Return the rows after which sixty in a row err no more than that, on average."""
    means = np.convolve(errors, np.full(60, 1 / 60), mode="valid")
    met = np.flatnonzero(means <= goal)
    return int(met[0]) if len(met) else None


def coverage() -> dict[str, dict[str, float]]:
    """Return how well intervals that are made before each row is learned hold clean targets.

    Returns
    -------
    dict of str to dict
        Stream and share of wrong rows to the share inside, and to the mean width, in widths of the
        interval that is always the same about the predictions and just holds the nominal share.
    """
    found = {}
    for condition in COVERED:
        for name in STREAMS:
            data = stream(name)
            y, _ = spoiled(data.y, condition, DRAWS[0])
            model = RobustSCNRegressor(n_networks=4, max_nodes=100, n_jobs=1, random_state=0)
            ends = np.full((len(y), 2), np.nan)
            said = np.full(len(y), np.nan)
            for i in range(len(y)):
                row = data.X[i : i + 1]
                if i >= SCORED_FROM:
                    ends[i] = model.predict_interval(row, COVERAGE)[0]
                    said[i] = model.predict(row)[0]
                model.partial_fit(row, y[i : i + 1])
            low, high = ends[SCORED_FROM:].T
            right = data.y[SCORED_FROM:]
            needed = 2 * np.quantile(np.abs(right - said[SCORED_FROM:]), COVERAGE)
            inside = float(np.mean((low <= right) & (right <= high)))
            width = float(np.mean(high - low) / needed)
            found[f"{name}|{condition}"] = {"inside": inside, "width": width}
            print(name, condition, found[f"{name}|{condition}"], flush=True)
    return found


CLAIMS: dict[str, Callable[..., dict[str, Any]]] = {
    "speed": speed,
    "digits": digits,
    "memory": memory,
    "calm": calm,
    "false_drifts": false_drifts,
    "recovery": recovery,
    "coverage": coverage,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("claims", nargs="*", default=list(CLAIMS))
    parser.add_argument("--rows", type=int, default=1_000_000)
    args = parser.parse_args()
    for name in args.claims:
        found = CLAIMS[name](*([args.rows] if name == "memory" else []))
        print(name, found, flush=True)
        results = read_results()
        results.setdefault("claims", {})[name] = found
        write_results(results)


if __name__ == "__main__":
    main()
