"""Loops around growing that end it: a watcher has seen enough, validation stops falling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .arrays import Array, like, namespace
from .recipe import State, Stop

Watcher = Callable[[int, int], bool]
"""Told how many nodes a network had and has; returns whether that is enough."""


def watched(states: Iterator[State], watch: Watcher | None) -> Iterator[State]:
    """Yield states until a watcher, told of each, says that it is enough.

    Parameters
    ----------
    states : iterator of State
        From `grow`.
    watch : Watcher or None
        Whom to tell.

    Yields
    ------
    State
        Each, the last with a reason.
    """
    before = 0
    for state in states:
        enough = watch is not None and watch(before, len(state.nodes))
        yield replace(state, stop=state.stop or Stop.CALLER) if enough else state
        if enough:
            return
        before = len(state.nodes)


def validated(
    states: Iterator[State], X: Array, y: Array, weight: Array, patience: int
) -> Iterator[tuple[State, float]]:
    """Yield each state with its error on other rows, until that has stopped falling.

    Parameters
    ----------
    states : iterator of State
        From `grow`.
    X, y, weight : arrays
        Validation rows; y of shape (n_rows, n_outputs).
    patience : int
        Nodes to go on without a new best.

    Yields
    ------
    tuple of State and float
        The state and its root mean squared validation error.
    """
    xp = namespace(X)
    total = float(xp.sum(weight)) * y.shape[1]
    hidden = xp.empty((X.shape[0], 0), dtype=X.dtype, device=getattr(X, "device", None))
    best, best_nodes = float("inf"), 0
    for state in states:
        new = state.nodes.take(range(hidden.shape[1], len(state.nodes)))
        hidden = xp.concat([hidden, new.hidden(X)], axis=1)
        error = y - hidden @ like(state.fit.output_weights, X)
        rmse = float(np.sqrt(float(xp.sum(weight[:, None] * error * error)) / total))
        if rmse < best:
            best, best_nodes = rmse, len(state.nodes)
        if state.stop is None and len(state.nodes) - best_nodes >= patience:
            state = replace(state, stop=Stop.VALIDATION)
        yield state, rmse
        if state.stop is not None:
            return
