"""The figures, as Plotly takes them, with columns and colours left open until the page is read.

See `style` for what stands in their place. Every function here takes what the record says and
returns data and layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..estimators._base import OUTLIER_DISTANCE
from .dependence import Dependence
from .paths import ErrorPath
from .record import BINS, COVERAGE, FARTHEST, FitRecord, Target
from .style import Figure, axis, by_weight, css, layout, literal, ref, tick, upright, weight_bar

MOST_LINE = 1500
"""Points of a line: more would not be seen."""


def figures_of(record: FitRecord) -> dict[str, list[Figure]]:
    """Return all figures of a page.

    Parameters
    ----------
    record : FitRecord
        What to show.

    Returns
    -------
    dict of str to list
        By the name of the place on the page; one for each target, or one for all.
    """
    numbered = list(enumerate(record.targets))
    figures = {
        "episodes": [episode_figure(record, q) for q, _ in numbered],
        "fit": [fit_figure(record, q) for q, _ in numbered],
        "residuals": [residual_figure(target) for _, target in numbered],
        "weights": [weight_figure(record)],
    }
    figures |= {f"path-{path.along}": [path_figure(path)] for path in record.paths}
    main = record.inputs.main
    for number, dependence in enumerate(main):
        figures[f"input-{number}"] = [
            dependence_figure(dependence, q, common_range(main, q)) for q, _ in numbered
        ]
    return figures


MOST_STRETCHED = 4.0
"""Times the height of the other rows that a picture may be, so that a stretch is in it. By
argument: with a quarter of the height, one still sees how the others go up and down."""


def fit_figure(record: FitRecord, q: int) -> Figure:
    """Return observed against predicted targets, coloured by inlier weight."""
    points, name = record.points, literal(record.targets[q].name)
    low, high = visible_range(record, q)
    ends = [float(points.expected[:, q].min()), float(points.expected[:, q].max())]
    agreement = {
        "type": "scatter",
        "mode": "lines",
        "x": ends,
        "y": ends,
        "line": {"color": css("muted"), "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
    }
    rows = {
        "type": "scatter",
        "mode": "markers",
        "x": ref(f"expected-{q}"),
        "y": ref(f"observed-{q}"),
        "hovertext": ref(f"hover-{q}"),
        "hoverinfo": "text",
        "marker": {**by_weight(len(points)), "colorbar": weight_bar()},
    }
    design = layout(f"predicted {name}", f"observed {name}", height=480)
    design["yaxis"] |= {"range": [low, high]}
    design["margin"] |= {"t": 60}
    return {"data": [agreement, rows], "layout": design}


def episode_figure(record: FitRecord, q: int) -> Figure:
    """Return the target along the rows or the time, what was plausible, and episodes shaded."""
    points, name = record.points, literal(record.targets[q].name)
    along = points.position.astype(float) if points.along is None else points.along.values
    known = np.flatnonzero(np.isfinite(along))
    order = known[np.argsort(along[known], kind="stable")]
    order = order[np.linspace(0, len(order) - 1, min(MOST_LINE, len(order))).astype(int)]
    x = [float(f"{v:.15g}") for v in along[order]]
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "expected",
        "x": x,
        "y": _finite(points.expected[order, q]),
        "line": {"color": css("muted"), "width": 1},
        "hoverinfo": "skip",
    }
    rows = {
        "type": "scatter",
        "mode": "markers",
        "name": "observed",
        "x": ref("along"),
        "y": ref(f"observed-{q}"),
        "hovertext": ref(f"hover-{q}"),
        "hoverinfo": "text",
        "marker": by_weight(len(points)),
    }
    title = "row, in the order of the data" if points.along is None else literal(points.along.name)
    design = layout(title, name, height=380, legend=True)
    design["yaxis"] |= {"range": list(visible_range(record, q))}
    if points.along is not None and points.along.kind == "date":
        design["xaxis"] |= {"type": "date"}
    design["shapes"] = _shaded(record, q)
    return {"data": [*_band(record, q, order, x), line, rows], "layout": design}


def _band(record: FitRecord, q: int, order: Any, x: list[float]) -> list[Figure]:
    """Return between which values clean targets lie, where that makes a band.

    What is expected of rows in no order leaps by more than the band is wide: all of the picture
    would be shaded, and nothing said.
    """
    plausible, expected = record.points.plausible, record.points.expected[order, q]
    if plausible is None or len(order) < 2:
        return []
    ends = plausible[order, q]
    if np.median(np.abs(np.diff(expected))) > np.median(ends[:, 1] - ends[:, 0]):
        return []
    edge = {"type": "scatter", "mode": "lines", "x": x, "line": {"width": 0}, "hoverinfo": "skip"}
    lower = edge | {"y": _finite(ends[:, 0]), "showlegend": False}
    upper = edge | {
        "y": _finite(ends[:, 1]),
        "name": f"where {COVERAGE:.0%} of clean targets lie",
        "fill": "tonexty",
        "fillcolor": css("band"),
    }
    return [lower, upper]


def _shaded(record: FitRecord, q: int) -> list[Figure]:
    shapes = []
    for episode in record.episodes:
        if episode.kind == "spikes" or episode.target != record.targets[q].name:
            continue
        ends = episode.ends if record.points.along is not None else episode.rows[[0, -1]]
        if ends is None:
            continue
        shapes.append(
            {
                "type": "rect",
                "x0": float(ends[0]),
                "x1": float(ends[1]),
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "fillcolor": css("distrust"),
                "opacity": 0.15,
                "line": {"width": 0},
                "layer": "below",
            }
        )
    return shapes


def visible_range(record: FitRecord, q: int) -> tuple[float, float]:
    """Return the part of the observed targets that is drawn before anyone zooms out.

    One target of 1e9 would flatten all others to a line. Stretches that went wrong together are
    what the picture is for, and are in it where the others stay readable beside them.
    """
    points, target = record.points, record.targets[q]
    trusted = points.expected[: len(points) - points.n_suspects or None, q]
    observed, around = points.observed[:, q], np.ptp(trusted) + 10 * target.scale
    near = (observed >= trusted.min() - around) & (observed <= trusted.max() + around)
    drawn = np.concatenate([observed[near], trusted])
    low, high = float(drawn.min()), float(drawn.max())
    for episode in record.episodes:
        if episode.kind == "spikes" or episode.target != target.name:
            continue
        inside = observed[np.isin(points.position, episode.rows)]
        if len(inside):
            bottom, top = (float(end) for end in np.quantile(inside, [0.02, 0.98]))
            if max(high, top) - min(low, bottom) <= MOST_STRETCHED * (high - low):
                low, high = min(low, bottom), max(high, top)
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin


def residual_figure(target: Target) -> Figure:
    """Return the histogram of residuals with the weight of rows over it."""
    width = 2 * FARTHEST / BINS
    middle = -FARTHEST + width * (np.arange(BINS) + 0.5)
    inside = [f"{m - width / 2:g} to {m + width / 2:g}" for m in middle[1:-1]]
    names = [f"below {middle[0] + width / 2:g}", *inside, f"above {middle[-1] - width / 2:g}"]
    bars = {
        "type": "bar",
        "name": "rows",
        "x": middle.tolist(),
        "y": target.counts.tolist(),
        "width": width,
        "marker": {"color": css("bar"), "line": {"width": 0}},
        "customdata": names,
        "hovertemplate": "%{customdata} deviations: %{y} rows<extra></extra>",
    }
    known = np.isfinite(target.weights)
    curve = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "weight of such rows",
        "x": middle[known].tolist(),
        "y": np.round(target.weights[known], 4).tolist(),
        "yaxis": "y2",
        "line": {"color": css("distrust"), "width": 2},
        "marker": {"size": 4},
        "hovertemplate": "%{x:.1f} deviations: weight %{y:.2f}<extra></extra>",
    }
    design = layout("residual, in robust standard deviations", "rows", height=380, legend=True)
    design["xaxis"] |= {"range": [-FARTHEST, FARTHEST]}
    design["yaxis2"] = axis("inlier weight") | {
        "overlaying": "y",
        "side": "right",
        "range": [0, 1.05],
        "showgrid": False,
        "tickvals": [0, 0.25, 0.5, 0.75, 1],
    }
    design["shapes"] = [upright(-OUTLIER_DISTANCE), upright(OUTLIER_DISTANCE)]
    design["bargap"] = 0.08
    return {"data": [bars, curve], "layout": design}


def weight_figure(record: FitRecord) -> Figure:
    """Return the weights along the rows or the time, with the share of distrusted rows."""
    points, stretches = record.points, record.stretches
    rows = {
        "type": "scatter",
        "mode": "markers",
        "name": "a row",
        "x": ref("along"),
        "y": ref("weight"),
        "hovertext": ref("hover-worst"),
        "hoverinfo": "text",
        "marker": by_weight(len(points)),
    }
    share = {
        "type": "scatter",
        "mode": "lines",
        "name": "share of rows flagged nearby",
        "x": np.round(stretches.middle, 3).tolist(),
        "y": np.round(stretches.share, 4).tolist(),
        "line": {"color": css("ink"), "width": 2, "shape": "hvh"},
        "hovertemplate": "%{y:.0%} of the rows nearby flagged<extra></extra>",
    }
    along = "row, in the order of the data" if points.along is None else literal(points.along.name)
    design = layout(along, "inlier weight", height=360, legend=True)
    design["yaxis"] |= {"range": [-0.04, 1.06]}
    if points.along is not None and points.along.kind == "date":
        design["xaxis"] |= {"type": "date"}
    return {"data": [rows, share] if len(stretches.share) else [rows], "layout": design}


def path_figure(path: ErrorPath) -> Figure:
    """Return errors against nodes, rounds or steps, with the count that was kept."""
    lines = [
        {
            "type": "scatter",
            "mode": "lines" if len(path.count) > 30 else "lines+markers",
            "name": name,
            "x": path.count.tolist(),
            "y": _finite(errors),
            "line": {"color": css(colour), "width": 2, "dash": dash},
            "marker": {"size": 5},
            "hovertemplate": "%{x} " + path.along + ": error %{y:.4g}<extra></extra>",
        }
        for (name, errors), colour, dash in zip(
            path.errors, ("distrust", "trust"), ("dash", "solid"), strict=False
        )
    ]
    if len(lines) == 1:
        lines[0]["line"] = {"color": css("trust"), "width": 2}
    at = int(np.argmin(np.abs(path.count - path.kept)))
    kept = {
        "type": "scatter",
        "mode": "markers",
        "name": "kept",
        "x": [path.kept],
        "y": _finite(path.errors[-1][1][at : at + 1]),
        "marker": {
            "size": 13,
            "symbol": "circle-open",
            "color": css("ink"),
            "line": {"width": 2.5, "color": css("ink")},
        },
        "hovertemplate": "kept: %{x} " + path.along + ", error %{y:.4g}<extra></extra>",
    }
    design = layout(path.along, "error, in units of the target", height=320, legend=True)
    positive = all(np.nanmin(errors) > 0 for _, errors in path.errors if np.isfinite(errors).any())
    if positive:
        design["yaxis"] |= {"type": "log", "tickformat": "~g", "nticks": 6}
    return {"data": [*lines, kept], "layout": design}


def common_range(main: Sequence[Dependence], q: int) -> tuple[float, float]:
    """Return one range for the curves of all inputs: a weak input should look weak."""
    low = min(float(dependence.mean[:, q].min()) for dependence in main)
    high = max(float(dependence.mean[:, q].max()) for dependence in main)
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def dependence_figure(dependence: Dependence, q: int, ends: tuple[float, float]) -> Figure:
    """Return the mean prediction over the values of one input.

    Levels are bars up or down from their mean: bars from zero hide small differences.
    """
    grid, mean = dependence.grid, [float(f"{m:.6g}") for m in dependence.mean[:, q]]
    design = layout(literal(grid.name), "mean prediction", height=260)
    design["yaxis"] |= {"range": list(ends)}
    if grid.kind == "text":
        names = [literal(value) or "(empty)" for value in grid.values]
        middle = float(np.mean(mean))
        bars = {
            "type": "bar",
            "x": names,
            "base": middle,
            "y": [value - middle for value in mean],
            "customdata": mean,
            "marker": {"color": css("trust")},
            "hovertemplate": "%{x}: %{customdata:.4g}<extra></extra>",
        }
        design["xaxis"] |= {"type": "category"}
        return {"data": [bars], "layout": design}
    line = {
        "type": "scatter",
        "mode": "lines" if len(mean) > 12 else "lines+markers",
        "x": [float(f"{v:.15g}") for v in grid.values],
        "y": mean,
        "line": {"color": css("trust"), "width": 2.5},
        "hovertemplate": "%{x}: %{y:.4g}<extra></extra>",
    }
    if grid.kind == "date":
        design["xaxis"] |= {"type": "date"}
    design["shapes"] = [tick(float(decile)) for decile in dependence.deciles]
    return {"data": [line], "layout": design}


def _finite(values: Any) -> list[float | None]:
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in values]
