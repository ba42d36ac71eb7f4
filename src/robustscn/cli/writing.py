"""Files of one command: all of them are written, or none.

Paths are checked before the work begins: a fit of ten minutes must not fail for a folder that is
not there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..atomic import Writer, write_together
from ..places import place_of
from ..sizes import size_in_words as size_in_words
from .messages import UnusableError
from .spreadsheets import defused

if TYPE_CHECKING:
    import pandas as pd

NONE = "none"


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
        try:
            place = place_of(path)
        except OSError as error:
            raise UnusableError(error.strerror) from None
        if not place.is_stream and any(_same(place.target, other) for other in read):
            raise UnusableError(f"{path} is an input and would be lost: choose another name")
        if not place.is_null and any(_same(place.target, other) for other in seen):
            raise UnusableError(f"{path} is named for two outputs: choose different names")
        seen.append(place.target)


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
        if path.suffix == ".parquet":
            frame.reset_index().to_parquet(path, index=False)
        else:
            defused(frame).to_csv(path, sep="\t" if ".tsv" in path.suffixes else ",")

    return write
