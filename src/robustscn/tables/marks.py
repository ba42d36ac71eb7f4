"""Texts that stand for "nothing was measured": what people, spreadsheets and historians write.

A mark is missing where numbers are expected. In a column of words it stays a word: "bad" may be
a grade.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MISSING_MARKS = frozenset(
    {"", "-", "--", "---", "----", ".", "..", "...", "?", "*", "**", "***", "x", "xx", "xxx"}
    | {"n/a", "na", "n.a.", "n/m", "n.m.", "n.b.", "k.a.", "nan", "null", "none", "nil", "<na>"}
    | {"missing", "error", "err", "err.", "fault", "failure", "failed", "fail", "unknown", "void"}
    | {"bad", "bad input", "bad value", "bad quality", "bad data", "bad pv", "badpv", "uncertain"}
    | {"no data", "nodata", "no value", "no result", "no results", "no good data", "no sample"}
    | {"not available", "not measured", "not connected", "not reported", "not determined"}
    | {"i/o timeout", "io timeout", "timeout", "timed out", "comm fail", "comm failure"}
    | {"comm error", "communication error", "communication failure", "no communication"}
    | {"sensor failure", "sensor fault", "sensor error", "device failure", "configuration error"}
    | {"config error", "configure", "calc failed", "calc off", "calc overflow", "calc error"}
    | {"scan off", "scan timeout", "pt created", "point created", "shutdown", "shut down"}
    | {"offline", "off-line", "out of service", "out of range", "over range", "overrange"}
    | {"under range", "underrange", "over range/bad", "invalid", "invalid data", "intf shut"}
    | {"arc off-line", "archive offline", "access denied", "equip fail", "set to bad"}
    | {"invalid float", "bad output", "bad_quality", "dcs failed", "unit down", "tag not found"}
    | {"fehler", "keine daten", "kein wert", "ungültig", "störung", "nicht verfügbar"}
    | {"#n/a", "#na", "#value!", "#wert!", "#div/0!", "#ref!", "#num!", "#name?", "#null!"}
    | {"#bezug!", "#zahl!", "#nv", "#error", "#calc!", "#spill!", "#getting_data"}
)
"""In lower case. Systems add to this without end: `--na TEXT` names more."""

_NUMBERED = re.compile(r"\[-?\d+\]\s*\D.*|digital state.*|no data.*|bad[ :_-].*|error[ :].*")
"""Such as "[-11059] No Good Data For Calculation", which no list could hold."""


def is_mark(text: str) -> bool:
    """Return whether a text stands for nothing where a number is expected.

    Parameters
    ----------
    text : str
        A cell.

    Returns
    -------
    bool
        Whether it does.

    Examples
    --------
    >>> from robustscn.tables.marks import is_mark
    >>> is_mark("Bad Input"), is_mark("[-11059] No Good Data"), is_mark("12 kg")
    (True, True, False)
    """
    plain = " ".join(text.split()).casefold()
    return plain in MISSING_MARKS or _NUMBERED.fullmatch(plain) is not None


def marks_in(texts: pd.Series) -> Any:
    """Return which texts of a column are marks.

    Parameters
    ----------
    texts : pandas.Series
        Texts, missing ones empty.

    Returns
    -------
    bool ndarray of shape (n_rows,)
        True where there is nothing.
    """
    found = {text: is_mark(text) for text in texts.unique()}
    return texts.map(found).to_numpy(dtype=bool)


def without_marks(frame: pd.DataFrame, marks: Sequence[str]) -> pd.DataFrame:
    """Return a table in which texts and numbers that the caller names are missing.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    marks : sequence of str
        Such as "-999" or "not run"; numbers are compared as numbers.

    Returns
    -------
    pandas.DataFrame
        The table with gaps.

    Examples
    --------
    >>> import pandas as pd
    >>> from robustscn.tables.marks import without_marks
    >>> without_marks(pd.DataFrame({"x": [1.5, -999.0]}), ["-999"])["x"].tolist()
    [1.5, nan]
    """
    import pandas as pd

    if not marks:
        return frame
    words = {" ".join(mark.split()).casefold() for mark in marks}
    numbers = pd.to_numeric(pd.Series(list(marks)), errors="coerce").dropna().to_list()
    changed: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "iuf":
            changed[name] = column.mask(column.isin(numbers))
        elif column.dtype.kind not in "bmM":
            plain = column.map(lambda v: " ".join(str(v).split()).casefold(), na_action="ignore")
            gone = plain.isin(words) | pd.to_numeric(plain, errors="coerce").isin(numbers)
            changed[name] = column.mask(gone.astype(bool))
    return frame.assign(**changed)
