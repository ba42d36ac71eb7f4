"""`robustscn clean`: a table without the targets that a model does not believe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from . import options
from .messages import print_json, say
from .writing import output_path, size_in_words, table_writer, write_all

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from ..tables import Targets


@options.command
def clean(
    data: options.Data,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="FILE", help="Model that 'fit' wrote.")
    ] = "model.skops",
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="Table to write.")
    ] = "clean.csv",
    replace: Annotated[
        bool, typer.Option("--replace", help="Put the expected value there instead of nothing.")
    ] = False,
    *,
    reading: options.Reading,
    telling: options.Telling,
) -> None:
    """Write a table with the flagged targets blanked or replaced, and marked.

    All rows and columns stay; a column 'flagged' is 1 where a target was taken out.

    For example:

        robustscn clean measurements.csv --model model.skops --out clean.csv
    """
    from .model_rows import judged, known_targets, model_and_rows

    place = output_path(out)
    saved, frame = model_and_rows(model, data, place, reading, telling)
    table, n_judged = judged(saved, frame.set_axis(range(len(frame)), axis=0))
    known = known_targets(saved, frame)
    instead = None
    if replace and known.n_wrong:
        instead = np.asarray(saved.model.predict(frame[known.wrong]))
    cleaned = without_flagged(frame, table, known, replace, instead)
    files = write_all({place: table_writer(cleaned)}) if place is not None else {}
    if telling.json:
        print_json(
            {"rows": n_judged, "flagged": len(table), "known_wrong": known.n_wrong, "files": files}
        )
    elif not telling.quiet:
        what = "replaced by what was expected" if replace else "blanked"
        known_wrong = f", as were {known.n_wrong:,} known to be wrong" if known.n_wrong else ""
        say(f"{len(table):,} of {n_judged:,} targets were flagged and {what}{known_wrong}")
        for name, size in files.items():
            say(f"wrote {name} ({size_in_words(size)})")


def without_flagged(
    frame: pd.DataFrame,
    table: pd.DataFrame,
    targets: Targets,
    replace: bool,
    instead: NDArray[np.float64] | None = None,
) -> pd.DataFrame:
    """Return a table with flagged targets, and those known to be wrong, blanked or replaced.

    Parameters
    ----------
    frame : pandas.DataFrame
        All rows.
    table : pandas.DataFrame
        Flagged rows, indexed by their position in the frame, from `judged`.
    targets : Targets
        Of the frame.
    replace : bool
        Whether the expected value takes the place of the observed one.
    instead : ndarray or None
        What takes the place of targets that are known to be wrong; None leaves nothing there.

    Returns
    -------
    pandas.DataFrame
        With a column "flagged", under another name where there is one already.
    """
    names = list(targets.names)
    values = np.full((len(frame), len(names)), np.nan)
    values[targets.known] = targets.values.reshape(-1, len(names))
    if instead is not None:
        values[targets.wrong] = instead.reshape(-1, len(names))
    cleaned = frame.copy()
    rows = table.index.to_numpy(dtype=int)
    which = (
        [names.index(name) for name in table["output"]] if "output" in table else [0] * len(rows)
    )
    values[rows, which] = table["expected"].to_numpy() if replace else np.nan
    for number, name in enumerate(names):
        cleaned[name] = values[:, number]
    marked = targets.wrong.astype(int)
    marked[rows] = 1
    name = "flagged"
    while name in cleaned.columns:
        name += "'"
    cleaned[name] = marked
    return cleaned
