"""Ways to spoil training rows; test rows stay clean.

Targets span about [0, 1], so that the sizes below are shares of their range. A row is wrong where
the law has hit it; the even or uneven noise that two laws put on all rows makes none wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustscn.datasets import contaminate

from .sets import Split

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rng = np.random.Generator

MANY_VALUES = 30
"""An input with fewer distinct values has no region to speak of."""


@dataclass(frozen=True)
class Condition:
    """What is done to training rows: a law, and the share of rows it hits."""

    law: str
    share: float
    gross: int = 0

    @property
    def name(self) -> str:
        """What tables and files call it."""
        base = f"{self.law} {self.share:.0%}"
        return f"{base}, {self.gross} gross" if self.gross else base


@dataclass(frozen=True)
class Spoiled:
    """Training rows as methods get them, and which of them are wrong."""

    X: Array
    y: Array
    wrong: Mask

    def without_wrong(self) -> Spoiled:
        """Return the right rows alone."""
        right = ~self.wrong
        return Spoiled(self.X[right], self.y[right], self.wrong[right])


CONDITIONS = (
    Condition("add", 0.0),
    Condition("add", 0.10),
    Condition("add", 0.25),
    Condition("add", 0.40),
    Condition("replace", 0.25),
    Condition("one-sided", 0.25),
    Condition("clustered", 0.25),
)
HARD_CONDITIONS = (
    Condition("uneven noise", 0.10),
    Condition("proportional noise", 0.10),
    Condition("dependent", 0.25),
    Condition("swapped", 0.25),
    Condition("times ten", 0.10),
    Condition("stuck", 0.25),
    Condition("second process", 0.30),
    Condition("wrong inputs", 0.10),
)
GROSS = (Condition("add", 0.10, gross=1), Condition("add", 0.10, gross=5))
FUNCTION_ONLY = tuple(Condition("replace", share) for share in (0.10, 0.15, 0.20, 0.30))
"""The paper's levels on the function, beside the 25 % above."""
TUNED_AT = Condition("add", 0.25)

LAWS_IN_WORDS = {
    "add": "adds U[-0.5, 0.5] to a share of the training targets, which span about [0, 1]",
    "replace": "puts U[0, 1] in their place (function: U[-0.2, 0.8])",
    "one-sided": "adds U[0, 0.5]",
    "clustered": "does as `add` to half of the rows of one region of one input",
    "uneven noise": "does as `add`, and every target has normal noise whose standard deviation "
    "rises from 0 to 0.1 along one input",
    "proportional noise": "does as `add`, and every target is times 1 + N(0, 0.1²)",
    "dependent": "does as one-sided, to rows the likelier the further up they are along one input",
    "swapped": "gives targets to each other's rows",
    "times ten": "is a wrong unit",
    "stuck": "repeats one target",
    "second process": "turns targets upside down: the same relation from the other end",
    "wrong inputs": "draws a third of a row's inputs anew from their ranges, the target is right",
}


def along_one_input(X: Array, rng: Rng) -> Array:
    """Return rows in the order of one input, drawn among those of many distinct values."""
    inputs = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) >= MANY_VALUES]
    return np.argsort(X[:, rng.choice(inputs)], kind="stable")


def _mask(n: int, rows: Any) -> Mask:
    hit = np.zeros(n, dtype=bool)
    hit[rows] = True
    return hit


def _drawn(n: int, share: float, rng: Rng) -> Mask:
    return _mask(n, rng.choice(n, round(share * n), replace=False))


def clustered(X: Array, y: Array, share: float, rng: Rng) -> tuple[Array, Mask]:
    """Add U[-0.5, 0.5], as ``add`` does, to rows of one region of one input.

    The region is a window of the input's ranks that holds twice as many rows as are hit (or all
    rows), of which a random half is hit. With every row of a region wrong nobody could tell what
    is right there.
    """
    n_hit = round(share * len(y))
    order = along_one_input(X, rng)
    width = min(2 * n_hit, len(y))
    start = rng.integers(len(y) - width + 1)
    rows = rng.choice(order[start : start + width], n_hit, replace=False)
    dirty = y.copy()
    dirty[rows] += rng.uniform(-0.5, 0.5, n_hit)
    return dirty, _mask(len(y), rows)


def with_gross(y: Array, count: int, rng: Rng) -> tuple[Array, Mask]:
    """Multiply some targets by a million, of those that are not close to zero."""
    rows = rng.choice(np.flatnonzero(np.abs(y) > 0.1 * np.std(y)), count, replace=False)
    dirty = y.copy()
    dirty[rows] *= 1e6
    return dirty, _mask(len(y), rows)


def uneven(X: Array, y: Array, share: float, rng: Rng) -> tuple[Array, Mask]:
    """Add noise that grows along one input to every target, and to some as ``add`` does."""
    size = np.empty(len(y))
    size[along_one_input(X, rng)] = np.linspace(0.0, 0.1, len(y))
    hit = _drawn(len(y), share, rng)
    noise = size * rng.standard_normal(len(y))
    return y + noise + hit * rng.uniform(-0.5, 0.5, len(y)), hit


def proportional(_X: Array, y: Array, share: float, rng: Rng) -> tuple[Array, Mask]:
    """Multiply every target by noise around one, and add to some as ``add`` does."""
    hit = _drawn(len(y), share, rng)
    noisy = y * (1.0 + 0.1 * rng.standard_normal(len(y)))
    return noisy + hit * rng.uniform(-0.5, 0.5, len(y)), hit


def dependent(X: Array, y: Array, share: float, rng: Rng) -> tuple[Array, Mask]:
    """Raise targets, the likelier the further up their row is along one input."""
    likely = np.empty(len(y))
    likely[along_one_input(X, rng)] = np.arange(1, len(y) + 1) ** 2
    rows = rng.choice(len(y), round(share * len(y)), replace=False, p=likely / likely.sum())
    hit = _mask(len(y), rows)
    return y + hit * rng.uniform(0.0, 0.5, len(y)), hit


def swapped(_X: Array, y: Array, share: float, rng: Rng) -> tuple[Array, Mask]:
    """Give targets to each other's rows: each row hit has the target of the next one hit."""
    rows = rng.choice(len(y), round(share * len(y)), replace=False)
    dirty = y.copy()
    dirty[rows] = y[np.roll(rows, 1)]
    return dirty, _mask(len(y), rows)


def times_ten(_X: Array, y: Array, share: float, rng: Rng) -> tuple[Array, Mask]:
    """Write targets in a unit that makes them ten times as large."""
    hit = _drawn(len(y), share, rng)
    return np.where(hit, 10.0 * y, y), hit


def stuck(_X: Array, y: Array, share: float, rng: Rng) -> tuple[Array, Mask]:
    """Repeat one of the targets."""
    hit = _drawn(len(y), share, rng)
    return np.where(hit, y[rng.integers(len(y))], y), hit


def second_process(_X: Array, y: Array, share: float, rng: Rng) -> tuple[Array, Mask]:
    """Turn targets upside down: a relation as smooth as the right one."""
    hit = _drawn(len(y), share, rng)
    return np.where(hit, y.min() + y.max() - y, y), hit


def wrong_inputs(X: Array, share: float, rng: Rng) -> tuple[Array, Mask]:
    """Draw a third of the inputs, one at least, of some rows anew from their ranges."""
    hit = _drawn(len(X), share, rng)
    count = max(1, round(X.shape[1] / 3))
    low, high, dirty = X.min(axis=0), X.max(axis=0), X.copy()
    for row in np.flatnonzero(hit):
        columns = rng.choice(X.shape[1], count, replace=False)
        dirty[row, columns] = rng.uniform(low[columns], high[columns])
    return dirty, hit


TARGET_LAWS: Mapping[str, Callable[[Array, Array, float, Rng], tuple[Array, Mask]]] = {
    "clustered": clustered,
    "uneven noise": uneven,
    "proportional noise": proportional,
    "dependent": dependent,
    "swapped": swapped,
    "times ten": times_ten,
    "stuck": stuck,
    "second process": second_process,
}


def spoiled(set_name: str, split: Split, condition: Condition, seed: int) -> Spoiled:
    """Return the training rows under a condition, the same for every method.

    ``replace`` draws from U[-0.2, 0.8] on the function, as its literature does, and from U[0, 1],
    the range of the targets, elsewhere.
    """
    law, share = condition.law, condition.share
    if law == "wrong inputs":
        X, hit = wrong_inputs(split.X, share, np.random.default_rng(seed))
        return Spoiled(X, split.y, hit)
    if law in TARGET_LAWS:
        rng = np.random.default_rng(seed)
        return Spoiled(split.X, *TARGET_LAWS[law](split.X, split.y, share, rng))
    options: dict[str, Any] = {}
    if law == "replace" and set_name != "function":
        options = {"low": 0.0, "high": 1.0}
    dirty, hit = contaminate(split.y, share, protocol=law.replace("-", "_"), rng=seed, **options)
    if condition.gross:
        dirty, gross = with_gross(dirty, condition.gross, np.random.default_rng([seed, 1]))
        hit = hit | gross
    return Spoiled(split.X, dirty, hit)
