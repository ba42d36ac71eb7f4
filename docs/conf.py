"""The documentation site: `make docs` builds it into out/docs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from pygments.lexers.shell import BashLexer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import robustscn  # noqa: E402
from robustscn.datasets import industry  # noqa: E402

project = "robustscn"
author = "The robustscn developers"
copyright = author
release = version = robustscn.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    # Ours, in _extensions.
    "commands",
    "docstrings",
    "folded",
    "formulas",
    "interactive",
    "related",
    "repository",
]
exclude_patterns = ["gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "py:obj"  # `names` in docstrings are code, and links where they lead somewhere
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_block"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

toc_object_entries_show_parents = "hide"

MARK = "_static/mark.svg"
html_theme = "pydata_sphinx_theme"
html_title = "robustscn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = MARK
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {
        "text": "robustscn",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
    "back_to_top_button": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
    "show_toc_level": 2,
    "search_as_you_type": False,
}
html_sidebars = {"index": [], "start": [], "changelog": [], "coming-from": []}

EXECUTED = os.environ.get("ROBUSTSCN_GALLERY", r"/\d\d_")
"""Examples that are run, by a pattern; CI runs a few, the others are shown without pictures."""

NEEDED = {"13_wind_turbine": industry.TURBINES, "14_process_plant": industry.PROCESS}
"""Examples on data that are downloaded once; without a network they are left out."""


def _left_out() -> list[str]:
    missing = []
    for example, source in NEEDED.items():
        try:
            industry._content(source)
        except FileNotFoundError as error:
            print(f"The gallery goes without {example}: {error}")
            missing.append(example)
    return missing


sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": EXECUTED,
    "ignore_pattern": "|".join(("/_", *_left_out())),
    "example_extensions": {".py"},
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib", "interactive.scraper"),
    "reset_modules": ("matplotlib", "interactive.reset"),
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "min_reported_time": 5,
    "thumbnail_size": (420, 300),
    "show_memory": False,
    "write_computation_times": False,  # that page would load scripts from other hosts
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "doc_module": ("robustscn",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": True,
    "default_thumb_file": str(HERE / "function.png"),
    "first_notebook_cell": None,
    "parallel": False,
}


def setup(app: Any) -> None:
    """Show commands as commands: the usual lexer takes lines without a prompt for output."""
    app.add_lexer("console", BashLexer)
