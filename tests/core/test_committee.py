"""A committee judges rows without having seen their targets."""

from dataclasses import replace

import numpy as np
import pytest

import reference
from robustscn.core import committee
from robustscn.core.committee import ASKED_NODES, Committee
from robustscn.core.doubt import disagreement
from robustscn.core.folds import FOLDS, parts_of
from robustscn.core.judging import Plan
from robustscn.core.nodes import Network
from robustscn.core.problem import Problem, some_rows
from robustscn.core.proposals import Draw
from robustscn.core.recipe import Recipe
from robustscn.core.rows import LocalRows
from robustscn.core.weighting import GemanMcClure

GROWING = Plan(GemanMcClure(), grow=4)
SOLVING = Plan(GemanMcClure())


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(240, 3))
    y = (np.sin(5 * X[:, 0]) + X[:, 1])[:, None]
    return Problem(LocalRows(240), X, y, np.ones(240))


def committee_of(problem, **options):
    n = problem.X.shape[1]
    draw = Draw(0, n, (0.3, 1.0, 3.0, 10.0), 10, centres=np.stack([np.zeros(n), np.ones(n)]))
    how = Recipe(draw, 20, block=5, exact=True, ridge=1e-6)
    return Committee(problem, how, parts_of(problem, 0), **options)


def spoken(problem, plan=GROWING, before=None, number=0, **options):
    return committee_of(problem, **options).opinion(before, plan, number, problem.weight)


def tuned_ridge(member, network, X, y, weight):
    """The one penalty among those tried under which a network's output weights solve the rows."""
    H = member.nodes.hidden(X)
    penalties = weight.sum() * 10.0 ** np.arange(-9.0, 0.5, 0.5)
    literal = [reference.ridge_with_constant(H, y, weight, each) for each in penalties]
    errors = [np.max(np.abs(beta - network.output_weights)) for beta in literal]
    assert min(errors) < 1e-6 * np.max(np.abs(network.output_weights))
    return penalties[np.argmin(errors)]


def test_a_row_is_judged_only_by_networks_that_did_not_see_its_target(problem):
    row, found = 17, []
    fold = int(parts_of(problem, 0).fold[row])
    for target in (problem.y[row, 0], 50.0):
        y = problem.y.copy()
        y[row] = target
        members = spoken(replace(problem, y=y)).members
        (unseen,) = (member for member in members if member.kept_from == fold)
        found.append(unseen.nodes.weights)
    np.testing.assert_array_equal(found[0], found[1])


def test_evidence_is_the_literal_left_out_residual_less_the_median(problem):
    # Each network's output weights again, with the row left out: from the normal equations.
    few = replace(problem, **{name: getattr(problem, name)[:60] for name in ("X", "y", "weight")})
    few = replace(few, rows=LocalRows(60), weight=np.random.default_rng(1).uniform(0.5, 2, size=60))
    said = spoken(few)
    fold = parts_of(few, 0).fold
    left_out = []
    for member, network in zip(said.members, said.model, strict=True):
        penalty = tuned_ridge(member, network, few.X, few.y, few.weight)
        H = member.nodes.hidden(few.X)
        left_out.append(
            reference.refitted_without_penalised(H, few.y, few.weight, np.ones(60), penalty)
        )
    literal = np.array(
        [
            np.mean([e[i] for e, m in zip(left_out, said.members, strict=True) if m.kept_from == f])
            for i, f in enumerate(fold)
        ]
    )
    order = np.argsort(literal)
    half = np.searchsorted(np.cumsum(few.weight[order]), few.weight.sum() / 2)
    middle = literal[order][half]
    np.testing.assert_allclose(said.residuals[:, 0], literal - middle, atol=1e-6)
    np.testing.assert_allclose(said.doubt, disagreement(LocalRows(60), left_out), atol=1e-6)


def test_without_room_for_hidden_values_nothing_changes_but_rounding(problem, monkeypatch):
    kept = spoken(problem)
    assert all(member.columns is not None for member in kept.members)
    monkeypatch.setattr("robustscn.core.member.KEPT_IN_MEMORY", 0)
    computed = spoken(problem)
    assert all(member.columns is None for member in computed.members)
    np.testing.assert_allclose(computed.residuals, kept.residuals, atol=1e-8)
    np.testing.assert_allclose(computed.doubt, kept.doubt, atol=1e-8)


def test_networks_stay_are_added_to_and_are_dismissed_where_a_new_start_is_due(problem):
    committee = committee_of(problem)
    plans = [
        GROWING,
        SOLVING,
        replace(SOLVING, grow=2),
        replace(SOLVING, grow=3, restart=True),
        SOLVING,
    ]
    said, opinions = None, []
    for number, plan in enumerate(plans):
        said = committee.opinion(said, plan, number, problem.weight)
        opinions.append(said)
    assert [len(each.model) for each in opinions] == [4, 4, 6, 3, 3]
    assert opinions[1].members == opinions[0].members
    assert opinions[2].members[:4] == opinions[0].members
    assert not set(map(id, opinions[3].members)) & set(map(id, opinions[2].members))
    assert [m.kept_from for m in opinions[2].members] == [0, 1, 2, 3, 0, 1]
    assert committee.members == ()  # a round is a value: the committee itself is as it was


def test_members_are_solved_again_under_the_rounds_weights(problem):
    committee = committee_of(problem)
    first = committee.opinion(None, GROWING, 0, problem.weight)
    weight = np.where(problem.X[:, 0] < 0.5, 1.0, 1e-3)
    second = committee.opinion(first, SOLVING, 1, weight)
    for member, network in zip(second.members, second.model, strict=True):
        np.testing.assert_array_equal(network.layers[0].weights, member.nodes.weights)
        assert tuned_ridge(member, network, problem.X, problem.y, weight) > 0
    for before, after in zip(first.model, second.model, strict=True):
        assert np.max(np.abs(before.output_weights - after.output_weights)) > 0.01


def test_doubt_is_that_of_the_networks(problem):
    said = spoken(problem)
    assert said.doubt.shape == (240, 1)
    spread = np.std([network.output(problem.X) for network in said.model], axis=0)
    # Left-out residuals differ by more than outputs do, and in the same places.
    assert np.corrcoef(np.log(said.doubt[:, 0]), np.log(spread[:, 0]))[0, 1] > 0.5


def test_another_column_is_foreseen_from_the_inputs_by_networks_that_have_not_seen_it(problem):
    rng = np.random.default_rng(3)
    committee = committee_of(problem)
    hidden = np.cos(4 * problem.X[:, :1])
    seen = committee.foreseen(hidden - hidden.mean(), 5)
    assert np.corrcoef(seen[:, 0], hidden[:, 0])[0, 1] > 0.98
    noise = rng.normal(size=(240, 1))
    # What is left out of a mean moves it the other way, hence the sign.
    assert np.corrcoef(committee.foreseen(noise, 5)[:, 0], noise[:, 0])[0, 1] < 0.2
    # A row's own value has no part in what is foreseen for it.
    changed = noise.copy()
    changed[9] += 1.0
    moved = committee.foreseen(changed, 5) - committee.foreseen(noise, 5)
    assert abs(moved[9, 0]) < 0.3


def test_forecasts_of_the_noise_for_other_rows_vary_as_those_for_rows_that_were_not_seen(problem):
    rng = np.random.default_rng(1)
    sizes = np.sin(4 * problem.X[:, :1]) + rng.normal(size=(240, 1))
    weight = rng.uniform(0.2, 2.0, size=240)
    committee = committee_of(problem)
    forecast, networks = committee.scatter(sizes, weight, None, 3)
    unseen, mean, plain = committee._asked(sizes, weight, 3)
    np.testing.assert_array_equal(forecast, unseen)
    centre = np.average(unseen[:, 0], weights=weight)
    ratio = np.cov(unseen[:, 0], aweights=weight) / np.cov(mean[:, 0], aweights=weight)
    assert 1.01 < ratio < 1.9  # noise averages out of the mean of four
    new = rng.uniform(size=(50, 3))
    for lively, calm in zip(networks, plain, strict=True):
        expected = centre + ratio * (calm.output(new) - centre)
        np.testing.assert_allclose(lively.output(new), expected, rtol=1e-9, atol=1e-12)


def test_networks_that_are_only_asked_are_small_and_nobody_is_told_of_them(problem):
    told = []
    large = replace(committee_of(problem), watch=lambda *step: told.append(step))
    large = replace(large, recipe=replace(large.recipe, max_nodes=100))
    target = np.cos(9 * problem.X[:, :1])
    as_it_is = large.foreseen(target, 5)
    assert told == []
    small = replace(large, recipe=replace(large.recipe, max_nodes=ASKED_NODES))
    np.testing.assert_array_equal(small.foreseen(target, 5), as_it_is)
    smaller = replace(large, recipe=replace(large.recipe, max_nodes=10))
    assert not np.array_equal(smaller.foreseen(target, 5), as_it_is)


def test_networks_of_some_rows_judge_all_of_them(problem):
    few = some_rows(problem, 120)
    committee = committee_of(few)
    said = committee.opinion(None, GROWING, 0, few.weight)
    everyone = committee.widened(problem, parts_of(problem, 0), said.model, map)
    assert [member.kept_from for member in everyone.members] == list(range(FOLDS))
    fold = parts_of(problem, 0).fold.astype(int)
    errors = [problem.y - network.output(problem.X) for network in said.model]
    literal = np.array([errors[f][i, 0] for i, f in enumerate(fold)])
    found = everyone.opinion_of(said.model)
    np.testing.assert_allclose(found.residuals[:, 0], literal - np.sort(literal)[119], atol=1e-12)
    np.testing.assert_allclose(found.doubt, disagreement(LocalRows(240), errors), atol=1e-12)
    solved = everyone.opinion(None, SOLVING, 0, problem.weight)
    assert all(isinstance(network, Network) for network in solved.model)
    for before, after in zip(said.model, solved.model, strict=True):
        np.testing.assert_array_equal(before.layers[0].weights, after.layers[0].weights)


def test_where_folds_are_given_a_row_is_judged_without_any_of_its_fold(problem):
    fold = (np.arange(240) // 30 % FOLDS).astype(float)
    weight = np.random.default_rng(1).uniform(0.2, 1.0, 240)
    grouped = replace(problem, fold=fold, weight=weight)
    said = spoken(grouped, centre=False)
    for member, network in zip(said.members, said.model, strict=True):
        ridge = tuned_ridge(member, network, grouped.X, grouped.y, weight) / weight.sum()
        own = fold == member.kept_from
        others = np.where(own, 0.0, weight)
        H = member.nodes.hidden(grouped.X)
        beta = reference.ridge_with_constant(H, grouped.y, others, ridge * others.sum())
        literal = grouped.y - np.hstack([H, np.ones((240, 1))]) @ beta
        np.testing.assert_allclose(said.residuals[own], literal[own], rtol=0, atol=1e-7)


def test_networks_are_cut_back_where_rows_kept_from_them_are_clearly_met_better_by_fewer_nodes(
    problem, monkeypatch
):
    rng = np.random.default_rng(2)
    noisy = replace(problem, y=problem.y + rng.normal(size=problem.y.shape))
    asked = replace(GROWING, sized=True)
    monkeypatch.setattr(committee, "CUT_AHEAD", 0.0)  # these are few rows
    for rows, cut in ((noisy, True), (problem, False)):
        whole, sized = spoken(rows), spoken(rows, asked)
        sizes = [len(member.nodes) for member in whole.members]
        best = [int(member.path[np.argmin(member.path[:, 2]), 0]) for member in whole.members]
        found = [len(member.nodes) for member in sized.members]
        assert found == (best if cut else sizes)
        assert (sum(best) < sum(sizes)) == cut
        # Whichever it is, rows that were not seen are met no worse: by hand, from each network.
        fold, errors = parts_of(rows, 0).fold, []
        for said in (whole, sized):
            total = np.zeros(240)
            for member, network in zip(said.members, said.model, strict=True):
                H = member.nodes.hidden(rows.X)
                penalty = tuned_ridge(member, network, rows.X, rows.y, rows.weight)
                left = reference.refitted_without_penalised(
                    H, rows.y, rows.weight, np.ones(240), penalty
                )
                own = fold == member.kept_from
                total[own] += left[own, 0] ** 2
            errors.append(total)
        better = errors[0] - errors[1]
        assert np.sum(better) >= 0
        assert (np.sum(better) > 0) == cut
        if cut:  # as clear as is asked for, in standard errors
            clear = np.mean(better) / np.std(better) * np.sqrt(240)
            for asked_for, kept in ((0.99 * clear, best), (1.01 * clear, sizes)):
                monkeypatch.setattr(committee, "CUT_AHEAD", asked_for)
                found = [len(member.nodes) for member in spoken(rows, asked).members]
                assert found == kept
