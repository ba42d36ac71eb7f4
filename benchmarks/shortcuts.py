"""What the shortcuts of large fits cost in accuracy, each alone and all together.

The plain way grows one node at a time, in float64, anew in every round. The sets of 40,000 rows
have more than the default takes shortcuts for; the small ones show why it takes none there. Both
sides of a pair see the same rows, the same wrong targets and the same seed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from robustscn import RSCKDERegressor
from robustscn.datasets import contaminate, load_keel, make_function

RESULTS = Path(__file__).parent / "results" / "shortcuts.json"
Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

PLAIN = {"block": 1, "rebuild": True, "dtype": "float64"}
SHORTCUTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "float32": {"dtype": "float32"},
    "nodes kept between rounds": {"rebuild": "auto"},
    "nodes kept to the end": {"rebuild": False},
    "blocks of 5": {"block": 5},
    "blocks of 10": {"block": 10},
    "all (blocks of 10)": {"block": 10, "rebuild": "auto", "dtype": "float32"},
}


def function(n_rows: int, draw: int, share: float) -> Rows:  # noqa: ARG001
    X, y = make_function(600, rng=draw)
    tested, clean = make_function(1000, rng=1000 + draw)
    return X, contaminate(y, share, protocol="replace", rng=draw)[0], tested, clean


def stock(n_rows: int, draw: int, share: float) -> Rows:  # noqa: ARG001
    X, y = load_keel("stock", return_X_y=True)
    X, tested, y, clean = train_test_split(
        minmax_scale(X), minmax_scale(y), test_size=0.25, random_state=draw
    )
    return X, contaminate(y, share, rng=draw)[0], tested, clean


def smooth(n_rows: int, draw: int, share: float) -> Rows:
    rng = np.random.default_rng(draw)
    X = rng.uniform(size=(n_rows + 5000, 8))
    y = minmax_scale(np.tanh(X @ rng.normal(size=(8, 3)) - 0.5).sum(axis=1) + X[:, 0] * X[:, 1])
    noisy = y[:n_rows] + 0.02 * rng.normal(size=n_rows)
    return X[:n_rows], contaminate(noisy, share, rng=draw)[0], X[n_rows:], y[n_rows:]


def friedman(n_rows: int, draw: int, share: float) -> Rows:
    X, y = make_friedman1(n_rows + 5000, 20, random_state=draw)
    y = minmax_scale(y)
    return X[:n_rows], contaminate(y[:n_rows], share, rng=draw)[0], X[n_rows:], y[n_rows:]


LARGE = {"max_nodes": 60, "n_candidates": 200, "scopes": (0.5, 1.0, 3.0)}
SMALL = {"max_nodes": 40, "n_candidates": 50}
TASKS: dict[str, tuple[Callable[[int, int, float], Rows], dict[str, Any]]] = {
    "smooth function of 8 inputs": (smooth, LARGE),
    "Friedman's function, 5 of 20 inputs": (friedman, LARGE),
    "function of one input, 600 rows": (function, SMALL),
    "stock, 712 rows": (stock, SMALL),
}


def fitted_error(rows: Rows, draw: int, **settings: Any) -> tuple[float, float]:
    """Return the error on clean rows and the seconds of the fit."""
    dtype = settings.pop("dtype", "float64")
    X, y, tested, clean = (array.astype(dtype) for array in rows)
    model = RSCKDERegressor(ridge=1e-8, scope_order="pooled", random_state=draw, **settings)
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    return float(np.sqrt(np.mean((model.predict(tested) - clean) ** 2))), seconds


def compared(task: str, share: float, draws: int, n_rows: int) -> dict[str, dict[str, float]]:
    """Return for each shortcut how its errors differ from those of the plain way, in pairs."""
    make, settings = TASKS[task]
    found: dict[str, list[tuple[float, float]]] = {}
    for draw in range(draws):
        rows = make(n_rows, draw, share)
        for name, shortcut in SHORTCUTS.items():
            found.setdefault(name, []).append(
                fitted_error(rows, draw, **settings | PLAIN | shortcut)
            )
    plain, slow = np.array(found["plain"]).T
    report = {}
    for name, pairs in found.items():
        errors, seconds = np.array(pairs).T
        report[name] = {
            "rmse": float(errors.mean()),
            "change": float(np.median(errors / plain - 1)),
            "draws_in_which_it_is_better": int(np.sum(errors < plain)),
            "processor_seconds_of_plain": float(seconds.sum() / slow.sum()),
        }
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--rows", type=int, default=40_000, help="of the large sets")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    report = {}
    for task in TASKS:
        report[task] = compared(task, 0.25, arguments.draws, arguments.rows)
        for name, row in report[task].items():
            print(
                f"{task:<38}{name:<28}{row['rmse']:.4f}{row['change']:>+8.1%}"
                f"  better in {row['draws_in_which_it_is_better']} of {arguments.draws}"
                f"  time {row['processor_seconds_of_plain']:.2f}",
                flush=True,
            )
    settings = {"draws": arguments.draws, "rows": arguments.rows, "wrong": 0.25}
    arguments.out.write_text(json.dumps({"settings": settings, "tasks": report}, indent=1) + "\n")


if __name__ == "__main__":
    main()
