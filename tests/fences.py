"""Fenced code on the repository's pages, with what the page says of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parent.parent

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "benchmarks/*.md", "docs/*.md", "docs/re*/*.md")
    for path in ROOT.glob(pattern)
)


@dataclass(frozen=True)
class Fence:
    """A block of code.

    Parameters
    ----------
    language : str
        What stands behind its three ticks.
    code : str
        Its lines.
    not_run : str
        Why no test runs it, in the comment `<!-- not run: ... -->` just before; empty where one
        does.
    """

    language: str
    code: str
    not_run: str = ""


def fences(page: str) -> list[Fence]:
    """Return a page's blocks of code, in their order; no directives of the site."""
    found, said = [], ""
    for token in MarkdownIt("commonmark").parse((ROOT / page).read_text(encoding="utf-8")):
        if token.type == "fence" and not token.info.startswith("{"):
            found.append(Fence(token.info, token.content, said))
        reason = re.match(r"<!-- not run: (.+) -->", token.content)
        said = reason[1] if token.type == "html_block" and reason else ""
    return found


def code_of(page: str, language: str) -> list[str]:
    """Return the code in one language that a page says will run."""
    return [each.code for each in fences(page) if each.language == language and not each.not_run]
