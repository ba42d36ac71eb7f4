"""What a fit writes: the model, the page, the list of suspects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..looks import Finding, Order
from .learning import Learned, Task
from .outside import seen_in
from .spreadsheets import legible
from .writing import Writer, table_writer

if TYPE_CHECKING:
    import pandas as pd


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
        writers[suspects] = table_writer(legible(suspect_rows(fit.model, task)))
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
