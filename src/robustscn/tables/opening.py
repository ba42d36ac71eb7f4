"""From a path, a pipe or a buffer to the bytes of a table.

What a file is, is told by its first bytes and never by its name: compressed files are unpacked,
and files that are no tables (workbooks, pictures, databases) are named in the error.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

from .faults import TableError, nearest, quoted

PARQUET = b"PAR1"
_NO_TABLES = {
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"%PDF": "a PDF document: export the table as CSV",
    b"SQLite format 3": "an SQLite database: export the table as CSV",
    b"\x89HDF": "an HDF5 file: export the table as CSV or Parquet",
    b"ARROW1": "an Arrow or Feather file: write it as Parquet",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the sheet as CSV",
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


def opened(source: Any) -> bytes:
    """Return the unpacked bytes of a table.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        Where the table is; "-" is standard input.

    Returns
    -------
    bytes
        Text or Parquet, unpacked.
    """
    data = _unpacked(_raw(source))
    start = data[:512].removeprefix(b"\xef\xbb\xbf").lstrip()
    for magic, what in _NO_TABLES.items():
        if start[: len(magic)].lower() == magic.lower():
            raise TableError(f"this is no table but {what}")
    return data


def _raw(source: Any) -> bytes:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if hasattr(source, "read"):
        content = source.read()
        return content.encode() if isinstance(content, str) else content
    if str(source) == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise TableError("'-' reads a table from standard input, but nothing is piped in")
        return sys.stdin.buffer.read()
    return _file(Path(source))


def _file(path: Path) -> bytes:
    if path.is_dir():
        inside = sorted(p.name for p in path.iterdir() if p.is_file())
        hint = f"name a file in it, such as {quoted(inside, 3)}" if inside else "it is empty"
        raise TableError(f"{path} is a folder: {hint}")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise TableError(f"there is no file {path}{file_hint(path)}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TableError(f"{path} cannot be read: {reason}") from None


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


def _unpacked(data: bytes) -> bytes:
    """Return the data, decompressed where its first bytes say that it is compressed."""
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"BZh"):
            return bz2.decompress(data)
        if data.startswith(b"\xfd7zXZ\x00"):
            return lzma.decompress(data)
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            return _unzstd(data)
        if data.startswith(b"PK\x03\x04") or data.startswith(b"PK\x05\x06"):
            return _only_member(data)
    except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(
            f"the compressed file is truncated or damaged ({error}): copy or download it again"
        ) from None
    return data


def _unzstd(data: bytes) -> bytes:
    import pyarrow

    with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as stream:
        return stream.read()


def _only_member(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [
            info.filename
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith("__MACOSX")
        ]
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise TableError("this is a workbook or a document: save the sheet as CSV")
        if len(names) != 1:
            raise TableError(
                f"the zip file holds {len(names)} files ({quoted(names, 3)}): pack one table alone"
                if names
                else "the zip file is empty: pack the table into it"
            )
        try:
            return archive.read(names[0])
        except (RuntimeError, NotImplementedError) as error:  # a password, an unknown method
            raise TableError(
                f"the zip file cannot be unpacked ({error}): unpack it first"
            ) from None
