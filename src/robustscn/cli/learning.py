"""From a table to a model and what can be said of it; the work behind `robustscn fit`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from numpy.typing import NDArray

from ..looks import Finding, Order, look, order_of
from ..tables import (
    Plan,
    TableError,
    Targets,
    plan_columns,
    require_columns,
    reviews_of,
    table_pipeline,
    targets_of,
    without_row_names,
)
from ..tables.targets import FEWEST_ROWS
from .holdout import HeldOutError, held_out_end, held_out_groups, robust_error
from .messages import LOOKING, at_work
from .progress import FitProgress, ending_by_interrupt
from .settings import Settings, Transformation, telling

if TYPE_CHECKING:
    import pandas as pd

FEWEST_GROUPS = 8
"""Groups from which on rows are judged without their group. By argument: of fewer a fold would hold
one or two, and what is judged without them is another relation."""

MOST_CONTRADICTED = 0.3
"""Share of rows that may be kept from teaching because inputs contradict each other. By argument:
beyond it what contradicts may be the rule."""

LEFT_OUT = "each row predicted by models that had not seen it"


@dataclass(frozen=True)
class Task:
    """What is to be learned from what.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows that have all targets.
    targets : Targets
        What is to be learned.
    plan : Plan
        From which columns.
    group, time : str or None
        Column that the hold-out goes by.
    id_column : str or None
        Column that names the rows; the index of the frame holds its values.
    reviewed : str or None
        Column in which people have answered whether rows are right.
    looked : bool, default=True
        Whether rows whose inputs contradict each other are looked for.
    """

    frame: pd.DataFrame
    targets: Targets
    plan: Plan
    group: str | None = None
    time: str | None = None
    id_column: str | None = None
    reviewed: str | None = None
    looked: bool = True

    @cached_property
    def trusted(self) -> NDArray[np.bool_] | None:
        """Which rows are known to be right; None where none is."""
        if self.reviewed is None:
            return None
        _, fine = reviews_of(self.frame, self.reviewed)
        return fine if fine.any() else None

    @cached_property
    def findings(self) -> list[Finding]:
        """What is odd about the columns, targets first."""
        units = self.frame.attrs.get("reading", {}).get("units", {})
        names = self.targets.names
        if not self.looked:
            return []
        return look(self.frame, self.plan.numbers, names, order=self.order, units=units)

    @cached_property
    def contradicted(self) -> NDArray[np.bool_]:
        """Which rows have inputs that contradict each other, if they are few enough."""
        rows = np.zeros(len(self.frame), dtype=bool)
        for each in self.findings:
            if each.contradicts:
                rows[each.rows] = True
        return rows if rows.mean() <= MOST_CONTRADICTED else np.zeros_like(rows)

    @cached_property
    def told(self) -> dict[str, NDArray[Any]]:
        """What the fit is told of the rows beyond inputs and targets."""
        told: dict[str, NDArray[Any]] = {}
        if self.trusted is not None:
            told["trusted"] = self.trusted
        if self.contradicted.any():
            told["sample_weight"] = np.where(self.contradicted, 0.0, 1.0)
        if self.group is not None:
            groups = self.frame[self.group].astype(str).to_numpy()
            if len(np.unique(groups)) >= FEWEST_GROUPS:
                told["groups"] = groups
        return told

    @property
    def features(self) -> list[str]:
        """The columns that are learned from."""
        return list(self.plan.used)

    @cached_property
    def order(self) -> Order:
        """In which order the rows were measured."""
        return order_of(self.frame, self.time)


@dataclass(frozen=True)
class Learned:
    """A model and its error on rows it had not seen.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Fitted on all rows.
    held_out : HeldOutError or None
        None where an interrupt left no time for it.
    seconds : float
        How long the fit took.
    """

    pipeline: Any
    held_out: HeldOutError | None
    seconds: float

    @property
    def model(self) -> Any:
        """The estimator at the end of the pipeline."""
        return self.pipeline.named_steps["model"]


def task_of(
    frame: pd.DataFrame,
    targets: Sequence[str],
    *,
    features: Sequence[str] = (),
    drop: Sequence[str] = (),
    id_column: str | None = None,
    group: str | None = None,
    time: str | None = None,
    reviewed: str | None = None,
    keep_time: bool = False,
) -> Task:
    """Return what is to be learned, with everything checked that can be.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    targets, features, drop : sequences of str
        Columns to learn, to learn from (none means all others), and to leave out.
    id_column : str or None
        Column that names the rows; not learned from.
    group, time : str or None
        Column that the hold-out goes by; not learned from unless it is among the features.
    reviewed : str or None
        Column that calls rows wrong, which are not learned from, or fine, which are believed.
    keep_time : bool, default=False
        Whether columns that tell which row it is are learned from where no features are named.

    Returns
    -------
    Task
        Rows, targets and the plan of columns.
    """
    if not targets:
        raise TableError("no target is named: say which column to learn with --target")
    by = [name for name in (id_column, group, time, reviewed) if name is not None]
    require_columns([*targets, *features, *drop, *by], frame.columns, "the table")
    if both := [name for name in (*features, *by) if name in targets]:
        raise TableError(f"{both[0]!r} is a target and cannot be learned from: leave it out")
    aside = {*targets, *drop, *by}
    chosen = [name for name in features if name not in drop] or [
        name for name in frame.columns if name not in aside
    ]
    if not chosen:
        raise TableError("no column is left to learn from: the table needs more than the target")
    wrong = None if reviewed is None else reviews_of(frame, reviewed)[0]
    found = targets_of(frame, targets, wrong=wrong)
    known = frame[found.known]
    plan = plan_columns(known, chosen)
    if not features and not keep_time:
        plan = without_row_names(known, plan, found.values)
    if id_column is not None:
        known = named_by(known, id_column)
    return Task(known, found, plan, group, time, id_column, reviewed)


def named_by(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a table whose rows are called what a column of it says.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    column : str
        Its column of names.

    Returns
    -------
    pandas.DataFrame
        The same rows.
    """
    import pandas as pd

    attrs = frame.attrs
    named = frame.set_axis(pd.Index(frame[column].to_numpy(), name=column), axis=0)
    named.attrs = attrs
    return named


def learned(task: Task, settings: Settings, quiet: bool) -> Learned:
    """Fit the model, and find its error on rows it has not seen.

    Parameters
    ----------
    task : Task
        What to learn.
    settings : Settings
        How.
    quiet : bool
        Whether to draw no progress bar.

    Returns
    -------
    Learned
        The model and its error.
    """
    kept_back = _kept_back(task, settings.seed)
    began = time.perf_counter()
    pipeline, ended = _fitted(task, settings, np.ones(len(task.frame), dtype=bool), quiet)
    seconds = time.perf_counter() - began
    if ended:
        _ask_whether_to_keep()
    if kept_back is None:
        model = pipeline.named_steps["model"]
        error = robust_error(np.asarray(model.residuals_), LEFT_OUT, ~np.asarray(model.outliers_))
        return Learned(pipeline, error, seconds)
    if ended:
        return Learned(pipeline, None, seconds)
    chosen, how = kept_back
    settings = replace(settings, transform=Transformation(transform_of(pipeline)))
    judge, ended = _fitted(task, settings, ~chosen, quiet, label="hold-out")
    if ended:
        _ask_whether_to_keep()
        return Learned(pipeline, None, seconds)
    predicted = judge.predict(task.frame[task.features][chosen])
    return Learned(pipeline, robust_error(task.targets.values[chosen] - predicted, how), seconds)


def _kept_back(task: Task, seed: int) -> tuple[Any, str] | None:
    if task.group is not None:
        chosen, how = held_out_groups(task.frame[task.group], seed)
    elif task.time is not None:
        chosen, how = held_out_end(task.frame[task.time])
    else:
        return None
    if (n_left := int((~chosen).sum())) < FEWEST_ROWS:
        raise TableError(
            f"{n_left} rows would be left when {how} are held out, at least {FEWEST_ROWS} are "
            "needed: leave out --group and --time"
        )
    return chosen, how


def _fitted(
    task: Task, settings: Settings, rows: Any, quiet: bool, label: str = "fit"
) -> tuple[Any, bool]:
    """Return the pipeline fitted on these rows, and whether it was ended early."""
    progress = FitProgress(label, quiet)
    estimator = settings.estimator(progress)
    frame = task.frame[task.features]
    pipeline = table_pipeline(frame, task.features, estimator, plan=task.plan)
    everything = bool(rows.all())
    with at_work(LOOKING, quiet):
        told = task.told
    with ending_by_interrupt(progress):
        pipeline.fit(
            frame if everything else frame[rows],
            task.targets.values if everything else task.targets.values[rows],
            **{f"model__{name}": column[rows] for name, column in told.items()},
        )
    _silenced(estimator)  # a bar is no part of the model
    if getattr(estimator, "transformation_", None) == "none":
        # Targets as they are: the model is what learned them, which can also go on learning.
        pipeline.steps[-1] = (pipeline.steps[-1][0], estimator.estimator_)
    return pipeline, progress.end


def transform_of(pipeline: Any) -> str:
    """Return what a fitted pipeline has learned of its targets."""
    return getattr(pipeline.named_steps["model"], "transformation_", "none")


def _silenced(estimator: Any) -> None:
    """Take callbacks from an estimator and from those inside it."""
    telling(estimator, ())
    for name in ("estimator", "estimator_", "networks", "networks_"):
        if hasattr(inner := getattr(estimator, name, None), "fit"):
            _silenced(inner)


def _ask_whether_to_keep() -> None:
    """Ask on a terminal; elsewhere an interrupt keeps nothing."""
    asked = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if not asked or not typer.confirm("Keep the model so far?", default=True, err=True):
        raise KeyboardInterrupt
