"""A sheet of a workbook as text: Excel's old and new files, and OpenDocument.

The sheet becomes a CSV whose lines are its rows, and is read like any other file: lines above the
header, rows of units and numbers written for people are as common there.
"""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import date, datetime, time, timedelta
from typing import Any

from ..sizes import size_in_words
from ..text import shortened
from .faults import TableError, nearest, quoted

OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"
_INSIDE = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")


def is_workbook(data: bytes) -> bool:
    """Return whether a file is a workbook, by its content.

    Parameters
    ----------
    data : bytes
        The file.

    Returns
    -------
    bool
        Whether it is.
    """
    if data.startswith(OLD_WORKBOOK):
        return True
    if not data.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            if "content.xml" in names and "mimetype" in names:
                return b"spreadsheet" in archive.read("mimetype")
            return "[Content_Types].xml" in names and bool(names & set(_INSIDE))
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
        return False


def sheet_as_csv(data: bytes, sheet: str | None, limit: int) -> tuple[bytes, list[str]]:
    """Return a sheet as CSV in UTF-8, one line for each row of it.

    Parameters
    ----------
    data : bytes
        The workbook.
    sheet : str or None
        Name of the sheet; None takes the first that is not empty.
    limit : int
        Most bytes, of the workbook unpacked and of the CSV.

    Returns
    -------
    text : bytes
        The CSV.
    notes : list of str
        What was assumed.
    """
    _refuse_large(data, limit)
    book = _opened(data)
    names = [str(name) for name in book.sheet_names]
    if sheet is not None and sheet not in names:
        near = nearest(sheet, names)
        hint = f"did you mean {quoted(near)}?" if near else f"its sheets are {quoted(names)}"
        raise TableError(f"the workbook has no sheet {shortened(sheet)!r}: {hint}")
    for name in names if sheet is None else [sheet]:
        rows = _rows(book, name)
        if any(any(cell != "" for cell in row) for row in rows):
            others = len(names) > 1 and sheet is None
            note = f"the workbook has {len(names)} sheets: {shortened(name)!r} is read (--sheet)"
            return _csv(rows, limit), [note] if others else []
    raise TableError("the workbook is empty: it needs a header row and rows")


def _opened(data: bytes) -> Any:
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise ImportError(
            "workbooks need python-calamine: pip install 'robustscn[excel]', or save the sheet as "
            "CSV"
        ) from None
    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(data))
    except Exception as error:  # its own kinds have changed from version to version
        raise _damaged(error) from None


def _rows(book: Any, name: str) -> list[list[Any]]:
    try:
        return book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except Exception as error:
        raise _damaged(error) from None


def _damaged(error: Exception) -> TableError:
    return TableError(
        f"the workbook (Excel, OpenDocument) cannot be read ({shortened(error, 80)}): open it and "
        "save the sheet as CSV"
    )


def _refuse_large(data: bytes, limit: int) -> None:
    """Raise where a small file unpacks to much; the old kind is not packed."""
    if data.startswith(OLD_WORKBOOK):
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > limit:
        raise TableError(
            f"the workbook unpacks to {size_in_words(size)}, the limit is {size_in_words(limit)}: "
            "allow more (--max-size, max_size=)"
        )


def _csv(rows: list[list[Any]], limit: int) -> bytes:
    width = max((i + 1 for row in rows for i, cell in enumerate(row) if cell != ""), default=0)
    last = max(i for i, row in enumerate(rows) if any(cell != "" for cell in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows[: last + 1]:
        writer.writerow([_text(cell) for cell in row[:width]])
        if text.tell() > limit:
            raise TableError(
                f"the sheet is more than {size_in_words(limit)} of text: allow more (--max-size, "
                "max_size=)"
            )
    return text.getvalue().encode("utf-8", "replace")


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat(sep=" ") if isinstance(cell, datetime) else cell.isoformat()
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds())
    # A cell may hold several lines; a line of the CSV is a row of the sheet.
    return " ".join(str(cell).split())
