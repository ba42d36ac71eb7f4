"""Words for what is wrong with a table.

Every fault of a file or of a column name is a `TableError` whose message is one line that says
what to do. Names that nearly match are offered: a mistyped column is the commonest mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from ..text import one_line, shortened


class TableError(ValueError):
    r"""A table that cannot be used as asked; the message is one line that says what to do.

    Examples
    --------
    >>> from robustscn.tables import TableError, read_table
    >>> try:
    ...     read_table(b"a,a\n1,2\n")
    ... except TableError as error:
    ...     print(error)
    the header names 'a' twice: give every column a name of its own
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three of the names that are nearly this one, the nearest first.

    Parameters
    ----------
    name : str
        What was asked for.
    names : iterable of str
        What there is.

    Returns
    -------
    list of str
        The nearest names; empty where none is near.
    """
    by_plain: dict[str, str] = {}
    for each in names:
        by_plain.setdefault(each.casefold().strip(), each)
    near = get_close_matches(name.casefold().strip(), list(by_plain), n=3, cutoff=0.6)
    return [by_plain[plain] for plain in near]


def quoted(names: Sequence[str], most: int = 6) -> str:
    """Return names in quotes with commas between, the first few of them.

    Parameters
    ----------
    names : sequence of str
        Names.
    most : int, default=6
        How many are written out.

    Returns
    -------
    str
        Such as "'a', 'b' and 3 more".
    """
    shown = ", ".join(repr(shortened(name)) for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def require_columns(names: Sequence[str], present: Iterable[str], where: str) -> None:
    """Raise a `TableError` where a column is not there, offering the nearest names.

    Parameters
    ----------
    names : sequence of str
        Columns that are needed.
    present : iterable of str
        Columns that there are.
    where : str
        What lacks them, as the message's subject.
    """
    there = list(present)
    missing = [name for name in names if name not in set(there)]
    if not missing:
        return
    if near := nearest(missing[0], there):
        hint = f"did you mean {quoted(near)}?"
    else:
        hint = f"its columns are {quoted(there)}"
    others = f" (and {len(missing) - 1:,} others)" if len(missing) > 1 else ""
    raise TableError(f"{where} has no column {shortened(missing[0])!r}{others}: {hint}")
