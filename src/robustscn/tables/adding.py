"""A file of rows with one column more, and all else as it was.

Text stays text, line for line: titles above the header, units, signs in numbers and the order of
rows are what they were, so that a row keeps its name. A workbook becomes CSV, a line for each row
of its sheet; Parquet stays Parquet.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from .dialect import SPACES, Dialect, as_utf8, dialect_of, lines_of
from .faults import TableError
from .opening import PARQUET, most_bytes, opened
from .workbook import is_workbook, sheet_as_csv


def with_column(
    source: Any,
    name: str,
    values: Sequence[str],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    skip_rows: int | None = None,
    sheet: str | None = None,
) -> tuple[bytes, str]:
    r"""Return a table with one more column at its end.

    Parameters
    ----------
    source : str, Path or bytes
        The table, as `read_table` takes it.
    name : str
        What the column is called; letters, digits and underscores.
    values : sequence of str
        Plain words, one for each row that `read_table` finds; empty ones leave the cell empty.
    separator, encoding, skip_rows, sheet : str, int or None
        As `read_table` takes them.

    Returns
    -------
    content : bytes
        CSV as UTF-8 with the separator of the file (tabs for runs of blanks), or Parquet.
    ending : str
        ".csv" or ".parquet".

    Raises
    ------
    TableError
        Where the table cannot be read, or has another number of rows.

    Examples
    --------
    >>> from robustscn.tables import with_column
    >>> with_column(b"flow;size\n1,5;0,2\n2,5;0,3\n", "review", ["", "fine"])
    (b'flow;size;review\n1,5;0,2;\n2,5;0,3;fine\n', '.csv')
    """
    limit = most_bytes()
    data = opened(source, limit)
    if data.startswith(PARQUET):
        return _parquet(data, name, values), ".parquet"
    if is_workbook(data):
        utf8, separator = sheet_as_csv(data, sheet, limit)[0], ","
    else:
        utf8 = as_utf8(data, encoding)[0]
    dialect = dialect_of(utf8, separator, skip_rows=skip_rows)
    text = "".join(_longer(utf8.decode("utf-8"), dialect, name, values))
    # Spreadsheets take a text without a mark for one in the system's own encoding.
    return text.encode("utf-8" if text.isascii() else "utf-8-sig"), ".csv"


def _longer(text: str, dialect: Dialect, name: str, values: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a text with a field more in each record from the header on."""
    lines = list(lines_of(text.rstrip("\r\n\x1a") + "\n"))
    yield from lines[: dialect.lines_above]
    given = iter(values)
    last = dialect.lines_above
    field, n_rows = name, 0
    for record, end in _records(lines[last:], dialect):
        whole, ending = _parted("".join(lines[last : dialect.lines_above + end]))
        last = dialect.lines_above + end
        if not record:  # a blank line is no row
            yield whole + ending
            continue
        if last > dialect.header_lines:
            field, n_rows = next(given, ""), n_rows + 1
        spaces = dialect.separator == SPACES
        yield "\t".join((*record, field)) if spaces else f"{whole}{dialect.separator}{field}"
        yield ending
        field = ""  # units and descriptions below the header have nothing to say of it
    if n_rows != len(values):
        raise TableError(f"the table has {n_rows:,} rows, but there are {len(values):,} answers")


def _records(lines: list[str], dialect: Dialect) -> Iterator[tuple[list[str], int]]:
    """Yield each record and the number of lines up to its end."""
    if dialect.separator == SPACES:
        yield from ((line.split(), end) for end, line in enumerate(lines, start=1))
        return
    reader = csv.reader(lines, delimiter=dialect.separator)
    yield from ((record, reader.line_num) for record in reader)


def _parted(line: str) -> tuple[str, str]:
    whole = line.rstrip("\r\n")
    return whole, line[len(whole) :]


def _parquet(data: bytes, name: str, values: Sequence[str]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    table = parquet.read_table(pa.BufferReader(data))
    if table.num_rows != len(values):
        raise TableError(
            f"the table has {table.num_rows:,} rows, but there are {len(values):,} answers"
        )
    column = pa.array([value or None for value in values], type=pa.string())
    written = io.BytesIO()
    parquet.write_table(table.append_column(name, column), written)
    return written.getvalue()
