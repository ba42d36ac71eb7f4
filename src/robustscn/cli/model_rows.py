"""A model that `robustscn fit` wrote, the rows it is used on, and how it judges them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

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
from . import options
from .fit_files import suspect_table
from .learning import named_by
from .messages import UnusableError, notes
from .writing import check_outputs

if TYPE_CHECKING:
    import pandas as pd

    from ..persistence import Saved


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
        Flagged rows, the most suspicious first; of several targets the one that deviates most.
    n_judged : int
        Rows that have a target.
    """
    import pandas as pd

    from ..estimators._base import OUTLIER_DISTANCE

    targets = known_targets(saved, frame)
    if not targets.known.any():
        raise UnusableError("no row has a target to be judged by: use 'robustscn predict' instead")
    known = frame[targets.known]
    if is_learned(saved, targets.values):
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


def is_learned(saved: Saved, observed: Any) -> bool:
    """Return whether these are the targets that a model was made from.

    Parameters
    ----------
    saved : Saved
        The model.
    observed : ndarray
        Targets.

    Returns
    -------
    bool
        Whether the fit has judged these rows.
    """
    model = saved.model.named_steps["model"]
    if not hasattr(model, "residuals_") or not len(observed):
        return False
    learned = np.asarray(model.expected_) + np.asarray(model.residuals_)
    return learned.shape == observed.shape and np.allclose(
        learned, observed, rtol=1e-6, atol=1e-9 * np.abs(learned).max()
    )
