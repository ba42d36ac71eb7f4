"""Rows that were rejected together are looked at again; rows rejected here and there are not."""

from dataclasses import replace

import numpy as np
import pytest
from robustscn.core.rounds import Round
from robustscn.core.second_look import NARROWING, ROUNDS, second_look

from robustscn import RobustSCNRegressor
from robustscn.core.committee import Committee
from robustscn.core.growth import Recipe
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.rows import LocalRows
from robustscn.core.weighting import GemanMcClure
from robustscn.datasets import contaminate, make_function

N = 600


@pytest.fixture(scope="module")
def committee():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, 1))
    problem = Problem(LocalRows(N), X, np.sin(5 * X), np.ones(N))
    draw = Draw(0, 1, (1.0, 10.0, 100.0), 20, centres=np.array([[0.0], [1.0]]))
    made = Committee(problem, Recipe(draw, 40, block=5, exact=True, ridge=1e-6), {0: 4})
    made.build(0, problem.weight)
    return made


def round_of(rejected, size=0.3):
    """Return a round that rejects the given rows, which have residuals of the given size."""
    weight = np.where(rejected, 0.0, 1.0)
    evidence = np.where(rejected, size, 0.001)[:, None]
    return Round((), weight, weight, evidence, evidence, np.array([0.001]))


def test_a_region_of_rejected_rows_is_suspected_and_scattered_ones_are_not(committee):
    x = committee.problem.X[:, 0]
    rng = np.random.default_rng(1)
    inside = np.abs(x - 0.6) < 0.04
    rejected = (rng.uniform(size=N) < 0.2) | (inside & (rng.uniform(size=N) < 0.9))
    found = second_look(committee, round_of(rejected)).suspicion
    assert found.min() >= 0
    assert found.max() <= 1
    assert np.mean(found[np.abs(x - 0.6) < 0.03]) > 0.5
    assert np.mean(found[np.abs(x - 0.6) > 0.08]) < 0.1


def test_a_row_is_not_suspected_for_its_own_rejection(committee):
    rejected = np.zeros(N, bool)
    rejected[100] = True
    assert second_look(committee, round_of(rejected)).suspicion[100] < 0.2


def test_the_size_is_the_literal_root_mean_square_by_suspicion(committee):
    x, rng = committee.problem.X[:, 0], np.random.default_rng(2)
    weight = rng.uniform(0, 2, size=N)
    weight[::7] = 0.0
    y = np.column_stack([np.sin(5 * x), np.cos(5 * x)])
    y[3] = 1e9  # gross: counts for nothing
    problem = replace(committee.problem, y=y, weight=weight)
    last = round_of(np.abs(x - 0.6) < 0.05)
    evidence = last.evidence * rng.uniform(0.5, 2, size=(N, 2))
    evidence[3] = 1e9
    look = second_look(replace(committee, problem=problem), replace(last, evidence=evidence))
    counted = look.suspicion * weight * (np.arange(N) != 3)
    literal = np.sqrt(counted @ np.where(evidence == 1e9, 0, evidence) ** 2 / counted.sum())
    assert literal[0] != pytest.approx(literal[1], rel=1e-3)
    np.testing.assert_allclose(look.size, literal)


def test_the_share_rejected_elsewhere_is_weighted(committee):
    # All rejected rows count nothing: among the others nobody is suspected.
    x = committee.problem.X[:, 0]
    inside = np.abs(x - 0.6) < 0.05
    problem = replace(committee.problem, weight=np.where(inside, 0.0, 1.0))
    look = second_look(replace(committee, problem=problem), round_of(inside))
    np.testing.assert_allclose(look.suspicion[~inside], 0.0, atol=1e-6)


def test_doubt_is_the_larger_of_disagreement_and_suspicion_and_narrows(committee):
    look = second_look(committee, round_of(np.abs(committee.problem.X[:, 0] - 0.6) < 0.05))
    for step in range(ROUNDS + 1):
        literal = look.suspicion[:, None] * look.size * NARROWING**step
        np.testing.assert_allclose(look.doubt(step), np.maximum(committee.doubt, literal))


def test_the_second_look_begins_by_believing_what_lies_together(committee):
    x = committee.problem.X[:, 0]
    together = np.abs(x - 0.6) < 0.04
    apart = np.zeros(N, bool)
    apart[np.flatnonzero(np.abs(x - 0.6) > 0.2)[::25]] = True
    weight = second_look(committee, round_of(together | apart)).first_weights(GemanMcClure())
    assert np.mean(weight[together]) > 0.4
    assert np.mean(weight[apart]) < 0.05


def test_nothing_is_suspected_where_nothing_was_rejected(committee):
    look = second_look(committee, round_of(np.zeros(N, bool)))
    np.testing.assert_array_equal(look.suspicion, 0.0)
    np.testing.assert_array_equal(look.doubt(0), committee.doubt)


def test_peaks_that_the_first_look_takes_for_outliers_are_found():
    errors = {}
    X_test, y_test = make_function(600, grid=True)
    for again in (False, True):
        errors[again] = []
        for seed in (4, 9, 10):
            X, y = make_function(600, rng=seed)
            y, _ = contaminate(y, 0.3, protocol="replace", rng=seed + 7000)
            model = RobustSCNRegressor(second_look=again, random_state=seed).fit(X, y)
            error = model.predict(X_test) - y_test
            errors[again].append(np.sqrt(np.mean(error**2)))
    assert np.mean(errors[True]) < 0.6 * np.mean(errors[False])


def test_gross_targets_among_many_wrong_ones_do_not_mislead_it():
    X, y = make_function(200, rng=0)
    truth = y.copy()
    y, _ = contaminate(y, 0.25, protocol="replace", rng=0)
    y[:3] = 1e6
    errors = []
    for again in (False, True):
        model = RobustSCNRegressor(n_networks=5, second_look=again, random_state=0).fit(X, y)
        errors.append(np.sqrt(np.mean((model.predict(X) - truth) ** 2)))
    assert errors[1] < 3 * errors[0]


@pytest.mark.parametrize(("n_rounds", "total"), [(1, 1), (3, 3), (4, 4 + ROUNDS)])
def test_it_needs_a_first_look_that_has_settled(n_rounds, total):
    X, y = make_function(80, rng=0)
    model = RobustSCNRegressor(n_networks=2, max_nodes=10, n_rounds=n_rounds, random_state=0)
    assert len(model.fit(X, y).error_path_) == total
    model.set_params(second_look=False)
    assert len(model.fit(X, y).error_path_) == n_rounds
