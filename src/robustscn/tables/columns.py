"""Columns of a table as numbers: three transformers that take raw values as a file has them.

They are stored with the model, so that a row is read the same way when it is predicted as when
it was learned from. `Numbers` and `Text` bring values of any kind to one kind and leave filling
and coding to scikit-learn; `DateParts` gives a date's place in time, week and day.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .dates import DAY, as_dates, date_format

LARGEST_INPUT = 1e100
"""Numbers beyond this count as missing: their squares would overflow."""
WEEK = 7 * DAY
YEAR = 365.2425 * DAY
_MONDAY = 4 * DAY  # 1970-01-05, the first Monday of the computer's calendar
_LOGICAL = {"true": 1.0, "false": 0.0}


def as_numbers(values: Any) -> NDArray[np.float64]:
    """Return a column as numbers; what is none, infinite or beyond 1e100 is not a number.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Numbers, booleans or texts.

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers and NaN.
    """
    import pandas as pd

    column = pd.Series(values)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if not pd.api.types.is_numeric_dtype(column.dtype):
        if column.dtype.kind in "mM":
            return np.full(len(column), np.nan)
        plain = column.astype(str).str.strip() if column.dtype != object else _texts(column)
        logical = plain.str.lower().map(_LOGICAL)
        column = pd.to_numeric(plain, errors="coerce").astype(float)
        column = column.where(logical.isna(), logical)
    numbers = column.to_numpy(dtype=float, na_value=np.nan)
    sound = np.abs(numbers) <= LARGEST_INPUT
    return numbers if sound.all() else np.where(sound, numbers, np.nan)


def as_texts(values: Any) -> NDArray[np.object_]:
    """Return a column as texts: stripped, whole numbers without a point, missing ones NaN.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Values of any kind.

    Returns
    -------
    ndarray of shape (n_rows,)
        Texts and NaN.
    """
    import pandas as pd

    column = pd.Series(values)
    missing = column.isna().to_numpy()
    if column.dtype.kind == "f":
        # A missing value makes floats of whole numbers; the level is "3" all the same.
        texts = column.map(lambda v: f"{v:.0f}" if v == v and float(v).is_integer() else str(v))
        texts = texts.astype(object)
    else:
        texts = _texts(column).astype(object)
    texts = texts.where(~missing & (texts != ""), np.nan)
    return texts.to_numpy(dtype=object)


def _texts(column: Any) -> Any:
    """Return each value as a stripped text, missing ones as an empty one."""
    return column.astype(object).where(column.notna(), "").map(str).str.strip()


def _there(column: Any) -> Any:
    import pandas as pd

    return pd.Series(column).dropna()


class _ColumnwiseMixin(TransformerMixin, BaseEstimator):
    """Fitting takes note of the columns' names; a frame is gone through by column."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Take note of the columns.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            Raw values.
        y : None
            Not used.

        Returns
        -------
        object
            Itself.
        """
        validate_data(self, X, skip_check_array=True)
        return self

    def _columns(self, X: Any) -> list[Any]:
        check_is_fitted(self, "n_features_in_")
        if hasattr(X, "columns") and hasattr(X, "iloc"):
            return [X.iloc[:, j] for j in range(X.shape[1])]
        if hasattr(X, "columns"):  # polars
            return [X[name].to_numpy() for name in X.columns]
        return list(np.asarray(X).T)


class Numbers(OneToOneFeatureMixin, _ColumnwiseMixin):
    """Values of any kind as numbers, those that are none as missing.

    Booleans are 0 and 1, and so are the texts "true" and "false". Other texts ("n/a", "-",
    "error"), infinite values and those beyond 1e100 become NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> from robustscn.tables import Numbers
    >>> frame = pd.DataFrame({"flow": ["1.5", "n/a", " 2 "]})
    >>> Numbers().fit_transform(frame).ravel()
    array([1.5, nan, 2. ])
    """

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the columns as numbers.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            Raw values.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Numbers and NaN.
        """
        return np.column_stack([as_numbers(column) for column in self._columns(X)])


class Text(OneToOneFeatureMixin, _ColumnwiseMixin):
    """Values of any kind as texts, missing ones as NaN, which is a level of its own.

    Examples
    --------
    >>> import pandas as pd
    >>> from robustscn.tables import Text
    >>> Text().fit_transform(pd.DataFrame({"mill": ["A", None, " B "]})).ravel().tolist()
    ['A', nan, 'B']
    """

    def transform(self, X: Any) -> NDArray[np.object_]:
        """Return the columns as texts.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            Raw values.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Texts and NaN.
        """
        return np.column_stack([as_texts(column) for column in self._columns(X)])


class DateParts(_ColumnwiseMixin):
    """Dates as seconds since the first one, and as a place in the day, the week and the year.

    The place in the day, a sine and a cosine, is given where dates have a time of day; that in
    the week where they span two weeks or more. Times with a zone are taken to UTC. Without
    seconds the parts are those that come again often enough to say nothing of a single week:
    the day where dates span a week, the week where they span two months, and the year where
    they span two of them.

    Parameters
    ----------
    elapsed : bool, default=True
        Whether seconds since the first date are among the parts.

    Attributes
    ----------
    formats_ : list of str
        Form of each column's dates, as in `robustscn.tables.dates.as_dates`.
    first_ : ndarray of shape (n_columns,)
        First date of each column, seconds since 1970.
    daily_, weekly_, yearly_ : bool ndarrays of shape (n_columns,)
        Which columns give a place in the day, in the week, and in the year.

    Examples
    --------
    >>> import pandas as pd
    >>> from robustscn.tables import DateParts
    >>> frame = pd.DataFrame({"when": ["2024-01-01 00:00", "2024-01-01 06:00"]})
    >>> parts = DateParts().fit(frame)
    >>> parts.get_feature_names_out().tolist()
    ['when seconds', 'when day sine', 'when day cosine']
    >>> parts.transform(frame).round(3)[1].tolist()
    [21600.0, 1.0, 0.0]
    """

    def __init__(self, elapsed: bool = True) -> None:
        self.elapsed = elapsed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the form and the first date of each column.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            Dates, or texts that hold them.
        y : None
            Not used.

        Returns
        -------
        DateParts
            Itself.
        """
        super().fit(X, y)
        columns = self._columns(X)
        self.formats_ = [date_format(_there(column)) or "ISO8601" for column in columns]
        seconds = [as_dates(c, form) for c, form in zip(columns, self.formats_, strict=True)]
        seconds = [s[np.isfinite(s)] if np.isfinite(s).any() else np.zeros(1) for s in seconds]
        spans = np.array([np.ptp(s) for s in seconds])
        timed = np.array([bool(np.ptp(s % DAY) > 0) for s in seconds])
        self.first_ = np.array([s.min() for s in seconds])
        self.daily_ = timed & (self.elapsed | (spans >= WEEK))
        self.weekly_ = spans >= (2 * WEEK if self.elapsed else 60 * DAY)
        self.yearly_ = (spans >= 2 * YEAR) & (not self.elapsed)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the parts of each date; a missing date gives NaN.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            Dates, or texts that hold them.

        Returns
        -------
        ndarray of shape (n_rows, n_parts)
            Parts of the first column, then of the second and so on.
        """
        parts = []
        for j, column in enumerate(self._columns(X)):
            seconds = as_dates(column, self.formats_[j])
            if self.elapsed:
                parts.append(seconds - self.first_[j])
            if self.daily_[j]:
                parts += _turn(seconds / DAY)
            if self.weekly_[j]:
                parts += _turn((seconds - _MONDAY) // DAY * DAY / WEEK)
            if self.yearly_[j]:
                parts += _turn(seconds / YEAR)
        return np.column_stack(parts) if parts else np.empty((len(X), 0))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the parts.

        Parameters
        ----------
        input_features : array-like of str or None
            Names of the columns, if they had none when fitted.

        Returns
        -------
        ndarray of str
            One name for each part.
        """
        check_is_fitted(self, "first_")
        given = getattr(self, "feature_names_in_", input_features)
        if given is None:
            given = [f"x{j}" for j in range(self.n_features_in_)]
        names = []
        for name, *comes_again in zip(given, self.daily_, self.weekly_, self.yearly_, strict=True):
            names += [f"{name} seconds"] * self.elapsed
            for part, there in zip(("day", "week", "year"), comes_again, strict=True):
                names += [f"{name} {part} sine", f"{name} {part} cosine"] * bool(there)
        return np.array(names, dtype=object)


def _turn(turns: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    angle = 2 * np.pi * turns
    return [np.sin(angle), np.cos(angle)]
