"""Files of one command: all of them are written, or none.

Each is first written beside its place under a hidden name; only when all are complete are they
moved, which the file system does at once. Paths are checked before the work begins: a fit of
ten minutes must not fail for a folder that is not there.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .messages import UnusableError

if TYPE_CHECKING:
    import pandas as pd

Writer = Callable[[Path], Any]
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
    """Raise where outputs would overwrite inputs or each other, or have no folder.

    Parameters
    ----------
    outputs : sequence of Path or None
        Where the command will write.
    inputs : sequence of str or Path
        What it reads; "-" is standard input.
    """
    read = {Path(path).resolve() for path in inputs if str(path) != "-"}
    seen: set[Path] = set()
    for path in outputs:
        if path is None:
            continue
        place = path.resolve()
        if place in read:
            raise UnusableError(f"{path} is an input and would be lost: choose another name")
        if place in seen:
            raise UnusableError(f"{path} is named for two outputs: choose different names")
        if path.is_dir():
            raise UnusableError(f"{path} is a folder: add a file name")
        if not path.parent.is_dir():
            raise UnusableError(f"there is no folder {path.parent}: create it first")
        if not os.access(path.parent, os.W_OK):
            raise UnusableError(f"the folder {path.parent} cannot be written to: choose another")
        seen.add(place)


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
    parts = {path: path.with_name(f".{secrets.token_hex(4)}.{path.name}") for path in writers}
    try:
        for path, write in writers.items():
            write(parts[path])
        sizes = {str(path): part.stat().st_size for path, part in parts.items()}
        for path, part in parts.items():
            os.replace(part, path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return sizes


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
            frame.to_csv(path, sep="\t" if ".tsv" in path.suffixes else ",")

    return write


def size_in_words(n_bytes: int) -> str:
    """Return a file's size for people.

    Parameters
    ----------
    n_bytes : int
        Its length.

    Returns
    -------
    str
        Such as "1.2 MB".
    """
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit != "MB" else f"{size:.1f} MB"
        size /= 1000
    return f"{size:.1f} GB"
