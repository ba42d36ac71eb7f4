"""Files of one command: all of them are written, or none.

Paths are checked before the work begins: a fit of ten minutes must not fail for a folder that is
not there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..atomic import Writer, write_together
from ..places import place_of
from ..sizes import size_in_words as size_in_words
from .messages import UnusableError
from .spreadsheets import defused

if TYPE_CHECKING:
    import pandas as pd

NONE = "none"
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
"""Endings of what is never written; a spreadsheet program calls a CSV under such a name damaged."""


def output_path(given: str | None) -> Path | None:
    """Return where to write; "none" means nowhere.

    Parameters
    ----------
    given : str or None
        What the user gave.

    Returns
    -------
    Path or None
        Where to.
    """
    return None if given is None or given.lower() == NONE else Path(given)


def check_outputs(outputs: Sequence[Path | None], inputs: Sequence[str | Path]) -> None:
    """Raise where outputs would overwrite inputs or each other, or cannot be written.

    Parameters
    ----------
    outputs : sequence of Path or None
        Where the command will write.
    inputs : sequence of str or Path
        What it reads; "-" is standard input.
    """
    read = [Path(path) for path in inputs if str(path) != "-"]
    seen: list[Path] = []
    for path in outputs:
        if path is None:
            continue
        if path.suffix.lower() in WORKBOOKS:
            raise UnusableError(
                f"{path}: workbooks are read, not written: name it .csv, .tsv or .parquet"
            )
        try:
            place = place_of(path)
        except OSError as error:
            raise UnusableError(error.strerror) from None
        if not place.is_stream and any(_same(place.target, other) for other in read):
            raise UnusableError(f"{path} is an input and would be lost: choose another name")
        if not place.is_null and any(_same(place.target, other) for other in seen):
            raise UnusableError(f"{path} is named for two outputs: choose different names")
        seen.append(place.target)


def _texts(names: Any) -> list[str]:
    return [str(name) for name in names]


def _same(path: Path, other: Path) -> bool:
    """Return whether two names are one file, by whatever links."""
    try:
        return path.samefile(other)
    except OSError:  # one of them is not there yet
        return os.path.realpath(path) == os.path.realpath(other)


def write_all(writers: Mapping[Path, Writer]) -> dict[str, int]:
    """Write files, all or none of them.

    Parameters
    ----------
    writers : mapping of Path to callable
        For each place what writes the file, given a path to write to.

    Returns
    -------
    dict
        Size in bytes of each file.
    """
    return {str(path): size for path, size in write_together(writers).items()}


def table_writer(frame: pd.DataFrame) -> Writer:
    """Return what writes a table as its name says: Parquet, TSV or CSV, compressed or not.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table; its index is a column of the file.

    Returns
    -------
    callable
        To be given the path.
    """

    def write(path: Path) -> None:
        table = with_names(frame)
        if path.suffix == ".parquet":
            table.to_parquet(path, index=False)
        else:
            tabs = ".tsv" in path.suffixes
            defused(table).to_csv(path, sep="\t" if tabs else ",", index=False)

    return write


def print_table(frame: pd.DataFrame) -> None:
    """Print a table as CSV on standard output.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table; its index is a column.
    """
    defused(with_names(frame)).to_csv(sys.stdout, index=False)


def with_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose index has become a column, each name once.

    Rows that are called what a column says have that column already.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.

    Returns
    -------
    pandas.DataFrame
        The same; names of rows stand first, or where they stood.

    Examples
    --------
    >>> import pandas as pd
    >>> from robustscn.cli.writing import with_names
    >>> table = pd.DataFrame({"size": [4, 5], "batch": ["a", "b"]})
    >>> list(with_names(table.set_axis(pd.Index(["a", "b"], name="batch"))))
    ['size', 'batch']
    >>> list(with_names(table.set_axis(pd.Index([2, 3], name="batch"))))
    ["batch'", 'size', 'batch']
    """
    name = frame.index.name
    if name in frame.columns and _texts(frame.index) == _texts(frame[name]):
        return frame.reset_index(drop=True)
    while name in frame.columns:
        name = f"{name}'"
    return frame.reset_index(names=name)
