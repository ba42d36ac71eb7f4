"""The paper's tables and figures, run again and set beside its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..paper.blocks import Table
from ..paper.page import write_page
from ..paper.results import Results, summarised
from ..paper.runner import Plan, cost, execute
from ..paper.settings import Experiment, experiments, narrowed, quick
from ..paper.store import Store
from ..paper.tables import all_tables
from .messages import INTERRUPTED, UNUSABLE, errors, fail, say
from .reproduce import GROUPS, WHAT

QUICK_TRIALS = 2


@dataclass(frozen=True)
class Asked:
    """What was typed.

    Parameters
    ----------
    what : list of str
        Tables and figures.
    trials : int or None
        Of each cell; None is the paper's number.
    levels, protocol, data : str or None
        What to narrow to.
    quick : bool
        Whether few trials will do.
    """

    what: list[str]
    trials: int | None = None
    levels: str | None = None
    protocol: str | None = None
    data: str | None = None
    quick: bool = False


def run(asked: Asked, jobs: int | None, out: Path) -> None:
    """Run what is not done yet, print the tables, and write the page.

    Parameters
    ----------
    asked : Asked
        What was typed.
    jobs : int or None
        Processes; None is one for each core.
    out : Path
        Folder for results and page.
    """
    names = asked.what
    plan = _plan(asked)
    store = Store(out / "cells")
    if "page" not in names and names != ["figure4"]:
        if not any(plan.parts()):
            raise fail(f"{', '.join(names)} shows nothing with these options", UNUSABLE)
        _run(plan, store, jobs or os.cpu_count() or 1, quick=asked.quick)
    results = _results(store, out / "results.json")
    if not results.record["parts"] and names != ["figure4"]:
        raise fail(f"no results in {out}: run `robustscn reproduce all`", UNUSABLE)
    for tables in all_tables(results).values():
        for table in tables:
            _print(table)
    for path in write_page(results, out):
        say(f"written: {path}")


def _results(store: Store, kept: Path) -> Results:
    """Return all that lies in the folder: what cells say, and what only the kept summary does."""
    found = Results(summarised(store))
    return found.after(Results.read(kept)) if kept.exists() else found


def _plan(asked: Asked) -> Plan:
    names, levels, protocol, data = asked.what, asked.levels, asked.protocol, asked.data
    unknown = [name for name in names if name not in WHAT]
    if unknown:
        raise fail(f"unknown: {', '.join(unknown)}; choose from {', '.join(WHAT)}", UNUSABLE)
    for value, choices in ((protocol, ("add", "replace")), (data, ("redrawn", "fixed"))):
        if value is not None and value not in choices:
            raise fail(f"{value!r} is neither {choices[0]} nor {choices[1]}", UNUSABLE)
    tasks = {task for name in names for task in WHAT[name][0]}
    wanted = {group for name in names for group in WHAT[name][1]}
    chosen = tuple(e for e in experiments() if e.task.name in tasks)
    groups = tuple(group for group in GROUPS if group in wanted)
    if asked.quick:
        if levels or protocol or data:
            raise fail("--quick goes without --levels, --protocol and --data", UNUSABLE)
        return Plan(quick(chosen), groups, asked.trials or QUICK_TRIALS)
    return Plan(_asked(chosen, levels, protocol, data), groups, asked.trials)


def _asked(
    chosen: tuple[Experiment, ...], levels: str | None, protocol: str | None, data: str | None
) -> tuple[Experiment, ...]:
    if levels is None and protocol is None and data is None:
        return chosen
    try:
        shares = tuple(float(text) / 100 for text in levels.split(",")) if levels else None
    except ValueError:
        raise fail(f"--levels takes percentages such as 10,25; got {levels!r}", UNUSABLE) from None
    # Results are filed by whole percents.
    if shares and not all(0 <= s < 1 and s == round(100 * s) / 100 for s in shares):
        raise fail(f"--levels takes whole percentages from 0 to 99; got {levels!r}", UNUSABLE)
    return narrowed(chosen, shares, protocol, data)


def how_long(plan: Plan, store: Store, jobs: int, *, quick: bool = False) -> str:
    """Return in words how long what is not done will take, and how to ask for less."""
    done, total = cost(plan, store)
    minutes = max(1, round((total - done) / jobs / 60))
    less = "name a table" if quick else "name a table, --levels or --trials for less, or --quick"
    return (
        f"about {minutes} minute{'s' * (minutes > 1)} on {jobs} core{'s' * (jobs > 1)} of a fast "
        f"machine ({done / max(total, 1):.0%} is done); {less}{' for less' * quick}"
    )


def _run(plan: Plan, store: Store, jobs: int, *, quick: bool) -> None:
    start = time.perf_counter()
    say(how_long(plan, store, jobs, quick=quick))
    try:
        with _bar() as tell:
            execute(plan, store, jobs, tell)
    except KeyboardInterrupt:
        message = "interrupted; what is done is kept: run the same command to go on"
        raise fail(message, INTERRUPTED) from None
    minutes = (time.perf_counter() - start) / 60
    errors().print(f"done in {minutes:.1f} minutes", markup=False)


@contextmanager
def _bar() -> Iterator[Callable[[float, float, str], None]]:
    """Draw a bar with the time left; where there is no terminal, a line now and then."""
    console = errors()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("starting", total=None)
        told = 0.0

        def tell(done: float, total: float, what: str) -> None:
            nonlocal told
            bar.update(task, completed=done, total=total, description=what or "starting")
            if not console.is_terminal and time.monotonic() - told > 30:
                told = time.monotonic()
                console.print(f"{done / max(total, 1):.0%} {what}", markup=False)

        yield tell


def _print(table: Table) -> None:
    print(f"\n{table.markdown()}")
