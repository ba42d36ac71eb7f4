"""What `RobustSCNRegressor` is asked to learn where it is measured beside boosted trees."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from robustscn import RobustBlendRegressor, RobustSCNRegressor

Function = Callable[[np.ndarray], np.ndarray]

FAST: dict[str, Any] = {"n_networks": 2, "n_rounds": 5, "second_look": False, "max_nodes": 100}
"""Settings for those who cannot wait, named on the page."""


def friedman(X: np.ndarray) -> np.ndarray:
    bump = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return (bump + 10 * X[:, 3] + 5 * X[:, 4]) / 5


def steps(X: np.ndarray) -> np.ndarray:
    corner = 1.0 * (X[:, 0] > 0.5) * (X[:, 1] > 0.3)
    return corner + 1.0 * (X[:, 2] > 0.6) * (X[:, 3] < 0.7) - 1.0 * (X[:, 4] > 0.5)


def smooth(X: np.ndarray) -> np.ndarray:
    return np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + X[:, 3] ** 2


FUNCTIONS: dict[str, Function] = {"smooth": smooth, "Friedman": friedman, "steps": steps}


class Task:
    """Training rows of which some are wrong, and clean ones to measure by."""

    def __init__(self, function: Function, n_rows: int, n_inputs: int, share: float, seed: int):
        rng = np.random.default_rng((seed, n_rows, n_inputs))
        self.X = rng.uniform(size=(n_rows, n_inputs))
        self.wrong = rng.permutation(n_rows) < round(share * n_rows)
        self.y = function(self.X) + 0.1 * rng.normal(size=n_rows)
        self.y += self.wrong * rng.uniform(-5, 5, size=n_rows)
        self.tested = rng.uniform(size=(5000, n_inputs))
        self.truth = function(self.tested)

    def result(self, model: Any, *, oracle: bool = False) -> dict[str, float]:
        """Return error and seconds; an oracle learns without the wrong rows."""
        kept = ~self.wrong if oracle else slice(None)
        start = time.perf_counter()
        model.fit(self.X[kept], self.y[kept])
        seconds = time.perf_counter() - start
        return {"rmse": self.error(model), "seconds": round(seconds, 2)}

    def error(self, model: Any) -> float:
        """Return the root mean squared error of a fitted model."""
        error = np.sqrt(np.mean((model.predict(self.tested) - self.truth) ** 2))
        return round(float(error), 5)


def ours(seed: int, **settings: Any) -> RobustSCNRegressor:
    return RobustSCNRegressor(random_state=seed, **settings)


def both(seed: int) -> RobustBlendRegressor:
    return RobustBlendRegressor(ours(seed), random_state=seed)


def trees(seed: int) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(loss="absolute_error", random_state=seed)
