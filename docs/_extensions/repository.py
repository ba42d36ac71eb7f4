"""Links that lead from a page to other files of the repository.

The pages are read on the repository's host as well, where a link to ../SECURITY.md is right. On
the site such a page has a place of its own, and results of benchmarks are files to download.
"""

from __future__ import annotations

import re
from typing import Any

PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmark-scripts.md",
    "benchmarks/accuracy": "benchmark-scripts.md",  # a folder
}
"""Files at the root, and the pages that include them."""


def _redirect(_: Any, docname: str, content: list[str]) -> None:
    up = "../" * (docname.count("/") + 1)
    for file, page in PAGES.items():
        content[0] = content[0].replace(f"]({up}{file})", f"]({up[3:]}{page})")
    # Numbers of a script or a result are handed out as a file.
    content[0] = re.sub(
        rf"\[([^\]]*)\]\(({re.escape(up)}(?:benchmarks|examples|src)/[\w/.-]+)\)",
        r"{download}`\1 <\2>`",
        content[0],
    )


def _redirect_included(_: Any, __: Any, ___: str, content: list[str]) -> None:
    """Do the same for files at the root that a page includes."""
    for file, page in PAGES.items():
        content[0] = content[0].replace(f"]({file})", f"](docs/{page})")


def setup(app: Any) -> dict[str, bool]:
    """Rewrite links before a page is parsed."""
    app.connect("source-read", _redirect)
    app.connect("include-read", _redirect_included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
