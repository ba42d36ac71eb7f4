"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table whose first column is text and whose others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def best_in_bold(values: Sequence[float | None], best: float, digits: int) -> list[str]:
    """Return numbers as text, the best of them in bold, what is missing as not run."""
    return [
        "not run" if v is None else f"**{v:.{digits}f}**" if v == best else f"{v:.{digits}f}"
        for v in values
    ]
