"""The page and the plot of the accuracy benchmark, made from its results and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .summary import BLEND, CLEANLAB, ORACLE, OURS, RANKING
from .targets import targets

LAWS = """`add` adds U[-0.5, 0.5] to a share of the training targets, which span about [0, 1];
`replace` puts U[0, 1] in their place (function: U[-0.2, 0.8]); one-sided adds U[0, 0.5];
clustered does as `add` to half of the rows of one region of one input. Grinding is a simulated
circuit, not a plant's data."""
INK = "#c2371e"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table whose first column is text and whose others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def best_in_bold(values: Sequence[float], best: float, digits: int) -> list[str]:
    """Return numbers as text, the best of them in bold."""
    return [f"**{v:.{digits}f}**" if v == best else f"{v:.{digits}f}" for v in values]


def opening(report: dict[str, Any]) -> list[str]:
    """Return what was done."""
    seeds, failed = report["seeds"], report["summary"]["failed_fits"]
    text = (
        "`RobustSCNRegressor()` on its defaults beside tuned tools from PyPI: root mean squared "
        f"error on clean test rows, mean of {len(seeds)} redrawn splits (the first "
        f"{report['fewer_splits']} for diamonds, flights and CleanLearning). Every peer is tuned "
        f"once for each set, at 25 % `add`: {report['configurations']} random configurations, "
        "three folds of the dirty rows, mean absolute error. CleanLearning costs some seventy "
        "fits, so its inner model (at most 100 trees) is tuned bare; it looks for up to 40 % wrong "
        "rows instead of its own 20 %. "
        "RSC-KDE is the paper's method, here without the clean rows that the paper gives it. "
        "Nobody is given clean rows."
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
        " ".join(LAWS.split()),
        "",
    ]
    if failed:
        each = ", ".join(f"{m} {n}" for m, n in failed.items())
        lines += [f"Fits that ended in an error and are left out of the means: {each}.", ""]
    return [*lines, "![error against the share of wrong targets](accuracy.png)", ""]


def target_lines(report: dict[str, Any]) -> list[str]:
    """Return the targets, met or not."""
    rows = [(t.asked, t.measured, "yes" if t.met else "**no**") for t in targets(report)]
    return ["## Targets", "", *table(("target", "measured", "met"), rows)]


def error_lines(summary: dict[str, Any]) -> list[str]:
    """Return one table for each set: methods down, conditions across."""
    conditions = list(dict.fromkeys(c["condition"] for c in summary["contests"]))
    rivals = list(dict.fromkeys(d["peer"] for d in summary["duels"]))
    lines = ["## Error", "", "The best of each column is bold; the oracle, ours trained with the "
             "wrong rows removed, does not compete, nor do ours with trees beside the networks "
             "(`RobustBlendRegressor`).", ""]  # fmt: skip
    for name, found in summary["rmse"].items():
        best = {c: min(found[c][m] for m in (OURS, *rivals)) for c in conditions}
        rows = []
        for m in (OURS, *rivals):
            shown = (best_in_bold([found[c][m]], best[c], 4)[0] for c in conditions)
            rows.append([m, *shown])
        for method, label in ((BLEND, "*with trees*"), (ORACLE, "*oracle*")):
            shown = [f"{found[c][method]:.4f}" if method in found[c] else "" for c in conditions]
            if any(shown):
                rows.append([label, *shown])
        lines += table([name, *conditions], rows)
    return lines


def loss_lines(summary: dict[str, Any]) -> list[str]:
    """Return where a tuned peer was better, plainly."""
    contests, every = summary["contests"], summary["duels"]
    lost = [c for c in contests if not c["won"]]
    surely_above = sum(d["low"] > 0 for d in every)
    surely_below = sum(d["high"] < 0 for d in every)
    lines = [
        "## Losses",
        "",
        f"Ours has the lowest mean error in {len(contests) - len(lost)} of {len(contests)} cells "
        f"(set and condition, 0 % included). Peer by peer, of {len(every)} paired comparisons the "
        f"95 % interval of peer minus ours is above zero in {surely_above}, below zero in "
        f"{surely_below} and holds zero in {len(every) - surely_above - surely_below}.",
        "",
    ]
    if not lost:
        return lines
    rows = []
    for c in sorted(lost, key=lambda c: -c["ratio"]):
        ends = f"{c['difference']['low']:+.4f} to {c['difference']['high']:+.4f}"
        numbers = (f"{c['ours']:.4f}", f"{c['peer']:.4f}", f"{c['ratio'] - 1:+.1%}", ends)
        rows.append([f"{c['set']}, {c['condition']}: {c['best_peer']}", *numbers])
    lines += ["The best peer where it was ahead:", ""]
    return lines + table(("cell and peer", "ours", "peer", "behind", "peer minus ours"), rows)


def itself_lines(summary: dict[str, Any]) -> list[str]:
    """Return our error over that of variants of itself."""
    ratios = summary["ratios"]
    columns = {f"oracle, {c}": found for c, found in ratios["to_oracle"].items()}
    columns["no reweighting, 0%"] = ratios["to_unweighted_at_0"]
    columns |= {f"{n} gross, 10%": found for n, found in ratios["gross"].items()}
    columns = {name: found for name, found in columns.items() if found}
    rows = [[s, *(f"{found[s]:.3f}" for found in columns.values())] for s in summary["rmse"]]
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
    methods = (OURS, CLEANLAB, RANKING)
    first = next(iter(ranking.values()))
    conditions = list(first["average_precision"])
    rows = []
    for name, found in ranking.items():
        cells = []
        for c in conditions:
            values = [found["average_precision"][c][m] for m in methods]
            cells.append(" / ".join(best_in_bold(values, max(values), 3)))
        rows.append([name, *cells, " / ".join(f"{found['seconds'][m]:.2f}" for m in methods)])
    text = (
        "Average precision against the true mask, ours (`1 - inlier_weight_`) / cleanlab's label "
        "quality / absolute residual of a tuned linear HuberRegressor; mean processor seconds last."
    )
    head = ["set", *conditions, "seconds"]
    return ["## Finding the wrong rows", "", text, "", *table(head, rows)]


def seconds_lines(summary: dict[str, Any]) -> list[str]:
    """Return the time of fits."""
    found = summary["seconds"]
    sets = list(found)
    rows = [[m, *(f"{found[s][m]:.2f}" for s in sets)] for m in next(iter(found.values()))]
    text = "Median processor seconds of one fit on one thread, tuning not counted."
    return ["## Seconds", "", text, "", *table(["method", *sets], rows)]


def page(report: dict[str, Any]) -> str:
    """Return the page."""
    summary = report["summary"]
    made_with = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    parts = (
        opening(report),
        target_lines(report),
        error_lines(summary),
        loss_lines(summary),
        itself_lines(summary),
        finding_lines(summary),
        seconds_lines(summary),
        [f"Seeds {report['seeds'][0]} to {report['seeds'][-1]}, tuned on seed "
         f"{report['tuning_seed']}. {report['machine']}; {made_with}."],
    )  # fmt: skip
    return "\n".join(line for part in parts for line in part) + "\n"


def headline(report: dict[str, Any]) -> str:
    """Return a small table for a README: ours, the best tuned peer of each cell, the oracle."""
    summary = report["summary"]
    rows = []
    for contest in summary["contests"]:
        s, c = contest["set"], contest["condition"]
        found = summary["rmse"][s][c]
        if ORACLE not in found:
            continue
        ours, peer = (f"{contest[k]:.4f}" for k in ("ours", "peer"))
        shown = (f"**{ours}**", peer) if contest["won"] else (ours, f"**{peer}**")
        rows.append([f"{s}, {c}", *shown, contest["best_peer"], f"{found[ORACLE]:.4f}"])
    return "\n".join(
        table(("data", "RobustSCN", "best tuned peer", "which", "oracle"), rows)
    ).rstrip()


def plot(report: dict[str, Any], path: Path) -> None:
    """Draw error against the share of wrong targets, one panel a set."""
    from matplotlib.figure import Figure

    summary = report["summary"]
    sets = list(summary["rmse"])
    columns = min(4, len(sets))
    rows = -(-len(sets) // columns)
    n_methods = len(dict.fromkeys(d["peer"] for d in summary["duels"])) + 2
    below = 0.25 + 0.2 * -(-n_methods // (columns + 1))  # inches that the legend takes
    figure = Figure(figsize=(3.2 * columns, 2.9 * rows + below))
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[len(sets) :]:
        panel.set_axis_off()
    for panel, name in zip(panels, sets, strict=False):
        draw_panel(panel, name, summary)
    for panel in panels[::columns]:
        panel.set_ylabel("RMSE on clean rows", fontsize=8)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.tight_layout(rect=(0, below / figure.get_figheight(), 1, 1))
    figure.legend(handles, labels, loc="lower center", ncols=columns + 1, fontsize=8, frameon=False)
    figure.savefig(path, dpi=110)


def draw_panel(panel: Any, name: str, summary: dict[str, Any]) -> None:
    """Draw all methods on one set: ours thick, the oracle dashed, peers thin."""
    from matplotlib import colormaps

    found = {c: v for c, v in summary["rmse"][name].items() if c.startswith("add")}
    found = {c: v for c, v in found.items() if "gross" not in c}
    rivals = list(dict.fromkeys(d["peer"] for d in summary["duels"]))
    styles: dict[str, dict[str, Any]] = {
        m: {"color": colormaps["tab20"](i), "lw": 1.0, "alpha": 0.8} for i, m in enumerate(rivals)
    }
    styles[ORACLE] = {"color": "black", "lw": 1.2, "ls": "--"}
    styles[OURS] = {"color": INK, "lw": 3.0, "marker": "o", "ms": 4, "zorder": 5}
    for method, style in styles.items():
        at = [(float(c.split()[1].rstrip("%")), v[method]) for c, v in found.items() if method in v]
        if at:
            panel.plot(*zip(*at, strict=True), label=method, **style)
    panel.set_yscale("log")
    panel.set_title(name, fontsize=10)
    panel.set_xlabel("% of targets wrong", fontsize=8)
    panel.tick_params(labelsize=7, which="both")
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
