"""Output weights: appended columns and triangular factors against pseudo-inverses and refits."""

from itertools import product

import numpy as np
import pytest

import reference
from robustscn.core.least_squares import (
    Twins,
    least_squares,
    leave_one_out,
    ridge_by_leave_one_out,
    solved_triangle,
    triangular_factor,
)
from robustscn.core.nodes import Nodes, hidden_of, pass_through
from robustscn.core.proposals import Draw
from robustscn.core.rows import LocalRows
from robustscn.core.solve import Fixed, appended, newest_only, no_nodes, window


def data(n_rows=120, n_outputs=2, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 3))
    y = np.stack([np.sin((2 + q) * X[:, 0]) * X[:, 1] for q in range(n_outputs)], axis=1)
    y += 0.1 * rng.normal(size=y.shape)
    weight = rng.uniform(0.2, 2.0, size=n_rows)
    weight[::9] = 0.0
    return X.astype(dtype), y.astype(dtype), weight.astype(dtype)


def steep(n_nodes, n_features=3, seed=0):
    """Nodes that differ: condition numbers of some hundreds."""
    return Draw(seed, n_features, (6.0,), n_nodes).pool(0, np.zeros((1, n_features)))


def in_blocks(X, y, weight, nodes, size, *, ridge=0.0, rows=None):
    rows = LocalRows(X.shape[0]) if rows is None else rows
    fit = no_nodes(rows, y, capacity=2, ridge=ridge)
    for start in range(0, len(nodes), size):
        block = nodes.take(range(start, min(start + size, len(nodes)))).beside(X)
        fit = appended(rows, X, weight, fit, block)
        assert fit is not None
    return fit


def weighted_square(e, weight):
    return float(np.sum(weight[:, None] * e * e))


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


def ill_conditioned(n_rows=300):
    """Shallow nodes of one input: the hidden matrix has hardly ten directions."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(n_rows, 1))
    y = np.sin(5 * X) + 0.1 * rng.normal(size=X.shape)
    return X, y, rng.uniform(0.1, 2.0, size=n_rows), Draw(0, 1, (0.5,), 60).pool(0, X)


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
    np.testing.assert_allclose(
        fit.leverage, reference.hat_diagonal(H, weight, ridge), rtol=1e-8, atol=1e-12
    )
    assert orthogonality(fit, weight) < 1e-12


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_leverage_is_the_diagonal_of_the_hat_matrix(ridge):
    X, y, weight = data()
    nodes = steep(10)
    H = nodes.hidden(X)
    literal = reference.hat_diagonal(H, weight, ridge)
    fit = in_blocks(X, y, weight, nodes, 1, ridge=ridge)
    solution = least_squares(LocalRows(120), X, y, weight, nodes.hidden, 10, ridge=ridge)
    for found in (fit.leverage, solution.leverage):
        np.testing.assert_allclose(found, literal, rtol=1e-8, atol=1e-12)
        assert np.all(found[weight == 0] == 0)
    if ridge == 0:
        assert np.sum(fit.leverage) == pytest.approx(10, rel=1e-10)


def test_the_partition_of_the_rows_does_not_matter():
    X, y, weight = data()
    nodes = steep(10)
    whole = in_blocks(X, y, weight, nodes, 2, ridge=0.1)
    parts = in_blocks(X, y, weight, nodes, 2, ridge=0.1, rows=LocalRows(120, block_bytes=8))
    for name in ("output_weights", "residuals", "leverage"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-11)


def test_float32_rows_are_fitted_to_float32_accuracy():
    X, y, weight = data(dtype=np.float32)
    nodes = steep(20)
    fit = in_blocks(X, y, weight, nodes, 1)
    assert fit.residuals.dtype == fit.leverage.dtype == np.float32
    assert fit.basis.buffer.dtype == np.float32
    wide, heavy = X.astype(np.float64), weight.astype(np.float64)
    H = nodes.hidden(wide)
    exact = y - H @ reference.weighted_pinv(H, y.astype(np.float64), heavy)
    np.testing.assert_allclose(fit.residuals, exact, atol=2e-5)
    np.testing.assert_allclose(fit.leverage, reference.hat_diagonal(H, heavy), atol=2e-4)
    # Two columns pass as orthogonal up to 100 rounding units as float32 measures it, which over
    # n rows is off by n + 2 half units at most: n products added up, each of three factors.
    unit = float(np.finfo(np.float32).eps)
    assert orthogonality(fit, weight) < (100 + (len(X) + 2) / 2) * unit
    loss = weighted_square(y - H @ fit.output_weights, heavy)
    assert loss == pytest.approx(weighted_square(exact, heavy), rel=1e-5)


# --- leave-one-out --------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("how", ["appended", "at once"])
def test_leave_one_out_residuals_equal_explicit_refits(ridge, how):
    X, y, weight = data(n_rows=40)
    weight = weight + 0.1
    nodes = steep(7)
    if how == "appended":
        fit = in_blocks(X, y, weight, nodes, 1, ridge=ridge)
    else:
        fit = least_squares(LocalRows(40), X, y, weight, nodes.hidden, 7, ridge=ridge)
    found = leave_one_out(fit.residuals, fit.leverage)
    literal = reference.refitted_without(nodes.hidden(X), y, weight, np.ones(40), ridge)
    np.testing.assert_allclose(found, literal, rtol=1e-7, atol=1e-9)


def test_a_row_is_left_out_with_all_of_its_weight():
    X, y, inlier_weight = data(n_rows=40)
    weight = (inlier_weight + 0.1) * np.random.default_rng(3).integers(1, 4, size=40)
    nodes = steep(7)
    fit = in_blocks(X, y, weight, nodes, 1, ridge=0.5)
    found = leave_one_out(fit.residuals, fit.leverage)
    literal = reference.refitted_without(nodes.hidden(X), y, weight, np.ones(40), 0.5)
    np.testing.assert_allclose(found, literal, rtol=1e-7, atol=1e-9)


def refitted_without_twins(H, y, weight, group, ridge):
    """Residuals of each row under ridge regression with a constant, its group left out."""
    residuals = np.empty_like(y)
    for g in np.unique(group):
        out = group == g
        beta = reference.ridge_with_constant(H[~out], y[~out], weight[~out], ridge)
        residuals[out] = y[out] - np.hstack([H[out], np.ones((out.sum(), 1))]) @ beta
    return residuals


def test_twins_are_left_out_together():
    X, y, weight = data(n_rows=40)
    weight = weight + 0.1
    weight[:3] = 0.0  # a group of which nothing is believed
    group = np.concatenate([[0, 0, 0], np.random.default_rng(4).integers(1, 20, size=37)])
    X = X[group]  # equal inputs, targets and weights of their own
    nodes, ridge = steep(7), 0.02
    tuned = ridge_by_leave_one_out(
        LocalRows(40, 8 * 7 * 9),
        *(X, y, weight, nodes.hidden, 7, np.array([ridge / weight.sum()])),
        twins=Twins(group, 20),
    )
    literal = refitted_without_twins(nodes.hidden(X), y, weight, group, ridge)
    np.testing.assert_allclose(tuned.left_out, literal, rtol=1e-7, atol=1e-9)


def test_a_weight_of_two_is_a_row_and_its_twin():
    X, y, weight = data(n_rows=40)
    counts = np.random.default_rng(5).integers(1, 4, size=40)
    rows_of = np.repeat(np.arange(40), counts)
    nodes, ridges = steep(7), np.array([1e-4, 1e-2])
    short = ridge_by_leave_one_out(LocalRows(40), X, y, weight * counts, nodes.hidden, 7, ridges)
    long = ridge_by_leave_one_out(
        LocalRows(len(rows_of)),
        *(X[rows_of], y[rows_of], weight[rows_of], nodes.hidden, 7, ridges),
        twins=Twins(rows_of, 40),
    )
    assert short.ridge == long.ridge
    np.testing.assert_allclose(long.left_out, short.left_out[rows_of], rtol=1e-7, atol=1e-9)


def test_a_row_that_alone_determines_a_direction_does_not_blow_up():
    found = leave_one_out(np.array([[1e-12], [1.0]]), np.array([1.0, 1.5]))
    np.testing.assert_allclose(found[:, 0], [1e-9, 1e3], rtol=1e-12)


# --- all nodes at once ----------------------------------------------------------------------


@pytest.mark.parametrize("block_bytes", [8, 8 * 100, 2**21])
def test_least_squares_equals_the_pseudo_inverse(block_bytes):
    X, y, weight = data()
    nodes = steep(20)
    solution = least_squares(LocalRows(120, block_bytes), X, y, weight, nodes.hidden, 20)
    H = reference.hidden(X, nodes.weights, nodes.biases)
    beta = reference.weighted_pinv(H, y, weight)
    np.testing.assert_allclose(solution.output_weights, beta, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(solution.residuals, y - H @ beta, atol=1e-11)


@pytest.mark.parametrize("ridge", [1e-6, 0.5, 100.0])
def test_least_squares_with_a_ridge_is_exact(ridge):
    X, y, weight = data()
    nodes = steep(9)
    H = nodes.hidden(X)
    solution = least_squares(LocalRows(120), X, y, weight, nodes.hidden, 9, ridge=ridge)
    np.testing.assert_allclose(
        solution.output_weights, reference.ridge_weights(H, y, weight, ridge), rtol=1e-8
    )


def test_dependent_columns_get_weights_of_minimal_norm():
    X, y, weight = data()
    nodes = steep(4)
    doubled = nodes.joined(nodes)
    solution = least_squares(LocalRows(120), X, y, weight, doubled.hidden, 8)
    single = reference.weighted_pinv(nodes.hidden(X), y, weight)
    np.testing.assert_allclose(solution.output_weights[:4], single / 2, rtol=1e-8)
    np.testing.assert_allclose(solution.output_weights[4:], single / 2, rtol=1e-8)


def test_fewer_rows_than_columns_are_interpolated():
    X, y, weight = data(n_rows=10)
    weight = weight + 0.1
    nodes = steep(25)
    solution = least_squares(LocalRows(10, block_bytes=8), X, y, weight, nodes.hidden, 25)
    np.testing.assert_allclose(solution.residuals, 0.0, atol=1e-9)
    literal = reference.weighted_pinv(nodes.hidden(X), y, weight)
    np.testing.assert_allclose(solution.output_weights, literal, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(solution.leverage, 1.0, rtol=1e-9)


def test_ill_conditioned_columns_at_once_err_no_more_than_the_truncated_pseudo_inverse():
    X, y, weight, pool = ill_conditioned()
    solution = least_squares(LocalRows(300), X, y, weight, pool.hidden, 60)
    H = pool.hidden(X)
    assert np.linalg.cond(np.sqrt(weight)[:, None] * H) > 1e15
    # The normal equations would lose every direction below 1e-8 and the wave with them.
    cutoff = 1e3 * np.finfo(float).eps
    literal = weighted_square(y - H @ reference.weighted_pinv(H, y, weight, cutoff), weight)
    squared = H.T @ (weight[:, None] * H)
    normal = np.linalg.pinv(squared, rcond=1e-15, hermitian=True) @ (H.T @ (weight[:, None] * y))
    found = weighted_square(solution.residuals, weight)
    assert found == pytest.approx(literal, rel=1e-3)
    assert found < 0.99 * weighted_square(y - H @ normal, weight)
    # Large weights cancel, so the outputs themselves round; no more than that may differ.
    rounding = np.finfo(float).eps * np.max(np.abs(H) @ np.abs(solution.output_weights))
    np.testing.assert_allclose(
        solution.residuals, y - H @ solution.output_weights, atol=10 * rounding
    )


def test_direct_link_and_bias_are_columns_like_the_others():
    X, y, weight = data()
    groups = (pass_through(3, inputs=True, constant=True, reference=X), steep(5))
    H = np.hstack([X, np.ones((120, 1)), groups[1].hidden(X)])
    solution = least_squares(LocalRows(120), X, y, weight, lambda x: hidden_of(groups, x), 9)
    np.testing.assert_allclose(
        solution.output_weights, reference.weighted_pinv(H, y, weight), rtol=1e-8, atol=1e-9
    )


def test_the_triangular_factor_is_a_square_root_whatever_the_partition():
    X, y, weight = data()
    nodes = steep(12)
    A = np.hstack([nodes.hidden(X), y])
    gram = A.T @ (weight[:, None] * A)
    for block_bytes in (8, 8 * 14 * 13, 2**21):
        factor = triangular_factor(LocalRows(120, block_bytes), X, y, weight, nodes.hidden, 12)
        assert factor.shape == (14, 14)
        np.testing.assert_allclose(np.tril(factor, -1), 0.0, atol=1e-13)
        np.testing.assert_allclose(factor.T @ factor, gram, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_leading_columns_of_the_factor_solve_smaller_networks(ridge):
    X, y, weight = data()
    nodes = steep(12)
    H = nodes.hidden(X)
    factor = triangular_factor(LocalRows(120, 800), X, y, weight, nodes.hidden, 12)
    for k in (1, 5, 12):
        some = np.hstack([factor[:, :k], factor[:, 12:]])
        beta, whitener = solved_triangle(some, k, ridge=ridge, cutoff=1e-13)
        literal = reference.ridge_weights(H[:, :k], y, weight, ridge)
        np.testing.assert_allclose(beta, literal, rtol=1e-7, atol=1e-9)
        inverse = np.linalg.inv(H[:, :k].T @ (weight[:, None] * H[:, :k]) + ridge * np.eye(k))
        np.testing.assert_allclose(whitener @ whitener.T, inverse, rtol=1e-6, atol=1e-9)


def test_columns_of_zeros_get_no_weight():
    X, y, weight = data()
    solution = least_squares(LocalRows(120), X, y, weight, lambda x: 0.0 * x, 3)
    np.testing.assert_array_equal(solution.output_weights, np.zeros((3, 2)))
    np.testing.assert_array_equal(solution.residuals, y)


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
    assert fit.leverage is None


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


# --- the ridge by leave-one-out -------------------------------------------------------------


@pytest.mark.parametrize("repeated", [False, True])
def test_each_ridge_is_judged_by_explicit_refits(repeated):
    X, y, inlier_weight = data(n_rows=30)
    inlier_weight = inlier_weight + 0.1
    counts = np.random.default_rng(3).integers(1, 4, size=30) if repeated else np.ones(30)
    counts = counts.astype(float)
    weight = counts * inlier_weight
    nodes, ridges = steep(12), np.array([1e-6, 1e-3, 1e-1, 10.0])
    left_out = [
        reference.refitted_without_penalised(
            nodes.hidden(X), y, weight, np.ones(30), ridge * weight.sum()
        )
        for ridge in ridges
    ]
    errors = [weighted_square(e, weight) for e in left_out]
    best = int(np.argmin(errors))
    assert max(errors) > 1.1 * min(errors), "the ridge must matter"
    for block_bytes, in_memory in product((8 * 12 * 7, 2**21), (False, True)):
        rows = LocalRows(30, block_bytes)
        tuned = ridge_by_leave_one_out(
            rows, X, y, weight, nodes.hidden, 12, ridges, in_memory=in_memory
        )
        assert tuned.ridge == ridges[best]
        np.testing.assert_allclose(tuned.left_out, left_out[best], rtol=1e-7, atol=1e-9)
        literal = reference.ridge_with_constant(
            nodes.hidden(X), y, weight, ridges[best] * weight.sum()
        )
        np.testing.assert_allclose(tuned.output_weights, literal, rtol=1e-7, atol=1e-9)


def test_the_smallest_ridge_is_solved_as_well_as_by_orthogonal_factors():
    rng = np.random.default_rng(8)
    X = rng.uniform(size=(400, 1))
    y = np.sin(9 * X)
    n = 150  # so many nodes of one input depend on each other to rounding
    nodes = Nodes(rng.uniform(-30, 30, (1, n)), rng.uniform(-30, 30, n))
    tuned = ridge_by_leave_one_out(
        LocalRows(400), X, y, np.ones(400), nodes.hidden, n, np.array([1e-9])
    )
    h = nodes.hidden(X) - nodes.hidden(X).mean(axis=0)
    stacked = np.vstack([h, np.sqrt(1e-9 * 400) * np.eye(n)])
    q = np.linalg.qr(stacked)[0][:400]
    t = y - y.mean()
    leverage = np.sum(q * q, axis=1) + 1 / 400
    literal = (t - q @ (q.T @ t)) / (1 - leverage)[:, None]
    np.testing.assert_allclose(tuned.left_out, literal, atol=1e-6 * np.abs(literal).max())


def test_the_constant_is_not_penalised_and_moves_with_the_targets():
    X, y, weight = data()
    rows, nodes, ridges = LocalRows(120), steep(8), np.array([1e-4, 1e-2, 1.0])
    plain, raised = (
        ridge_by_leave_one_out(rows, X, t, weight, nodes.hidden, 8, ridges) for t in (y, y + 1e3)
    )
    assert raised.ridge == plain.ridge
    np.testing.assert_allclose(raised.left_out, plain.left_out, atol=1e-9)
    np.testing.assert_allclose(
        raised.output_weights - plain.output_weights, [[0.0, 0.0]] * 8 + [[1e3, 1e3]], atol=1e-8
    )


def test_rows_without_weight_have_no_say_in_the_ridge_but_are_judged():
    X, y, weight = data()
    nodes, ridges = steep(8), np.array([1e-6, 1e-4, 1e-2, 1.0])
    spoilt = y.copy()
    spoilt[weight == 0] += 50.0
    clean, dirty = (
        ridge_by_leave_one_out(LocalRows(120), X, t, weight, nodes.hidden, 8, ridges)
        for t in (y, spoilt)
    )
    assert clean.ridge == dirty.ridge
    np.testing.assert_allclose(clean.output_weights, dirty.output_weights, atol=1e-10)
    np.testing.assert_allclose(dirty.left_out - clean.left_out, spoilt - y, atol=1e-9)
