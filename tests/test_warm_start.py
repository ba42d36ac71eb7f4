"""Going on where a fit ended gives what one longer fit gives."""

import numpy as np
import pytest

from robustscn import RSCKDERegressor, SCNRegressor
from robustscn.persistence import load, save


def sine(n_rows=200, dtype=np.float64):
    X = np.linspace(0, 1, n_rows, dtype=dtype)[:, None]
    y = np.sin(9 * X[:, 0]) + X[:, 0] ** 2
    y[::9] += 2.0
    return X, y


@pytest.mark.parametrize("algorithm", ["SC-I", "SC-II", "SC-III"])
def test_more_nodes(algorithm):
    X, y = sine()
    once = SCNRegressor(16, algorithm=algorithm, random_state=0).fit(X, y)
    twice = SCNRegressor(7, algorithm=algorithm, warm_start=True, random_state=0).fit(X, y)
    first = twice._network.layers[0]
    twice.set_params(max_nodes=16).fit(X, y)
    (nodes,), (longer,) = once._network.layers, twice._network.layers
    np.testing.assert_array_equal(nodes.weights, longer.weights)
    np.testing.assert_array_equal(first.weights, longer.weights[:, :7])
    np.testing.assert_allclose(once.predict(X), twice.predict(X), atol=1e-10)


@pytest.mark.parametrize("algorithm", ["SC-I", "SC-III"])
def test_more_nodes_where_the_search_learns(algorithm):
    X = np.random.default_rng(0).uniform(size=(150, 4))
    y = np.sin(5 * X[:, 1]) + X[:, 2]
    how = {"algorithm": algorithm, "proposals": "adaptive", "random_state": 0}
    once = SCNRegressor(16, **how).fit(X, y)
    twice = SCNRegressor(7, warm_start=True, **how).fit(X, y).set_params(max_nodes=16).fit(X, y)
    np.testing.assert_array_equal(once._network.layers[0].weights, twice._network.layers[0].weights)


def test_more_rounds():
    X, y = sine()
    once = RSCKDERegressor(12, n_rounds=6, random_state=0).fit(X, y)
    twice = RSCKDERegressor(12, n_rounds=2, warm_start=True, random_state=0).fit(X, y)
    twice.set_params(n_rounds=6).fit(X, y)
    assert twice.n_rounds_ == once.n_rounds_ == 6
    np.testing.assert_array_equal(once.predict(X), twice.predict(X))
    np.testing.assert_array_equal(once.inlier_weight_, twice.inlier_weight_)


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (SCNRegressor(6, warm_start=True, random_state=0), {"max_nodes": 14}),
        (RSCKDERegressor(10, n_rounds=2, warm_start=True, random_state=0), {"n_rounds": 4}),
    ],
)
def test_saved_loaded_continued(tmp_path, model, more):
    X, y = sine()
    loaded = load(save(model.fit(X, y), tmp_path / "model.skops")).model
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    here = model.set_params(**more).fit(X, y).predict(X)
    there = loaded.set_params(**more).fit(X, y).predict(X)
    np.testing.assert_array_equal(here, there)


def test_new_rows_are_learned_by_old_nodes_and_new_ones():
    X, y = sine()
    half = SCNRegressor(8, warm_start=True, random_state=0).fit(X[::2], y[::2])
    nodes = half._network.layers[0].weights
    half.set_params(max_nodes=12).fit(X, y)
    np.testing.assert_array_equal(nodes, half._network.layers[0].weights[:, :8])
    assert half.n_nodes_ == 12


@pytest.mark.parametrize(
    ("model", "changed", "words"),
    [
        (SCNRegressor(8, warm_start=True), {"max_nodes": 4}, "goes on from 8 nodes"),
        (RSCKDERegressor(8, n_rounds=3, warm_start=True), {"n_rounds": 3}, "after 3 rounds"),
    ],
)
def test_less_than_there_is_is_an_error(model, changed, words):
    X, y = sine()
    with pytest.raises(ValueError, match=words):
        model.fit(X, y).set_params(**changed).fit(X, y)


def test_other_data_are_an_error():
    X, y = sine()
    with pytest.raises(ValueError, match="nodes with 1 inputs, X has 2"):
        SCNRegressor(5, warm_start=True).fit(X, y).fit(np.hstack([X, X]), y)
    model = RSCKDERegressor(5, n_rounds=2, warm_start=True).fit(X, y).set_params(n_rounds=4)
    with pytest.raises(ValueError, match="weights of 200 rows, X has 100"):
        model.fit(X[:100], y[:100])
