"""`robustscn fit`: one command from a table to a model, a list of suspects and a page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..looks import Finding, Order
from ..tables import read_table
from . import options
from .check import short_look
from .cluster import fit_on_cluster, refuse_what_needs_memory
from .config import from_config
from .episodes import episode_rows, fit_episodes
from .first_look import first_look
from .learning import Learned, Learner, Settings, Task, Transformation, learned, task_of
from .messages import notes, print_json
from .outside import seen_in
from .summary import facts_of, print_summary
from .writing import Writer, check_outputs, output_path, table_writer, write_all

if TYPE_CHECKING:
    import pandas as pd

Columns = list[str] | None
C, F, N = "COLUMN", "FILE", "N"


@dataclass(frozen=True)
class Files:
    """Files that are written; 'none' writes none.

    Parameters
    ----------
    model, report, outliers : str
        The model, the page, the suspect rows.
    episodes : str or None
        Stretches that went wrong; None is their usual name, or none where `outliers` was given.
    """

    model: Annotated[
        str, typer.Option("--model", "-m", metavar=F, help="Model; 'none' writes none.")
    ] = "model.skops"
    report: Annotated[
        str, typer.Option("--report", metavar=F, help="Page to show; 'none' writes none.")
    ] = "report.html"
    outliers: Annotated[
        str, typer.Option("--outliers", metavar=F, help="Suspect rows; 'none' writes none.")
    ] = "outliers.csv"
    episodes: Annotated[
        str | None,
        typer.Option(
            "--episodes",
            metavar=F,
            help="Stretches that went wrong; else episodes.csv, or none where --outliers is given.",
        ),
    ] = None

    def places(self) -> list[Path | None]:
        """Return where the model, the page and the suspect rows go."""
        return [output_path(given) for given in (self.model, self.report, self.outliers)]

    def stretches(self) -> Path | None:
        """Return where the episodes go."""
        usual = "episodes.csv" if self.outliers == "outliers.csv" else "none"
        return output_path(usual if self.episodes is None else self.episodes)


@dataclass(frozen=True)
class Roles:
    """Columns that are more than numbers to learn from.

    Parameters
    ----------
    id_column, group, time : str or None
        What names the rows; whose groups, or whose last fifth, are held out.
    reviewed : str or None
        What people have answered about the rows.
    keep_time : bool
        Whether dates, counters and ids are learned from too.
    """

    id_column: Annotated[
        str | None, typer.Option("--id", metavar=C, help="Names the rows; else the file's line.")
    ] = None
    group: Annotated[
        str | None,
        typer.Option(
            "--group", metavar=C, help="Judge rows without their group of it, and hold out some."
        ),
    ] = None
    time: Annotated[
        str | None, typer.Option("--time", metavar=C, help="Hold out the last fifth by it.")
    ] = None
    reviewed: Annotated[
        str | None,
        typer.Option(
            "--reviewed",
            metavar=C,
            help="Says 'wrong' (not learned from), 'fine' (believed) or nothing of each row.",
        ),
    ] = None
    keep_time: Annotated[
        bool, typer.Option("--keep-time", help="Learn from dates, counters and ids too.")
    ] = False


@dataclass(frozen=True)
class Size:
    """How much is fitted.

    Parameters
    ----------
    networks, nodes, rounds : int
        As `n_networks`, `max_nodes`, `n_rounds` of `RobustSCNRegressor`.
    seed : int
        Seed of all draws.
    learner : Learner
        What learns.
    transform : Transformation
        What is learned of the target.
    """

    networks: Annotated[
        int, typer.Option(min=2, metavar=N, help="Networks that judge together.")
    ] = Settings.networks
    nodes: Annotated[int, typer.Option(min=1, metavar=N, help="Most nodes of each network.")] = (
        Settings.nodes
    )
    rounds: Annotated[
        int, typer.Option(min=1, metavar=N, help="Rounds of judging rows, before the second look.")
    ] = Settings.rounds
    seed: options.Seed = Settings.seed
    learner: Annotated[
        Learner,
        typer.Option(
            help="Networks; trees, good at steps and categories; or both, which takes longer."
        ),
    ] = Settings.learner
    transform: Annotated[
        Transformation,
        typer.Option(
            help="Learn the target's logarithm or square root: auto does where its noise grows "
            "with it."
        ),
    ] = Settings.transform

    def settings(self) -> Settings:
        """Return them as settings of the estimator."""
        return Settings(
            self.networks, self.nodes, self.rounds, self.seed, self.learner, self.transform
        )


@options.command
def fit(
    data: options.Data,
    target: Annotated[
        list[str],
        typer.Option("--target", "-t", metavar=C, help="Column to learn; again for more."),
    ],
    features: Annotated[
        Columns,
        typer.Option("--features", "-f", metavar=C, help="Columns to learn from; else all others."),
    ] = None,
    drop: Annotated[Columns, typer.Option("--drop", metavar=C, help="Left out.")] = None,
    *,
    files: Files,
    roles: Roles,
    size: Size,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="FILE",
            is_eager=True,
            callback=from_config,
            help="TOML with settings by their long names, for what is not typed.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Read and check only; fit and write nothing.")
    ] = False,
    dask: Annotated[
        bool, typer.Option("--dask", help="Parquet larger than memory, on a process for each core.")
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Use this Dask cluster instead."),
    ] = None,
    reading: options.Reading,
    telling: options.Telling,
) -> None:
    """Learn a target from a table of which some rows are wrong.

    Writes the model, a list of the rows that were distrusted and a page that shows all of it.

    For example:

        robustscn fit measurements.csv --target size

        robustscn fit log.parquet -t size -t power --time timestamp

        zcat log.csv.gz | robustscn fit - --target size --report none --json

        robustscn fit 'part-*.parquet' --target size --dask

        robustscn fit --config mill.toml
    """
    del config  # its settings have taken the place of what was not typed
    places = files.places()
    if roles.group is not None and roles.time is not None:
        raise typer.BadParameter("give --group or --time, not both")
    asked = {"targets": target, "features": features, "drop": drop}
    if dask or scheduler is not None:
        if check:
            raise typer.BadParameter("--check needs the table in memory, not --dask")
        facts = _fit_on_cluster(data, asked, files, roles, size, reading, telling, scheduler)
    elif check:
        _say_checked(*_prepared(data, asked, roles, reading, telling)[:2], telling.json)
        return
    else:
        facts = _fit_in_memory(data, asked, files, roles, size, reading, telling)
    _say(facts, telling.json, _next(data, files.model, places))


def _prepared(
    data: str,
    asked: dict[str, Columns],
    roles: Roles,
    reading: options.Reading,
    telling: options.Telling,
) -> tuple[Task, list[str], list[Finding]]:
    """Return what is to be learned, what was assumed on the way, and what is odd about columns."""
    frame = read_table(data, **reading.keywords())
    present = list(frame.columns)
    task = task_of(
        frame,
        options.named_columns(asked["targets"], present),
        features=options.named_columns(asked["features"], present),
        drop=options.named_columns(asked["drop"], present),
        id_column=_plain(roles.id_column),
        group=_plain(roles.group),
        time=_plain(roles.time),
        reviewed=_plain(roles.reviewed),
        keep_time=roles.keep_time,
    )
    assumed = [*frame.attrs["notes"], *task.plan.notes]
    looks = task.findings
    if n := int(task.contradicted.sum()):
        assumed.append(f"{n:,} rows whose inputs contradict each other do not teach the model")
    if not telling.json:
        notes([*assumed, *short_look(looks)], telling.quiet)
    return task, assumed, looks


def _fit_on_cluster(
    data: str,
    asked: dict[str, Columns],
    files: Files,
    roles: Roles,
    size: Size,
    reading: options.Reading,
    telling: options.Telling,
    scheduler: str | None,
) -> dict[str, Any]:
    """Fit where the rows are, write all files, and return what can be said of it."""
    reading.keywords()  # what is given must make sense, whether it is needed or not
    if size.learner is not Learner.NETWORKS:
        raise typer.BadParameter("on a cluster only networks learn: leave out --learner")
    if size.transform in (Transformation.LOG, Transformation.SQRT):
        raise typer.BadParameter("on a cluster targets are learned as they are: --transform none")
    refuse_what_needs_memory(data, (roles.group, roles.time, roles.reviewed))
    places = files.places()
    check_outputs(places, [data])
    facts = fit_on_cluster(scheduler, data, asked, size.settings(), places, telling.silent)
    if not telling.json:
        notes(facts["notes"], telling.quiet)
    return facts


def _fit_in_memory(
    data: str,
    asked: dict[str, Columns],
    files: Files,
    roles: Roles,
    size: Size,
    reading: options.Reading,
    telling: options.Telling,
) -> dict[str, Any]:
    """Fit, write all files, and return what can be said of it."""
    places, stretches, settings = files.places(), files.stretches(), size.settings()
    check_outputs([*places, stretches], [data])
    _require_libraries(places)
    task, assumed, looks = _prepared(data, asked, roles, reading, telling)
    if not (telling.json or telling.quiet):
        notes(first_look(task, settings), telling.quiet)
    outcome = learned(task, settings, telling.silent)
    chosen = asked["features"] is not None
    how = reading.keywords()
    command = _command(data, task, settings, chosen, asked["drop"], how, roles.keep_time)
    writers = fit_writers(places, task, outcome, source=data, command=command)
    found = fit_episodes(outcome.model, task)
    if stretches is not None:
        writers[stretches] = table_writer(episode_rows(found))
    return facts_of(task, outcome, write_all(writers), assumed, found, looks)


def _say(facts: dict[str, Any], json: bool, next_command: str) -> None:
    if json:
        print_json(facts)
    else:
        print_summary(facts, next_command)


def _require_libraries(places: Sequence[Path | None]) -> None:
    """Raise before the fit, and not after it, where what writes a file is not installed."""
    for place, library in zip(places, ("skops", "plotly", "pandas"), strict=True):
        if place is not None and find_spec(library) is None:
            raise ImportError(f"{place} needs {library}: pip install 'robustscn[cli]'")


def _next(data: str, model: str, places: Sequence[Path | None]) -> str:
    if places[0] is None:
        return "give --model FILE to keep the model"
    example = "NEW.csv" if data == "-" else shlex.quote(data)
    return f"robustscn predict {shlex.quote(model)} {example}"


def _plain(name: str | None) -> str | None:
    return None if name is None else " ".join(name.split())


def _say_checked(task: Task, assumed: list[str], json: bool) -> None:
    facts = {
        "rows": len(task.frame),
        "rows_without_target": task.targets.n_missing,
        "rows_known_wrong": task.targets.n_wrong,
        "targets": list(task.targets.names),
        "features": task.features,
        "left_out": list(task.plan.left_out),
        "notes": assumed,
    }
    if json:
        print_json(facts)
    else:
        print(
            f"the table can be learned from: {facts['rows']:,} rows, "
            f"{len(task.features):,} columns; nothing was fitted or written"
        )


def _command(
    data: str,
    task: Task,
    settings: Settings,
    chosen: bool,
    drop: Sequence[str] | None,
    reading: dict[str, Any],
    keep_time: bool,
) -> str:
    """Return a command that makes this fit again."""
    words = ["robustscn", "fit", data]
    for name in task.targets.names:
        words += ["--target", name]
    if chosen:
        for name in task.features:
            words += ["--features", name]
    for name in drop or ():
        words += ["--drop", name]
    for name, value in reading.items():
        if name != "max_size":
            for each in value if isinstance(value, tuple) else (value,):
                words += [] if each is None else [f"--{name.replace('_', '-')}={each}"]
    words += ["--keep-time"] * keep_time
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


def fit_writers(
    places: Sequence[Path | None], task: Task, fit: Learned, *, source: str, command: str
) -> dict[Path, Writer]:
    """Return what writes the model, the page and the list of suspects.

    Parameters
    ----------
    places : sequence of Path or None
        Of model, page and list; None writes none.
    task : Task
        What was learned.
    fit : Learned
        The model.
    source : str
        Where the table came from.
    command : str
        The command that makes it again.

    Returns
    -------
    dict
        Place and writer of each file.
    """
    from ..persistence import save

    held_out = None if fit.held_out is None else fit.held_out.facts(task.targets.names)
    info = {
        "targets": list(task.targets.names),
        "features": task.features,
        "time": task.time,
        "group": task.group,
        "id": task.id_column,
        "reviewed": task.reviewed,
        "when": task.order.column,
        "held_out": held_out,
        "rows": len(task.frame),
        "reading": task.frame.attrs.get("reading", {}),
        "seen": seen_in(task.frame, task.plan, ~np.asarray(fit.model.outliers_)),
        "source": "standard input" if source == "-" else Path(source).name,
        "command": command,
    }
    model, page, suspects = places
    writers: dict[Path, Writer] = {}
    if model is not None:
        writers[model] = lambda path: save(fit.pipeline, path, info=info)
    if page is not None:
        writers[page] = report_writer(fit.pipeline, task.frame, info, task.findings)
    if suspects is not None:
        writers[suspects] = table_writer(suspect_rows(fit.model, task))
    return writers


def report_writer(
    pipeline: Any,
    frame: pd.DataFrame,
    info: dict[str, Any],
    findings: Sequence[Finding] | None = None,
) -> Writer:
    """Return what writes the page about a fit.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Fitted.
    frame : pandas.DataFrame
        The rows it was fitted on.
    info : dict
        What is kept beside the model.
    findings : sequence of Finding or None
        What is odd about the columns; None looks at them.

    Returns
    -------
    callable
        To be given the path.
    """
    from ..report import record_of, write_report

    def write(path: Path) -> None:
        record = record_of(
            pipeline,
            frame,
            targets=info["targets"],
            features=info["features"],
            time=info.get("time") or info.get("when") or None,
            held_out=_flat(info.get("held_out")),
            source=info.get("source"),
            command=info.get("command"),
            findings=findings,
        )
        write_report(record, path)

    return write


def _flat(held_out: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return facts of which each is one number or text."""
    if held_out is None:
        return None
    return {
        name: ", ".join(f"{v:.4g} ({k})" for k, v in value.items())
        if isinstance(value, dict)
        else value
        for name, value in held_out.items()
    }


def suspect_rows(model: Any, task: Task) -> pd.DataFrame:
    """Return the rows that a fit distrusted, the strangest first.

    Parameters
    ----------
    model : RobustSCNRegressor
        Fitted.
    task : Task
        What it was fitted on.

    Returns
    -------
    pandas.DataFrame
        Indexed by the line or row of the file.
    """
    return suspect_table(model, task.frame.index, task.targets.names, task.order)


def suspect_table(
    model: Any, names: pd.Index, targets: Sequence[str], order: Order
) -> pd.DataFrame:
    """Return the rows that a model distrusted when it was made, under their names.

    Parameters
    ----------
    model : RobustSCNRegressor
        Fitted.
    names : pandas.Index
        Of the rows it was fitted on.
    targets : sequence of str
        Names of the targets.
    order : Order
        When the rows were measured, where that is known.

    Returns
    -------
    pandas.DataFrame
        The strangest first.
    """
    table = model.outlier_table()
    rows = table["row"].to_numpy()
    table["row"] = names[rows]
    if order.moments is not None:
        table.insert(1, order.column, [order.moment(row) for row in rows])
    if "output" in table:
        table["output"] = [targets[number] for number in table["output"]]
    return table.set_index("row").rename_axis(names.name)
