"""Formulas drawn by a copy of MathJax that lies on the site: no request to any other host."""

from __future__ import annotations

import shutil
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

SCRIPT = "tex-svg.js"
"""One file, its fonts within."""


def _copy_script(app: Any, _: Any) -> None:
    if app.builder.format != "html":
        return
    holder = distribution("sphinx-mathjax-offline")
    source = holder.locate_file(f"sphinx-mathjax-offline/static/mathjax/{SCRIPT}")
    target = Path(app.outdir) / "_static" / SCRIPT
    if not target.exists():
        shutil.copyfile(Path(str(source)), target)


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx draw by that script, on pages that have formulas."""
    app.setup_extension("sphinx.ext.mathjax")
    app.config.mathjax_path = SCRIPT
    app.connect("build-finished", _copy_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
