"""What stands around a header: titles above it, units and descriptions below.

The first line is the header unless it cannot be: it has another number of fields than the rows, or
most of its fields are empty. Then the header is the first line that names as many columns as the
rows below have, none of them by a number. Below it, a line without numbers over columns of numbers
is no row.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence

from ..text import shortened
from .marks import is_mark
from .quantities import is_number
from .units import is_known, unit_of

_DEEPEST = 40
_MOST_BELOW = 3
_DATE = re.compile(r"\d{1,4}[-./ ]\w{1,9}[-./, ]+\d{1,4}(?:[ T].*)?|\d{1,2}:\d{2}.*")


def header_after(lines: Sequence[str], separators: Sequence[str]) -> tuple[int, str] | None:
    """Return where the header is, if it is not the first line, and the separator.

    Parameters
    ----------
    lines : sequence of str
        The first lines of a file, from the first that is not blank.
    separators : sequence of str
        What may stand between fields.

    Returns
    -------
    (int, str) or None
        Lines above the header; None where the first line is the header, or no line is.
    """
    best: tuple[int, int, str] | None = None
    widest = 0  # of those separators by which the first line is a header
    for separator in separators:
        if separator.isspace() and separator != "\t":
            continue
        rows = _fields(lines, separator)
        width = _width(rows)
        if width < 2 or len(rows) < 3:
            continue
        if _may_be_header(rows[0], width):
            widest = max(widest, width)
            continue
        place = _first_header(rows, width)
        if place is not None and (best is None or width > best[0]):
            best = (width, place, separator)
    # A title may have as many commas as the rows' dates or thousands; their separator makes more.
    return None if best is None or best[0] <= widest else (best[1], best[2])


def _fields(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Return the fields of each line alone, so that a quote in a title does no harm."""
    found = []
    for line in lines:
        try:
            record = next(csv.reader([line], delimiter=separator), [])
        except csv.Error:
            record = line.split(separator)
        found.append([field.strip() for field in record])
    return found


def _width(rows: list[list[str]]) -> int:
    """Return how many fields most of the lines have, the later ones, which are rows."""
    counts = Counter(len(row) for row in rows[len(rows) // 2 :] if any(row))
    return counts.most_common(1)[0][0] if counts else 0


def _may_be_header(row: list[str], width: int) -> bool:
    return len(row) == width and 2 * sum(field != "" for field in row) > width


def _first_header(rows: list[list[str]], width: int) -> int | None:
    for place, row in enumerate(rows[1 : _DEEPEST + 1], start=1):
        below = [other for other in rows[place + 1 :] if any(other)]
        if (
            _may_be_header(row, width)
            and below
            and not any(_is_value(field) for field in row)
            and len(set(filter(None, row))) == len([field for field in row if field])
            and sum(len(other) == width for other in below) >= 0.9 * len(below)
            and any(is_number(field) for other in below for field in other)
        ):
            return place
    return None


def _is_value(field: str) -> bool:
    return is_number(field) or _DATE.fullmatch(field) is not None


def rows_below_header(
    records: list[list[str]], line: int
) -> tuple[tuple[str, ...], int, list[str]]:
    """Return units that stand below the header, and how many lines there are no rows.

    Parameters
    ----------
    records : list of list of str
        Fields of the lines below the header.
    line : int
        Line of the first of them in the file.

    Returns
    -------
    units : tuple of str
        One for each column, or nothing.
    n_lines : int
        Lines that are no rows.
    notes : list of str
        What was assumed.
    """
    units: tuple[str, ...] = ()
    notes: list[str] = []
    taken = 0
    for taken in range(_MOST_BELOW):
        rest = [[field.strip() for field in record] for record in records[taken:]]
        if len(rest) < 3 or not _is_no_row(rest[0], rest[1:]):
            break
        if _are_units(rest[0]):
            units = tuple("" if field == "-" else unit_of(field) for field in rest[0])
            shown = ", ".join(shortened(unit, 12) for unit in units[:4] if unit)
            notes.append(f"line {line + taken} has the units ({shown}) and is no row")
        else:
            shown = shortened(rest[0][0], 20)
            notes.append(f"line {line + taken} ({shown!r}, ...) has no numbers and is no row")
    else:
        taken = _MOST_BELOW
    return units, taken, notes


def _is_no_row(row: list[str], below: list[list[str]]) -> bool:
    if any(_is_value(field) for field in row) or any(len(other) != len(row) for other in below[:3]):
        return False
    numeric = [j for j in range(len(row)) if _is_numeric(below, j)]
    here = [row[j] for j in numeric]
    if not here or not any(here):
        return False
    if _are_units(row):
        return all(field in ("", "-") or _is_unit(field) for field in here)
    # Not units: a second line of names, where every column of numbers has a word of its own.
    return len(here) > 1 and len(set(here)) == len(here) and not any(map(is_mark, here))


def _is_numeric(rows: list[list[str]], column: int) -> bool:
    """Return whether a column is numbers, which includes times of day but not dates."""
    cells = [row[column] for row in rows if column < len(row) and not is_mark(row[column])]
    return bool(cells) and sum(map(is_number, cells)) >= 0.8 * len(cells)


def _are_units(row: list[str]) -> bool:
    fields = [field for field in row if field]
    units = sum(_is_unit(field) for field in fields)
    return units > 0 and 2 * (units + fields.count("-")) >= len(fields)


def _is_unit(field: str) -> bool:
    bracketed = len(field) > 2 and field[0] + field[-1] in ("[]", "()")
    return bracketed or is_known(unit_of(field))
