"""One of our estimators as nodes of a graph.

All networks of a committee are one matrix product, an activation and another product: input
weights stand side by side, output weights below each other, divided by the number of networks.
A rank is a sum over segments between knots, each clipped to its share of the way:
`rank(x) = r_0 + sum_i (r_{i+1} - r_i) clip((x - k_i) / (k_{i+1} - k_i), 0, 1)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._arrays import HostArray
from ..nodes import Network
from ..scaling import Scaling
from .graph import CannotExport, Graph


def logistic(graph: Graph, z: str) -> str:
    """Return 1 / (1 + exp(-z)), accurate in the far tail.

    Not the operator Sigmoid: runtimes round it to zero where a node is nearly off, and output
    weights of such nodes can be so large that what is rounded away is the prediction.
    """
    off = graph.add("Exp", graph.add("Neg", z))
    return graph.add("Reciprocal", graph.add("Add", off, graph.constant(1.0)))


ACTIVATIONS: dict[str, Callable[[Graph, str], str]] = {
    "logistic": logistic,
    "tanh": lambda graph, z: graph.add("Tanh", z),
    "relu": lambda graph, z: graph.add("Relu", z),
}


def prediction(graph: Graph, model: Any, x: str) -> str:
    """Return the prediction of a fitted estimator for inputs of shape (n_rows, n_features)."""
    if graph.border == np.float32 and not 1e-30 < model._scale < 1e30:
        raise CannotExport("the targets are beyond what float32 holds: export with dtype='float64'")
    scaling: Scaling | None = getattr(model, "_scaling", None)
    networks = (model._network,) if scaling is None else model._networks
    centre: HostArray | float = 0.0
    if scaling is not None:
        x = scaled_inputs(graph, scaling, x)
        centre = scaling.centre
    y = mean_output(graph, networks, x, centre)
    y = graph.add("Mul", y, graph.constant(float(model._scale)))
    return graph.add("Squeeze", y, graph.constant([1])) if model._flat else y


def scaled_inputs(graph: Graph, scaling: Scaling, x: str) -> str:
    """Return the inputs scaled linearly and by rank, side by side; see `Scaling.inputs`."""
    linear = graph.add("Sub", x, graph.constant(scaling.low))
    linear = graph.add("Div", linear, graph.constant(scaling.width))
    return graph.add("Concat", linear, ranked_inputs(graph, scaling, x), axis=1)


def ranked_inputs(graph: Graph, scaling: Scaling, x: str) -> str:
    """Return the ranks of the inputs, constant outside the knots."""
    segments = [len(knots) - 1 for knots in scaling.knots]
    n_features, owner = len(segments), np.repeat(np.arange(len(segments)), segments)
    first = graph.constant(np.array([ranks[0] for ranks in scaling.ranks], dtype=float))
    steps = np.zeros((len(owner), n_features))
    steps[np.arange(len(owner)), owner] = np.concatenate([np.diff(r) for r in scaling.ranks])
    if not len(owner):  # all inputs are constant
        return graph.add("Add", graph.add("Mul", x, graph.constant(0.0)), first)
    start = np.concatenate([knots[:-1] for knots in scaling.knots])
    width = np.concatenate([np.diff(np.asarray(k, dtype=float)) for k in scaling.knots])
    way = graph.add("Gather", x, graph.constant(owner), axis=1)
    way = graph.add("Div", graph.add("Sub", way, graph.constant(start)), graph.constant(width))
    way = graph.add("Clip", way, graph.constant(0.0), graph.constant(1.0))
    return graph.add("Add", graph.add("MatMul", way, graph.constant(steps)), first)


def mean_output(
    graph: Graph, networks: Iterable[Network], x: str, centre: HostArray | float
) -> str:
    """Return the mean of the networks' outputs plus the centre, shape (n_rows, n_outputs)."""
    total: str | None = None
    for activation, (weights, biases, output_weights) in _side_by_side(tuple(networks)).items():
        if activation == "identity":
            centre = centre + biases @ output_weights
            weights, output_weights = weights @ output_weights, np.empty(0)
            if not weights.any() and total is not None:
                continue
        term = graph.add("MatMul", x, graph.constant(weights))
        if activation != "identity":
            term = graph.add("Add", term, graph.constant(biases))
            term = ACTIVATIONS[activation](graph, term)
            term = graph.add("MatMul", term, graph.constant(output_weights))
        total = term if total is None else graph.add("Add", total, term)
    assert total is not None
    return graph.add("Add", total, graph.constant(centre))


def _side_by_side(
    networks: tuple[Network, ...],
) -> dict[str, tuple[HostArray, HostArray, HostArray]]:
    """Return input weights, biases and shares in the mean for each activation, identity last."""
    layers: dict[str, list[tuple[HostArray, HostArray, HostArray]]] = {}
    for network in networks:
        end = 0
        for layer in network.layers:
            start, end = end, end + len(layer)
            share = network.output_weights[start:end] / len(networks)
            parts = layers.setdefault(layer.activation, [])
            parts.append((layer.weights, layer.biases, share))
    return {
        activation: (
            np.hstack([weights for weights, _, _ in parts]),
            np.concatenate([biases for _, biases, _ in parts]),
            np.vstack([share for _, _, share in parts]),
        )
        for activation, parts in sorted(layers.items(), key=lambda item: item[0] == "identity")
    }
