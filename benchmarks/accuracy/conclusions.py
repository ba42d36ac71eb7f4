"""What the accuracy page concludes, losses first: verdicts, advice, the weakest sets, trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from .markdown import best_in_bold, table
from .names import FAMILY


def loss_lines(summary: dict[str, Any]) -> list[str]:
    """Return where a tuned peer was better, plainly."""
    contests = summary["contests"]
    lost = sorted((c for c in contests if not c["won"]), key=lambda c: -c["ratio"])
    far = sum(c["ratio"] > 1.05 for c in contests)
    lines = [
        "## Losses",
        "",
        "`RobustSCNRegressor`, ours, has the lowest mean error in "
        f"{len(contests) - len(lost)} of {len(contests)} cells (set and condition, 0 % included) "
        f"and is more than 5 % behind the best peer in {far}.",
        "",
    ]
    if not lost:
        return lines
    rows = []
    for c in lost:
        ends = f"{c['difference']['low']:+.4f} to {c['difference']['high']:+.4f}"
        numbers = (f"{c['ours']:.4f}", f"{c['peer']:.4f}", f"{c['ratio'] - 1:+.1%}", ends)
        name = f"{c['set']}, {c['condition']}: {c['best_peer']}"
        rows.append([name, *numbers, c["verdict"]])
    lines += ["The best peer where its mean is lower, on the draws that both have:", ""]
    head = ("cell and peer", "ours", "peer", "behind", "peer minus ours", "ours is")
    return lines + table(head, rows)


def verdict_lines(summary: dict[str, Any]) -> list[str]:
    """Return how often each of ours is ahead, behind or not told apart."""
    standing = summary["standing"]
    text = (
        "By 95 % intervals of paired differences, peer minus ours on the same draws (the outer "
        "ends of the bootstrap's and of Student's), ours is ahead of a peer in a cell, behind it, "
        "or not told apart from it: three numbers, in this order. The best peer of a cell is "
        "picked after the fact, which favours the peers."
    )
    head = ("beside", *standing)
    rows = [["**the best of each cell**", *(_three(s["best"]) for s in standing.values())]]
    peers = list(dict.fromkeys(m for s in standing.values() for m in s["peers"]))
    rows += [[m, *(_three(s["peers"][m]) for s in standing.values())] for m in peers]
    for name, key in (("cells", "cells"), ("lowest mean of all", "won"),
                      ("at most 5 % behind the best", "within_5_percent")):  # fmt: skip
        rows.append([name, *(str(s[key]) for s in standing.values())])
    rows.append(["furthest behind", *(f"{s['worst'] - 1:+.0%}" for s in standing.values())])
    return ["## Ahead, behind, not told apart", "", text, "", *table(head, rows)]


def _three(counts: list[int]) -> str:
    return " / ".join(map(str, counts)) if sum(counts) else "not run"


def rank_lines(summary: dict[str, Any]) -> list[str]:
    """Return the pictures of ranks and time."""
    found = summary["over_all"]
    if "ranks" not in found:
        return []
    return [
        "## Ranks and time",
        "",
        f"Methods that were run in nearly all cells, on the {found['cells']} that they share "
        f"(left out: {'; '.join(found['left_out']) or 'none'}). A "
        "block of the ranks is a set, since conditions of one set are no independent trials; "
        f"Friedman's test: p = {found['p']:.2g}. Two methods closer than the critical difference "
        f"of {found['critical']:.1f} (Nemenyi, 95 %) are not told apart.",
        "",
        "![average ranks with the critical difference](accuracy_ranks.png)",
        "",
        "![error against seconds, with the front that none beats in both](accuracy_time.png)",
        "",
    ]


def advice_lines(summary: dict[str, Any]) -> list[str]:
    """Return what to pick when: error over the best of each cell, for kinds of tables."""
    found = summary["over_all"].get("groups")
    if not found:
        return []
    rows = []
    for name, group in found.items():
        error = group["error"]
        best = min(error, key=lambda m: error[m])
        peer = min((m for m in error if m not in FAMILY), key=lambda m: error[m])
        shown = [error.get(m) for m in FAMILY]
        numbers = best_in_bold(shown, error[best], 2)
        rows.append([f"{name} ({group['cells']} cells)", *numbers,
                     f"{best_in_bold([error[peer]], error[best], 2)[0]} {peer}"])  # fmt: skip
    text = (
        "Error over the best of each cell, geometric mean: 1.00 would be the best everywhere. The "
        "last column is the peer that is best over the group, picked after the fact. Methods and "
        "cells are those of the section on ranks."
    )
    head = ("table", *FAMILY, "best peer")
    return ["## What to pick when", "", text, "", *table(head, rows)]


def weakest_lines(summary: dict[str, Any]) -> list[str]:
    """Return the three weakest sets: whether learner or judge loses."""
    lines = [
        "## The three weakest sets",
        "",
        "Learner or judge? The oracle is ours trained without the wrong rows. Where it is behind "
        "the best peer too, the networks lose; where it is ahead, the judging does.",
        "",
    ]
    for each in summary["weakest"]:
        text = f"- **{each['set']}**: {each['ratio'] - 1:+.1%} beside the best peer of each cell"
        if each["oracle"] is not None:
            own, oracle = each["ratio_where_told"], each["oracle"]
            who = "the judging" if oracle < 1 < own else "neither" if own <= 1 else "the networks"
            text += (
                f"; where the oracle was run ours is {own - 1:+.1%} and the oracle "
                f"{oracle - 1:+.1%}: {who} {'lose' if who == 'the networks' else 'loses'}"
            )
        lines.append(text + ".")
    return [*lines, ""]


def tree_lines(summary: dict[str, Any]) -> list[str]:
    """Return what making trees robust is worth."""
    found = summary["trees"]
    if not found:
        return []
    lines = ["## The same trees, made robust", ""]
    for ours, beside in found.items():
        ratios = list(beside["dirty"].values())
        at, worst = max(beside["dirty"].items(), key=lambda item: item[1])
        losses = ", ".join(beside["losses"])
        lines += [
            f"- `{ours}` on defaults has a lower error than {losses}, tuned, in "
            f"{sum(r < 1 for r in ratios)} of {len(ratios)} cells with wrong rows; furthest "
            f"behind {worst - 1:+.1%} ({at})."
        ]
        if beside["clean"]:
            at, worst = max(beside["clean"].items(), key=lambda item: item[1])
            within = sum(r <= 1.01 for r in beside["clean"].values())
            lines[-1] += (
                f" On clean rows it is at most 1 % above the same trees with the squared loss on "
                f"{within} of {len(beside['clean'])} sets; furthest {worst - 1:+.1%} ({at})."
            )
        rows = beside["cleanlab"]
        if rows["cells"]:
            shares = rows["share_of_time"].values()
            lines[-1] += (
                f" Wrong rows are found better (average precision) than by CleanLearning in "
                f"{rows['better']} of {rows['cells']} cells, in {min(shares):.2f} to "
                f"{max(shares):.2f} of its time."
            )
    return [*lines, ""]


def spread_lines(report: dict[str, Any]) -> list[str]:
    """Return how far errors move with a method's own seed."""
    found = report.get("spread")
    if not found:
        return []
    methods = list(dict.fromkeys(m for each in found.values() for m in each))
    rows = []
    for m in methods:
        shown = []
        for each in found.values():
            errors = each.get(m)
            relative = np.std(errors, ddof=1) / np.mean(errors) if errors else None
            shown.append("not run" if relative is None else f"{relative:.1%}")
        rows.append([m, *shown])
    text = (
        "Standard deviation of the error over ten values of `random_state`, over its mean, on one "
        "draw at 25 % `add`: differences smaller than this are the seed's."
    )
    return ["## Spread over seeds", "", text, "", *table(("method", *found), rows)]
