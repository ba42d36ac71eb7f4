"""What the cells of the accuracy benchmark come to: means, wins and losses, and the targets.

Differences are paired, peer minus ours on the same split, with Student's 95 % interval. A cell
(set and condition) is won where our mean error is below that of every tuned peer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

OURS, ORACLE, UNWEIGHTED = "RobustSCN", "RobustSCN oracle", "RobustSCN unweighted"
BLEND = "RobustBlend"
CLEANLAB, RANKING = "CleanLearning", "HuberRegressor, linear"
NOT_RIVALS = (OURS, BLEND, ORACLE, UNWEIGHTED, RANKING)
PUBLISHED_FUNCTION = {"10%": 0.0090, "15%": 0.0098, "20%": 0.0104, "25%": 0.0117, "30%": 0.0138}
"""Mean errors of the paper on the function, ``replace``, with clean validation rows."""
KEEL_LIMITS = {
    "concrete": (0.056, 0.060),
    "stock": (0.0262, 0.0300),
    "treasury": (0.0106, 0.0115),
    "laser": (0.0178, 0.0198),
}
"""At 10 and 25 % ``add``."""

Key = tuple[str, str, str]
Values = Sequence[float | None]


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def paired(peer: Values, ours: Values) -> Interval:
    """Return the mean of peer minus ours over the splits that both have, with its interval."""
    both = [(p, o) for p, o in zip(peer, ours, strict=False) if p is not None and o is not None]
    difference = np.array([p - o for p, o in both])
    mean, n = float(difference.mean()), len(difference)
    if n < 2:
        return Interval(mean, float("-inf"), float("inf"))
    half = float(student.ppf(0.975, n - 1) * difference.std(ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half)


def mean_of(values: Values) -> float:
    """Return the mean of what is there."""
    there = [v for v in values if v is not None]
    return float(np.mean(there)) if there else float("inf")


def rounded(value: Any) -> Any:
    """Return the value with its numbers to five digits, which is more than they are worth."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


class Cells(Mapping[Key, dict[str, Any]]):
    """All cells by set, method and condition."""

    def __init__(self, cells: Iterable[dict[str, Any]]) -> None:
        self._cells = {(c["set"], c["method"], c["condition"]): c for c in cells}
        self.sets = list(dict.fromkeys(key[0] for key in self._cells))
        self.methods = list(dict.fromkeys(key[1] for key in self._cells))
        self.rivals = [m for m in self.methods if m not in NOT_RIVALS]
        # What the rivals meet: ours meets more.
        self.conditions = list(
            dict.fromkeys(key[2] for key in self._cells if key[1] in self.rivals)
        )
        self.dirty = [c for c in self.conditions if not c.endswith(" 0%")]

    def __getitem__(self, key: Key) -> dict[str, Any]:
        return self._cells[key]

    def __iter__(self) -> Any:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def rmse(self, set_name: str, method: str, condition: str) -> float:
        """Return the mean error over the splits."""
        return mean_of(self[set_name, method, condition]["rmse"])

    def shared(self, set_name: str, rival: str, condition: str) -> tuple[float, float]:
        """Return the mean errors of a rival and of ours over the splits that both have."""
        theirs, ours = (self[set_name, m, condition]["rmse"] for m in (rival, OURS))
        both = [(t, o) for t, o in zip(theirs, ours, strict=False) if t is not None]
        return mean_of([t for t, _ in both]), mean_of([o for _, o in both])

    def ratio(self, set_name: str, above: tuple[str, str], below: tuple[str, str]) -> float:
        """Return a ratio of mean errors; each is of a method and a condition."""
        return self.rmse(set_name, *above) / self.rmse(set_name, *below)


def rmse_table(cells: Cells) -> dict[str, Any]:
    """Return mean errors by set, condition and method."""
    return {
        s: {
            c: {m: cells.rmse(s, m, c) for m in cells.methods if (s, m, c) in cells}
            for c in dict.fromkeys(key[2] for key in cells if key[0] == s)
        }
        for s in cells.sets
    }


def duels(cells: Cells) -> list[dict[str, Any]]:
    """Return every rival's paired difference from ours, in every set and condition."""
    return [
        {
            "set": s,
            "condition": c,
            "peer": m,
            **asdict(paired(cells[s, m, c]["rmse"], cells[s, OURS, c]["rmse"])),
        }
        for s in cells.sets
        for c in cells.conditions
        for m in cells.rivals
    ]


def contests(cells: Cells) -> list[dict[str, Any]]:
    """Return, for every set and condition, the best rival and how far ours is from it."""
    found = []
    for s in cells.sets:
        for c in cells.conditions:
            pairs = [cells.shared(s, m, c) for m in cells.rivals]
            best = min(cells.rivals, key=lambda m: cells.rmse(s, m, c))
            found.append(
                {
                    "set": s,
                    "condition": c,
                    "best_peer": best,
                    "ours": cells.rmse(s, OURS, c),
                    "peer": cells.rmse(s, best, c),
                    # A rival that ran fewer splits is met on those.
                    "ratio": max(ours / theirs for theirs, ours in pairs),
                    "won": all(ours < theirs for theirs, ours in pairs),
                    "difference": asdict(
                        paired(cells[s, best, c]["rmse"], cells[s, OURS, c]["rmse"])
                    ),
                }
            )
    return found


def ranking_table(cells: Cells) -> dict[str, Any]:
    """Return average precision by set, condition and method, and the seconds of each."""
    methods = [m for m in (OURS, CLEANLAB, RANKING) if m in cells.methods]
    return {
        s: {
            "average_precision": {
                c: {m: mean_of(cells[s, m, c]["average_precision"]) for m in methods}
                for c in cells.dirty
            },
            "seconds": {
                m: mean_of([v for c in cells.dirty for v in cells[s, m, c]["seconds"]])
                for m in methods
            },
        }
        for s in cells.sets
    }


def seconds_table(cells: Cells) -> dict[str, dict[str, float]]:
    """Return the median processor seconds of a fit by set and method, over all conditions."""
    table: dict[str, dict[str, float]] = {}
    for s in cells.sets:
        for m in (OURS, *cells.rivals):
            spent = [v for c in cells.conditions for v in cells[s, m, c]["seconds"]]
            table.setdefault(s, {})[m] = float(np.median([v for v in spent if v is not None]))
    return table


def ratios(cells: Cells) -> dict[str, Any]:
    """Return our error against the oracle's, without reweighting, and with gross targets."""
    levels = [c for c in cells.conditions if (cells.sets[0], ORACLE, c) in cells]
    gross = {"one": "add 10%, 1 gross", "five": "add 10%, 5 gross"}
    none = "add 0%"
    return {
        "to_oracle": {
            c: {s: cells.ratio(s, (OURS, c), (ORACLE, c)) for s in cells.sets} for c in levels
        },
        "to_unweighted_at_0": {
            s: cells.ratio(s, (OURS, none), (UNWEIGHTED, none))
            for s in cells.sets
            if (s, UNWEIGHTED, none) in cells
        },
        "gross": {
            name: {
                s: cells.ratio(s, (OURS, c), (OURS, "add 10%"))
                for s in cells.sets
                if (s, OURS, c) in cells
            }
            for name, c in gross.items()
        },
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
        "rmse": rmse_table(cells),
        "contests": contests(cells),
        "duels": duels(cells),
        "ratios": ratios(cells),
        "ranking": ranking_table(cells),
        "seconds": seconds_table(cells),
        "failed_fits": failures(cells),
    }
