"""From the cells on disk to one JSON file of results, short enough to read and to commit."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from .cells import MEASURED, Cell
from .grid import rounded
from .plan import TUNING_SEED
from .summary import summary


def report_of(
    cells: list[Cell], folder: Path, first_seed: int, earlier: dict[str, Any]
) -> dict[str, Any]:
    """Return all that the cells hold, and what it comes to.

    What has been measured apart from the cells is taken over from earlier results.
    """
    found = [(cell, made) for cell in cells if (made := cell.read(folder)) is not None]
    rows = [
        {
            **{key: made[key] for key in ("set", "method", "condition", "by")},
            **{key: rounded(made[key]) for key in MEASURED if any(made[key])},
        }
        for cell, made in found
        if cell.condition is not None
    ]
    tunings = [made for cell, made in found if cell.condition is None]
    settings: dict[str, dict[str, Any]] = {}
    for each in tunings:
        settings.setdefault(each["set"], {})[each["method"]] = rounded(each["settings"])
    apart = ("timing", "spread", "looks")
    return {
        "what": "RMSE on clean test rows, processor seconds of a fit, and average precision of "
        "finding wrong rows, for each draw",
        "first_seed": first_seed,
        "tuning_seed": TUNING_SEED,
        "configurations": max((len(each["tried"]) for each in tunings), default=0),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, one thread for each fit; "
        f"python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}",
        **{key: earlier.get(key) for key in apart},
        "summary": rounded(summary(rows)),
        "settings": settings,
        "cells": rows,
    }


def laid_out(value: Any, indent: int = 0) -> str:
    """Return JSON in which whatever fits into a line stands in one."""
    short = json.dumps(value)
    if len(short) + indent <= 160 or not isinstance(value, dict | list):
        return short
    pad, inner = " " * indent, indent + 1
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {laid_out(each, inner)}" for key, each in value.items()]
        opened, closed = "{", "}"
    else:
        parts, opened, closed = [laid_out(each, inner) for each in value], "[", "]"
    return f"{opened}\n" + ",\n".join(f"{pad} {part}" for part in parts) + f"\n{pad}{closed}"


def restore(report: dict[str, Any], cells: list[Cell], folder: Path) -> None:
    """Write the cells that are not on disk as far as earlier results hold them.

    So that a new version of ours is measured alone, beside peers that have not changed.
    """
    known = {(row["set"], row["method"], row["condition"]): row for row in report["cells"]}
    for cell in cells:
        if cell.read(folder) is not None:
            continue
        if cell.condition is None:
            settings = report["settings"].get(cell.set_name, {}).get(cell.method)
            if settings is not None:
                tried = [None] * report["configurations"]
                cell.write(folder, {"settings": settings, "tried": tried})
        elif (row := known.get((cell.set_name, cell.method, cell.condition.name))) is not None:
            nothing = {key: [None] * len(row["rmse"]) for key in MEASURED}
            cell.write(folder, {**nothing, **row})


def looked(results: Path, version: str | None = None) -> list[str]:
    """Return the versions of ours that have met the reporting draws, this one included."""
    path = results.with_name(f"{results.stem}_looks.json")
    seen: list[str] = json.loads(path.read_text()) if path.exists() else []
    if version is not None and version not in seen:
        seen.append(version)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(seen, indent=1) + "\n")
    return seen
