"""How fast a network grows, beside the textbook way in the same run.

The textbook way is that of the public Python programs: for each node a Python loop over scopes,
contractions and candidates, then the pseudo-inverse of the whole hidden matrix. Candidates'
outputs are computed a pool at a time, as those programs do, or one by one in the loop. Both sides
draw the same candidates and so choose the same nodes; the script checks that before it times them.
Blocks of nodes choose others; for them the error is given instead. One thread of linear algebra on
both sides: the problem is too small for more.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy.special import expit
from sklearn.base import clone
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_limits

from robustscn import SCNRegressor
from robustscn.core.proposals import Draw
from robustscn.core.recipe import CONTRACTIONS
from robustscn.datasets import load_keel, make_function

RESULTS = Path(__file__).parent / "results" / "growth_speed.json"
ORDERS = {"function": ("ascending", "pooled"), "stock": ("ascending",)}
N_ROWS, MAX_NODES, N_CANDIDATES, SEED = 600, 50, 100, 0
BLOCKS = {"block": 20, "rule": "exact"}


def textbook(
    X, y, draw: Draw, *, pooled: bool, one_by_one: bool = False
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return weights, biases and training error of a network grown the textbook way."""
    T = y[:, None]
    W, b = np.empty((X.shape[1], 0)), np.empty((1, 0))
    E = T
    for n_nodes in range(MAX_NODES):
        pools = candidates(X, draw, n_nodes, pooled=pooled)
        node = searched(X, E, pools, n_nodes + 1, one_by_one=one_by_one)
        if node is None:
            break
        W, b = np.hstack([W, node[0]]), np.hstack([b, node[1]])
        H = expit(X @ W + b)
        beta = np.linalg.pinv(H) @ T
        E = T - H @ beta
    return W, b, float(np.sqrt(np.mean(E**2)))


def candidates(X, draw: Draw, n_nodes: int, *, pooled: bool):
    """Return the pools to search, drawn as they are asked for: one for each scope or one of all."""
    pairs = ((pool.weights, pool.biases) for pool in draw.pools(X, node=n_nodes))
    if pooled:
        weights, biases = zip(*pairs, strict=True)
        pairs = iter([(np.hstack(weights), np.concatenate(biases))])
    return pairs


def searched(X, E, pools, L: int, *, one_by_one: bool):
    """Return the admissible candidate with the largest score, None if there is none."""
    for WT, bT in pools:
        HT = None if one_by_one else expit(X @ WT + bT)
        for r in CONTRACTIONS:
            mu = (1 - r) / (L + 1)
            best, best_t = -np.inf, None
            for t in range(WT.shape[1]):
                h = expit(X @ WT[:, [t]] + bT[t]) if HT is None else HT[:, [t]]
                xi = np.zeros(E.shape[1])
                for q in range(E.shape[1]):
                    e = E[:, [q]]
                    xi[q] = ((e.T @ h) ** 2 / (h.T @ h) - (1 - r - mu) * (e.T @ e)).item()
                if xi.min() >= 0 and xi.sum() > best:
                    best, best_t = xi.sum(), t
            if best_t is not None:
                return WT[:, [best_t]], bT[None, [best_t]]
    return None


def data() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return 600 rows of a hard function of one input and of a smooth one of nine."""
    X, y = load_keel("stock", return_X_y=True)
    return {
        "function": make_function(N_ROWS, rng=0),
        "stock": (minmax_scale(X)[:N_ROWS], minmax_scale(y)[:N_ROWS]),
    }


def seconds(run: Callable[[], object], repeats: int) -> list[float]:
    """Return the times of several runs after one that does not count."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def compared(X, y, order: str, repeats: int) -> dict[str, Any]:
    """Return both sides' times and errors for one order of the scopes."""
    model = SCNRegressor(
        MAX_NODES, n_candidates=N_CANDIDATES, scope_order=order, tol=0.0, random_state=SEED
    )
    model.fit(X, y)
    draw = Draw(
        model._seed(), X.shape[1], tuple(float(s) for s in model.scopes), model.n_candidates
    )
    pooled = order == "pooled"
    W, b, error = textbook(X, y, draw, pooled=pooled)
    (nodes,) = model._network.layers
    same = W.shape == nodes.weights.shape and np.array_equal(W, nodes.weights)
    difference = abs(error - model.error_path_[-1])
    if difference > 1e-6:
        raise SystemExit(f"{order}: training errors differ by {difference:.1e}")
    in_blocks = clone(model).set_params(**BLOCKS).fit(X, y)
    ours = seconds(lambda: model.fit(X, y), 5 * repeats)
    blocks = seconds(lambda: in_blocks.fit(X, y), 5 * repeats)
    theirs = seconds(lambda: textbook(X, y, draw, pooled=pooled), repeats)
    singly = seconds(lambda: textbook(X, y, draw, pooled=pooled, one_by_one=True), repeats)
    return {
        "n_nodes": model.n_nodes_,
        "same_nodes": bool(same and np.array_equal(b[0], nodes.biases)),
        "rmse": float(model.error_path_[-1]),
        "rmse_difference": float(difference),
        "textbook_seconds": statistics.median(theirs),
        "textbook_seconds_range": [min(theirs), max(theirs)],
        "robustscn_seconds": statistics.median(ours),
        "robustscn_seconds_range": [min(ours), max(ours)],
        "ratio": statistics.median(theirs) / statistics.median(ours),
        "one_by_one_seconds": statistics.median(singly),
        "ratio_to_one_by_one": statistics.median(singly) / statistics.median(ours),
        "blocks": {
            "robustscn_seconds": statistics.median(blocks),
            "rmse": float(in_blocks.error_path_[-1]),
            "ratio": statistics.median(theirs) / statistics.median(blocks),
            "ratio_to_one_by_one": statistics.median(singly) / statistics.median(blocks),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="timed runs of the slow side")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where to write the JSON")
    arguments = parser.parse_args()
    print(f"{MAX_NODES} nodes, {N_ROWS} rows, {N_CANDIDATES} candidates for each of 12 scopes")
    print(
        f"{'task':<22}{'textbook':>10}{'one by one':>12}{'robustscn':>12}{'ratios':>14}"
        f"{'RMSE':>11}{'same':>7}{'in blocks':>12}{'ratios':>14}{'RMSE':>11}"
    )
    tasks = {}
    for name, (X, y) in data().items():
        for order in ORDERS[name]:
            with threadpool_limits(1):
                tasks[f"{name}, {order}"] = row = compared(X, y, order, arguments.repeats)
            blocks = row["blocks"]
            print(
                f"{name + ', ' + order:<22}{row['textbook_seconds']:>8.3f} s"
                f"{row['one_by_one_seconds']:>10.3f} s{row['robustscn_seconds']:>10.4f} s"
                f"{row['ratio']:>7.0f}{row['ratio_to_one_by_one']:>7.0f}{row['rmse']:>11.5f}"
                f"{row['same_nodes']!s:>7}{blocks['robustscn_seconds']:>10.4f} s"
                f"{blocks['ratio']:>7.0f}{blocks['ratio_to_one_by_one']:>7.0f}{blocks['rmse']:>11.5f}",
                flush=True,
            )
    report = {
        "what": "seconds to grow one network, medians; both sides draw the same candidates",
        "setting": {
            "n_rows": N_ROWS,
            "max_nodes": MAX_NODES,
            "n_candidates": N_CANDIDATES,
            "repeats": arguments.repeats,
        },
        "tasks": tasks,
        "machine": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "architecture": platform.machine(),
            "cpu_count": os.cpu_count(),
            "threads": 1,
        },
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
