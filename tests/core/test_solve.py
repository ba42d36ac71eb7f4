"""Output weights of a growing network: appended columns against pseudo-inverses and refits."""

import numpy as np
import pytest

import reference
from robustscn.core.nodes import Nodes
from robustscn.core.rows import LocalRows
from robustscn.core.solve import Fixed, appended, newest_only, no_nodes, window
from small import data, ill_conditioned, steep, weighted_square


def in_blocks(X, y, weight, nodes, size, *, ridge=0.0, rows=None):
    rows = LocalRows(X.shape[0]) if rows is None else rows
    fit = no_nodes(rows, y, capacity=2, ridge=ridge)
    for start in range(0, len(nodes), size):
        block = nodes.take(range(start, min(start + size, len(nodes)))).beside(X)
        fit = appended(rows, X, weight, fit, block)
        assert fit is not None
    return fit


# --- appended columns -----------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 4, 20])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_appended_columns_give_the_pseudo_inverse_solution(size, n_outputs):
    X, y, weight = data(n_outputs=n_outputs)
    nodes = steep(20)
    fit = in_blocks(X, y, weight, nodes, size)
    H = reference.hidden(X, nodes.weights, nodes.biases)
    beta = reference.weighted_pinv(H, y, weight)
    np.testing.assert_allclose(fit.output_weights, beta, rtol=1e-8, atol=1e-9)
    # Rows of weight zero, which the fit has not seen, included.
    np.testing.assert_allclose(fit.residuals, y - H @ beta, atol=1e-11)


def test_first_output_weights_are_those_of_the_smaller_network():
    X, y, weight = data()
    nodes = steep(12)
    fit = in_blocks(X, y, weight, nodes, 1)
    H = nodes.hidden(X)
    for k in (1, 5, 12):
        np.testing.assert_allclose(
            fit.first_output_weights(k),
            reference.weighted_pinv(H[:, :k], y, weight),
            rtol=1e-8,
            atol=1e-9,
        )
    assert fit.first_output_weights(0).shape == (0, 2)


def test_the_factor_times_the_basis_is_the_hidden_matrix():
    X, y, weight = data()
    nodes = steep(15)
    fit = in_blocks(X, y, weight, nodes, 5)
    basis = fit.basis.block(0, 120)
    np.testing.assert_allclose(basis @ fit.triangle, nodes.hidden(X), atol=1e-12)
    np.testing.assert_array_equal(np.tril(fit.triangle, -1), 0.0)


def orthogonality(fit, weight):
    basis = fit.basis.block(0, len(weight)).astype(np.float64)
    gram = basis.T @ (weight.astype(np.float64)[:, None] * basis)
    return np.max(np.abs(gram + fit.ridge_basis.T @ fit.ridge_basis - np.eye(len(gram))))


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("ridge", [0.0, 1e-8])
def test_a_hundred_columns_stay_orthonormal(size, ridge):
    X, y, weight = data(n_rows=300, n_outputs=1)
    fit = in_blocks(X, y, weight, steep(100), size, ridge=ridge)
    assert fit.triangle.shape == (100, 100)
    assert orthogonality(fit, weight) < 1e-12


def test_nearly_dependent_nodes_leave_the_columns_orthonormal_and_the_residual_small():
    X, y, weight, pool = ill_conditioned()
    rows, used = LocalRows(300), []
    fit = no_nodes(rows, y, capacity=60)
    for k in range(60):
        longer = appended(rows, X, weight, fit, pool.take([k]))
        if longer is not None:
            fit, used = longer, [*used, k]
    s = np.sqrt(weight)[:, None]
    H = pool.take(used).hidden(X)
    assert np.linalg.cond(s * H) > 1e15
    assert len(used) < 60, "nodes that add nothing must be refused"
    # One pass of Gram-Schmidt would leave overlaps of order one here.
    assert orthogonality(fit, weight) < 1e-12
    # At least as good as the truncated pseudo-inverse, and no better than what the same
    # columns can reach: Householder's factorisation gives that to rounding.
    found = weighted_square(fit.residuals, weight)
    truncated = weighted_square(y - H @ reference.weighted_pinv(H, y, weight), weight)
    Q = np.linalg.qr(s * H)[0]
    least = np.sum((s * y - Q @ (Q.T @ (s * y))) ** 2)
    assert found <= truncated * (1 + 1e-9)
    assert found == pytest.approx(least, rel=0.02)
    # The residual is orthogonal to every column that was used.
    cosines = (H.T @ (weight[:, None] * fit.residuals))[:, 0] / (
        np.sqrt(weight @ H**2) * np.sqrt(found)
    )
    assert np.max(np.abs(cosines)) < 1e-12


def test_near_copies_in_one_block_are_told_apart():
    X, y, weight = data()
    first = steep(3)
    close = Nodes(first.weights * (1 + 1e-5), first.biases)
    nodes = first.joined(close)
    fit = in_blocks(X, y, weight, nodes, 6)
    H = nodes.hidden(X)
    assert np.linalg.cond(H) > 1e5
    # A single pass of Cholesky squares that; the second makes up for it.
    assert orthogonality(fit, weight) < 1e-12
    np.testing.assert_allclose(y - H @ fit.output_weights, fit.residuals, atol=1e-9)
    np.testing.assert_allclose(
        fit.residuals, y - H @ reference.weighted_pinv(H, y, weight), atol=1e-8
    )


def test_dependent_nodes_are_refused():
    X, y, weight = data()
    rows, nodes = LocalRows(120), steep(6)
    fit = in_blocks(X, y, weight, nodes, 6)
    assert appended(rows, X, weight, fit, nodes.take([3])) is None
    assert appended(rows, X, weight, fit, Nodes(np.zeros((3, 1)), np.array([-1e5]))) is None
    twins = steep(1, seed=1)
    assert appended(rows, X, weight, fit, twins.joined(twins)) is None
    assert appended(rows, X, weight, fit, twins) is not None
    # As many nodes as rows that count leave no room for another.
    few = weight * (np.cumsum(weight > 0) <= 4)
    full = in_blocks(X, y, few, nodes.take(range(4)), 1)
    assert appended(rows, X, few, full, twins) is None


def test_an_older_fit_can_be_continued_beside_a_newer_one():
    X, y, weight = data()
    rows, nodes = LocalRows(120), steep(8)
    shared = in_blocks(X, y, weight, nodes.take(range(5)), 1)
    first = appended(rows, X, weight, shared, nodes.take([5]))
    before = first.basis.block(0, 120).copy()
    other = appended(rows, X, weight, shared, nodes.take([6]))
    np.testing.assert_array_equal(first.basis.block(0, 120), before)
    for fit, last in ((first, 5), (other, 6)):
        H = nodes.take([*range(5), last, 7]).hidden(X)
        longer = appended(rows, X, weight, fit, nodes.take([7]))
        np.testing.assert_allclose(
            longer.output_weights, reference.weighted_pinv(H, y, weight), rtol=1e-8, atol=1e-9
        )


@pytest.mark.parametrize("size", [1, 3, 9])
@pytest.mark.parametrize("ridge", [1e-6, 0.5, 100.0])
def test_a_ridge_is_exact(size, ridge):
    X, y, weight = data()
    nodes = steep(9)
    fit = in_blocks(X, y, weight, nodes, size, ridge=ridge)
    H = nodes.hidden(X)
    beta = reference.ridge_weights(H, y, weight, ridge)
    np.testing.assert_allclose(fit.output_weights, beta, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.residuals, y - H @ beta, atol=1e-10)
    assert orthogonality(fit, weight) < 1e-12


def test_the_partition_of_the_rows_does_not_matter():
    X, y, weight = data()
    nodes = steep(10)
    whole = in_blocks(X, y, weight, nodes, 2, ridge=0.1)
    parts = in_blocks(X, y, weight, nodes, 2, ridge=0.1, rows=LocalRows(120, block_bytes=8))
    for name in ("output_weights", "residuals"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-11)


def test_float32_rows_are_fitted_to_float32_accuracy():
    X, y, weight = data(dtype=np.float32)
    nodes = steep(20)
    fit = in_blocks(X, y, weight, nodes, 1)
    assert fit.residuals.dtype == np.float32
    assert fit.basis.buffer.dtype == np.float32
    wide, heavy = X.astype(np.float64), weight.astype(np.float64)
    H = nodes.hidden(wide)
    exact = y - H @ reference.weighted_pinv(H, y.astype(np.float64), heavy)
    np.testing.assert_allclose(fit.residuals, exact, atol=2e-5)
    # Two columns pass as orthogonal up to 100 rounding units as float32 measures it, which over
    # n rows is off by n + 2 half units at most: n products added up, each of three factors.
    unit = float(np.finfo(np.float32).eps)
    assert orthogonality(fit, weight) < (100 + (len(X) + 2) / 2) * unit
    loss = weighted_square(y - H @ fit.output_weights, heavy)
    assert loss == pytest.approx(weighted_square(exact, heavy), rel=1e-5)


# --- older output weights stay --------------------------------------------------------------


def test_newest_only_sets_one_weight_by_projection():
    X, y, weight = data()
    rows, nodes = LocalRows(120, block_bytes=100), steep(3)
    fit = Fixed(np.zeros((0, 2)), y)
    e = y
    for k in range(3):
        fit = newest_only(rows, X, weight, fit, nodes.take([k]))
        h = nodes.hidden(X)[:, k]
        beta = (weight * h) @ e / np.sum(weight * h * h)
        e = e - np.outer(h, beta)
        np.testing.assert_allclose(fit.output_weights[k], beta, rtol=1e-11)
        np.testing.assert_allclose(fit.residuals, e, atol=1e-13)


def test_a_window_refits_the_newest_and_leaves_the_older():
    X, y, weight = data()
    rows, nodes, size = LocalRows(120), steep(7), 3
    fit = Fixed(np.zeros((0, 2)), y)
    H = nodes.hidden(X)
    for k in range(1, 8):
        before = fit.output_weights
        fit = window(rows, X, weight, fit, nodes.take(range(k)), size)
        start = max(0, k - size)
        np.testing.assert_array_equal(fit.output_weights[:start], before[:start])
        freed = y - H[:, :start] @ before[:start]
        np.testing.assert_allclose(
            fit.output_weights[start:],
            reference.weighted_pinv(H[:, start:k], freed, weight),
            rtol=1e-7,
            atol=1e-9,
        )
        np.testing.assert_allclose(fit.residuals, y - H[:, :k] @ fit.output_weights, atol=1e-11)
