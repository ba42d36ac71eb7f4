"""Every page of the reference ends with examples: those that use the name, or else related ones."""

from __future__ import annotations

import ast
import re
from functools import partial
from pathlib import Path
from typing import Any

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"

RELATED = {
    "robustscn": "03_what_outliers_do",
    "robustscn.dask": "11_dask",
    "robustscn.datasets": "01_first_fit",
    "robustscn.looks": "02_bad_sensors",
    "robustscn.onnx": "10_search_and_serve",
    "robustscn.persistence": "17_model_files",
    "robustscn.plots": "16_report_and_pictures",
    "robustscn.report": "16_report_and_pictures",
    "robustscn.river": "12_stream",
    "robustscn.weighting": "06_own_weighting",
}
"""Where to look at work what no example names: errors, types that functions return."""


def _imported(left_out: str) -> set[str]:
    """Return all names that examples import, with their modules."""
    paths = [path for path in GALLERY.glob("*.py") if not re.search(left_out, str(path))]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    return {
        f"{node.module}.{alias.name}"
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def examples_of(used: set[str], module: str, name: str) -> str:
    """Return what a mini-gallery is to show for a public name.

    Parameters
    ----------
    used : set of str
        Names that examples import, with their modules.
    module : str
        Where it is imported from.
    name : str
        As it is imported.

    Returns
    -------
    str
        The name itself, whose examples the gallery knows, or the file of a related one.
    """
    full = f"{module}.{name}"
    if full not in used:
        return f"../examples/gallery/{RELATED[module]}.py"
    # The gallery files a call of a class method under the method.
    return f"{full} {full}.from_estimator"


def setup(app: Any) -> dict[str, bool]:
    """Let the templates of the reference ask."""
    used = _imported(app.config.sphinx_gallery_conf["ignore_pattern"])
    app.config.autosummary_context["examples_of"] = partial(examples_of, used)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
