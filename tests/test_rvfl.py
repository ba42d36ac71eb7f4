"""The baselines, whose nodes are drawn at once, against the reference."""

import numpy as np
import pytest

import reference
from robustscn import ImprovedRVFLRegressor, PRNNRWRegressor, RVFLRegressor
from small import problem


def drawn_hidden(model, X):
    (layer,) = model._network.layers
    return reference.hidden(X, layer.weights, layer.biases)


def dirty(n_outputs=1):
    rows = problem(n_rows=80, n_outputs=n_outputs)
    rows.y[::9] += 2.0
    return rows.X, rows.y


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_improved_rvfl_equals_the_reference(n_outputs):
    X, y = dirty(n_outputs)
    model = ImprovedRVFLRegressor(8, scope=4.0, random_state=0).fit(X, y)
    beta, n_rounds = reference.improved_rvfl(drawn_hidden(model, X), y, 40, 1e-4)
    assert 3 < n_rounds < 40
    assert model.n_rounds_ == n_rounds
    np.testing.assert_allclose(model.output_weights_, beta, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("unit", [1.0, 300.0])
def test_prnnrw_equals_the_reference_in_the_unit_of_the_targets(unit):
    X, y = dirty()
    y = unit * y
    model = PRNNRWRegressor(8, scope=4.0, ridge=0.5, delta=1e-3, random_state=0)
    model.fit(X, y[:, 0])
    beta, n_rounds = reference.prnnrw(drawn_hidden(model, X), y, 0.5, 1e-3, 100, 1e-4)
    assert 3 < n_rounds < 100
    assert model.n_rounds_ == n_rounds
    np.testing.assert_allclose(model.output_weights_, beta, rtol=1e-6, atol=1e-7 * unit)


def test_rvfl_is_one_pseudo_inverse():
    X, y = dirty(2)
    model = RVFLRegressor(8, scope=4.0, random_state=0).fit(X, y)
    beta = reference.weighted_pinv(drawn_hidden(model, X), y, np.ones(80))
    np.testing.assert_allclose(model.output_weights_, beta, rtol=1e-8)
