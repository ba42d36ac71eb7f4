"""Suspect rows as the page lists them: beside what was measured, and where they are in the table.

The list of a fit names rows by their line, or by what the column of `--id` says, and an answer
belongs to a row of the table: here the one is found for the other.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..text import shortened

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 1000
"""Rows that the page lists, as many as the report does; the file has them all."""

MOST_COLUMNS = 12
"""Inputs that are shown beside a suspect; a screen has no room for more."""

_JUDGED: dict[str, tuple[str, Callable[[float], str]]] = {
    "observed": ("observed", "{:.6g}".format),
    "expected": ("expected", "{:.6g}".format),
    # How far beyond a hundred deviations a row is says nothing more.
    "deviations": (
        "deviations",
        lambda z: f"{z:+.1f}" if abs(z) <= 100 else "> 100" if z > 0 else "< -100",
    ),
    "probability": ("probably wrong", lambda p: f"{100 * p:.1f} %"),
}
"""What the fit says of a row: the name in its list, the one on the page, and how it is written."""


def listed_suspects(
    outliers: Path,
    frame: pd.DataFrame,
    target: str,
    beside: Sequence[str],
    id_column: str | None = None,
) -> dict[str, Any]:
    """Return the strangest rows of a fit, as plain data.

    Parameters
    ----------
    outliers : Path
        What the fit wrote.
    frame : pandas.DataFrame
        The table it was made from.
    target : str
        What was learned.
    beside : sequence of str
        Columns to show beside.
    id_column : str or None
        Column that names the rows.

    Returns
    -------
    dict
        `columns` with `label` and whether it is a `number`; `rows` with their place `at` in the
        table (None where several rows have the name) and `texts`; how many `more` there are.
    """
    with open(outliers, newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    shown = [name for name in beside if name in frame.columns][:MOST_COLUMNS]
    judged = [name for name in _JUDGED if found and name in found[0]]
    name = next(iter(found[0])) if found else "row"
    places = _places(frame, id_column)
    rows = []
    for each in found[:MOST_ROWS]:
        at = _place(places[each[name]], frame[target], float(each["observed"]))
        raw = ["" if at is None else _shown(frame[column].iloc[at]) for column in shown]
        numbers = [_JUDGED[column][1](float(each[column])) for column in judged]
        rows.append({"at": at, "texts": [shortened(each[name], 60), *numbers, *raw]})
    columns = [{"label": name, "number": id_column is None}]
    columns += [{"label": _JUDGED[column][0], "number": True} for column in judged]
    columns += [
        {"label": shortened(label, 60), "number": frame[label].dtype.kind in "iuf"}
        for label in shown
    ]
    return {"columns": columns, "rows": rows, "more": max(0, len(found) - MOST_ROWS)}


def _places(frame: pd.DataFrame, id_column: str | None) -> Mapping[str, list[int]]:
    """Return where the rows of each name are, by the name as it is written to a list."""
    import pandas as pd

    from ..cli.spreadsheets import defused

    names = frame.index if id_column is None else pd.Index(frame[id_column].to_numpy(), name="id")
    text = defused(pd.DataFrame({"name": names})).to_csv(index=False)
    places: dict[str, list[int]] = defaultdict(list)
    records = csv.reader(io.StringIO(text))
    next(records)
    for at, record in enumerate(records):
        places[record[0] if record else ""].append(at)
    return places


def _place(places: list[int], observed: pd.Series, value: float) -> int | None:
    """Return which of the rows of one name has this value; each is given once."""
    import pandas as pd

    if len(places) <= 1:
        return places[0] if places else None
    for at in places:
        if pd.to_numeric(observed.iloc[[at]], errors="coerce").iloc[0] == value:
            places.remove(at)
            return at
    return None


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    text = str(value)
    return "" if text in ("NaT", "<NA>", "None", "nan") else shortened(text, 60)
