"""Ours beside each rival and beside the best, cell by cell."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .grid import Cells
from .names import FAMILY, OURS
from .statistics import paired, tally


def duels(cells: Cells, ours: str = OURS) -> list[dict[str, Any]]:
    """Return every rival's paired difference from one of ours, where both have been run."""
    found = []
    for s, c in cells.met_by(ours):
        for m in cells.rivals_in(s, c):
            difference = paired(cells[s, m, c]["rmse"], cells[s, ours, c]["rmse"])
            verdict = difference.verdict
            found.append(
                {"set": s, "condition": c, "peer": m, **asdict(difference), "verdict": verdict}
            )
    return found


def contests(cells: Cells, ours: str = OURS) -> list[dict[str, Any]]:
    """Return, for every set and condition, the best rival and how far one of ours is from it.

    The best is the one whose error is lowest beside ours on the draws that both have.
    """
    found = []
    for s, c in cells.met_by(ours):
        pairs = {m: cells.shared(s, m, ours, c) for m in cells.rivals_in(s, c)}
        best = max(pairs, key=lambda m: pairs[m][1] / pairs[m][0])
        theirs, own = pairs[best]
        difference = paired(cells[s, best, c]["rmse"], cells[s, ours, c]["rmse"])
        found.append(
            {
                "set": s,
                "condition": c,
                "best_peer": best,
                "rivals": len(pairs),
                "ours": own,
                "peer": theirs,
                "ratio": own / theirs,
                "won": own < theirs,
                "difference": asdict(difference),
                "verdict": difference.verdict,
            }
        )
    return found


def standing(cells: Cells) -> dict[str, Any]:
    """Return, for each of ours, how often ahead of, behind and level with each rival and the best.

    Beside them how many cells are won and how many are at most 5 % behind the best.
    """
    found: dict[str, Any] = {}
    for ours in FAMILY:
        met, every = contests(cells, ours), duels(cells, ours)
        if met:
            found[ours] = {
                "cells": len(met),
                "won": sum(c["won"] for c in met),
                "within_5_percent": sum(c["ratio"] <= 1.05 for c in met),
                "worst": max(c["ratio"] for c in met),
                "best": tally([c["verdict"] for c in met]),
                "peers": {
                    m: tally([d["verdict"] for d in every if d["peer"] == m]) for m in cells.rivals
                },
            }
    return found
