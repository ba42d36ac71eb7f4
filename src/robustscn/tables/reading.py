"""A table from any usual file: text with any separator, workbook, Parquet, compressed, or a pipe.

Arrow reads the rows, fast and strict: a row with a field too many or too few is an error and not
padded in silence. Only where Arrow refuses is the text gone through again, to say which line is
at fault. The index of the frame is the line of the file, so that whatever is said about a row
later can be looked up in an editor.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..text import shortened
from .dialect import SEPARATORS, SPACES, Dialect, as_utf8, dialect_of
from .faults import TableError, quoted
from .marks import without_marks
from .opening import BYTES_OF_A_VALUE, PARQUET, most_bytes, opened, refuse_large
from .quantities import refuse_other_units, tidied
from .workbook import is_workbook, sheet_as_csv

if TYPE_CHECKING:
    import pandas as pd

_BLOCK = 1 << 23
_WHOLE = (1 << 31) - 1
_PARQUET_ROWS = 1 << 16


def read_table(
    source: Any,
    *,
    text: tuple[str, ...] = (),
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    skip_rows: int | None = None,
    na: tuple[str, ...] = (),
    sheet: str | None = None,
    like: Mapping[str, Any] | None = None,
    max_size: int | None = None,
) -> pd.DataFrame:
    r"""Read a table.

    Parameters
    ----------
    source : str, Path, bytes or binary file
        CSV, TSV or another separator, a workbook (.xlsx, .xls, .ods), or Parquet; plain or
        compressed (gzip, bzip2, xz, zstd, zip with one file); "-" is standard input. What it
        is, is told by its content.
    text : tuple of str, default=()
        Columns that are kept as text even where all values look like numbers.
    separator : str or None, default=None
        What stands between fields; None finds out.
    encoding : str or None, default=None
        Encoding of a text; None takes the byte order mark, UTF-8 or Windows-1252.
    decimal, thousands : str or None, default=None
        Signs in numbers; None finds out.
    skip_rows : int or None, default=None
        Lines above the header; None finds out.
    na : tuple of str, default=()
        Texts and numbers that stand for nothing, in every column.
    sheet : str or None, default=None
        Which sheet of a workbook; None takes the first that is not empty.
    like : mapping or None, default=None
        ``attrs["reading"]`` of the table a model was made from: what is ambiguous is read as it
        was there, and another unit is an error.
    max_size : int or None, default=None
        Most bytes that the table may unpack to, each value counting eight at least; None allows
        4 GB, or half of the machine's memory where that is less.

    Returns
    -------
    pandas.DataFrame
        The rows. The index is the line in the file, named "line", or counts the rows from 1,
        named "row", where lines and rows do not match; of a sheet, "row" is the sheet's own.
        ``attrs["notes"]`` lists what was assumed, ``attrs["reading"]`` units and decimal signs.

    Raises
    ------
    TableError
        Where the table cannot be read; one line that says what to do.

    Examples
    --------
    >>> from robustscn.tables import read_table
    >>> read_table(b"flow;size\n1,5;0,2\n2,5;0,3\n")
          flow  size
    line
    2      1.5   0.2
    3      2.5   0.3
    """
    _require_libraries()
    limit = max_size or most_bytes()
    data = opened(source, limit)
    if data.startswith(PARQUET):
        frame = _from_parquet(data, limit)
        return _finished(frame, text, decimal, thousands, None, na, like)
    from_sheet = is_workbook(data)
    if from_sheet:
        utf8, notes = sheet_as_csv(data, sheet, limit)
        separator = ","
    else:
        utf8, notes = as_utf8(data, encoding)
    if thousands == "." and decimal is None:
        decimal = ","  # else 1.012 would have been read before anyone could look at its point
    dialect = dialect_of(utf8, separator, skip_rows=skip_rows, decimal=decimal)
    body = _body(utf8, dialect.header_bytes)
    if not body[:1000].strip() and not body.strip():
        raise TableError("the file has a header but no rows")
    _refuse_many(_n_lines(body), len(dialect.names), limit)
    if dialect.separator == SPACES:
        body = re.sub(rb"[ \t]+", b"\t", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", body))
    table = _from_text(body, dialect, text)
    _refuse_swallowed_lines(body, table.num_rows, dialect)
    frame, more = _plain(table)
    frame.index = _lines_or_rows(body, len(frame), dialect.header_lines)
    if from_sheet:
        frame.index.name = "row"
    notes += [*dialect.notes, *more, *_unnamed_left_out(frame, dialect.unnamed)]
    frame.attrs["notes"] = notes
    if all(re.fullmatch(r"[+-]?[\d.]+", name) for name in dialect.names):
        notes.append("the header is all numbers: does the file lack a header line?")
    frame = _finished(frame, text, decimal, thousands, _shown_decimal(frame, dialect), na, like)
    units = {n: u for n, u in zip(dialect.names, dialect.units, strict=False) if u}
    frame.attrs["reading"]["units"] = units | frame.attrs["reading"]["units"]
    refuse_other_units(frame.attrs["reading"]["units"], like)
    return frame


def _shown_decimal(frame: pd.DataFrame, dialect: Dialect) -> str | None:
    """Return the decimal sign of the file where numbers have shown it, else None."""
    if dialect.decimal == ",":
        return ","
    for name in frame.columns:
        values = frame[name]
        if values.dtype.kind == "f" and bool((values.dropna() % 1 != 0).any()):
            return dialect.decimal
    return None


def _finished(
    frame: pd.DataFrame,
    text: tuple[str, ...],
    decimal: str | None,
    thousands: str | None,
    hint: str | None,
    na: tuple[str, ...],
    like: Mapping[str, Any] | None,
) -> pd.DataFrame:
    """Return the table with its numbers read, and what was assumed kept beside it."""
    notes = frame.attrs["notes"]
    frame = without_marks(frame, na)
    frame, more, reading = tidied(
        frame, text=text, decimal=decimal, thousands=thousands, hint=hint, like=like
    )
    frame.attrs["notes"] = [*notes, *more]
    frame.attrs["reading"] = {**reading, "na": list(na)}
    return frame


def _refuse_many(n_rows: int, n_columns: int, limit: int) -> None:
    refuse_large(
        n_rows * n_columns * BYTES_OF_A_VALUE,
        limit,
        f"{n_rows:,} rows of {n_columns:,} columns take",
    )


def _body(utf8: bytes, start: int) -> bytes:
    """Return the rows without what ends the last of them; a table may be large, so copy once."""
    end = len(utf8)
    while end > start and utf8[end - 1] in b"\r\n\x1a":
        end -= 1
    return utf8[start:end]


def _require_libraries() -> None:
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as missing:
        raise ImportError(
            f"reading tables needs {missing.name}: pip install 'robustscn[cli]'"
        ) from None


def _from_text(body: bytes, dialect: Dialect, text: tuple[str, ...]) -> Any:
    import pyarrow as pa
    import pyarrow.csv as arrow

    def read(block: int) -> Any:
        return arrow.read_csv(
            pa.BufferReader(body),
            arrow.ReadOptions(column_names=list(dialect.names), block_size=block),
            arrow.ParseOptions(
                delimiter="\t" if dialect.separator == SPACES else dialect.separator,
                newlines_in_values=b'"' in body,
            ),
            arrow.ConvertOptions(
                decimal_point=dialect.decimal,
                strings_can_be_null=True,
                column_types={name: pa.string() for name in text if name in dialect.names},
            ),
        )

    try:
        try:
            return read(_BLOCK)
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error):
                raise
            return read(_WHOLE)  # a field longer than a block
    except (pa.ArrowException, ValueError) as error:
        if fault := _fault(body, dialect):
            raise TableError(fault) from None
        raise TableError(f"the table cannot be read: {shortened(error, 150)}") from None


def _fault(body: bytes, dialect: Dialect) -> str | None:
    """Return what is wrong with the first line that is, going through the text as CSV."""
    separator = "\t" if dialect.separator == SPACES else dialect.separator
    lines = io.StringIO(body.decode("utf-8"), newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    last, expected = 0, len(dialect.names)
    try:
        for record in reader:
            line, last = dialect.header_lines + last + 1, reader.line_num
            if record and len(record) != expected:
                return _ragged(record, line, expected, separator, at_end=not lines.read(1))
    except csv.Error as error:
        line = dialect.header_lines + last + 1
        if "expected after" in str(error):
            return f"line {line:,} has text after a closing quote: write quotes inside as two"
        return f"line {line:,} opens a quote that is not closed: close or remove it"
    return None


def _ragged(record: list[str], line: int, expected: int, separator: str, at_end: bool) -> str:
    n = len(record)
    fields = f"line {line:,} has {n} field{'s' * (n != 1)}, the header has {expected}"
    whole = separator.join(record)
    others = [s for s in SEPARATORS if s != separator and whole.count(s) == expected - 1 > 0]
    if others:
        return (
            f"{fields}: it is separated by {others[0]!r} and the header by {separator!r}: "
            "correct that line, or name the separator or lines to skip (--separator, --skip-rows)"
        )
    if at_end and n < expected:
        return f"{fields}: the file seems to be truncated"
    return f"{fields} (separator {separator!r}): correct or remove that line"


def _refuse_swallowed_lines(body: bytes, n_rows: int, dialect: Dialect) -> None:
    """Raise where a stray quote has made one field of several lines."""
    quotes = body.count(b'"')
    if quotes and (quotes % 2 or n_rows < _n_lines(body)) and (fault := _fault(body, dialect)):
        raise TableError(fault)


def _n_lines(body: bytes) -> int:
    return (body.count(b"\n") or body.count(b"\r")) + 1


def _lines_or_rows(body: bytes, n_rows: int, header_lines: int) -> pd.Index:
    import numpy as np
    import pandas as pd

    if n_rows == _n_lines(body):
        return pd.RangeIndex(header_lines + 1, header_lines + 1 + n_rows, name="line")
    if b'"' not in body:  # blank lines hold no rows
        lines = body.split(b"\n") if b"\n" in body else body.split(b"\r")
        filled = np.flatnonzero([line not in (b"", b"\r") for line in lines])
        if len(filled) == n_rows:
            return pd.Index(header_lines + 1 + filled, name="line")
    return pd.RangeIndex(1, n_rows + 1, name="row")


def _from_parquet(data: bytes, limit: int) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        table = _parquet_within(parquet.ParquetFile(pa.BufferReader(data)), limit)
    except TableError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(
            f"the Parquet file is truncated or damaged ({shortened(error, 80)}): "
            "copy or write it again"
        ) from None
    names = table.column_names
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TableError(
            f"the file names {quoted(twice)} twice: give every column a name of its own"
        )
    if table.num_rows == 0 or not names:
        raise TableError("the file has columns but no rows" if names else "the file has no columns")
    frame, notes = _plain(table)
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    frame.attrs["notes"] = notes
    return frame


def _parquet_within(file: Any, limit: int) -> Any:
    """Read a file in parts, so that what a few bytes stand for is known before it is too much."""
    import pyarrow as pa

    _refuse_many(file.metadata.num_rows, file.metadata.num_columns, limit)
    parts, size = [], 0
    for part in file.iter_batches(batch_size=_PARQUET_ROWS):
        size += part.nbytes
        refuse_large(size, limit)
        parts.append(part)
    return pa.Table.from_batches(parts, schema=file.schema_arrow)


def _plain(table: Any) -> tuple[pd.DataFrame, list[str]]:
    """Return a frame of numbers, texts, booleans and dates; what is none of these is left out."""
    import pyarrow as pa
    import pyarrow.types as types

    columns, left_out = {}, []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if types.is_dictionary(kind):
            kind = kind.value_type
            column = column.cast(kind)
        if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind):
            left_out.append(name)
            continue
        if types.is_decimal(kind) or types.is_null(kind):
            column = column.cast(pa.float64())
        elif types.is_time32(kind):
            column = column.cast(pa.int32()).cast(pa.int64())
        elif types.is_time64(kind) or types.is_duration(kind):
            column = column.cast(pa.int64())
        columns[name] = column
    frame = pa.table(columns).to_pandas(date_as_object=False, ignore_metadata=True)
    if left_out:
        return frame, [f"lists and raw bytes are not read: {quoted(left_out)}"]
    return frame, []


def _unnamed_left_out(frame: pd.DataFrame, unnamed: tuple[str, ...]) -> list[str]:
    """Leave out unnamed columns that hold nothing or count the rows, as other programs add."""
    notes = []
    for name in unnamed:
        values = frame[name]
        counts = values.dtype.kind == "i" and bool((values.diff().iloc[1:] == 1).all())
        if values.isna().all() or (counts and name == frame.columns[0]):
            del frame[name]
            what = "counts the rows" if counts else "is empty"
            notes.append(f"{name} has no name and {what}: left out")
        else:
            notes.append(f"a column without a name is called {name!r}")
    return notes
