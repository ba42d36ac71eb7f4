"""Where candidates come from: what is drawn, and what the search learns from chosen nodes."""

import numpy as np
import pytest

from robustscn import SCNRegressor
from robustscn.core.growth import grow
from robustscn.core.nodes import Nodes
from robustscn.core.problem import Problem
from robustscn.core.proposals import (
    EXPLORED,
    FORGOTTEN,
    REMEMBERED,
    Draw,
    Experience,
    flat,
    looked_at,
)
from robustscn.core.recipe import Recipe
from robustscn.core.rows import LocalRows

X = np.random.default_rng(0).normal(size=(15, 3))
UNIT_BOX = np.stack([np.zeros(4), np.ones(4)])


def test_a_draw_depends_on_seed_round_node_and_scope_only():
    draw = Draw(3, 2, (0.5, 50.0), 10)
    first = draw.pool(1, X, node=4, round=2)
    again = draw.pool(1, np.zeros((1000, 2)), node=4, round=2)
    np.testing.assert_array_equal(first.weights, again.weights)
    np.testing.assert_array_equal(first.biases, again.biases)
    others = [
        (0.5, draw.pool(0, X, node=4, round=2)),
        (50.0, draw.pool(1, X, node=5, round=2)),
        (50.0, draw.pool(1, X, node=4, round=3)),
        (50.0, Draw(4, 2, (0.5, 50.0), 10).pool(1, X, node=4, round=2)),
    ]
    for scope, other in others:
        assert np.min(np.abs(first.weights / 50.0 - other.weights / scope)) > 1e-6


def test_all_pools_are_the_pools_of_the_scopes_side_by_side():
    box = np.array([[0.0, -1.0], [1.0, 1.0]])
    for centres, sparse in ((None, False), (box, False), (None, True), (box, True)):
        draw = Draw(3, 2, (0.5, 4.0, 50.0), 10, centres=centres, sparse=sparse)
        together = draw.all_pools(X, node=4, round=2)
        apart = [draw.pool(scope, X, node=4, round=2) for scope in range(3)]
        np.testing.assert_array_equal(together.weights, np.hstack([pool.weights for pool in apart]))
        np.testing.assert_array_equal(
            together.biases, np.concatenate([pool.biases for pool in apart])
        )


def test_draws_fill_their_scope():
    for scope, width in enumerate((0.5, 50.0)):
        pool = Draw(0, 3, (0.5, 50.0), 2000).pool(scope, X)
        assert len(pool) == 2000
        for drawn in (*pool.weights, pool.biases):
            assert np.max(np.abs(drawn)) <= width
            # Uniform on [-width, width]: mean 0, variance width^2 / 3.
            assert abs(np.mean(drawn)) < 0.05 * width
            assert np.var(drawn) == pytest.approx(width**2 / 3, rel=0.1)


def test_centred_draws_are_steepest_inside_the_box():
    low, high = np.array([2.0, -1.0]), np.array([3.0, 4.0])
    pool = Draw(0, 2, (5.0,), 500, centres=np.stack([low, high])).pool(0, X)
    # A node's steep line meets the box where its argument takes both signs on the corners.
    corners = np.array([[a, b] for a in (low[0], high[0]) for b in (low[1], high[1])])
    arguments = corners @ pool.weights + pool.biases
    assert np.all(arguments.min(axis=0) <= 0)
    assert np.all(arguments.max(axis=0) >= 0)
    assert np.max(np.abs(pool.weights)) <= 5.0


def test_sparse_draws_share_their_scope_among_few_inputs():
    box = np.stack([np.zeros(16), np.ones(16)])
    pool = Draw(0, 16, (5.0,), 20_000, centres=box, sparse=True).pool(0, np.zeros((1, 16)))
    used = pool.weights != 0
    count = used.sum(axis=0)
    assert count.min() == 1
    assert count.max() == 16
    # A count of k is floor(u) for log-uniform u on [1, 17): it has the mass of [k, k + 1).
    for k in range(1, 17):
        assert np.mean(count == k) == pytest.approx(np.log((k + 1) / k) / np.log(17), abs=0.01)
    np.testing.assert_allclose(used.mean(axis=1), count.mean() / 16, rtol=0.05)  # inputs alike
    assert np.all(np.abs(pool.weights) <= 5.0 / count)
    alone = pool.weights[used & (count == 1)]
    assert np.var(alone) == pytest.approx(25 / 3, rel=0.05)
    # The steepest point is inside the box, whatever inputs are looked at.
    highest = np.sum(np.maximum(pool.weights, 0.0), axis=0) + pool.biases
    lowest = np.sum(np.minimum(pool.weights, 0.0), axis=0) + pool.biases
    assert np.all(lowest <= 0)
    assert np.all(highest >= 0)


CORNER = Nodes(
    np.array([[2.0, 0.0, 0.0], [-6.0, 0.0, 9.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]]),
    np.array([1.0, -2.0, -3.0]),
    factors=((1,),),
)
"""A unit of the first two inputs, and the product of one of the third and one of the second."""


@pytest.mark.parametrize("activation", ["logistic", "tanh", "relu"])
def test_flat_nodes_are_lines_in_their_inputs(activation):
    x = np.random.default_rng(0).uniform(-0.1, 1.1, size=(300, 4))
    hidden = flat(3, 4, activation).hidden(x)
    for k in range(3):
        line = np.column_stack([x[:, k], np.ones(300)])
        residuals = hidden[:, k] - line @ np.linalg.lstsq(line, hidden[:, k], rcond=None)[0]
        assert np.std(residuals) < 0.01 * np.std(hidden[:, k])
    np.testing.assert_array_equal(hidden[:, 3], hidden[0, 3])
    assert hidden[0, 3] > 0.5


def test_gains_are_shared_out_by_units_and_weights():
    np.testing.assert_allclose(looked_at(CORNER).T, [[0.25, 0.75, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]])


def test_experience_forgets_a_little_with_each_node():
    before = Experience(np.array([1.0, 0.0, 0.0, 1.0]))
    after = before.learned(CORNER, np.array([0.4, 0.1]))
    kept = 1.0 - FORGOTTEN
    one = np.array([0.25, 0.75, 0.0, 0.0]) * 0.4
    other = np.array([0.0, 0.5, 0.5, 0.0]) * 0.1
    np.testing.assert_allclose(after.gains, kept * (kept * before.gains + one) + other)
    assert len(after.chosen) == 2
    many = after
    for _ in range(REMEMBERED):
        many = many.learned(CORNER, np.array([0.4, 0.1]))
    assert len(many.chosen) == REMEMBERED


def test_every_input_stays_possible_and_those_that_gained_are_likely():
    shares = Experience(np.array([3.0, 1.0, 0.0, 0.0])).probabilities()
    np.testing.assert_allclose(
        shares, EXPLORED / 4 + (1 - EXPLORED) * np.array([0.75, 0.25, 0.0, 0.0]), atol=1e-3
    )
    np.testing.assert_allclose(Experience(np.zeros(4)).probabilities(), 0.25)
    told = np.array([0.0, 0.0, 0.0, 2.0])
    only_told = Experience(np.zeros(4), told=told).probabilities()
    np.testing.assert_allclose(only_told, [0.05, 0.05, 0.05, 0.85])
    both = Experience(np.array([3.0, 1.0, 0.0, 0.0]), told=told).probabilities()
    np.testing.assert_allclose(both, [0.35, 0.15, 0.05, 0.45])
    # The last bits of gains, in which machines differ, do not reach the draw.
    nearly = Experience(np.array([3.0, 1.0, 0.0, 1e-13])).probabilities()
    np.testing.assert_array_equal(shares, nearly)


def test_inputs_are_drawn_by_what_they_gained():
    draw = Draw(0, 4, (5.0,), 20_000, centres=UNIT_BOX, sparse=True)
    experience = Experience(np.array([8.0, 1.0, 1.0, 0.0]))
    pool = draw.all_pools(np.zeros((1, 4)), experience=experience)
    used = pool.weights != 0
    alone = used[:, used.sum(axis=0) == 1]
    np.testing.assert_allclose(alone.mean(axis=1), experience.probabilities(), atol=0.02)


def test_a_blind_pool_is_the_literal_one():
    draw = Draw(0, 4, (5.0,), 50, centres=UNIT_BOX, sparse=True)
    blind, unlearned = draw.all_pools(X), draw.all_pools(X, experience=Experience(np.zeros(4)))
    np.testing.assert_array_equal(blind.weights, unlearned.weights)


def test_boxes_have_steep_edges_inside_the_data():
    draw = Draw(0, 4, (1.0, 300.0), 10_000, centres=UNIT_BOX, sparse=True, boxes=True)
    pool = draw.all_pools(np.zeros((1, 4)))
    assert len(pool) == 20_000
    of_units = np.r_[np.arange(len(pool)), *(np.array(m) for m in pool.factors)]
    # Nodes of several units are boxes, and stand last; a third as many of one unit before them.
    n_boxes = len(pool.factors[0]) * 3 // 2
    assert n_boxes == pytest.approx(10_000, rel=0.03)
    plain = len(pool) - len(pool.factors[0])
    boxes = of_units >= plain
    weights, biases = pool.weights[:, boxes], pool.biases[boxes]
    assert np.all((weights != 0).sum(axis=0) == 1)
    steep = np.abs(weights).sum(axis=0)
    assert 10.0 <= steep.min() < 11.0
    assert 290.0 < steep.max() <= 300.0
    place = -biases / weights.sum(axis=0)
    assert np.all((place >= 0) & (place <= 1))
    assert place.mean() == pytest.approx(0.5, abs=0.01)
    counts = np.bincount(of_units[boxes])[plain:]
    for edges in (2, 3):
        assert np.mean(counts == edges) == pytest.approx(1 / 2, abs=0.02)


def test_variations_keep_inputs_and_move_places():
    draw = Draw(0, 4, (5.0,), 10_000, centres=UNIT_BOX, sparse=True)
    experience = Experience(np.ones(4)).learned(CORNER, np.array([0.5, 0.5]))
    pool = draw.all_pools(X, experience=experience)
    products = np.array(pool.factors[0])
    assert len(products) == pytest.approx(2_000, abs=200)
    single = pool.weights[:, : products[0]]
    # Fresh candidates come first, variations of the single unit after them.
    weights = single[:, 6_000:]
    np.testing.assert_array_equal(weights != 0, np.tile([[1], [1], [0], [0]], weights.shape[1]))
    # Each weight is multiplied by a log-normal of its own; signs stay.
    ratios = np.log(weights[:2] / [[2.0], [-6.0]])
    assert np.std(ratios) == pytest.approx(0.5, abs=0.02)
    assert abs(np.corrcoef(ratios)[0, 1]) < 0.05
    # Of a product, about half of the units stay as they were.
    second = pool.weights[1, len(pool) :]
    assert np.mean(second == 9.0) == pytest.approx(0.5, abs=0.04)


def test_the_search_finds_the_few_inputs_that_matter():
    # A product of two of thirty inputs: a blind draw hardly ever looks at both alone.
    rng = np.random.default_rng(5)
    x = rng.uniform(size=(600, 30))
    y = 4.0 * (x[:, [3]] - 0.5) * (x[:, [17]] - 0.5)
    problem = Problem(LocalRows(600), x, y, np.ones(600))
    box = np.stack([np.zeros(30), np.ones(30)])
    draw = Draw(1, 30, (1.0, 10.0), 30, centres=box, sparse=True)
    recipe = Recipe(draw, 60, block=5, exact=True, ridge=1e-6)
    learning = Recipe(
        draw, 60, block=5, exact=True, ridge=1e-6, experience=Experience(np.zeros(30))
    )
    *_, blind = grow(problem, recipe)
    *_, learned = grow(problem, learning)
    assert learned.energy.sum() < 0.25 * blind.energy.sum()
    shares = learned.experience.gains / learned.experience.gains.sum()
    assert set(np.argsort(shares)[-2:]) == {3, 17}


@pytest.mark.parametrize("solve", ["all", "window", "newest"])
def test_what_nodes_teach_is_the_share_of_the_error_they_removed(solve):
    rng = np.random.default_rng(6)
    x = rng.uniform(size=(80, 2))
    y = np.sin(5 * x[:, :1])
    problem = Problem(LocalRows(80), x, y, np.ones(80))
    recipe = Recipe(Draw(0, 2, (5.0,), 20), 3, solve=solve, experience=Experience(np.zeros(2)))
    left, gains = np.sum(y * y), np.zeros(2)
    for number, state in enumerate(grow(problem, recipe)):
        error = float(np.sum((y - state.nodes.hidden(x) @ state.fit.output_weights) ** 2))
        newest = state.nodes.take([number])
        gains = (1 - FORGOTTEN) * gains + (1 - error / left) * looked_at(newest)[:, 0]
        np.testing.assert_allclose(state.experience.gains, gains, rtol=1e-8)
        left = error


def test_a_learning_search_helps_the_papers_networks_too():
    rng = np.random.default_rng(8)
    x = rng.uniform(size=(400, 25))
    y = np.sin(6 * x[:, 4]) * (x[:, 11] > 0.3)
    errors = [
        SCNRegressor(40, scopes=(1.0, 5.0, 25.0), proposals=proposals, random_state=0)
        .fit(x, y)
        .error_path_[-1]
        for proposals in ("random", "adaptive")
    ]
    assert errors[1] < 0.7 * errors[0]
