"""A second look at rows that were rejected together.

Wrong targets lie scattered; what a committee has missed, such as a narrow peak, does not. When the
first look is over, networks are asked to predict from the inputs alone which rows were rejected.
Where they can, it may be the committee that is wrong and not the rows: there, and only there, the
scale is widened again to the size of the residuals and narrows once more, while the networks of
the final ensemble grow. If nothing was missed the rows are rejected again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .committee import Committee, not_gross
from .rounds import Round, at_most_one, doubted, renewed_weight
from .rows import Column, Totals
from .weighting import Weighting

ROUNDS = 7
"""Rounds of the second look."""

SETTLED = 2
"""Its rounds after which rows are weighed by how probable it is that they are right."""

NARROWING = 0.4
"""Share of the widened scale that is left after each of its rounds."""

NODES = 30
"""Size of the networks that predict rejection; it has no fine structure that is worth learning."""


@dataclass(frozen=True)
class SecondLook:
    """Where rejection can be predicted, and how large residuals are there.

    Parameters
    ----------
    committee : Committee
        The networks.
    suspicion : column of shape (n_rows,)
        Between 0, where rows are rejected no more often than elsewhere, and 1, where all are.
    size : array of shape (n_outputs,)
        Root mean square of the residuals, rows counted by their suspicion and gross targets
        not at all.
    last : Round
        The last round of the first look.
    """

    committee: Committee
    suspicion: Column
    size: HostArray
    last: Round

    def doubt(self, step: int) -> Column:
        """Return how far the committee may be from the truth at each row.

        Parameters
        ----------
        step : int
            How many rounds of the second look there were.

        Returns
        -------
        column of shape (n_rows, n_outputs)
            The networks' disagreement or, where it is larger, the size of the residuals where
            rejection is predictable, less with every round.
        """
        size = self.size * NARROWING**step

        def larger(d: Array, s: Array) -> Array:
            return namespace(d).maximum(d, s[:, None] * like(size, d)[None, :])

        return self.committee.problem.rows.map(larger, self.committee.doubt, self.suspicion)

    def least_scale(self, _number: int, _evidence: Column) -> HostArray:
        """Return what one standard deviation is at least taken to be: what it was at last."""
        assert self.last.least_scale is not None
        return self.last.least_scale

    def first_weights(self, weighting: Weighting) -> Column:
        """Return the inlier weights to begin with: the first look's, with the doubt widened."""
        problem, last = self.committee.problem, self.last
        judged = doubted(
            problem.rows, last.evidence, self.doubt(0), problem.weight, last.least_scale
        )
        return renewed_weight(problem.rows, judged, problem.weight, weighting, last.least_scale)


def second_look(committee: Committee, last: Round) -> SecondLook:
    """Return where the committee rejects rows that lie together.

    Parameters
    ----------
    committee : Committee
        The networks.
    last : Round
        The last round of the first look.

    Returns
    -------
    SecondLook
        Rejection is one minus the inlier weight, predicted for each row by networks that were
        not grown on it, where rows are enough for that, and its weight left out.
    """
    problem = committee.problem
    rows, weight = problem.rows, problem.weight
    believed = at_most_one(rows, last.inlier_weight, weight)
    rejected = rows.map(lambda theta: 1.0 - theta[:, None], believed)

    def sums(t: Array, w: Array) -> Totals:
        return w[None, :] @ t, namespace(w).sum(w)

    mass, count = rows.reduce(sums, rejected, weight)
    share = float(mass[0, 0] / count)
    scattered = replace(problem, y=rows.map(lambda t: t - share, rejected))
    unpredicted = committee.left_out_errors(scattered, NODES)

    def suspicion(t: Array, e: Array) -> Array:
        # Where every row is rejected nothing is left to compare with.
        return namespace(t).clip((t - e)[:, 0] / max(1.0 - share, 1e-9), 0.0, 1.0)

    suspected = rows.map(suspicion, scattered.y, unpredicted)

    def squares(e: Array, s: Array, w: Array, believable: Array) -> Totals:
        # One target of a million, suspected ever so little, would widen the scale to nonsense.
        counted = s * w * believable
        e = e * believable[:, None]
        return counted[None, :] @ (e * e), namespace(w).sum(counted)

    square, count = rows.reduce(squares, last.evidence, suspected, weight, not_gross(problem))
    size = np.sqrt(square[0] / max(float(count), 1e-300))
    return SecondLook(committee, suspected, size, last)
