"""One network of a committee: grown without the rows of one fold, which say how far to grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .early_stopping import Watcher, watched
from .growth import grow, opened
from .nodes import Nodes
from .problem import Problem, weighed
from .recipe import Recipe, State
from .rows import Column, Stack, Totals

KEPT_IN_MEMORY = 2**21
"""Hidden values of one network (rows times nodes) up to which they are computed only once: 16
megabytes for each. Changes time and no result."""

PATIENCE = 100
"""Nodes that a network grows on after the rows kept from it were met best, for the ridge to make
the best of; whether it did, committee.py asks in the end. With 60 and fewer, stock and treasury
lost several percent."""


@dataclass(frozen=True)
class Grown:
    """Nodes grown without the rows of one fold.

    Parameters
    ----------
    nodes : Nodes
        The nodes, in the order in which they joined until the network's size is settled.
    kept_from : int
        The fold.
    path : array of shape (n_steps, 3)
        After each step: number of nodes, weighted root mean squared error on the rows they were
        grown on, and on the rows of the fold kept from them.
    columns : column of shape (n_rows, n_nodes) or None
        The nodes' values, where there is room for them.
    opening : Nodes or None
        What they began with.
    """

    nodes: Nodes
    kept_from: int
    path: HostArray
    columns: Column | None = None
    opening: Nodes | None = None

    @property
    def best_size(self) -> int:
        """Number of nodes with which the rows kept from them were met best."""
        return int(self.path[np.argmin(self.path[:, 2]), 0])


def weight_elsewhere(problem: Problem, folds: Column, fold: int) -> Column:
    """Return the weights of rows of all other folds, and zero for those of one."""

    def others(w: Array, f: Array) -> Array:
        return namespace(w).where(f == fold, namespace(w).zeros_like(w), w)

    return problem.rows.map(others, problem.weight, folds)


def grown_without(
    problem: Problem,
    folds: Column,
    watch: Watcher | None,
    fold: int,
    recipe: Recipe,
) -> Grown:
    """Return nodes grown on the rows of all other folds.

    Parameters
    ----------
    problem : Problem
        All rows; their weights are the caller's times the learned ones.
    folds : column of shape (n_rows,)
        Each row's fold.
    watch : Watcher or None
        Told of each step; may end it.
    fold : int
        The one that is kept from it.
    recipe : Recipe
        How it grows.

    Returns
    -------
    Grown
        As large as it became.
    """
    weight = weight_elsewhere(problem, folds, fold)
    rest = problem.rows.map(lambda w, s: w - s, problem.weight, weight)
    # Rows of the fold and rows that are not believed say nothing of what joins the network.
    seen = weighed(replace(problem, weight=weight))
    kept = _Kept.of(weighed(replace(problem, weight=rest)), recipe.max_nodes)
    sizes = [subset.total_weight() * problem.y.shape[1] for subset in (seen, kept.problem)]
    path: list[tuple[float, ...]] = []
    opening = opened(seen, recipe)
    begun = [opening] if len(opening.nodes) else []
    for state in chain(begun, watched(grow(seen, recipe, opening), watch)):
        kept, left = kept.met_by(state)
        energies = state.energy.sum(), left
        shares = [e / n if n else np.nan for e, n in zip(energies, sizes, strict=True)]
        path.append((len(state.nodes), *shares))
        lowest, *_ = min(path, key=lambda point: point[2])
        # Where no rows are kept from it there is nothing to go by, and it grows to its size.
        if sizes[1] and len(state.nodes) - lowest >= PATIENCE:
            break
    errors = np.array(path) ** (1.0, 0.5, 0.5)
    return Grown(state.nodes, fold, errors, opening=recipe.opening)


@dataclass(frozen=True)
class _Kept:
    """Rows that are kept from a network, with its nodes' outputs on them.

    Parameters
    ----------
    problem : Problem
        The rows.
    columns : Stack
        Outputs of the nodes so far.
    n_nodes : int
        How many these are.
    """

    problem: Problem
    columns: Stack
    n_nodes: int = 0

    @classmethod
    def of(cls, problem: Problem, capacity: int) -> _Kept:
        """Return them before there are any nodes."""
        return cls(problem, problem.rows.stack(problem.X, capacity))

    def met_by(self, state: State) -> tuple[_Kept, float]:
        """Return them with the network's new nodes, and the weighted squares that it leaves."""
        rows, X, y, weight = (getattr(self.problem, each) for each in ("rows", "X", "y", "weight"))
        n_nodes, columns, beta = len(state.nodes), self.columns, state.fit.output_weights
        if n_nodes > self.n_nodes:
            new = state.nodes.take(range(self.n_nodes, n_nodes))
            columns = columns.appended(rows.map(new.hidden, X, width=2 * new.n_units))

        def squares(h: Array, t: Array, w: Array) -> Totals:
            e = t - h @ like(beta, t)
            return ((w[None, :] @ (e * e))[0, :],)

        (left,) = rows.reduce(squares, columns, y, weight, width=n_nodes)
        return replace(self, columns=columns, n_nodes=n_nodes), float(left.sum())


def cut_back(problem: Problem, layer: Grown, size: int) -> Grown:
    """Return the first nodes of a network, laid out for speed and with their outputs.

    Parameters
    ----------
    problem : Problem
        The rows that outputs are of.
    layer : Grown
        The network.
    size : int
        How many nodes to keep.

    Returns
    -------
    Grown
        All of it where that is its size.
    """
    nodes = layer.nodes.take(range(size)).by_units()
    return replace(layer, nodes=nodes, columns=outputs_of(problem, nodes))


def outputs_of(problem: Problem, nodes: Nodes) -> Column | None:
    """Return the nodes' outputs on all rows, where there is room for them."""
    if problem.rows.n_rows * len(nodes) > KEPT_IN_MEMORY:
        return None
    return problem.rows.map(nodes.hidden, problem.X, width=2 * nodes.n_units)


def growth_path(paths: Sequence[HostArray]) -> HostArray:
    """Return the mean of the networks' paths; one that ended early stays at its last error."""
    nodes = max((path[:, 0] for path in paths), key=len)
    errors = [
        [np.interp(nodes, path[:, 0], path[:, column]) for path in paths] for column in (1, 2)
    ]
    return np.stack([nodes, *np.mean(errors, axis=1)], axis=1)
