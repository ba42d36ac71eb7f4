"""Whether hour, weekday and season help to predict, asked in a way that a bad week cannot answer.

Stretches of time are kept out whole and predicted from the others, by a quick learner, with and
without the calendar's parts. A week that went wrong is in one stretch only: what is learned of it
is of no use in the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

STRETCHES = 5
MOST_ROWS = 6000
WORTH = 0.95
"""What error has to be left with the calendar's parts for them to be worth their place."""


def calendar_helps(
    inputs: NDArray[np.float64],
    parts: NDArray[np.float64],
    targets: NDArray[np.float64],
    moments: NDArray[np.float64],
    seed: int = 0,
) -> bool:
    """Return whether a quick learner predicts other stretches of time better with the parts.

    Parameters
    ----------
    inputs : ndarray of shape (n_rows, n_inputs)
        What there is besides; NaN where something is missing.
    parts : ndarray of shape (n_rows, n_parts)
        Of `DateParts` without seconds.
    targets : ndarray of shape (n_rows,) or (n_rows, n_targets)
        What is to be predicted.
    moments : ndarray of shape (n_rows,)
        When each row was.
    seed : int, default=0
        Seed of the learner.

    Returns
    -------
    bool
        Whether the error falls by a twentieth or more in one of the targets.
    """
    rows = np.flatnonzero(np.isfinite(moments))
    if parts.shape[1] == 0 or len(rows) < 10 * STRETCHES:
        return False
    rows = rows[np.argsort(moments[rows], kind="stable")]
    rows = rows[np.linspace(0, len(rows) - 1, min(MOST_ROWS, len(rows))).astype(int)]
    both = np.column_stack([inputs, parts])[rows]
    for target in targets.reshape(len(targets), -1).T:
        without = _error(both[:, : inputs.shape[1]], target[rows], seed)
        if _error(both, target[rows], seed) < WORTH * without:
            return True
    return False


def _error(inputs: NDArray[np.float64], target: NDArray[np.float64], seed: int) -> float:
    """Return the mean absolute error of nine tenths of the rows, each stretch predicted whole."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    if inputs.shape[1] == 0:
        inputs = np.zeros((len(target), 1))
    stretch = np.arange(len(target)) * STRETCHES // len(target)
    errors = np.empty(len(target))
    for out in range(STRETCHES):
        learner: Any = HistGradientBoostingRegressor(
            loss="absolute_error", max_iter=60, early_stopping=False, random_state=seed
        )
        kept = stretch != out
        errors[~kept] = np.abs(
            target[~kept] - learner.fit(inputs[kept], target[kept]).predict(inputs[~kept])
        )
    return float(np.sort(errors)[: int(0.9 * len(errors))].mean())


def plain_inputs(
    frame: pd.DataFrame, numbers: tuple[str, ...], categories: tuple[str, ...]
) -> NDArray[np.float64]:
    """Return columns as numbers, levels by how often they come: enough for a quick learner.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    numbers, categories : tuple of str
        Its columns by kind.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Numbers and NaN.
    """
    from .columns import as_numbers, as_texts

    columns = [as_numbers(frame[name]) for name in numbers]
    for name in categories:
        codes = dict.fromkeys(as_texts(frame[name]).astype(str))
        order = {level: code for code, level in enumerate(codes)}
        columns.append(np.array([order[str(v)] for v in as_texts(frame[name])], dtype=float))
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))
