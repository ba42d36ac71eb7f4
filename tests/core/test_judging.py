"""Judging: the schedule's rows, and the loop against one written out."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import reference
from robustscn.core.growth import grow
from robustscn.core.judging import (
    BATCH,
    FIRST_TRUSTED_ROUND,
    LOOKS_AGAIN,
    Plan,
    Start,
    judge,
    schedule,
)
from robustscn.core.learner import Opinion, Taught
from robustscn.core.recipe import CONTRACTIONS
from robustscn.core.rows import LocalRows
from robustscn.core.scale import trimmed_scales
from robustscn.core.weighting import KDE, GemanMcClure, Tukey, Weighting
from small import identical, pools, problem, recipe

CURVE = GemanMcClure()


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
    plans = schedule(n_members, n_rounds, CURVE, second_look=False)
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
    plans = schedule(n_members, n_rounds, CURVE)
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
    plans = schedule(5, n_rounds, CURVE)
    assert plans == schedule(5, n_rounds, CURVE, second_look=False)
    assert [plan.grow for plan in plans] == [5] + [0] * (n_rounds - 1)


def test_floors_halve_and_doubt_narrows():
    plans = schedule(12, 10, CURVE)
    np.testing.assert_allclose(
        [plan.floor for plan in plans], [1 / 3 / 2**k for k in range(10)] + [1 / 3 / 2**9] * 7
    )
    assert [plan.widened for plan in plans[:10]] == [None] * 10
    np.testing.assert_allclose(
        [plan.widened for plan in plans[10:]], [0.4, 0.16, 0.064, 0.0256, 0.01024, 0.4**6, 0.4**7]
    )
    assert [plan.weighting for plan in plans] == [CURVE] * 17
    # Beside wrong rows that are not known yet a narrow peak looks like noise.
    assert [plan.sized for plan in plans] == [False] * 10 + [True] * 7


def test_batches_are_of_four_and_spread_evenly():
    grown = [plan.grow for plan in schedule(16, 12, CURVE, second_look=False)]
    # Rounds 3 to 10 in three equal steps, to the nearest whole number.
    assert {k: n for k, n in enumerate(grown) if n} == {0: 4, 3: 4, 5: 4, 8: 4, 10: 4}
    grown = [plan.grow for plan in schedule(30, 5, CURVE)]
    assert max(grown[5:]) == 8  # rounds are fewer than batches: two at once
    assert sum(grown[5:]) == 30


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
    first, second = judge(rows.rows, rows.weight, Taught(teach), [Plan(Tukey())] * 2, Start(start))
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
    rounds = list(judge(LocalRows(240), weight, said_first, plans, Start(start)))
    for k, round_ in enumerate(rounds):
        np.testing.assert_allclose(round_.widest, [0.9])
        least = 0.3 / 2**k
        own = trimmed_scales(LocalRows(240), round_.evidence, weight)
        np.testing.assert_allclose(round_.verdict.scale, np.maximum(own, least))
    assert rounds[0].verdict.scale > own  # held up
    (given,) = judge(LocalRows(240), weight, said(e), plans[:1], Start(widest=np.array([60.0])))
    np.testing.assert_allclose(given.verdict.scale, [20.0])


def test_where_no_plan_has_a_floor_the_scale_is_free():
    rng = np.random.default_rng(5)
    e, counts = rng.normal(size=(300, 2)), rng.integers(0, 4, size=300).astype(float)
    (only,) = judge(LocalRows(300), counts, said(e), [Plan(CURVE)])
    np.testing.assert_array_equal(only.widest, [0.0, 0.0])
    np.testing.assert_allclose(only.verdict.scale, trimmed_scales(LocalRows(300), e, counts))


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
    plans = [replace(plan, local=False) for plan in schedule(6, 5, CURVE)]
    rounds = list(judge(LocalRows(200), weight, line, plans, Start(start)))
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
