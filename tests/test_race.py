"""Ranking candidates by a sketch must not cost more than a stated fraction of the best score."""

import numpy as np
import pytest

from robustscn.growth import Problem, Recipe, empty, grow, step
from robustscn.nodes import Draw
from robustscn.rows import LocalRows, spread, taken
from robustscn.search import gains, pool_sums
from robustscn.sketch import FEWEST_SAMPLED, UNSAMPLED_ROWS, sketch_of

N_ROWS = 60_000


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N_ROWS, 5))
    y = np.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=N_ROWS)
    weight = rng.uniform(0.2, 1.0, size=N_ROWS)
    return X, y[:, None], weight


def raced(data, **recipe):
    X, y, weight = data
    rows = LocalRows(N_ROWS)
    problem = Problem(rows, X, y, weight, sketch_of(rows, X))
    return problem, Recipe(Draw(0, 5, (1.0, 5.0), 60), 15, **recipe)


def test_the_node_that_wins_the_race_is_nearly_the_best_and_admissible_on_all_rows(data):
    problem, recipe = raced(data)
    state = empty(problem, recipe)
    for n_nodes in range(15):
        new = step(problem, recipe, state)
        pool = recipe.draw.all_pools(problem.X, node=n_nodes)
        gain = gains(pool_sums(problem.rows, problem.X, state.fit.residuals, problem.weight, pool))
        won = np.flatnonzero(np.all(pool.weights == new.nodes.weights[:, -1:], axis=0))
        assert len(won) == 1
        assert gain[0, won[0]] >= 0.95 * gain.max()
        r = new.contraction
        bound = (1 - r - (1 - r) / (n_nodes + 2)) * state.energy[0]
        assert gain[0, won[0]] >= bound
        state = new


def test_a_sample_is_a_sample_and_grows_as_nodes_gain_less(data):
    problem, recipe = raced(data)
    sizes = [
        problem.sketch.columns(problem.rows, state.fit.residuals, problem.weight, state.share)[
            0
        ].n_rows
        for state in grow(problem, recipe)
    ]
    assert sizes[0] == FEWEST_SAMPLED
    assert max(sizes) > FEWEST_SAMPLED
    assert max(sizes) < N_ROWS


def test_few_rows_are_all_ranked_by():
    X = np.random.default_rng(1).uniform(size=(UNSAMPLED_ROWS, 1))
    sketch = sketch_of(LocalRows(UNSAMPLED_ROWS), X)
    assert sketch.numbers is None
    assert sketch.X.dtype == np.float32
    np.testing.assert_array_equal(sketch.X, X.astype(np.float32))


def test_the_race_loses_no_accuracy(data):
    problem, recipe = raced(data)
    *_, quick = grow(problem, recipe)
    unraced = Problem(problem.rows, problem.X, problem.y, problem.weight)
    *_, slow = grow(unraced, recipe)
    assert quick.energy[0] <= 1.02 * slow.energy[0]


def test_a_block_is_raced_too(data):
    problem, recipe = raced(data, block=5)
    *_, state = grow(problem, recipe)
    *_, single = grow(*raced(data))
    assert len(state.nodes) == 15
    assert state.energy[0] <= 1.5 * single.energy[0]


def test_spread_rows_are_those_of_the_sample_and_nested():
    numbers = spread(10_000, 500)
    assert len(np.unique(numbers)) == 500
    np.testing.assert_array_equal(spread(10_000, 100), numbers[:100])
    assert set(np.flatnonzero(taken(np.arange(10_000), 0.04))) <= set(numbers)
    assert np.bincount(numbers // 1000, minlength=10).min() > 35
    np.testing.assert_array_equal(np.sort(spread(50, 50)), np.arange(50))


def test_threads_change_no_bit(data):
    X, y, weight = data
    results = []
    for n_threads in (1, 2, 3):
        rows = LocalRows(N_ROWS, block_bytes=2**16, n_threads=n_threads)
        problem = Problem(rows, X, y, weight, sketch_of(rows, X))
        *_, state = grow(problem, Recipe(Draw(0, 5, (2.0,), 40), 8))
        results.append((state.fit.output_weights, state.fit.residuals))
    for weights, residuals in results[1:]:
        np.testing.assert_array_equal(weights, results[0][0])
        np.testing.assert_array_equal(residuals, results[0][1])
