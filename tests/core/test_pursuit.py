"""Candidates along the slope of the residual."""

import numpy as np
import pytest

from robustscn.core.pursuit import ALONG, along_the_slope, telling
from robustscn.core.rows import LocalRows


def test_candidates_along_the_slope_point_where_the_residual_rises():
    rng = np.random.default_rng(7)
    x, weight = rng.uniform(size=(500, 4)), rng.uniform(0.5, 2.0, size=500)
    slopes = np.array([[3.0, 0.0, -1.0, 0.0], [0.0, 2.0, 0.0, 2.0]])
    e = x @ slopes.T + 5.0
    nodes = along_the_slope(LocalRows(500, 8 * 40), x, e, weight, "logistic")
    assert len(nodes) == 2 * len(ALONG)
    for k, (steepness, place) in enumerate(ALONG):
        for q in range(2):
            node = nodes.take([2 * k + q])
            direction = node.weights[:, 0] / np.linalg.norm(node.weights)
            assert direction @ slopes[q] / np.linalg.norm(slopes[q]) > 0.999
            z = x @ node.weights[:, 0] + node.biases
            middle = np.average(z, weights=weight)
            deviation = np.sqrt(np.average((z - middle) ** 2, weights=weight))
            assert deviation == pytest.approx(steepness, rel=1e-6)
            assert middle == pytest.approx(-steepness * place, abs=1e-6)


def test_where_nothing_rises_candidates_along_the_slope_are_harmless():
    nodes = along_the_slope(LocalRows(9), np.ones((9, 2)), np.ones((9, 1)), np.ones(9), "logistic")
    assert np.all(np.isfinite(nodes.hidden(np.ones((9, 2)))))


def test_inputs_tell_what_the_literal_squared_correlations_are_beyond_most_others():
    rng = np.random.default_rng(3)
    x, counts = rng.uniform(size=(300, 9)), rng.integers(1, 4, size=300)
    e = np.stack([2 * x[:, 1] + 8 * (x[:, 4] - 0.5) ** 2, x[:, 7]], axis=1)
    e = e + 0.3 * rng.normal(size=e.shape)
    found = telling(LocalRows(300, 8 * 40), x, e, counts.astype(float))
    repeated = np.repeat(x, counts, axis=0), np.repeat(e, counts, axis=0)
    for output in range(2):
        t = repeated[1][:, output]
        plain = [np.corrcoef(repeated[0][:, j], t)[0, 1] ** 2 for j in range(9)]
        bent = [np.corrcoef((repeated[0][:, j] - 0.5) ** 2, t)[0, 1] ** 2 for j in range(9)]
        best = np.maximum(plain, bent)
        literal = np.maximum(best - 4 * np.median(best), 0)
        np.testing.assert_allclose(found[:, output], literal, atol=1e-12)
    assert found[1, 0] > 0
    assert found[4, 0] > 0, "a bend without a slope tells as well"
    assert found[7, 1] > 0


def test_constant_inputs_and_residuals_tell_nothing():
    x = np.hstack([np.ones((20, 3)), np.linspace(0, 1, 20)[:, None]])
    assert not telling(LocalRows(20), x, np.ones((20, 1)), np.ones(20)).any()
    rising = telling(LocalRows(20), x, x[:, 3:], np.ones(20))
    assert rising[3, 0] == pytest.approx(1.0)
    assert not rising[:3].any()


def test_inputs_that_tell_nothing_have_no_part_in_the_slope():
    rng = np.random.default_rng(5)
    x = rng.uniform(size=(60, 50))
    e = 3 * x[:, [2]] - x[:, [30]] + 0.1 * rng.normal(size=(60, 1))
    told = np.zeros((50, 1))
    told[[2, 30]] = 1.0
    rows, weight = LocalRows(60), np.ones(60)
    nodes = along_the_slope(rows, x, e, weight, "logistic", told)
    assert not np.delete(nodes.weights, [2, 30], axis=0).any()
    alone = along_the_slope(rows, x[:, [2, 30]], e, weight, "logistic")
    ratio = nodes.weights[2] / nodes.weights[30]
    np.testing.assert_allclose(ratio, alone.weights[0] / alone.weights[1], rtol=0.02)
    nothing = along_the_slope(rows, x, e, weight, "logistic", np.zeros((50, 1)))
    assert not nothing.weights.any()
