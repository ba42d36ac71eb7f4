"""The paper's own figures, as it printed them."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple


class Printed(NamedTuple):
    """A mean test error and its standard deviation over trials."""

    mean: float
    std: float | None = None


@lru_cache(maxsize=1)
def tables() -> dict[tuple[str, float | None, str, float], Printed]:
    """Return Tables 1, 3 and 4 by task, scope (None in Table 3), method and outlier share."""
    found = {}
    for row in _rows("tables-1-3-4.csv"):
        scope = float(row["scope"]) if row["scope"] else None
        key = (row["task"], scope, row["algorithm"], int(row["outlier_percent"]) / 100)
        found[key] = Printed(float(row["rmse_mean"]), float(row["rmse_std"]))
    return found


@lru_cache(maxsize=1)
def table_5() -> dict[tuple[float, int, int], Printed]:
    """Return Table 5 by outlier share, rounds and number of nodes."""
    return {
        (int(row["outlier_percent"]) / 100, int(row["ao_rounds"]), int(row["n_nodes"])): Printed(
            float(row["rmse_mean"])
        )
        for row in _rows("table-5.csv")
    }


@lru_cache(maxsize=1)
def table_2() -> dict[str, tuple[int, int]]:
    """Return Table 2: rows and inputs of each set."""
    return {r["task"]: (int(r["instances"]), int(r["features"])) for r in _rows("table-2.csv")}


@lru_cache(maxsize=1)
def in_text() -> dict[tuple[str, str, float], Printed]:
    """Return what stands in the text alone, by task, method and outlier share."""
    return {
        (row["task"], row["algorithm"], int(row["outlier_percent"]) / 100): Printed(
            float(row["rmse_mean"]), float(row["rmse_std"])
        )
        for row in _rows("text.csv")
    }


def rsc_kde_error(task: str, level: float) -> Printed:
    """Return the error printed for RSC-KDE, which has no scope of its own."""
    for (name, _, method, share), printed in tables().items():
        if (name, method, share) == (task, "RSC-KDE", level):
            return printed
    return in_text()[task, "RSC-KDE", level]


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("robustscn.paper") / "published" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
