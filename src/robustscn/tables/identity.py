"""Columns that tell which row it is: clocks, counters and names of rows.

A network that knows the time learns that last week was different, and vouches for whatever went
wrong in it. Such columns say nothing of a row that its neighbours do not share, so they are kept
from the judging unless the caller wants them there. Hour, weekday and season come again and again
and cannot single out a week: they may stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .columns import as_numbers
from .dates import moments_of

if TYPE_CHECKING:
    import pandas as pd

FEWEST_ROWS = 50
"""Shorter columns may be in order by chance, or because an experiment was planned so."""
_CLOCK = re.compile(
    r"(?i)(?:^|[^a-z])(?:time|t|ts|elapsed|clock|stamp|timestamp|epoch|hours?|minutes?|seconds?|"
    r"days?|zeit|stunden|tage?)(?:$|[^a-z])|time$|zeit$|stamp$"
)
_NAME = re.compile(
    r"(?i)(?:^|[^a-z])(?:id|ids|no|nr|num|number|index|idx|key|serial|row|line|seq|sequence|"
    r"counter|count|record|rownames|uid|uuid|nummer|lfd|unnamed)(?:$|[^a-z])|_id$|Id$|ID$"
)


def names_the_row(values: pd.Series) -> str | None:
    """Return why a column tells which row it is, or None where it does not.

    Parameters
    ----------
    values : pandas.Series
        A column, in the order of the file; its name counts where values alone do not decide.

    Returns
    -------
    str or None
        Such as "counts the rows".

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from robustscn.tables.identity import names_the_row
    >>> names_the_row(pd.Series(np.arange(100), name="n"))
    'counts the rows'
    >>> names_the_row(pd.Series(np.random.default_rng(0).normal(size=100), name="n")) is None
    True
    """
    if len(values) < FEWEST_ROWS or values.dtype.kind == "b":
        return None
    if moments_of(values, str(values.name)) is not None:
        return "is a date"
    numbers = as_numbers(values)
    numbers = numbers[np.isfinite(numbers)]
    if len(numbers) < max(FEWEST_ROWS, 0.8 * len(values)):
        return None
    return _why(numbers, str(values.name))


def _why(numbers: NDArray[np.float64], name: str) -> str | None:
    steps = np.diff(numbers)
    whole = bool((numbers % 1 == 0).all())
    monotone = bool((steps > 0).all() or (steps < 0).all())
    even = monotone and bool(np.allclose(steps, steps[0], rtol=1e-6))
    if even:
        return "counts the rows" if whole else "rises evenly from row to row"
    if monotone and (whole or _CLOCK.search(name)):
        return "rises from row to row"
    if (
        bool((steps >= 0).all())
        and _CLOCK.search(name)
        and len(np.unique(numbers)) > 0.5 * len(numbers)
    ):
        return "rises from row to row"
    if whole and len(np.unique(numbers)) == len(numbers):
        if np.ptp(numbers) == len(numbers) - 1:
            return "numbers the rows"
        if _NAME.search(name):
            return "names the rows"
    return None


def columns_naming_rows(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, str]:
    """Return which columns tell which row it is, and why.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table in the order of the file.
    names : sequence of str
        Columns to look at.

    Returns
    -------
    dict of str to str
        Column and reason; empty where no other column would be left.
    """
    found = {name: why for name in names if (why := names_the_row(frame[name])) is not None}
    return found if len(found) < len(names) else {}
