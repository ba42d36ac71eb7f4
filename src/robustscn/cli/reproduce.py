"""`robustscn reproduce`: the paper's tables and figures, run again and set beside its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
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
from ..paper.settings import TASKS, Experiment, experiments, narrowed, quick
from ..paper.store import Store
from ..paper.tables import all_tables
from .messages import INTERRUPTED, UNUSABLE, errors, fail, plain_errors, say

GROUPS = (
    *("rsc-kde", "choice", "layers", "literal", "ours"),
    *("rounds", "curves", "ablation", "treasury"),
)
BASIC = ("rsc-kde", "choice", "layers", "literal", "ours")
KEEL = ("stock", "laser", "concrete", "treasury")
WHAT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "headline": (("function", *KEEL), ("rsc-kde", "literal")),
    "table1": (("function",), (*BASIC, "ablation")),
    "table2": (KEEL, ("rsc-kde",)),
    "table3": (KEEL, BASIC),
    "treasury": (("treasury",), ("treasury",)),
    "table4": (("grinding",), BASIC),
    "table5": (("grinding",), ("rounds",)),
    "figure1": (("function",), ("curves",)),
    "figure2": (("function",), BASIC),
    "figure3": (KEEL, BASIC),
    "figure4": ((), ()),
    "figure5": (("grinding",), BASIC),
    "figure6": (("grinding",), ("curves",)),
    "all": (tuple(TASKS), GROUPS),
    "page": (tuple(TASKS), GROUPS),
}
"""Tasks and groups of methods that each name needs."""

QUICK_TRIALS = 2


def reproduce(
    what: Annotated[
        list[str] | None, typer.Argument(help=f"Any of: {', '.join(WHAT)}.", show_default="all")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Trials of each cell. [default: the paper's]")
    ] = None,
    levels: Annotated[
        str | None, typer.Option(help="Outlier percentages, such as 10,25. [default: the paper's]")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="add or replace. [default: what the page shows]")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="redrawn or fixed. [default: what the page shows]")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes. [default: all cores]")] = None,
    out: Annotated[Path, typer.Option(help="Folder for results and page.")] = Path("reproduction"),
    quick_: Annotated[
        bool, typer.Option("--quick", help="Every table at 2 trials, in less than five minutes.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Run the experiments of the RSC-KDE paper and write them beside its own figures.

    Results are kept in OUT/cells, one small file for each cell: interrupt it and run it again,
    and it goes on where it was. `page` only writes the page from what is there.

    For example:

        robustscn reproduce --quick

        robustscn reproduce table1 --protocol replace --trials 20

        robustscn reproduce all --jobs 2
    """
    with plain_errors(debug):
        names = what or ["all"]
        plan = _plan(names, trials, levels, protocol, data, quick_)
        store = Store(out / "cells")
        if "page" not in names and names != ["figure4"]:
            if not any(plan.parts()):
                raise fail(f"{', '.join(names)} shows nothing with these options", UNUSABLE)
            _run(plan, store, jobs or os.cpu_count() or 1)
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


def _plan(
    names: list[str],
    trials: int | None,
    levels: str | None,
    protocol: str | None,
    data: str | None,
    fast: bool,
) -> Plan:
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
    if fast:
        if levels or protocol or data:
            raise fail("--quick goes without --levels, --protocol and --data", UNUSABLE)
        return Plan(quick(chosen), groups, trials or QUICK_TRIALS)
    return Plan(_asked(chosen, levels, protocol, data), groups, trials)


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


def how_long(plan: Plan, store: Store, jobs: int) -> str:
    """Return in words how long what is not done will take, and how to ask for less."""
    done, total = cost(plan, store)
    minutes = max(1, round((total - done) / jobs / 60))
    return (
        f"about {minutes} minutes on {jobs} cores of a fast machine ({done / max(total, 1):.0%} is "
        "done); name a table, --levels or --trials for less, or --quick"
    )


def _run(plan: Plan, store: Store, jobs: int) -> None:
    start = time.perf_counter()
    say(how_long(plan, store, jobs))
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
