"""What the cells come to: errors, contests with the best peer, verdicts, seconds.

A cell (set and condition) is won where our mean error is below that of every tuned peer, on the
draws that both have. By the interval of the paired difference ours is ahead of a peer, behind it,
or not told apart from it. A method that has not been run in a cell is left out there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .contests import contests, duels, standing
from .grid import Cells, mean_of, there
from .insights import over_all, trees, weakest
from .names import CLEANLAB, FAMILY, ORACLE, OURS, RANKING, ROBUST_HIST, UNWEIGHTED
from .statistics import Values

PUBLISHED_FUNCTION = {"10%": 0.0090, "15%": 0.0098, "20%": 0.0104, "25%": 0.0117, "30%": 0.0138}
"""Mean errors of the paper on the function, ``replace``, with clean validation rows."""
KEEL_LIMITS = {
    "concrete": (0.056, 0.060),
    "stock": (0.0262, 0.0300),
    "treasury": (0.0106, 0.0115),
    "laser": (0.0178, 0.0198),
}
"""At 10 and 25 % ``add``."""


def table_of(cells: Cells, number: Any) -> dict[str, Any]:
    """Return a number of each cell's errors by set, condition and method."""
    return {
        s: {
            c: {m: number(cells[s, m, c]["rmse"]) for m in cells.methods if (s, m, c) in cells}
            for c in dict.fromkeys(key[2] for key in cells if key[0] == s)
        }
        for s in cells.sets
    }


def median_of(values: Values) -> float:
    """Return the median of what is there."""
    return float(np.median(there(values))) if there(values) else float("inf")


def ranking_table(cells: Cells) -> dict[str, Any]:
    """Return average precision by set, condition and method, and the seconds of each."""
    methods = [m for m in (OURS, ROBUST_HIST, CLEANLAB, RANKING) if m in cells.methods]
    found = {}
    for s in cells.sets:
        met = [c for c in cells.conditions if all((s, m, c) in cells for m in (OURS, CLEANLAB))]
        met = [c for c in met if "average_precision" in cells[s, OURS, c]]
        if met:
            found[s] = {
                "average_precision": {
                    c: {
                        m: mean_of(cells[s, m, c]["average_precision"])
                        for m in methods
                        if (s, m, c) in cells
                    }
                    for c in met
                },
                "seconds": {
                    m: mean_of(
                        [v for c in met if (s, m, c) in cells for v in cells[s, m, c]["seconds"]]
                    )
                    for m in methods
                },
            }
    return found


def seconds_table(cells: Cells) -> dict[str, dict[str, float]]:
    """Return the median processor seconds of a fit by set and method, over all conditions."""
    table: dict[str, dict[str, float]] = {}
    for s in cells.sets:
        for m in (*FAMILY, *cells.rivals):
            met = [c for c in cells.conditions if (s, m, c) in cells]
            spent = there([v for c in met for v in cells[s, m, c]["seconds"]])
            if spent:
                table.setdefault(s, {})[m] = float(np.median(spent))
    return table


def ratios(cells: Cells) -> dict[str, Any]:
    """Return our error against the oracle's, without reweighting, and with gross targets."""
    gross = {"one": "add 10%, 1 gross", "five": "add 10%, 5 gross"}
    none = "add 0%"

    def each(above: tuple[str, str], below: tuple[str, str]) -> dict[str, float]:
        met = [s for s in cells.sets if (s, *above) in cells and (s, *below) in cells]
        return {s: cells.ratio(s, above, below) for s in met}

    to_oracle = {c: each((OURS, c), (ORACLE, c)) for c in cells.conditions}
    return {
        "to_oracle": {c: found for c, found in to_oracle.items() if found},
        "to_unweighted_at_0": each((OURS, none), (UNWEIGHTED, none)),
        "gross": {name: each((OURS, c), (OURS, "add 10%")) for name, c in gross.items()},
    }


def failures(cells: Cells) -> dict[str, int]:
    """Return how many fits of each method did not end in a model."""
    counts = dict.fromkeys(cells.methods, 0)
    for (_, method, _), cell in cells.items():
        counts[method] += sum(value is None for value in cell["rmse"])
    return {m: n for m, n in counts.items() if n}


def summary(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return all that the page says, from the cells."""
    cells = Cells(rows)
    return {
        "rmse": table_of(cells, mean_of),
        "median": table_of(cells, median_of),
        "contests": contests(cells),
        "duels": duels(cells),
        "standing": standing(cells),
        "over_all": over_all(cells),
        "weakest": weakest(cells),
        "trees": trees(cells),
        "ratios": ratios(cells),
        "ranking": ranking_table(cells),
        "seconds": seconds_table(cells),
        "failed_fits": failures(cells),
    }
