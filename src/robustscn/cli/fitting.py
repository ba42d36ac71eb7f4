"""The work behind `robustscn fit`: from a table to files and words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..looks import Finding
from ..tables import read_table
from . import options
from .check import short_look
from .cluster import fit_on_cluster, refuse_what_needs_memory
from .episodes import episode_rows, fit_episodes
from .first_look import first_look
from .fit_files import fit_writers
from .learning import Task, learned, task_of
from .messages import LOOKING, at_work, notes, print_json
from .settings import Learner, Settings, Transformation
from .spreadsheets import legible
from .summary import facts_of, print_summary
from .writing import check_outputs, table_writer, write_all

if TYPE_CHECKING:
    from .fit import Asked


def fitted_in_memory(asked: Asked) -> dict[str, Any]:
    """Fit, write all files, and return what can be said of it.

    Parameters
    ----------
    asked : Asked
        What was typed.

    Returns
    -------
    dict
        From `facts_of`.
    """
    places, stretches = asked.files.places(), asked.files.stretches()
    settings, telling = asked.size.settings(), asked.telling
    check_outputs([*places, stretches], [asked.data])
    _require_libraries(places)
    task, assumed, looks = _prepared(asked)
    if not (telling.json or telling.quiet):
        with at_work("taking a first look at some of the rows", telling.silent):
            first = first_look(task, settings)
        notes(first, telling.quiet)
    outcome = learned(task, settings, telling.silent)
    with at_work("writing", telling.silent):
        writers = fit_writers(
            places, task, outcome, source=asked.data, command=_command(asked, task, settings)
        )
        found = fit_episodes(outcome.model, task)
        if stretches is not None:
            writers[stretches] = table_writer(legible(episode_rows(found)))
        written = write_all(writers)
    return facts_of(task, outcome, written, assumed, found, looks)


def fitted_on_cluster(asked: Asked, scheduler: str | None) -> dict[str, Any]:
    """Fit where the rows are, write all files, and return what can be said of it.

    Parameters
    ----------
    asked : Asked
        What was typed.
    scheduler : str or None
        Address of the cluster; None starts one here.

    Returns
    -------
    dict
        From `fit_on_cluster`.
    """
    asked.reading.keywords()  # what is given must make sense, whether it is needed or not
    size, roles, telling = asked.size, asked.roles, asked.telling
    if size.learner is not Learner.NETWORKS:
        raise typer.BadParameter("on a cluster only networks learn: leave out --learner")
    if size.transform in (Transformation.LOG, Transformation.SQRT):
        raise typer.BadParameter("on a cluster targets are learned as they are: --transform none")
    refuse_what_needs_memory(asked.data, (roles.group, roles.time, roles.reviewed))
    places = asked.files.places()
    check_outputs(places, [asked.data])
    columns = {"targets": asked.targets, "features": asked.features, "drop": asked.drop}
    facts = fit_on_cluster(scheduler, asked.data, columns, size.settings(), places, telling.silent)
    if not telling.json:
        notes(facts["notes"], telling.quiet)
    return facts


def only_checked(asked: Asked) -> None:
    """Say whether a table can be learned from; fit and write nothing.

    Parameters
    ----------
    asked : Asked
        What was typed.
    """
    task, assumed, _ = _prepared(asked)
    facts = {
        "rows": len(task.frame),
        "rows_without_target": task.targets.n_missing,
        "rows_known_wrong": task.targets.n_wrong,
        "targets": list(task.targets.names),
        "features": task.features,
        "left_out": list(task.plan.left_out),
        "notes": assumed,
    }
    if asked.telling.json:
        print_json(facts)
    else:
        n, missing = facts["rows"], facts["rows_without_target"]
        without = f" ({missing:,} more have no target)" if missing else ""
        print(
            f"the table can be learned from: {n:,} rows{without}, "
            f"{len(task.features):,} columns; nothing was fitted or written"
        )


def said(asked: Asked, facts: dict[str, Any]) -> None:
    """Print what a fit came to.

    Parameters
    ----------
    asked : Asked
        What was typed.
    facts : dict
        What can be said.
    """
    if asked.telling.json:
        print_json(facts)
    else:
        print_summary(facts, _next(asked))


def _prepared(asked: Asked) -> tuple[Task, list[str], list[Finding]]:
    """Return what is to be learned, what was assumed on the way, and what is odd about columns."""
    frame, roles = read_table(asked.data, **asked.reading.keywords()), asked.roles
    present = list(frame.columns)
    task = task_of(
        frame,
        options.named_columns(asked.targets, present),
        features=options.named_columns(asked.features, present),
        drop=options.named_columns(asked.drop, present),
        id_column=_plain(roles.id_column),
        group=_plain(roles.group),
        time=_plain(roles.time),
        reviewed=_plain(roles.reviewed),
        keep_time=roles.keep_time,
    )
    assumed = [*frame.attrs["notes"], *task.plan.notes]
    with at_work(LOOKING, asked.telling.silent):
        looks = task.findings
    if n := int(task.contradicted.sum()):
        rows = (
            "1 row whose inputs contradict each other does"
            if n == 1
            else (f"{n:,} rows whose inputs contradict each other do")
        )
        assumed.append(f"{rows} not teach the model")
    if not asked.telling.json:
        notes([*assumed, *short_look(looks)], asked.telling.quiet)
    return task, assumed, looks


def _plain(name: str | None) -> str | None:
    return None if name is None else " ".join(name.split())


def _require_libraries(places: Sequence[Path | None]) -> None:
    """Raise before the fit, and not after it, where what writes a file is not installed."""
    for place, library in zip(places, ("skops", "plotly", "pandas"), strict=True):
        if place is not None and find_spec(library) is None:
            raise ImportError(f"{place} needs {library}: pip install 'robustscn[cli]'")


def _next(asked: Asked) -> str:
    if asked.files.places()[0] is None:
        return "give --model FILE to keep the model"
    example = "NEW.csv" if asked.data == "-" else shlex.quote(asked.data)
    return f"robustscn predict {shlex.quote(asked.files.model)} {example}"


def _command(asked: Asked, task: Task, settings: Settings) -> str:
    """Return a command that makes this fit again."""
    words = ["robustscn", "fit", asked.data]
    for name in task.targets.names:
        words += ["--target", name]
    if asked.features is not None:
        for name in task.features:
            words += ["--features", name]
    for name in asked.drop or ():
        words += ["--drop", name]
    for name, value in asked.reading.keywords().items():
        if name != "max_size":
            for each in value if isinstance(value, tuple) else (value,):
                words += [] if each is None else [f"--{name.replace('_', '-')}={each}"]
    words += ["--keep-time"] * asked.roles.keep_time
    by = (
        ("--id", task.id_column),
        ("--group", task.group),
        ("--time", task.time),
        ("--reviewed", task.reviewed),
    )
    for option, column in by:
        words += [option, column] if column else []
    for name, value in asdict(settings).items():
        if value != getattr(Settings(), name) or name == "seed":
            words += [f"--{name}", str(value)]
    return shlex.join(words)
