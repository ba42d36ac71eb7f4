"""The targets that `RobustSCNRegressor()` is held to, each beside what was measured.

A target that a run has no numbers for, as in a quick one, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .names import BLEND, CLEANLAB, OURS, RANKING
from .summary import KEEL_LIMITS, PUBLISHED_FUNCTION


@dataclass(frozen=True)
class Target:
    """What is asked, what was found, and whether that is enough."""

    asked: str
    measured: str
    met: bool


def _worst(values: dict[str, float]) -> str:
    name = max(values, key=lambda s: values[s])
    return f"worst {name} {values[name]:.3f}"


def _mean(values: dict[str, float]) -> float:
    return sum(values.values()) / len(values)


def oracle_targets(summary: dict[str, Any]) -> Iterator[Target]:
    """Return how close the error is to that of training without the wrong rows."""
    found = summary["ratios"]["to_oracle"]
    for level, limit, single in (("10%", 1.05, 1.15), ("25%", 1.10, 1.15), ("40%", 1.30, None)):
        values = found.get(f"add {level}")
        if not values:
            continue
        asked = f"error over the oracle's, `add` {level}: at most {limit:.2f} on the mean"
        asked += f", no set above {single:.2f}" if single else ""
        mean, most = _mean(values), max(values.values())
        met = mean <= limit and (single is None or most <= single)
        yield Target(asked, f"{mean:.3f}, {_worst(values)}", met)


def cost_targets(summary: dict[str, Any]) -> Iterator[Target]:
    """Return what reweighting costs on clean rows, and what gross targets do."""
    values = summary["ratios"]["to_unweighted_at_0"]
    if values:
        mean = _mean(values)
        yield Target(
            "error at 0 % over that without reweighting: at most 1.03 on the mean",
            f"{mean:.3f}, {_worst(values)}",
            mean <= 1.03,
        )
    for name, values in summary["ratios"]["gross"].items():
        if not values:
            continue
        moved = {s: abs(v - 1) for s, v in values.items()}
        name_of_worst = max(moved, key=lambda s: moved[s])
        yield Target(
            f"{name} target{'s' if name != 'one' else ''} times a million: the error moves by "
            "less than 1 % on every set",
            f"worst {name_of_worst} {values[name_of_worst] - 1:+.2%}",
            max(moved.values()) < 0.01,
        )


def peer_targets(summary: dict[str, Any]) -> Iterator[Target]:
    """Return wins over the best tuned peer where targets are wrong."""
    dirty = [c for c in summary["contests"] if not c["condition"].endswith(" 0%")]
    if not dirty:
        return
    won = sum(c["won"] for c in dirty)
    yield Target(
        "below every tuned peer in 9 of 10 cells (set and condition) with wrong targets",
        f"{won} of {len(dirty)}",
        won >= 0.9 * len(dirty),
    )
    worst = max(dirty, key=lambda c: c["ratio"])
    yield Target(
        "nowhere more than 10 % behind the best of them",
        f"worst {worst['ratio'] - 1:+.1%} ({worst['set']}, {worst['condition']})",
        worst["ratio"] <= 1.10,
    )


def level_targets(summary: dict[str, Any]) -> Iterator[Target]:
    """Return the errors that were set as limits beforehand."""
    table = summary["rmse"]
    levels = {
        level: (table["function"][f"replace {level}"][OURS], limit)
        for level, limit in PUBLISHED_FUNCTION.items()
        if f"replace {level}" in table.get("function", {})
    }
    if levels:
        yield Target(
            "function, `replace` at " + ", ".join(levels) + ": the paper's "
            + ", ".join(f"{limit:.4f}" for _, limit in levels.values()) + " or below",
            ", ".join(f"{found:.4f}" for found, _ in levels.values()),
            all(found <= limit for found, limit in levels.values()),
        )  # fmt: skip
    for name, limits in KEEL_LIMITS.items():
        if name not in table:
            continue
        found = [table[name][f"add {level}"][OURS] for level in ("10%", "25%")]
        yield Target(
            f"{name} at 10 and 25 %: " + ", ".join(f"{v:.4f}" for v in limits) + " or below",
            ", ".join(f"{v:.4f}" for v in found),
            all(f <= limit for f, limit in zip(found, limits, strict=True)),
        )


def finding_targets(summary: dict[str, Any]) -> Iterator[Target]:
    """Return how well wrong rows are found, and how fast."""
    ranking = summary["ranking"]
    behind, cells = [], 0
    for name, found in ranking.items():
        for condition, values in found["average_precision"].items():
            cells += 1
            others = [values[m] for m in (CLEANLAB, RANKING) if m in values]
            if values[OURS] <= max(others):
                behind.append(f"{name}, {condition}")
    if not ranking:
        return
    sets = {each.split(",")[0] for each in behind}
    yield Target(
        "average precision of finding wrong rows above cleanlab's and above a tuned "
        "HuberRegressor's, on every set",
        f"in {cells - len(behind)} of {cells} cells; on {len(ranking) - len(sets)} of "
        f"{len(ranking)} sets in all",
        not behind,
    )
    shares = {n: f["seconds"][OURS] / f["seconds"][CLEANLAB] for n, f in ranking.items()}
    yield Target(
        "in a tenth of cleanlab's time or less, on every set",
        f"{min(shares.values()):.2f} to {max(shares.values()):.2f} of it",
        max(shares.values()) <= 0.1,
    )


def standing_targets(summary: dict[str, Any]) -> Iterator[Target]:
    """Return how often ours is told to be behind the best peer, and whether the blend ever is."""
    standing = summary["standing"]
    if OURS in standing:
        own = standing[OURS]
        behind = own["best"][1]
        yield Target(
            "ahead of the best peer or not told apart from it in 9 of 10 cells",
            f"{own['cells'] - behind} of {own['cells']}",
            behind <= 0.1 * own["cells"],
        )
        yield Target(
            "nowhere more than 5 % behind the best peer, clean rows included",
            f"worst {own['worst'] - 1:+.1%}",
            own["worst"] <= 1.05,
        )
    if BLEND in standing:
        blend = standing[BLEND]
        yield Target(
            "networks and trees together: the lowest mean in all cells but one",
            f"{blend['won']} of {blend['cells']}",
            blend["won"] >= blend["cells"] - 1,
        )


def tree_targets(summary: dict[str, Any]) -> Iterator[Target]:
    """Return what making trees robust was to be worth."""
    for name, found in summary["trees"].items():
        ratios = list(found["dirty"].values())
        below = sum(ratio < 1 for ratio in ratios)
        yield Target(
            f"`{name}` below the same trees with robust losses, tuned, in 8 of 10 cells with "
            "wrong rows, never more than 2 % behind",
            f"{below} of {len(ratios)}, worst {max(ratios) - 1:+.1%}",
            below >= 0.8 * len(ratios) and max(ratios) <= 1.02,
        )
        if found["clean"]:
            yield Target(
                f"`{name}` on clean rows at most 1 % above the same trees with the squared loss",
                _worst(found["clean"]),
                max(found["clean"].values()) <= 1.01,
            )
        beside = found["cleanlab"]
        if beside["cells"]:
            longest = max(beside["share_of_time"].values())
            yield Target(
                f"`{name}` finds wrong rows better than CleanLearning in every cell, in a fifth "
                "of its time",
                f"{beside['better']} of {beside['cells']}, up to {longest:.2f} of the time",
                beside["better"] == beside["cells"] and longest <= 0.2,
            )


def timing_targets(timing: dict[str, Any] | None) -> Iterator[Target]:
    """Return how long a default fit takes by the clock."""
    for size, limit in (("1,000 x 15", 2.0), ("20,000 x 20", 60.0)):
        if timing and size in timing["seconds"]:
            seconds = timing["seconds"][size]
            asked = f"a default fit of {size} numbers in {limit:.0f} s on two cores"
            yield Target(asked, f"{seconds:.1f} s", seconds <= limit)


def targets(report: dict[str, Any]) -> list[Target]:
    """Return every target that the report has numbers for."""
    summary = report["summary"]
    return [
        *oracle_targets(summary),
        *cost_targets(summary),
        *peer_targets(summary),
        *standing_targets(summary),
        *tree_targets(summary),
        *level_targets(summary),
        *finding_targets(summary),
        *timing_targets(report.get("timing")),
    ]
