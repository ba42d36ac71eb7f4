"""What to do with a model: `robustscn predict`, `outliers`, `report` and `export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..looks import order_of
from ..tables import (
    Targets,
    columns_needed,
    read_table,
    require_columns,
    reviews_of,
    targets_of,
    unread_values,
)
from ..tables.opening import file_hint
from ..text import shortened
from . import options
from .fit import report_writer, suspect_table
from .learning import named_by
from .messages import UnusableError, notes, print_json, say
from .outside import outside
from .spreadsheets import defused
from .writing import check_outputs, output_path, size_in_words, table_writer, write_all

if TYPE_CHECKING:
    import pandas as pd

    from ..persistence import Saved

OutTable = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Write .csv, .tsv or .parquet; else printed as CSV."
    ),
]


def loaded(path: str, max_size: int | None = None) -> Saved:
    """Return a model that `robustscn fit` wrote.

    Parameters
    ----------
    path : str
        The model file.
    max_size : int or None, default=None
        Most bytes that it may unpack to.

    Returns
    -------
    Saved
        The pipeline and what was kept beside it.
    """
    from ..persistence import load

    saved = load(model_path(path), max_size=max_size)
    if not _is_of_a_table(saved):
        raise UnusableError(f"{path} was not written by 'robustscn fit': load it in Python instead")
    return saved


def model_path(path: str) -> Path:
    """Return where a model file is, which must be there.

    Parameters
    ----------
    path : str
        As the user gives it.

    Returns
    -------
    Path
        The file.
    """
    place = Path(path)
    if place.is_dir():
        raise UnusableError(f"{path} is a folder: name the model file in it")
    if not place.exists():
        raise UnusableError(f"there is no model file {path}{file_hint(place)}")
    return place


def _is_of_a_table(saved: Saved) -> bool:
    """Return whether a model has what the commands use; a file may say anything of itself."""
    steps = getattr(saved.model, "named_steps", {})
    names = [saved.info.get(key) for key in ("targets", "features")]
    optional = [saved.info.get(key) for key in ("time", "group", "source", "command")]
    return (
        hasattr(steps.get("columns"), "transformers_")
        and hasattr(steps.get("model"), "residual_scale_")
        and len(steps["model"].residual_scale_) == len(saved.info.get("targets") or ())
        and all(isinstance(each, list) and each for each in names)
        and all(isinstance(name, str) for each in names for name in each or ())
        and all(each is None or isinstance(each, str) for each in optional)
        and isinstance(saved.info.get("held_out"), dict | None)
    )


def rows_for(saved: Saved, data: str, reading: dict[str, Any]) -> pd.DataFrame:
    """Return a table that has the columns which a model needs.

    Parameters
    ----------
    saved : Saved
        The model.
    data : str
        The table.
    reading : dict
        How it is written, from `options.Reading.keywords`.

    Returns
    -------
    pandas.DataFrame
        All columns; levels of categories as text, as they were learned.
    """
    needed = columns_needed(saved.model)
    names = [name for kind in needed.values() for name in kind]
    before = saved.info.get("reading") or {}
    units = {n: u for n, u in before.get("units", {}).items() if n in names}
    frame = read_table(
        data,
        text=tuple(needed["categories"]),
        like={**before, "units": units},
        **(reading | {"na": (*reading["na"], *before.get("na", ()))}),
    )
    require_columns(names, frame.columns, "the table")
    frame.attrs["notes"] += unread_values(saved.model, frame)
    named = saved.info.get("id")
    return named_by(frame, named) if isinstance(named, str) and named in frame.columns else frame


def model_and_rows(
    model: str,
    data: str,
    place: Path | None,
    reading: options.Reading,
    telling: options.Telling,
) -> tuple[Saved, pd.DataFrame]:
    """Return a model and the rows it is to be used on, with a note of what was assumed of them.

    Parameters
    ----------
    model, data : str
        The model file and the table.
    place : Path or None
        What will be written; neither of these may be.
    reading : Reading
        How the table is written.
    telling : Telling
        Whether notes are shown.

    Returns
    -------
    Saved, pandas.DataFrame
        From `loaded` and `rows_for`.
    """
    check_outputs([place], [model, data])
    how = reading.keywords()
    saved = loaded(model, how["max_size"])
    frame = rows_for(saved, data, how)
    notes(frame.attrs["notes"], telling.silent)
    return saved, frame


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
        defused(predicted).to_csv(sys.stdout)


def _tell_outside(strange: list[str], names: pd.Index, strict: bool, quiet: bool) -> None:
    rows = [k for k, columns in enumerate(strange) if columns]
    if not rows:
        return
    kind, first = names.name or "row", names[rows[0]]
    words = (
        f"{len(rows):,} of {len(strange):,} rows lie outside what the model has seen, first "
        f"{kind} {first} ({shortened(strange[rows[0]])})"
    )
    if strict:
        raise UnusableError(f"{words}: correct or leave them out, or predict without --strict")
    notes([f"{words}: their predictions are guesses"], quiet)


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

    if not 0.0 < coverage < 1.0:
        raise UnusableError(f"--interval {coverage:g} is no share: give one such as 0.9")
    last = saved.model[-1]
    if not hasattr(last, "predict_interval"):
        raise UnusableError(
            "the model in this file knows no intervals: make it anew with 'robustscn fit'"
        )
    inputs = saved.model[:-1].transform(frame)
    ends = np.asarray(last.predict_interval(inputs, coverage)).reshape(len(frame), -1, 2)
    columns = {}
    for number, name in enumerate(saved.info["targets"]):
        columns[f"from {name}"], columns[f"to {name}"] = ends[:, number].T
    return pd.DataFrame(columns, index=frame.index)


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
    """List the rows of a table that a model finds suspect, the strangest first.

    Rows that the model was made from are judged as the fit judged them. Of others, a row is
    suspect when its target is more than three robust standard deviations, as they were when the
    model was made, from the prediction. Rows without a target are not judged.

    For example:

        robustscn outliers model.skops today.csv

        robustscn outliers model.skops today.csv --out suspects.csv
    """
    place = output_path(out)
    saved, frame = model_and_rows(model, data, place, reading, telling)
    table, n_judged = judged(saved, frame)
    words = f"{len(table):,} of {n_judged:,} rows are suspect"
    files = write_all({place: table_writer(table)}) if place is not None else {}
    if telling.json:
        rows = table.reset_index().to_dict(orient="records")
        print_json({"rows": n_judged, "suspects": len(table), "table": rows, "files": files})
        return
    if place is None:
        defused(table).to_csv(sys.stdout)
    notes([words], telling.quiet)
    _say_wrote(files, telling.quiet)


def known_targets(saved: Saved, frame: pd.DataFrame) -> Targets:
    """Return the targets of rows that can be judged.

    Parameters
    ----------
    saved : Saved
        The model.
    frame : pandas.DataFrame
        Rows, some with targets.

    Returns
    -------
    Targets
        What people have called wrong, in the column of the fit, is none.
    """
    column: str = saved.info.get("reviewed") or ""
    wrong = reviews_of(frame, column)[0] if column in frame.columns else None
    return targets_of(frame, saved.info["targets"], to_learn=False, wrong=wrong)


def judged(saved: Saved, frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the rows that are too far from a model's prediction, and how many were judged.

    Parameters
    ----------
    saved : Saved
        The model.
    frame : pandas.DataFrame
        Rows with targets.

    Returns
    -------
    table : pandas.DataFrame
        Suspect rows, the strangest first; of several targets the one that deviates most.
    n_judged : int
        Rows that have a target.
    """
    import pandas as pd

    from ..estimators._base import OUTLIER_DISTANCE

    targets = known_targets(saved, frame)
    if not targets.known.any():
        raise UnusableError("no row has a target to be judged by: use 'robustscn predict' instead")
    known = frame[targets.known]
    if _is_learned(saved, targets.values):
        # The fit has judged these rows, by networks that had not seen them: that stands.
        model = saved.model.named_steps["model"]
        time = saved.info.get("time")
        order = order_of(known, time if time in known.columns else None)
        table = suspect_table(model, known.index, targets.names, order)
        return table, len(known)
    observed = targets.values.reshape(len(known), -1)
    expected = np.asarray(saved.model.predict(known)).reshape(observed.shape)
    deviations = saved.model.named_steps["model"]._deviations(observed, expected)
    deviations[np.isnan(deviations)] = 0.0
    worst = np.argmax(np.abs(deviations), axis=1)
    each = np.arange(len(known))
    table = pd.DataFrame(
        {
            "observed": observed[each, worst],
            "expected": expected[each, worst],
            "residual": (observed - expected)[each, worst],
            "deviations": deviations[each, worst],
        },
        index=known.index,
    )
    if observed.shape[1] > 1:
        table.insert(0, "output", [targets.names[number] for number in worst])
    table = table[np.abs(table["deviations"]) > OUTLIER_DISTANCE]
    strangest = np.argsort(-np.abs(table["deviations"].to_numpy()), kind="stable")
    return table.iloc[strangest], len(known)


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
    if not _is_learned(saved, observed):
        n_rows = len(saved.model.named_steps["model"].expected_)
        raise UnusableError(
            f"the page is about the {n_rows:,} rows that the model was made from, and this "
            "table has others: give that table, or judge this one by 'robustscn outliers'"
        )


def _is_learned(saved: Saved, observed: Any) -> bool:
    """Return whether these are the targets that the model was made from."""
    model = saved.model.named_steps["model"]
    if not hasattr(model, "residuals_") or not len(observed):
        return False
    learned = np.asarray(model.expected_) + np.asarray(model.residuals_)
    return learned.shape == observed.shape and np.allclose(
        learned, observed, rtol=1e-6, atol=1e-9 * np.abs(learned).max()
    )


@options.command
def export(
    model: options.Model,
    out: Annotated[str, typer.Argument(help="ONNX file to write.")],
    double: Annotated[
        bool, typer.Option("--double", help="Numbers of 64 bits instead of 32.")
    ] = False,
    max_size: options.MaxSize = None,
    *,
    telling: options.Telling,
) -> None:
    """Write a model as ONNX, which predicts where there is no Python.

    For example:

        robustscn export model.skops model.onnx
    """
    place = Path(out)
    check_outputs([place], [model])
    saved = loaded(model, options.size_of(max_size))
    if dates := columns_needed(saved.model)["dates"]:
        raise UnusableError(
            f"ONNX has no dates, and the model reads {dates[0]!r}: fit without it "
            f"(--drop {dates[0]!r}) to export"
        )
    from ..onnx import save_onnx

    dtype, names = ("float64" if double else "float32"), saved.info["targets"]
    files = write_all(
        {place: lambda path: save_onnx(saved.model, path, dtype=dtype, target_names=names)}
    )
    if telling.json:
        print_json({"files": files})
    else:
        _say_wrote(files, telling.quiet)
