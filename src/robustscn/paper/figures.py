"""The paper's figures, drawn from the results with its axes, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic import write_together
from .circuit_drawing import draw_circuit
from .results import Results, Summary
from .settings import CURVES, FUNCTION, GRINDING, KEEL, LEVELS, Experiment, Task

COLOURS = {
    "RVFL": "#000000",
    "Improved RVFL": "#cc79a7",
    "PRNNRW": "#0072b2",
    "RSC-KDE": "#d55e00",
    "RobustSCN": "#009e73",
}
"""Okabe and Ito's, which are told apart by those who see fewer colours; marks and dashes help."""
MARKS = {"RVFL": "s", "Improved RVFL": "^", "PRNNRW": "v", "RSC-KDE": "o", "RobustSCN": "D"}
DASHES = {"RVFL": ":", "Improved RVFL": "--", "PRNNRW": "-.", "RSC-KDE": "-", "RobustSCN": "-"}
_BARS = (
    "RSC-KDE with our settings, RobustSCN without clean rows, where it was run. Points are mean "
    "root mean square errors over redrawn data (protocol add), bars one standard deviation, drawn "
    "upwards only; logarithmic axis"
)
_SAME = f"{_BARS}, the same in all panels. Methods stand side by side at each share."
_OWN = f"{_BARS}, each panel its own. Methods stand side by side at each share."
_EDGE = "Triangles at the edge are values beyond it."
CAPTIONS = {
    "figure1": "Figure 1: training rows of the function at 25% outliers (protocol add, the first "
    "of the redrawn data sets), and what each method makes of them on the test grid; RVFL, "
    "Improved RVFL and PRNNRW with scope 50 and 100 nodes, RSC-KDE with our settings. "
    f"{_EDGE}",
    "figure2": "Figure 2: test error on the function against the share of outliers; RVFL, Improved "
    f"RVFL and PRNNRW with the scope above each panel and 100 nodes. {_SAME}",
    "figure3": "Figure 3: test error on the KEEL sets against the share of outliers; RVFL, "
    f"Improved RVFL and PRNNRW with scope 1 and 150 nodes. {_OWN}",
    "figure4": "Figure 4, replaced: the simulated grinding circuit that stands in for the "
    "plant. Inputs are ore feed, mill water and sump water.",
    "figure5": "Figure 5: test error on the SIMULATED circuit against the share of outliers; RVFL, "
    f"Improved RVFL and PRNNRW with the scope above each panel and 50 nodes. {_SAME}",
    "figure6": "Figure 6: true and estimated targets of the SIMULATED circuit's test rows at 30% "
    "outliers (the first of the redrawn data sets), scaled to [0, 1]; RVFL, Improved RVFL and "
    f"PRNNRW with scope 1 and 50 nodes, RSC-KDE with our settings. {_EDGE}",
}


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as missing:
        raise ImportError(
            "drawing the figures needs matplotlib: pip install 'robustscn[plots]'"
        ) from missing
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


STYLE = {
    "svg.hashsalt": "robustscn",  # the same SVG every time: no random ids
    "font.size": 9,
    "axes.grid": True,
    "grid.color": "#e4e9ed",
    "axes.edgecolor": "#9aa5b1",
}


def drawn_figures(
    results: Results, folder: Path, names: tuple[str, ...] = tuple(CAPTIONS)
) -> list[str]:
    """Draw the figures whose results are there.

    Parameters
    ----------
    results : Results
        What to draw.
    folder : Path
        Where to; each figure becomes an SVG and a PNG.
    names : tuple of str
        Which ones.

    Returns
    -------
    list of str
        Names of those drawn.
    """
    plt = _pyplot()
    makers: dict[str, Callable[[Any, Results], Any]] = {
        "figure1": _figure_1,
        "figure2": lambda p, r: _by_scope(p, r, FUNCTION, (1.0, 30.0, 50.0, 100.0)),
        "figure3": _figure_3,
        "figure4": lambda p, _: draw_circuit(p),
        "figure5": lambda p, r: _by_scope(p, r, GRINDING, (0.1, 0.5, 1.0, 5.0)),
        "figure6": _figure_6,
    }
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with plt.rc_context(STYLE):
        for name in names:
            figure = makers[name](plt, results)
            if figure is not None:
                _write(figure, folder / name)
                plt.close(figure)
                made.append(name)
    return made


def _write(figure: Any, path: Path) -> None:
    """Write both forms of a figure, whole or not at all."""
    write_together(
        {
            path.with_suffix(".svg"): lambda p: figure.savefig(p, metadata={"Date": None}),
            path.with_suffix(".png"): lambda p: figure.savefig(
                p, dpi=120, metadata={"Software": None}
            ),
        }
    )


def _within(axis: Any, x: Any, values: Any, limits: tuple[float, float], **look: Any) -> None:
    """Draw what lies between the limits, and mark at the edge where something lies beyond."""
    x, values, (low, high) = np.array(x), np.array(values), limits
    axis.plot(x, np.where((values < low) | (values > high), np.nan, values), **look)
    for beyond, edge, mark in ((values > high, high, "^"), (values < low, low, "v")):
        if beyond.any():
            at = np.full(int(beyond.sum()), edge)
            axis.plot(x[beyond], at, mark, ms=4, color=look["color"], clip_on=False)
    axis.set_ylim(low, high)


def _figure_1(plt: Any, results: Results) -> Any:
    found = results.group(*CURVES[0], "curves")
    if found is None:
        return None
    rows, wrong = found["rows"], np.array(found["wrong"], dtype=int)
    figure, axes = plt.subplots(
        2, 3, figsize=(11, 6), sharex=True, sharey=True, layout="constrained"
    )
    x, y = np.array(rows["x"]), np.array(rows["y"])
    right = np.setdiff1d(np.arange(len(x)), wrong)
    first, *others = axes.flat
    look: dict[str, Any] = {"ls": "", "ms": 3}
    _within(first, x[right], y[right], LIMITS, marker=".", color="#7b8794", label="rows", **look)
    _within(
        first, x[wrong], y[wrong], LIMITS, marker="x", color="#d55e00", label="outliers", **look
    )
    first.set(title="training rows", ylabel="y")
    first.legend(frameon=False)
    for axis, name in zip(others, COLOURS, strict=True):
        values = found["predictions"][name]
        axis.plot(rows["x_test"], rows["truth"], color="#9aa5b1", lw=3, label="true function")
        _within(axis, rows["x_test"], values, LIMITS, lw=1, color=COLOURS[name], label="estimate")
        axis.set_title(name)
    others[0].legend(frameon=False)
    for axis in axes[1]:
        axis.set_xlabel("x")
    return figure


LIMITS = (-0.4, 0.9)
"""Values that Figure 1 has room for: the function lies between 0 and 0.5, outliers 0.2 around."""


def _lines(axis: Any, find: Callable[[str, float], Summary | None]) -> bool:
    drawn = False
    for place, (method, colour) in enumerate(COLOURS.items()):
        points = [(level, find(method, level)) for level in LEVELS]
        known = [(100 * level, found) for level, found in points if found is not None]
        if known:
            drawn = True
            axis.errorbar(
                [level + 0.5 * (place - 2) for level, _ in known],
                [found.mean for _, found in known],
                [[0.0] * len(known), [found.std for _, found in known]],
                color=colour,
                marker=MARKS[method],
                ls=DASHES[method],
                ms=4,
                lw=1.2,
                capsize=2,
                label=method,
            )
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set(xlabel="outliers (%)", ylabel="test RMSE", yscale="log")
    low, high = axis.get_ylim()
    ticks = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0) if high < 10 * low else (1.0, 2.0, 5.0)
    axis.yaxis.set_major_locator(LogLocator(subs=ticks))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    return drawn


def _finder(results: Results, task: Task, scope: float) -> Callable[[str, float], Summary | None]:
    name = Experiment(task).name

    def find(method: str, level: float) -> Summary | None:
        if method in ("RSC-KDE", "RobustSCN"):
            return results.error(name, level, method)
        return results.cell(name, level, (method, scope, task.figure_size))

    return find


def _by_scope(plt: Any, results: Results, task: Task, scopes: tuple[float, ...]) -> Any:
    simulated = ", SIMULATED" if task == GRINDING else ""
    panels = {f"scope {scope:g}{simulated}": _finder(results, task, scope) for scope in scopes}
    return _four(plt, panels, same_axes=True)


def _figure_3(plt: Any, results: Results) -> Any:
    return _four(plt, {task.name: _finder(results, task, 1.0) for task in KEEL})


def _four(plt: Any, panels: dict[str, Any], *, same_axes: bool = False) -> Any:
    """Return a figure of four panels with one legend; None where nothing was found to draw."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained", sharey=same_axes)
    drawn = False
    for axis, (title, find) in zip(axes.flat, panels.items(), strict=True):
        drawn |= _lines(axis, find)
        axis.set_title(title)
    if same_axes:
        for axis in axes[:, 1]:
            axis.set_ylabel("")
    if not drawn:
        plt.close(figure)
        return None
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncol=len(labels), frameon=False)
    return figure


def _figure_6(plt: Any, results: Results) -> Any:
    found = results.group(*CURVES[1], "curves")
    if found is None:
        return None
    names = list(COLOURS)
    truth = np.array(found["rows"]["truth"])
    limits = float(truth.min()) - 0.25, float(truth.max()) + 0.25
    figure, axes = plt.subplots(len(names), 1, figsize=(10, 2 * len(names)), sharex=True)
    for axis, name in zip(axes, names, strict=True):
        estimate = np.array(found["predictions"][name])
        error = np.sqrt(np.mean((estimate - truth) ** 2))
        axis.plot(truth, color="#9aa5b1", lw=2, label="true")
        look: dict[str, Any] = {"ls": "", "marker": ".", "ms": 3}
        places = np.arange(len(truth))
        _within(axis, places, estimate, limits, color=COLOURS[name], label="estimated", **look)
        axis.set(title=f"{name}, RMSE {error:.4f}, SIMULATED", ylabel="scaled target")
    axes[0].legend(frameon=False, ncol=2, loc="lower right")
    axes[-1].set_xlabel("test row")
    figure.tight_layout()
    return figure
