"""The page of the accuracy benchmark, made from its results and nothing else."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .conclusions import (
    advice_lines,
    loss_lines,
    rank_lines,
    spread_lines,
    tree_lines,
    verdict_lines,
    weakest_lines,
)
from .conditions import LAWS_IN_WORDS
from .markdown import best_in_bold, table
from .names import BLEND, CLEANLAB, FAMILY, ORACLE, OURS, RANKING, ROBUST_HIST, ROBUST_LIGHTGBM
from .plan import FEW_CONDITIONS_ON, SHAPES, SLOW
from .targets import targets


def opening(report: dict[str, Any]) -> list[str]:
    """Return what was done."""
    failed = report["summary"]["failed_fits"]
    text = (
        "`RobustSCNRegressor()` and ours with trees, on their defaults, beside tuned tools from "
        "PyPI: root mean squared error on clean test rows, mean of redrawn splits. Every peer is "
        f"tuned once for each set, at 25 % `add`: {report['configurations']} random "
        "configurations, three folds of the dirty rows, mean absolute error. Nobody is given clean "
        "rows. Two methods are compared on the draws that both have; *not run* is what time did "
        "not allow for."
    )
    lines = [
        "# Accuracy beside other tools",
        "",
        "Made by `python benchmarks/accuracy --page` from "
        "[accuracy.json](../benchmarks/results/accuracy.json); nothing is typed by hand.",
        "",
        *([f"**{report['note']}**", ""] if "note" in report else []),
        text,
        "",
    ]
    if failed:
        each = ", ".join(f"{m} {n}" for m, n in failed.items())
        lines += [f"Fits that ended in an error and are left out of the means: {each}.", ""]
    return [*lines, "![error against the share of wrong targets](accuracy.png)", ""]


def honesty_lines(report: dict[str, Any]) -> list[str]:
    """Return how often the draws of this page were looked at, and by which versions it was made."""
    made: dict[str, Counter[str]] = {}
    for cell in report["cells"]:
        if cell["method"] in (*FAMILY, ORACLE):
            made.setdefault(cell["method"], Counter())[cell["by"].removeprefix("robustscn ")] += 1
    lines = [
        "## How honest these draws are",
        "",
        f"Versions of ours that were run on the draws of this page so far: {len(report['looks'])} "
        "(a version is a fingerprint of the core and the estimators; "
        "[the list](../benchmarks/results/accuracy_looks.json)). Each look is a chance to keep "
        "what happens to suit these draws. Changes are tried on development draws, whose seeds "
        "have no number in common with these and whose results never get here. Cells by version:",
        "",
    ]
    for method, counts in made.items():
        each = ", ".join(f"{n} of `{version}`" for version, n in counts.most_common())
        lines.append(f"- {method}: {each}")
    return [*lines, ""]


def design_lines(report: dict[str, Any]) -> list[str]:
    """Return sets, conditions and draws."""
    draws: dict[str, Counter[int]] = {}
    for cell in report["cells"]:
        draws.setdefault(cell["set"], Counter())[len(cell["rmse"])] += 1
    rows = []
    for name, counts in draws.items():
        n_rows, n_inputs = SHAPES[name]
        few = "five" if name in FEW_CONDITIONS_ON else "nine"
        shown = ", ".join(f"{n} ({k} cells)" for n, k in sorted(counts.items(), reverse=True))
        rows.append([name, f"{n_rows:,}", str(n_inputs), few, shown])
    absent = [m for m in SLOW if all(cell["method"] != m for cell in report["cells"])]
    laws = "; ".join(f"*{law}* {words}" for law, words in LAWS_IN_WORDS.items())
    return [
        "## Sets, conditions, draws",
        "",
        *table(("set", "training rows", "inputs", "conditions", "draws"), rows),
        "Eight sets meet seven conditions and two of eight hard ones each, in turn; the others two "
        "conditions and three hard ones each, so that every hard one is met on five sets. Of the "
        "tables with more rows the number above is drawn for training, at most 2,000 for testing: "
        "what time allows for. Larger tables are in [learner](learner.md).",
        "",
        laws[0].upper() + laws[1:] + ". Grinding is a simulated circuit, not a plant's data.",
        "",
        "CleanLearning costs some seventy fits, so its inner model (at most 100 trees) is tuned "
        "bare; it looks for up to 40 % wrong rows instead of its own 20 %. RSC-KDE is the paper's "
        "method, here without the clean rows that the paper gives it. Perpetual's Huber losses "
        "diverge in version 2.3.0, so its absolute and fair ones are here. NGBoost and RealMLP, "
        "which are slow and come with tuned defaults, are tried in three configurations; the "
        "Gaussian process with relevance pursuit in one, on 2,000 rows at most. TabPFN and TabICL "
        "need weights that their packages do not hold; with these at hand they are a line each in "
        "`benchmarks/accuracy/challengers.py`.",
        "",
        *([f"Not run at all so far, for want of time: {', '.join(absent)}.", ""] if absent else []),
    ]


def target_lines(report: dict[str, Any]) -> list[str]:
    """Return the targets, met or not."""
    rows = [(t.asked, t.measured, "yes" if t.met else "**no**") for t in targets(report)]
    return ["## Targets", "", *table(("target", "measured", "met"), rows)]


SHOWN_BESIDE = (
    (BLEND, "*with trees*"),
    (ROBUST_HIST, "*robust trees*"),
    (ROBUST_LIGHTGBM, "*robust LightGBM*"),
    (ORACLE, "*oracle*"),
)


def error_lines(summary: dict[str, Any]) -> list[str]:
    """Return one table for each set: methods down, conditions across."""
    rivals = list(dict.fromkeys(d["peer"] for d in summary["duels"]))
    lines = ["## Error", "", "The best of each column is bold, ours of `RobustSCNRegressor` and "
             "the tuned peers; the oracle, ours trained with the wrong rows removed, does not "
             "compete, nor do ours with trees: the blend and `RobustRegressor` around "
             "HistGradientBoosting and around LightGBM. Means are over the draws that each has, "
             "which are not as many for all; verdicts and losses above are on shared draws.",
             ""]  # fmt: skip
    for name, found in summary["rmse"].items():
        conditions = [c["condition"] for c in summary["contests"] if c["set"] == name]
        if not conditions:
            continue
        competing = (OURS, *rivals)
        best = {c: min(v for m, v in found[c].items() if m in competing) for c in conditions}
        rows = []
        for m in competing:
            if any(m in found[c] for c in conditions):
                shown = (best_in_bold([found[c].get(m)], best[c], 4)[0] for c in conditions)
                rows.append([m, *shown])
        for method, label in SHOWN_BESIDE:
            shown = [f"{found[c][method]:.4f}" if method in found[c] else "" for c in conditions]
            if any(shown):
                rows.append([label, *shown])
        lines += table([name, *conditions], rows)
    return lines


def itself_lines(summary: dict[str, Any]) -> list[str]:
    """Return our error over that of variants of itself."""
    ratios = summary["ratios"]
    columns = {f"oracle, {c}": found for c, found in ratios["to_oracle"].items()}
    columns["no reweighting, 0%"] = ratios["to_unweighted_at_0"]
    columns |= {f"{n} gross, 10%": found for n, found in ratios["gross"].items()}
    columns = {name: found for name, found in columns.items() if found}
    rows = [
        [s, *(f"{found[s]:.3f}" if s in found else "" for found in columns.values())]
        for s in summary["rmse"]
        if any(s in found for found in columns.values())
    ]
    rows.append(
        ["mean", *(f"{sum(found.values()) / len(found):.3f}" for found in columns.values())]
    )
    text = (
        "Error over that of the same model with the wrong rows removed (oracle), without "
        "reweighting, and, with one or five targets times a million, over that without them."
    )
    return ["## Against itself", "", text, "", *table(["set", *columns], rows)]


def finding_lines(summary: dict[str, Any]) -> list[str]:
    """Return average precision and seconds of finding wrong rows."""
    ranking = summary["ranking"]
    if not ranking:
        return []
    methods = (OURS, ROBUST_HIST, CLEANLAB, RANKING)
    conditions = list(dict.fromkeys(c for r in ranking.values() for c in r["average_precision"]))
    rows = []
    for name, found in ranking.items():
        shown = []
        for c in conditions:
            values = found["average_precision"].get(c, {})
            best = max(values.values(), default=0.0)
            numbers = (best_in_bold([values[m]], best, 3)[0] for m in methods if m in values)
            shown.append(" / ".join(numbers))
        spent = (f"{found['seconds'][m]:.2f}" for m in methods if m in found["seconds"])
        rows.append([name, *shown, " / ".join(spent)])
    text = (
        "Average precision against the true mask: ours (`1 - inlier_weight_`) / `RobustRegressor` "
        "around HistGradientBoosting / cleanlab's label quality / absolute residual of a tuned "
        "linear HuberRegressor, as far as they were run; mean processor seconds last."
    )
    head = ["set", *conditions, "seconds"]
    return ["## Finding the wrong rows", "", text, "", *table(head, rows)]


def seconds_lines(summary: dict[str, Any]) -> list[str]:
    """Return the time of fits."""
    found = summary["seconds"]
    sets = list(found)
    methods = list(dict.fromkeys(m for each in found.values() for m in each))
    rows = [[m, *(f"{found[s][m]:.2f}" if m in found[s] else "" for s in sets)] for m in methods]
    text = (
        "Median processor seconds of one fit on one thread, tuning not counted. The sets were not"
        " all measured on the same machine: compare within a column."
    )
    return ["## Seconds", "", text, "", *table(["method", *sets], rows)]


def closing(report: dict[str, Any]) -> list[str]:
    """Return what the numbers were made with."""
    packages = sorted({c["by"] for c in report["cells"] if not c["by"].startswith("robustscn")})
    return [
        f"Draws from seed {report['first_seed']} on, tuned on seed {report['tuning_seed']}. "
        f"{report['machine']}; {', '.join(packages)}."
    ]


def page(report: dict[str, Any]) -> str:
    """Return the page."""
    summary = report["summary"]
    parts = (
        opening(report),
        loss_lines(summary),
        verdict_lines(summary),
        advice_lines(summary),
        weakest_lines(summary),
        tree_lines(summary),
        rank_lines(summary),
        target_lines(report),
        honesty_lines(report),
        itself_lines(summary),
        spread_lines(report),
        finding_lines(summary),
        error_lines(summary),
        seconds_lines(summary),
        design_lines(report),
        closing(report),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def headline_row(summary: dict[str, Any], contest: dict[str, Any]) -> list[str]:
    """Return a cell's name, our error, the best tuned peer's, which that is, and the oracle's."""
    s, c = contest["set"], contest["condition"]
    ours, peer = (f"{contest[k]:.4f}" for k in ("ours", "peer"))
    shown = (f"**{ours}**", peer) if contest["won"] else (ours, f"**{peer}**")
    oracle = summary["rmse"][s][c].get(ORACLE)
    told = "not run" if oracle is None else f"{oracle:.4f}"
    return [f"{s}, {c}", *shown, contest["best_peer"], told]


def headline(report: dict[str, Any]) -> str:
    """Return a small table for a README: ours, the best tuned peer of each cell, the oracle."""
    summary = report["summary"]
    rows = [
        headline_row(summary, contest)
        for contest in summary["contests"]
        if ORACLE in summary["rmse"][contest["set"]][contest["condition"]]
    ]
    head = ("data", "RobustSCN", "best tuned peer", "which", "oracle")
    return "\n".join(table(head, rows)).rstrip()
