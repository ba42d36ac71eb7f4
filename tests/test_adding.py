"""A file with one column more is read as it was before, row by row, under the same names."""

import csv
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from robustscn.tables import TableError, read_table, with_column

PLAIN = b"flow,size\n1.5,0.2\n2.5,0.3\n3.5,0.4\n"
FILES = {
    "plain": PLAIN,
    "no end of line": PLAIN.rstrip(),
    "ended by Windows": PLAIN.replace(b"\n", b"\r\n") + b"\r\n\r\n",
    "of an old Mac": PLAIN.replace(b"\n", b"\r"),
    "semicolons": b"flow;size\n1,5;0,2\n2,5;0,3\n3,5;0,4\n",
    "told by Excel": b"sep=;\nflow;size\n1,5;0,2\n2,5;0,3\n3,5;0,4\n",
    "blanks": b"flow   size\n 1.5  0.2\n 2.5  0.3\n 3.5 0.4\n",
    "titles and units": b"Plant 7\nexported today\nflow,size,ore\nt/h,mm,\n1,2,a\n2,3,b\n3,4,a\n",
    "blank lines": b"flow,size\n1.5,0.2\n\n2.5,0.3\n3.5,0.4\n",
    "lines in quotes": b'ore,size\n"a\nb",0.2\n"c, ""d""",0.3\n"e",0.4\n',
    "a column without a name": b"flow,size,\n1.5,0.2,x\n2.5,0.3,y\n3.5,0.4,x\n",
    "of the West": "größe,size\n1.5,0.2\n2.5,0.3\n3.5,0.4\n".encode("cp1252"),
    "UTF-16": "größe\tsize\n1.5\t0.2\n2.5\t0.3\n3.5\t0.4\n".encode("utf-16"),
}
ANSWERS = ["wrong", "", "fine"]


def answered(content):
    found = read_table(content)
    return found, [value if isinstance(value, str) else "" for value in found["review"]]


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_all_else_is_as_it_was(data):
    before = read_table(data)
    content, ending = with_column(data, "review", ANSWERS)
    found, answers = answered(content)
    assert ending == ".csv"
    assert answers == ANSWERS
    pd.testing.assert_frame_equal(found.drop(columns="review"), before)
    units = before.attrs["reading"]["units"]
    assert found.attrs["reading"]["units"] == units


def test_no_byte_of_a_plain_file_is_changed_but_for_the_ends_of_lines():
    content, _ = with_column(PLAIN, "review", ANSWERS)
    assert content == b"flow,size,review\n1.5,0.2,wrong\n2.5,0.3,\n3.5,0.4,fine\n"


def test_a_workbook_becomes_a_text_with_a_line_for_each_row(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Plant 7", None], ["flow", "size"], [1.5, 0.2], [2.5, 0.3], [3.5, 0.4]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    before = read_table(tmp_path / "t.xlsx")
    content, ending = with_column(tmp_path / "t.xlsx", "review", ANSWERS)
    found, answers = answered(content)
    assert (ending, answers) == (".csv", ANSWERS)
    np.testing.assert_array_equal(found[["flow", "size"]], before)
    assert found.index.tolist() == before.index.tolist()


def test_parquet_stays_parquet_with_its_types():
    table = pa.table(
        {"flow": pa.array([1, 2, 3], pa.int16()), "day": pa.array([1, 2, 3], pa.date32())}
    )
    written = io.BytesIO()
    parquet.write_table(table, written)
    content, ending = with_column(written.getvalue(), "review", ANSWERS)
    found = parquet.read_table(io.BytesIO(content))
    assert ending == ".parquet"
    assert found.drop_columns("review").equals(table)
    assert found["review"].to_pylist() == ["wrong", None, "fine"]


@pytest.mark.parametrize("n", [2, 4])
def test_another_number_of_rows_is_an_error(n):
    with pytest.raises(TableError, match=f"the table has 3 rows, but there are {n} answers"):
        with_column(PLAIN, "review", [""] * n)


def test_umlauts_open_in_a_spreadsheet():
    content, _ = with_column("größe,size\n1,2\n".encode(), "review", [""])
    assert content.startswith(b"\xef\xbb\xbf")
    assert next(csv.reader(io.StringIO(content.decode("utf-8-sig")))) == ["größe", "size", "review"]
