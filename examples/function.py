"""Learn a function through 25 % wrong targets, with each method, and draw what they make of it.

Run `python examples/function.py --picture FILE.png`; `make readme` makes the README's picture so.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from robustscn import (
    ImprovedRVFLRegressor,
    PRNNRWRegressor,
    RobustSCNRegressor,
    RSCKDERegressor,
    RVFLRegressor,
    SCNRegressor,
)
from robustscn.datasets import contaminate, make_function

SHARE = 0.25
STEEP = {"scopes": (10, 30, 50, 100, 150, 200), "scope_order": "pooled", "n_candidates": 20}


def methods(seed: int) -> dict[str, Any]:
    """Return the methods to compare, those of the paper at settings that suit the function."""
    return {
        "RVFL (least squares)": RVFLRegressor(100, scope=50, random_state=seed),
        "SCN (least squares)": SCNRegressor(100, **STEEP, random_state=seed),
        "Gradient boosting (absolute error)": HistGradientBoostingRegressor(
            loss="absolute_error", random_state=seed
        ),
        "Improved RVFL": ImprovedRVFLRegressor(100, scope=50, random_state=seed),
        "PRNNRW": PRNNRWRegressor(100, scope=50, ridge=1e-3, random_state=seed),
        "RSC-KDE": RSCKDERegressor(100, **STEEP, random_state=seed),
        "RobustSCN (ours, defaults)": RobustSCNRegressor(random_state=seed),
    }


def draw(path: Path, X: Any, dirty: Any, hit: Any, grid: Any, truth: Any, shown: Any) -> None:
    """Draw the dirty rows, the true function and the chosen predictions."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(shown), figsize=(4.2 * len(shown), 3.4), sharey=True)
    for axis, (name, prediction) in zip(axes, shown.items(), strict=True):
        axis.plot(X[~hit], dirty[~hit], ".", ms=3, color="#9aa5b1", label="rows")
        axis.plot(X[hit], dirty[hit], "x", ms=4, color="#e4a08a", label="wrong rows")
        axis.plot(grid, truth, color="#2f3e4e", lw=1, label="truth")
        axis.plot(grid, prediction, color="#c2371e", lw=1.6, label="prediction")
        error = np.sqrt(np.mean((prediction - truth) ** 2))
        axis.set_title(f"{name}\nRMSE {error:.4f}", fontsize=10)
        axis.set_ylim(-0.3, 0.9)
        axis.set_xlabel("x")
    axes[0].set_ylabel("y")
    axes[0].legend(fontsize=8, loc="upper left", frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, default=Path("out/function.png"))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    X, y = make_function(600, rng=arguments.seed)
    dirty, hit = contaminate(y, SHARE, protocol="replace", rng=arguments.seed)
    grid, truth = make_function(600, grid=True)
    print(f"600 rows, {hit.sum()} of them wrong. Error on the true function:\n")
    print(f"  {'method':36}{'RMSE':>8}{'seconds':>9}{'wrong rows found':>19}{'falsely':>9}")
    predictions = {}
    for name, model in methods(arguments.seed).items():
        print(f"  {name:36}", end="", flush=True)
        start = time.perf_counter()
        model.fit(X, dirty)
        seconds = time.perf_counter() - start
        predictions[name] = model.predict(grid)
        rmse = np.sqrt(np.mean((predictions[name] - truth) ** 2))
        found = ""
        if hasattr(model, "outliers_"):
            right = (model.outliers_ & hit).sum()
            found = f"{right:12d} of {hit.sum()}{(model.outliers_ & ~hit).sum():9d}"
        print(f"{rmse:8.4f}{seconds:9.2f}{found}")
    names = ("RVFL (least squares)", "Gradient boosting (absolute error)")
    shown = {name: predictions[name] for name in (*names, "RobustSCN (ours, defaults)")}
    draw(arguments.picture, X[:, 0], dirty, hit, grid[:, 0], truth, shown)
    print(f"\nThe picture: {arguments.picture}")


if __name__ == "__main__":
    main()
