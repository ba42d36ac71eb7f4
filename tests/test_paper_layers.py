"""The paper's three methods over a grid of sizes, from one draw of nodes."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import reference
from paper_plan import hidden
from robustscn import ImprovedRVFLRegressor, PRNNRWRegressor, RVFLRegressor
from robustscn.paper.draws import drawn
from robustscn.paper.layers import Layer, improved_rvfl, layers, prnnrw, rvfl
from robustscn.paper.settings import (
    FUNCTION,
    Experiment,
)

pytestmark = pytest.mark.evidence

PAGE = Path(__file__).parents[1] / "docs" / "reproduction"
needs_keel = pytest.mark.skipif(
    "ROBUSTSCN_DATA" not in os.environ, reason="ROBUSTSCN_DATA names no folder of KEEL files"
)


@pytest.fixture(scope="module")
def rows():
    """Well-conditioned rows in three dimensions, some targets wrong."""
    rng = np.random.default_rng(5)
    X, X_test = rng.random((140, 3)), rng.random((60, 3))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + X[:, 2]
    y[:20] += rng.uniform(-1, 1, 20)
    return X, y, X_test


def test_rvfl_is_least_squares_on_the_first_nodes_of_the_draw(rows):
    X, y, X_test = rows
    built = layers(X, X_test, 4.0, [25, 12], seed=9)
    for size in (12, 25):
        H, H_test = (hidden(part, 9, 4.0, size, largest=25) for part in (X, X_test))
        expected = H_test @ np.linalg.lstsq(H, y, rcond=None)[0]
        assert_allclose(rvfl(built[size], y), expected, rtol=0, atol=1e-9)


def test_layer_is_a_singular_value_decomposition(rows):
    X, _, X_test = rows
    layer = layers(X, X_test, 4.0, [12], seed=9)[12]
    H, H_test = hidden(X, 9, 4.0, 12), hidden(X_test, 9, 4.0, 12)
    assert_allclose(layer.basis.T @ layer.basis, np.eye(12), atol=1e-12)
    assert_allclose(layer.values, np.linalg.svd(H, compute_uv=False), rtol=1e-9)
    # In these coordinates the output weights beta become S V' beta.
    V = np.linalg.lstsq(H, layer.basis * layer.values, rcond=None)[0]
    assert_allclose(layer.on_test, H_test @ V / layer.values, atol=1e-8)


def test_prnnrw_is_the_literal_iteration(rows):
    X, y, X_test = rows
    layer = layers(X, X_test, 4.0, [12], seed=3)[12]
    H, H_test = hidden(X, 3, 4.0, 12), hidden(X_test, 3, 4.0, 12)
    for rho in (10.0, 0.01):
        beta, rounds = reference.prnnrw(H, y[:, None], rho, 1e-5, 100, 1e-4)
        assert rounds > 3
        assert_allclose(prnnrw(layer, y, rho), (H_test @ beta)[:, 0], rtol=0, atol=1e-6)


def test_improved_rvfl_is_the_literal_iteration(rows):
    X, y, X_test = rows
    layer = layers(X, X_test, 4.0, [12], seed=3)[12]
    H, H_test = hidden(X, 3, 4.0, 12), hidden(X_test, 3, 4.0, 12)
    for n_rounds in (1, 2, 15):
        beta, _ = reference.improved_rvfl(H, y[:, None], n_rounds, 0.0)
        expected = (H_test @ beta)[:, 0]
        # The density is binned, to 0.3 % of its peak.
        assert_allclose(improved_rvfl(layer, y, n_rounds=n_rounds, tol=0.0), expected, atol=2e-3)
    assert np.abs(expected - rvfl(layer, y)).max() > 0.02, "the weights must matter here"


@pytest.mark.parametrize(
    ("solve", "model"),
    [
        (rvfl, RVFLRegressor(60, scope=30.0, random_state=4)),
        (improved_rvfl, ImprovedRVFLRegressor(60, scope=30.0, random_state=4)),
        (lambda la, y: prnnrw(la, y, 10.0), PRNNRWRegressor(60, scope=30.0, random_state=4)),
        (
            lambda la, y: prnnrw(la, y, 1e-4),
            PRNNRWRegressor(60, scope=30.0, ridge=1e-4, random_state=4),
        ),
    ],
    ids=["rvfl", "improved-rvfl", "prnnrw", "prnnrw-weak-prior"],
)
def test_layers_predict_what_the_estimators_do(solve, model):
    data = drawn(Experiment(FUNCTION), 0.20, 0)
    layer = layers(data.X, data.X_test, 30.0, [60], model._seed())[60]
    expected = model.fit(data.X, data.y).predict(data.X_test)
    assert_allclose(solve(layer, data.y), expected, rtol=0, atol=2e-4)


@pytest.mark.parametrize("size", [12, 25])
@pytest.mark.parametrize(
    ("solve", "model"),
    [
        (rvfl, RVFLRegressor()),
        (improved_rvfl, ImprovedRVFLRegressor()),
        (lambda la, y: prnnrw(la, y, 10.0), PRNNRWRegressor()),
        (lambda la, y: prnnrw(la, y, 1e-2), PRNNRWRegressor(ridge=1e-2)),
    ],
    ids=["rvfl", "improved-rvfl", "prnnrw", "prnnrw-weak-prior"],
)
def test_layers_and_estimators_are_one_method(solve, model, size, rows, monkeypatch):
    # The same draws and, for so few rows too, densities on a grid: nothing is left but rounding.
    monkeypatch.setattr("robustscn.core.density.EXACT_ROWS", 0)
    X, y, X_test = rows
    model = clone(model).set_params(n_nodes=size, scope=4.0, random_state=4)
    layer = layers(X, X_test, 4.0, [size], model._seed())[size]
    expected = model.fit(X, y).predict(X_test)
    assert getattr(model, "n_rounds_", 5) > 3
    assert_allclose(solve(layer, y), expected, rtol=0, atol=1e-10)


def test_prior_drops_only_directions_that_do_not_matter():
    """Against an augmented least squares of the whole layer, which drops nothing."""
    data = drawn(Experiment(FUNCTION), 0.10, 0)
    full = layers(data.X, data.X_test, 50.0, [100], 0)[100]
    rho = 1e-2
    omega, c = np.ones(len(data.y)), None
    for _ in range(100):
        root = np.sqrt(omega)
        A = np.vstack([full.basis * root[:, None], np.diag(np.sqrt(rho) / full.values)])
        b = np.concatenate([data.y * root, np.zeros(len(full.values))])
        before, c = c, np.linalg.lstsq(A, b, rcond=None)[0]
        if before is not None:
            change = np.linalg.norm((c - before) / full.values)
            if change <= 1e-4 * np.linalg.norm(c / full.values):
                break
        omega = 1 / np.maximum(np.abs(data.y - full.basis @ c), 1e-5)
    kept = full.above(np.sqrt(1e-8 * rho / np.sqrt(len(data.y))))
    assert len(kept.values) < len(full.values), "nothing was dropped: the test shows nothing"
    assert_allclose(prnnrw(full, data.y, rho), full.on_test @ c, rtol=0, atol=5e-6)


def test_rows_that_are_met_exactly_keep_equal_weights():
    layer = Layer(np.eye(4), np.ones(4), np.eye(4))
    y = np.array([1.0, 2.0, 3.0, 4.0])
    assert_allclose(improved_rvfl(layer, y), y)
