"""What could be found of a fault at all: tests that are told what nobody knows.

They have the clean table's own noise: residuals of the target, blocks of time left out, less what
they share with the ones before. The matched filter of the fault is laid at every place of it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import HuberRegressor

from robustscn.looks.others import BLOCKS, Others, spread

LIMIT = 5.0
"""Robust standard deviations beyond which news is no larger: one leap must not look like a stretch.
"""
SHORTEST, LENGTHS = 6, 40
"""Rows of the shortest stretch that is looked for, and lengths from there to a third of the table.
"""


def oracle(clean: pd.DataFrame, planted: pd.DataFrame, target: str) -> dict[str, float]:
    """Return the power of tests that know a fault's size and shape.

    Parameters
    ----------
    clean, planted : pandas.DataFrame
        The table without and with the fault.
    target : str
        The column that has it.

    Returns
    -------
    dict
        `known` asks whether this stretch is wrong, at an error rate of 5 %; `anywhere` which
        stretch of its length is, and must exceed all that the clean table has; `any_length` the
        same beside shifts of any length; `changes` does so with differences of rows, less what
        those of the other columns explain.
    """
    columns = [name for name in clean.columns if name != "when"]
    others = Others(clean[columns].to_numpy(dtype=float))
    column = columns.index(target)
    memory, unit = others.memory[column], others.news[column]
    right, wrong = (
        others.bent(table[columns].to_numpy(dtype=float))[:, column] for table in (clean, planted)
    )
    noise = others.deviations(others.table, [column])[:, 0]
    shape = (wrong - right) / others.scale[column]
    news, fault = ((each[1:] - memory * each[:-1]) / unit for each in (noise, shape))
    chance, distance = _laid(news, fault)
    return {
        "deviations": distance,
        "known": float(np.mean(chance + distance > np.quantile(chance, 0.95))),
        "anywhere": float(np.mean(chance + distance > chance.max())),
        "any_length": float(np.mean(chance + distance > _worst_shift(news, memory))),
        **_by_changes(clean, planted, target),
    }


def leaps(clean: pd.DataFrame, target: str) -> float | None:
    """Return the leap that a column takes both up and down, beyond what the others explain.

    Parameters
    ----------
    clean : pandas.DataFrame
        The table.
    target : str
        The column.

    Returns
    -------
    float or None
        The smaller of the two, in standard deviations; None where it seldom changes.
    """
    news = _unexplained(clean, target)[0]
    return None if news is None else float(min(news.max(), -news.min()))


def _laid(news: np.ndarray, fault: np.ndarray) -> tuple[np.ndarray, float]:
    """Return what the fault's matched filter says of the noise at each place, and of the fault."""
    distance = float(np.linalg.norm(fault))
    return np.correlate(_bounded(news), np.trim_zeros(fault) / distance, "valid"), distance


def _bounded(news: np.ndarray) -> np.ndarray:
    return np.clip(news - np.median(news), -LIMIT, LIMIT)


def _worst_shift(news: np.ndarray, memory: float) -> float:
    """Return the highest that a shift of any length, up or down, gets without there being one."""
    bounded, worst = _bounded(news), 0.0
    for length in np.unique(np.geomspace(SHORTEST, len(news) // 3, LENGTHS).astype(int)):
        shift = np.full(length + 1, 1.0 - memory)
        shift[0], shift[-1] = 1.0, -memory
        filtered = np.correlate(bounded, shift / np.linalg.norm(shift), "valid")
        worst = max(worst, float(np.abs(filtered).max()))
    return worst


def _by_changes(clean: pd.DataFrame, planted: pd.DataFrame, target: str) -> dict[str, float]:
    """Return how often a shift that is not told of shows in changes that others do not explain."""
    news, scale = _unexplained(clean, target)
    assert news is not None
    fault = np.diff((planted[target] - clean[target]).to_numpy(dtype=float)) / scale
    chance, distance = _laid(news, fault)
    found = float(np.mean(chance + distance > _worst_shift(news, 1.0)))
    return {"changes": found, "leap": float(np.abs(fault).max())}


def _unexplained(clean: pd.DataFrame, target: str) -> tuple[np.ndarray | None, float]:
    """Return changes of a column that those of the others do not explain, in units of them."""
    inputs = [name for name in clean.columns if name not in ("when", target)]
    steps = np.diff(clean[inputs].to_numpy(dtype=float), axis=0)
    change = np.diff(clean[target].to_numpy(dtype=float))
    left = change - _explained(steps, change)
    scale = spread(left) if spread(change) else 0.0
    return (left / scale if scale else None), scale


def _explained(steps: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return what changes of the other columns say, the block of time and those beside left out."""
    low, high = np.quantile(steps, [0.005, 0.995], axis=0)
    steps = steps / (np.clip(steps, low, high).std(axis=0) + 1e-300)
    block = np.arange(len(change)) * BLOCKS // len(change)
    explained = np.empty(len(change))
    for k in range(BLOCKS):
        seen = np.abs(block - k) > 1
        model = HuberRegressor(alpha=1.0, max_iter=500).fit(steps[seen], change[seen])
        explained[block == k] = model.predict(steps[block == k])
    return explained
