"""What a fit came to, for people and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ..judgement import judgement_of
from ..looks import Episode, Finding
from ..text import one_line
from .check import plain_finding
from .episodes import with_positions
from .learning import Learned, Task
from .writing import size_in_words

MOST_EPISODES = 6
"""Lines about episodes on a terminal; the file and the page have them all."""


def facts_of(
    task: Task,
    fit: Learned,
    files: dict[str, int],
    notes: list[str],
    episodes: Sequence[Episode] = (),
    findings: Sequence[Finding] = (),
) -> dict[str, Any]:
    """Return the outcome as plain data.

    Parameters
    ----------
    task : Task
        What was learned.
    fit : Learned
        The model.
    files : dict
        Sizes of the files written.
    notes : list of str
        What was assumed.
    episodes : sequence of Episode
        Stretches that went wrong.
    findings : sequence of Finding
        What is odd about the columns.

    Returns
    -------
    dict
        For `--json`.
    """
    flagged = int(fit.model.outliers_.sum())
    n_rows = len(task.frame)
    return {
        "rows": n_rows,
        "rows_without_target": task.targets.n_missing,
        "rows_known_wrong": task.targets.n_wrong,
        "rows_known_fine": 0 if task.trusted is None else int(task.trusted.sum()),
        "targets": list(task.targets.names),
        "columns": {
            "numbers": list(task.plan.numbers),
            "categories": list(task.plan.categories),
            "dates": [*task.plan.dates, *task.plan.calendar],
            "left_out": list(task.plan.left_out),
        },
        "held_out": None if fit.held_out is None else fit.held_out.facts(task.targets.names),
        "flagged_rows": flagged,
        "flagged_share": flagged / n_rows,
        "maybe_right": judgement_of(fit.model).n_maybe_right,
        "estimated_wrong_share": float(fit.model.estimated_outlier_share_),
        "episodes": [with_positions(each, task.targets.known) for each in episodes],
        "findings": [plain_finding(each, task.frame) for each in findings],
        "transform": getattr(fit.model, "transformation_", "none"),
        "stop_reason": fit.model.stop_reason_,
        "fit_seconds": round(fit.seconds, 3),
        "files": files,
        "notes": notes,
    }


def print_summary(facts: dict[str, Any], next_command: str) -> None:
    """Print the outcome: a panel on a terminal, plain lines elsewhere.

    Parameters
    ----------
    facts : dict
        From `facts_of`.
    next_command : str
        What to try next.
    """
    lines = [
        *summary_lines(facts),
        *(("episode", text) for text in _episodes(facts.get("episodes", []))),
        *(("wrote", f"{name} ({size_in_words(size)})") for name, size in facts["files"].items()),
        ("next", next_command),
    ]
    print_pairs("robustscn fit", lines)


def summary_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what a fit came to, in words.

    Parameters
    ----------
    facts : dict
        From `facts_of`.

    Returns
    -------
    list of pairs of str
        What is spoken of, and what is said of it.
    """
    return [
        ("rows", _rows(facts)),
        ("columns", _columns(facts["columns"])),
        *(("learned", words) for words in _learned(facts.get("transform", "none"))),
        ("error", _error(facts)),
        ("flagged", _flagged(facts)),
    ]


def _learned(transform: str) -> list[str]:
    """Return what was learned instead of the target, if anything was."""
    names = {"log": "logarithm", "sqrt": "square root"}
    if transform not in names:
        return []
    return [
        f"the {names[transform]} of the target, because noise grows with it; "
        "--transform none learns it as it is"
    ]


def _flagged(facts: dict[str, Any]) -> str:
    flagged, right = facts["flagged_rows"], facts["maybe_right"]
    words = f"{flagged:,} of {facts['rows']:,} rows"
    if not flagged:
        return words
    if flagged == 1:
        return words + ("; it may be right" if right else "; it is hardly right")
    return f"{words}; {f'about {right:,}' if right else 'hardly one'} of them may be right"


def print_pairs(title: str, lines: list[tuple[str, str]]) -> None:
    """Print names and texts beside each other.

    Parameters
    ----------
    title : str
        Heading on a terminal.
    lines : list of pairs of str
        Name and text.
    """
    console = Console(highlight=False, soft_wrap=True)
    lines = [(one_line(name), one_line(text)) for name, text in lines]
    if not console.is_terminal:
        for name, text in lines:
            console.print(f"{name:<9} {text}", markup=False)
        return
    grid = Table.grid(padding=(0, 2))
    for name, text in lines:
        grid.add_row(Text(name, style="bold"), Text(text))
    console.print(Panel(grid, title=title, title_align="left", expand=False))


def _episodes(episodes: list[dict[str, Any]]) -> list[str]:
    shown = [each["sentence"] for each in episodes[:MOST_EPISODES]]
    if len(episodes) > MOST_EPISODES:
        shown.append(f"and {len(episodes) - MOST_EPISODES:,} more")
    return shown


def _rows(facts: dict[str, Any]) -> str:
    missing = facts["rows_without_target"]
    words = f"{facts['rows']:,} {_were(facts['rows'])} learned from"
    if fine := facts.get("rows_known_fine", 0):
        words += f", {fine:,} of them known to be fine"
    if missing:
        words += f"; {missing:,} without a target {_were(missing)} not"
    if wrong := facts.get("rows_known_wrong", 0):
        words += f"; {wrong:,} known to be wrong {_were(wrong)} not"
    return words


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _columns(columns: dict[str, list[str]]) -> str:
    parts = []
    for kind in ("numbers", "categories", "dates"):
        if n := len(columns[kind]):
            singular = {"numbers": "number", "categories": "category", "dates": "date"}[kind]
            parts.append(f"{n:,} {kind if n > 1 else singular}")
    left = f"; {len(columns['left_out']):,} left out" if columns["left_out"] else ""
    return ", ".join(parts) + left


def _error(facts: dict[str, Any]) -> str:
    error = facts["held_out"]
    if error is None:
        return "not estimated: the fit was interrupted before"
    return (
        f"half of {error['rows']:,} unseen rows are predicted to within "
        f"{_numbers(error['median_absolute_error'])}; root mean square error of the "
        f"{error['trusted_rows']:,} trusted ones {_numbers(error['robust_rmse'])}"
        f" ({error['how']})"
    )


def _numbers(value: float | dict[str, float]) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{number:.4g} ({name})" for name, number in value.items())
    return f"{value:.4g}"
