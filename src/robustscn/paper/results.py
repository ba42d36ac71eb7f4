"""What the trials came to: means, deviations and chosen cells, in one file that the page reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .runner import chosen_rho, favourite_cells, honest_cell, lowest_cell
from .settings import Experiment
from .store import Store, write_text
from .units import BASELINES, Cell, cell_name, cell_of


class Summary(NamedTuple):
    """Mean, standard deviation, median and number of a method's test errors."""

    mean: float
    std: float
    median: float
    n: int


def summarised(store: Store) -> dict[str, Any]:
    """Return the results of all that has been run, in the form that is kept."""
    parts: dict[str, Any] = {}
    tuned: dict[str, tuple[float, ...]] = {}
    for experiment, level, group in store.parts():
        if group == "choice":
            tuned[experiment.name] = (*tuned.get(experiment.name, ()), level)
    for experiment, level, group in store.parts():
        if group == "layers" and experiment.name not in tuned:
            continue  # which cells are shown is not known yet
        here = replace(experiment, tuned_at=tuned.get(experiment.name, ()))
        done = store.trials(here, level, group)
        part = parts.setdefault(part_name(here.name, level), {})
        part[group] = _summary(store, here, level, group, [done[number] for number in sorted(done)])
    return {"parts": parts}


def _summary(
    store: Store, experiment: Experiment, level: float, group: str, done: list[dict[str, Any]]
) -> dict[str, Any]:
    first = done[0]
    found: dict[str, Any] = {"trials": len(done), "data_seeds": _span(done, "data_seed")}
    found["network_seeds"] = _span(done, "network_seed")
    found["seconds"] = round(sum(trial["seconds"] for trial in done), 1)
    if group == "choice":
        return found | {"rho": first["rho"]}
    if group == "curves":
        return found | {name: first[name] for name in first if name not in _BOOKKEEPING}
    names = sorted({name for trial in done for name in trial["rmse"]})
    found["rmse"] = {
        name: _four([t["rmse"][name] for t in done if name in t["rmse"]]) for name in names
    }
    if group in PAIRED:
        found["each"] = {
            name: [_short(t["rmse"][name]) for t in done if name in t["rmse"]] for name in names
        }
    if group == "layers":
        found |= _cells(store, experiment, level, done)
    for name in ("n_nodes", "n_rounds", "found", "wrong", "suspected"):
        if name in first:
            found[name] = float(np.mean([trial[name] for trial in done]))
    return found | {name: first[name] for name in ("rows", "n_inputs") if name in first}


def _cells(
    store: Store, experiment: Experiment, level: float, done: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return which cells of the baselines' grid are shown, and where each split's errors lie."""
    favourites = {m: favourite_cells(store, experiment, level, m) for m in BASELINES}
    lowest = {
        m: cell_name(lowest_cell(store, experiment, level, best.values()))
        for m, best in favourites.items()
    }
    honest = {m: cell_name(honest_cell(store, experiment, level, m)) for m in BASELINES}
    return {
        # Chosen at this share or at the nearest: what these trials were run with.
        "rho": chosen_rho(store, experiment, level),
        "honest": honest,
        "favourite": {
            m: {f"{scope:g}": cell_name(cell) for scope, cell in best.items()}
            for m, best in favourites.items()
        },
        "lowest": lowest,
        "splits": {m: [_short(t["rmse"][lowest[m]]) for t in done] for m in FINGERPRINTS},
    }


FINGERPRINTS = ("RVFL", "PRNNRW")
"""Methods whose errors differ more between splits than between networks."""

PAIRED = ("rsc-kde", "literal", "ours")
"""Groups whose trials are compared one by one, since they are not equally many."""

_BOOKKEEPING = ("trial", "data_seed", "network_seed", "seconds")


def _span(done: list[dict[str, Any]], name: str) -> list[int]:
    return [min(trial[name] for trial in done), max(trial[name] for trial in done)]


def _four(errors: list[float]) -> list[float]:
    values = float(np.mean(errors)), float(np.std(errors)), float(np.median(errors))
    return [_short(value) for value in values] + [len(errors)]


def _short(value: float) -> float:
    return float(f"{value:.5g}")


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
        write_text(path, json.dumps(self.record, sort_keys=True) + "\n")

    @property
    def seconds(self) -> float:
        """Processor time that all of it took."""
        parts = self.record["parts"].values()
        return float(sum(group["seconds"] for part in parts for group in part.values()))

    def after(self, earlier: Results) -> Results:
        """Return these results, and of earlier ones what had more trials or was not run again.

        Parameters
        ----------
        earlier : Results
            Of other runs.

        Returns
        -------
        Results
            A group of an outlier share is of one run, never of two.
        """
        parts = {name: dict(groups) for name, groups in earlier.record["parts"].items()}
        for name, groups in self.record["parts"].items():
            known = parts.setdefault(name, {})
            for group, found in groups.items():
                if group not in known or known[group]["trials"] <= found["trials"]:
                    known[group] = found
        return Results({"parts": parts})

    def group(self, experiment: str, level: float, group: str) -> dict[str, Any] | None:
        """Return what a group came to, None if it was not run."""
        part = self.record["parts"].get(part_name(experiment, level), {})
        return part.get(group)

    def error(self, experiment: str, level: float, method: str) -> Summary | None:
        """Return the test error of a method that has no grid."""
        for group in ("rsc-kde", "literal", "ours", "ablation", "rounds", "treasury"):
            found = self.group(experiment, level, group)
            if found and method in found["rmse"]:
                return Summary(*found["rmse"][method])
        return None

    def shared(
        self, experiment: str, level: float, first: str, second: str
    ) -> tuple[float, float] | None:
        """Return the mean errors of two methods over the trials that both have run."""
        each = [self.each(experiment, level, method) for method in (first, second)]
        count = min(len(errors) for errors in each)
        if count == 0:
            return None
        return float(np.mean(each[0][:count])), float(np.mean(each[1][:count]))

    def each(self, experiment: str, level: float, method: str) -> list[float]:
        """Return the test errors of a method trial by trial, where they are kept."""
        for group in PAIRED:
            found = self.group(experiment, level, group)
            if found and method in found["each"]:
                return list(found["each"][method])
        return []

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
        found = self.group(experiment, level, "layers")
        return cell_of(found["honest"][method]) if found else None

    def levels(self, experiment: str, group: str) -> Iterator[float]:
        """Yield the outlier shares at which a group was run."""
        for percent in range(0, 101):
            if self.group(experiment, percent / 100, group):
                yield percent / 100
