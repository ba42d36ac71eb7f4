"""Across cells: ranks, error against time, what to pick when, the weakest sets, robust trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .contests import contests
from .grid import Cells, mean_of, there
from .names import (
    CLEANLAB,
    FAMILY,
    ORACLE,
    OURS,
    PLAIN_HIST,
    PLAIN_LIGHTGBM,
    ROBUST_HIST,
    ROBUST_LOSSES,
)
from .plan import SHAPES, TREE_FRIENDLY
from .statistics import average_ranks

COVERAGE = 0.95
"""Share of the cells that a method has to be run in to be ranked among the others."""

At = tuple[str, str]


def geometric(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def compared(cells: Cells) -> tuple[list[str], list[At]]:
    """Return the methods that were run in most cells, and the cells they all were run in."""
    met = cells.met_by(OURS)
    run = {m: {at for at in met if (at[0], m, at[1]) in cells} for m in (*FAMILY, *cells.rivals)}
    methods = [m for m, where in run.items() if len(where) >= COVERAGE * len(met) > 0]
    return methods, [at for at in met if all(at in run[m] for m in methods)]


def over_all(cells: Cells) -> dict[str, Any]:
    """Return ranks, error over the best, and seconds, of methods on the cells they share.

    A block of the ranks is a set: conditions of one set are no independent trials.
    """
    methods, met = compared(cells)
    if not met or len(methods) < 3:
        return {}
    errors = np.array([first_draws(cells, at, methods) for at in met])
    seconds = [[median_seconds(cells, at, m) for m in methods] for at in met]
    relative = errors / errors.min(axis=1, keepdims=True)
    sets = list(dict.fromkeys(s for s, _ in met))
    by_set = [[i for i, (s, _) in enumerate(met) if s == name] for name in sets]
    blocks = np.array([np.log(relative[rows]).mean(axis=0) for rows in by_set])
    return {
        "methods": methods,
        "left_out": [
            m for m in (*FAMILY, *cells.rivals) if m not in methods and m in cells.methods
        ],
        "cells": len(met),
        "error": [geometric(column) for column in relative.T],
        "seconds": [geometric(column) for column in np.array(seconds).T],
        **average_ranks(blocks),
        "groups": groups(methods, met, relative),
    }


def first_draws(cells: Cells, at: At, methods: Sequence[str]) -> list[float]:
    """Return mean errors of methods in a cell, over the draws that all of them have."""
    errors = [cells[at[0], m, at[1]]["rmse"] for m in methods]
    shared = min(map(len, errors))
    return [mean_of(each[:shared]) for each in errors]


def median_seconds(cells: Cells, at: At, method: str) -> float:
    """Return the median processor seconds of a fit in a cell."""
    return float(np.median(there(cells[at[0], method, at[1]]["seconds"])))


def share_of(condition: str) -> float:
    """Return the share of wrong rows, from a condition's name."""
    return float(condition.split("%")[0].split()[-1]) / 100


def noisy(condition: str) -> bool:
    """Return whether right rows have noise as well."""
    return "noise" in condition


GROUPS: dict[str, Callable[[str, str], bool]] = {
    "all": lambda _s, _c: True,
    "up to 600 rows": lambda s, _c: SHAPES[s][0] <= 600,
    "700 to 1,200 rows": lambda s, _c: 600 < SHAPES[s][0] <= 1200,
    "2,000 rows and more": lambda s, _c: SHAPES[s][0] >= 2000,
    "up to 5 inputs": lambda s, _c: SHAPES[s][1] <= 5,
    "6 to 15 inputs": lambda s, _c: 5 < SHAPES[s][1] <= 15,
    "20 inputs and more": lambda s, _c: SHAPES[s][1] >= 20,
    "steps, codes, many rows": lambda s, _c: s in TREE_FRIENDLY,
    "smooth": lambda s, _c: s not in TREE_FRIENDLY,
    "nothing wrong": lambda _s, c: share_of(c) == 0,
    "10 % wrong": lambda _s, c: 0 < share_of(c) <= 0.1,
    "25 or 30 % wrong": lambda _s, c: 0.1 < share_of(c) < 0.4,
    "40 % wrong": lambda _s, c: share_of(c) >= 0.4,
    "wrong without pattern": lambda _s, c: c.startswith(("add", "replace")) and share_of(c) > 0,
    "wrong with a pattern": lambda _s, c: not c.startswith(("add", "replace")) and not noisy(c),
    "noise on every row too": lambda _s, c: noisy(c),
}
"""Cells that a user may find his table among."""


def groups(methods: Sequence[str], met: Sequence[At], relative: Any) -> dict[str, Any]:
    """Return error over the best of each cell, by group of cells and method."""
    found = {}
    for name, belongs in GROUPS.items():
        rows = [i for i, at in enumerate(met) if at[0] in SHAPES and belongs(*at)]
        if rows:
            error = {m: geometric(relative[rows, j]) for j, m in enumerate(methods)}
            found[name] = {"cells": len(rows), "error": error}
    return found


def weakest(cells: Cells) -> list[dict[str, Any]]:
    """Return the three sets on which ours is furthest from the best rival, and what the oracle is.

    Where the oracle, which never sees a wrong row, is behind the best rival too, the networks
    lose; where it is ahead, the judging does.
    """
    found = []
    met = contests(cells)
    for name in cells.sets:
        ratios = [c["ratio"] for c in met if c["set"] == name]
        if not ratios:
            continue
        told = []
        for c in met:
            at = (name, ORACLE, c["condition"])
            if c["set"] == name and at in cells:
                oracle = cells.shared(name, ORACLE, c["best_peer"], c["condition"])
                told.append((c["ratio"], oracle[0] / oracle[1]))
        found.append(
            {
                "set": name,
                "ratio": geometric(ratios),
                "ratio_where_told": geometric([a for a, _ in told]) if told else None,
                "oracle": geometric([b for _, b in told]) if told else None,
            }
        )
    return sorted(found, key=lambda each: -each["ratio"])[:3]


def trees(cells: Cells) -> dict[str, Any]:
    """Return `RobustRegressor` beside the same trees with robust losses, tuned, and CleanLearning.

    On clean rows it stands beside the same trees on their defaults with the squared loss.
    """
    found = {}
    for ours, losses in ROBUST_LOSSES.items():
        plain = PLAIN_HIST if ours == ROBUST_HIST else PLAIN_LIGHTGBM
        dirty = {}
        for s, c in cells.met_by(ours):
            rivals = [m for m in losses if (s, m, c) in cells]
            pairs = [cells.shared(s, ours, m, c) for m in rivals]
            if pairs and share_of(c) > 0:
                dirty[f"{s}, {c}"] = max(own / theirs for own, theirs in pairs)
        clean = {
            s: cells.ratio(s, (ours, "add 0%"), (plain, "add 0%"))
            for s in cells.sets
            if all((s, m, "add 0%") in cells for m in (ours, plain))
        }
        if dirty:
            found[ours] = {"losses": list(losses), "dirty": dirty, "clean": clean}
            found[ours] |= {"cleanlab": beside_cleanlab(cells, ours)}
    return found


def beside_cleanlab(cells: Cells, ours: str) -> dict[str, Any]:
    """Return in how many cells wrong rows are found better, and the share of time by set."""
    better, count = 0, 0
    for s, c in cells.met_by(ours):
        at = [(s, m, c) for m in (ours, CLEANLAB)]
        if all(each in cells and "average_precision" in cells[each] for each in at):
            values = [cells[each]["average_precision"] for each in at]
            own, theirs = (mean_of(v[: min(map(len, values))]) for v in values)
            better, count = better + (own > theirs), count + 1
    spent = {
        s: [
            mean_of([v for c in cells.conditions if (s, m, c) in cells
                     for v in cells[s, m, c]["seconds"]])
            for m in (ours, CLEANLAB)
        ]
        for s in cells.sets
    }  # fmt: skip
    shares = {s: own / theirs for s, (own, theirs) in spent.items() if own and theirs < np.inf}
    return {"better": better, "cells": count, "share_of_time": shares}
