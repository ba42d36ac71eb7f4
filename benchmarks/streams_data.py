"""Streams with known clean targets, and the ways in which some of them are made wrong.

Rows come in a fixed order. A wrong target is off by up to five standard deviations of the clean
ones; in a burst all rows are off by the same amount, which is the harder case: one row looks like
the next, as after a real change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from robustscn.datasets import load_keel
from robustscn.datasets.circuit import CIRCUIT, steady_state
from robustscn.datasets.grinding import HIGHEST, LOWEST, MECHANISM

Array = NDArray[np.float64]

BURST = 15
"""Rows of a burst."""

ROWS = 2000
"""Rows of the streams that are made: a matter of time, some peers learn fifty rows a second."""

DRAWS = (1, 2)
"""Seeds of the wrong rows that are reported. Constants of ours were chosen on seed 0 and on those
from 101 on."""

AMPLITUDE = 5.0
"""Standard deviations that a wrong target is off by, at most."""


@dataclass(frozen=True)
class Stream:
    """Rows in order.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Inputs.
    y : array of shape (n_rows,)
        Clean targets.
    changes : tuple of int
        Rows at which the world changes at once, where it does.
    """

    X: Array
    y: Array
    changes: tuple[int, ...] = ()


def friedman(
    kind: str, n_rows: int, position: tuple[int, ...], window: int = 1, seed: int = 1
) -> Stream:
    from itertools import islice

    from river.datasets import synth

    drawn = synth.FriedmanDrift(kind, position=position, transition_window=window, seed=seed)
    rows = list(islice(iter(drawn), n_rows))
    X = np.array([list(x.values()) for x, _ in rows], float)
    changes = position if kind != "gsg" else ()
    return Stream(X, np.array([y for _, y in rows], float), changes)


def _grinding(n_rows: int = 2000) -> Stream:
    """Ore that gets harder and softer again: the plant's, not the model's."""
    rng = np.random.default_rng(5)
    X = rng.uniform(LOWEST, HIGHEST, (n_rows, 3))
    hardness = 1.0 + 0.1 * np.sin(2 * np.pi * np.arange(n_rows) / n_rows)
    model = steady_state(*X.T, MECHANISM).pse
    y = np.empty(n_rows)
    for start in range(0, n_rows, 50):
        at = slice(start, start + 50)
        plant = replace(CIRCUIT, fines_energy=CIRCUIT.fines_energy * hardness[start])
        y[at] = steady_state(*X[at].T, plant).pse - model[at]
    works = np.isfinite(y)
    return Stream(X[works], y[works])


def _keel(name: str) -> Stream:
    data = load_keel(name)
    return Stream(np.asarray(data.data, float), np.asarray(data.target, float))


def _trump() -> Stream:
    from river.datasets import TrumpApproval

    rows = list(TrumpApproval())
    return Stream(
        np.array([list(x.values()) for x, _ in rows], float), np.array([y for _, y in rows])
    )


def _water() -> Stream:
    """Hour, weekday and the flow one hour, one day and one week ago, as it truly was."""
    from river.datasets import WaterFlow

    rows = list(WaterFlow())
    flow = np.array([y for _, y in rows], float)
    when = [x["Time"] for x, _ in rows]
    hour = np.array([t.hour for t in when]) * 2 * np.pi / 24
    day = np.array([t.weekday() for t in when], float)
    lags = [1, 2, 24, 168]
    longest = max(lags)
    columns = [np.sin(hour), np.cos(hour), day]
    columns = [c[longest:] for c in columns] + [flow[longest - lag : -lag] for lag in lags]
    return Stream(np.stack(columns, axis=1), flow[longest:])


def _stocks() -> Stream:
    from river.datasets import SP500Stocks

    rows = list(SP500Stocks())
    return Stream(
        np.array([list(x.values()) for x, _ in rows], float), np.array([y for _, y in rows])
    )


STREAMS: dict[str, Callable[[], Stream]] = {
    "Friedman, abrupt": lambda: friedman("lea", ROWS, (500, 1000, 1500)),
    "Friedman, recurring": lambda: friedman("gra", ROWS, (800, 1400)),
    "Friedman, gradual": lambda: friedman("gsg", ROWS, (500, 1200), 400),
    "grinding, drifting ore": _grinding,
    "stock": lambda: _keel("stock"),
    "treasury": lambda: _keel("treasury"),
    "TrumpApproval": _trump,
    "WaterFlow": _water,
    "SP500Stocks": _stocks,
}
"""The streams; those of KEEL come in the order of their files, treasury's is no time order."""

CONDITIONS: dict[str, tuple[float, bool]] = {
    "clean": (0.0, False),
    "5 %": (0.05, False),
    "10 %": (0.10, False),
    "25 %": (0.25, False),
    "25 % in bursts": (0.25, True),
}
"""Share of wrong targets, and whether they come in bursts."""


@cache
def stream(name: str) -> Stream:
    return STREAMS[name]()


def spoiled(y: Array, condition: str, seed: int = 0) -> tuple[Array, NDArray[np.bool_]]:
    """Return targets of which some are wrong, and which.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Clean targets.
    condition : str
        One of `CONDITIONS`.
    seed : int
        Of the draws.

    Returns
    -------
    y : array of shape (n_rows,)
        Targets as a model gets them.
    wrong : bool array of shape (n_rows,)
        Which are not the clean ones.
    """
    share, bursts = CONDITIONS[condition]
    rng = np.random.default_rng((seed, 7))
    n, size = len(y), AMPLITUDE * float(np.std(y))
    wrong = np.zeros(n, bool)
    dirty = np.array(y)
    if share == 0:
        return dirty, wrong
    if not bursts:
        wrong[rng.choice(n, round(share * n), replace=False)] = True
        dirty[wrong] += rng.uniform(-size, size, int(wrong.sum()))
        return dirty, wrong
    period = round(BURST / share)
    for start in range(0, n - period + 1, period):
        at = start + int(rng.integers(period - BURST))
        wrong[at : at + BURST] = True
        dirty[at : at + BURST] += rng.uniform(1.0, AMPLITUDE) * rng.choice((-1, 1)) * np.std(y)
    return dirty, wrong
