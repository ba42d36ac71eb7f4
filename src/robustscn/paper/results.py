"""What the trials came to: means, deviations and chosen cells, in one file that the page reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .runner import Plan, chosen_rho, favourite_cells, honest_cell, lowest_cell
from .settings import Experiment
from .store import Store, write_text
from .units import BASELINES, Cell, cell_name, cell_of


class Summary(NamedTuple):
    """Mean, standard deviation, median and number of a method's test errors."""

    mean: float
    std: float
    median: float
    n: int


def summarised(plan: Plan, store: Store) -> dict[str, Any]:
    """Return the results of all that has been run, in the form that is kept."""
    parts: dict[str, Any] = {}
    seconds = 0.0
    for experiment, level, group in plan.parts():
        # What else lies there, from a run with more trials, does not count.
        asked = plan.n_trials(experiment, group)
        found = store.trials(experiment, level, group)
        done = {number: trial for number, trial in found.items() if number < asked}
        if not done:
            continue
        seconds += sum(trial["seconds"] for trial in done.values())
        part = parts.setdefault(part_name(experiment.name, level), {})
        part[group] = _summary(store, experiment, level, group, list(done.values()))
    return {"seconds": round(seconds), "parts": parts}


def _summary(
    store: Store, experiment: Experiment, level: float, group: str, done: list[dict[str, Any]]
) -> dict[str, Any]:
    first = done[0]
    found: dict[str, Any] = {"trials": len(done), "data_seeds": _span(done, "data_seed")}
    found["network_seeds"] = _span(done, "network_seed")
    if group == "choice":
        chosen = {m: cell_name(honest_cell(store, experiment, level, m)) for m in BASELINES}
        return found | {"rho": chosen_rho(store, experiment, level), "honest": chosen}
    if group == "curves":
        return found | {name: first[name] for name in first if name not in _BOOKKEEPING}
    names = sorted({name for trial in done for name in trial["rmse"]})
    found["rmse"] = {
        name: _four([t["rmse"][name] for t in done if name in t["rmse"]]) for name in names
    }
    if group == "layers":
        favourites = {m: favourite_cells(store, experiment, level, m) for m in BASELINES}
        found["favourite"] = {
            m: {f"{scope:g}": cell_name(cell) for scope, cell in best.items()}
            for m, best in favourites.items()
        }
        found["lowest"] = {
            m: cell_name(lowest_cell(store, experiment, level, best.values()))
            for m, best in favourites.items()
        }
    for name in ("n_nodes", "n_rounds", "found", "wrong", "suspected"):
        if name in first:
            found[name] = float(np.mean([trial[name] for trial in done]))
    return found


_BOOKKEEPING = ("trial", "data_seed", "network_seed", "seconds")


def _span(done: list[dict[str, Any]], name: str) -> list[int]:
    return [min(trial[name] for trial in done), max(trial[name] for trial in done)]


def _four(errors: list[float]) -> list[float]:
    values = float(np.mean(errors)), float(np.std(errors)), float(np.median(errors))
    return [float(f"{value:.5g}") for value in values] + [len(errors)]


def part_name(experiment: str, level: float) -> str:
    """Return an experiment and its outlier share as they are written."""
    return f"{experiment} {round(100 * level)}"


@dataclass(frozen=True)
class Results:
    """Kept results.

    Parameters
    ----------
    record : dict
        From `summarised`.
    """

    record: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> Results:
        """Return the results in a file."""
        return cls(json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path) -> None:
        """Write the results to a file."""
        write_text(path, json.dumps(self.record, indent=1, sort_keys=True) + "\n")

    def group(self, experiment: str, level: float, group: str) -> dict[str, Any] | None:
        """Return what a group came to, None if it was not run."""
        part = self.record["parts"].get(part_name(experiment, level), {})
        return part.get(group)

    def error(self, experiment: str, level: float, method: str) -> Summary | None:
        """Return the test error of a method that has no grid."""
        for group in ("rsc-kde", "literal", "ours", "ablation", "rounds"):
            found = self.group(experiment, level, group)
            if found and method in found["rmse"]:
                return Summary(*found["rmse"][method])
        return None

    def cell(self, experiment: str, level: float, cell: Cell) -> Summary | None:
        """Return the test error of a baseline at one scope and size."""
        found = self.group(experiment, level, "layers")
        values = found["rmse"].get(cell_name(cell)) if found else None
        return Summary(*values) if values else None

    def favourite(self, experiment: str, level: float, method: str, scope: float) -> Cell | None:
        """Return the cell of a scope with the lowest test error, as the paper picks it."""
        found = self.group(experiment, level, "layers")
        return cell_of(found["favourite"][method][f"{scope:g}"]) if found else None

    def lowest(self, experiment: str, level: float, method: str) -> Cell | None:
        """Return the cell of the whole grid with the lowest test error."""
        found = self.group(experiment, level, "layers")
        return cell_of(found["lowest"][method]) if found else None

    def honest(self, experiment: str, level: float, method: str) -> Cell | None:
        """Return the cell that cross-validation on the dirty rows chose."""
        found = self.group(experiment, level, "choice")
        return cell_of(found["honest"][method]) if found else None

    def levels(self, experiment: str, group: str) -> Iterator[float]:
        """Yield the outlier shares at which a group was run."""
        for percent in range(0, 101):
            if self.group(experiment, percent / 100, group):
                yield percent / 100
