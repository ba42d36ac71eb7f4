"""Columns of a data frame as plain data: numbers, dates or texts.

The page shows a few columns as they came. A number is a float64, a date is milliseconds since
1970 in a float64 (which is what Plotly's date axes take), also where a file had it as text; all
else is text, cut short.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..tables.dates import as_dates, counted_dates, date_format

if TYPE_CHECKING:
    import pandas as pd

LONGEST_TEXT = 60
"""Characters of a value that are kept."""


@dataclass(frozen=True)
class Column:
    """One column, or a choice of its rows.

    Parameters
    ----------
    name : str
        What the data call it.
    kind : {"number", "date", "text"}
        How to read the values.
    values : array of shape (n,)
        float64, with NaN for a missing value; for text, strings.
    """

    name: str
    kind: str
    values: NDArray[Any]

    def take(self, rows: NDArray[Any]) -> Column:
        """Return the column with these rows only."""
        return Column(self.name, self.kind, self.values[rows])


def column_of(series: pd.Series, name: str | None = None) -> Column:
    """Return a column as plain data.

    Parameters
    ----------
    series : pandas.Series
        The column.
    name : str or None
        What to call it; None takes the series' own name.

    Returns
    -------
    Column
        The same rows in the same order.
    """
    from pandas.api import types

    name = str(series.name) if name is None else name
    # True and false are two levels, not a scale.
    if types.is_numeric_dtype(series.dtype) and not types.is_bool_dtype(series.dtype):
        if (form := counted_dates(series, name)) is not None:
            return Column(name, "date", 1000.0 * as_dates(series, form))
        return Column(name, "number", series.to_numpy(dtype=float, na_value=np.nan))
    if (form := date_format(series.dropna())) is not None:
        return Column(name, "date", 1000.0 * as_dates(series, form))
    missing = series.isna().to_numpy()
    texts = [
        "" if gone else shortened(str(value)) for value, gone in zip(series, missing, strict=True)
    ]
    return Column(name, "text", np.array(texts, dtype=object))


def shortened(text: str) -> str:
    """Return the text, cut where it is longer than anyone reads in a table."""
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
