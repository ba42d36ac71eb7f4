"""From a path, a pipe or a buffer to the bytes of a table.

What a file is, is told by its first bytes and never by its name: compressed files are unpacked,
and files that are no tables (workbooks, pictures, databases) are named in the error. A few bytes
may unpack to terabytes, and a pipe may have no end: nothing is read beyond a limit.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

from ..sizes import GB, TooLargeError, read_at_most, size_in_words
from .faults import TableError, nearest, quoted
from .workbook import is_workbook

PARQUET = b"PAR1"
_NO_TABLES = {
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"%PDF": "a PDF document: export the table as CSV",
    b"SQLite format 3": "an SQLite database: export the table as CSV",
    b"\x89HDF": "an HDF5 file: export the table as CSV or Parquet",
    b"ARROW1": "an Arrow or Feather file: write it as Parquet",
    b"7z\xbc\xaf": "a 7z archive: unpack it first",
    b"Rar!": "a RAR archive: unpack it first",
    b"\x7fELF": "a program",
    b"\x80\x04\x95": "a pickle: write the table as CSV or Parquet",
    b"<!DOCTYPE": "a web page: was the download a login or an error page?",
    b"<html": "a web page: was the download a login or an error page?",
    b"<?xml": "an XML document: export the table as CSV",
    b"{": "JSON: write the table as CSV or Parquet",
    b"[{": "JSON: write the table as CSV or Parquet",
}


MOST_BYTES = 4 * GB
"""What a table may unpack to unless the caller allows more, or the machine has less."""

BYTES_OF_A_VALUE = 8
"""What each value of a table takes in memory, however short it is in the file."""


def most_bytes() -> int:
    """Return the limit on a table's size: `MOST_BYTES`, or half the memory where that is less.

    Returns
    -------
    int
        In bytes.
    """
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # this system does not say
        return MOST_BYTES
    return min(MOST_BYTES, memory // 2)


def refuse_large(n_bytes: int, limit: int, what: str = "the table unpacks to") -> None:
    """Raise where a table is beyond the limit.

    Parameters
    ----------
    n_bytes : int
        Its size.
    limit : int
        Most bytes.
    what : str
        Beginning of the message.
    """
    if n_bytes > limit:
        more = f"more than {size_in_words(limit)}" if n_bytes <= limit + 1 else ""
        raise TableError(
            f"{what} {more or size_in_words(n_bytes)}, the limit is {size_in_words(limit)}: allow "
            "more (--max-size, max_size=), or give Parquet to --dask"
        )


def opened(source: Any, limit: int) -> bytes:
    """Return the unpacked bytes of a table.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        Where the table is; "-" is standard input.
    limit : int
        Most bytes, packed or unpacked.

    Returns
    -------
    bytes
        Text, Parquet or a workbook, unpacked.
    """
    try:
        data = _unpacked(_raw(source, limit), limit)
    except TooLargeError:
        refuse_large(limit + 1, limit)
        raise
    start = data[:512].removeprefix(b"\xef\xbb\xbf").lstrip()
    for magic, what in _NO_TABLES.items():
        if start[: len(magic)].lower() == magic.lower():
            raise TableError(f"this is no table but {what}")
    return data


def _raw(source: Any, limit: int) -> bytes:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if hasattr(source, "read"):
        if isinstance(source.read(0), str):
            return source.read().encode()
        return read_at_most(source, limit)
    if str(source) == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise TableError("'-' reads a table from standard input, but nothing is piped in")
        _refuse_device(sys.stdin, "standard input")
        return read_at_most(sys.stdin.buffer, limit)
    return _file(Path(source), limit)


def _file(path: Path, limit: int) -> bytes:
    if path.is_dir():
        inside = sorted(p.name for p in path.iterdir() if p.is_file())
        hint = f"name a file in it, such as {quoted(inside, 3)}" if inside else "it is empty"
        raise TableError(f"{path} is a folder: {hint}")
    try:
        with open(path, "rb") as file:
            _refuse_device(file, str(path))
            status = os.fstat(file.fileno())
            refuse_large(status.st_size, limit, f"{path} has")
            return read_at_most(file, limit)
    except FileNotFoundError:
        raise TableError(f"there is no file {path}{file_hint(path)}") from None
    except (TableError, TooLargeError):
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TableError(f"{path} cannot be read: {reason}") from None


def _refuse_device(file: Any, name: str) -> None:
    """Raise where bytes come from a device, most of which have no end."""
    try:
        status = os.fstat(file.fileno())
    except (OSError, ValueError, AttributeError):  # held in memory
        return
    null = os.path.exists(os.devnull) and os.stat(os.devnull).st_rdev == status.st_rdev
    if (stat.S_ISCHR(status.st_mode) and not null) or stat.S_ISBLK(status.st_mode):
        raise TableError(f"{name} is a device and no table: give a file or a pipe")


def file_hint(path: Path) -> str:
    """Return the end of a message about a file that is not there: the nearest names.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Beginning with a colon, or empty.
    """
    try:
        names = {p.stem: p.name for p in path.parent.iterdir()}
    except OSError:
        return f": there is no folder {path.parent} either"
    near = [names[stem] for stem in nearest(path.stem, names)]
    return f": did you mean {quoted(near)}?" if near else ""


def _unpacked(data: bytes, limit: int) -> bytes:
    """Return the data, decompressed where its first bytes say that it is compressed."""
    try:
        if data.startswith(b"\x1f\x8b"):
            return read_at_most(gzip.GzipFile(fileobj=io.BytesIO(data)), limit)
        if data.startswith(b"BZh"):
            return read_at_most(bz2.BZ2File(io.BytesIO(data)), limit)
        if data.startswith(b"\xfd7zXZ\x00"):
            return read_at_most(lzma.LZMAFile(io.BytesIO(data)), limit)
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            return _unzstd(data, limit)
        if data.startswith(b"PK\x03\x04") or data.startswith(b"PK\x05\x06"):
            return data if is_workbook(data) else _only_member(data, limit)
    except (TableError, TooLargeError):
        raise
    except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        raise TableError(
            f"the compressed file is truncated or damaged ({error}): copy or download it again"
        ) from None
    return data


def _unzstd(data: bytes, limit: int) -> bytes:
    import pyarrow

    with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as stream:
        return read_at_most(stream, limit)


def _only_member(data: bytes, limit: int) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [
            info.filename
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith("__MACOSX")
        ]
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise TableError("this is a document and no table: save the table as CSV")
        if len(names) != 1:
            raise TableError(
                f"the zip file holds {len(names)} files ({quoted(names, 3)}): pack one table alone"
                if names
                else "the zip file is empty: pack the table into it"
            )
        try:
            with archive.open(names[0]) as member:
                return read_at_most(member, limit)
        except (RuntimeError, NotImplementedError) as error:  # a password, an unknown method
            raise TableError(
                f"the zip file cannot be unpacked ({error}): unpack it first"
            ) from None
