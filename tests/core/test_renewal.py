"""The same nodes under new weights: exact, and only between the first round and the last."""

import numpy as np
import pytest

from robustscn import RSCKDERegressor, SCNRegressor
from robustscn.core.growth import grow
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.recipe import Recipe
from robustscn.core.renewal import renewed
from robustscn.core.rows import LocalRows
from robustscn.core.sketch import UNSAMPLED_ROWS
from robustscn.core.solve import reweighted
from robustscn.estimators import rsc_kde


def drawn(n_rows, dtype=float, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, 3)).astype(dtype)
    y = (np.sin(5 * X[:, :1]) + X[:, 1:2] * X[:, 2:]).astype(dtype)
    return X, y + 0.05 * rng.normal(size=y.shape).astype(dtype), rng


def grown(X, y, weight, *, max_nodes=12, ridge=0.0):
    problem = Problem(LocalRows(len(X), 2**14), X, y, weight)
    recipe = Recipe(Draw(0, X.shape[1], (1.0, 4.0), 30), max_nodes, ridge=ridge)
    *_, state = grow(problem, recipe)
    return problem, recipe, state


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize("outputs", [1, 2])
def test_renewed_output_weights_solve_the_literal_weighted_problem(ridge, outputs):
    X, y, rng = drawn(500)
    y = np.hstack([y, y**2])[:, :outputs]
    problem, _, state = grown(X, y, np.ones(500), ridge=ridge)
    weight = np.where(rng.uniform(size=500) < 0.2, 0.0, rng.uniform(0.1, 2.0, size=500))
    found = reweighted(problem.rows, weight, state.fit, ridge * weight.sum())
    assert found is not None
    output_weights, residuals = found
    hidden = state.nodes.hidden(X)
    root = np.sqrt(weight)[:, None]
    below = np.sqrt(ridge * weight.sum()) * np.eye(len(state.nodes))
    literal = np.linalg.lstsq(
        np.vstack([hidden * root, below]),
        np.vstack([y * root, np.zeros((len(below), outputs))]),
        rcond=1e-15,
    )[0]
    np.testing.assert_allclose(hidden @ output_weights, hidden @ literal, atol=1e-7)
    np.testing.assert_allclose(residuals, y - hidden @ output_weights, atol=1e-7)


def test_float32_loses_no_more_than_float32():
    X, y, rng = drawn(3000)
    weight = rng.uniform(0.1, 2.0, size=3000)
    problem, _, state = grown(*(a.astype(np.float32) for a in (X, y, np.ones(3000))), max_nodes=30)
    found = reweighted(problem.rows, weight.astype(np.float32), state.fit, 0.0)
    root = np.sqrt(weight)[:, None]
    hidden = state.nodes.hidden(X)
    literal = np.linalg.lstsq(hidden * root, y * root, rcond=1e-15)[0]
    least = np.sum((root * (y - hidden @ literal)) ** 2)
    assert np.sum((root * found[1]) ** 2) <= 1.001 * least


def test_weights_that_leave_nothing_of_a_direction_are_solved_from_the_nodes():
    X, y, _ = drawn(200)
    problem, _, state = grown(X, y, np.ones(200))
    weight = np.where(np.arange(200) < 5, 1.0, 0.0)  # fewer rows than nodes
    assert reweighted(problem.rows, weight, state.fit, 0.0) is None
    few = Problem(problem.rows, X, y, weight)
    _, residuals = renewed(few, state.nodes, state.fit, 0.0)
    assert np.max(np.abs(residuals[:5])) < 1e-6


def test_few_rows_grow_anew_in_every_round_and_many_in_the_first_and_the_last():
    X, y, _ = drawn(300)
    settings = {"max_nodes": 20, "n_rounds": 3, "n_candidates": 50, "random_state": 0}
    automatic = RSCKDERegressor(**settings).fit(X, y[:, 0])
    literal = RSCKDERegressor(**settings, rebuild=True).fit(X, y[:, 0])
    assert automatic.nodes_round_ == literal.nodes_round_ == 3
    np.testing.assert_array_equal(automatic.predict(X), literal.predict(X))
    X, y, _ = drawn(UNSAMPLED_ROWS + 10)
    many = RSCKDERegressor(**settings, block=5, scopes=(1.0, 4.0)).fit(X, y[:, 0])
    assert (many.nodes_round_, many.n_rounds_) == (3, 3)
    anew = RSCKDERegressor(**settings, block=5, scopes=(1.0, 4.0), rebuild=True).fit(X, y[:, 0])
    assert np.any(anew.predict(X) != many.predict(X))  # the round between was solved, not grown
    assert many.score(X, y[:, 0]) > 0.95


def test_beyond_many_rows_nodes_are_grown_once(monkeypatch):
    monkeypatch.setattr(rsc_kde, "GROWN_ONCE_ROWS", UNSAMPLED_ROWS)
    X, y, _ = drawn(UNSAMPLED_ROWS + 10)
    settings = {"max_nodes": 10, "n_candidates": 20, "scopes": (1.0, 4.0), "block": 5}
    many = RSCKDERegressor(**settings, n_rounds=3, random_state=0).fit(X, y[:, 0])
    assert (many.nodes_round_, many.n_rounds_) == (1, 3)
    first = SCNRegressor(**settings, random_state=0).fit(X, y[:, 0])
    np.testing.assert_array_equal(many.error_path_, first.error_path_)
    assert np.any(many.predict(X) != first.predict(X))
