"""More than a hundred files as they go wrong in practice, each with what ought to become of it.

A case is either refused, with words that its one-line error must hold, or read, with the rows
that must come out. The sound table all are made from has 30 rows: flow, mill, size; size is
0.5 + 0.1 * row.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

N_ROWS = 30
HEADER = ["flow", "mill", "size"]
FLOW = [round(1.5 + 0.25 * i, 2) for i in range(N_ROWS)]
MILL = ["A" if i % 3 else "B" for i in range(N_ROWS)]
SIZE = [round(0.5 + 0.1 * i, 1) for i in range(N_ROWS)]
ROWS = [[str(f), m, str(s)] for f, m, s in zip(FLOW, MILL, SIZE, strict=True)]


@dataclass(frozen=True)
class Case:
    """One file: its name, what is in it, and what is expected."""

    name: str
    content: bytes | Callable[[Path], None]
    refused: tuple[str, ...] = ()
    rows: int = 0
    file: str = "data.csv"
    sizes: tuple[float, ...] | None = None

    def write(self, folder: Path) -> Path:
        path = folder / self.file
        if callable(self.content):
            self.content(path)
        else:
            path.write_bytes(self.content)
        return path


def text(rows=ROWS, header=HEADER, separator=",", end="\n"):
    lines = [separator.join(row) for row in [header, *rows]]
    return end.join(lines) + end


SOUND = text().encode()
SIZES = tuple(SIZE)


def changed(row, column, value):
    """The rows with one value replaced."""
    rows = [list(each) for each in ROWS]
    rows[row][column] = value
    return rows


def refused(name, content, *words, file="data.csv"):
    return Case(name, content, refused=words, file=file)


def read(name, content, rows=N_ROWS, sizes=SIZES, file="data.csv"):
    return Case(name, content, rows=rows, file=file, sizes=sizes)


def zipped(*members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def zstd(content):
    import pyarrow

    return pyarrow.compress(content, "zstd", asbytes=True)


def parquet(**columns):
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = columns.pop("names", None) or list(columns)
    file = io.BytesIO()
    arrays = [pa.array(values) for values in columns.values()]
    pq.write_table(pa.Table.from_arrays(arrays, names=names), file)
    return file.getvalue()


def cases() -> Iterator[Case]:
    yield from nothing_in_it()
    yield from cut_or_packed()
    yield from no_tables()
    yield from encodings()
    yield from separators()
    yield from headers()
    yield from ragged()
    yield from quotes()
    yield from numbers()
    yield from missing()
    yield from targets()
    yield from columns()
    yield from places()


def nothing_in_it():
    yield refused("empty", b"", "is empty")
    yield refused("one newline", b"\n", "is empty")
    yield refused("blank lines only", b"\n\r\n  \n\t\n", "is empty")
    yield refused("spaces only", b"     ", "is empty")
    yield refused("mark and nothing", b"\xef\xbb\xbf", "is empty")
    yield refused("header only", b"flow,mill,size\n", "header but no rows")
    yield refused("header without an end", b"flow,mill,size", "header but no rows")
    yield refused("header and blank lines", b"flow,mill,size\n\n\n", "header but no rows")
    yield refused("empty gzip", gzip.compress(b""), "is empty", file="data.csv.gz")
    yield refused("empty zip", zipped(), "zip file is empty", file="data.zip")
    yield refused("empty parquet", parquet(flow=[], size=[]), "no rows", file="data.parquet")
    yield refused("parquet without columns", parquet(), "no columns", file="data.parquet")
    yield refused("one row", text(ROWS[:1]).encode(), "1 of 1 rows", "at least 10")
    yield refused("two rows", text(ROWS[:2]).encode(), "2 of 2 rows", "at least 10")
    yield refused("nine rows", text(ROWS[:9]).encode(), "9 of 9 rows", "at least 10")
    yield read("ten rows", text(ROWS[:10]).encode(), rows=10, sizes=SIZES[:10])


def cut_or_packed():
    whole = parquet(flow=FLOW, mill=MILL, size=SIZE)
    packed = {
        "gzip": gzip.compress(SOUND),
        "bzip2": bz2.compress(SOUND),
        "xz": lzma.compress(SOUND),
        "zstd": zstd(SOUND),
        "zip": zipped(("data.csv", SOUND)),
    }
    for name, content in packed.items():
        yield read(f"{name} under the name of a CSV", content)
        yield refused(f"{name} cut in half", content[: len(content) // 2], "truncated or damaged")
        yield refused(f"{name} without its last bytes", content[:-9], "truncated or damaged")
    broken = bytearray(packed["gzip"])
    broken[len(broken) // 2] ^= 0xFF
    yield refused("gzip with a flipped byte", bytes(broken), "truncated or damaged")
    yield refused("gzip mark and noise", b"\x1f\x8b" + b"noise" * 20, "truncated or damaged")
    yield read("gzip under the name of a zip", packed["gzip"], file="data.zip")
    yield read("plain text under the name of a gzip", SOUND, file="data.csv.gz")
    yield read("plain text under the name of a parquet", SOUND, file="data.parquet")
    yield read("parquet under the name of a CSV", whole)
    yield read("parquet in a gzip", gzip.compress(whole), file="data.parquet.gz")
    yield refused("parquet cut in half", whole[: len(whole) // 2], "Parquet", "truncated")
    yield refused("parquet without its end", whole[:-8], "Parquet", "truncated")
    yield refused("parquet mark only", b"PAR1", "Parquet", "truncated")
    yield refused("parquet mark and noise", b"PAR1" + b"\x07" * 500 + b"PAR1", "Parquet")
    two = zipped(("a.csv", SOUND), ("b.csv", SOUND))
    yield refused("zip of two tables", two, "2 files", "'a.csv', 'b.csv'", file="data.zip")
    mac = zipped(("data.csv", SOUND), ("__MACOSX/._data.csv", b"\0\1"))
    yield read("zip from a Mac", mac, file="data.zip")
    book = zipped(("[Content_Types].xml", "<Types/>"), ("xl/workbook.xml", "<workbook/>"))
    yield refused("workbook", book, "save the sheet as CSV", file="data.xlsx")


def no_tables():
    noise = np.random.default_rng(0).integers(0, 256, 5000).astype(np.uint8).tobytes()
    yield refused("noise", noise, "NUL byte")
    letters = bytes(b for b in noise if b)
    yield refused("noise without NUL bytes", letters, "no text")
    yield refused("picture", b"\x89PNG\r\n\x1a\n" + noise, "no table but a picture")
    yield refused("PDF", b"%PDF-1.7\n" + noise, "PDF")
    yield refused("SQLite", b"SQLite format 3\0" + noise, "SQLite")
    yield refused("HDF5", b"\x89HDF\r\n\x1a\n" + noise, "HDF5")
    yield refused("feather", b"ARROW1\0\0" + noise, "Feather")
    yield refused("old workbook", b"\xd0\xcf\x11\xe0" + noise, "Excel")
    yield refused("pickle", b"\x80\x04\x95" + noise, "pickle")
    yield refused("web page", b"<!DOCTYPE html><html><body>Log in</body></html>", "web page")
    yield refused("web page, lower case", b"\n <html>\n<body>503</body></html>", "web page")
    yield refused("XML", b"<?xml version='1.0'?><rows/>", "XML")
    yield refused("JSON object", b'{"flow": [1, 2], "size": [1, 2]}', "JSON")
    yield refused("JSON rows", b'[{"flow": 1, "size": 2}]', "JSON")
    yield refused("prose", b"Dear all,\nplease find the data attached.\n", "line 2 has 1 field")
    yield refused("a single line of zeros", b"\0" * 4096, "NUL byte")


def encodings():
    umlauts = text([[f, "Mühle" if m == "A" else "Süd", s] for f, m, s in ROWS])
    yield read("UTF-8", umlauts.encode())
    yield read("UTF-8 with a mark", b"\xef\xbb\xbf" + umlauts.encode())
    yield read("UTF-16 little endian with a mark", b"\xff\xfe" + umlauts.encode("utf-16-le"))
    yield read("UTF-16 big endian with a mark", b"\xfe\xff" + umlauts.encode("utf-16-be"))
    yield read("UTF-32 with a mark", umlauts.encode("utf-32"))
    yield read("Windows-1252", umlauts.encode("cp1252"))
    yield read(
        "Latin-1 with a byte that Windows-1252 lacks",
        b"\x81".join(umlauts.encode("cp1252").split(b"\xfc")),
    )
    yield refused("UTF-16 without a mark", umlauts.encode("utf-16-le"), "UTF-16", "utf-16-le")
    yield refused("UTF-16 big endian without a mark", umlauts.encode("utf-16-be"), "utf-16-be")
    cut = b"\xff\xfe" + umlauts.encode("utf-16-le")[:-1]
    yield refused("UTF-16 cut inside a character", cut, "truncated")
    yield refused("UTF-8 cut inside a character", SOUND + "9,Mü".encode()[:-1], "truncated")
    yield refused("UTF-8 mark and no UTF-8", b"\xef\xbb\xbf" + umlauts.encode("cp1252"), "byte")
    yield refused("NUL byte in a row", SOUND.replace(b"2.0,", b"2.\0,"), "line 4", "NUL byte")
    yield read("file separator of DOS at the end", SOUND + b"\x1a")


def separators():
    yield read("tabs", text(separator="\t").encode())
    yield read("semicolons", text(separator=";").encode())
    yield read("bars", text(separator="|").encode())
    yield read("spaces", text(separator=" ").encode())
    yield read("several spaces", text(separator="   ").encode())
    commas = [[f.replace(".", ","), m, s.replace(".", ",")] for f, m, s in ROWS]
    yield read("decimal commas", text(commas, separator=";").encode())
    yield read("decimal commas and tabs", text(commas, separator="\t").encode())
    stray = [list(row) for row in commas]
    stray[4][0] = "n/a"
    yield read("decimal commas and a stray text", text(stray, separator=";").encode())
    yield read("line that names the separator", b"sep=;\n" + text(separator=";").encode())
    yield read("line ends of DOS", text(end="\r\n").encode())
    yield read("line ends of old Macs", text(end="\r").encode())
    yield read("no end of the last line", SOUND.rstrip(b"\n"))
    mixed = SOUND.replace(b"\n3.0,B,", b"\n3.0;B;")
    yield refused("one line with another separator", mixed, "line 8", "';'", "','")
    both = text(separator=";").encode().split(b"\n", 1)[1]
    yield refused(
        "header with commas, rows with semicolons",
        b"flow,mill,size\n" + both,
        "line 2",
        "';'",
        "','",
    )
    half = text(ROWS[:15]).encode() + text(ROWS[15:], separator="\t").encode().split(b"\n", 1)[1]
    yield refused("commas, then tabs", half, "line 17", "\\t")


def headers():
    twice = ["size", "mill", "size"]
    yield refused("duplicated header", text(header=twice).encode(), "'size' twice")
    yield refused("duplicated but for blanks", b"size ,mill,size\n1,2,3\n", "'size' twice")
    thrice = ["x", "x", "x"]
    yield refused("tripled header", text(header=thrice).encode(), "'x' more than twice")
    doubled = parquet(a=FLOW, b=SIZE, names=["size", "size"])
    yield refused("duplicated in a parquet", doubled, "'size' twice", file="data.parquet")
    yield refused("header without names", b",,\n1,2,3\n", "no names")
    yield refused("no header", text()[len("flow,mill,size\n") :].encode(), "no column 'size'")
    yield read("blanks around the header", text(header=[" flow ", "mill  ", "\tsize"]).encode())
    yield read("blank lines before the header", b"\n\n" + SOUND)
    numbered = [[str(i), *row] for i, row in enumerate(ROWS)]
    yield read("unnamed column of row numbers", text(numbered, ["", *HEADER]).encode())
    trailing = [[*row, ""] for row in ROWS]
    yield read("separator at the end of all lines", text(trailing, [*HEADER, ""]).encode())
    yield read(
        "unnamed column with values",
        text([[r[0], *r] for r in ROWS], ["flow", "", "mill", "size"]).encode(),
    )
    long = "x" * 5000
    yield read("very long name", text(header=[long, "mill", "size"]).encode())
    yield refused(
        "absurdly long name",
        text(header=["x" * 20_000, "mill", "size"]).encode(),
        "20,000 characters",
    )
    yield refused(
        "a million columns",
        b",".join(b"c%d" % i for i in range(1_000_000)) + b"\n1\n",
        "columns",
        "10,000",
    )
    yield refused("a million commas", b"," * 1_000_000 + b"\n", "columns", "10,000")
    yield refused("five million bytes in one line", b"x" * 5_000_000, "first line")
    yield read("case and marks in names", text(header=["Flow/1", "mill%", "size"]).encode())
    yield read("name in quotes with a comma", text(header=['"flow, m3"', "mill", "size"]).encode())
    yield read("name over two lines", text(header=['"flow\nm3/h"', "mill", "size"]).encode())


def ragged():
    lines = SOUND.split(b"\n")

    def with_line(number, line):
        return b"\n".join([*lines[: number - 1], line, *lines[number:]])

    yield refused("a field too many", with_line(5, b"1,A,2,3"), "line 5 has 4 fields", "has 3")
    yield refused("a field too few", with_line(9, b"1,A"), "line 9 has 2 fields", "has 3")
    yield refused("a comment in the middle", with_line(20, b"# stopped"), "line 20 has 1 field")
    yield refused("a total below", SOUND + b"total 30 rows\n", "line 32 has 1 field")
    yield refused("cut inside the last row", SOUND[:-8], "line 31", "truncated")
    yield read("a title above", b"Mill 3\n" + SOUND)
    yield refused(
        "all rows longer than the header",
        text([[*row, "1"] for row in ROWS]).encode(),
        "line 2 has 4 fields",
    )
    yield read("blank lines between rows", SOUND.replace(b"\n3.0", b"\n\n\n3.0"))
    yield refused("a line of separators too many", with_line(7, b",,,,"), "line 7 has 5 fields")


def quotes():
    yield read(
        "all in quotes",
        text([[f'"{v}"' for v in row] for row in ROWS], [f'"{n}"' for n in HEADER]).encode(),
    )
    yield read("comma in quotes", text(changed(3, 1, '"A, old"')).encode())
    yield read("line end in quotes", text(changed(3, 1, '"A\nold"')).encode())
    yield read("quotes in quotes", text(changed(3, 1, '"the ""old"" one"')).encode())
    yield read("inch marks", text(changed(3, 1, '5" mill')).encode())
    yield refused("quote never closed", text(changed(3, 1, '"A')).encode(), "line 5", "quote")
    yield refused(
        "quote never closed in the header",
        text(header=['"flow', "mill", "size"]).encode(),
        "header",
        "quote",
    )
    both = changed(3, 1, '"A')
    both[9][1] = '"A'
    yield refused("two quotes never closed", text(both).encode(), "line 5", "quote")
    yield refused("quote opened in the last row", text(changed(29, 2, '"3.4')).encode(), "line 31")
    yield read("huge field", text(changed(3, 1, '"' + "x" * 100_000 + '"')).encode())
    yield read("field of twenty million characters", text(changed(3, 1, "x" * 20_000_000)).encode())


def numbers():
    nine = [s for i, s in enumerate(SIZES) if i != 9]
    for mark in ("", "n/a", "NaN", "-", "error", "#DIV/0!", "null", "inf", "-inf", "1e400"):
        yield read(
            f"target {mark or 'nothing'!r}", text(changed(9, 2, mark)).encode(), 29, tuple(nine)
        )
    for word in ("three", "12 kg", "1.2.3", "0,7 to 0,9", "2024-01-01", "≈3"):
        name = f"target in words {word!r}"
        rows = changed(9, 2, f'"{word}"')
        yield refused(name, text(rows).encode(), "line 11", "only numbers")
    for value in ("n/a", "-", "error", "1e400", "inf", "-0.0", "+5", " 7 ", "1E3", "0x10", ".5"):
        yield read(f"input {value!r}", text(changed(9, 0, value)).encode())
    yield read(
        "negative zero everywhere",
        text([["-0.0" if i % 2 else "1", *row[1:]] for i, row in enumerate(ROWS)]).encode(),
    )
    many = [["9" * 40, *row[1:]] if i % 2 else row for i, row in enumerate(ROWS)]
    yield read("forty digits", text(many).encode())


def missing():
    empty = [["", *row[1:]] for row in ROWS]
    yield read("an input that is always missing", text(empty).encode())
    nothing = [["", "", row[2]] for row in ROWS]
    yield refused("all inputs missing", text(nothing).encode(), "no column is left")
    words = [["n/a" if i % 3 == 0 else row[0], *row[1:]] for i, row in enumerate(ROWS)]
    yield read("a third of an input missing", text(words).encode())
    infinite = [["inf" if i % 2 else "-inf", *row[1:]] for i, row in enumerate(ROWS)]
    yield read("an input that is always infinite", text(infinite).encode())
    gone = [[*row[:2], ""] for row in ROWS]
    yield refused("target missing everywhere", text(gone).encode(), "0 of 30 rows", "at least 10")
    few = [row if i < 5 else [*row[:2], "n/a"] for i, row in enumerate(ROWS)]
    yield refused("target nearly always missing", text(few).encode(), "5 of 30 rows")
    some = [row if i % 2 else [*row[:2], "n/a"] for i, row in enumerate(ROWS)]
    yield read("half of the targets missing", text(some).encode(), 15, SIZES[1::2])


def targets():
    yield refused("constant target", text([[*r[:2], "5"] for r in ROWS]).encode(), "5 in every row")
    yield refused(
        "target in letters",
        text([[*r[:2], r[1]] for r in ROWS]).encode(),
        "line 2",
        "30 of 30 rows",
    )
    days = [[*r[:2], f"2024-01-{i + 1:02d}"] for i, r in enumerate(ROWS)]
    yield refused("target of dates", text(days).encode(), "dates")
    yield refused(
        "no such target",
        text(header=["flow", "mill", "sise"]).encode(),
        "no column 'size'",
        "'sise'",
    )
    yield refused(
        "target alone", text([[r[2]] for r in ROWS], ["size"]).encode(), "no column is left"
    )


def columns():
    same = [["7", "A", row[2]] for row in ROWS]
    yield refused("inputs that never change", text(same).encode(), "no column is left", "always")
    names = [[f"id-{i}", f"name {i}", row[2]] for i, row in enumerate(ROWS)]
    yield refused("inputs all different texts", text(names).encode(), "no column is left")
    mixed = [f"2024-01-{i + 1:02d}" if i % 2 else f"{i + 1:02d}.01.2024" for i in range(N_ROWS)]
    dates = [[row[0], day, row[2]] for row, day in zip(ROWS, mixed, strict=True)]
    yield read("dates in two forms", text(dates).encode())
    german = [[row[0], f"{i + 1:02d}.01.2024 10:30", row[2]] for i, row in enumerate(ROWS)]
    yield read("dates with points", text(german).encode())
    zoned = [
        [row[0], f"2024-01-{i + 1:02d}T10:00:00+0{i % 3}:00", row[2]] for i, row in enumerate(ROWS)
    ]
    yield read("dates with zones", text(zoned).encode())
    far = [
        [row[0], "9999-12-31" if i == 3 else f"2024-01-{i + 1:02d}", row[2]]
        for i, row in enumerate(ROWS)
    ]
    yield read("a date at the end of time", text(far).encode())
    clock = [[row[0], f"10:{i:02d}:00", row[2]] for i, row in enumerate(ROWS)]
    yield read("times of day", text(clock).encode())
    logical = [[row[0], "true" if i % 2 else "False", row[2]] for i, row in enumerate(ROWS)]
    yield read("true and false", text(logical).encode())
    lists = parquet(flow=FLOW, size=SIZE, path=[[1, 2]] * N_ROWS, raw=[b"\0"] * N_ROWS)
    yield read("lists and bytes in a parquet", lists, file="data.parquet")


def _unwritten(_path):
    """Leave the file out."""


def places():
    yield refused("folder", lambda path: path.mkdir(), "is a folder")
    yield refused("no such file", _unwritten, "no file")
