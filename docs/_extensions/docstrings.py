"""Docstrings on the site: members of our own, and plain text that stays plain.

Docstrings are read in terminals and editors first. What reStructuredText takes for markup there,
a bar or a trailing underscore in a formula, is escaped here and not in the source.
"""

from __future__ import annotations

import re
from typing import Any

OURS = "robustscn"


def _skip(_: Any, what: str, name: str, member: Any, skip: bool, __: Any) -> bool | None:
    """Leave out what every scikit-learn estimator inherits."""
    function = member.fget if isinstance(member, property) else member
    function = getattr(function, "__func__", function)
    module = getattr(function, "__module__", None) or OURS
    if what == "class" and (not module.startswith(OURS) or name.startswith("set_")):
        return True
    return True if skip else None


def _escape(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
    for number, line in enumerate(lines):
        pieces = re.split(r"(``?[^`]+``?)", line)
        # A name at the start of a line is an attribute's; numpydoc knows what to do with it.
        pieces[::2] = [
            re.sub(r"(?<=\()(\w+)_(?=[,)])", r"\1\\_", re.sub(r"\|", r"\\|", piece))
            for piece in pieces[::2]
        ]
        lines[number] = "".join(pieces)


def setup(app: Any) -> dict[str, bool]:
    """Take part before numpydoc does."""
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _escape, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
