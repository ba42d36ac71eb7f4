"""Weighted least squares for the output weights, one column at a time or all at once.

The growing network keeps columns P = H R^-1 that are orthonormal in the inner product of the
weights, P' W P = I. They are never multiplied by the square root of the weights, so rows of
weight zero have residuals too. Appending a node costs one orthogonalisation against P,
O(N L), repeated where a single pass has lost digits, on nearly dependent nodes.
From P follow, with running sums, the residuals y - P P' W y.

A ridge is a row sqrt(ridge) below each column of H. Those rows are few, live on the host, and
take part in every inner product, so all of the above stays exact with a ridge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from .arrays import Array, HostArray, eps, like, namespace
from .least_squares import Design, least_squares
from .nodes import AtHand, Nodes
from .rows import Column, Rows, Stack, Totals

DIGITS_LOST = 100
"""Rounding units by which a block may miss being orthonormal before it is made so again: two digits
of sixteen. By argument; the tests hold what is left."""


class Fit(Protocol):
    """What every way of solving gives."""

    @property
    def output_weights(self) -> HostArray:
        """Output weights of shape (n_nodes, n_outputs)."""
        ...

    @property
    def residuals(self) -> Column:
        """Targets minus outputs, shape (n_rows, n_outputs)."""
        ...


@dataclass(frozen=True)
class Orthogonal:
    """Least squares over all nodes so far (SC-III), by appended orthonormal columns.

    Parameters
    ----------
    basis : Stack
        P, orthonormal in the weighted inner product together with `ridge_basis`.
    ridge_basis : array of shape (n_nodes, n_nodes)
        The ridge's rows of the orthonormal columns.
    triangle : array of shape (n_nodes, n_nodes)
        R.
    coefficients : array of shape (n_nodes, n_outputs)
        Coordinates of y in the basis.
    residuals : column of shape (n_rows, n_outputs)
        y minus the network's output.
    ridge_residuals : array of shape (n_nodes, n_outputs)
        The residuals' ridge rows.
    ridge : float
        Penalty on the squared output weights.
    """

    basis: Stack
    ridge_basis: HostArray
    triangle: HostArray
    coefficients: HostArray
    residuals: Column
    ridge_residuals: HostArray
    ridge: float

    @property
    def output_weights(self) -> HostArray:
        """Output weights of shape (n_nodes, n_outputs)."""
        return self.first_output_weights(self.triangle.shape[0])

    def first_output_weights(self, n_nodes: int) -> HostArray:
        """Return the output weights that the network had when it had `n_nodes`."""
        if n_nodes == 0:
            return self.coefficients[:0]
        return solve_triangular(
            self.triangle[:n_nodes, :n_nodes], self.coefficients[:n_nodes], check_finite=False
        )


def no_nodes(rows: Rows, y: Column, *, capacity: int, ridge: float = 0.0) -> Orthogonal:
    """Return the fit of a network without nodes: its residuals are the targets."""
    m = y.shape[1]
    return Orthogonal(
        basis=rows.stack(y, capacity),
        ridge_basis=np.zeros((0, 0)),
        triangle=np.zeros((0, 0)),
        coefficients=np.zeros((0, m)),
        residuals=y,
        ridge_residuals=np.zeros((0, m)),
        ridge=ridge,
    )


def appended(
    rows: Rows,
    X: Column,
    weight: Column,
    fit: Orthogonal,
    nodes: Nodes | AtHand,
    *,
    overlaps: HostArray | None = None,
    squares: HostArray | None = None,
) -> Orthogonal | None:
    """Return the fit with a block of nodes added.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    X, weight : columns
        Inputs and weights.
    fit : Orthogonal
        The fit so far.
    nodes : Nodes
        New nodes.
    overlaps, squares : arrays of shape (n_nodes, n_new) and (n_new,), or None
        P' W h and h' W h of the new nodes, where an earlier reading of the rows has found both.

    Returns
    -------
    Orthogonal or None
        Least squares over all nodes; None if a new node is, to rounding, a combination of the
        network's, or nodes of the block are so of each other, to the square root of rounding.
        The basis is read three times at most, whatever the number of new nodes.
    """
    k, new = fit.triangle.shape[0], len(nodes)
    ridge_basis = np.vstack([fit.ridge_basis, np.zeros((new, k))])
    low = np.vstack([np.zeros((k, new)), np.sqrt(fit.ridge) * np.eye(new)])

    def overlap(x: Array, w: Array, p: Array) -> tuple[Array, ...]:
        h = nodes.hidden(x)
        weighted = h * w[:, None]
        return p.T @ weighted, namespace(h).sum(h * weighted, axis=0)

    if overlaps is None or squares is None:
        overlaps, squares = rows.reduce(overlap, X, weight, fit.basis, width=k + new)
    first = overlaps
    low = low - ridge_basis @ first

    def project(x: Array, w: Array, p: Array, e: Array) -> tuple[Array, Totals]:
        h = nodes.hidden(x) - p @ like(first, p)
        weighted = (h * w[:, None]).T
        return h, (weighted @ p, weighted @ h, weighted @ e)

    columns, (second, gram, dots) = rows.sweep(
        project, X, weight, fit.basis, fit.residuals, width=k + new
    )
    second = second.T + ridge_basis.T @ low
    gram = gram + low.T @ low - second.T @ second
    unit = eps(fit.residuals)
    whitening = _whitening(gram, (100 * unit) ** 2 * (squares + fit.ridge))
    if whitening is None:
        return None
    inverse, upper = whitening
    if not _orthogonal_already(second, gram, unit):
        low = (low - ridge_basis @ second) @ inverse

        def normalise(h: Array, w: Array, p: Array, e: Array) -> tuple[Array, Totals]:
            h = (h - p @ like(second, p)) @ like(inverse, p)
            weighted = (h * w[:, None]).T
            return h, (weighted @ h, weighted @ e)

        columns, (gram, dots) = rows.sweep(
            normalise, columns, weight, fit.basis, fit.residuals, width=k + new
        )
        whitening = _whitening(gram + low.T @ low, np.full(new, 0.5))
        if whitening is None:
            return None
        inverse, correction = whitening
        first, upper = first + second, correction @ upper
    block = _Block(columns, inverse, low @ inverse, dots, first, upper)
    return _with_block(rows, fit, block)


@dataclass(frozen=True)
class _Block:
    """New columns, orthogonal to the fit's, and what makes them orthonormal."""

    columns: Column
    inverse: HostArray
    low: HostArray
    dots: HostArray
    above: HostArray
    corner: HostArray


def _with_block(rows: Rows, fit: Orthogonal, block: _Block) -> Orthogonal:
    k, new = block.above.shape
    ridge_basis = np.vstack([fit.ridge_basis, np.zeros((new, k))])
    ridge_residuals = np.vstack([fit.ridge_residuals, np.zeros((new, block.dots.shape[1]))])
    inverse = block.inverse  # not the block: what is handed to rows travels with what it knows
    coefficients = inverse.T @ block.dots + block.low.T @ ridge_residuals

    def update(h: Array, e: Array) -> tuple[Array, ...]:
        h = h @ like(inverse, h)
        return h, e - h @ like(coefficients, h)

    columns, residuals = rows.map(update, block.columns, fit.residuals, width=new)
    return replace(
        fit,
        basis=fit.basis.appended(columns),
        ridge_basis=np.hstack([ridge_basis, block.low]),
        triangle=_bordered(fit.triangle, block.above, block.corner),
        coefficients=np.vstack([fit.coefficients, coefficients]),
        residuals=residuals,
        ridge_residuals=ridge_residuals - block.low @ coefficients,
    )


def reweighted(
    rows: Rows, weight: Column, fit: Orthogonal, ridge: float
) -> tuple[HostArray, Column] | None:
    """Return output weights and residuals of the same nodes under other weights.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    weight : column of shape (n_rows,)
        The new weights.
    fit : Orthogonal
        Least squares under the old ones.
    ridge : float
        Penalty on the squared output weights; none where the old fit had none.

    Returns
    -------
    None or (array of shape (n_nodes, n_outputs), column of shape (n_rows, n_outputs))
        P' W P is no longer the identity, but far better conditioned than H' W H: its Cholesky
        factor loses few digits, and only of the change in the coefficients. None where the
        weights have left next to nothing of some direction.
    """
    n_nodes = fit.triangle.shape[0]

    def sums(p: Array, w: Array, e: Array) -> tuple[Array, ...]:
        root = namespace(w).sqrt(w)[:, None]
        p = p * root
        return p.T @ p, p.T @ (e * root)

    gram, dots = rows.reduce(sums, fit.basis, weight, fit.residuals, width=n_nodes)
    penalised = ridge / fit.ridge if fit.ridge > 0 else 0.0
    gram = gram + penalised * (fit.ridge_basis.T @ fit.ridge_basis)
    dots = dots + penalised * (fit.ridge_basis.T @ fit.ridge_residuals)
    whitening = _whitening(gram, 1e4 * eps(fit.residuals) * np.diagonal(gram))
    if whitening is None:
        return None
    inverse, _ = whitening
    change = inverse @ (inverse.T @ dots)

    def rest(p: Array, e: Array) -> Array:
        return e - p @ like(change, p)

    residuals = rows.map(rest, fit.basis, fit.residuals, width=n_nodes)
    changed = replace(fit, coefficients=fit.coefficients + change)
    return changed.output_weights, residuals


def _orthogonal_already(overlaps: HostArray, gram: HostArray, unit: float) -> bool:
    """Return whether once was enough.

    Parameters
    ----------
    overlaps : array of shape (n_nodes, n_new)
        What is left of the network's columns in the new ones.
    gram : array of shape (n_new, n_new)
        Inner products of the new ones.
    unit : float
        Rounding unit of the rows.

    Returns
    -------
    bool
        True if both their overlaps, for columns of length one, and what whitening them will
        lose are within `DIGITS_LOST` rounding units.
    """
    lengths = np.sqrt(np.diagonal(gram))
    if np.max(np.abs(overlaps) / lengths, initial=0.0) > DIGITS_LOST * unit:
        return False
    cosines = gram / np.outer(lengths, lengths)
    return len(gram) == 1 or float(np.linalg.cond(cosines)) <= DIGITS_LOST


def _bordered(triangle: HostArray, above: HostArray, corner: HostArray) -> HostArray:
    """Return the upper triangular matrix with columns added."""
    k, new = above.shape
    larger = np.zeros((k + new, k + new))
    larger[:k, :k], larger[:k, k:], larger[k:, k:] = triangle, above, corner
    return larger


def _whitening(gram: HostArray, least: HostArray) -> tuple[HostArray, HostArray] | None:
    """Return T^-1 and T with T'T = gram; None if a squared pivot is under its `least`."""
    if gram.shape == (1, 1):
        upper = np.sqrt(np.maximum(gram, 0.0))
        return (1.0 / upper, upper) if gram[0, 0] > least[0] else None
    try:
        upper = cholesky(gram, check_finite=False)
    except LinAlgError:
        return None
    if not np.all(np.diagonal(upper) ** 2 > least):
        return None
    return solve_triangular(upper, np.eye(len(upper)), check_finite=False), upper


@dataclass(frozen=True)
class Fixed:
    """A fit whose older output weights stay: SC-I, SC-II.

    Parameters
    ----------
    output_weights : array of shape (n_nodes, n_outputs)
        Output weights.
    residuals : column of shape (n_rows, n_outputs)
        y minus the network's output.
    """

    output_weights: HostArray
    residuals: Column


def newest_only(rows: Rows, X: Column, weight: Column, fit: Fixed, node: Nodes) -> Fixed:
    """Return the fit with one node added and only its output weight set (SC-I)."""

    def sums(x: Array, w: Array, e: Array) -> tuple[Array, ...]:
        h = node.hidden(x)
        weighted = h * w[:, None]
        return weighted.T @ e, weighted.T @ h

    dots, square = rows.reduce(sums, X, weight, fit.residuals)
    new = dots / square
    return Fixed(
        np.vstack([fit.output_weights, new]),
        rows.map(lambda x, e: e - node.hidden(x) @ like(new, x), X, fit.residuals),
    )


def window(rows: Rows, X: Column, weight: Column, fit: Fixed, nodes: Nodes, size: int) -> Fixed:
    """Return the fit with the last of `nodes` added and the last `size` refitted (SC-II).

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    X, weight : columns
        Inputs and weights.
    fit : Fixed
        The fit before the last of the nodes.
    nodes : Nodes
        All nodes of the network, the new one last.
    size : int
        How many of the newest nodes are refitted.

    Returns
    -------
    Fixed
        Output weights older than the window are unchanged.
    """
    start = max(0, len(nodes) - size)
    recent = nodes.take(range(start, len(nodes)))
    known = np.vstack([fit.output_weights[start:], np.zeros_like(fit.output_weights[:1])])
    if fit.output_weights.shape[0] == 0:
        known = np.zeros((1, fit.residuals.shape[1]))
    freed = rows.map(lambda x, e: e + recent.hidden(x) @ like(known, x),
                     X, fit.residuals, width=len(recent))  # fmt: skip
    design = Design(rows, X, freed, weight, recent.hidden, len(recent))
    solution = least_squares(design, equilibrated=True)
    return Fixed(
        np.vstack([fit.output_weights[:start], solution.output_weights]), solution.residuals
    )
