"""The prediction of one of our estimators as nodes of a graph.

All networks of a committee are one matrix product, an activation and another product: input
weights stand side by side, output weights below each other, in columns of each network's own.
Where nodes are products of units, units are gathered and multiplied in between.
A rank is a sum over segments between knots, each clipped to its share of the way:
`rank(x) = r_0 + sum_i (r_{i+1} - r_i) clip((x - k_i) / (k_{i+1} - k_i), 0, 1)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.arrays import HostArray
from ..core.inputs import BEYOND, Scaling
from ..core.missing import Missing
from ..core.nodes import Network, Nodes
from ..estimators import RobustBlendRegressor, RobustTransformedRegressor
from ..estimators._around import Around
from .graph import CannotExport, Graph
from .trees import tree_outputs, trees_of


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


ALWAYS_ON = 40.0
"""Bias at which a logistic unit is one to the last digit."""


def columns_of(graph: Graph, model: Any, x: str) -> str:
    """Return the prediction of shape (n_rows, n_outputs), of networks, of trees or of both."""
    if isinstance(model, RobustTransformedRegressor):
        return in_unit(graph, model.transformation_, columns_of(graph, model.estimator_, x))
    if not isinstance(model, Around):
        return network_columns(graph, model, x)
    trees = tree_outputs(graph, trees_of(model._fitted), x)
    if not isinstance(model, RobustBlendRegressor):
        return trees
    return blended(graph, model, network_columns(graph, model.networks_, x), trees)


def blended(graph: Graph, model: RobustBlendRegressor, networks: str, others: str) -> str:
    """Return both with the shares that they have in a blend."""
    shares = (networks, model.share_), (others, 1.0 - model.share_)
    return graph.add("Add", *(graph.add("Mul", y, graph.constant(s)) for y, s in shares))


def in_unit(graph: Graph, transform: str, y: str) -> str:
    """Return targets in their unit, from what was learned."""
    if transform == "log":
        return graph.add("Exp", y)
    if transform == "sqrt":
        root = graph.add("Relu", y)
        return graph.add("Mul", root, root)
    return y


def network_columns(graph: Graph, model: Any, x: str) -> str:
    """Return the prediction of networks, shape (n_rows, n_outputs)."""
    x = network_inputs(graph, model, x)
    scaling: Scaling | None = getattr(model, "_scaling", None)
    networks = (model._network,) if scaling is None else model._networks
    y = outputs(graph, networks, x)
    if len(networks) > 1:
        y = middle(graph, stacked(graph, y, len(networks)), len(networks))
    y = graph.add("Add", y, graph.constant(0.0 if scaling is None else scaling.centre))
    return graph.add("Mul", y, graph.constant(float(model._scale)))


def network_inputs(graph: Graph, model: Any, x: str) -> str:
    """Return inputs as the networks of a model know them: without gaps, scaled."""
    if graph.border == np.float32 and not 1e-30 < model._scale < 1e30:
        raise CannotExport("the targets are beyond what float32 holds: export with dtype='float64'")
    if hasattr(model, "_stream"):
        raise CannotExport(
            "the model has learned on with partial_fit, which ONNX has no place for: export it as "
            "it was after fit"
        )
    missing: Missing | None = getattr(model, "_missing", None)
    if missing is not None:
        x = filled_inputs(graph, missing, x)
    scaling: Scaling | None = getattr(model, "_scaling", None)
    return x if scaling is None else scaled_inputs(graph, scaling, x)


def filled_inputs(graph: Graph, missing: Missing, x: str) -> str:
    """Return the inputs without gaps, marks beside them; see `Missing.filled`."""
    gaps = replaced = graph.add("IsNaN", x)
    unheard = missing.unheard()
    if unheard.any():
        replaced = graph.add("Or", gaps, graph.constant(unheard))
    known = graph.add("Where", replaced, graph.constant(np.nan_to_num(missing.fill)), x)
    if not missing.marked:
        return known
    marks = graph.add("Gather", gaps, graph.constant(np.array(missing.marked)), axis=1)
    return graph.add("Concat", known, graph.cast(marks, np.float64), axis=1)


def scaled_inputs(graph: Graph, scaling: Scaling, x: str) -> str:
    """Return the inputs scaled linearly and by rank, side by side; see `Scaling.inputs`."""
    linear = graph.add("Sub", x, graph.constant(scaling.low))
    linear = graph.add("Div", linear, graph.constant(scaling.width))
    linear = graph.add("Clip", linear, graph.constant(-BEYOND), graph.constant(1.0 + BEYOND))
    if not scaling.ranked:
        return linear
    return graph.add("Concat", linear, ranked_inputs(graph, scaling, x), axis=1)


def ranked_inputs(graph: Graph, scaling: Scaling, x: str) -> str:
    """Return the ranks of those inputs that have any, constant outside the knots."""
    return piecewise(graph, x, scaling.ranked, scaling.knots, scaling.ranks)


def piecewise(
    graph: Graph, x: str, chosen: Sequence[int], knots: Sequence[Any], heights: Sequence[Any]
) -> str:
    """Return what `np.interp` makes of the chosen columns, each with knots of its own."""
    segments = [len(places) - 1 for places in knots]
    n_columns, owner = len(segments), np.repeat(np.arange(len(segments)), segments)
    first = graph.constant(np.array([each[0] for each in heights], dtype=float))
    steps = np.zeros((len(owner), n_columns))
    steps[np.arange(len(owner)), owner] = np.concatenate([np.diff(each) for each in heights])
    start = np.concatenate([places[:-1] for places in knots])
    width = np.concatenate([np.diff(np.asarray(places, dtype=float)) for places in knots])
    way = graph.add("Gather", x, graph.constant(np.array(chosen)[owner]), axis=1)
    way = graph.add("Div", graph.add("Sub", way, graph.constant(start)), graph.constant(width))
    way = graph.add("Clip", way, graph.constant(0.0), graph.constant(1.0))
    return graph.add("Add", graph.add("MatMul", way, graph.constant(steps)), first)


def outputs(graph: Graph, networks: tuple[Network, ...], x: str) -> str:
    """Return the networks' outputs side by side, shape (n_rows, n_networks * n_outputs)."""
    total: str | None = None
    constant: HostArray | float = 0.0
    for activation, (nodes, output_weights) in _side_by_side(networks).items():
        weights, biases = nodes.weights, nodes.biases
        if activation == "identity":
            constant = biases @ output_weights
            weights, output_weights = weights @ output_weights, np.empty(0)
            if not weights.any() and total is not None:
                continue
        if nodes.factors:
            weights = np.hstack([weights, np.zeros((len(weights), 1))])
            biases = np.append(biases, ALWAYS_ON)
        # ONNX Runtime fuses a product with a division by one number before it, in float32.
        product = "Mul" if len(weights) == 1 else "MatMul"
        term = graph.add(product, x, graph.constant(weights))
        if activation != "identity":
            term = graph.add("Add", term, graph.constant(biases))
            term = _multiplied(graph, ACTIVATIONS[activation](graph, term), nodes)
            term = graph.add("MatMul", term, graph.constant(output_weights))
        total = term if total is None else graph.add("Add", total, term)
    assert total is not None
    return graph.add("Add", total, graph.constant(constant))


def _multiplied(graph: Graph, units: str, nodes: Nodes) -> str:
    """Return the nodes' outputs, products of the units'; those they lack are the last, a one."""
    if not nodes.factors:
        return units
    hidden, start = None, 0
    for members in (range(len(nodes)), *nodes.factors):
        place = np.full(len(nodes), nodes.n_units)
        place[list(members)] = np.arange(start, start + len(members))
        start += len(members)
        factor = graph.add("Gather", units, graph.constant(place), axis=1)
        hidden = factor if hidden is None else graph.add("Mul", hidden, factor)
    assert hidden is not None
    return hidden


def stacked(graph: Graph, values: str, count: int) -> str:
    """Return what stands side by side, each member's outputs together, by members.

    Of shape (n_rows, n_members, n_outputs).
    """
    return graph.add("Reshape", values, graph.constant([0, count, -1]))


def middle(graph: Graph, values: str, count: int) -> str:
    """Return the median over members of what is stacked, shape (n_rows, n_outputs)."""
    # The largest half, in order: the smallest of them, or the mean of the two about the middle.
    n_upper = count // 2 + 1
    upper = graph.add("TopK", values, graph.constant([n_upper]), axis=1, unread=1)
    near = [n_upper - 1] if count % 2 else [n_upper - 2, n_upper - 1]
    upper = graph.add("Gather", upper, graph.constant(near), axis=1)
    return graph.add("ReduceMean", upper, axes=[1], keepdims=0)


def _side_by_side(networks: tuple[Network, ...]) -> dict[str, tuple[Nodes, HostArray]]:
    """Return all nodes of each activation and their output weights, identity last.

    Each network's output weights are in columns of its own.
    """
    layers: dict[str, tuple[Nodes, HostArray]] = {}
    for number, network in enumerate(networks):
        end, m = 0, network.output_weights.shape[1]
        for layer in network.layers:
            start, end = end, end + len(layer)
            own = np.zeros((len(layer), m * len(networks)))
            own[:, m * number : m * (number + 1)] = network.output_weights[start:end]
            if layer.activation in layers:
                nodes, before = layers[layer.activation]
                layer, own = nodes.joined(layer), np.vstack([before, own])
            layers[layer.activation] = (layer, own)
    return dict(sorted(layers.items(), key=lambda item: item[0] == "identity"))
