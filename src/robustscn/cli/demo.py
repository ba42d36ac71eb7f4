"""`robustscn demo`: every method on a simulated grinding circuit of which 25 % is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from ..text import one_line
from . import options
from .messages import UnusableError, print_json
from .settings import Settings
from .writing import check_outputs, size_in_words, table_writer, write_all

if TYPE_CHECKING:
    import pandas as pd

    from .learning import Learned

INPUTS = ("ore feed", "mill water", "sump water")
TARGET = "particle size (simulated)"
WRONG = 0.25
_N_ROWS = 600


@options.command
def demo(
    folder: Annotated[Path, typer.Argument(help="Folder for the files.")] = Path("robustscn-demo"),
    seed: options.Seed = 0,
    *,
    telling: options.Telling,
) -> None:
    """Show all of this on a simulated grinding circuit with 25 % wrong targets.

    Five methods and ours learn from the same 300 dirty rows and are measured against the truth:
    the error on 300 clean rows, and how many of the 75 wrong rows they find.

    For example:

        robustscn demo

        robustscn predict robustscn-demo/model.skops robustscn-demo/measurements.csv
    """
    from ..tables import read_table
    from .fit_files import fit_writers
    from .learning import learned, task_of

    if folder.exists() and not folder.is_dir():
        raise UnusableError(f"{folder} is a file: name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    frame, wrong, test, truth = drawn(seed)
    table = folder / "measurements.csv"
    places = [folder / name for name in ("model.skops", "report.html", "outliers.csv")]
    check_outputs([table, *places], [])
    files = write_all({table: table_writer(frame)})
    outcomes = [
        _measured(
            name, method.fit(frame[list(INPUTS)].to_numpy(), frame[TARGET]), wrong, test, truth
        )
        for name, method in methods(seed).items()
    ]
    task = task_of(read_table(table), [TARGET], drop=["number"])
    fit = learned(task, Settings(seed=seed), telling.silent)
    outcomes.append(_of_flagship(fit, wrong, test, truth))
    command = f"robustscn fit measurements.csv --target '{TARGET}' --drop number --seed {seed}"
    files |= write_all(fit_writers(places, task, fit, source=str(table), command=command))
    if telling.json:
        print_json({"wrong_rows": int(wrong.sum()), "methods": outcomes, "files": files})
    else:
        _print(outcomes, files, int(wrong.sum()), places)


def drawn(seed: int) -> tuple[pd.DataFrame, Any, Any, Any]:
    """Draw the circuit, half of it spoiled to learn from and half clean to measure by.

    Parameters
    ----------
    seed : int
        Seed of the draws.

    Returns
    -------
    frame : pandas.DataFrame
        Rows to learn from.
    wrong : bool ndarray
        Which of them are spoiled.
    test : pandas.DataFrame
        Clean inputs.
    truth : ndarray
        Their targets.
    """
    import pandas as pd

    from ..datasets import contaminate, make_grinding

    X, y = make_grinding(_N_ROWS, rng=seed)
    half = _N_ROWS // 2
    dirty, wrong = contaminate(y[:half], WRONG, rng=seed)
    # Nine digits, as a logger would write them: the file and the frame hold the same numbers.
    frame = pd.DataFrame(X[:half].round(9), columns=list(INPUTS))
    frame[TARGET] = dirty.round(9)
    frame.index = pd.RangeIndex(1, half + 1, name="number")
    return frame, wrong, pd.DataFrame(X[half:], columns=list(INPUTS)), y[half:]


def methods(seed: int) -> dict[str, Any]:
    """Return the methods that ours is measured beside, by name.

    Parameters
    ----------
    seed : int
        Seed of their draws.

    Returns
    -------
    dict
        Estimators, not yet fitted, at the settings of the benchmark.
    """
    from .. import (
        ImprovedRVFLRegressor,
        PRNNRWRegressor,
        RSCKDERegressor,
        RVFLRegressor,
        SCNRegressor,
    )

    grown: dict[str, Any] = {
        "scopes": (0.5, 1, 3, 5),
        "scope_order": "pooled",
        "n_candidates": 20,
        "random_state": seed,
    }
    return {
        "RVFL": RVFLRegressor(100, scope=1.0, random_state=seed),
        "SCN": SCNRegressor(100, **grown),
        "Improved RVFL": ImprovedRVFLRegressor(100, scope=1.0, random_state=seed),
        "PRNNRW": PRNNRWRegressor(100, scope=1.0, ridge=1e-2, random_state=seed),
        "RSC-KDE": RSCKDERegressor(100, **grown),
    }


def _measured(name: str, model: Any, wrong: Any, test: pd.DataFrame, truth: Any) -> dict[str, Any]:
    predicted = model.predict(test.to_numpy())
    return _outcome(name, predicted, getattr(model, "outliers_", None), wrong, truth)


def _of_flagship(fit: Learned, wrong: Any, test: pd.DataFrame, truth: Any) -> dict[str, Any]:
    predicted = fit.pipeline.predict(test)
    return _outcome("RobustSCN (ours)", predicted, fit.model.outliers_, wrong, truth)


def _outcome(name: str, predicted: Any, marked: Any, wrong: Any, truth: Any) -> dict[str, Any]:
    return {
        "method": name,
        "rmse": float(np.sqrt(np.mean((predicted - truth) ** 2))),
        "wrong_rows_found": None if marked is None else int((marked & wrong).sum()),
        "right_rows_marked": None if marked is None else int((marked & ~wrong).sum()),
    }


def _print(
    outcomes: list[dict[str, Any]], files: dict[str, int], n_wrong: int, places: list[Path]
) -> None:
    table = Table(title="Simulated grinding circuit, 25 % of 300 targets wrong")
    table.add_column("method")
    table.add_column("error, clean rows", justify="right")
    table.add_column(f"wrong found, of {n_wrong}", justify="right")
    table.add_column("right marked", justify="right")
    for each in outcomes:
        counts = [each["wrong_rows_found"], each["right_rows_marked"]]
        table.add_row(
            each["method"], f"{each['rmse']:.4f}", *("-" if c is None else str(c) for c in counts)
        )
    console = Console(highlight=False)
    console.print(table)
    for name, size in files.items():
        words = one_line(f"wrote {name} ({size_in_words(size)})")
        console.print(words, markup=False, soft_wrap=True)
    words = one_line(f"open {places[1]} in a browser")
    console.print(words, markup=False, soft_wrap=True)
