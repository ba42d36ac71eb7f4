"""In which order rows follow each other, and how that is said: by time where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..tables.columns import as_numbers
from ..tables.dates import moments_of

if TYPE_CHECKING:
    import pandas as pd

_LENGTHS = (("s", 1.0), ("min", 60.0), ("h", 3600.0), ("days", 86_400.0))


@dataclass(frozen=True)
class Order:
    """Rows in the order in which they were measured.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Positions in the table, the earliest first.
    moments : ndarray of shape (n_rows,) or None
        Seconds since 1970 of each row of the table; None where only the order is known.
    names : ndarray of shape (n_rows,)
        What the table calls its rows.
    kind : str
        What these names are: "line", "row" or a column.
    column : str
        The column of the time; empty where there is none.
    """

    rows: NDArray[np.int64]
    moments: NDArray[np.float64] | None
    names: NDArray[Any]
    kind: str
    column: str

    def where(self, first: int, last: int) -> str:
        """Say where a stretch is.

        Parameters
        ----------
        first, last : int
            Positions in the table.

        Returns
        -------
        str
            Such as "2024-03-01 06:00 to 2024-03-08 05:00 (line 12 to line 180)".
        """
        rows = f"{self.kind} {self.names[first]}"
        if first != last:
            rows += f" to {self.names[last]}"
        if self.moments is None:
            return rows
        times = self.moment(first)
        if first != last:
            times += f" to {self.moment(last)}"
        return f"{times} ({rows})"

    def some(self, rows: NDArray[np.int64]) -> str:
        """Say where the first few of single rows are.

        Parameters
        ----------
        rows : ndarray of shape (n,)
            Positions in the table.

        Returns
        -------
        str
            Such as "at line 12, 40, 77, ...".
        """
        shown = ", ".join(str(self.names[row]) for row in rows[:3])
        return f"at {self.kind} {shown}{', ...' * (len(rows) > 3)}"

    def moment(self, row: int) -> str:
        """Return when a row was.

        Parameters
        ----------
        row : int
            Position in the table.

        Returns
        -------
        str
            Date and time, or nothing.
        """
        if self.moments is None or not np.isfinite(self.moments[row]):
            return ""
        when = datetime.fromtimestamp(float(self.moments[row]), UTC)
        return f"{when:%Y-%m-%d}" if self._whole_days else f"{when:%Y-%m-%d %H:%M}"

    @property
    def _whole_days(self) -> bool:
        return self.moments is not None and bool(np.nanmax(self.moments % 86_400) == 0)

    def length(self, rows: NDArray[np.int64]) -> str:
        """Say how long a stretch of rows is.

        Parameters
        ----------
        rows : ndarray of shape (n,)
            Positions in the table, in order.

        Returns
        -------
        str
            Such as "48 h", or "48 rows".
        """
        if self.moments is None or len(rows) < 2:
            return f"{len(rows):,} row{'s' * (len(rows) != 1)}"
        times = self.moments[rows]
        return in_words(float(times[-1] - times[0] + np.median(np.diff(times))))

    def clock(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], str]:
        """Return the places of rows on a scale a person would use, and the name of its unit.

        Parameters
        ----------
        rows : ndarray of shape (n,)
            Positions in the table, in order.

        Returns
        -------
        along : ndarray of shape (n,)
            Days, hours or rows since the first.
        unit : str
            "a day", "an hour" or "a row".
        """
        if self.moments is None:
            return np.arange(len(rows), dtype=float), "a row"
        seconds = self.moments[rows] - self.moments[rows[0]]
        if seconds[-1] >= 2 * 86_400:
            return seconds / 86_400, "a day"
        return seconds / 3600, "an hour"


def in_words(seconds: float) -> str:
    """Say how long something took.

    Parameters
    ----------
    seconds : float
        How long.

    Returns
    -------
    str
        In the largest unit of which there are two or more.
    """
    unit, size = next(
        ((u, s) for u, s in reversed(_LENGTHS) if seconds >= (3 if u == "days" else 2) * s),
        _LENGTHS[0],
    )
    return f"{seconds / size:.3g} {unit}"


def order_of(frame: pd.DataFrame, time: str | None = None) -> Order:
    """Find out in which order the rows of a table were measured.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table; its index names the rows.
    time : str or None
        Column of dates or numbers; None takes the first column of dates, else the file's order.

    Returns
    -------
    Order
        Rows and times.
    """
    n = len(frame)
    names, kind = frame.index.to_numpy(), str(frame.index.name or "row")
    columns = [time] if time is not None else list(frame.columns)
    for name in columns:
        moments = moments_of(frame[name], str(name))
        if moments is not None and np.isfinite(moments).mean() > 0.9:
            known = np.where(np.isfinite(moments), moments, np.nanmax(moments))
            rows = np.argsort(known, kind="stable")
            if len(np.unique(known)) > 0.05 * n:
                return Order(rows, known, names, kind, str(name))
    if time is not None:
        values = as_numbers(frame[time])
        values = np.where(np.isfinite(values), values, np.inf)
        return Order(np.argsort(values, kind="stable"), None, names, kind, time)
    return Order(np.arange(n), None, names, kind, "")
