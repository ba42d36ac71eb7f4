"""Nodes for a network that no longer suffices, grown on the few rows of a stream that are kept.

The kept rows are cut in time: nodes grow on the earlier ones and are taken in only if the later
ones are met better with them. Old knowledge that no kept row carries is represented by what the
network says about the kept inputs, with the weight that it has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .arrays import HostArray
from .growth import grow
from .information import Information, information_of
from .least_squares import Design, ridge_by_leave_one_out
from .nodes import Nodes
from .problem import Problem
from .proposals import Draw
from .recipe import Recipe, learned_search
from .rows import LocalRows
from .running import trimmed_mean

RIDGES = 10.0 ** np.arange(-8.0, 0.5, 0.5)
"""Penalties tried, for each unit of weight and targets of size one: the committee's without the
smallest, which few rows cannot carry."""

CHECKED = 0.25
"""Share of the kept rows, the latest, that decide whether new nodes are taken in. By argument: the
usual hold-out."""

COUNTED = 0.75
"""Share of the checked rows that count, those with the smallest errors: others may be wrong."""

WORTH = 0.9
"""What the error on the checked rows must fall to, as a share, for nodes to be taken in: a tenth,
more than luck gives on a few hundred rows. By argument."""

ROWS_PER_NODE = 6
"""Rows that there must be for each new node; the ridge makes up for the rest. By argument."""

SCOPES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""How steep nodes may be, for inputs scaled to [0, 1]: the flagship's, from nearly linear to a
step."""


@dataclass(frozen=True)
class Unit:
    """Inputs moved and stretched to [0, 1] over the kept rows; they may go beyond later.

    Parameters
    ----------
    low, width : arrays of shape (n_features,)
        Smallest input and range; a constant input has width one.
    """

    low: HostArray
    width: HostArray

    def inputs(self, X: HostArray) -> HostArray:
        """Return inputs in this unit."""
        return (X - self.low) / self.width

    def translated(self, nodes: Nodes, other: Unit) -> Nodes:
        """Return nodes for inputs in this unit as the same nodes for inputs in another."""
        ratio = other.width / self.width
        shift = (other.low - self.low) / self.width
        return replace(
            nodes,
            weights=nodes.weights * ratio[:, None],
            biases=nodes.biases + shift @ nodes.weights,
        )


def unit_of(X: HostArray) -> Unit:
    """Return the unit in which the rows span [0, 1]."""
    low, high = X.min(axis=0), X.max(axis=0)
    return Unit(low, np.where(high > low, high - low, 1.0))


@dataclass(frozen=True)
class Evidence:
    """What output weights are solved from: kept rows, and old knowledge about their inputs.

    Parameters
    ----------
    targets : array of shape (n_rows, n_outputs)
        Targets.
    weight : array of shape (n_rows,)
        How far each row's target counts.
    known : array of shape (n_rows, n_outputs)
        What older rows have taught to say.
    known_weight : float
        How much weight these have, all together.
    """

    targets: HostArray
    weight: HostArray
    known: HostArray
    known_weight: float

    def mixed(self) -> tuple[HostArray, HostArray]:
        """Return targets and weights that stand for both."""
        share = self.known_weight / len(self.weight)
        total = self.weight + share
        safe = np.where(total > 0, total, 1.0)[:, None]
        return (self.weight[:, None] * self.targets + share * self.known) / safe, total

    def last(self, count: int) -> Evidence:
        """Return the evidence of the latest rows."""
        share = count / len(self.weight)
        return Evidence(
            self.targets[-count:],
            self.weight[-count:],
            self.known[-count:],
            share * self.known_weight,
        )

    def first(self, count: int) -> Evidence:
        """Return the evidence of the earliest rows."""
        share = count / len(self.weight)
        return Evidence(
            self.targets[:count],
            self.weight[:count],
            self.known[:count],
            share * self.known_weight,
        )


def drawn_to(n_columns: int, n_outputs: int, n_given: int) -> HostArray:
    """Return the output weights that ridges draw to: what a fitted model says, and nothing else."""
    return np.eye(n_columns, n_outputs) if n_given else np.zeros((n_columns, n_outputs))


def solved(
    columns: HostArray, evidence: Evidence, n_given: int
) -> tuple[Information, float, HostArray]:
    """Return the information of the evidence, with the ridge of the lowest left-out error.

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns)
        Hidden columns, the constant last.
    evidence : Evidence
        What they are to meet.
    n_given : int
        How many columns, the first, are what a fitted model says.

    Returns
    -------
    information : Information
        Of the rows and the ridge.
    ridge : float
        The penalty for each unit of weight.
    left_out : array of shape (n_rows, n_outputs)
        Targets less what would be said of each row had it been left out.
    """
    targets, weight = evidence.mixed()
    towards = drawn_to(columns.shape[1], targets.shape[1], n_given)
    if not weight.sum() > 0:
        nothing = information_of(columns, targets, weight + 1e-12, 1.0, towards)
        return nothing, 1.0, evidence.targets - columns @ towards
    design = Design(
        LocalRows(len(weight)),
        columns[:, :-1],
        targets - columns @ towards,
        weight,
        lambda block: block,
        columns.shape[1] - 1,
    )
    tuned = ridge_by_leave_one_out(design, RIDGES)
    information = information_of(columns, targets, weight, tuned.ridge, towards)
    return information, tuned.ridge, tuned.left_out + evidence.targets - targets


def recipe_of(n_features: int, room: int, seed: int, round: int, activation: str) -> Recipe:
    """Return how nodes grow on a stream: as the flagship's do, on fewer rows.

    Parameters
    ----------
    n_features : int
        Number of inputs.
    room : int
        Nodes at most.
    seed, round : int
        Key of the draws.
    activation : str
        See `Nodes`.

    Returns
    -------
    Recipe
        For inputs scaled to [0, 1].
    """
    draw = Draw(
        seed,
        n_features,
        SCOPES,
        n_candidates=27,
        centres=np.stack([np.zeros(n_features), np.ones(n_features)]),
        activation=activation,
        sparse=True,
        boxes=activation == "logistic",
    )
    return learned_search(draw, room, ridge=1e-5, round=round)


def more_nodes(
    inputs: HostArray,
    columns: HostArray,
    left: HostArray,
    evidence: Evidence,
    recipe: Recipe,
    *,
    n_given: int,
) -> Nodes | None:
    """Return nodes with which the latest rows are met better, or None where none are found.

    Parameters
    ----------
    inputs : array of shape (n_rows, n_features)
        Inputs of the kept rows, the oldest first, scaled to [0, 1].
    columns : array of shape (n_rows, n_columns)
        What the network has already, the constant last.
    left : array of shape (n_rows, n_left)
        Those of them that stay if nodes are found.
    evidence : Evidence
        What is to be met.
    recipe : Recipe
        How to grow them; there may be room for fewer.
    n_given : int
        How many columns, the first, are what a fitted model says.

    Returns
    -------
    Nodes or None
        For inputs in the same unit.
    """
    n_rows = len(inputs)
    n_learn = n_rows - int(CHECKED * n_rows)
    room = min(recipe.max_nodes, n_learn // ROWS_PER_NODE)
    if room < 1 or not evidence.weight[:n_learn].sum() > 0:
        return None
    earlier, later = slice(0, n_learn), slice(n_learn, None)
    learned = evidence.first(n_learn)
    targets, weight = learned.mixed()
    start = solved(left[earlier], learned, n_given)[0].output_weights()
    problem = Problem(LocalRows(n_learn), inputs[earlier], targets - left[earlier] @ start, weight)
    *_, state = grow(problem, replace(recipe, max_nodes=room))
    if len(state.nodes) == 0:
        return None
    nodes = state.nodes.by_units()
    wider = with_nodes(left, nodes.hidden(inputs))
    before = solved(columns[earlier], learned, n_given)[0].output_weights()
    after = solved(wider[earlier], learned, n_given)[0].output_weights()
    checked = evidence.targets[later]
    errors = [
        float(np.sum(trimmed_mean(np.abs(checked - c[later] @ b), COUNTED)))
        for c, b in ((columns, before), (wider, after))
    ]
    return nodes if errors[1] < WORTH * errors[0] else None


def with_nodes(columns: HostArray, hidden: HostArray) -> HostArray:
    """Return columns with those of further nodes, before the constant."""
    return np.hstack([columns[:, :-1], hidden, columns[:, -1:]])
