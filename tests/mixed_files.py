"""Files as plants have them, by chance: ways of writing a table, drawn together, with its truth.

`plant_files` changes one thing at a time; what breaks a reader is often two together: a row of
units below a German header, marks for nothing among percent signs, a title with the separator in
it. Each file here is one draw of all of them. It must be read exactly right, or be refused in an
error that names a line or a column and an option or what to correct.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

DATES = (
    "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%y %H:%M", "%d-%b-%y %H:%M:%S",
    "%d-%b-%Y %H:%M", "%m/%d/%Y %I:%M:%S %p", "%d/%m/%Y %H:%M", "%b %d, %Y %H:%M", "%Y/%m/%d %H:%M",
)  # fmt: skip
MARKS = ("Bad Input", "No Data", "n/a", "#N/A", "I/O Timeout", "-", "", "[-11059] No Good Data")
ENCODINGS = ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-8")
UNITS = {"": "", "kg": "kg", "t/h": "t/h", "%": "%", "°C": "°C", "bar": "bar"}
TITLES = (
    ["Export of mill 3"],
    ["Anlage 1, Linie 2", "Stand: 01.03.2024; 10:00"],
    ["# tags: flow, temp; from 1 to 2", "", "by shift B"],
)


@dataclass(frozen=True)
class MixedFile:
    """One file, and the table that it holds.

    `said` are the draws, for the message of a test that fails; `numbers` have NaN for a gap.
    """

    said: str
    content: bytes
    moments: list[float]
    numbers: dict[str, np.ndarray]
    grade: list[str]
    units: dict[str, str]


def mixed_file(seed: int) -> MixedFile:
    """Return the file of a seed."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 120))
    step = timedelta(minutes=int(rng.choice([10, 60, 480, 1440])))
    when = [datetime(2024, 1, 9, 7, 30) + i * step for i in range(n)]
    grade = [("A1", "A2", "grade 7")[k] for k in rng.integers(0, 3, n)]
    comma = bool(rng.random() < 0.5)
    workbook = bool(rng.random() < 0.15)
    separator = ";" if comma else str(rng.choice([",", ";", "\t", "|"]))
    thousands = str(rng.choice(["", "", ".", " ", "\u00a0", "'"] if comma else ["", "", ",", "'"]))
    form = DATES[int(rng.integers(len(DATES)))]
    quoting = csv.QUOTE_ALL if rng.random() < 0.2 else csv.QUOTE_MINIMAL

    def written(value: float, digits: int) -> str:
        text = f"{abs(value):,.{digits}f}".replace(",", "\0").replace(".", "," if comma else ".")
        return ("-" if value < 0 else "") + text.replace("\0", thousands)

    columns, numbers, units, below = {}, {}, {}, {}
    unit_row = bool(rng.random() < 0.3)
    recipes = {"flow": (1800.0, 900.0, 1), "temp": (16.5, 9.0, 2), "size": (0.62, 0.3, 3)}
    for name, (middle, spread, digits) in recipes.items():
        values = np.round(rng.normal(middle, spread, n), digits)
        unit = str(rng.choice(list(UNITS)))
        beside = not unit_row and unit and rng.random() < 0.7
        gap = " " if rng.random() < 0.6 else ""
        texts = [written(v, digits) + (f"{gap}{unit}" if beside else "") for v in values]
        for row in np.flatnonzero(rng.random(n) < rng.choice([0.0, 0.0, 0.05])):
            texts[row], values[row] = str(rng.choice(MARKS)), np.nan
        columns[name], numbers[name] = texts, values
        below[name] = unit if unit_row else ""
        if unit and (beside or unit_row):
            units[name] = UNITS[unit]
    table = {"when": [moment.strftime(form) for moment in when], **columns, "grade": grade}
    order = [str(name) for name in rng.permutation(list(table))]
    lines = [order, *([[below.get(name, "") for name in order]] if units and unit_row else [])]
    lines += [list(row) for row in zip(*(table[name] for name in order), strict=True)]
    above = TITLES[int(rng.integers(len(TITLES)))] if rng.random() < 0.35 else []
    encoding = str(rng.choice(ENCODINGS))
    ending = str(rng.choice(["\n", "\r\n"]))
    content = (
        _sheet([*([text] for text in above), *lines])
        if workbook
        else _text(lines, above, separator, ending, quoting).encode(encoding)
    )
    how = f"{separator!r}, decimal {',' if comma else '.'}, thousands {thousands!r}, {form}"
    said = f"{seed}: {'workbook' if workbook else encoding}, {how}, {units}, above {above}"
    seconds = [(moment - datetime(1970, 1, 1)) / timedelta(seconds=1) for moment in when]
    return MixedFile(said, content, seconds, numbers, grade, units)


def _text(
    lines: list[list[str]], above: list[str], separator: str, ending: str, quoting: int
) -> str:
    file = io.StringIO()
    writer: Callable[..., None] = csv.writer(
        file, delimiter=separator, lineterminator=ending, quoting=quoting
    ).writerows
    writer(lines)
    return "".join(f"{text}{ending}" for text in above) + file.getvalue()


def _sheet(lines: list[list[str]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for line in lines:
        book.active.append([cell or None for cell in line])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()
