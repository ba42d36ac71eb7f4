"""`robustscn fit --dask`: tables larger than memory, on a cluster of processes.

What columns are is told from rows of many parts of the table, as many as fit; each part is then
made into numbers, and learned from, where it lies. The model that is written is the ordinary
one. Only what has one number for each row, and suspect rows, come to this machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables import TableError, table_pipeline, targets_of
from .holdout import robust_error
from .learning import LEFT_OUT, Task, task_of
from .messages import UnusableError
from .options import named_columns
from .progress import FitProgress, ending_by_interrupt
from .settings import Settings, Transformation
from .spreadsheets import legible
from .writing import Writer, table_writer, write_all

if TYPE_CHECKING:
    import pandas as pd

LOOKED_AT_PARTS, LOOKED_AT_ROWS = 32, 100_000
"""Parts of the table, and rows of them all, from which kinds of columns are told."""

ANSWER_SECONDS = 10
"""How long a scheduler is waited for."""


def refuse_what_needs_memory(data: str, columns: Iterable[str | None]) -> None:
    """Raise where options do not go together with `--dask`, before anything is started.

    Parameters
    ----------
    data : str
        The table.
    columns : iterable of str or None
        Those of the hold-out, and of answers about rows.
    """
    if not all(find_spec(library) for library in ("dask", "distributed", "pyarrow")):
        raise ImportError("--dask needs Dask: pip install 'robustscn[cli,dask]'")
    if any(column is not None for column in columns):
        raise UnusableError(
            "--group, --time and --reviewed need the table in memory: leave them out, or --dask"
        )
    if data == "-" or not data.endswith((".parquet", ".parq", ".pq", "*", "/")):
        raise UnusableError(
            "--dask reads Parquet, one file or several: give a path or a pattern in quotes, such "
            "as 'part-*.parquet'"
        )
    if "://" not in data and not glob(data):
        raise UnusableError(f"there is no file {data}: check the path or the pattern")


@contextmanager
def connected(scheduler: str | None) -> Iterator[Any]:
    """Connect to a cluster, or start one with a process for each core of this machine.

    Parameters
    ----------
    scheduler : str or None
        Address of a running scheduler.

    Yields
    ------
    distributed.Client
        The connection; closed at the end, with the cluster if it was started here.
    """
    from distributed import Client, LocalCluster

    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=ANSWER_SECONDS)
        except (OSError, ValueError) as error:
            raise UnusableError(
                f"no Dask scheduler answers at {scheduler}: check the address, such as "
                "tcp://127.0.0.1:8786"
            ) from error
        with client:
            yield client
        return
    # Numbers are crunched without the interpreter's lock only in part: processes, not threads.
    with (
        LocalCluster(
            n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def fit_on_cluster(
    scheduler: str | None,
    data: str,
    asked: dict[str, list[str] | None],
    settings: Settings,
    places: Sequence[Path | None],
    quiet: bool,
) -> dict[str, Any]:
    """Fit a model, write it and the suspect rows, and return what it came to.

    Parameters
    ----------
    scheduler : str or None
        Address of a running cluster; None starts one.
    data : str
        Parquet files.
    asked : dict
        `targets`, `features` and `drop`: columns as the user names them.
    settings : Settings
        Of the estimator.
    places : sequence of Path or None
        Of model, page and list of suspects; there is no page.
    quiet : bool
        Whether to draw no progress bar.

    Returns
    -------
    dict
        As of a fit in memory.
    """
    import dask.dataframe as dd

    with connected(scheduler) as client:
        frame = dd.read_parquet(data)
        named = {k: named_columns(v, list(frame.columns)) for k, v in asked.items()}
        task = task_of(
            _looked_at(frame), named["targets"], features=named["features"], drop=named["drop"]
        )
        pipeline = table_pipeline(
            task.frame, task.features, _estimator(settings, client), plan=task.plan
        )
        columns, model = (step for _, step in pipeline.steps)
        X, y, known = _numbers(frame, task, columns.fit(task.frame[task.features]))
        seconds = _fitted(model, X, y, quiet)
        has_target = known.compute()
        facts = _facts(task, model, has_target) | {"fit_seconds": round(seconds, 3)}
        suspects = _suspects(model, task, np.flatnonzero(has_target) + 1)
        pipeline.steps[-1] = ("model", model.to_local())
        files = _written(places, pipeline, _info(task, facts, data), suspects)
    told = f"kinds of columns were told from {len(task.frame):,} rows"
    page = ["no page is written with --dask: it shows all rows"] if places[1] else []
    return facts | {"files": files, "notes": [*task.plan.notes, told, *page]}


def _fitted(model: Any, X: Any, y: Any, quiet: bool) -> float:
    """Fit and return the seconds it took."""
    began = time.perf_counter()
    progress = FitProgress("fit", quiet)
    if hasattr(model, "set_callbacks"):
        model.set_callbacks(progress)
    with ending_by_interrupt(progress):
        model.fit(X, y)
    return time.perf_counter() - began


def _info(task: Task, facts: dict[str, Any], data: str) -> dict[str, Any]:
    """Return what is kept beside the model."""
    return {
        "targets": list(task.targets.names),
        "features": task.features,
        "held_out": facts["held_out"],
        "rows": facts["rows"],
        "source": Path(data).name,
    }


def _looked_at(frame: Any) -> pd.DataFrame:
    """Return some rows of parts spread over the table."""
    import dask
    import pandas as pd

    count = min(frame.npartitions, LOOKED_AT_PARTS)
    chosen = np.unique(np.linspace(0, frame.npartitions - 1, count).astype(int))
    parts = [frame.partitions[int(number)] for number in chosen]
    heads = [part.head(LOOKED_AT_ROWS // count, npartitions=1, compute=False) for part in parts]
    rows = pd.concat(dask.compute(*heads), ignore_index=True)
    if rows.empty:
        raise TableError("the parts of the table that were looked at have no rows")
    return rows


def _estimator(settings: Settings, client: Any) -> Any:
    from ..dask import DaskRobustSCNRegressor

    plain = replace(settings, transform=Transformation.NONE)
    local = plain.estimator().get_params(deep=False)
    return DaskRobustSCNRegressor(**local | {"n_jobs": 1, "client": client})


def _numbers(frame: Any, task: Task, step: Any) -> tuple[Any, Any, Any]:
    """Return inputs and targets as lazy arrays, and which rows have all targets."""
    import dask
    import dask.array as da

    width = step.transform(task.frame[task.features].iloc[:1]).shape[1]
    names = list(task.targets.names)
    read = dask.delayed(_read_part, nout=3)
    shared = dask.delayed((step, task.features, names, width), traverse=False)
    parts = [read(part, shared) for part in frame[[*task.features, *names]].to_delayed()]
    shapes = ((np.nan, width), (np.nan, len(names))[: 1 + (len(names) > 1)], (np.nan,))
    dtypes = (np.float64, np.float64, np.bool_)

    def joined(which: int) -> Any:
        arrays = [da.from_delayed(p[which], shapes[which], dtypes[which]) for p in parts]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)

    return joined(0), joined(1), joined(2)


def _read_part(
    frame: pd.DataFrame, shared: tuple[Any, list[str], list[str], int]
) -> tuple[Any, ...]:
    """Return one part as numbers; runs on a worker."""
    step, features, names, width = shared
    found = targets_of(frame, names, to_learn=False)
    kept = frame[features][found.known]
    X = step.transform(kept) if len(kept) else np.empty((0, width))
    return np.asarray(X, dtype=np.float64), found.values, found.known


def _facts(task: Task, model: Any, known: Any) -> dict[str, Any]:
    import dask

    residuals, outliers, probability = dask.compute(
        model.residuals_, model.outliers_, model.outlier_probability_
    )
    flagged, names = int(outliers.sum()), task.targets.names
    kinds = ("numbers", "categories", "dates", "left_out")
    plan = asdict(task.plan)
    return {
        "rows": len(outliers),
        "rows_without_target": int((~known).sum()),
        "targets": list(names),
        "columns": {kind: list(plan[kind]) for kind in kinds},
        "held_out": robust_error(residuals, LEFT_OUT, ~outliers).facts(names),
        "flagged_rows": flagged,
        "flagged_share": flagged / len(outliers),
        "maybe_right": round(float((1.0 - probability[outliers]).sum())),
        "estimated_wrong_share": float(model.estimated_outlier_share_),
        "stop_reason": model.stop_reason_,
    }


def _suspects(model: Any, task: Task, numbers: Any) -> pd.DataFrame:
    table = model.outlier_table(index=numbers)
    if "output" in table:
        table["output"] = [task.targets.names[number] for number in table["output"]]
    return table.set_index("row")


def _written(
    places: Sequence[Path | None], pipeline: Any, info: dict[str, Any], suspects: pd.DataFrame
) -> dict[str, int]:
    from ..persistence import save

    model, _, listed = places
    writers: dict[Path, Writer] = {}
    if model is not None:
        writers[model] = lambda path: save(pipeline, path, info=info)
    if listed is not None:
        writers[listed] = table_writer(legible(suspects))
    return write_all(writers)
