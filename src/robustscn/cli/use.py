"""What to do with a model: `robustscn predict`, `outliers`, `report` and `export`.

Here as in the other commands, what takes a second to load is imported when it is needed: help is
shown without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..text import shortened
from . import options
from .messages import UnusableError, notes, print_json, say
from .spreadsheets import legible
from .writing import (
    check_outputs,
    output_path,
    print_table,
    size_in_words,
    table_writer,
    write_all,
)

if TYPE_CHECKING:
    import pandas as pd

    from ..persistence import Saved

OutTable = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Write .csv, .tsv or .parquet; else printed as CSV."
    ),
]


@options.command
def predict(
    model: options.Model,
    data: options.Data,
    out: OutTable = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the table's columns.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse rows outside what the model has seen.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Also between which values this share of clean targets lies, such as 0.9.",
        ),
    ] = None,
    *,
    reading: options.Reading,
    telling: options.Telling,
) -> None:
    """Predict the target of new rows.

    The columns may come in any order; columns that the model does not need are ignored. The
    column 'outside' names the inputs that lie outside what the model has seen.

    For example:

        robustscn predict model.skops new.csv --out predictions.csv --keep

        robustscn predict model.skops new.csv --interval 0.9

        cat new.csv | robustscn predict model.skops -
    """
    from .model_rows import model_and_rows
    from .outside import outside

    place = output_path(out)
    saved, frame = model_and_rows(model, data, place, reading, telling)
    predicted = _predictions(saved, frame)
    if interval is not None:
        predicted = predicted.join(_intervals(saved, frame, interval))
    strange = outside(frame, saved.info.get("seen") or {})
    _tell_outside(strange, frame.index, strict, telling.silent)
    if keep:
        predicted = _beside(frame, predicted)
    if "seen" in saved.info:
        predicted[_free("outside", predicted.columns)] = strange
    if place is not None:
        files = write_all({place: table_writer(predicted)})
        if telling.json:
            print_json({"rows": len(predicted), "files": files})
        else:
            _say_wrote(files, telling.quiet)
    elif telling.json:
        columns = {
            name: predicted[name].tolist()
            for name in predicted.columns
            if name.startswith(("predicted ", "from ", "to "))
        }
        print_json({"rows": len(predicted), "predictions": columns, "outside": strange})
    else:
        print_table(predicted)


def _tell_outside(strange: list[str], names: pd.Index, strict: bool, quiet: bool) -> None:
    rows = [k for k, columns in enumerate(strange) if columns]
    if not rows:
        return
    kind, first = names.name or "row", names[rows[0]]
    verb = "lies" if len(rows) == 1 else "lie"
    words = (
        f"{len(rows):,} of {len(strange):,} rows {verb} outside what the model has seen, first "
        f"{kind} {first} ({shortened(strange[rows[0]])})"
    )
    if strict:
        raise UnusableError(f"{words}: correct or leave them out, or predict without --strict")
    notes([f"{words}: what is predicted there is a guess"], quiet)


def _beside(frame: pd.DataFrame, predicted: pd.DataFrame) -> pd.DataFrame:
    """Return the table's own columns and the predictions beside them."""
    whole = frame.copy()
    for name in predicted.columns:
        whole[_free(name, whole.columns)] = predicted[name].to_numpy()
    return whole


def _free(name: str, taken: Any) -> str:
    while name in taken:
        name += "'"
    return name


def _predictions(saved: Saved, frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    values = np.asarray(saved.model.predict(frame)).reshape(len(frame), -1)
    names = [f"predicted {name}" for name in saved.info["targets"]]
    return pd.DataFrame(values, index=frame.index, columns=names)


def _intervals(saved: Saved, frame: pd.DataFrame, coverage: float) -> pd.DataFrame:
    """Return the lower and upper ends for each target."""
    import pandas as pd

    last = _knowing_intervals(saved, coverage)
    inputs = saved.model[:-1].transform(frame)
    ends = np.asarray(last.predict_interval(inputs, coverage)).reshape(len(frame), -1, 2)
    columns = {}
    for number, name in enumerate(saved.info["targets"]):
        columns[f"from {name}"], columns[f"to {name}"] = ends[:, number].T
    return pd.DataFrame(columns, index=frame.index)


def _knowing_intervals(saved: Saved, coverage: float) -> Any:
    """Return the estimator, or raise where it knows no intervals or the coverage is no share."""
    if not 0.0 < coverage < 1.0:
        raise UnusableError(f"--interval {coverage:g} is no share: give one such as 0.9")
    last = saved.model[-1]
    if not hasattr(last, "predict_interval"):
        raise UnusableError(
            "the model in this file knows no intervals: make it anew with 'robustscn fit'"
        )
    return last


def _say_wrote(files: dict[str, int], quiet: bool) -> None:
    if not quiet:
        for name, size in files.items():
            say(f"wrote {name} ({size_in_words(size)})")


@options.command
def outliers(
    model: options.Model,
    data: options.Data,
    out: OutTable = None,
    *,
    reading: options.Reading,
    telling: options.Telling,
) -> None:
    """List the rows of a table that a model flags, the most suspicious first.

    Rows that the model was made from are judged as the fit judged them. Of others, a row is
    flagged when its target is more than three robust standard deviations, as they were when the
    model was made, from the prediction. Rows without a target are not judged.

    For example:

        robustscn outliers model.skops today.csv

        robustscn outliers model.skops today.csv --out suspects.csv
    """
    from .model_rows import judged, model_and_rows

    place = output_path(out)
    saved, frame = model_and_rows(model, data, place, reading, telling)
    table, n_judged = judged(saved, frame)
    verb = "is" if len(table) == 1 else "are"
    words = f"{len(table):,} of {n_judged:,} rows {verb} flagged"
    files = write_all({place: table_writer(legible(table))}) if place is not None else {}
    if telling.json:
        rows = table.reset_index().to_dict(orient="records")
        print_json({"rows": n_judged, "suspects": len(table), "table": rows, "files": files})
        return
    if place is None:
        print_table(legible(table))
    notes([words], telling.quiet)
    _say_wrote(files, telling.quiet)


@options.command
def report(
    model: options.Model,
    data: options.Data,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="Page to write.")
    ] = "report.html",
    *,
    reading: options.Reading,
    telling: options.Telling,
) -> None:
    """Write the page about a fit again, from the model and the table it was made from.

    For example:

        robustscn report model.skops measurements.csv --out report.html
    """
    from .fit_files import report_writer
    from .model_rows import known_targets, model_and_rows

    saved, frame = model_and_rows(model, data, Path(out), reading, telling)
    targets = known_targets(saved, frame)
    _refuse_other_rows(saved, targets.values)
    known = frame[targets.known]
    files = write_all({Path(out): report_writer(saved.model, known, saved.info)})
    if telling.json:
        print_json({"rows": len(known), "files": files})
    else:
        _say_wrote(files, telling.quiet)


def _refuse_other_rows(saved: Saved, observed: Any) -> None:
    """Raise where the table is not the one the model was made from: the page is about its rows."""
    from .model_rows import is_learned

    if not is_learned(saved, observed):
        n_rows = len(saved.model.named_steps["model"].expected_)
        raise UnusableError(
            f"the page is about the {n_rows:,} rows that the model was made from, and this "
            "table has others: give that table, or judge this one by 'robustscn outliers'"
        )


@options.command
def export(
    model: options.Model,
    out: Annotated[str, typer.Argument(help="ONNX file to write.")],
    double: Annotated[
        bool, typer.Option("--double", help="Numbers of 64 bits instead of 32.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Also the outputs 'lower' and 'upper', between which this share of clean targets "
            "lies, such as 0.9.",
        ),
    ] = None,
    max_size: options.MaxSize = None,
    *,
    telling: options.Telling,
) -> None:
    """Write a model as ONNX, which predicts where there is no Python.

    For example:

        robustscn export model.skops model.onnx

        robustscn export model.skops model.onnx --interval 0.9
    """
    from ..tables import columns_needed
    from .model_rows import loaded

    place = Path(out)
    check_outputs([place], [model])
    saved = loaded(model, options.size_of(max_size))
    if interval is not None:
        _knowing_intervals(saved, interval)
    if dates := columns_needed(saved.model)["dates"]:
        raise UnusableError(
            f"ONNX has no dates, and the model reads {dates[0]!r}: fit without it "
            f"(--drop {dates[0]!r}) to export"
        )
    from ..onnx import save_onnx

    given: dict[str, Any] = {"dtype": "float64" if double else "float32", "coverage": interval}
    given["target_names"] = saved.info["targets"]
    files = write_all({place: lambda path: save_onnx(saved.model, path, **given)})
    if telling.json:
        print_json({"files": files})
    else:
        _say_wrote(files, telling.quiet)
