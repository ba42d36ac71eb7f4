"""The work of the accuracy benchmark in cells, each a small file that outlives an interruption.

A cell is one method on one set under one condition, over the first draws; a tuning is one peer on
one set. Each knows the version it was made with: draws are added to a cell of the same version,
and a cell of another version is made anew when draws are wanting. Seconds are the processor's, on
one thread, so that other work on the machine does not matter.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_limits

import robustscn
from robustscn import RobustBlendRegressor, RobustRegressor, RobustSCNRegressor
from robustscn.atomic import write_whole
from robustscn.weighting import Weighting

from .conditions import TUNED_AT, Condition, Mask, spoiled
from .names import (
    BLEND,
    CLEANLAB,
    FAMILY,
    ORACLE,
    OURS,
    PLAIN_HIST,
    PLAIN_LIGHTGBM,
    RANKING,
    ROBUST_HIST,
    ROBUST_LIGHTGBM,
    UNWEIGHTED,
)
from .peer import tuned
from .peers import TUNED
from .plan import TUNING_SEED, conditions_of, draws_of
from .sets import SETS

MEASURED = ("rmse", "seconds", "average_precision")


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

    def draws(self, most: int) -> int:
        """Return how many draws it is run on where none is run on more than `most`."""
        return min(most, draws_of(self.method, self.set_name))

    def read(self, folder: Path) -> dict[str, Any] | None:
        """Return what the file holds, or None."""
        path = folder / self.file_name
        return json.loads(path.read_text()) if path.exists() else None

    def write(self, folder: Path, found: dict[str, Any]) -> None:
        """Write the file, whole."""
        folder.mkdir(parents=True, exist_ok=True)
        found = {"set": self.set_name, "method": self.method, **found}
        write_whole(folder / self.file_name, (json.dumps(found, indent=1) + "\n").encode())


def _robust_hist(seed: int) -> Any:
    return RobustRegressor(HistGradientBoostingRegressor(random_state=seed), random_state=seed)


def _lightgbm(seed: int) -> Any:
    return LGBMRegressor(n_jobs=1, verbose=-1, random_state=seed)


def _networks(seed: int) -> Any:
    return RobustSCNRegressor(random_state=seed, n_jobs=1)


UNTUNED = {
    OURS: _networks,
    BLEND: lambda seed: RobustBlendRegressor(_networks(seed), random_state=seed),
    ROBUST_HIST: _robust_hist,
    ROBUST_LIGHTGBM: lambda seed: RobustRegressor(_lightgbm(seed), random_state=seed),
    ORACLE: _networks,
    UNWEIGHTED: lambda seed: _networks(seed).set_params(weighting=Even()),
    PLAIN_HIST: lambda seed: HistGradientBoostingRegressor(random_state=seed),
    PLAIN_LIGHTGBM: _lightgbm,
}
"""Methods on their defaults."""
METHODS = (*UNTUNED, *TUNED)


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
def source_digest() -> str:
    """Return a fingerprint of the core and the estimators that were run."""
    home = Path(robustscn.__file__).parent
    digest = hashlib.sha256()
    folders = (home, home / "core", home / "estimators")
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def version_of(method: str) -> str:
    """Return the version that a method's numbers depend on: its package's, or our source's."""
    package = "robustscn"
    if method in (PLAIN_HIST, PLAIN_LIGHTGBM):
        package = "scikit-learn" if method == PLAIN_HIST else "lightgbm"
    elif method in TUNED:
        package = TUNED[method].package
    if package == "robustscn":
        return f"robustscn {source_digest()}"
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package}, not installed"


def _suspicion(method: str, model: Any, X: Any, y: Any) -> Any:
    """Return how wrong each training row looks, for the methods that say so."""
    if method in FAMILY:
        return 1.0 - model.inlier_weight_
    if method == CLEANLAB:
        return 1.0 - model.get_label_issues()["label_quality"].to_numpy()
    return np.abs(y - model.predict(X)) if method == RANKING else None


def one_fit(cell: Cell, settings: dict[str, Any], seed: int) -> dict[str, float | None]:
    """Return error, seconds and how well wrong rows were found, in one draw."""
    assert cell.condition is not None
    split = SETS[cell.set_name](seed)
    given = spoiled(cell.set_name, split, cell.condition, seed)
    if cell.method == ORACLE:
        given = given.without_wrong()
    tuned_before = cell.method in TUNED
    model = TUNED[cell.method].build(settings, seed) if tuned_before else UNTUNED[cell.method](seed)
    start = time.process_time()
    try:
        model.fit(given.X, given.y)
    except ValueError:
        if not tuned_before:
            raise
        return dict.fromkeys(MEASURED)
    seconds = time.process_time() - start
    error = np.sqrt(np.mean((model.predict(split.X_test) - split.y_test) ** 2))
    suspicion = _suspicion(cell.method, model, given.X, given.y)
    precision = _precision(suspicion, given.wrong)
    return {"rmse": float(error), "seconds": seconds, "average_precision": precision}


def _precision(suspicion: Any, wrong: Mask) -> float | None:
    if suspicion is None or not wrong.any():
        return None
    return float(average_precision_score(wrong, suspicion))


def compute(cell: Cell, folder: Path, seeds: Sequence[int], n_configurations: int) -> float:
    """Compute a cell or a tuning, write it, and return the processor seconds it took."""
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence, names of columns: not what is measured
        found = _tuning(cell, n_configurations) if cell.condition is None else None
        if found is None:
            found = _fits(cell, folder, seeds)
    cell.write(folder, found)
    return time.process_time() - start


def _tuning(cell: Cell, n_configurations: int) -> dict[str, Any]:
    given = spoiled(cell.set_name, SETS[cell.set_name](TUNING_SEED), TUNED_AT, TUNING_SEED)
    found = tuned(TUNED[cell.method], given.X, given.y, n_configurations, TUNING_SEED)
    return {**found, "by": version_of(cell.method)}


def _fits(cell: Cell, folder: Path, seeds: Sequence[int]) -> dict[str, Any]:
    """Return a cell with the draws it has, if they are of this version, and those it lacks."""
    assert cell.condition is not None
    found = cell.read(folder)
    by = version_of(cell.method)
    if found is None or found["by"] != by:
        found = {"condition": cell.condition.name, "by": by, **{key: [] for key in MEASURED}}
    settings = _settings(cell, folder)
    for seed in seeds[len(found["rmse"]) :]:
        fit = one_fit(cell, settings, seed)
        for key in MEASURED:
            found[key].append(fit[key])
    return found


def _settings(cell: Cell, folder: Path) -> dict[str, Any]:
    """Return the settings that tuning has found; ours have none."""
    if cell.method not in TUNED:
        return {}
    tuning = Cell(cell.set_name, cell.method, None).read(folder)
    assert tuning is not None, f"{cell.method} is not tuned on {cell.set_name}"
    settings: dict[str, Any] = tuning["settings"]
    return settings
