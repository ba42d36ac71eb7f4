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
    "RVFL": "#8a939c",
    "Improved RVFL": "#b07aa1",
    "PRNNRW": "#4e79a7",
    "RSC-KDE": "#c2371e",
    "RobustSCN": "#2a7f62",
}
MARKS = {"RVFL": "s", "Improved RVFL": "^", "PRNNRW": "v", "RSC-KDE": "o", "RobustSCN": "D"}
CAPTIONS = {
    "figure1": "Figure 1: (a) training rows of the function at 25 % outliers and the true "
    "function; (b) what the methods make of it on the test grid (protocol add).",
    "figure2": "Figure 2: test error on the function against the share of outliers, 100 nodes, "
    "mean and standard deviation (protocol add, redrawn data).",
    "figure3": "Figure 3: test error on the KEEL sets, scope 1, 150 nodes (redrawn data).",
    "figure4": "Figure 4, replaced: the simulated grinding circuit that stands in for the "
    "plant. Inputs are ore feed, mill water and sump water.",
    "figure5": "Figure 5: test error on the SIMULATED circuit, 50 nodes, by scope (redrawn data).",
    "figure6": "Figure 6: true and estimated values of the SIMULATED circuit's test rows at 30 % "
    "outliers, scope 1, 50 nodes.",
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


def _figure_1(plt: Any, results: Results) -> Any:
    found = results.group(*CURVES[0], "curves")
    if found is None:
        return None
    rows, wrong = found["rows"], np.array(found["wrong"], dtype=int)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), sharey=True)
    x, y = np.array(rows["x"]), np.array(rows["y"])
    right_rows = np.setdiff1d(np.arange(len(x)), wrong)
    left.plot(x[right_rows], y[right_rows], ".", ms=3, color="#9aa5b1", label="rows")
    left.plot(x[wrong], y[wrong], "x", ms=4, color="#e4a08a", label="outliers")
    left.plot(rows["x_test"], rows["truth"], color="red", lw=1, label="true function")
    left.set(xlabel="x", ylabel="y", title="(a) training rows")
    left.legend(frameon=False)
    right.plot(rows["x_test"], rows["truth"], color="black", lw=2.5, label="true function")
    for name, values in found["predictions"].items():
        right.plot(rows["x_test"], values, lw=1, color=COLOURS[name], label=name)
    right.set(xlabel="x", title="(b) predictions", ylim=(-0.4, 0.9))
    right.legend(frameon=False)
    figure.tight_layout()
    return figure


def _lines(axis: Any, find: Callable[[str, float], Summary | None]) -> bool:
    drawn = False
    for method, colour in COLOURS.items():
        points = [(level, find(method, level)) for level in LEVELS]
        known = [(100 * level, found) for level, found in points if found is not None]
        if known:
            drawn = True
            axis.errorbar(
                [level for level, _ in known],
                [found.mean for _, found in known],
                [found.std for _, found in known],
                color=colour,
                marker=MARKS[method],
                ms=4,
                lw=1.2,
                capsize=2,
                label=method,
            )
    axis.set(xlabel="outliers (%)", ylabel="test RMSE", ylim=(0, None))
    # RVFL with and without weights can be a hundred times worse, which would flatten the rest.
    steady = [
        found.mean
        for method in ("PRNNRW", "RSC-KDE", "RobustSCN")
        for level in LEVELS
        if (found := find(method, level))
    ]
    if steady:
        axis.set_ylim(0, min(axis.get_ylim()[1], 3 * max(steady)))
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
    return _four(
        plt, {f"scope {scope:g}{simulated}": _finder(results, task, scope) for scope in scopes}
    )


def _figure_3(plt: Any, results: Results) -> Any:
    return _four(plt, {task.name: _finder(results, task, 1.0) for task in KEEL})


def _four(plt: Any, panels: dict[str, Any]) -> Any:
    """Return a figure of four panels with one legend; None where nothing was found to draw."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    drawn = False
    for axis, (title, find) in zip(axes.flat, panels.items(), strict=True):
        drawn |= _lines(axis, find)
        axis.set_title(title)
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
    names = list(found["predictions"])
    truth = np.array(found["rows"]["truth"])
    figure, axes = plt.subplots(len(names), 1, figsize=(10, 2 * len(names)), sharex=True)
    for axis, name in zip(axes, names, strict=True):
        estimate = np.array(found["predictions"][name])
        error = np.sqrt(np.mean((estimate - truth) ** 2))
        axis.plot(truth, color="black", lw=1, label="true")
        axis.plot(estimate, ".", ms=3, color=COLOURS[name], label="estimated")
        title = f"{name}, RMSE {error:.4f}, SIMULATED"
        axis.set(title=title, ylabel="scaled size", ylim=(-0.2, 1.2))
    axes[0].legend(frameon=False, ncol=2, loc="upper right")
    axes[-1].set_xlabel("test row")
    figure.tight_layout()
    return figure
