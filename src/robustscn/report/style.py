"""What all figures share: colours of the theme, fonts, axes, marks.

``{"ref": name}`` stands for a column of numbers that the page holds once and several figures
share; ``{"css": name}`` stands for a colour of the theme. The script of the page puts both in.
Whatever comes from the data goes through `literal`: Plotly reads tags in its texts.
"""

from __future__ import annotations

import html
from typing import Any

from .columns import shortened

Figure = dict[str, Any]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def literal(text: str) -> str:
    """Return the text so that Plotly shows it as it is, tags and all."""
    return html.escape(shortened(text), quote=False)


def ref(name: str) -> dict[str, str]:
    """Return what stands for a shared column."""
    return {"ref": name}


def css(name: str) -> dict[str, str]:
    """Return what stands for a colour of the theme."""
    return {"css": f"--{name}"}


def by_weight(n_points: int) -> Figure:
    """Return markers coloured by inlier weight, smaller where there are many."""
    scale = [[0, css("distrust")], [0.5, css("between")], [1, css("trust")]]
    size = 7 if n_points < 1500 else 5 if n_points < 5000 else 4
    return {
        "size": size,
        "opacity": 0.85 if n_points < 1500 else 0.7,
        "color": ref("weight"),
        "cmin": 0,
        "cmax": 1,
        "colorscale": scale,
        "line": {"width": 0},
    }


def weight_bar() -> Figure:
    """Return the legend of those colours."""
    return {
        "title": {"text": "inlier weight", "side": "top"},
        "orientation": "h",
        "y": 1.0,
        "yanchor": "bottom",
        "x": 0.0,
        "xanchor": "left",
        "len": 0.35,
        "lenmode": "fraction",
        "thickness": 10,
        "outlinewidth": 0,
        "tickvals": [0, 0.5, 1],
    }


def axis(title: str) -> Figure:
    """Return an axis."""
    return {
        "title": {"text": title},
        "gridcolor": css("line"),
        "zeroline": False,
        "linecolor": css("line"),
        "automargin": True,
    }


def layout(x_title: str, y_title: str, *, height: int, legend: bool = False) -> Figure:
    """Return the layout of a figure with two axes."""
    return {
        "height": height,
        "autosize": True,
        "margin": {"l": 60, "r": 16, "t": 44 if legend else 16, "b": 50},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13, "color": css("ink")},
        "xaxis": axis(x_title),
        "yaxis": axis(y_title),
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": css("card"),
            "bordercolor": css("muted"),
            "font": {"family": FONT, "color": css("ink")},
            "align": "left",
        },
        "showlegend": legend,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "dragmode": "zoom",
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": css("muted"),
            "activecolor": css("ink"),
        },
    }


def upright(x: float) -> Figure:
    """Return a dotted line from bottom to top."""
    line = {"color": css("muted"), "width": 1, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def tick(x: float) -> Figure:
    """Return a short mark at the bottom."""
    return upright(x) | {"y1": 0.04, "line": {"color": css("muted"), "width": 1}}
