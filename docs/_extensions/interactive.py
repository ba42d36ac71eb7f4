"""Plotly figures of the gallery: drawn by one copy of plotly.js that lies on the site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SCRIPT = "plotly.min.js"


def scraper(_: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the figures that a block of an example made, as markup.

    Parameters
    ----------
    block_vars : dict
        With the example's globals; a figure is one whose name is `figure`.
    gallery_conf : dict
        The gallery's settings; remembers which figures were shown.

    Returns
    -------
    str
        reStructuredText.
    """
    figure = block_vars["example_globals"].get("figure")
    shown = gallery_conf.setdefault("plotly_shown", [])
    if not hasattr(figure, "to_html") or any(figure is other for other in shown):
        return ""
    shown.append(figure)
    markup = _on_any_paper(figure).to_html(
        include_plotlyjs=False,
        full_html=False,
        auto_play=False,
        config={"displayModeBar": False, "responsive": True},
    )
    lines = "\n".join(f"    {line}" for line in markup.splitlines())
    return f".. raw:: html\n\n{lines}\n\n"


def _on_any_paper(figure: Any) -> Any:
    """Return the figure in colours that suit light pages and dark ones."""
    grey = {"gridcolor": "rgba(128,128,128,0.25)", "zerolinecolor": "rgba(128,128,128,0.4)"}
    clear = "rgba(0,0,0,0)"
    adapted = type(figure)(figure)
    adapted.update_layout(paper_bgcolor=clear, plot_bgcolor=clear, font_color="#7a8794")
    adapted.update_layout(margin={"l": 45, "r": 10, "t": 60, "b": 20})
    return adapted.update_xaxes(**grey).update_yaxes(**grey)


def reset(_: dict[str, Any], __: str) -> None:
    """Set the looks of all pictures, before each example."""
    import matplotlib as mpl
    import plotly.io

    plotly.io.renderers.default = ""  # `figure.show()` opens no window
    mpl.use("Agg")
    mpl.rcParams.update(
        {
            "figure.figsize": (7.2, 4.2),
            "figure.dpi": 100,
            "savefig.dpi": 130,
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "font.size": 11,
        }
    )


def _write_script(app: Any, _: Any) -> None:
    from plotly.offline import get_plotlyjs

    target = Path(app.outdir) / "_static" / SCRIPT
    if app.builder.format == "html" and not target.exists():
        target.write_text(get_plotlyjs(), encoding="utf-8")


def _add_script(app: Any, *page: Any) -> None:
    _, _, context, _ = page
    if "plotly-graph-div" in context.get("body", ""):
        app.add_js_file(SCRIPT, priority=100)
        # Figures are drawn while the page is built up, and measure it before it has its width.
        app.add_js_file(
            None, body='addEventListener("load", () => dispatchEvent(new Event("resize")));'
        )


def setup(app: Any) -> dict[str, bool]:
    """Put the script on pages that have figures, and nowhere else."""
    app.connect("html-page-context", _add_script)
    app.connect("build-finished", _write_script)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
