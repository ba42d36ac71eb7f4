"""Nodes: the activations, what is drawn, and networks that keep their outputs when moved."""

import numpy as np
import pytest

import reference
from robustscn.core.nodes import (
    ACTIVATIONS,
    Draw,
    Nodes,
    hidden_of,
    logistic,
    network,
    pass_through,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(15, 3))
NODES = Nodes(RNG.normal(size=(3, 4)), RNG.normal(size=4))


def test_hidden_equals_the_formula():
    np.testing.assert_allclose(
        NODES.hidden(X), reference.hidden(X, NODES.weights, NODES.biases), rtol=1e-14
    )


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("tanh", np.tanh),
        ("relu", lambda z: np.maximum(z, 0.0)),
        ("identity", lambda z: z),
        ("logistic", lambda z: 1.0 / (1.0 + np.exp(-z))),
    ],
)
def test_activations(name, formula):
    assert name in ACTIVATIONS
    nodes = Nodes(NODES.weights, NODES.biases, name)
    np.testing.assert_allclose(
        nodes.hidden(X), formula(X @ NODES.weights + NODES.biases), rtol=1e-14, atol=1e-15
    )


@pytest.mark.parametrize(("dtype", "far"), [(np.float64, 690.0), (np.float32, 80.0)])
def test_logistic_keeps_its_digits_in_the_far_tail(dtype, far):
    z = np.array([-far, -30.0, 0.0, 30.0, far], dtype=dtype)
    exact = np.exp(z.astype(np.float64)) / (1.0 + np.exp(z.astype(np.float64)))
    found = logistic(z)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, exact, rtol=20 * far * np.finfo(dtype).eps)


def test_logistic_does_not_overflow():
    # Warnings are errors here, so an overflow would show.
    for dtype in (np.float64, np.float32):
        found = logistic(np.array([-1e30, 1e30], dtype=dtype))
        assert 0.0 <= found[0] < 1e-37
        assert found[1] == 1.0


def test_taking_and_joining_follow_the_columns():
    hidden = NODES.hidden(X)
    np.testing.assert_array_equal(NODES.take([2, 0]).hidden(X), hidden[:, [2, 0]])
    again = NODES.take([1]).joined(NODES.take([3, 2]))
    assert len(again) == 3
    np.testing.assert_array_equal(again.hidden(X), hidden[:, [1, 3, 2]])
    assert len(NODES.take([])) == 0


def test_direct_link_and_bias_hand_on_inputs_and_one():
    for inputs, constant, expected in (
        (True, False, X),
        (False, True, np.ones((15, 1))),
        (True, True, np.hstack([X, np.ones((15, 1))])),
    ):
        nodes = pass_through(3, inputs=inputs, constant=constant, reference=X)
        np.testing.assert_array_equal(nodes.hidden(X), expected)


def test_a_draw_depends_on_seed_round_node_and_scope_only():
    draw = Draw(3, 2, (0.5, 50.0), 10)
    first = draw.pool(1, X, node=4, round=2)
    again = draw.pool(1, np.zeros((1000, 2)), node=4, round=2)
    np.testing.assert_array_equal(first.weights, again.weights)
    np.testing.assert_array_equal(first.biases, again.biases)
    others = [
        (0.5, draw.pool(0, X, node=4, round=2)),
        (50.0, draw.pool(1, X, node=5, round=2)),
        (50.0, draw.pool(1, X, node=4, round=3)),
        (50.0, Draw(4, 2, (0.5, 50.0), 10).pool(1, X, node=4, round=2)),
    ]
    for scope, other in others:
        assert np.min(np.abs(first.weights / 50.0 - other.weights / scope)) > 1e-6


def test_all_pools_are_the_pools_of_the_scopes_side_by_side():
    box = np.array([[0.0, -1.0], [1.0, 1.0]])
    for centres, sparse in ((None, False), (box, False), (None, True), (box, True)):
        draw = Draw(3, 2, (0.5, 4.0, 50.0), 10, centres=centres, sparse=sparse)
        together = draw.all_pools(X, node=4, round=2)
        apart = [draw.pool(scope, X, node=4, round=2) for scope in range(3)]
        np.testing.assert_array_equal(together.weights, np.hstack([pool.weights for pool in apart]))
        np.testing.assert_array_equal(
            together.biases, np.concatenate([pool.biases for pool in apart])
        )


def test_draws_fill_their_scope():
    for scope, width in enumerate((0.5, 50.0)):
        pool = Draw(0, 3, (0.5, 50.0), 2000).pool(scope, X)
        assert len(pool) == 2000
        for drawn in (*pool.weights, pool.biases):
            assert np.max(np.abs(drawn)) <= width
            # Uniform on [-width, width]: mean 0, variance width^2 / 3.
            assert abs(np.mean(drawn)) < 0.05 * width
            assert np.var(drawn) == pytest.approx(width**2 / 3, rel=0.1)


def test_centred_draws_are_steepest_inside_the_box():
    low, high = np.array([2.0, -1.0]), np.array([3.0, 4.0])
    pool = Draw(0, 2, (5.0,), 500, centres=np.stack([low, high])).pool(0, X)
    # A node's steep line meets the box where its argument takes both signs on the corners.
    corners = np.array([[a, b] for a in (low[0], high[0]) for b in (low[1], high[1])])
    arguments = corners @ pool.weights + pool.biases
    assert np.all(arguments.min(axis=0) <= 0)
    assert np.all(arguments.max(axis=0) >= 0)
    assert np.max(np.abs(pool.weights)) <= 5.0


def test_sparse_draws_share_their_scope_among_few_inputs():
    box = np.stack([np.zeros(16), np.ones(16)])
    pool = Draw(0, 16, (5.0,), 20_000, centres=box, sparse=True).pool(0, np.zeros((1, 16)))
    used = pool.weights != 0
    count = used.sum(axis=0)
    assert count.min() == 1
    assert count.max() == 16
    # A count of k is floor(u) for log-uniform u on [1, 17): it has the mass of [k, k + 1).
    for k in range(1, 17):
        assert np.mean(count == k) == pytest.approx(np.log((k + 1) / k) / np.log(17), abs=0.01)
    np.testing.assert_allclose(used.mean(axis=1), count.mean() / 16, rtol=0.05)  # inputs alike
    assert np.all(np.abs(pool.weights) <= 5.0 / count)
    alone = pool.weights[used & (count == 1)]
    assert np.var(alone) == pytest.approx(25 / 3, rel=0.05)
    # The steepest point is inside the box, whatever inputs are looked at.
    highest = np.sum(np.maximum(pool.weights, 0.0), axis=0) + pool.biases
    lowest = np.sum(np.minimum(pool.weights, 0.0), axis=0) + pool.biases
    assert np.all(lowest <= 0)
    assert np.all(highest >= 0)


def test_a_network_is_its_hidden_layer_times_output_weights():
    extra = pass_through(3, inputs=True, constant=True, reference=X)
    beta = RNG.normal(size=(8, 2))
    net = network((extra, NODES), beta)
    H = np.hstack([X, np.ones((15, 1)), reference.hidden(X, NODES.weights, NODES.biases)])
    np.testing.assert_allclose(hidden_of((extra, NODES), X), H, rtol=1e-14)
    np.testing.assert_allclose(net.output(X), H @ beta, rtol=1e-13)


def test_a_network_works_in_the_dtype_of_its_inputs():
    net = network((NODES,), RNG.normal(size=(4, 1)))
    narrow = net.output(X.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, net.output(X), rtol=1e-4, atol=1e-5)
