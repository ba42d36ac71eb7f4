"""From the cells on disk to one JSON file of results, short enough to read and to commit."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

from .cells import FEWER_SPLITS, FIRST_SEED, TUNING_SEED, Cell
from .summary import rounded, summary


def _joined(versions: list[dict[str, str]]) -> dict[str, str]:
    """Return the versions that cells were made with, all of them where they differ."""
    names = dict.fromkeys(name for each in versions for name in each)
    return {n: " and ".join(sorted({each[n] for each in versions if n in each})) for n in names}


def report_of(cells: list[Cell], folder: Path, n_splits: int) -> dict[str, Any]:
    """Return all that the cells hold, and what it comes to."""
    found = [(cell, cell.read(folder)) for cell in cells]
    made = [made for _, made in found if made is not None]
    rows = [
        {
            "set": each["set"],
            "method": each["method"],
            "condition": each["condition"],
            **{
                key: rounded(each[key][: cell.splits(n_splits)])
                for key in ("rmse", "seconds", "average_precision")
            },
        }
        for cell, each in found
        if each is not None and "condition" in each
    ]
    tunings = [each for each in made if "tried" in each]
    settings: dict[str, dict[str, Any]] = {}
    for each in tunings:
        settings.setdefault(each["set"], {})[each["method"]] = rounded(each["settings"])
    timing = folder / "timing.json"
    return {
        "what": "RMSE on clean test rows, processor seconds of a fit, and average precision of "
        "finding wrong rows, for each split",
        "seeds": list(range(FIRST_SEED, FIRST_SEED + n_splits)),
        "fewer_splits": min(n_splits, FEWER_SPLITS),
        "tuning_seed": TUNING_SEED,
        "configurations": max((len(each["tried"]) for each in tunings), default=0),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, one thread for each fit",
        "versions": _joined([each["versions"] for each in made]),
        "sources": sorted({each["source"] for each in made if "source" in each}),
        "timing": json.loads(timing.read_text()) if timing.exists() else None,
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
    folder.mkdir(parents=True, exist_ok=True)
    for cell in cells:
        if cell.read(folder) is not None:
            continue
        found: dict[str, Any] | None = None
        if cell.condition is None:
            settings = report["settings"].get(cell.set_name, {}).get(cell.method)
            if settings is not None:
                found = {"settings": settings, "tried": [None] * report["configurations"]}
        elif (row := known.get((cell.set_name, cell.method, cell.condition.name))) is not None:
            found = {**row, "seeds": report["seeds"][: len(row["rmse"])]}
        if found is not None:
            found |= {"set": cell.set_name, "method": cell.method, "versions": report["versions"]}
            (folder / cell.file_name).write_text(json.dumps(found, indent=1) + "\n")
    if report["timing"] is not None and not (folder / "timing.json").exists():
        (folder / "timing.json").write_text(json.dumps(report["timing"], indent=1) + "\n")
