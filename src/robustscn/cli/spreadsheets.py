"""Tables as CSV that people open: no cell of ours is run as a formula, none has sixteen digits.

A text that begins with one of `= + - @`, or their full-width forms, is taken for a formula by
spreadsheet programs; names of columns come from other people's files. Such a text gets an
apostrophe before it, which spreadsheets take for "this is text". Control characters become blanks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..text import shortened

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
_LONGEST = 10_000


COMPUTED = ("expected", "residual", "deviations", "inlier_weight", "probability", "size")
"""Columns of our lists that nobody has measured."""


def legible(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a list of suspects or episodes as people read it: computed numbers of six digits.

    Parameters
    ----------
    frame : pandas.DataFrame
        The list.

    Returns
    -------
    pandas.DataFrame
        What was observed is as it was.
    """
    computed = [name for name in COMPUTED if name in frame.columns]
    return frame.assign(**{name: [float(f"{v:.6g}") for v in frame[name]] for name in computed})


def defused(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose names and texts are no formulas.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table; its index is a column of the file.

    Returns
    -------
    pandas.DataFrame
        The same with texts changed where they have to be.
    """
    texts = {
        name: frame[name].map(defused_text)
        for name in frame.columns
        if frame[name].dtype.kind not in "biufM"
    }
    safe = frame.assign(**texts) if texts else frame.copy(deep=False)
    safe.columns = [defused_text(name) for name in frame.columns]
    return safe.rename_axis(index=defused_text(frame.index.name))


def defused_text(value: Any) -> Any:
    """Return a text that no spreadsheet runs; anything else as it is.

    Parameters
    ----------
    value : object
        A cell.

    Returns
    -------
    object
        The cell.

    Examples
    --------
    >>> from robustscn.cli.spreadsheets import defused_text
    >>> defused_text("=1+1"), defused_text("flow"), defused_text(-1.5)
    ("'=1+1", 'flow', -1.5)
    """
    if not isinstance(value, str):
        return value
    plain = shortened(value, _LONGEST)
    return f"'{plain}" if plain.lstrip().startswith(_FORMULA) else plain
