"""Files as historians, laboratories and spreadsheets write them, with the right table of each.

All hold the same 40 rows, written in another way: when (hourly), flow, temp, grade, size. A case
is read, and then the numbers, moments and levels must be exactly those, gaps where it says so; or
it is refused, with the line and the remedy among the words of the error.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

N_ROWS = 40
START = datetime(2024, 2, 26, 13, 0)
WHEN = [START + timedelta(hours=9 * i) for i in range(N_ROWS)]
FLOW = [round(362.6 + 31.7 * i, 1) for i in range(N_ROWS)]  # crosses 1,000
TEMP = [round(16.5 + 1.37 * ((7 * i) % N_ROWS), 2) for i in range(N_ROWS)]
GRADE = [("A1", "A2", "B1")[i % 3] for i in range(N_ROWS)]
SIZE = [round(0.52 + 0.11 * ((11 * i) % N_ROWS), 2) for i in range(N_ROWS)]
NAMES = ["when", "flow", "temp", "grade", "size"]


@dataclass(frozen=True)
class PlantFile:
    """One file, how it is asked to be read, and what must come out."""

    name: str
    content: bytes
    options: dict[str, Any] = field(default_factory=dict)
    gaps: dict[str, tuple[int, ...]] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)
    noted: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    first_line: int | None = 2
    scaled: dict[str, float] = field(default_factory=dict)


Writer = Callable[[Any], str]


def iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M")


def english(number: float, digits: int = 2) -> str:
    return f"{number:,.{digits}f}"


def german(number: float, digits: int = 2) -> str:
    return f"{number:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def constant(cell: str) -> Writer:
    return lambda _: cell


def rows(
    when: Writer = iso,
    flow: Writer = str,
    temp: Writer = str,
    grade: Writer = str,
    size: Writer = str,
) -> list[list[str]]:
    writers = (when, flow, temp, grade, size)
    table = zip(WHEN, FLOW, TEMP, GRADE, SIZE, strict=True)
    return [[write(cell) for write, cell in zip(writers, row, strict=True)] for row in table]


def with_cells(cells: dict[tuple[int, int], str], table: list[list[str]] | None = None):
    """The rows with some cells replaced."""
    table = [list(row) for row in table or rows()]
    for (row, column), value in cells.items():
        table[row][column] = value
    return table


def text(
    table: list[list[str]] | None = None,
    *,
    separator: str = ",",
    above: str = "",
    below: list[list[str]] | None = None,
    header: list[str] | None = None,
    encoding: str = "utf-8",
) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator="\r\n")
    writer.writerows([header or NAMES, *(below or []), *(table or rows())])
    return (above + file.getvalue()).encode(encoding)


def sheet(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, table in sheets:
        page = book.create_sheet(name)
        for row in table:
            page.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def typed(extra_above: tuple[list[Any], ...] = ()) -> list[list[Any]]:
    table = zip(WHEN, FLOW, TEMP, GRADE, SIZE, strict=True)
    return [*extra_above, NAMES, *([*row] for row in table)]


def plant_files() -> Iterator[PlantFile]:
    yield from units()
    yield from signs()
    yield from marks()
    yield from headers()
    yield from dates()
    yield from workbooks()
    yield from refusals()


def units():
    for unit in ("kg", "kg/h", "m³/h", "°C", "bar", "mg/l", "%"):
        read = {"m³/h": "m3/h"}.get(unit, unit)
        yield PlantFile(
            f"flow with {unit} behind it",
            text(rows(flow=lambda v, u=unit: f"{v} {u}")),
            units={"flow": read},
            noted=(f"'flow' is read as numbers in '{read}'",),
        )
    yield PlantFile(
        "percent without a blank", text(rows(temp=lambda v: f"{v}%")), units={"temp": "%"}
    )
    yield PlantFile(
        "unit without a blank", text(rows(flow=lambda v: f"{v}kg")), units={"flow": "kg"}
    )
    yield PlantFile(
        "a unit of the house", text(rows(flow=lambda v: f"{v} scoops")), units={"flow": "scoops"}
    )
    yield PlantFile(
        "dollars and thousands",
        text(rows(flow=lambda v: f"${english(v)}")),
        units={"flow": "USD"},
    )
    yield PlantFile(
        "euros behind, German",
        text(rows(flow=lambda v: f"{german(v)} €", temp=german, size=german), separator=";"),
        units={"flow": "EUR"},
    )
    yield PlantFile(
        "target in percent and units among inputs",
        text(rows(flow=lambda v: f"{v} t/h", size=lambda v: f"{v} %")),
        units={"flow": "t/h", "size": "%"},
    )
    yield PlantFile(
        "three cells without the unit",
        text(with_cells({(i, 1): str(FLOW[i]) for i in (3, 4, 9)}, rows(flow=lambda v: f"{v} kg"))),
        units={"flow": "kg"},
        noted=("3 without it",),
    )
    yield PlantFile(
        "two cells in another unit",
        text(with_cells({(3, 1): "457700 g", (9, 1): "9 lb"}, rows(flow=lambda v: f"{v} kg"))),
        units={"flow": "kg"},
        gaps={"flow": (3, 9)},
        noted=("'flow' mixes units", "first at line 5"),
    )
    yield PlantFile(
        "values below the limit of detection",
        text(with_cells({(5, 2): f"<{TEMP[5]}"})),
        noted=("read as the limit",),
    )


def signs():
    yield PlantFile("thousands in quotes", text(rows(flow=english)))
    yield PlantFile("thousands of blanks", text(rows(flow=lambda v: english(v).replace(",", " "))))
    yield PlantFile(
        "thousands of thin blanks", text(rows(flow=lambda v: english(v).replace(",", "\u202f")))
    )
    yield PlantFile("Swiss thousands", text(rows(flow=lambda v: english(v).replace(",", "'"))))
    yield PlantFile(
        "German numbers", text(rows(flow=german, temp=german, size=german), separator=";")
    )
    yield PlantFile("one German column in quotes", text(rows(flow=german)))
    yield PlantFile(
        "whole thousands only",
        text(rows(flow=lambda v: f"{round(10 * v):,}")),
        scaled={"flow": 10.0},
    )
    yield PlantFile(
        "whole thousands, German",
        text(
            rows(
                flow=lambda v: f"{round(10 * v):,}".replace(",", "."),
                temp=german,
                size=german,
            ),
            separator=";",
        ),
        scaled={"flow": 10.0},
    )
    yield PlantFile(
        "minus behind, as accounts have it",
        text(rows(temp=lambda v: f"{v}-")),
        scaled={"temp": -1.0},
    )
    yield PlantFile(
        "minus of printers", text(rows(temp=lambda v: f"\u2212{v}")), scaled={"temp": -1.0}
    )
    yield PlantFile(
        "negative in brackets", text(rows(temp=lambda v: f"({v})")), scaled={"temp": -1.0}
    )
    yield PlantFile(
        "decimal comma told, ambiguous else",
        text(
            rows(
                flow=lambda v: f"{v / 10:.3f}".replace(".", ","),
                temp=constant("1"),
                size=constant("2"),
            )
        ),
        options={"decimal": ","},
        without=("temp", "size"),
        scaled={"flow": 0.1},
    )
    yield PlantFile(
        "thousands point told",
        text(
            rows(
                flow=lambda v: f"{round(10_000 * v):,}".replace(",", "."),
                temp=constant("1"),
                size=german,
            ),
            separator=";",
        ),
        options={"thousands": "."},
        without=("temp",),
        scaled={"flow": 10_000.0},
    )
    yield PlantFile(
        "one comma among points", text(with_cells({(4, 2): str(TEMP[4]).replace(".", ",")}))
    )


def marks():
    historian = (
        "Bad Input", "No Data", "I/O Timeout", "Bad", "Comm Fail", "Pt Created", "Scan Off",
        "[-11059] No Good Data For Calculation", "#N/A", "Shutdown",
    )  # fmt: skip
    cells = {(2 * i, 1): mark for i, mark in enumerate(historian)}
    cells |= {(2 * i, 4): mark for i, mark in enumerate(historian)}
    where = tuple(2 * i for i in range(len(historian)))
    yield PlantFile(
        "historian's texts in input and target",
        text(with_cells(cells)),
        gaps={"flow": where, "size": where},
    )
    most = {(i, 1): "Bad Input" for i in range(28)}
    yield PlantFile(
        "an input that is mostly Bad Input",
        text(with_cells(most)),
        gaps={"flow": tuple(range(28))},
    )
    yield PlantFile(
        "marks among German numbers with units",
        text(
            with_cells(
                {(3, 1): "No Data", (7, 4): "Bad"},
                rows(flow=lambda v: f"{german(v)} kg", temp=german, size=german),
            ),
            separator=";",
        ),
        units={"flow": "kg"},
        gaps={"flow": (3,), "size": (7,)},
    )
    yield PlantFile(
        "a word of the house for nothing",
        text(with_cells({(3, 1): "not run", (5, 4): "Not  Run"})),
        options={"na": ("not run",)},
        gaps={"flow": (3,), "size": (5,)},
    )
    yield PlantFile(
        "-999 for nothing",
        text(with_cells({(3, 1): "-999", (5, 4): "-999.0", (6, 4): "-999"})),
        options={"na": ("-999",)},
        gaps={"flow": (3,), "size": (5, 6)},
    )


def headers():
    yield PlantFile(
        "a title and blank lines above",
        text(above="Export of mill 3\r\nby: shift B\r\n\r\n"),
        noted=("the header is line 4",),
        first_line=5,
    )
    yield PlantFile(
        "comments above with separators in them",
        text(above="# tags: flow, temp\r\n# from 1, to 2, step 3\r\n"),
        noted=("the header is line 3",),
        first_line=4,
    )
    yield PlantFile(
        "titles padded by a spreadsheet",
        text(above="Report of plant 1,,,,\r\nprinted 2024-03-01,,,,\r\n,,,,\r\n"),
        noted=("the header is line 4",),
        first_line=5,
    )
    yield PlantFile(
        "semicolons and a preamble with commas",
        text(
            rows(flow=german, temp=german, size=german),
            separator=";",
            above="Anlage 1, Linie 2\nStand: 01.03.2024, 10:00\n",
        ),
        noted=("the header is line 3",),
        first_line=4,
    )
    yield PlantFile(
        "a row of units",
        text(below=[["", "kg/h", "deg C", "-", "[mm]"]]),
        units={"flow": "kg/h", "temp": "°C", "size": "mm"},
        noted=("line 2 has the units",),
        first_line=3,
    )
    yield PlantFile(
        "descriptions and units below, title above",
        text(
            above="Mill 3\r\n",
            below=[
                ["time stamp", "feed of ore", "of pulp", "of ore", "product"],
                ["", "t/h", "°C", "", "µm"],
            ],
        ),
        units={"flow": "t/h", "temp": "°C", "size": "µm"},
        noted=("line 3", "line 4 has the units"),
        first_line=5,
    )
    yield PlantFile(
        "lines to skip told",
        text(above="x,y,z,u,v\r\na,b,c,d,e\r\n"),
        options={"skip_rows": 2},
        first_line=4,
    )
    yield PlantFile(
        "a first row of nothing is a row",
        text(with_cells({(0, 1): "Bad", (0, 2): "Bad", (0, 4): "Bad"})),
        gaps={"flow": (0,), "temp": (0,), "size": (0,)},
    )


def dates():
    forms = (
        "%d-%b-%y %H:%M:%S", "%d-%b-%Y %H:%M", "%b %d, %Y %I:%M %p", "%d %B %Y %H:%M",
        "%d.%m.%y %H:%M", "%m/%d/%y %H:%M", "%m/%d/%Y %I:%M:%S %p", "%Y.%m.%d %H:%M",
    )  # fmt: skip
    for form in forms:
        yield PlantFile(f"dates as {form}", text(rows(when=lambda v, f=form: v.strftime(f))))
    german_months = {"Mar": "Mär", "May": "Mai", "Oct": "Okt", "Dec": "Dez"}

    def in_german(moment):
        written = moment.strftime("%d. %b %Y %H:%M")
        for here, there in german_months.items():
            written = written.replace(here, there)
        return written

    yield PlantFile("German months", text(rows(when=in_german)))
    epoch = {"seconds": 1, "milliseconds": 1000}
    for unit, factor in epoch.items():
        yield PlantFile(
            f"{unit} since 1970",
            text(
                rows(when=lambda v, k=factor: str(int(v.replace(tzinfo=UTC).timestamp() * k))),
                header=["timestamp", *NAMES[1:]],
            ),
            noted=(f"{unit} since 1970",),
        )
    zero = datetime(1899, 12, 30)
    yield PlantFile(
        "days of a spreadsheet",
        text(
            rows(when=lambda v: repr((v - zero) / timedelta(days=1))), header=["Date", *NAMES[1:]]
        ),
        noted=("days of a spreadsheet",),
    )


def workbooks():
    yield PlantFile("sheet of a workbook", sheet(("Data", typed())))
    yield PlantFile(
        "sheet with titles above and a row of units",
        sheet(
            (
                "Data",
                [
                    ["Mill 3"],
                    [],
                    NAMES,
                    [None, "kg/h", "°C", None, "mm"],
                    *typed()[1:],
                ],
            )
        ),
        units={"flow": "kg/h", "temp": "°C", "size": "mm"},
        noted=("the header is line 3", "line 4 has the units"),
        first_line=5,
    )
    yield PlantFile(
        "the second sheet by its name",
        sheet(("Notes", [["nothing here"]]), ("Data", typed())),
        options={"sheet": "Data"},
    )
    yield PlantFile(
        "the first sheet that is not empty",
        sheet(("Empty", []), ("Data", typed()), ("More", [["x"]])),
        noted=("3 sheets", "'Data' is read"),
    )
    yield PlantFile(
        "texts of people in a sheet",
        sheet(("Data", [NAMES, *rows(flow=lambda v: f"{english(v)} kg")])),
        units={"flow": "kg"},
    )
    yield PlantFile(
        "no such sheet",
        sheet(("Data", typed())),
        options={"sheet": "Date"},
        refused=("no sheet 'Date'", "did you mean 'Data'"),
    )
    whole = sheet(("Data", typed()))
    yield PlantFile("half a workbook", whole[: len(whole) // 2], refused=("truncated or damaged",))


def refusals():
    half = {(i, 1): f"{2.2 * FLOW[i]:.1f} lb" for i in range(0, N_ROWS, 2)}
    yield PlantFile(
        "an input in two units",
        text(with_cells(half, rows(flow=lambda v: f"{v} kg"))),
        refused=("'flow' mixes units", "'kg'", "'lb'", "line 2", "one unit", "--drop"),
    )
    yield PlantFile(
        "thousands or decimals",
        text(
            rows(
                flow=lambda v: f"{v / 10:.3f}".replace(".", ","),
                temp=constant("1"),
                size=constant("2"),
            )
        ),
        refused=("'flow' has values such as '36,260'", "line 2", "--decimal"),
    )
    yield PlantFile(
        "suffixes for a thousand",
        text(rows(flow=lambda v: f"{v}k")),
        refused=("'flow' has numbers with 'k' behind them", "line 2", "plain numbers"),
    )
    yield PlantFile(
        "target with a unit in one cell",
        text(with_cells({(4, 4): "0.7 mm"})),
        refused=("target 'size'", "line 6", "correct or empty"),
    )
    yield PlantFile(
        "target with a word",
        text(with_cells({(4, 4): "see remark"})),
        refused=("target 'size'", "line 6", "'see remark'"),
    )
    yield PlantFile(
        "a total below",
        text() + b"Total,,,\r\n",
        refused=("line 42 has 4 fields", "header has 5"),
    )
