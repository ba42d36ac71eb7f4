"""Candidates along the slope of the residual."""

import numpy as np
import pytest

from robustscn.core.pursuit import ALONG, along_the_slope
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
