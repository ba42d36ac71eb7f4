"""The supervisory inequality: which of the drawn candidates may become the next node.

With residuals e, weights w and a candidate's output h, the gain of output q is

    (e_q' W h)^2 / (h' W h),

a lower bound on how far the weighted squared error falls when h joins the network. A
candidate is admissible at contraction r if each gain is at least (1 - r - mu_L) e_q' W e_q,
mu_L = (1 - r) / (L + 1); among the admissible ones the largest summed gain is taken. For a
given r this is the paper's score up to a constant, so the sums over the rows are computed
once and r is relaxed for free. The `exact` rule replaces h' W h by the part of it that is
orthogonal to the nodes already there, which makes the bound the decrease itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Array, HostArray, namespace
from .nodes import AtHand, Nodes
from .rows import Column, Rows


@dataclass(frozen=True)
class PoolSums:
    """All that the choice needs to know of a pool: sums over the training rows.

    Parameters
    ----------
    dots : array of shape (n_outputs, n_candidates)
        e' W h.
    squares : array of shape (n_candidates,)
        h' W h.
    remainders : array of shape (n_candidates,)
        The part of `squares` that is orthogonal to the network's nodes; `squares` itself
        where that was not asked for.
    overlaps : array of shape (n_nodes, n_candidates) or None
        P' W h, with P the columns that span the network's nodes, where they were asked for.
    """

    dots: HostArray
    squares: HostArray
    remainders: HostArray
    overlaps: HostArray | None = None

    def take(self, chosen: HostArray) -> PoolSums:
        """Return the sums of the candidates with the given numbers."""
        overlaps = None if self.overlaps is None else self.overlaps[:, chosen]
        return PoolSums(
            self.dots[:, chosen], self.squares[chosen], self.remainders[chosen], overlaps
        )


@dataclass(frozen=True)
class Span:
    """What the network's nodes span.

    Parameters
    ----------
    basis : column of shape (n_rows, n_nodes)
        Orthonormal columns.
    ridge : float
        Penalty on squared output weights; it lengthens each candidate.
    """

    basis: Column
    ridge: float = 0.0


@dataclass(frozen=True)
class Rule:
    """Which candidates may join, and by what they are ranked.

    Parameters
    ----------
    contractions : tuple of float
        Values of r, the most demanding first; each but the last gives way to the next when it
        admits no more.
    exact : bool
        Whether candidates are ranked by the exact decrease.
    worth : float
        Share of the first one's gain that the others of a block must have at their turn: where a
        pool has no more to offer, the next one has.
    least_remainder : float
        Share of a candidate that must be orthogonal to the network's nodes: the square of 1e-5,
        which leaves six digits of float64 to what is new in it.
    """

    contractions: tuple[float, ...]
    exact: bool
    worth: float = 0.0
    least_remainder: float = 1e-10


def pool_sums(rows: Rows, X: Column, residuals: Column, weight: Column, pool: Nodes) -> PoolSums:
    """Return the pool's sums for the paper's rule.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    X, residuals, weight : columns
        Inputs, residuals of shape (n_rows, n_outputs), weights.
    pool : Nodes
        The candidates.

    Returns
    -------
    PoolSums
        Its `remainders` are its `squares`.
    """

    def sums(x: Array, e: Array, w: Array) -> tuple[Array, ...]:
        h = pool.hidden(x)
        column = w[:, None]
        dots = (e * column).T @ h
        h *= h
        return dots, (column.T @ h)[0, :]

    dots, squares = rows.reduce(sums, X, residuals, weight, width=pool.n_units)
    return PoolSums(dots, squares, squares)


def pool_sums_exact(
    rows: Rows,
    X: Column,
    residuals: Column,
    weight: Column,
    pool: Nodes | AtHand,
    span: Span,
    *,
    between: bool = True,
) -> tuple[PoolSums, HostArray]:
    """Return the pool's sums with remainders, and the orthogonal parts' inner products.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    X, residuals, weight : columns
        Inputs, residuals of shape (n_rows, n_outputs), weights.
    pool : Nodes
        The candidates.
    span : Span
        What the network's nodes span.
    between : bool
        Whether inner products between candidates are wanted, which a single choice does not
        need.

    Returns
    -------
    sums : PoolSums
        With true remainders.
    gram : array of shape (n_candidates, n_candidates)
        Inner products of the candidates' parts orthogonal to the basis; zero off the diagonal
        where those between candidates are not wanted.
    """

    def sums(x: Array, e: Array, w: Array, p: Array) -> tuple[Array, ...]:
        xp, h = namespace(x), pool.hidden(x)
        root = xp.sqrt(w)[:, None]
        half = h * root
        # A matrix times itself: BLAS computes half of it.
        own = half.T @ half if between else xp.sum(half * half, axis=0)
        weighted = half * root
        return e.T @ weighted, own, p.T @ weighted

    dots, own, cross = rows.reduce(sums, X, residuals, weight, span.basis, width=2 * pool.n_units)
    squares = np.diagonal(own).copy() if between else own
    if between:
        gram = own - cross.T @ cross + span.ridge * np.eye(len(pool))
    else:
        gram = np.diag(own - np.sum(cross * cross, axis=0) + span.ridge)
    # Cancellation may leave a dependent candidate's remainder at or below zero.
    remainders = np.maximum(np.diagonal(gram), 1e-14 * squares)
    return PoolSums(dots, squares, remainders, cross), gram


def squared_error(rows: Rows, residuals: Column, weight: Column) -> HostArray:
    """Return e_q' W e_q of each output, shape (n_outputs,)."""

    def squares(e: Array, w: Array) -> tuple[Array, ...]:
        return ((w[None, :] @ (e * e))[0, :],)

    return rows.reduce(squares, residuals, weight)[0]


def gains(sums: PoolSums) -> HostArray:
    """Return the gain of each candidate for each output, shape (n_outputs, n_candidates)."""
    usable = sums.remainders > 0
    return np.where(usable, sums.dots**2 / np.where(usable, sums.remainders, 1.0), 0.0)


def admissible(gain: HostArray, energy: HostArray, contraction: float, n_nodes: int) -> HostArray:
    """Return which candidates satisfy the supervisory inequality.

    Parameters
    ----------
    gain : array of shape (n_outputs, n_candidates)
        From `gains`.
    energy : array of shape (n_outputs,)
        Weighted squared error e_q' W e_q of each output.
    contraction : float
        r.
    n_nodes : int
        L, counting the node that is sought.

    Returns
    -------
    bool array of shape (n_candidates,)
        The mask.
    """
    return _met(error_shares(gain, energy), contraction, n_nodes)


def error_shares(gain: HostArray, energy: HostArray) -> HostArray:
    """Return the smallest share of any output's error that each candidate's gain makes up.

    Parameters
    ----------
    gain : array of shape (n_outputs, n_candidates)
        From `gains`.
    energy : array of shape (n_outputs,)
        Weighted squared error of each output.

    Returns
    -------
    array of shape (n_candidates,)
        An output without error asks for nothing; a candidate without any gain is of no use and
        has the share -1.
    """
    if len(energy) == 1 and energy[0] > 0:  # as below, at a third of the cost
        shares = gain[0] / energy[0]
        return np.where(shares > 0, np.minimum(shares, 1.0), -1.0)
    left = energy > 0
    shares = np.min(gain[left] / energy[left, None], axis=0, initial=1.0)
    return np.where(gain.any(axis=0), shares, -1.0)


def _met(shares: HostArray, contraction: float, n_nodes: int) -> HostArray:
    mu = (1.0 - contraction) / (n_nodes + 1)
    return shares >= 1.0 - contraction - mu


def ranked(
    gain: HostArray, energy: HostArray, contractions: Sequence[float], n_nodes: int
) -> tuple[HostArray, float] | None:
    """Return the admissible candidates, largest gain first, at the first r that admits any.

    Parameters
    ----------
    gain : array of shape (n_outputs, n_candidates)
        From `gains`.
    energy : array of shape (n_outputs,)
        Weighted squared error of each output.
    contractions : sequence of float
        Values of r to try, the most demanding first.
    n_nodes : int
        L, counting the node that is sought.

    Returns
    -------
    None or (int array, float)
        Candidates' numbers in order and the r that admitted them; None if none did.
    """
    shares = error_shares(gain, energy)
    best = shares.max()
    for contraction in contractions:
        if _met(best, contraction, n_nodes):
            allowed = np.flatnonzero(_met(shares, contraction, n_nodes))
            order = np.argsort(-np.sum(gain[:, allowed], axis=0), kind="stable")
            return allowed[order], contraction
    return None


def chosen_in_turn(
    sums: PoolSums,
    gram: HostArray,
    energy: HostArray,
    rule: Rule,
    n_nodes: int,
    size: int,
) -> tuple[tuple[int, ...], float]:
    """Return up to `size` candidates that are useful together, and the last r that was needed.

    Each is chosen as if the ones before it were already in the network: their share is taken
    out of the residual and of the other candidates, so near copies of a chosen node lose
    their gain. Each satisfies the inequality at its turn.

    Parameters
    ----------
    sums : PoolSums
        With true remainders.
    gram : array of shape (n_candidates, n_candidates)
        From `pool_sums_exact`.
    energy : array of shape (n_outputs,)
        Weighted squared error of each output.
    rule : Rule
        Which may be taken.
    n_nodes : int
        L, counting the first node that is sought.
    size : int
        How many to take at most.

    Returns
    -------
    tuple of int, float
        Numbers in the order taken, and r.
    """
    dots, squares, energy = sums.dots.copy(), sums.squares, energy.copy()
    # What is zero on all rows has nothing to divide by, and gains nothing.
    floor = np.where(squares > 0, 1e-14 * squares, 1.0)
    remainders = np.maximum(np.diagonal(gram), floor)
    dependent = rule.least_remainder * squares
    # What the chosen ones take out of all candidates, one row each. The inner products that are
    # left are gram - directions' directions; only the columns of those chosen are ever needed.
    directions = np.zeros((min(size, len(squares)), len(squares)))
    taken: list[int] = []
    left, first, needed = list(rule.contractions), 0.0, rule.contractions[0]
    while len(taken) < len(directions):
        gain = dots * dots / (remainders if rule.exact else np.maximum(squares, floor))
        shares = error_shares(gain, energy)
        shares[remainders <= dependent] = -1.0
        shares[taken] = -1.0
        total = gain[0] if len(gain) == 1 else gain.sum(axis=0)
        best_share = shares.max()
        while left and not _met(best_share, left[0], n_nodes + len(taken)):
            left.pop(0)
        if not left:
            break
        allowed = _met(shares, left[0], n_nodes + len(taken))
        best = int(np.where(allowed, total, -1.0).argmax())
        first = first or total[best]
        if total[best] < rule.worth * first:
            break
        known = directions[: len(taken)]
        length = np.sqrt(remainders[best])
        direction = (gram[best] - known[:, best] @ known) / length
        coefficient = dots[:, best] / length
        directions[len(taken)] = direction
        taken.append(best)
        needed = left[0]
        dots -= coefficient[:, None] * direction
        remainders = np.maximum(remainders - direction * direction, floor)
        energy = np.maximum(energy - coefficient**2, 0.0)
    return tuple(taken), needed
