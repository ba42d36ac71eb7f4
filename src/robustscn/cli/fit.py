"""`robustscn fit`: one command from a table to a model, a list of suspects and a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .config import from_config
from .settings import Learner, Settings, Transformation
from .writing import output_path

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
        str, typer.Option("--outliers", metavar=F, help="Flagged rows; 'none' writes none.")
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


@dataclass(frozen=True)
class Asked:
    """What was typed.

    Parameters
    ----------
    data : str
        The table.
    targets : list of str
        Columns to learn.
    features, drop : list of str or None
        Columns to learn from, and to leave out.
    files : Files
        What is written.
    roles : Roles
        Columns that are more than numbers.
    size : Size
        How much is fitted.
    reading : Reading
        How the table is written.
    telling : Telling
        What is said.
    """

    data: str
    targets: list[str]
    features: Columns
    drop: Columns
    files: Files
    roles: Roles
    size: Size
    reading: options.Reading
    telling: options.Telling


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

    Writes the model, a list of the flagged rows and a page that shows all of it.

    For example:

        robustscn fit measurements.csv --target size

        robustscn fit log.parquet -t size -t power --time timestamp

        zcat log.csv.gz | robustscn fit - --target size --report none --json

        robustscn fit 'part-*.parquet' --target size --dask

        robustscn fit --config mill.toml
    """
    del config  # its settings have taken the place of what was not typed
    from . import fitting  # what it needs takes a second to load, which help need not wait for

    if roles.group is not None and roles.time is not None:
        raise typer.BadParameter("give --group or --time, not both")
    asked = Asked(data, target, features, drop, files, roles, size, reading, telling)
    if dask or scheduler is not None:
        if check:
            raise typer.BadParameter("--check needs the table in memory, not --dask")
        fitting.said(asked, fitting.fitted_on_cluster(asked, scheduler))
    elif check:
        fitting.only_checked(asked)
    else:
        fitting.said(asked, fitting.fitted_in_memory(asked))
