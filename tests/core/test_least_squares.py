"""Output weights of nodes given at once: triangular factors and ridges against refits."""

import numpy as np
import pytest

import reference
from robustscn.core.least_squares import (
    CHOOSING_ROWS,
    Design,
    Twins,
    least_squares,
    leave_one_out,
    ridge_by_leave_one_out,
    solved_triangle,
    triangular_factor,
)
from robustscn.core.nodes import Nodes, hidden_of, pass_through
from robustscn.core.rows import LocalRows
from small import data, ill_conditioned, steep, weighted_square

# --- all nodes at once ----------------------------------------------------------------------


@pytest.mark.parametrize("block_bytes", [8, 8 * 100, 2**21])
def test_least_squares_equals_the_pseudo_inverse(block_bytes):
    X, y, weight = data()
    nodes = steep(20)
    solution = least_squares(Design(LocalRows(120, block_bytes), X, y, weight, nodes.hidden, 20))
    H = reference.hidden(X, nodes.weights, nodes.biases)
    beta = reference.weighted_pinv(H, y, weight)
    np.testing.assert_allclose(solution.output_weights, beta, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(solution.residuals, y - H @ beta, atol=1e-11)


@pytest.mark.parametrize("ridge", [1e-6, 0.5, 100.0])
def test_least_squares_with_a_ridge_is_exact(ridge):
    X, y, weight = data()
    nodes = steep(9)
    H = nodes.hidden(X)
    solution = least_squares(Design(LocalRows(120), X, y, weight, nodes.hidden, 9), ridge=ridge)
    np.testing.assert_allclose(
        solution.output_weights, reference.ridge_weights(H, y, weight, ridge), rtol=1e-8
    )


def test_dependent_columns_get_weights_of_minimal_norm():
    X, y, weight = data()
    nodes = steep(4)
    doubled = nodes.joined(nodes)
    solution = least_squares(Design(LocalRows(120), X, y, weight, doubled.hidden, 8))
    single = reference.weighted_pinv(nodes.hidden(X), y, weight)
    np.testing.assert_allclose(solution.output_weights[:4], single / 2, rtol=1e-8)
    np.testing.assert_allclose(solution.output_weights[4:], single / 2, rtol=1e-8)


def test_fewer_rows_than_columns_are_interpolated():
    X, y, weight = data(n_rows=10)
    weight = weight + 0.1
    nodes = steep(25)
    solution = least_squares(Design(LocalRows(10, block_bytes=8), X, y, weight, nodes.hidden, 25))
    np.testing.assert_allclose(solution.residuals, 0.0, atol=1e-9)
    literal = reference.weighted_pinv(nodes.hidden(X), y, weight)
    np.testing.assert_allclose(solution.output_weights, literal, rtol=1e-7, atol=1e-9)


def test_ill_conditioned_columns_at_once_err_no_more_than_the_truncated_pseudo_inverse():
    X, y, weight, pool = ill_conditioned()
    solution = least_squares(Design(LocalRows(300), X, y, weight, pool.hidden, 60))
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
    solution = least_squares(
        Design(LocalRows(120), X, y, weight, lambda x: hidden_of(groups, x), 9)
    )
    np.testing.assert_allclose(
        solution.output_weights, reference.weighted_pinv(H, y, weight), rtol=1e-8, atol=1e-9
    )


def test_the_triangular_factor_is_a_square_root_whatever_the_partition():
    X, y, weight = data()
    nodes = steep(12)
    A = np.hstack([nodes.hidden(X), y])
    gram = A.T @ (weight[:, None] * A)
    for block_bytes in (8, 8 * 14 * 13, 2**21):
        factor = triangular_factor(
            Design(LocalRows(120, block_bytes), X, y, weight, nodes.hidden, 12)
        )
        assert factor.shape == (14, 14)
        np.testing.assert_allclose(np.tril(factor, -1), 0.0, atol=1e-13)
        np.testing.assert_allclose(factor.T @ factor, gram, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_leading_columns_of_the_factor_solve_smaller_networks(ridge):
    X, y, weight = data()
    nodes = steep(12)
    H = nodes.hidden(X)
    factor = triangular_factor(Design(LocalRows(120, 800), X, y, weight, nodes.hidden, 12))
    for k in (1, 5, 12):
        some = np.hstack([factor[:, :k], factor[:, 12:]])
        beta = solved_triangle(some, k, ridge=ridge, cutoff=1e-13)
        literal = reference.ridge_weights(H[:, :k], y, weight, ridge)
        np.testing.assert_allclose(beta, literal, rtol=1e-7, atol=1e-9)


def test_columns_of_zeros_get_no_weight():
    X, y, weight = data()
    solution = least_squares(Design(LocalRows(120), X, y, weight, lambda x: 0.0 * x, 3))
    np.testing.assert_array_equal(solution.output_weights, np.zeros((3, 2)))
    np.testing.assert_array_equal(solution.residuals, y)


# --- rows left out alone --------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("repeated", [False, True])
def test_leave_one_out_residuals_equal_explicit_refits(ridge, repeated):
    X, y, weight = data(n_rows=40)
    weight = weight + 0.1
    if repeated:  # a row is left out with all of its weight
        weight = weight * np.random.default_rng(3).integers(1, 4, size=40)
    H = steep(7).hidden(X)
    residuals = y - H @ reference.ridge_weights(H, y, weight, ridge)
    found = leave_one_out(residuals, reference.hat_diagonal(H, weight, ridge))
    literal = reference.refitted_without(H, y, weight, np.ones(40), ridge)
    np.testing.assert_allclose(found, literal, rtol=1e-7, atol=1e-9)


# --- rows left out together -----------------------------------------------------------------


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
        Design(LocalRows(40, 8 * 7 * 9), X, y, weight, nodes.hidden, 7),
        np.array([ridge / weight.sum()]),
        twins=Twins(group, 20),
    )
    literal = refitted_without_twins(nodes.hidden(X), y, weight, group, ridge)
    np.testing.assert_allclose(tuned.left_out, literal, rtol=1e-7, atol=1e-9)


def test_a_weight_of_two_is_a_row_and_its_twin():
    X, y, weight = data(n_rows=40)
    counts = np.random.default_rng(5).integers(1, 4, size=40)
    rows_of = np.repeat(np.arange(40), counts)
    nodes, ridges = steep(7), np.array([1e-4, 1e-2])
    short = ridge_by_leave_one_out(
        Design(LocalRows(40), X, y, weight * counts, nodes.hidden, 7), ridges
    )
    long = ridge_by_leave_one_out(
        Design(LocalRows(len(rows_of)), X[rows_of], y[rows_of], weight[rows_of], nodes.hidden, 7),
        ridges,
        twins=Twins(rows_of, 40),
    )
    assert short.ridge == long.ridge
    np.testing.assert_allclose(long.left_out, short.left_out[rows_of], rtol=1e-7, atol=1e-9)


def test_a_row_that_alone_determines_a_direction_does_not_blow_up():
    found = leave_one_out(np.array([[1e-12], [1.0]]), np.array([1.0, 1.5]))
    np.testing.assert_allclose(found[:, 0], [1e-9, 1e3], rtol=1e-12)


# --- the ridge by leave-one-out -------------------------------------------------------------


def test_leverages_of_many_rows_in_float32_move_left_out_residuals_by_a_millionth():
    n_rows = CHOOSING_ROWS + 100
    X, y, weight = data(n_rows=n_rows)
    weight[0] = 0.2 * n_rows  # one row with a leverage that can be seen
    nodes = steep(12)
    design = Design(LocalRows(n_rows), X, y, weight, nodes.hidden, 12)
    found = ridge_by_leave_one_out(design, np.array([1e-9]))
    plain = y - np.hstack([nodes.hidden(X), np.ones((n_rows, 1))]) @ found.output_weights
    total, h = weight.sum(), nodes.hidden(X)
    h = (h - np.average(h, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    ridge = np.sqrt(1e-9 * total) * np.eye(12)
    q = np.linalg.qr(np.vstack([h, ridge]))[0][:n_rows]
    exact = plain / (1.0 - np.sum(q * q, axis=1) - weight / total)[:, None]
    assert np.abs(exact / plain)[0].min() > 1.1
    np.testing.assert_allclose(found.left_out, exact, rtol=1e-6, atol=1e-6)
    assert np.abs(found.left_out - exact).max() > 1e-12, "float32 was not used"


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
    for block_bytes in (8 * 12 * 7, 2**21):
        rows = LocalRows(30, block_bytes)
        tuned = ridge_by_leave_one_out(Design(rows, X, y, weight, nodes.hidden, 12), ridges)
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
        Design(LocalRows(400), X, y, np.ones(400), nodes.hidden, n), np.array([1e-9])
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
        ridge_by_leave_one_out(Design(rows, X, t, weight, nodes.hidden, 8), ridges)
        for t in (y, y + 1e3)
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
        ridge_by_leave_one_out(Design(LocalRows(120), X, t, weight, nodes.hidden, 8), ridges)
        for t in (y, spoilt)
    )
    assert clean.ridge == dirty.ridge
    np.testing.assert_allclose(clean.output_weights, dirty.output_weights, atol=1e-10)
    np.testing.assert_allclose(dirty.left_out - clean.left_out, spoilt - y, atol=1e-9)
