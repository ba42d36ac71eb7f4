"""Long tables start folded: a page begins with what it says, not with a wall of numbers."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes

FOLDED_PAGES = ("accuracy", "reproduction/README", "measured", "testing", "how-it-judges")
LONG = 9
"""Rows that a table on these pages may have and still be shown."""

FIRST = ("reproduction/README", "RSC-KDE, run again: data")
"""A long table that is shown all the same: it is what its page has to say."""


def _title(table: Any) -> str:
    """Return what stands above the fold: the section and the table's first heading."""
    first = next(iter(table.findall(nodes.entry))).astext()
    section = next(p for p in _parents(table) if isinstance(p, nodes.section))
    heading = section.next_node(nodes.title).astext()
    return f"{heading}: {first}" if first else heading


def _parents(node: Any) -> Any:
    while node is not None:
        yield node
        node = node.parent


def _folded_already(table: Any) -> bool:
    """Return whether the page's own Markdown has the table within something folded."""
    before = table.parent.children[: table.parent.index(table)]
    html = "".join(node.astext() for node in before if isinstance(node, nodes.raw))
    return bool(html.count("<details") > html.count("</details>"))


def _fold(_: Any, doctree: Any, docname: str) -> None:
    if docname not in FOLDED_PAGES:
        return
    for table in list(doctree.findall(nodes.table)):
        rows = len(list(table.findall(nodes.row))) - 1
        if rows <= LONG or _folded_already(table) or (docname, _title(table)) == FIRST:
            continue
        summary = f"{escape(_title(table))} <small>({rows} rows)</small>"
        opening = f'<details class="folded"><summary>{summary}</summary>'
        place = table.parent.index(table)
        table.parent.insert(place + 1, nodes.raw("", "</details>", format="html"))
        table.parent.insert(place, nodes.raw("", opening, format="html"))


def setup(app: Any) -> dict[str, bool]:
    """Fold when all references are resolved."""
    app.connect("doctree-resolved", _fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
