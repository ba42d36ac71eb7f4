"""What there is to say about a fit, as plain data.

The model and the training rows go in; numbers, names and short arrays come out. Counts,
histograms and stretches are of all rows; single rows are kept up to `MOST_POINTS`, suspect ones
first. Nothing here knows HTML or Plotly.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..judgement import Judgement, fitted_model, judgement_of, plausible_of
from ..looks import Episode, Finding, Order, episodes_of, look, order_of, with_causes
from ..tables.columns import as_numbers
from .columns import column_of
from .dependence import Inputs, inputs_of
from .paths import ErrorPath, paths_of
from .points import Points, Stretches, points_of, stretches_of
from .sparks import spark

if TYPE_CHECKING:
    import pandas as pd

FARTHEST = 10.0
"""Robust standard deviations beyond which the histogram counts rows together."""

COVERAGE = 0.9
"""Share of clean targets within what a page calls plausible: as `predict_interval` by default."""

BINS = 80
MOST_PICTURES = 12
PACKAGES = ("robustscn", "numpy", "scikit-learn", "pandas", "plotly")

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Target:
    """One target over all rows.

    Parameters
    ----------
    name : str
        Its column.
    scale : float
        One robust standard deviation of the residuals.
    median_error : float
        Median absolute residual.
    counts : array of shape (BINS,)
        Rows in each bin of residuals from -FARTHEST to FARTHEST standard deviations; the first
        and the last also count what is beyond.
    weights : array of shape (BINS,)
        Median inlier weight of those rows; NaN where there are none.
    """

    name: str
    scale: float
    median_error: float
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class FitRecord:
    """All that a report says.

    Parameters
    ----------
    model : str
        Name of the estimator.
    created : str
        When the record was made.
    n_rows, n_suspects : int
        Training rows, and how many were distrusted.
    targets : tuple of Target
        One for each target.
    points : Points
        Single rows.
    stretches : Stretches
        Share of distrusted rows along the rows.
    paths : tuple of ErrorPath
        Errors while the model was made.
    inputs : Inputs
        The inputs that matter most.
    left_out : bool
        Whether rows were judged by models that had not seen them.
    n_maybe_right : int or None
        How many of the distrusted rows are expected to be right, where that is known.
    stop_reason : str
        Why the fit ended where it did.
    data, settings, versions, held_out : tuple of pairs of str
        Facts to print as they are.
    command : str
        How to make all this again; empty if not known.
    episodes : tuple of Episode
        Stretches that went wrong together, the longest first.
    pictures : tuple of pairs of str
        What is odd about columns, and a small picture of each as SVG.
    """

    model: str
    created: str
    n_rows: int
    n_suspects: int
    targets: tuple[Target, ...]
    points: Points
    stretches: Stretches
    paths: tuple[ErrorPath, ...]
    inputs: Inputs
    left_out: bool
    n_maybe_right: int | None
    stop_reason: str
    data: Facts
    settings: Facts
    versions: Facts
    held_out: Facts
    command: str
    episodes: tuple[Episode, ...] = ()
    pictures: Facts = ()


def record_of(
    model: Any,
    frame: pd.DataFrame,
    *,
    targets: str | Sequence[Any],
    features: Sequence[Any],
    time: Any = None,
    held_out: Mapping[str, Any] | None = None,
    source: str | Mapping[str, Any] | None = None,
    command: str | None = None,
    findings: Sequence[Finding] | None = None,
) -> FitRecord:
    """Take out of a fit what a report says about it.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted robust estimator of this package, or a Pipeline that ends in one.
    frame : pandas.DataFrame
        The training rows as they came, in the order of the fit; its index names the rows.
    targets : str or sequence of str
        Columns that were learned, in the order of the fit.
    features : sequence of str
        Columns that the model reads, in the order of the fit.
    time : str or None
        Column of dates or numbers along which weights are shown; None takes the row order.
    held_out : mapping or None
        Error on rows kept from the fit: `median_absolute_error`, `robust_rmse`, `rows`, `how`.
    source : str, mapping or None
        Where the data come from, for example ``{"name": ..., "sha256": ...}``.
    command : str or None
        The command that makes this again.
    findings : sequence of Finding or None
        What is odd about the columns; None looks at them.

    Returns
    -------
    FitRecord
        Plain data.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from robustscn import RobustSCNRegressor
    >>> from robustscn.report import record_of
    >>> frame = pd.DataFrame({"x": np.linspace(0, 1, 200)})
    >>> frame["y"] = np.sin(6 * frame["x"])
    >>> frame.loc[::10, "y"] += 3.0
    >>> model = RobustSCNRegressor(n_networks=4, max_nodes=50, random_state=0)
    >>> record = record_of(model.fit(frame[["x"]], frame["y"]), frame, targets="y", features=["x"])
    >>> record.n_suspects >= 20, record.n_rows
    (True, 200)
    """
    names = [targets] if isinstance(targets, str) else list(targets)
    features = list(features)
    judge = _judged(model, len(frame), len(names))
    _check_columns(frame, [*names, *features, *([] if time is None else [time])])
    inputs = inputs_of(
        _predictor(model, len(names)), frame[features][~judge.outliers], features, judge.scale
    )
    shown = [main.grid.name for main in inputs.main]
    raw = tuple(column_of(frame[name]) for name in features if str(name) in shown)
    raw = tuple(sorted(raw, key=lambda column: shown.index(column.name)))
    along = None if time is None else column_of(frame[time])
    if along is not None and along.kind == "text":
        along = None
    row_names = column_of(frame.index.to_series(), str(frame.index.name or "row"))
    order = order_of(frame, None if along is None else time)
    observed = judge.expected + judge.residuals
    if findings is None:
        findings = _looks(frame, features, names, order)
    points = points_of(judge, row_names, along, raw)
    near = _inputs(model, frame[features].iloc[points.position])
    points = replace(points, plausible=plausible_of(model, near, points.position, COVERAGE))
    episodes = episodes_of(
        observed, judge.expected, judge.scale, judge.outliers, order, [*map(str, names)]
    )
    return FitRecord(
        model=type(fitted_model(model)).__name__,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        n_rows=len(frame),
        n_suspects=int(judge.outliers.sum()),
        targets=tuple(_target(judge, str(name), q) for q, name in enumerate(names)),
        points=points,
        stretches=stretches_of(judge.outliers, row_names, along),
        paths=paths_of(model),
        inputs=inputs,
        left_out=judge.left_out,
        n_maybe_right=judge.n_maybe_right,
        stop_reason=str(getattr(fitted_model(model), "stop_reason_", "")),
        data=_data(frame, names, features, time, source),
        settings=_settings(model),
        versions=_versions(),
        held_out=_facts({str(k).replace("_", " "): v for k, v in (held_out or {}).items()}),
        command=command or "",
        episodes=tuple(with_causes(episodes, findings)),
        pictures=_pictures(frame, order, findings),
    )


def _looks(
    frame: pd.DataFrame, features: Sequence[Any], targets: Sequence[Any], order: Order
) -> list[Finding]:
    """Return what is odd about columns of numbers."""
    numbers = [
        name
        for name in (*targets, *features)
        if np.issubdtype(getattr(frame[name].dtype, "type", object), np.number)
    ]
    return look(frame, numbers, [name for name in targets if name in numbers], order=order)


def _pictures(frame: pd.DataFrame, order: Order, findings: Sequence[Finding]) -> Facts:
    """Return what is odd about columns, with a small picture of each."""
    shown = []
    for finding in findings[:MOST_PICTURES]:
        values = as_numbers(frame[finding.column])
        odd = np.zeros(len(frame), dtype=bool)
        odd[finding.rows] = True
        words = f"{finding.column} {finding.sentence}"
        shown.append((words, spark(values[order.rows], odd[order.rows])))
    return tuple(shown)


def _check_columns(frame: pd.DataFrame, names: Sequence[Any]) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ValueError(f"the frame has no column {missing[0]!r}: give the training rows as read")
    double = frame.columns[frame.columns.duplicated()]
    if len(double):
        raise ValueError(f"the frame has two columns {double[0]!r}: rename one of them")


def _predictor(model: Any, n_targets: int) -> Any:
    def predict(rows: pd.DataFrame) -> NDArray[np.float64]:
        predictions = model.predict(_inputs(model, rows))
        return np.asarray(predictions, dtype=float).reshape(len(rows), n_targets)

    return predict


def _inputs(model: Any, rows: pd.DataFrame) -> Any:
    """Return rows as the model takes them: with names where it was fitted with names."""
    return rows if hasattr(model, "feature_names_in_") else rows.to_numpy(dtype=float)


def _judged(model: Any, n_rows: int, n_targets: int) -> Judgement:
    """Return how the model judged its rows, which must be those of the caller's table."""
    judge = judgement_of(model)
    if judge.residuals.shape != (n_rows, n_targets):
        rows, targets = judge.residuals.shape
        raise ValueError(
            f"the model was fitted on {rows} rows and {targets} targets, got {n_rows} rows and "
            f"{n_targets} targets: give the rows of the fit, in its order"
        )
    return judge


def _target(judge: Judgement, name: str, q: int) -> Target:
    near = np.clip(judge.deviations[:, q], -FARTHEST, FARTHEST)
    bins = np.minimum((near + FARTHEST) / (2 * FARTHEST) * BINS, BINS - 1).astype(int)
    counts = np.bincount(bins, minlength=BINS)
    order = np.argsort(bins, kind="stable")
    groups = np.split(judge.inlier_weight[order], np.cumsum(counts)[:-1])
    medians = np.array([np.median(group) if len(group) else np.nan for group in groups])
    median_error = float(np.median(np.abs(judge.residuals[:, q])))
    return Target(name, float(judge.scale[q]), median_error, counts, medians)


def _data(
    frame: pd.DataFrame,
    targets: Sequence[Any],
    features: Sequence[Any],
    time: Any,
    source: str | Mapping[str, Any] | None,
) -> Facts:
    facts: dict[str, Any] = {"name": source} if isinstance(source, str) else dict(source or {})
    facts = {"name": "not given"} | facts
    facts |= {"training rows": f"{len(frame):,}", "columns": f"{frame.shape[1]:,}"}
    facts |= {"targets": ", ".join(map(str, targets)), "inputs": ", ".join(map(str, features))}
    return _facts(facts if time is None else facts | {"time": time})


def _settings(model: Any) -> Facts:
    estimator = fitted_model(model)
    before = [name for name, _ in getattr(model, "steps", [])[:-1]]
    steps = {"steps before the model": ", ".join(before)} if before else {}
    return _facts(steps | {k: repr(v) for k, v in estimator.get_params(deep=False).items()})


def _versions() -> Facts:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return _facts(found)


def _facts(named: Mapping[str, Any]) -> Facts:
    return tuple(
        (str(k), f"{v:.4g}" if isinstance(v, float) else str(v))
        for k, v in named.items()
        if v is not None
    )
