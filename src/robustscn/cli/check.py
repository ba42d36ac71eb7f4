"""`robustscn check`: a look at the columns of a table, before anything is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..text import shortened
from . import options
from .messages import LOOKING, at_work, notes, print_json

if TYPE_CHECKING:
    import pandas as pd

    from ..looks import Finding
    from ..tables import Plan

MOST_LINES = 5
"""Findings that `fit` shows; `check` shows all."""


@options.command
def check(
    data: options.Data,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="Column to be learned later."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="COLUMN", help="Order of the rows; else the first dates."),
    ] = None,
    *,
    reading: options.Reading,
    telling: options.Telling,
) -> None:
    """Look at the columns of a table: what repeats, jumps, drifts or cannot be.

    Fits and writes nothing. Says for each column what is odd, with the rows.

    For example:

        robustscn check measurements.csv --target size

        robustscn check log.xlsx --json
    """
    from ..tables import plan_columns, read_table, targets_of
    from ..tables.identity import columns_naming_rows

    frame = read_table(data, **reading.keywords())
    present = list(frame.columns)
    targets = options.named_columns(target, present)
    if targets:
        targets_of(frame, targets, to_learn=False)
    inputs = [name for name in present if name not in targets]
    plan = plan_columns(frame, inputs) if inputs else None
    assumed = [*frame.attrs["notes"], *(plan.notes if plan else ())]
    with at_work(LOOKING, telling.silent):
        found = findings_of(frame, plan.numbers if plan else (), targets, time)
    if telling.json:
        print_json(
            {
                "rows": len(frame),
                "columns": len(present),
                "kinds": _kinds(present, plan),
                "naming_rows": columns_naming_rows(frame, inputs),
                "findings": [plain_finding(each, frame) for each in found],
                "notes": assumed,
            }
        )
        return
    notes(assumed, telling.quiet)
    for each in found:
        print(line_of(each))
    if not found:
        print(f"nothing odd in {len(frame):,} rows of {len(present):,} columns")


def _kinds(present: list[str], plan: Plan | None) -> dict[str, str]:
    """Return what each column is taken for, in the order of the table."""
    by_kind = {
        "number": plan.numbers if plan else (),
        "category": plan.categories if plan else (),
        "date": plan.dates if plan else (),
        "left out": plan.left_out if plan else (),
    }
    found = {name: kind for kind, names in by_kind.items() for name in names}
    return {name: found.get(name, "target") for name in present}


def findings_of(
    frame: pd.DataFrame, numbers: Any, targets: list[str], time: str | None = None
) -> list[Finding]:
    """Return what is odd about the columns of a table.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table as `read_table` returns it.
    numbers : sequence of str
        Inputs that are numbers.
    targets : list of str
        Columns to be learned.
    time : str or None
        Column that gives the order of the rows.

    Returns
    -------
    list of Finding
        Those of targets first.
    """
    from ..looks import look, order_of

    units = frame.attrs.get("reading", {}).get("units", {})
    return look(frame, list(numbers), targets, order=order_of(frame, time), units=units)


def line_of(finding: Finding) -> str:
    """Return a finding as one line.

    Parameters
    ----------
    finding : Finding
        What was found.

    Returns
    -------
    str
        Column, what is odd, and where.
    """
    what = "target " if finding.target else ""
    return f"{what}{shortened(finding.column)!r} {finding.sentence}"


def short_look(found: list[Finding]) -> list[str]:
    """Return the first few findings as lines, and how many there are besides.

    Parameters
    ----------
    found : list of Finding
        What was found.

    Returns
    -------
    list of str
        For `fit` to show.
    """
    lines = [line_of(each) for each in found[:MOST_LINES]]
    if len(found) > MOST_LINES:
        more = len(found) - MOST_LINES
        lines.append(f"{more:,} more finding{'s' * (more > 1)}: see 'robustscn check'")
    return lines


def plain_finding(finding: Finding, frame: pd.DataFrame) -> dict[str, Any]:
    """Return a finding as plain data.

    Parameters
    ----------
    finding : Finding
        What was found.
    frame : pandas.DataFrame
        The table, whose index names the rows.

    Returns
    -------
    dict
        For `--json`.
    """
    named = [str(name) for name in frame.index[finding.rows[:1000]]]
    return {
        "column": finding.column,
        "kind": finding.kind,
        "target": finding.target,
        "words": finding.words,
        "where": finding.where,
        "rows": len(finding.rows),
        str(frame.index.name or "row"): named,
    }
