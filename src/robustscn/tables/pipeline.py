"""Which column is what, and the pipeline that makes numbers of them.

    numbers     texts among them are missing; filled by the median, with a column that says so
    categories  one column for each level; rare levels together, unknown ones tolerated
    dates       seconds since the first, place in the day and in the week
    calendar    dates of which only what comes again is used
    left out    columns that are empty, always the same, or different in every row

The plan says in plain words what was assumed, so that a person can object.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from ..text import shortened
from .calendar import calendar_helps, plain_inputs
from .columns import DateParts, Numbers, Text, as_numbers
from .dates import as_dates, counted_dates, date_format, moments_of
from .faults import TableError, quoted, require_columns
from .identity import columns_naming_rows
from .marks import marks_in
from .quantities import refuse_unread

if TYPE_CHECKING:
    import pandas as pd

NUMBERS_SHARE = 0.8
"""A column of texts of which this share are numbers is a column of numbers."""
MOST_LEVELS = 30
_FEW_NUMBERS = 5
"""So few different numbers among marks for nothing may be levels."""
_DAY_FIRST, _MONTH_FIRST = ("%d/%m", "%d-%m"), ("%m/%d", "%m-%d")


@dataclass(frozen=True)
class Plan:
    """What each column is taken for.

    Parameters
    ----------
    numbers, categories, dates : tuple of str
        Columns of each kind.
    left_out : tuple of str
        Columns that are not used.
    notes : tuple of str
        What was assumed, one line each.
    calendar : tuple of str
        Columns of dates of which only hour, weekday and season are used.
    """

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    dates: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    calendar: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """The columns that are used."""
        return self.numbers + self.categories + self.dates + self.calendar


def rare_below(n_rows: int) -> int:
    """Return how many rows a level needs to have a column of its own.

    Parameters
    ----------
    n_rows : int
        Rows of the table.

    Returns
    -------
    int
        Ten; fewer in tables under 500 rows, but two at least.
    """
    return min(10, max(2, n_rows // 50))


def plan_columns(frame: pd.DataFrame, features: Sequence[str]) -> Plan:
    """Find out what each column is.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    features : sequence of str
        Columns to use.

    Returns
    -------
    Plan
        What each column is taken for.

    Examples
    --------
    >>> import pandas as pd
    >>> from robustscn.tables import plan_columns
    >>> frame = pd.DataFrame({"flow": [1.0, 2.0, 3.0], "mill": ["A", "A", "B"], "line": 7})
    >>> plan = plan_columns(frame, ["flow", "mill", "line"])
    >>> plan.numbers, plan.categories, plan.notes
    (('flow',), ('mill',), ("'line' is always 7: left out",))
    """
    require_columns(features, frame.columns, "the table")
    kinds: dict[str, list[str]] = {"number": [], "category": [], "date": [], "left out": []}
    notes = []
    for name in features:
        kind, note = _kind(frame[name])
        kinds[kind].append(name)
        if note:
            notes.append(f"{shortened(name)!r} {note}")
    if not (kinds["number"] or kinds["category"] or kinds["date"]):
        raise TableError(
            "no column is left to learn from: "
            + (notes[0] if notes else "name some with --features")
        )
    return Plan(
        numbers=tuple(kinds["number"]),
        categories=tuple(kinds["category"]),
        dates=tuple(kinds["date"]),
        left_out=tuple(kinds["left out"]),
        notes=tuple(notes),
    )


def _kind(values: pd.Series) -> tuple[str, str]:
    import pandas as pd

    there = values.dropna()
    if there.empty:
        return "left out", "is empty: left out"
    if len(there) == len(values) and (there == there.iloc[0]).all():
        return "left out", f"is always {shortened(there.iloc[0])}: left out"
    if pd.api.types.is_numeric_dtype(values.dtype):
        if form := counted_dates(there, str(values.name)):
            return "date", f"is read as a date: {form}"
        return _number(there, ("is infinite or beyond 1e100", "are infinite or beyond 1e100"))
    if values.dtype.kind == "M":
        return "date", ""
    texts = there.astype(str).str.strip()
    texts = texts[texts != ""]
    if texts.empty:
        return "left out", "is empty: left out"
    if _mostly_numbers(texts):
        return _number(texts, ("is no number", "are no numbers"))
    if form := date_format(texts) or date_format(texts[~marks_in(texts)]):
        return _date(texts, form)
    refuse_unread(texts, str(values.name))
    return _category(texts, len(values))


def _mostly_numbers(texts: pd.Series) -> bool:
    numbers = np.isfinite(as_numbers(texts))
    if numbers.mean() >= NUMBERS_SHARE:
        return True
    if texts[numbers].nunique() <= _FEW_NUMBERS:
        return False
    return bool(numbers[~marks_in(texts)].mean() >= NUMBERS_SHARE)


def _number(there: pd.Series, what: tuple[str, str]) -> tuple[str, str]:
    """Return the kind, and what is said of values that are none: of one and of several."""
    numbers = np.isfinite(as_numbers(there))
    if not numbers.any():
        return "left out", f"has no finite number ({_examples(there)}): left out"
    if numbers.all():
        return "number", ""
    strange = there[~numbers]
    return "number", f"has {_values(strange, *what)} as missing: {_examples(strange)}"


def _values(strange: pd.Series, one: str, several: str) -> str:
    if len(strange) == 1:
        return f"1 value that {one} and counts"
    return f"{len(strange):,} values that {several} and count"


def _examples(values: pd.Series) -> str:
    return quoted([str(value) for value in values.astype(str).unique()[:4]], 3)


def _date(texts: pd.Series, form: str) -> tuple[str, str]:
    for day, month in zip(_DAY_FIRST, _MONTH_FIRST, strict=True):
        other = form.replace(day, month) if day in form else form.replace(month, day)
        if other != form and np.isfinite(as_dates(texts, other)).all():
            order = ("day", "month") if day in form else ("month", "day")
            return "date", (
                f"is read as {order[0]}/{order[1]}/year, but {order[1]}/{order[0]}/year would fit "
                "as well"
            )
    dates = np.isfinite(as_dates(texts, form))
    if not dates.all():
        strange = texts[~dates]
        which = _values(strange, "is no date", "are no dates")
        return "date", f"has {which} as missing: {_examples(strange)}"
    return "date", ""


def _category(texts: pd.Series, n_rows: int) -> tuple[str, str]:
    counts = texts.value_counts()
    rare = int((counts < rare_below(n_rows)).sum())
    if rare == len(counts):
        return (
            "left out",
            f"is text that differs in nearly every row ({_examples(texts)}): left out",
        )
    rare = max(rare, len(counts) - MOST_LEVELS + 1 if len(counts) > MOST_LEVELS else 0)
    return "category", f"has {rare:,} rare levels that are treated as one" if rare > 1 else ""


def without_row_names(
    frame: pd.DataFrame, plan: Plan, targets: NDArray[np.float64], seed: int = 0
) -> Plan:
    """Return a plan in which no column tells which row it is.

    Dates stay by their hour, weekday and season where these help to predict.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table, in the order of the file.
    plan : Plan
        With all columns.
    targets : ndarray of shape (n_rows,) or (n_rows, n_targets)
        What is to be learned.
    seed : int, default=0
        Seed of the learner that finds out whether the calendar helps.

    Returns
    -------
    Plan
        The same where no such column is there, or no other would be left.
    """
    named = columns_naming_rows(frame, plan.used)
    if not named:
        return plan
    numbers = tuple(name for name in plan.numbers if name not in named)
    calendar, found = [], plain_inputs(frame, numbers, plan.categories)
    for name in plan.dates:
        moments = moments_of(frame[name], name)
        parts = DateParts(elapsed=False).fit_transform(frame[[name]])
        if moments is not None and calendar_helps(found, parts, targets, moments, seed):
            calendar.append(name)
    reasons = ", ".join(f"{shortened(name)!r} {why}" for name, why in list(named.items())[:4])
    more = f" and {len(named) - 4} more" if len(named) > 4 else ""
    kept = f"; of {quoted(calendar)} hour, weekday or season are used" if calendar else ""
    note = (
        f"{reasons}{more}: kept from the model, for one that knows the week takes what went wrong "
        f"in it for normal (--keep-time uses them){kept}"
    )
    return replace(
        plan,
        numbers=numbers,
        dates=(),
        calendar=tuple(calendar),
        left_out=plan.left_out + tuple(name for name in named if name not in calendar),
        notes=(*plan.notes, note),
    )


def table_pipeline(
    frame: pd.DataFrame, features: Sequence[str], estimator: Any, *, plan: Plan | None = None
) -> Pipeline:
    """Return the pipeline from raw rows to the estimator, not yet fitted.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table, from which the kinds of the columns are told.
    features : sequence of str
        Columns to use.
    estimator : estimator
        What learns from the numbers.
    plan : Plan or None, default=None
        What the columns are; None finds out.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Steps "columns" and "model". It takes frames with these columns in any order; others
        are ignored.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from robustscn import RVFLRegressor
    >>> from robustscn.tables import table_pipeline
    >>> frame = pd.DataFrame({"flow": np.arange(40.0), "mill": ["A", "B"] * 20})
    >>> model = table_pipeline(frame, ["flow", "mill"], RVFLRegressor(5, random_state=0))
    >>> model.fit(frame, np.arange(40.0)).predict(frame[["mill", "flow"]]).shape
    (40,)
    """
    plan = plan or plan_columns(frame, features)
    filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    levels = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        min_frequency=rare_below(len(frame)),
        max_categories=MOST_LEVELS,
        sparse_output=False,
    )
    steps = [
        ("numbers", Pipeline([("read", Numbers()), ("fill", filled)]), list(plan.numbers)),
        ("categories", Pipeline([("read", Text()), ("levels", levels)]), list(plan.categories)),
        ("dates", Pipeline([("parts", DateParts()), ("fill", filled)]), list(plan.dates)),
        (
            "calendar",
            Pipeline([("parts", DateParts(elapsed=False)), ("fill", filled)]),
            list(plan.calendar),
        ),
    ]
    return Pipeline(
        [
            ("columns", ColumnTransformer([step for step in steps if step[2]])),
            ("model", estimator),
        ]
    )


def columns_needed(pipeline: Pipeline) -> dict[str, list[str]]:
    """Return the columns that a pipeline of `table_pipeline` takes.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Fitted or not.

    Returns
    -------
    dict
        Names of the columns by kind: "numbers", "categories", "dates".
    """
    columns = pipeline.named_steps["columns"]
    kinds: dict[str, list[str]] = {"numbers": [], "categories": [], "dates": []}
    for name, _, names in columns.transformers:
        if name == "calendar":
            kinds["dates"] = [*kinds["dates"], *names]
        elif name in kinds:
            kinds[name] = list(names)
    return kinds


def unread_values(pipeline: Pipeline, frame: pd.DataFrame) -> list[str]:
    """Return notes on values of new rows that a fitted pipeline cannot read and fills in.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Fitted, made by `table_pipeline`.
    frame : pandas.DataFrame
        New rows.

    Returns
    -------
    list of str
        One line for each column that has such values.
    """
    kinds = columns_needed(pipeline)
    read = dict.fromkeys(kinds["numbers"], as_numbers)
    for kind, step, names in pipeline.named_steps["columns"].transformers_:
        if kind in ("dates", "calendar"):
            formats = step.named_steps["parts"].formats_
            read |= {n: partial(as_dates, form=f) for n, f in zip(names, formats, strict=True)}
    notes = []
    for name, numbers in read.items():
        there = frame[name].dropna()
        strange = there[~np.isfinite(numbers(there))]
        if len(strange):
            kind = "number" if name in kinds["numbers"] else "date"
            which = _values(strange, f"is no {kind}", f"are no {kind}s")
            notes.append(f"{shortened(name)!r} has {which} as missing: {_examples(strange)}")
    return notes
