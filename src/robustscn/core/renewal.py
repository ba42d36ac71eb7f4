"""Rounds that do not start from nothing: a refit of the same nodes under new weights.

Growing nodes anew is most of a round's work, and needless where a round is only to renew the
weights. New weights turn the inner products of the last growth's orthonormal columns from the
identity into a matrix that is far better conditioned than that of the nodes; its factor gives the
new output weights in two readings of the rows.
"""

from __future__ import annotations

from .arrays import HostArray
from .least_squares import Design, least_squares
from .nodes import Nodes
from .problem import Problem
from .rows import Column
from .solve import Fit, Orthogonal, reweighted


def renewed(
    problem: Problem, nodes: Nodes, fit: Fit | None, ridge: float
) -> tuple[HostArray, Column]:
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
    output_weights : array of shape (n_nodes, n_outputs)
        By the columns of `fit` where these are orthogonal and the weights have left enough of
        each, otherwise from the nodes themselves.
    residuals : column of shape (n_rows, n_outputs)
        y minus the network's output.
    """
    penalty = ridge * problem.total_weight()
    if isinstance(fit, Orthogonal):
        found = reweighted(problem.rows, problem.weight, fit, penalty)
        if found is not None:
            return found
    design = Design(problem.rows, problem.X, problem.y, problem.weight, nodes.hidden, len(nodes))
    solution = least_squares(design, ridge=penalty, equilibrated=ridge == 0)
    return solution.output_weights, solution.residuals
