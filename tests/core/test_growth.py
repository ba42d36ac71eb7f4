"""Growing: node by node against the reference, every reason to stop, branches."""

from dataclasses import replace

import numpy as np
import pytest

import reference
from robustscn.core.growth import empty, grow, opened, step
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw, flat
from robustscn.core.recipe import CONTRACTIONS, Recipe, Stop
from robustscn.core.rows import LocalRows
from small import identical, pools, problem, recipe


def outputs(state, X):
    return state.nodes.hidden(X) @ state.fit.output_weights


# --- against the reference ------------------------------------------------------------------


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize(
    ("algorithm", "solve"), [("SC-I", "newest"), ("SC-II", "window"), ("SC-III", "all")]
)
def test_growth_equals_the_reference_node_by_node(algorithm, solve, n_outputs, pooled):
    rows = problem(n_outputs=n_outputs)
    how = recipe(solve=solve, window=3, pooled=pooled)
    literal = list(
        reference.grown(
            rows.X,
            rows.y,
            rows.weight,
            pools(how),
            CONTRACTIONS,
            8,
            algorithm=algorithm,
            window=3,
            pooled=pooled,
        )
    )
    states = list(grow(rows, how))
    assert len(literal) == 8
    assert [len(state.nodes) for state in states] == list(range(1, 9))
    for state, expected in zip(states, literal, strict=True):
        np.testing.assert_array_equal(state.nodes.weights, expected.w)
        np.testing.assert_array_equal(state.nodes.biases, expected.b)
        assert state.contraction == expected.r
        np.testing.assert_allclose(state.fit.output_weights, expected.beta, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(state.fit.residuals, expected.residuals, atol=1e-9)
        np.testing.assert_allclose(
            state.energy, np.sum(rows.weight[:, None] * expected.residuals**2, axis=0), rtol=1e-9
        )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"exact": True},
        {"block": 3},
        {"block": 3, "exact": True},
        {"solve": "window", "window": 2},
        {"solve": "newest"},
    ],
)
def test_the_weighted_error_never_rises(options):
    rows = problem(n_rows=120, n_outputs=2)
    errors = [state.energy for state in grow(rows, recipe(40, **options))]
    assert len(errors) > 10
    # Each output's own error falls by what the inequality asks for, not only their sum.
    assert np.all(np.diff(np.array(errors), axis=0) <= 0)
    assert errors[-1].sum() < 0.5 * errors[0].sum()


def test_with_a_ridge_the_penalised_error_never_rises():
    rows = problem(n_rows=120)
    penalised = []
    for state in grow(rows, recipe(40, ridge=1e-3)):
        ridge = 1e-3 * rows.weight.sum()
        assert state.fit.ridge == pytest.approx(ridge, rel=1e-12)
        penalised.append(state.energy.sum() + ridge * np.sum(state.fit.output_weights**2))
    assert len(penalised) > 10
    assert np.all(np.diff(penalised) <= 1e-12 * penalised[0])


def test_each_step_falls_by_at_least_what_the_inequality_asks_for():
    rows = problem(n_outputs=2)
    before = np.sum(rows.weight[:, None] * rows.y**2, axis=0)
    for L, state in enumerate(grow(rows, recipe(12)), start=1):
        share = (1 - state.contraction) * (1 - 1 / (L + 1))
        assert np.all(state.energy <= (1 - share) * before * (1 + 1e-12))
        before = state.energy


def test_predictions_on_the_training_rows_are_targets_less_residuals():
    rows = problem(n_rows=120, n_outputs=2)
    for options in ({}, {"solve": "newest"}, {"solve": "window"}, {"block": 4}, {"ridge": 1e-4}):
        *_, last = grow(rows, recipe(30, **options))
        np.testing.assert_allclose(
            outputs(last, rows.X), rows.y - last.fit.residuals, rtol=1e-9, atol=1e-9
        )


def test_the_exact_rule_keeps_output_weights_that_give_its_residuals():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 1))
    y = np.sin(5 * X) + 0.1 * rng.normal(size=X.shape)
    rows = Problem(LocalRows(400), X, y, rng.uniform(0.1, 2, 400))
    *_, last = grow(rows, Recipe(Draw(0, 1, (0.5, 1.0, 3.0), 50), 60, exact=True, pooled=False))
    np.testing.assert_allclose(outputs(last, X), y - last.fit.residuals, atol=1e-6)


# --- blocks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [False, True])
def test_a_block_of_nodes_satisfies_the_inequality_node_by_node(exact):
    rows = problem(n_rows=120)
    # One lenient contraction: a demanding one admits the first node alone.
    how = recipe(max_nodes=10, block=4, exact=exact, contractions=(0.9999,))
    sizes = []
    L, before = 1, np.zeros((120, 0))
    for state in grow(rows, how):
        sizes.append(len(state.nodes))
        H = state.nodes.hidden(rows.X)
        for k in range(before.shape[1], H.shape[1]):
            e = rows.y - H[:, :k] @ reference.weighted_pinv(H[:, :k], rows.y, rows.weight)
            after = rows.y - H[:, : k + 1] @ reference.weighted_pinv(
                H[:, : k + 1], rows.y, rows.weight
            )
            energy = [np.sum(rows.weight[:, None] * r**2) for r in (e, after)]
            share = (1 - state.contraction) * (1 - 1 / (L + 1))
            assert energy[1] <= (1 - share) * energy[0] * (1 + 1e-9)
            if not exact:
                assert reference.xi(e, H[:, k], rows.weight, state.contraction, L)[0] >= -1e-12
            L += 1
        before = H
    assert sizes[-1] == 10  # the last block is cut to what there is room for
    assert sizes[0] == 4


def test_a_block_without_useful_candidates_ends_the_growth():
    X = np.linspace(0, 1, 300)[:, None]
    rows = Problem(LocalRows(300), X, np.sin(20 * X), np.ones(300))
    *_, last = grow(rows, Recipe(Draw(0, 1, (0.5,), 50), 40, exact=True, block=4))
    assert last.stop in (Stop.NO_CANDIDATE, Stop.DEPENDENT)
    assert 0 < len(last.nodes) < 40


# --- going on -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"exact": True}, {"ridge": 1e-4}, {"solve": "newest"}, {"solve": "window"}]
)
def test_continuing_to_more_nodes_is_growing_to_them_at_once(options):
    rows = problem()
    *_, at_once = grow(rows, recipe(12, **options))
    *_, shorter = grow(rows, recipe(5, **options))
    assert shorter.stop is Stop.MAX_NODES
    *_, longer = grow(rows, recipe(12, **options), shorter)
    assert len(longer.nodes) == 12
    identical(longer, at_once)


def test_continuing_by_whole_blocks_is_growing_at_once():
    rows = problem(n_rows=120)
    how = {"block": 3, "contractions": (0.9999,)}
    *_, at_once = grow(rows, recipe(12, **how))
    *_, shorter = grow(rows, recipe(6, **how))
    *_, longer = grow(rows, recipe(12, **how), shorter)
    assert len(shorter.nodes) == 6
    identical(longer, at_once)


def test_an_older_state_can_be_continued_without_harm_to_newer_ones():
    rows = problem()
    states = list(grow(rows, recipe(10)))
    basis = states[-1].fit.basis.block(0, 50).copy()
    elsewhere = list(grow(rows, recipe(10, seed=77), states[3]))
    assert elsewhere[0].nodes.biases[4] != states[4].nodes.biases[4]
    np.testing.assert_array_equal(states[-1].fit.basis.block(0, 50), basis)
    # Each of the old states still goes on as before, and so does the branch.
    for k in (3, 6, 9):
        again = list(grow(rows, recipe(10), states[k]))[-1] if k < 9 else states[9]
        identical(again, states[-1])
    H = elsewhere[-1].nodes.hidden(rows.X)
    np.testing.assert_allclose(
        elsewhere[-1].fit.residuals,
        rows.y - H @ reference.weighted_pinv(H, rows.y, rows.weight),
        atol=1e-9,
    )


def test_the_partition_of_the_rows_does_not_change_the_nodes():
    *_, whole = grow(problem(), recipe(10))
    *_, parts = grow(problem(block_bytes=8), recipe(10))
    np.testing.assert_array_equal(parts.nodes.weights, whole.nodes.weights)
    np.testing.assert_allclose(parts.fit.residuals, whole.fit.residuals, atol=1e-10)


def test_each_round_has_its_own_draws():
    rows = problem()
    first, second = (next(iter(grow(rows, recipe(round=k)))) for k in (0, 1))
    assert first.nodes.biases[0] != second.nodes.biases[0]


# --- reasons to stop ------------------------------------------------------------------------


def test_stops_at_max_nodes():
    rows = problem()
    *others, last = grow(rows, recipe(4))
    assert len(last.nodes) == 4
    assert last.stop is Stop.MAX_NODES
    assert all(state.stop is None for state in others)
    assert step(rows, recipe(4), replace(last, stop=None)).stop is Stop.MAX_NODES


def test_stops_at_the_tolerance():
    rows = problem()
    *others, last = grow(rows, recipe(50, tolerance=0.2))
    assert last.stop is Stop.TOLERANCE
    goal = 0.2**2 * np.sum(rows.weight[:, None] * rows.y**2)
    assert last.energy.sum() <= goal
    assert others[-2].energy.sum() > goal
    assert last.nodes is others[-1].nodes  # the last one only says why


def test_targets_of_zero_need_no_nodes():
    rows = replace(problem(), y=np.zeros((50, 2)))
    (only,) = grow(rows, recipe())
    assert only.stop is Stop.TOLERANCE
    assert len(only.nodes) == 0
    np.testing.assert_array_equal(only.fit.residuals, rows.y)


def test_stops_when_no_candidate_is_admissible():
    rows = problem()
    *_, last = grow(rows, recipe(50, contractions=(0.3,)))
    assert last.stop is Stop.NO_CANDIDATE
    assert 0 < len(last.nodes) < 50
    # Another list of contractions lets the same network go on.
    *_, longer = grow(rows, recipe(50), last)
    assert len(longer.nodes) > len(last.nodes)


def test_stops_when_the_targets_are_met_to_rounding():
    rows = problem(n_rows=12)
    *_, last = grow(rows, recipe(60, n_candidates=60))
    assert last.stop in (Stop.TOLERANCE, Stop.DEPENDENT, Stop.NO_CANDIDATE)
    assert len(last.nodes) <= 12
    assert np.max(np.abs(last.fit.residuals[rows.weight > 0])) < 1e-10


def test_stops_when_new_nodes_are_dependent():
    # Two distinct inputs: two nodes span all there is. The residual that a third might lower
    # is forged, since an honest one is orthogonal to the span.
    rng = np.random.default_rng(5)
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    rows = Problem(LocalRows(20), X, rng.normal(size=(20, 1)), np.ones(20))
    *_, two = grow(rows, recipe(2))
    assert len(two.nodes) == 2
    forged = replace(
        two, stop=None, fit=replace(two.fit, residuals=rows.y + 1.0), energy=np.array([20.0])
    )
    refused = step(rows, recipe(5), forged)
    assert refused.stop is Stop.DEPENDENT
    assert len(refused.nodes) == 2


def test_the_empty_network_predicts_zero():
    rows = problem(n_outputs=2)
    state = empty(rows, recipe())
    assert len(state.nodes) == 0
    assert state.stop is None
    np.testing.assert_array_equal(outputs(state, rows.X), np.zeros((50, 2)))
    np.testing.assert_array_equal(state.fit.residuals, rows.y)
    np.testing.assert_allclose(state.energy, rows.energy(rows.y), rtol=1e-15)


# --- what a network begins with -------------------------------------------------------------


def linear(dependent=False):
    """Inputs in [0, 1], and a target that is linear in them without noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 5))
    if dependent:
        X[:, 4] = X[:, 1]
    weight = rng.uniform(0.5, 2.0, size=200)
    y = X @ np.array([[1.0], [-2.0], [0.5], [0.0], [3.0]])
    return Problem(LocalRows(200), X, y - np.average(y, axis=0, weights=weight), weight)


BEGUN = Recipe(Draw(0, 5, (1.0, 3.0), 20), 30, ridge=1e-9, opening=flat(5, 5, "logistic"))


def test_a_network_that_begins_with_lines_meets_what_is_linear():
    rows = linear()
    state = opened(rows, BEGUN)
    assert len(state.nodes) == 6  # and a constant
    # A constant and lines are met, but for what bends them.
    assert state.energy.sum() < 1e-4 * rows.energy(rows.y).sum()
    H = state.nodes.hidden(rows.X)
    literal = reference.ridge_weights(H, rows.y, rows.weight, 1e-9 * rows.weight.sum())
    np.testing.assert_allclose(state.fit.residuals, rows.y - H @ literal, atol=1e-7)


def test_lines_that_depend_on_each_other_are_left_out_one_by_one():
    rows = linear(dependent=True)
    state = opened(rows, replace(BEGUN, ridge=0.0))
    np.testing.assert_array_equal(np.flatnonzero(state.nodes.weights.any(axis=1)), [0, 1, 2, 3])
    assert state.energy.sum() < 1e-4 * rows.energy(rows.y).sum()


def test_nodes_that_are_drawn_join_those_it_begins_with():
    rows = linear()
    rows = replace(rows, y=rows.y + np.sin(9 * rows.X[:, :1]))
    first, *_, last = grow(rows, BEGUN)
    assert (len(first.nodes), len(last.nodes)) == (7, 30)
    np.testing.assert_array_equal(last.nodes.weights[:, :6], BEGUN.opening.weights)
    *_, again = grow(rows, BEGUN, opened(rows, BEGUN))
    identical(again, last)
