"""Every page of the reference ends with examples: those that use the name, or else related ones."""

from __future__ import annotations

import ast
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


def _imported() -> set[str]:
    """Return all names that examples import, with their modules."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in GALLERY.glob("*.py")]
    return {
        f"{node.module}.{alias.name}"
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def examples_of(module: str, name: str) -> str:
    """Return what a mini-gallery is to show for a public name.

    Parameters
    ----------
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
    return full if full in _imported() else f"../examples/gallery/{RELATED[module]}.py"


def setup(app: Any) -> dict[str, bool]:
    """Let the templates of the reference ask."""
    app.config.autosummary_context["examples_of"] = examples_of
    return {"parallel_read_safe": True, "parallel_write_safe": True}
