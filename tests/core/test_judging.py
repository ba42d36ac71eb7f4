"""Judging: the schedule's rows, one scale for everything, the loop, and the second look."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import reference
from robustscn.core.committee import Committee
from robustscn.core.folds import parts_of
from robustscn.core.growth import CONTRACTIONS, Recipe, grow
from robustscn.core.judging import (
    BATCH,
    FIRST_TRUSTED_ROUND,
    LOOKS_AGAIN,
    Opinion,
    Plan,
    Round,
    SecondLook,
    Taught,
    Verdict,
    centred,
    judge,
    mean_size,
    not_gross,
    schedule,
    second_look,
    standardised,
    verdict,
)
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.rows import LocalRows
from robustscn.core.scale import trimmed_scales
from robustscn.core.weighting import KDE, GemanMcClure, Laplace, Tukey, Weighting
from small import identical, pools, problem, recipe

CURVE, FINAL = GemanMcClure(), Tukey()


# --- the schedule ---------------------------------------------------------------------------


def members_after(plans):
    """How many members there are after each round."""
    counts, count = [], 0
    for plan in plans:
        count = plan.grow if plan.restart else count + plan.grow
        counts.append(count)
    return counts


@pytest.mark.parametrize("n_members", [1, 3, 4, 5, 16, 30])
@pytest.mark.parametrize("n_rounds", [1, 3, 4, 5, 10, 25])
def test_the_last_round_has_as_many_members_as_asked_for(n_members, n_rounds):
    plans = schedule(n_members, n_rounds, CURVE, FINAL, second_look=False)
    assert len(plans) == n_rounds
    assert plans[0].grow >= 1
    assert members_after(plans)[-1] == n_members
    restarts = [k for k, plan in enumerate(plans) if plan.restart]
    assert restarts == ([FIRST_TRUSTED_ROUND] if n_rounds > FIRST_TRUSTED_ROUND else [])
    if n_rounds > FIRST_TRUSTED_ROUND + 1:
        assert plans[-1].grow == 0  # what grew last is solved once more under final weights
    assert {plan.weighting for plan in plans} == {CURVE}
    assert all(plan.widened is None for plan in plans)


@pytest.mark.parametrize("n_members", [1, 3, 4, 5, 16, 30])
@pytest.mark.parametrize("n_rounds", [4, 10])
def test_where_a_second_look_follows_the_ensemble_grows_in_it(n_members, n_rounds):
    plans = schedule(n_members, n_rounds, CURVE, FINAL)
    assert len(plans) == n_rounds + LOOKS_AGAIN
    before = {k: plan.grow for k, plan in enumerate(plans[:n_rounds]) if plan.grow}
    batch = min(BATCH, n_members)
    assert before == {0: batch, FIRST_TRUSTED_ROUND: batch}
    assert [k for k, plan in enumerate(plans) if plan.restart] == [FIRST_TRUSTED_ROUND, n_rounds]
    assert plans[n_rounds].grow >= 1
    assert members_after(plans)[-1] == n_members
    # The last two rounds only solve: the ensemble is complete before the weights are final.
    assert all(plan.grow == 0 for plan in plans[-2:])


@pytest.mark.parametrize("n_rounds", [1, 3])
def test_a_second_look_needs_a_first_that_has_settled(n_rounds):
    plans = schedule(5, n_rounds, CURVE, FINAL)
    assert plans == schedule(5, n_rounds, CURVE, FINAL, second_look=False)
    assert [plan.grow for plan in plans] == [5] + [0] * (n_rounds - 1)


def test_floors_halve_doubt_narrows_and_the_final_weights_come_when_it_has_settled():
    plans = schedule(12, 10, CURVE, FINAL)
    np.testing.assert_allclose(
        [plan.floor for plan in plans], [1 / 3 / 2**k for k in range(10)] + [1 / 3 / 2**9] * 7
    )
    assert [plan.widened for plan in plans[:10]] == [None] * 10
    np.testing.assert_allclose(
        [plan.widened for plan in plans[10:]], [0.4, 0.16, 0.064, 0.0256, 0.01024, 0.4**6, 0.4**7]
    )
    assert [plan.weighting for plan in plans] == [CURVE] * 12 + [FINAL] * 5


def test_batches_are_of_four_and_spread_evenly():
    grown = [plan.grow for plan in schedule(16, 12, CURVE, FINAL, second_look=False)]
    # Rounds 3 to 10 in three equal steps, to the nearest whole number.
    assert {k: n for k, n in enumerate(grown) if n} == {0: 4, 3: 4, 5: 4, 8: 4, 10: 4}
    grown = [plan.grow for plan in schedule(30, 5, CURVE, FINAL)]
    assert max(grown[5:]) == 8  # rounds are fewer than batches: two at once
    assert sum(grown[5:]) == 30


# --- one scale ------------------------------------------------------------------------------


def noisy(n=300, n_outputs=2, seed=5):
    rng = np.random.default_rng(seed)
    e, doubt = rng.normal(size=(n, n_outputs)), rng.uniform(0, 3, size=(n, n_outputs))
    e[: n // 10] += 20.0
    return e, doubt, rng.integers(0, 4, size=n).astype(float)


def literal_scales(e, counts):
    return np.array([reference.trimmed_scale(e[:, q], counts) for q in range(e.shape[1])])


def test_doubt_is_measured_together_with_the_scale():
    e, doubt, counts = noisy(n_outputs=1)
    found = verdict(LocalRows(300), counts, e, doubt, GemanMcClure())
    scale = literal_scales(e, counts)
    z = e / np.sqrt(scale**2 + doubt**2)
    # What doubt explains is no noise: the scale is what is left of it.
    left = literal_scales(z, counts)
    assert left < 0.9
    z = z / left
    np.testing.assert_allclose(found.left, left, rtol=1e-6)
    np.testing.assert_allclose(found.scale, scale * left, rtol=1e-6)
    np.testing.assert_allclose(found.standardised, z, rtol=1e-6)
    np.testing.assert_allclose(literal_scales(found.standardised, counts), 1.0, rtol=1e-6)
    # The weights are those of the same standardised residuals: no second scale is taken of them.
    curve = (1 + (z[:, 0] / 3) ** 2) ** -2
    literal = curve * counts.sum() / np.sum(counts * curve)
    np.testing.assert_allclose(found.inlier_weight, literal, rtol=1e-5)


def test_without_doubt_residuals_are_measured_by_the_scale_alone():
    e, _, counts = noisy(n_outputs=1)
    scale = literal_scales(e, counts)
    for doubt in (None, np.zeros_like(e)):
        found = verdict(LocalRows(300), counts, e, doubt, CURVE).standardised
        np.testing.assert_allclose(found, e / scale, rtol=1e-6)


def test_a_floor_holds_the_scale_of_its_output_up():
    e, doubt, counts = noisy()
    rows, floor = LocalRows(300), np.array([5.0, 1e-6])
    free = verdict(rows, counts, e, doubt, CURVE)
    held = verdict(rows, counts, e, doubt, CURVE, floor)
    assert free.scale[0] < 5
    np.testing.assert_array_equal(held.scale, [5.0, free.scale[1]])
    np.testing.assert_allclose(
        held.standardised[:, 0], e[:, 0] / np.sqrt(25 + doubt[:, 0] ** 2), rtol=1e-12
    )
    np.testing.assert_array_equal(held.standardised[:, 1], free.standardised[:, 1])


def test_the_scale_is_the_weightings_own():
    class Seven(Weighting):
        def scale(self, rows, residuals, sample_weight):
            return np.full(residuals.shape[1], 7.0)

        def inlier_weight(self, rows, standardised, sample_weight):
            return 1.0 / (1.0 + np.abs(standardised[:, 0]))

    e, _, counts = noisy(n_outputs=1)
    found = verdict(LocalRows(300), counts, e, None, Seven())
    np.testing.assert_array_equal(found.scale, [7.0])
    literal = 1 / (1 + np.abs(e[:, 0]) / 7)
    np.testing.assert_allclose(
        found.inlier_weight, literal * counts.sum() / np.sum(counts * literal), rtol=1e-12
    )


def test_weights_with_a_unit_keep_their_size():
    e, _, counts = noisy(n_outputs=1)
    found = verdict(LocalRows(300), counts, e, None, Laplace(0.1, unit=8.0))
    np.testing.assert_allclose(found.inlier_weight, 1 / np.maximum(8 * np.abs(e[:, 0]), 0.1))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_endless_doubt_and_a_scale_of_nothing_overflow_nothing(dtype):
    # More than half of the rows are met exactly: one standard deviation is next to nothing.
    e = np.array([[0.0], [0.0], [0.0], [2.0]], dtype=dtype)
    largest = np.full((4, 1), np.finfo(dtype).max, dtype=dtype)
    for doubt in (None, np.zeros_like(e), largest):
        found = standardised(LocalRows(4), e, doubt, np.array([1e-30]))
        assert found.dtype == dtype
        assert np.all(np.isfinite(found**2))
        assert found[3, 0] > found[0, 0] == 0


# --- the loop -------------------------------------------------------------------------------


def grown_with(rows, how):
    def teach(number, weight):
        *_, last = grow(replace(rows, weight=weight), replace(how, round=number))
        return last, last.fit.residuals

    return Taught(teach)


def said(e):
    """A learner that says the same whatever it is taught."""
    return Taught(lambda _number, _weight: (None, e))


class Uniform(Weighting):
    def inlier_weight(self, rows, standardised, sample_weight):
        return np.full(rows.n_rows, 0.25)


def test_uniform_weights_are_the_plain_network():
    rows = problem()
    how = recipe(6)
    rounds = list(judge(rows.rows, rows.weight, grown_with(rows, how), [Plan(Uniform())] * 3))
    assert len(rounds) == 3
    for number, round_ in enumerate(rounds):
        *_, alone = grow(rows, replace(how, round=number))
        identical(round_.model, alone)
        np.testing.assert_array_equal(round_.weight_used, np.ones(50))
        np.testing.assert_allclose(round_.inlier_weight, np.ones(50), rtol=1e-14)


def test_rounds_of_kernel_density_weights_equal_the_reference():
    rows = replace(problem(), weight=np.ones(50))
    rows.y[::9] += 2.0
    how = recipe(5, pooled=False)
    plans = [Plan(KDE(robust=False))] * 3
    rounds = list(judge(rows.rows, rows.weight, grown_with(rows, how), plans))
    literal = list(reference.rsc_kde(rows.X, rows.y, pools(how), CONTRACTIONS, 5, 3, pooled=False))
    for round_, (network, theta) in zip(rounds, literal, strict=True):
        np.testing.assert_allclose(round_.weight_used, theta, rtol=1e-8)
        np.testing.assert_array_equal(round_.model.nodes.weights, network.w)
        np.testing.assert_allclose(round_.evidence, network.residuals, atol=1e-9)
        np.testing.assert_allclose(
            round_.inlier_weight, reference.kde_weights(network.residuals), rtol=1e-7
        )
    # The rounds do what they are for.
    assert np.max(rounds[-1].inlier_weight[::9]) < 0.5 * np.median(rounds[-1].inlier_weight)


def test_sample_and_inlier_weights_are_multiplied_but_not_mixed():
    rows = problem()
    seen = []

    def teach(number, weight):
        seen.append((number, weight))
        return number, rows.y

    start = np.linspace(0.5, 1.5, 50)
    first, second = judge(rows.rows, rows.weight, Taught(teach), [Plan(Tukey())] * 2, start=start)
    assert [number for number, _ in seen] == [first.model, second.model] == [0, 1]
    np.testing.assert_array_equal(seen[0][1], rows.weight * start)
    np.testing.assert_array_equal(first.weight_used, start)
    scale = trimmed_scales(rows.rows, rows.y, rows.weight)
    suggested = np.clip(1 - (rows.y[:, 0] / scale / 4.685) ** 2, 0, None) ** 2
    scaled = suggested * rows.weight.sum() / np.sum(suggested * rows.weight)
    np.testing.assert_allclose(first.inlier_weight, scaled, rtol=1e-12)
    np.testing.assert_array_equal(second.weight_used, first.inlier_weight)
    np.testing.assert_allclose(seen[1][1], rows.weight * scaled, rtol=1e-12)


def test_negligible_residuals_count_as_none():
    e = np.array([[1e-14], [-3e-14], [2e-14], [1.0], [0.0]])
    (only,) = judge(LocalRows(5), np.ones(5), said(e), [Plan(Tukey())], negligible=1e-13)
    np.testing.assert_array_equal(only.evidence[:, 0], [0, 0, 0, 1, 0])
    np.testing.assert_allclose(only.inlier_weight, [1.25, 1.25, 1.25, 0, 1.25], atol=1e-12)


def test_each_round_may_have_a_weighting_of_its_own():
    e = np.random.default_rng(6).standard_t(2, size=(200, 1))
    rounds = judge(LocalRows(200), np.ones(200), said(e), [Plan(GemanMcClure()), Plan(Tukey())])
    z = np.abs(e[:, 0]) / reference.trimmed_scale(e[:, 0], np.ones(200))
    curves = (1 + (z / 3) ** 2) ** -2, np.clip(1 - (z / 4.685) ** 2, 0, None) ** 2
    for round_, curve in zip(rounds, curves, strict=True):
        np.testing.assert_allclose(round_.inlier_weight, curve / curve.mean(), rtol=1e-5)


def test_floors_are_shares_of_the_largest_residual_that_the_first_round_believes():
    e = np.linspace(-0.5, 0.9, 240)[:, None]
    e[0], e[1] = 1e9, 5e8  # gross, and without weight: neither counts
    start, weight = np.ones(240), np.ones(240)
    start[0], weight[1] = 0.0, 0.0
    said_first = Taught(lambda number, _: (None, e if number == 0 else 0.01 * e))
    plans = [Plan(CURVE, floor=1 / 3 / 2**k) for k in range(4)]
    rounds = list(judge(LocalRows(240), weight, said_first, plans, start=start))
    for k, round_ in enumerate(rounds):
        np.testing.assert_allclose(round_.widest, [0.9])
        least = 0.3 / 2**k
        own = trimmed_scales(LocalRows(240), round_.evidence, weight)
        np.testing.assert_allclose(round_.verdict.scale, np.maximum(own, least))
    assert rounds[0].verdict.scale > own  # held up
    (given,) = judge(LocalRows(240), weight, said(e), plans[:1], widest=np.array([60.0]))
    np.testing.assert_allclose(given.verdict.scale, [20.0])


def test_where_no_plan_has_a_floor_the_scale_is_free():
    e, _, counts = noisy()
    (only,) = judge(LocalRows(300), counts, said(e), [Plan(CURVE)])
    np.testing.assert_array_equal(only.widest, [0.0, 0.0])
    np.testing.assert_allclose(only.verdict.scale, trimmed_scales(LocalRows(300), e, counts))


def test_a_learner_that_has_seen_every_row_foresees_nothing():
    e = np.ones((50, 1))
    plans = [Plan(CURVE), Plan(CURVE, widened=0.4)]
    with pytest.raises(NotImplementedError, match="have not seen the rows"):
        list(judge(LocalRows(50), np.ones(50), said(e), plans))


@dataclass(frozen=True)
class Line:
    """A weighted straight line, with doubt that is known and a slope for all that it foresees."""

    x: np.ndarray
    y: np.ndarray
    doubt: np.ndarray

    def _fitted(self, t, weight):
        A = np.column_stack([np.ones_like(self.x), self.x])
        return A @ np.linalg.lstsq(np.sqrt(weight)[:, None] * A, np.sqrt(weight) * t, rcond=None)[0]

    def opinion(self, before, plan, number, weight):
        members = (() if before is None or plan.restart else before.members) + (number,) * plan.grow
        fitted = self._fitted(self.y, weight)
        return Opinion(fitted, (self.y - fitted)[:, None], self.doubt[:, None], members)

    def foreseen(self, target, number):
        return self._fitted(target[:, 0], np.full(len(self.x), float(number)))[:, None]


def literal_rounds(line, weight, plans, start):
    """The whole loop for one output and the Geman-McClure curve, written out."""
    theta, e, widest, look, rounds = start, None, None, None, []

    def weighed(e, doubt, floor):
        scale = max(reference.trimmed_scale(e, weight), floor)
        z = e / np.sqrt(scale**2 + doubt**2)
        left = max(reference.trimmed_scale(z, weight), floor / scale)
        curve = (1 + (z / left) ** 2 / 9) ** -2
        return scale * left, curve * weight.sum() / np.sum(weight * curve)

    for plan in plans:
        if plan.widened is not None and look is None:
            rejected = 1 - theta / np.max(theta[weight > 0])
            share = np.sum(weight * rejected) / weight.sum()
            A = np.column_stack([np.ones_like(line.x), line.x])
            foreseen = A @ np.linalg.lstsq(A, rejected - share, rcond=None)[0]
            suspicion = np.clip(foreseen / (1 - share), 0, 1)
            counted = suspicion * weight * start
            look = suspicion * np.sqrt(np.sum(counted * e**2) / counted.sum())
            _, theta = weighed(e, np.maximum(line.doubt, look), widest * plan.floor)
        theta = np.round(theta / plan.grain) * plan.grain
        e = line.y - line._fitted(line.y, weight * theta)
        widest = np.max(np.abs(e[weight * theta > 0])) if widest is None else widest
        doubt = line.doubt
        if plan.widened is not None:
            doubt = np.maximum(doubt, plan.widened * look)
        used = theta
        scale, theta = weighed(e, doubt, widest * plan.floor)
        rounds.append((e, doubt, scale, used, theta))
    return rounds


@pytest.mark.parametrize("noise", [0.3, 0.01], ids=["scale of the rows", "scale held up"])
def test_all_rounds_equal_the_loop_written_out(noise):
    rng = np.random.default_rng(7)
    x = rng.uniform(size=200)
    y = 3 * x + noise * rng.normal(size=200)
    wrong = rng.uniform(size=200) < 0.1 + 0.5 * (x > 0.7)  # rejection can be foreseen
    y[wrong] += rng.uniform(2, 4, size=wrong.sum())
    y[7] = 1e6
    weight = rng.integers(0, 3, size=200).astype(float)
    weight[7] = 1.0
    start = np.where(np.arange(200) == 7, 0.0, 1.0)
    line = Line(x, y, rng.uniform(0, 0.2, size=200))
    plans = [replace(plan, local=False) for plan in schedule(6, 5, CURVE, CURVE)]
    rounds = list(judge(LocalRows(200), weight, line, plans, start=start))
    literal = literal_rounds(line, weight, plans, start)
    assert len(rounds) == 12
    for round_, (e, doubt, scale, used, theta) in zip(rounds, literal, strict=True):
        np.testing.assert_allclose(round_.evidence[:, 0], e, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(round_.doubt[:, 0], doubt, rtol=1e-6)
        np.testing.assert_allclose(round_.verdict.scale, [scale], rtol=1e-6)
        np.testing.assert_allclose(round_.weight_used, used, rtol=1e-5, atol=1e-15)
        np.testing.assert_allclose(round_.inlier_weight, theta, rtol=1e-5, atol=1e-15)
    floor = rounds[4].widest * rounds[4].plan.floor
    assert (rounds[4].verdict.scale == floor) == (noise < 0.1)
    # Something was looked at again, and members came and went as planned.
    assert np.any(rounds[5].doubt > 1.5 * rounds[4].doubt)
    assert [len(r.opinion.members) for r in rounds] == members_after(plans)


# --- the second look ------------------------------------------------------------------------

N = 600


@pytest.fixture(scope="module")
def committee():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, 1))
    rows = Problem(LocalRows(N), X, np.sin(5 * X), np.ones(N))
    draw = Draw(0, 1, (1.0, 10.0, 100.0), 20, centres=np.array([[0.0], [1.0]]))
    return Committee(rows, Recipe(draw, 40, block=5, exact=True, ridge=1e-6), parts_of(rows, 0))


def round_of(rejected, size=0.3):
    """Return a round that rejects the given rows, which have residuals of the given size."""
    weight = np.where(rejected, 0.0, 1.0)
    evidence = np.where(rejected, size, 0.001)[:, None]
    judged = Verdict(np.array([0.001]), evidence / 0.001, weight, np.ones(1))
    return Round(Plan(CURVE), Opinion((), evidence), judged, None, weight, np.zeros(1))


def looked_again(committee, last, believable=None):
    rows, weight = committee.problem.rows, committee.problem.weight
    believable = np.ones(N) if believable is None else believable
    return second_look(rows, weight, committee, 1, last, believable)


def test_a_region_of_rejected_rows_is_suspected_and_scattered_ones_are_not(committee):
    x = committee.problem.X[:, 0]
    rng = np.random.default_rng(1)
    inside = np.abs(x - 0.6) < 0.04
    rejected = (rng.uniform(size=N) < 0.2) | (inside & (rng.uniform(size=N) < 0.9))
    found = looked_again(committee, round_of(rejected)).suspicion
    assert found.min() >= 0
    assert found.max() <= 1
    assert np.mean(found[np.abs(x - 0.6) < 0.03]) > 0.5
    assert np.mean(found[np.abs(x - 0.6) > 0.08]) < 0.1


def test_a_row_is_not_suspected_for_its_own_rejection(committee):
    rejected = np.zeros(N, bool)
    rejected[100] = True
    assert looked_again(committee, round_of(rejected)).suspicion[100] < 0.2


def test_suspicion_is_what_is_foreseen_as_a_share_of_all_that_could_be(committee):
    x = committee.problem.X[:, 0]
    rng = np.random.default_rng(3)
    weight = rng.uniform(0, 2, size=N)
    weighted = replace(committee, problem=replace(committee.problem, weight=weight))
    believed = np.where(np.abs(x - 0.6) < 0.1, 0.1, 0.8) * rng.uniform(0.5, 1.0, size=N)
    last = round_of(np.zeros(N, bool))
    last = replace(last, verdict=replace(last.verdict, inlier_weight=believed))
    rejected = 1 - believed / believed[weight > 0].max()
    share = np.sum(weight * rejected) / np.sum(weight)
    literal = weighted.foreseen((rejected - share)[:, None], 1)[:, 0] / (1 - share)
    found = looked_again(weighted, last).suspicion
    np.testing.assert_allclose(found, np.clip(literal, 0, 1), atol=1e-9)
    assert np.max(found) > 0.3


def test_the_size_is_the_literal_root_mean_square_by_suspicion(committee):
    x, rng = committee.problem.X[:, 0], np.random.default_rng(2)
    weight = rng.uniform(0, 2, size=N)
    weight[::7] = 0.0
    y = np.column_stack([np.sin(5 * x), np.cos(5 * x)])
    y[3] = 1e9  # gross: counts for nothing
    weighted = replace(committee, problem=replace(committee.problem, y=y, weight=weight))
    last = round_of(np.abs(x - 0.6) < 0.05)
    evidence = last.evidence * rng.uniform(0.5, 2, size=(N, 2))
    evidence[3] = 1e9
    last = replace(last, opinion=Opinion((), evidence))
    look = looked_again(weighted, last, not_gross(LocalRows(N), y, weight))
    counted = look.suspicion * weight * (np.arange(N) != 3)
    literal = np.sqrt(counted @ np.where(evidence == 1e9, 0, evidence) ** 2 / counted.sum())
    assert literal[0] != pytest.approx(literal[1], rel=1e-3)
    np.testing.assert_allclose(look.size, literal)


def test_the_share_rejected_elsewhere_is_weighted(committee):
    # All rejected rows count nothing: among the others nobody is suspected.
    x = committee.problem.X[:, 0]
    inside = np.abs(x - 0.6) < 0.05
    weighted = replace(committee.problem, weight=np.where(inside, 0.0, 1.0))
    look = looked_again(replace(committee, problem=weighted), round_of(inside))
    np.testing.assert_allclose(look.suspicion[~inside], 0.0, atol=1e-6)


@pytest.mark.parametrize("share", [1.0, 0.4, 0.4**7, 0.0])
def test_doubt_is_the_larger_of_the_learners_and_a_share_of_the_suspected_size(share):
    rng = np.random.default_rng(8)
    look = SecondLook(rng.uniform(size=40), np.array([0.5, 3.0]))
    doubt = rng.uniform(size=(40, 2))
    allowed = np.array([[s * share * size for size in (0.5, 3.0)] for s in look.suspicion])
    np.testing.assert_allclose(
        look.widened(LocalRows(40), doubt, share), np.maximum(doubt, allowed)
    )
    np.testing.assert_allclose(look.widened(LocalRows(40), None, share), allowed)


def test_the_second_look_begins_by_believing_what_lies_together(committee):
    x = committee.problem.X[:, 0]
    together = np.abs(x - 0.6) < 0.04
    apart = np.zeros(N, bool)
    apart[np.flatnonzero(np.abs(x - 0.6) > 0.2)[::25]] = True
    last = round_of(together | apart)
    doubt = looked_again(committee, last).widened(LocalRows(N), None, 1.0)
    rows, weight = LocalRows(N), np.ones(N)
    believed = verdict(rows, weight, last.evidence, doubt, CURVE, np.array([0.001])).inlier_weight
    assert np.mean(believed[together]) > 0.4
    assert np.mean(believed[apart]) < 0.05


def test_nothing_is_suspected_where_nothing_was_rejected(committee):
    look = looked_again(committee, round_of(np.zeros(N, bool)))
    np.testing.assert_array_equal(look.suspicion, 0.0)
    doubt = np.full((N, 1), 0.1)
    np.testing.assert_array_equal(look.widened(LocalRows(N), doubt, 1.0), doubt)


# --- first weights, medians, losses ---------------------------------------------------------


def test_gross_targets_are_set_aside_and_peaks_are_not():
    y = np.zeros((200, 1))
    y[:20, 0] = np.linspace(0.1, 0.6, 20)
    y[100] = 1e6
    weight = not_gross(LocalRows(200), y, np.ones(200))
    assert weight[100] == 0
    assert weight.sum() == 199


def test_gross_is_beyond_ten_times_the_weighted_95_percent_quantile():
    rng = np.random.default_rng(3)
    y = rng.standard_t(1, size=(400, 1))
    counts = rng.integers(0, 4, size=400).astype(float)
    repeated = np.sort(np.repeat(np.abs(y[:, 0]), counts.astype(int)))
    quantile = repeated[int(np.ceil(0.95 * len(repeated))) - 1]
    found = not_gross(LocalRows(400), y, counts)
    np.testing.assert_array_equal(found, 1.0 * (np.abs(y[:, 0]) <= 10 * quantile))
    assert 0 < np.sum(found == 0) < 40


def test_evidence_lies_around_zero_for_each_output():
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 5, size=240).astype(float)
    e = np.column_stack([rng.exponential(size=240), 5.0 - rng.exponential(size=240)])
    found = centred(LocalRows(240), e, counts)
    for q in range(2):
        np.testing.assert_allclose(
            found[:, q], e[:, q] - reference.weighted_median(e[:, q], counts)
        )


def test_round_losses_are_the_literal_mean_absolute_residuals():
    rng = np.random.default_rng(2)
    weight = rng.uniform(0.5, 2.0, size=240)
    for e in (rng.normal(size=(240, 2)), 3 * rng.standard_t(2, size=(240, 2))):
        literal = sum(w * abs(value) for w, row in zip(weight, e, strict=True) for value in row)
        found = mean_size(LocalRows(240, 64), e, weight)
        assert found == pytest.approx(literal / weight.sum() / 2)


def test_a_gross_residual_in_float32_does_not_drown_the_loss():
    e = np.full((1000, 1), 0.1, dtype=np.float32)
    e[0] = 1e9
    better = e.copy()
    better[1:] = 0.09
    losses = [mean_size(LocalRows(1000), each, np.ones(1000, np.float32)) for each in (e, better)]
    assert losses[0] - losses[1] == pytest.approx(0.01 * 0.999, rel=0.01)


def test_rejecting_good_rows_shows_in_the_loss():
    good = np.full((240, 1), 0.1)
    good[::2] *= -1
    rejecting = 0.9 * good
    rejecting[:40] = 2.0
    fair, unfair = (mean_size(LocalRows(240), e, np.ones(240)) for e in (good, rejecting))
    assert fair < unfair
