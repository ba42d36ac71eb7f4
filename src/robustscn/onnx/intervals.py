"""Between which values clean targets lie, as nodes of a graph: `predict_interval` in ONNX.

What the estimators' `_spread` returns is put together from the same members as the prediction:
where they disagree is doubt, and the noise is foreseen by networks or follows the prediction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arrays import HostArray
from ..core.doubt import DOUBT
from ..core.noise import WIDEST
from ..core.scale import NORMAL_MAD
from ..estimators import RobustBlendRegressor, RobustTransformedRegressor
from ..estimators._around import Around
from ..estimators._certainty import CertainMixin, ends_of
from ..estimators._crossfit import ByValue
from .graph import CannotExport, Graph
from .networks import blended, in_unit, middle, network_inputs, outputs, piecewise, stacked
from .trees import tree_outputs, trees_of


def interval_columns(graph: Graph, model: Any, x: str, coverage: float) -> list[str]:
    """Return the prediction and both ends of the interval, each of shape (n_rows, n_outputs).

    Parameters
    ----------
    graph : Graph
        Gets the nodes.
    model : estimator
        One of ours, fitted.
    x : str
        Inputs of shape (n_rows, n_features).
    coverage : float
        Share of clean targets that should lie inside.

    Returns
    -------
    list of str
        Prediction, lower and upper ends.

    Raises
    ------
    CannotExport
        Where the estimator has no intervals, or what they ask is not exported.
    """
    if isinstance(model, RobustTransformedRegressor):
        inside = interval_columns(graph, model.estimator_, x, coverage)
        return [in_unit(graph, model.transformation_, y) for y in inside]
    if not isinstance(model, CertainMixin):
        raise CannotExport(
            f"{type(model).__name__} has no intervals: export it without coverage, or fit "
            "RobustSCNRegressor, which has them"
        )
    found, doubt, relative = _spread(graph, model, x)
    noise = graph.constant(model._deviation)
    if relative is not None:
        noise = graph.add("Mul", relative, noise)
    unsure = graph.add("Mul", doubt, graph.constant(model._doubt_left))
    squares = (graph.add("Mul", part, part) for part in (noise, unsure))
    size = graph.add("Sqrt", graph.add("Add", *squares))
    centre = graph.add("Add", found, graph.constant(model._centre))
    ends = [
        graph.add("Add", centre, graph.add("Mul", size, graph.constant(end)))
        for end in ends_of(model._quantiles, coverage)
    ]
    return [graph.add("Mul", y, graph.constant(float(model._scale))) for y in (found, *ends)]


def _spread(graph: Graph, model: Any, x: str) -> tuple[str, str, str | None]:
    """Return prediction, doubt and relative noise, None where the noise is even."""
    if isinstance(model, Around):
        found, doubt = _of_trees(graph, model, x)
        if isinstance(model, RobustBlendRegressor):
            networks, unit = model.networks_, graph.constant(float(model.networks_._scale))
            parts = _of_networks(graph, networks, network_inputs(graph, networks, x))
            both = zip(
                (graph.add("Mul", part, unit) for part in parts), (found, doubt), strict=True
            )
            found, doubt = (blended(graph, model, *pair) for pair in both)
    else:
        x = network_inputs(graph, model, x)
        found, doubt = _of_networks(graph, model, x)
    if model._noise is None:
        return found, doubt, None
    foreseeing, slope, centre = model._noise
    if isinstance(foreseeing, ByValue):
        forecast = _by_value(graph, foreseeing, found)
    else:
        each = stacked(graph, outputs(graph, foreseeing, x), len(foreseeing))
        forecast = graph.add("ReduceMean", each, axes=[1], keepdims=0)
    return found, doubt, _relative_scale(graph, forecast, slope, centre)


def _of_networks(graph: Graph, model: Any, x: str) -> tuple[str, str]:
    """Return prediction and doubt of networks, for inputs as they know them."""
    networks = model._networks
    found, doubt = _middle_and_doubt(graph, outputs(graph, networks, x), len(networks))
    return graph.add("Add", found, graph.constant(model._scaling.centre)), doubt


def _of_trees(graph: Graph, model: Around, x: str) -> tuple[str, str]:
    """Return the prediction of trees, and doubt where their clones disagree."""
    found = tree_outputs(graph, trees_of(model._fitted), x)
    clones = [tree_outputs(graph, trees_of(member), x) for member in model._members]
    _, doubt = _middle_and_doubt(graph, graph.add("Concat", *clones, axis=1), len(clones))
    return found, doubt


def _middle_and_doubt(graph: Graph, values: str, count: int) -> tuple[str, str]:
    """Return the median of members side by side, and how far they disagree; see `core.doubt`."""
    values = stacked(graph, values, count)
    found = middle(graph, values, count)
    away = graph.add("Sub", values, graph.add("Unsqueeze", found, graph.constant([1])))
    doubt = middle(graph, graph.add("Abs", away), count)
    return found, graph.add("Mul", doubt, graph.constant(DOUBT * NORMAL_MAD))


def _by_value(graph: Graph, foreseeing: ByValue, found: str) -> str:
    """Return forecasts that follow the prediction; see `ByValue`."""
    knots, heights = [], []
    for places, values in zip(foreseeing.knots.T, foreseeing.heights.T, strict=True):
        # Equal knots have equal heights: there is no way to go between them.
        different, first = np.unique(places, return_index=True)
        knots.append(different)
        heights.append(values[first])
    return piecewise(graph, found, range(len(knots)), knots, heights)


def _relative_scale(graph: Graph, forecast: str, slope: HostArray, centre: HostArray) -> str:
    """Return the local scale as a multiple of the overall one; see `core.noise`."""
    steep = graph.add(
        "Mul", graph.add("Sub", forecast, graph.constant(centre)), graph.constant(slope)
    )
    limit = float(np.log(WIDEST))
    return graph.add("Exp", graph.add("Clip", steep, graph.constant(-limit), graph.constant(limit)))
