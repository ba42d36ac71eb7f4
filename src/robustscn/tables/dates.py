"""Dates as tables have them: texts of one form, seconds of computers, days of spreadsheets.

Texts are told from their form alone. A number is a date only where its column's name says so and
every value lies where dates of this century do: 45,000 may be a day of 2023 or a flow.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

DAY = 86_400.0
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M:%S %p", " %I:%M %p")
_LONG_YEARS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d %b %Y", "%d-%b-%Y", "%d/%b/%Y", "%d.%b.%Y", "%d. %b %Y", "%b %d %Y", "%b %d, %Y"),
    *("%d %B %Y", "%d-%B-%Y", "%d. %B %Y", "%B %d %Y", "%B %d, %Y", "%Y-%b-%d"),
)
_SHORT_YEARS = (
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y"),
    *("%d-%b-%y", "%d %b %y", "%d/%b/%y", "%d.%b.%y", "%d %B %y", "%b %d, %y"),
)
_FORMATS = ("ISO8601", *(f"{d}{t}" for d in (*_LONG_YEARS, *_SHORT_YEARS) for t in _TIMES))
_MONTHS = {
    "januar": "January", "jänner": "January", "februar": "February", "märz": "March",
    "mär": "Mar", "mrz": "Mar", "mai": "May", "juni": "June", "juli": "July",
    "oktober": "October", "okt": "Oct", "dezember": "December", "dez": "Dec", "sept": "Sep",
}  # fmt: skip
_MONTH = re.compile(r"(?i)(?<![^\W\d_])(" + "|".join(_MONTHS) + r")\.?(?![^\W\d_])")
_COUNTED = {
    "seconds since 1970": (9.4e8, 2.6e9, 1.0, 0.0),
    "milliseconds since 1970": (9.4e11, 2.6e12, 1e-3, 0.0),
    "microseconds since 1970": (9.4e14, 2.6e15, 1e-6, 0.0),
    "nanoseconds since 1970": (9.4e17, 2.6e18, 1e-9, 0.0),
    "days of a spreadsheet": (32_874.0, 62_457.0, DAY, -25_569 * DAY),
    "year, month and day as one number": (19_900_101.0, 20_701_231.0, np.nan, np.nan),
}
"""Least and greatest number, seconds of one, and seconds at zero."""
_POINTS = r"\d{1,4}\.\d{1,2}\.\d{2,4}"
_NAMES = re.compile(
    r"(?i)(?:^|[^a-z])(?:time|date|datetime|timestamp|stamp|epoch|unix|ts|when|day|datum|zeit|"
    r"zeitstempel|uhrzeit|dt|utc)(?:$|[^a-z])|(?:time|date|timestamp|datum|zeit)(?:$|[^a-z])"
)


def as_dates(values: Any, form: str) -> NDArray[np.float64]:
    """Return a column of dates as seconds since 1970; what is no date is not a number.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Dates, texts of one form, or numbers that count from a day.
    form : str
        The form of the texts, as in `pandas.to_datetime`, or what the numbers count.

    Returns
    -------
    ndarray of shape (n_rows,)
        Seconds and NaN.
    """
    import pandas as pd

    column = pd.Series(values)
    if form in _COUNTED and column.dtype.kind != "M":
        return _counted(pd.to_numeric(column, errors="coerce"), form)
    if column.dtype.kind == "M":
        dates = pd.to_datetime(column, utc=True)
    elif pd.api.types.is_numeric_dtype(column.dtype):
        return np.full(len(column), np.nan)
    else:
        texts = column.astype(object).where(column.notna(), "").map(str).str.strip()
        if "%b" in form or "%B" in form:
            texts = texts.str.replace(_MONTH, lambda m: _MONTHS[m[1].lower()], regex=True)
        dates = pd.to_datetime(texts, format=form, errors="coerce", utc=True)
    dates = dates.dt.tz_localize(None)
    seconds = dates.to_numpy().astype("datetime64[us]").astype(np.int64) / 1e6
    return np.where(dates.isna().to_numpy(), np.nan, seconds)


def _counted(numbers: Any, form: str) -> NDArray[np.float64]:
    import pandas as pd

    low, high, unit, zero = _COUNTED[form]
    values = numbers.to_numpy(dtype=float, na_value=np.nan)
    values = np.where((values >= low) & (values <= high), values, np.nan)
    if np.isfinite(unit):
        return values * unit + zero
    whole = np.isfinite(values) & (values % 1 == 0)
    texts = pd.Series(np.where(whole, values, 0).astype(np.int64)).astype(str)
    return as_dates(texts, "%Y%m%d")


def date_format(values: Any, share: float = 0.95) -> str | None:
    """Return the form in which a column holds dates.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Dates, texts or numbers, without missing ones.
    share : float, default=0.95
        How many must be dates.

    Returns
    -------
    str or None
        As in `as_dates`. Where day and month could be either, the order in which the dates
        follow each other, else day before month. None if they are no dates.
    """
    import pandas as pd

    column = pd.Series(values)
    if column.dtype.kind == "M":
        return "ISO8601"
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _counted_form(column)
    some = column if len(column) <= 2000 else column.sample(2000, random_state=0)
    texts = some.astype(str).str.strip()
    long_enough = texts.str.len().between(6, 40) & (texts.str.count(r"\d") >= 3)
    plain = texts.str.fullmatch(r"[-+]?[\d.,]+") & ~texts.str.fullmatch(_POINTS)
    if not (long_enough & ~plain).mean() >= share:
        return None  # no day beside a month and a year
    few = texts.iloc[:40]
    likely = [form for form in _FORMATS if np.isfinite(as_dates(few, form)).mean() >= 0.5]
    shares = {form: float(np.isfinite(as_dates(texts, form)).mean()) for form in likely}
    if not shares or max(shares.values()) < share:
        return None
    best = [form for form in shares if shares[form] == max(shares.values())]
    return next((form for form in best if _in_order(column, form)), best[0])


def _counted_form(column: Any) -> str | None:
    numbers = column.to_numpy(dtype=float, na_value=np.nan)
    for form in _COUNTED:
        if len(numbers) and np.isfinite(_counted(column, form)).all():
            return form
    return None


def _in_order(column: Any, form: str) -> bool:
    seconds = as_dates(column, form)
    steps = np.diff(seconds[np.isfinite(seconds)])
    return bool(len(steps) and ((steps >= 0).all() or (steps <= 0).all()))


def counted_dates(values: Any, name: str) -> str | None:
    """Return what a column of numbers counts, where its name says that they are dates.

    Parameters
    ----------
    values : pandas.Series
        Numbers.
    name : str
        The column's name.

    Returns
    -------
    str or None
        As in `as_dates`.

    Examples
    --------
    >>> import pandas as pd
    >>> from robustscn.tables.dates import counted_dates
    >>> days = pd.Series([45292.25, 45293.5])
    >>> counted_dates(days, "Date"), counted_dates(days, "flow")
    ('days of a spreadsheet', None)
    """
    return _counted_form(values.dropna()) if _NAMES.search(name) else None


def moments_of(values: Any, name: str = "") -> NDArray[np.float64] | None:
    """Return a column as seconds where it holds dates.

    Parameters
    ----------
    values : pandas.Series
        A column of any kind.
    name : str
        Its name, by which numbers are told to be dates.

    Returns
    -------
    ndarray of shape (n_rows,) or None
        Seconds since 1970; None where the column holds no dates.
    """
    import pandas as pd

    there = values.dropna()
    if there.empty:
        return None
    if pd.api.types.is_numeric_dtype(values.dtype):
        form = counted_dates(values, name)
    else:
        form = date_format(there)
    return None if form is None else as_dates(values, form)
