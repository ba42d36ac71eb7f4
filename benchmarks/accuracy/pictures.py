"""The pictures of the accuracy benchmark, made from its results and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .names import FAMILY, ORACLE, OURS

INK = "#c2371e"
GREY = "#5b6770"


def draw_all(report: dict[str, Any], folder: Path) -> None:
    """Draw error by share, ranks, and error against time."""
    draw_errors(report, folder / "accuracy.png")
    if report["summary"]["over_all"].get("ranks"):
        draw_ranks(report["summary"]["over_all"], folder / "accuracy_ranks.png")
        draw_tradeoff(report["summary"]["over_all"], folder / "accuracy_time.png")


def _colour(method: str) -> str:
    return INK if method in FAMILY else GREY


def draw_ranks(found: dict[str, Any], path: Path) -> None:
    """Draw average ranks on a line, with a bar over those that are not told apart."""
    from matplotlib.figure import Figure

    methods = sorted(zip(found["ranks"], found["methods"], strict=True))
    figure = Figure(figsize=(8.5, 0.9 + 0.24 * len(methods)))
    panel = figure.subplots()
    for row, (rank, method) in enumerate(methods):
        panel.plot([rank], [row], "o", color=_colour(method), ms=6)
        level = [other for other, _ in methods if 0 <= other - rank <= found["critical"]]
        panel.plot([rank, max(level)], [row, row], color=_colour(method), lw=1.2, alpha=0.4)
        weight = "bold" if method in FAMILY else "normal"
        text = f"{method}  {rank:.1f}  "
        panel.text(rank, row, text, ha="right", va="center", fontsize=8, weight=weight)
    first = methods[0][0]
    panel.axvspan(first, first + found["critical"], color=INK, alpha=0.06, lw=0)
    panel.set_xlim(first - 0.45 * (methods[-1][0] - first) - 1, None)
    panel.set_ylim(len(methods) - 0.4, -0.8)
    panel.set_yticks([])
    panel.set_xticks(range(1, len(methods) + 1, 2))
    panel.set_xlabel(
        f"average rank over {found['blocks']} sets (1 is best); shaded: not told apart from the "
        f"first (critical difference {found['critical']:.1f})",
        fontsize=8,
    )
    panel.tick_params(labelsize=8)
    _bare(panel, "top", "right", "left")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def pareto(seconds: list[float], errors: list[float]) -> list[int]:
    """Return which are beaten by none in both, from the fastest to the slowest."""
    front: list[int] = []
    for i in sorted(range(len(seconds)), key=lambda i: (seconds[i], errors[i])):
        if not front or errors[i] < errors[front[-1]]:
            front.append(i)
    return front


def draw_tradeoff(found: dict[str, Any], path: Path) -> None:
    """Draw error against seconds, and the line of those that none beats in both."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 5.0))
    panel = figure.subplots()
    for method, seconds, error in zip(
        found["methods"], found["seconds"], found["error"], strict=True
    ):
        panel.plot([seconds], [error], "o", color=_colour(method), ms=6)
        weight = "bold" if method in FAMILY else "normal"
        panel.annotate(
            method,
            (seconds, error),
            xytext=(5, 3),
            textcoords="offset points",
            fontsize=7,
            weight=weight,
        )
    front = pareto(found["seconds"], found["error"])
    line = [[found[key][i] for i in front] for key in ("seconds", "error")]
    panel.step(*line, where="post", color=INK, lw=1.0, alpha=0.5, zorder=0)
    panel.set_xscale("log")
    panel.set_xlabel("processor seconds of a fit, tuning not counted", fontsize=8)
    panel.set_ylabel("error over the best of the cell, geometric mean", fontsize=8)
    panel.tick_params(labelsize=8, which="both")
    panel.margins(x=0.2)
    _bare(panel, "top", "right")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def _bare(panel: Any, *sides: str) -> None:
    for side in sides:
        panel.spines[side].set_visible(False)


def draw_errors(report: dict[str, Any], path: Path) -> None:
    """Draw error against the share of wrong targets, a panel for each set with several shares."""
    from matplotlib.figure import Figure

    summary = report["summary"]
    sets = [s for s, found in summary["rmse"].items() if "add 40%" in found] or [*summary["rmse"]]
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
    lines = [panel.get_legend_handles_labels() for panel in panels]
    by_label = {name: line for drawn in lines for line, name in zip(*drawn, strict=True)}
    figure.tight_layout(rect=(0, below / figure.get_figheight(), 1, 1))
    figure.legend(
        [*by_label.values()],
        [*by_label],
        loc="lower center",
        ncols=columns + 1,
        fontsize=8,
        frameon=False,
    )
    figure.savefig(path, dpi=110)


def draw_panel(panel: Any, name: str, summary: dict[str, Any]) -> None:
    """Draw all methods on one set: ours thick, the oracle dashed, peers thin."""
    from matplotlib import colormaps

    found = {c: v for c, v in summary["rmse"][name].items() if c.startswith("add")}
    found = {c: v for c, v in found.items() if "gross" not in c}
    rivals = list(dict.fromkeys(d["peer"] for d in summary["duels"]))
    styles: dict[str, dict[str, Any]] = {
        m: {"color": colormaps["tab20"](i % 20), "lw": 1.0, "alpha": 0.8}
        for i, m in enumerate(rivals)
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
    _bare(panel, "top", "right")
