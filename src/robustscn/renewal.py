"""Rounds that do not start from nothing: the same nodes under new weights, while they serve.

Growing nodes anew is most of a round's work. The orthonormal columns of the last growth make it
needless where the old nodes are as good: new weights turn their inner products from the identity
into a matrix that is far better conditioned than that of the nodes, and its factor gives the new
output weights in two readings of the rows. Whether the nodes still serve is asked of a sample: a
network is grown there under the new weights, the old nodes are solved there too, and both predict
other rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ._arrays import Array, HostArray, like, namespace, to_host64
from .growth import Problem, Recipe, grow
from .least_squares import least_squares
from .nodes import Nodes
from .rows import Column, spread
from .sketch import UNSAMPLED_ROWS, sketch_of
from .solve import Fit, Orthogonal, reweighted

TRIAL_ROWS = 2**15
"""Rows that a trial grows on, and as many that it judges by."""

LEAST_GAIN = 0.05
"""Share of the squared error that nodes grown anew must remove for a round to start afresh."""


@dataclass(frozen=True)
class Renewed:
    """Nodes with output weights renewed under other weights.

    Parameters
    ----------
    output_weights : array of shape (n_nodes, n_outputs)
        Output weights.
    residuals : column of shape (n_rows, n_outputs)
        y minus the network's output.
    """

    output_weights: HostArray
    residuals: Column


def renewed(problem: Problem, nodes: Nodes, fit: Fit | None, ridge: float) -> Renewed:
    """Return the nodes solved again under the problem's weights.

    Parameters
    ----------
    problem : Problem
        The rows under their new weights.
    nodes : Nodes
        All nodes of the network.
    fit : Fit or None
        How they were solved when they were grown, on the same rows; None if that is gone.
    ridge : float
        Penalty on squared output weights for each unit of total weight.

    Returns
    -------
    Renewed
        By the columns of `fit` where these are orthogonal and the weights have left enough of
        each, otherwise from the nodes themselves.
    """
    penalty = ridge * problem.total_weight()
    if isinstance(fit, Orthogonal):
        found = reweighted(problem.rows, problem.weight, fit, penalty)
        if found is not None:
            return Renewed(*found)
    solution = least_squares(
        problem.rows,
        problem.X,
        problem.y,
        problem.weight,
        nodes.hidden,
        len(nodes),
        ridge=penalty,
        equilibrated=ridge == 0,
    )
    return Renewed(solution.output_weights, solution.residuals)


def growing_pays(problem: Problem, recipe: Recipe, nodes: Nodes) -> bool:
    """Return whether nodes grown anew under the problem's weights would do better than these.

    Parameters
    ----------
    problem : Problem
        The rows under their new weights.
    recipe : Recipe
        How the nodes were grown, from the same draws: what is compared is not luck.
    nodes : Nodes
        The nodes there are.

    Returns
    -------
    bool
        True on few rows, where growing is cheap and the first round's nodes bend towards single
        outliers. Otherwise whether a network grown on a sample errs less on other rows than the
        old nodes solved on that sample: by more than three standard errors of the difference,
        and by more than `LEAST_GAIN`.
    """
    if problem.rows.n_rows <= UNSAMPLED_ROWS:
        return True
    numbers = spread(problem.rows.n_rows, 2 * TRIAL_ROWS)
    learnt = _rows_of(problem, numbers[:TRIAL_ROWS])
    judged = _rows_of(problem, numbers[TRIAL_ROWS:])
    *_, state = grow(learnt, replace(recipe, max_nodes=len(nodes)))
    old = renewed(learnt, nodes, None, recipe.ridge)
    before = _squared_errors(judged, nodes, old.output_weights)
    fallen = before - _squared_errors(judged, state.nodes, state.fit.output_weights)
    gain = fallen.sum()
    # As chance would have it, a sum of n like these has this standard error.
    error = np.sqrt(np.sum((fallen - fallen.mean()) ** 2))
    return bool(gain > 3.0 * error and gain > LEAST_GAIN * before.sum())


def _rows_of(problem: Problem, numbers: HostArray) -> Problem:
    rows, (X, y, weight) = problem.rows.some(numbers, problem.X, problem.y, problem.weight)
    return Problem(rows, X, y, weight, None if problem.sketch is None else sketch_of(rows, X))


def _squared_errors(problem: Problem, nodes: Nodes, output_weights: HostArray) -> HostArray:
    """Return the weighted squared error of each of few rows, on the host."""

    def squares(x: Array, t: Array, w: Array) -> Array:
        error = t - nodes.hidden(x) @ like(output_weights, x)
        return w * namespace(x).sum(error * error, axis=1)

    return to_host64(
        problem.rows.map(squares, problem.X, problem.y, problem.weight, width=2 * len(nodes))
    )
