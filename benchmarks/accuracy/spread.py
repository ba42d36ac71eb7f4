"""How far the error moves with a method's own seed, on data that stay the same."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from .cells import UNTUNED, Cell
from .conditions import TUNED_AT, spoiled
from .names import FAMILY
from .peers import TUNED
from .plan import REPORTING
from .sets import SETS

SPREAD_SETS = ("grinding", "stock", "concrete")
SPREAD_PEERS = ("LightGBM, absolute", "CatBoost, absolute", "XGBoost, pseudo-Huber", "MLP")
N_SEEDS = 10


def spread(folder: Path) -> dict[str, Any]:
    """Return errors by set and method: one draw at 25 % `add`, ten seeds of the method."""
    found: dict[str, Any] = {}
    for name in SPREAD_SETS:
        split = SETS[name](REPORTING[0])
        given = spoiled(name, split, TUNED_AT, REPORTING[0])
        for method in (*FAMILY, *SPREAD_PEERS):
            tuning = Cell(name, method, None).read(folder)
            if method in TUNED and tuning is None:
                continue
            errors = []
            for seed in range(N_SEEDS):
                model = (
                    UNTUNED[method](seed)
                    if tuning is None
                    else TUNED[method].build(tuning["settings"], seed)
                )
                with threadpool_limits(1), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # convergence: not what is measured
                    predicted = model.fit(given.X, given.y).predict(split.X_test)
                errors.append(float(np.sqrt(np.mean((predicted - split.y_test) ** 2))))
            found.setdefault(name, {})[method] = errors
            print(f"{name}, {method}: {np.mean(errors):.4f} ± {np.std(errors):.4f}", flush=True)
    return found
