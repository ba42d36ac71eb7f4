"""RVFL, Improved RVFL and PRNNRW over a whole grid of nodes, from one random layer.

One draw of the largest layer H serves all smaller ones, and one factorisation of it all their
singular value decompositions H_L = U S V'. In the coordinates c = S V' beta the three methods are

    RVFL            c = U' y
    Improved RVFL   c = (U' Theta U)^-1 U' Theta y,                Theta from the density of e
    PRNNRW          c = (U' Omega U + rho S^-2)^-1 U' Omega y,     Omega = 1 / max(|e|, delta)

with U orthonormal, hence small well-conditioned systems where H' H has a condition of 1e30.

Nothing here is a method of its own: on the same draw each predicts what the shipped estimator does,
to rounding where the layer is well conditioned, which the tests hold to 1e-10. The estimators would
draw and factor every layer of the grid anew, in hours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from ..core.density import binned, silverman
from ..core.proposals import Draw
from ..core.rows import LocalRows

Matrix = NDArray[np.float64]
CUTOFF = 1e3 * float(np.finfo(np.float64).eps)
"""Singular values below this share of the largest are none, as in the estimators."""
DELTA = 1e-5


@dataclass(frozen=True)
class Layer:
    """A random layer of one size, factored.

    Parameters
    ----------
    basis : array of shape (n_rows, rank)
        U.
    values : array of shape (rank,)
        S.
    on_test : array of shape (n_test, rank)
        Test rows in the same coordinates: H_test V S^-1.
    """

    basis: Matrix
    values: Matrix
    on_test: Matrix

    def above(self, least: float) -> Layer:
        """Return the layer without singular values below `least`."""
        rank = int(np.count_nonzero(self.values >= least))
        return Layer(self.basis[:, :rank], self.values[:rank], self.on_test[:, :rank])


def layers(
    X: Matrix, X_test: Matrix, scope: float, sizes: Iterable[int], seed: int
) -> dict[int, Layer]:
    """Return the layers of several sizes, each the first nodes of one draw.

    Parameters
    ----------
    X, X_test : arrays
        Training and test inputs.
    scope : float
        Weights and biases are uniform in [-scope, scope].
    sizes : iterable of int
        Numbers of nodes.
    seed : int
        Of the draw.

    Returns
    -------
    dict of int to Layer
        By number of nodes.
    """
    sizes = sorted(sizes)
    nodes = Draw(seed, X.shape[1], (scope,), sizes[-1]).pool(0, X)
    q, triangle = np.linalg.qr(nodes.hidden(X))
    test = nodes.hidden(X_test)
    found = {}
    for size in sizes:
        left, values, right = np.linalg.svd(triangle[:size, :size])
        kept = values > 1e-14 * values[0]
        values = values[kept]
        found[size] = Layer(
            q[:, :size] @ left[:, kept], values, test[:, :size] @ (right[kept].T / values)
        )
    return found


def rvfl(layer: Layer, y: Matrix) -> Matrix:
    """Return predictions for the test rows by least squares."""
    layer = layer.above(CUTOFF * layer.values[0])
    return layer.on_test @ (layer.basis.T @ y)


def improved_rvfl(layer: Layer, y: Matrix, *, n_rounds: int = 40, tol: float = 1e-4) -> Matrix:
    """Return predictions by least squares under kernel density weights, renewed in turn."""
    layer = layer.above(CUTOFF * layer.values[0])
    rows, ones = LocalRows(len(y)), np.ones(len(y))

    def weights(residuals: Matrix) -> Matrix:
        bandwidth = silverman(float(residuals.std()), len(y))
        if bandwidth <= 1e-12:  # every row is met
            return ones
        theta = binned(rows, residuals[:, None], ones, bandwidth)
        return theta / theta.mean()

    return _settled(layer, y, weights, np.zeros_like(layer.values), n_rounds, tol)


def prnnrw(
    layer: Layer, y: Matrix, rho: float, *, n_rounds: int = 100, tol: float = 1e-4
) -> Matrix:
    """Return predictions under Laplace noise and a Gaussian prior of precision `rho`.

    Directions in which the prior leaves less than 1e-8 of a target are dropped: residuals
    divided by their size are at most one, so a direction moves predictions by no more than
    sqrt(n_rows) s^2 / rho.
    """
    layer = layer.above(float(np.sqrt(1e-8 * rho / np.sqrt(len(y)))))
    return _settled(
        layer,
        y,
        lambda residuals: 1.0 / np.maximum(np.abs(residuals), DELTA),
        rho / layer.values**2,
        n_rounds,
        tol,
    )


def _settled(
    layer: Layer,
    y: Matrix,
    weights: Callable[[Matrix], Matrix],
    penalty: Matrix,
    n_rounds: int,
    tol: float,
) -> Matrix:
    """Return test predictions once the output weights change by less than `tol` of their size."""
    weight = np.ones(len(y))
    before: Matrix | None = None
    for _ in range(n_rounds):
        solution = _weighted(layer.basis, y, weight, penalty)
        size = float(np.linalg.norm(solution / layer.values))
        if before is not None:
            change = float(np.linalg.norm((solution - before) / layer.values))
            if change <= tol * size:
                break
        before = solution
        weight = weights(y - layer.basis @ solution)
    return layer.on_test @ solution


def _weighted(basis: Matrix, y: Matrix, weight: Matrix, penalty: Matrix) -> Matrix:
    """Return the solution of (U' W U + diag(penalty)) c = U' W y."""
    root = np.sqrt(weight)
    scaled = basis * root[:, None]
    gram = dsyrk(1.0, scaled.T)
    # Penalties span thirty orders of magnitude: made equal on the diagonal, nothing is lost.
    gram[np.diag_indices_from(gram)] += penalty
    size = np.sqrt(np.diagonal(gram))
    target = (scaled.T @ (root * y)) / size
    try:
        factor = cho_factor(gram / np.outer(size, size), check_finite=False)
        return cho_solve(factor, target, check_finite=False) / size
    except LinAlgError:  # weights so uneven that rows with weight are fewer than columns
        full = np.vstack([scaled, np.diag(np.sqrt(penalty))])
        return np.linalg.lstsq(full, np.concatenate([root * y, 0 * penalty]), rcond=CUTOFF)[0]
