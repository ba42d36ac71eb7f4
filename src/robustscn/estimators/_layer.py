"""Hidden nodes that are all drawn at once, and output weights by least squares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.arrays import Array, HostArray
from ..core.least_squares import Design, Solution, least_squares
from ..core.nodes import Nodes, hidden_of, network, pass_through
from ..core.problem import Problem
from ..core.proposals import Draw
from ..core.rows import Column
from ._base import NetworkRegressor, Training


@dataclass(frozen=True)
class Layer:
    """A hidden layer drawn at once, with its direct link and bias.

    Parameters
    ----------
    nodes : Nodes
        The random nodes.
    extra : Nodes or None
        Inputs and constant handed on.
    """

    nodes: Nodes
    extra: Nodes | None

    @property
    def groups(self) -> tuple[Nodes, ...]:
        """The groups of nodes, what is handed on first."""
        return (self.nodes,) if self.extra is None else (self.extra, self.nodes)

    @property
    def width(self) -> int:
        """Number of hidden columns."""
        return sum(len(group) for group in self.groups)

    def hidden(self, X: Array) -> Array:
        """Return the hidden columns."""
        return hidden_of(self.groups, X)

    def first(self, n_nodes: int) -> Layer:
        """Return the layer with its first random nodes only."""
        return replace(self, nodes=self.nodes.take(range(n_nodes)))


class RandomLayerRegressor(NetworkRegressor):
    """Shared by the three: drawing the layer and solving for the output weights."""

    def _layer(self, training: Training) -> Layer:
        X = training.problem.X
        draw = Draw(
            self._seed(), X.shape[1], (float(self.scope),), self.n_nodes, activation=self.activation
        )
        extra = None
        if self.direct_link or self.bias:
            extra = pass_through(
                X.shape[1], inputs=self.direct_link, constant=self.bias, reference=X
            )
        return Layer(draw.pool(0, X), extra)

    def _keep_solution(
        self, training: Training, layer: Layer, output_weights: HostArray, errors: list[float]
    ) -> None:
        self._keep(training, network(layer.groups, output_weights))
        self.n_nodes_ = len(layer.nodes)
        self.error_path_ = np.array(errors) * training.scale


def solved(problem: Problem, layer: Layer, ridge: float) -> Solution:
    return least_squares(design_of(problem, layer), ridge=ridge)


def design_of(problem: Problem, layer: Layer) -> Design:
    return Design(problem.rows, problem.X, problem.y, problem.weight, layer.hidden, layer.width)


def rmse(problem: Problem, residuals: Column) -> float:
    energy = problem.energy(residuals).sum()
    return float(np.sqrt(energy / (problem.total_weight() * problem.y.shape[1])))
