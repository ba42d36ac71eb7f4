"""Draw what a fitted model says of its rows and of itself, each picture of `robustscn.plots`.

Run `python examples/plots.py --folder FOLDER`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from robustscn import RobustSCNRegressor
from robustscn.datasets import make_function
from robustscn.plots import (
    GrowthDisplay,
    ResidualDensityDisplay,
    RoundsDisplay,
    SuspectRowsDisplay,
)

TIME = np.datetime64("2024-01-01") + np.arange(600).astype("timedelta64[h]")


def failing_sensor(seed: int) -> tuple[Any, Any]:
    """Return hourly rows: noise, one in ten wrong, and a sensor that sticks for two days."""
    rng = np.random.default_rng(seed)
    X, y = make_function(600, rng=seed)
    y = y + 0.02 * rng.normal(size=600)
    wrong = rng.choice(600, 60, replace=False)
    y[wrong] += rng.uniform(-0.4, 0.4, 60)
    y[300:348] = 0.6
    return X, y


def pictures(model: Any, X: Any, y: Any) -> dict[str, Callable[[Any], Any]]:
    """Return what draws each picture on given axes, by name."""
    return {
        "suspects": lambda ax: SuspectRowsDisplay.from_estimator(model, X, y, ax=ax),
        "residuals": lambda ax: ResidualDensityDisplay.from_estimator(model, X, y, ax=ax),
        "weights": lambda ax: SuspectRowsDisplay.from_estimator(
            model, X, y, time=TIME, kind="order", ax=ax
        ),
        "growth": lambda ax: GrowthDisplay.from_estimator(model, ax=ax),
        "rounds": lambda ax: RoundsDisplay.from_estimator(model, ax=ax),
    }


def save(figure: Any, path: Path) -> None:
    part = path.with_name(f".{path.name}.part")
    figure.savefig(part, dpi=110, format="png")
    os.replace(part, path)
    plt.close(figure)
    print(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("out/plots"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a small model, to try it out")
    arguments = parser.parse_args()

    X, y = failing_sensor(arguments.seed)
    size = {"n_networks": 4, "max_nodes": 30, "n_rounds": 5} if arguments.quick else {}
    model = RobustSCNRegressor(**size, random_state=arguments.seed).fit(X, y)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    drawn = pictures(model, X, y)
    for name, draw in drawn.items():
        figure, ax = plt.subplots(figsize=(5.4, 3.8), layout="constrained")
        draw(ax)
        save(figure, arguments.folder / f"{name}.png")

    figure = plt.figure(figsize=(12, 7), layout="constrained")
    axes = figure.subplot_mosaic([["suspects", "residuals"], ["weights", "growth"]])
    for name, ax in axes.items():
        drawn[name](ax)
    axes["weights"].tick_params(axis="x", labelrotation=20)
    save(figure, arguments.folder / "plots.png")


if __name__ == "__main__":
    main()
