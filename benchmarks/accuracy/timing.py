"""How long a default fit takes by the clock, on all cores; nothing else should run meanwhile."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from robustscn import RobustSCNRegressor

from .cells import source_digest
from .plan import REPORTING


def timing() -> dict[str, Any]:
    """Return the median seconds of a default fit, for a small and for a larger table."""
    seconds: dict[str, float] = {}
    for n_rows, n_inputs, times in ((1000, 15, 3), (20_000, 20, 1)):
        rng = np.random.default_rng(REPORTING[0])
        X = rng.uniform(size=(n_rows, n_inputs))
        y = np.sin(5 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.05 * rng.standard_normal(n_rows)
        y[rng.choice(n_rows, n_rows // 10, replace=False)] += rng.uniform(-2, 2, n_rows // 10)
        taken = []
        for seed in range(times):
            start = time.perf_counter()
            RobustSCNRegressor(random_state=seed).fit(X, y)
            taken.append(time.perf_counter() - start)
        seconds[f"{n_rows:,} x {n_inputs}"] = float(np.median(taken))
    return {"seconds": seconds, "cores": os.cpu_count(), "source": source_digest()}
