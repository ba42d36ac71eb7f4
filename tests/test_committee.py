"""A committee judges rows without having seen them, and chooses by losses that count every row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import median_abs_deviation

from robustscn import RobustSCNRegressor
from robustscn.core.committee import (
    FIRST_TRUSTED_ROUND,
    FOLDS,
    Committee,
    batch_sizes,
    centred,
    disagreement,
    fold_of_rows,
    mean_sizes,
    narrowing,
    not_gross,
    twins_of,
)
from robustscn.core.growth import Recipe
from robustscn.core.inputs import interpolated, scaled, scaling_of
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.rows import LocalRows


def problem_of(X, y, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    return Problem(LocalRows(len(X)), X, y.reshape(len(X), -1), weight)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(240, 3))
    return problem_of(X, np.sin(5 * X[:, 0]) + X[:, 1])


def recipe(problem, **changes):
    n = problem.X.shape[1]
    draw = Draw(0, n, (0.3, 1.0, 3.0, 10.0), 10, centres=np.stack([np.zeros(n), np.ones(n)]))
    return replace(Recipe(draw, 20, block=5, exact=True, ridge=1e-6), **changes)


# -- folds ------------------------------------------------------------------------------------


def test_copies_of_a_row_share_a_fold_and_folds_are_balanced(problem):
    folds = fold_of_rows(problem, 0, 240)
    counts = np.bincount(folds.astype(int), minlength=FOLDS)
    assert counts.min() > 0.15 * len(folds)
    again = np.repeat(problem.X, 3, axis=0)
    np.testing.assert_array_equal(
        fold_of_rows(problem_of(again, np.zeros(len(again))), 0, 240), np.repeat(folds, 3)
    )


def test_the_order_of_the_rows_does_not_change_their_folds(problem):
    order = np.random.default_rng(1).permutation(240)
    folds = fold_of_rows(problem, 0, 240)
    moved = fold_of_rows(problem_of(problem.X[order], problem.y[order]), 0, 240)
    np.testing.assert_array_equal(moved, folds[order])


def test_inputs_with_two_values_are_not_cut_into_folds():
    X = np.tile([[0.0], [1.0]], (60, 1))
    assert np.all(fold_of_rows(problem_of(X, X[:, 0]), 0, len(X)) == -1)


def test_a_row_is_judged_only_by_networks_that_did_not_see_its_target(problem):
    row, found = 17, []
    fold = int(fold_of_rows(problem, 0, 240)[row])
    for target in (problem.y[row, 0], 50.0):
        y = problem.y.copy()
        y[row] = target
        changed = replace(problem, y=y)
        committee = Committee(changed, recipe(changed), {0: 4})
        committee.build(0, changed.weight)
        found.append(committee.layers[committee.kept_from.index(fold)].nodes.weights)
    np.testing.assert_array_equal(found[0], found[1])


# -- batches and rounds ------------------------------------------------------------------------


@pytest.mark.parametrize("n_networks", [1, 3, 4, 5, 16, 30])
@pytest.mark.parametrize("n_rounds", [1, 3, 4, 5, 10, 25])
def test_the_last_round_has_as_many_networks_as_asked_for(n_networks, n_rounds):
    due = batch_sizes(n_networks, n_rounds)
    assert all(0 <= number < n_rounds for number in due)
    assert due[0] >= 1
    kept = due if n_rounds <= FIRST_TRUSTED_ROUND else {r: n for r, n in due.items() if r}
    assert sum(kept.values()) == n_networks


@pytest.mark.parametrize("n_networks", [1, 3, 4, 5, 16, 30])
@pytest.mark.parametrize("n_rounds", [4, 10])
def test_where_a_second_look_follows_the_ensemble_grows_in_it(n_networks, n_rounds):
    due = batch_sizes(n_networks, n_rounds, 7)
    before = {number: count for number, count in due.items() if number < n_rounds}
    assert before == {0: min(FOLDS, n_networks), FIRST_TRUSTED_ROUND: min(FOLDS, n_networks)}
    assert sum(due.values()) - sum(before.values()) == n_networks
    assert due[n_rounds] >= 1
    # The last two rounds only solve: the ensemble is complete before the weights are final.
    assert max(due) <= n_rounds + 4


@pytest.mark.parametrize("room", [0, 2**21])
def test_values_kept_in_memory_change_nothing_but_rounding(problem, room, monkeypatch):
    whole = Committee(problem, recipe(problem), {0: 4})
    _, expected = whole.build(0, problem.weight)
    assert all(layer.columns is not None for layer in whole.layers)
    monkeypatch.setattr("robustscn.core.committee.KEPT_IN_MEMORY", room)
    committee = Committee(problem, recipe(problem), {0: 4})
    _, evidence = committee.build(0, problem.weight)
    assert all((layer.columns is None) == (room == 0) for layer in committee.layers)
    np.testing.assert_allclose(evidence, expected, atol=1e-8)


def test_networks_are_dismissed_where_a_new_start_is_due(problem):
    committee = Committee(problem, recipe(problem), {0: 4, 2: 3}, starts=(2,))
    counts = [len(committee.build(number, problem.weight)[0]) for number in range(4)]
    assert counts == [4, 4, 3, 3]
    assert [len(paths) for paths in committee.paths_by_round] == counts


def test_round_losses_are_the_literal_mean_absolute_residuals():
    rng = np.random.default_rng(2)
    weight = rng.uniform(0.5, 2.0, size=240)
    problem = problem_of(np.zeros((240, 1)), np.zeros((240, 2)), weight)
    sets = [rng.normal(size=(240, 2)), 3 * rng.standard_t(2, size=(240, 2))]
    for found, e in zip(mean_sizes(problem, sets), sets, strict=True):
        literal = sum(w * abs(value) for w, row in zip(weight, e, strict=True) for value in row)
        assert found == pytest.approx(literal / weight.sum() / 2)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 12])
def test_disagreement_is_half_the_median_absolute_deviation(count):
    rng = np.random.default_rng(count)
    columns = list(rng.standard_t(2, size=(count, 240, 2)))
    found = disagreement(problem_of(np.zeros((240, 1)), np.zeros((240, 2))), columns)
    literal = median_abs_deviation(np.stack(columns), axis=0, scale="normal")
    np.testing.assert_allclose(found, 0.5 * literal, rtol=1e-6)


def test_doubt_is_that_of_the_networks_of_the_last_build(problem):
    committee = Committee(problem, recipe(problem), {0: 4})
    networks, _ = committee.build(0, problem.weight)
    assert committee.doubt.shape == (240, 1)
    spread = np.std([network.output(problem.X) for network in networks], axis=0)
    # Left-out residuals differ by more than outputs do, and in the same places.
    assert np.corrcoef(np.log(committee.doubt[:, 0]), np.log(spread[:, 0]))[0, 1] > 0.5


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_the_ensemble_predicts_the_median_of_its_networks(count):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    Y = np.column_stack([np.sin(4 * X[:, 0]), X[:, 1]])
    model = RobustSCNRegressor(
        n_networks=count, max_nodes=10, n_rounds=2, n_candidates=5, random_state=0
    ).fit(X, Y)
    Z = model._scaling.inputs(X)
    outputs = [network.output(Z) + model._scaling.centre for network in model._networks]
    assert len(outputs) == count
    np.testing.assert_allclose(model.predict(X), np.median(outputs, axis=0) * model._scale)


def test_evidence_lies_around_zero_for_each_output():
    rng = np.random.default_rng(4)
    weight = rng.uniform(0.5, 2.0, size=240)
    e = np.column_stack([rng.exponential(size=240), 5.0 - rng.exponential(size=240)])
    found = centred(problem_of(np.zeros((240, 1)), np.zeros((240, 2)), weight), e)
    for q in range(2):
        np.testing.assert_allclose(found[:, q], e[:, q] - median(e[:, q], weight))


def median(values, weight):
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    return values[order][np.searchsorted(reached, 0.5 * reached[-1] * (1 - 1e-13))]


def test_rejecting_good_rows_shows_in_the_loss(problem):
    good = np.full((240, 1), 0.1)
    good[::2] *= -1
    rejecting = 0.9 * good
    rejecting[:40] = 2.0
    fair, unfair = mean_sizes(problem, [good, rejecting])
    assert fair < unfair


def test_rows_of_equal_inputs_are_twins_and_count_once():
    X = np.array([[0.1, 0.2], [0.1, 0.2 + 1e-9], [0.1, 0.3], [0.4, 0.2], [0.4, 0.2]])
    twins, count = twins_of(problem_of(X, np.zeros(5), np.array([3.0, 1.0, 0.2, 0.0, 0.0])))
    assert count == 2  # the last two have no weight
    assert twins.count == 3
    group = twins.group
    assert group[0] == group[1]
    assert group[3] == group[4]
    assert len(set(group)) == 3
    assert twins_of(problem_of(X[[0, 2, 3]], np.zeros(3))) == (None, 3)


# -- the first weights and the narrowing scale ---------------------------------------------------


def test_gross_targets_are_set_aside_and_peaks_are_not():
    y = np.zeros(200)
    y[:20] = np.linspace(0.1, 0.6, 20)
    y[100] = 1e6
    weight = not_gross(problem_of(np.zeros((200, 1)), y))
    assert weight[100] == 0
    assert weight.sum() == 199


def test_the_scale_starts_at_a_third_of_the_largest_residual_and_halves(problem):
    y = problem.y.copy()
    y[0] = 1e9  # gross: does not count
    least = narrowing(replace(problem, y=y))
    e = np.linspace(-0.5, 0.9, 240)[:, None]
    e[0] = 1e9
    assert least(0, e)[0] == pytest.approx(0.3)
    assert least(3, 0.0 * e)[0] == pytest.approx(0.3 / 8)


# -- scaling ----------------------------------------------------------------------------------


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
