"""Nodes: the activations, what is drawn, and networks that keep their outputs when moved."""

import numpy as np
import pytest

import reference
from robustscn.core.nodes import (
    ACTIVATIONS,
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


def products():
    """Five nodes over three inputs: of one, three, two, one and three units."""
    rng = np.random.default_rng(1)
    units = [rng.normal(size=(count, 4)) for count in (1, 3, 2, 1, 3)]
    order = [(k, level) for level in range(3) for k in range(5) if level < len(units[k])]
    stacked = np.array([units[k][level] for k, level in order])
    return Nodes(stacked[:, :3].T, stacked[:, 3], "logistic", ((1, 2, 4), (1, 4))), units


def literal_products(units):
    return np.stack(
        [np.prod([1 / (1 + np.exp(-(X @ u[:3] + u[3]))) for u in node], axis=0) for node in units],
        axis=1,
    )


def test_a_node_of_several_units_is_their_product():
    nodes, units = products()
    assert len(nodes) == 5
    assert nodes.n_units == 10
    np.testing.assert_allclose(nodes.hidden(X), literal_products(units), rtol=1e-14)


def test_products_are_taken_and_joined_like_other_nodes():
    nodes, units = products()
    for numbers in ([4, 0, 2], [0, 3], [1, 1, 2], []):
        np.testing.assert_allclose(
            nodes.take(numbers).hidden(X), literal_products(units)[:, numbers], rtol=1e-14
        )
    assert nodes.take([0, 3]).factors == ()
    for left, right in (([1, 0], [2]), ([0], [4, 1]), ([3], [0]), ([], [2])):
        both = nodes.take(left).joined(nodes.take(right))
        assert len(both) == len(left) + len(right)
        np.testing.assert_allclose(
            both.hidden(X), literal_products(units)[:, [*left, *right]], rtol=1e-14
        )


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
