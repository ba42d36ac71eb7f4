"""How a text table is written: encoding, separator, decimal sign and header.

The header decides: a separator is one that cuts it into several names, and among those the one
by which most of the first rows have as many fields as the header. Where the first line is no
header, `preamble` looks for it further down. Everything is found from the first few dozen lines;
whether the rest agrees is found out while reading.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..text import shortened
from .faults import TableError, quoted
from .preamble import header_after, rows_below_header

MOST_COLUMNS = 10_000
SEPARATORS = (",", ";", "\t", "|")
SPACES = " "
_SAMPLE_LINES = 60
_SAMPLE_CHARACTERS = 2_000_000
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: it begins with that one's mark
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x19\x1b-\x1f]")
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_POINT_NUMBER = re.compile(r"[+-]?\d+\.\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Parameters
    ----------
    separator : str
        What stands between fields; a space means any run of blanks.
    decimal : str
        Point or comma.
    names : tuple of str
        The columns; what has no name is called "column 3".
    unnamed : tuple of str
        Those that had no name.
    header_lines : int
        Lines up to the end of the header.
    header_bytes : int
        Their length as UTF-8.
    units : tuple of str
        What a row of units under the header says of each column; empty where there is none.
    notes : tuple of str
        What was assumed.
    lines_above : int
        Lines above the header.
    """

    separator: str
    decimal: str
    names: tuple[str, ...]
    unnamed: tuple[str, ...]
    header_lines: int
    header_bytes: int
    units: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lines_above: int = 0


def as_utf8(data: bytes, encoding: str | None = None) -> tuple[bytes, list[str]]:
    """Return a text as UTF-8 without a byte order mark, and notes on what was assumed.

    Parameters
    ----------
    data : bytes
        The text.
    encoding : str or None
        Its encoding; None finds out.

    Returns
    -------
    text : bytes
        As UTF-8.
    notes : list of str
        What the reader should know.
    """
    if encoding is not None:
        return _decoded(data, encoding).encode(), []
    for mark, name in _BOMS:
        if data.startswith(mark):
            text = data[len(mark) :]
            return (_decoded(text, name).encode() if name != "utf-8" else _checked(text)), []
    _refuse_binary(data)
    if data.isascii():
        return data, []
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            raise TableError("the text ends inside a character: the file is truncated") from None
        if _CONTROL.search(data):
            raise TableError("this is no text and no Parquet: write the table as CSV") from None
        line = data.count(b"\n", 0, error.start) + 1
        note = f"the text is not UTF-8 (line {line}); it was read as Windows-1252 (Western Europe)"
        return _western(data).encode(), [note]
    return data, []


def _checked(text: bytes) -> bytes:
    _refuse_binary(text)
    return _decoded(text, "utf-8").encode()


def _decoded(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except LookupError:
        raise TableError(f"there is no encoding {encoding!r}: try utf-8, utf-16, cp1252") from None
    except UnicodeDecodeError as error:
        raise TableError(
            f"byte {error.start:,} is no {encoding} text: the file is truncated or damaged, "
            "or has another encoding"
        ) from None
    return text.removeprefix("\ufeff")


def _western(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:  # five bytes have no meaning there
        return data.decode("latin-1")


def _refuse_binary(data: bytes) -> None:
    at = data.find(b"\0")
    if at < 0:
        return
    sides = data[:1000][::2].count(0), data[:1000][1::2].count(0)
    if max(sides) > 100 * (min(sides) + 0.1) * (len(data) > 20) and max(sides) > 5:
        side = "be" if sides[0] > sides[1] else "le"
        raise TableError(
            f"this looks like UTF-16 without its mark: save it as UTF-8, or name the encoding "
            f"utf-16-{side}"
        )
    line = data.count(b"\n", 0, at) + 1
    raise TableError(f"line {line:,} holds a NUL byte: the file is damaged, or no text")


def dialect_of(
    text: bytes,
    separator: str | None = None,
    *,
    skip_rows: int | None = None,
    decimal: str | None = None,
) -> Dialect:
    """Find out how a text table is written.

    Parameters
    ----------
    text : bytes
        The table as UTF-8.
    separator : str or None
        What stands between fields; None finds out.
    skip_rows : int or None
        Lines above the header; None finds out.
    decimal : str or None
        Decimal sign; None finds out.

    Returns
    -------
    Dialect
        Separator, decimal sign and header.
    """
    sample = _first_lines(text, skip_rows or 0)
    if not any(line.strip() for line in sample[skip_rows or 0 :]):
        raise TableError("the file is empty: it needs a header line and rows")
    first = skip_rows or 0
    start = next(i for i, line in enumerate(sample) if i >= first and line.strip())
    if re.fullmatch(r"sep=.\s*", sample[start]):  # what Excel writes for itself
        separator, start = separator or sample[start][4], start + 1
    if not sample[start:]:
        raise TableError("the file is empty: it needs a header line and rows")
    notes = []
    if skip_rows is None:
        candidates = SEPARATORS if separator is None else (separator,)
        if found := header_after(sample[start:], candidates):
            above, separator = found
            start += above
            plural = f"first {start} lines are" if start > 1 else "first line is"
            notes.append(f"the {plural} no part of the table: the header is line {start + 1}")
    lines = sample[start:]
    separator = separator or _sniffed(lines)
    header, used = _header(lines, separator)
    names, unnamed = _names(header)
    units: tuple[str, ...] = ()
    below = 0
    if separator != SPACES:
        records = list(_lenient(lines[used:], separator))
        units, below, more = rows_below_header(records, start + used + 1)
        notes += more
    used += below
    before = sum(len(line.encode()) for line in sample[: start + used])
    if decimal is None:
        commas = separator != "," and _comma_decimals(lines[used:], separator)
        decimal = "," if commas else "."
    return Dialect(
        separator, decimal, names, unnamed, start + used, before, units, tuple(notes), start
    )


def _lenient(lines: list[str], separator: str) -> Iterator[list[str]]:
    """Yield the fields of the first lines; what is wrong with them is said when they are read."""
    try:
        yield from fields_of(lines, separator)
    except csv.Error:
        return


def _first_lines(text: bytes, skipped: int) -> list[str]:
    """Return the first lines with their ends; the last one may be cut short."""
    head = text[:_SAMPLE_CHARACTERS].decode("utf-8", errors="ignore")
    if not re.search(r"[\r\n]", head) and len(text) > _SAMPLE_CHARACTERS:
        _refuse_many(max(head.count(s) for s in SEPARATORS))
        raise TableError(
            f"the first line is longer than {_SAMPLE_CHARACTERS:,} characters: "
            "are there line ends in this file?"
        )
    return list(lines_of(head))[: skipped + _SAMPLE_LINES]


def lines_of(text: str) -> Iterator[str]:
    """Yield lines with their ends as CSV has them: str.splitlines would break at more.

    Parameters
    ----------
    text : str
        A table.

    Yields
    ------
    str
        One line.
    """
    yield from re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$", text)


def _refuse_many(n_separators: int) -> None:
    if n_separators >= MOST_COLUMNS:
        raise TableError(
            f"the table has {n_separators + 1:,} columns or more, at most {MOST_COLUMNS:,} are "
            "read: keep the columns that matter, or turn the table if its rows are its columns"
        )


def _sniffed(lines: list[str]) -> str:
    best, best_score = "", (0.0, 1)
    for separator in SEPARATORS:
        _refuse_many(lines[0].count(separator))
        counts = _counts(lines, separator)
        if counts and counts[0] > 1:
            agree = sum(c == counts[0] for c in counts[1:]) / max(1, len(counts) - 1)
            if (agree, counts[0]) > best_score or not best:
                best, best_score = separator, (agree, counts[0])
    blanks = [len(line.split()) for line in lines if line.strip()]
    by_blanks = blanks[0] > 1 and len(blanks) > 1 and len(set(blanks)) == 1
    if by_blanks and '"' not in lines[0] and best_score[0] == 0:
        return SPACES
    return best or ","


def _counts(lines: list[str], separator: str) -> list[int]:
    try:
        return [len(record) for record in csv.reader(lines, delimiter=separator) if record]
    except csv.Error:
        return []


def fields_of(lines: list[str], separator: str) -> Iterator[list[str]]:
    """Yield the fields of each record.

    Parameters
    ----------
    lines : list of str
        Lines with their ends.
    separator : str
        What stands between fields; a space means any run of blanks.

    Yields
    ------
    list of str
        One record.
    """
    if separator == SPACES:
        yield from (line.split() for line in lines)
    else:
        yield from csv.reader(lines, delimiter=separator)


def _header(lines: list[str], separator: str) -> tuple[list[str], int]:
    if separator == SPACES:
        return lines[0].split(), 1
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        header = next(reader)
    except (csv.Error, StopIteration):
        raise TableError(
            "the header opens a quote that is not closed: close or remove it"
        ) from None
    _refuse_many(len(header) - 1)
    return header, reader.line_num


def _names(header: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    stripped = [" ".join(name.split()) for name in header]
    twice = [name for name, count in Counter(filter(None, stripped)).items() if count > 1]
    if twice:
        times = "twice" if stripped.count(twice[0]) == 2 else "more than twice"
        raise TableError(
            f"the header names {quoted(twice)} {times}: give every column a name of its own"
        )
    if not any(stripped):
        raise TableError("the header has no names: write the columns' names in the first line")
    if long := [name for name in stripped if len(name) > 10_000]:
        raise TableError(f"the name {shortened(long[0])!r} is {len(long[0]):,} characters long")
    taken = set(stripped)
    names, unnamed = [], []
    for place, name in enumerate(stripped, start=1):
        if not name:
            name = f"column {place}"
            while name in taken:
                name += "'"
            unnamed.append(name)
        names.append(name)
    return tuple(names), tuple(unnamed)


def _comma_decimals(lines: list[str], separator: str) -> bool:
    fields = [f.strip() for record in fields_of(lines, separator) for f in record]
    commas = sum(bool(_COMMA_NUMBER.fullmatch(f)) for f in fields)
    return commas > sum(bool(_POINT_NUMBER.fullmatch(f)) for f in fields)
