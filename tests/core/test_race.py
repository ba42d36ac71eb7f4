"""Ranking candidates by a sketch must not cost more than a stated fraction of the best score."""

import numpy as np
import pytest

from robustscn.core.growth import empty, grow, step
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.recipe import Recipe
from robustscn.core.rows import LocalRows, spread, taken
from robustscn.core.search import gains, pool_sums
from robustscn.core.sketch import FEWEST_SAMPLED, UNSAMPLED_ROWS, sketch_of

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


@pytest.mark.parametrize("exact", [False, True])
def test_every_node_of_a_raced_block_is_admissible_on_all_rows_at_its_turn(data, exact):
    problem, recipe = raced(data, block=5, exact=exact)
    X, y, weight = data
    root = np.sqrt(weight)[:, None]
    state, n_steps = empty(problem, recipe), 0
    while len(state.nodes) < 15:
        before, state = state, step(problem, recipe, state)
        n_steps += 1
        hidden = state.nodes.hidden(X) * root
        for k in range(len(before.nodes), len(state.nodes)):
            basis = np.linalg.qr(hidden[:, :k])[0]
            error = y * root - basis @ (basis.T @ (y * root))
            h = hidden[:, k : k + 1]
            rest = h - basis @ (basis.T @ h) if exact else h
            r = state.contraction
            bound = (1 - r - (1 - r) / (k + 2)) * np.sum(error**2)
            assert np.sum(error * h) ** 2 / np.sum(rest**2) >= (1 - 1e-6) * bound
    assert n_steps <= 5


def test_a_raced_block_does_nearly_as_well_as_one_chosen_by_all_rows(data):
    problem, recipe = raced(data, block=5, exact=True)
    *_, quick = grow(problem, recipe)
    *_, slow = grow(Problem(problem.rows, problem.X, problem.y, problem.weight), recipe)
    assert quick.energy[0] <= 1.25 * slow.energy[0]


def test_what_a_block_is_known_to_overlap_need_not_be_read_again(data):
    problem, recipe = raced(data, block=5)
    readings = []

    class Counted(LocalRows):
        def reduce(self, fn, *columns, **options):
            if self.n_rows == N_ROWS:
                readings.append(fn.__name__)
            return super().reduce(fn, *columns, **options)

    counted = Problem(Counted(N_ROWS), problem.X, problem.y, problem.weight, problem.sketch)
    *_, state = grow(counted, recipe)
    assert len(state.nodes) == 15
    assert 3 <= readings.count("sums") <= 5
    assert "overlap" not in readings


def test_a_block_that_float32_cannot_tell_apart_is_cut_short():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(UNSAMPLED_ROWS + 1, 1)).astype(np.float32)
    y = np.sin(4 * X)
    rows = LocalRows(len(X))
    problem = Problem(rows, X, y, np.ones_like(X[:, 0]), sketch_of(rows, X))
    recipe = Recipe(Draw(0, 1, (5.0,), 40), 30, block=10, exact=True)
    *_, state = grow(problem, recipe)
    assert len(state.nodes) >= 4
    assert state.energy[0] < 1e-3 * problem.energy(y)[0]


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
        for block in (1, 4):
            *_, state = grow(problem, Recipe(Draw(0, 5, (2.0,), 40), 8, block=block))
            results.append((state.fit.output_weights, state.fit.residuals))
    for number, (weights, residuals) in enumerate(results):
        np.testing.assert_array_equal(weights, results[number % 2][0])
        np.testing.assert_array_equal(residuals, results[number % 2][1])
