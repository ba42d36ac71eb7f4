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


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("robustscn.paper") / "published" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
