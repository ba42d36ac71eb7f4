"""Units of inputs and targets: linear and by rank, whatever the unit they came in."""

import numpy as np
import pytest

from robustscn.core.inputs import interpolated, scaled, scaling_of
from robustscn.core.problem import Problem
from robustscn.core.rows import LocalRows


def problem_of(X, y=None, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    y = np.zeros(len(X)) if y is None else y
    return Problem(LocalRows(len(X)), X, y.reshape(len(X), -1), weight)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(240, 3))
    return problem_of(X, np.sin(5 * X[:, 0]) + X[:, 1])


def test_inputs_enter_linearly_and_by_rank_where_they_crowd_together():
    rng = np.random.default_rng(3)
    spread = rng.uniform(-3, 7, 5000)
    X = np.column_stack([spread, rng.lognormal(0, 2, 5000), spread > 6, rng.normal(size=5000)])
    problem = problem_of(X, np.zeros(5000))
    Z = scaled(problem, scaling_of(problem)).X
    assert Z.shape == (5000, 6)  # a rank of the second and the last
    np.testing.assert_allclose(Z.min(axis=0)[:4], 0.0, atol=1e-12)
    np.testing.assert_allclose(Z.max(axis=0)[:4], 1.0, atol=1e-12)
    ranks = (np.argsort(np.argsort(X[:, [1, 3]], axis=0), axis=0) + 0.5) / 5000
    assert np.max(np.abs(Z[:, 4:] - ranks)) < 0.02


def test_a_constant_input_has_no_rank():
    X = np.column_stack([np.full(50, 3.0), np.exp(np.arange(50) / 5.0)])
    assert scaling_of(problem_of(X, np.zeros(50))).ranked == (1,)


def test_units_of_the_inputs_do_not_matter(problem):
    first = scaled(problem, scaling_of(problem)).X
    other = problem_of(problem.X * [1e3, 1e-6, 7.0] + [5.0, -1.0, 1e4], problem.y)
    np.testing.assert_allclose(scaled(other, scaling_of(other)).X, first, atol=1e-8)


def test_constant_inputs_and_rows_of_weight_zero_leave_the_scaling_alone(problem):
    X = np.column_stack([problem.X, np.full(240, 4.0)])
    weight = np.ones(240)
    weight[0], X[0, 0] = 0.0, 1e9
    scaling = scaling_of(problem_of(X, problem.y, weight))
    assert scaling.width[0] < 1.0
    assert scaling.width[3] == 1.0
    assert np.all(np.isfinite(scaling.inputs(X)))


def test_interpolation_is_numpys():
    rng = np.random.default_rng(4)
    knots, values = np.sort(rng.normal(size=9)), rng.normal(size=9)
    x = np.concatenate([rng.normal(0, 2, size=200), knots])
    np.testing.assert_allclose(interpolated(x, knots, values), np.interp(x, knots, values))
    np.testing.assert_array_equal(interpolated(x, knots[:1], values[:1]), values[0])


def test_targets_are_less_their_weighted_median_and_weights_are_kept(problem):
    y = np.column_stack([problem.y, 100.0 + problem.y])
    weight = np.where(problem.y[:, 0] > 1.0, 1.0, 0.0)  # the median of these rows alone
    half = problem_of(problem.X, y, weight)
    found = scaled(half, scaling_of(half))
    counted = np.sort(y[weight > 0], axis=0)
    middle = counted[(len(counted) + 1) // 2 - 1]
    np.testing.assert_allclose(found.y, y - middle, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found.weight, weight)


def test_an_input_far_outside_counts_a_tenth_of_the_range_beyond_it(problem):
    scaling = scaling_of(problem)
    low, high = problem.X.min(axis=0), problem.X.max(axis=0)
    far = np.stack([low - 1e6, high + 1e6, high + 0.05 * (high - low)])
    np.testing.assert_allclose(
        scaling.inputs(far)[:, :3], [[-0.1] * 3, [1.1] * 3, [1.05] * 3], rtol=1e-12
    )
