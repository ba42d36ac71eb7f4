"""What re-used nodes cost in accuracy: rounds that keep their nodes against rounds that grow anew.

The function and the KEEL sets are small, where the default grows anew in every round; they show
why. The smooth function of eight inputs has more rows than the default grows anew for. Both sides
of a pair see the same rows, the same wrong targets and the same seed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from robustscn import RSCKDERegressor
from robustscn.datasets import contaminate, load_keel, make_function

RESULTS = Path(__file__).parent / "results" / "reused_nodes.json"
Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def function(draw: int, share: float) -> Rows:
    X, y = make_function(600, rng=draw)
    tested, clean = make_function(1000, rng=1000 + draw)
    return X, contaminate(y, share, protocol="replace", rng=draw)[0], tested, clean


def keel(name: str, draw: int, share: float) -> Rows:
    X, y = load_keel(name, return_X_y=True)
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


def errors(rows: Rows, draw: int, *, rebuild: bool | str, large: bool) -> float:
    """Return the error on clean rows."""
    X, y, tested, clean = rows
    settings = (
        {"max_nodes": 60, "n_candidates": 200, "scopes": (0.5, 1.0, 3.0), "block": 10}
        if large
        else {"max_nodes": 40, "n_candidates": 50}
    )
    model = RSCKDERegressor(
        **settings, scope_order="pooled", rebuild=rebuild, ridge=1e-8, random_state=draw
    )
    model.fit(X, y)
    return float(np.sqrt(np.mean((model.predict(tested) - clean) ** 2)))


def compared(task: str, share: float, draws: int, n_rows: int) -> dict[str, float]:
    """Return the mean of paired differences between re-used and rebuilt nodes."""
    large = task == "smooth"
    pairs = []
    for draw in range(draws):
        if large:
            rows = smooth(n_rows, draw, share)
        else:
            rows = function(draw, share) if task == "function" else keel(task, draw, share)
        kept = errors(rows, draw, rebuild="auto" if large else False, large=large)
        pairs.append((kept, errors(rows, draw, rebuild=True, large=large)))
    kept, anew = np.array(pairs).T
    change = kept / anew - 1
    return {
        "rmse_reused": float(kept.mean()),
        "rmse_rebuilt": float(anew.mean()),
        "change": float(np.median(change)),
        "draws_in_which_reused_is_better": int(np.sum(change < 0)),
        "draws": draws,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rows", type=int, default=40_000, help="of the smooth function")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    report = {}
    for task in ("smooth", "function", "stock", "concrete", "treasury", "laser"):
        for share in (0.10, 0.25):
            row = compared(task, share, arguments.draws, arguments.rows)
            report[f"{task} {share:.0%}"] = row
            print(f"{task} {share:.0%}", row, flush=True)
            arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
