"""Growing and reweighting: node by node against the reference, every reason to stop, branches."""

from dataclasses import replace

import numpy as np
import pytest
from robustscn.core.rounds import at_most_one, doubted, mean_one, reweight

import reference
from robustscn import ImprovedRVFLRegressor, PRNNRWRegressor, RVFLRegressor
from robustscn.core.growth import CONTRACTIONS, Recipe, Stop, empty, grow, step, validated
from robustscn.core.least_squares import leave_one_out
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.rows import LocalRows
from robustscn.core.scale import trimmed_scales
from robustscn.core.weighting import KDE, GemanMcClure, Tukey

SCOPES = (0.5, 2.0, 8.0)


def problem(n_rows=50, n_outputs=1, seed=0, block_bytes=2**21):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 2))
    y = np.stack([np.sin((3 + q) * X[:, 0]) + X[:, 1] ** 2 for q in range(n_outputs)], axis=1)
    y += 0.05 * rng.normal(size=y.shape)
    weight = rng.uniform(0.2, 2.0, size=n_rows)
    weight[::11] = 0.0
    return Problem(LocalRows(n_rows, block_bytes), X, y, weight)


def recipe(max_nodes=8, seed=3, n_candidates=15, scopes=SCOPES, **options):
    return Recipe(Draw(seed, 2, scopes, n_candidates), max_nodes, **options)


def pools(some):
    """The candidates that the library meets, as the reference wants them."""

    def drawn(node, round=0):
        at = [some.draw.pool(s, np.zeros((1, 2)), node=node, round=round) for s in range(3)]
        return [(pool.weights, pool.biases) for pool in at]

    return drawn


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


def test_scopes_are_tried_in_order_or_all_together():
    rows = problem()
    ascending = next(iter(grow(rows, recipe(pooled=False))))
    together = next(iter(grow(rows, recipe(pooled=True))))
    first = recipe().draw.pool(0, rows.X)
    # The smallest scope has an admissible candidate for the first node, though others are
    # better: in order it is used, all together it is not.
    assert ascending.nodes.biases[0] in first.biases
    assert together.nodes.biases[0] not in first.biases
    assert together.energy.sum() < ascending.energy.sum()


def test_a_scope_without_an_admissible_candidate_is_passed_over():
    rows = problem()
    how = recipe(max_nodes=30, pooled=False)
    scopes_used = set()
    e = rows.y
    for state in grow(rows, how):
        if state.stop is not None:
            break
        node = len(state.nodes) - 1
        scores = []
        for scope in range(3):
            pool = how.draw.pool(scope, rows.X, node=node)
            if state.nodes.biases[-1] in pool.biases:
                break
            H = pool.hidden(rows.X)
            scores.append(reference.largest_score(e, H, rows.weight, CONTRACTIONS, node + 1))
        assert scores == [None] * scope
        scopes_used.add(scope)
        e = state.fit.residuals
    assert len(scopes_used) > 1


@pytest.mark.parametrize("exact", [True, False])
def test_the_exact_rule_takes_the_candidate_after_which_the_error_is_least(exact):
    rows = problem()
    how = recipe(exact=exact, max_nodes=6)
    agree = []
    before = np.zeros((50, 0))
    for state in grow(rows, how):
        node = len(state.nodes) - 1
        H = np.hstack([how.draw.pool(s, rows.X, node=node).hidden(rows.X) for s in range(3)])
        errors = []
        for h in H.T:
            columns = np.column_stack([before, h])
            e = rows.y - columns @ reference.weighted_pinv(columns, rows.y, rows.weight)
            errors.append(np.sum(rows.weight[:, None] * e**2))
        agree.append(state.energy.sum() == pytest.approx(min(errors), rel=1e-8))
        before = state.nodes.hidden(rows.X)
    assert all(agree) == exact


def test_a_shortlist_is_ranked_by_the_exact_decrease_among_the_largest_bounds():
    rows = problem()
    best_was_left_out = []
    for n in range(1, 8):
        *_, start = grow(rows, recipe(n))
        H = recipe().draw.all_pools(rows.X, node=n).hidden(rows.X)
        bounds = [reference.xi(start.fit.residuals, h, rows.weight, 1.0, n)[0] for h in H.T]
        errors = []
        for h in H.T:
            columns = np.column_stack([start.nodes.hidden(rows.X), h])
            e = rows.y - columns @ reference.weighted_pinv(columns, rows.y, rows.weight)
            errors.append(np.sum(rows.weight[:, None] * e**2))
        short = np.argsort(bounds)[::-1][:3]
        *_, longer = grow(rows, recipe(n + 1, exact=True, shortlist=3), start)
        assert longer.energy.sum() == pytest.approx(min(np.array(errors)[short]), rel=1e-9)
        best_was_left_out.append(np.argmin(errors) not in short)
    assert any(best_was_left_out), "the list must have decided at least once"


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


def test_a_block_takes_the_best_node_first():
    rows = problem(n_rows=120)
    single, several = (
        next(iter(grow(rows, recipe(block=block, contractions=(0.9999,))))) for block in (1, 4)
    )
    assert several.nodes.biases[0] == single.nodes.biases[0]
    assert len(set(several.nodes.biases.tolist())) == 4


def test_a_block_without_useful_candidates_ends_the_growth():
    X = np.linspace(0, 1, 300)[:, None]
    rows = Problem(LocalRows(300), X, np.sin(20 * X), np.ones(300))
    *_, last = grow(rows, Recipe(Draw(0, 1, (0.5,), 50), 40, exact=True, block=4))
    assert last.stop in (Stop.NO_CANDIDATE, Stop.DEPENDENT)
    assert 0 < len(last.nodes) < 40


# --- going on -------------------------------------------------------------------------------


def identical(left, right):
    np.testing.assert_array_equal(left.nodes.weights, right.nodes.weights)
    np.testing.assert_array_equal(left.fit.output_weights, right.fit.output_weights)
    np.testing.assert_array_equal(left.fit.residuals, right.fit.residuals)
    np.testing.assert_array_equal(left.energy, right.energy)
    assert left.stop == right.stop


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


def test_a_reason_is_a_sentence():
    assert all(len(stop.value.split()) > 3 for stop in Stop)
    assert len({stop.value for stop in Stop}) == len(Stop)


# --- validation -----------------------------------------------------------------------------


def validation_rows():
    rng = np.random.default_rng(9)
    X = rng.uniform(-1, 1, size=(40, 2))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] ** 2)[:, None]
    return X, y, rng.uniform(0.5, 2.0, size=40)


@pytest.mark.parametrize("block", [1, 3])
def test_validation_errors_are_those_of_the_network(block):
    X, y, weight = validation_rows()
    rows = problem()
    pairs = list(validated(grow(rows, recipe(9, block=block)), X, y, weight, patience=100))
    assert pairs[-1][0].stop is Stop.MAX_NODES
    for state, error in pairs:
        e = y - outputs(state, X)
        assert error == pytest.approx(np.sqrt(np.sum(weight[:, None] * e**2) / weight.sum()))


def test_validation_stops_when_its_error_has_stopped_falling():
    X, y, weight = validation_rows()
    rows = problem(n_rows=40)
    patience = 5
    everything = list(validated(grow(rows, recipe(35)), X, y, weight, patience=1000))
    pairs = list(validated(grow(rows, recipe(35)), X, y, weight, patience=patience))
    assert pairs[-1][0].stop is Stop.VALIDATION
    assert all(state.stop is None for state, _ in pairs[:-1])
    errors = [error for _, error in pairs]
    assert errors == [error for _, error in everything[: len(errors)]]
    # No sooner and no later than `patience` nodes after the best.
    assert len(errors) - 1 - int(np.argmin(errors)) == patience
    for end in range(patience + 1, len(errors)):
        assert np.argmin(errors[:end]) > end - 1 - patience


def test_validation_of_no_nodes_is_the_targets_own_size():
    X, y, weight = validation_rows()
    rows = replace(problem(), y=np.zeros((50, 1)))
    ((state, error),) = validated(grow(rows, recipe()), X, y, weight, patience=5)
    assert state.stop is Stop.TOLERANCE
    assert error == pytest.approx(np.sqrt(np.sum(weight[:, None] * y**2) / weight.sum()))


# --- reweighting ----------------------------------------------------------------------------


def build_with(rows, how):
    def build(number, weight):
        *_, last = grow(replace(rows, weight=weight), replace(how, round=number))
        return last, last.fit.residuals

    return build


class Uniform:
    def inlier_weight(self, rows, *_):
        return np.full(rows.n_rows, 0.25)


def test_uniform_weighting_is_the_plain_network():
    rows = problem()
    how = recipe(6)
    *_, plain = grow(rows, how)
    first = next(iter(reweight(rows.rows, rows.weight, build_with(rows, how), Uniform(), 3)))
    identical(first.model, plain)
    rounds = list(reweight(rows.rows, rows.weight, build_with(rows, how), Uniform(), 3))
    assert len(rounds) == 3
    for number, round_ in enumerate(rounds):
        *_, alone = grow(rows, replace(how, round=number))
        identical(round_.model, alone)
        np.testing.assert_array_equal(round_.weight_used, np.ones(50))
        np.testing.assert_allclose(round_.inlier_weight, np.ones(50), rtol=1e-14)


def test_a_weighting_need_not_know_of_a_least_scale_where_there_is_none():
    class Mine:
        def inlier_weight(self, rows, residuals, sample_weight):
            return np.ones(rows.n_rows) + 0.0 * residuals[:, 0] * sample_weight

    rows = problem()
    (only,) = reweight(rows.rows, rows.weight, build_with(rows, recipe(3)), Mine(), 1)
    np.testing.assert_allclose(only.inlier_weight, 1.0, rtol=1e-14)


def test_a_least_scale_is_asked_for_each_round_and_kept():
    rows = problem()
    asked = []

    def least_scale(number, evidence):
        asked.append((number, evidence))
        return np.array([4.0 / 2**number])

    rounds = list(
        reweight(
            rows.rows,
            rows.weight,
            lambda *_: (None, rows.y),
            Tukey(),
            2,
            least_scale=least_scale,
            normalise=False,
        )
    )
    assert [number for number, _ in asked] == [0, 1]
    for (_, evidence), round_, least in zip(asked, rounds, (4.0, 2.0), strict=True):
        np.testing.assert_array_equal(evidence, rows.y)
        np.testing.assert_array_equal(round_.least_scale, [least])
        np.testing.assert_array_equal(
            round_.inlier_weight,
            Tukey().inlier_weight(rows.rows, rows.y, rows.weight, np.array([least])),
        )


def test_doubt_is_measured_together_with_the_scale():
    rng = np.random.default_rng(5)
    rows = LocalRows(300)
    e, doubt = rng.normal(size=(300, 2)), rng.uniform(0, 3, size=(300, 2))
    e[:30] += 20.0
    weight = rng.uniform(0.5, 2.0, size=300)
    (only,) = reweight(
        rows,
        weight,
        lambda *_: (None, e),
        GemanMcClure(),
        1,
        doubt=lambda _: doubt,
        normalise=False,
    )
    scales = trimmed_scales(rows, e, weight)
    np.testing.assert_array_equal(only.evidence, e)
    literal = e / np.sqrt(scales**2 + doubt**2)  # in units of both
    np.testing.assert_allclose(only.judged / scales, literal, rtol=1e-12)
    np.testing.assert_allclose(
        only.inlier_weight, GemanMcClure().inlier_weight(rows, only.judged, weight), rtol=1e-12
    )
    least = np.array([5.0, 0.0])
    found = doubted(rows, e, doubt, weight, least)
    np.testing.assert_allclose(found[:, 0], e[:, 0] / np.sqrt(1 + (doubt[:, 0] / 5) ** 2))
    np.testing.assert_allclose(found[:, 1], only.judged[:, 1])


def test_each_round_may_have_a_weighting_of_its_own():
    e = np.random.default_rng(6).standard_t(2, size=(200, 1))
    weightings = [GemanMcClure(), Tukey()]
    rounds = reweight(
        LocalRows(200), np.ones(200), lambda *_: (None, e), weightings, 2, normalise=False
    )
    for round_, weighting in zip(rounds, weightings, strict=True):
        expected = weighting.inlier_weight(LocalRows(200), e, np.ones(200))
        np.testing.assert_array_equal(round_.inlier_weight, expected)


def test_no_doubt_changes_nothing_and_endless_doubt_overflows_nothing():
    rows, e = LocalRows(4), np.array([[0.0], [0.0], [0.0], [2.0]])
    np.testing.assert_array_equal(doubted(rows, e, np.zeros((4, 1)), np.ones(4), None), e)
    # More than half of the rows are met exactly: one standard deviation is next to nothing.
    found = doubted(rows, e, np.full((4, 1), 1e300), np.ones(4), None)
    assert np.all(np.isfinite(found))


def test_rounds_of_kernel_density_weights_equal_the_reference():
    rows = replace(problem(), weight=np.ones(50))
    rows.y[::9] += 2.0
    how = recipe(5, pooled=False)
    rounds = list(reweight(rows.rows, rows.weight, build_with(rows, how), KDE(robust=False), 3))
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

    def build(number, weight):
        seen.append(weight)
        return number, rows.y

    start = np.linspace(0.5, 1.5, 50)
    first, second = reweight(rows.rows, rows.weight, build, Tukey(), 2, start=start)
    np.testing.assert_array_equal(seen[0], rows.weight * start)
    np.testing.assert_array_equal(first.weight_used, start)
    suggested = Tukey().inlier_weight(rows.rows, rows.y, rows.weight)
    scaled = suggested * rows.weight.sum() / np.sum(suggested * rows.weight)
    np.testing.assert_allclose(first.inlier_weight, scaled, rtol=1e-12)
    np.testing.assert_array_equal(second.weight_used, first.inlier_weight)
    np.testing.assert_allclose(seen[1], rows.weight * scaled, rtol=1e-12)


def test_inlier_weights_keep_their_scale_when_asked_to():
    rows = problem()
    (only,) = reweight(
        rows.rows, rows.weight, lambda *_: (None, rows.y), Tukey(), 1, normalise=False
    )
    np.testing.assert_array_equal(
        only.inlier_weight, Tukey().inlier_weight(rows.rows, rows.y, rows.weight)
    )


def test_negligible_residuals_count_as_none():
    e = np.array([[1e-14], [-3e-14], [2e-14], [1.0], [0.0]])
    (only,) = reweight(LocalRows(5), np.ones(5), lambda *_: (None, e), Tukey(), 1, negligible=1e-13)
    np.testing.assert_array_equal(only.evidence[:, 0], [0, 0, 0, 1, 0])
    np.testing.assert_allclose(only.inlier_weight, [1.25, 1.25, 1.25, 0, 1.25], atol=1e-12)


def test_leave_one_out_evidence_of_a_grown_network_equals_refits():
    rows = problem(n_rows=40)
    weight = rows.weight + 0.1
    *_, last = grow(replace(rows, weight=weight), recipe(6, ridge=1e-3))
    found = leave_one_out(last.fit.residuals, last.fit.leverage)
    literal = reference.refitted_without(
        last.nodes.hidden(rows.X), rows.y, weight, np.ones(40), 1e-3 * weight.sum()
    )
    np.testing.assert_allclose(found, literal, rtol=1e-7, atol=1e-9)


# --- the baselines, whose nodes are drawn at once -------------------------------------------


def drawn_hidden(model, X):
    (layer,) = model._network.layers
    return reference.hidden(X, layer.weights, layer.biases)


def dirty(n_outputs=1):
    rows = problem(n_rows=80, n_outputs=n_outputs)
    rows.y[::9] += 2.0
    return rows.X, rows.y


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_improved_rvfl_equals_the_reference(n_outputs):
    X, y = dirty(n_outputs)
    model = ImprovedRVFLRegressor(8, scope=4.0, random_state=0).fit(X, y)
    beta, n_rounds = reference.improved_rvfl(drawn_hidden(model, X), y, 40, 1e-4)
    assert 3 < n_rounds < 40
    assert model.n_rounds_ == n_rounds
    np.testing.assert_allclose(model.output_weights_, beta, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("unit", [1.0, 300.0])
def test_prnnrw_equals_the_reference_in_the_unit_of_the_targets(unit):
    X, y = dirty()
    y = unit * y
    model = PRNNRWRegressor(8, scope=4.0, ridge=0.5, delta=1e-3, random_state=0)
    model.fit(X, y[:, 0])
    beta, n_rounds = reference.prnnrw(drawn_hidden(model, X), y, 0.5, 1e-3, 100, 1e-4)
    assert 3 < n_rounds < 100
    assert model.n_rounds_ == n_rounds
    np.testing.assert_allclose(model.output_weights_, beta, rtol=1e-6, atol=1e-7 * unit)


def test_rvfl_is_one_pseudo_inverse():
    X, y = dirty(2)
    model = RVFLRegressor(8, scope=4.0, random_state=0).fit(X, y)
    beta = reference.weighted_pinv(drawn_hidden(model, X), y, np.ones(80))
    np.testing.assert_allclose(model.output_weights_, beta, rtol=1e-8)


# --- scales of weights and errors -----------------------------------------------------------


def test_mean_one_is_weighted_and_has_a_way_out():
    rows = LocalRows(4)
    theta, weight = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 0.0, 2.0, 1.0])
    scaled = mean_one(rows, theta, weight)
    assert np.sum(scaled * weight) == pytest.approx(np.sum(weight))
    np.testing.assert_allclose(scaled / theta, scaled[0], rtol=1e-14)
    np.testing.assert_array_equal(mean_one(rows, np.zeros(4), weight), np.ones(4))
    np.testing.assert_array_equal(
        mean_one(rows, np.array([0.0, 5.0, 0.0, 0.0]), weight), np.ones(4)
    )


def test_at_most_one_scales_the_largest_to_one():
    theta = np.random.default_rng(0).uniform(1, 100, size=500)
    scaled = at_most_one(LocalRows(500, block_bytes=64), theta, np.ones(500))
    assert np.max(scaled) == 1.0
    np.testing.assert_allclose(scaled, theta / np.max(theta), rtol=1e-14)


def test_energy_and_total_weight():
    rows = problem(n_outputs=2, block_bytes=64)
    np.testing.assert_allclose(
        rows.energy(rows.y), np.sum(rows.weight[:, None] * rows.y**2, axis=0), rtol=1e-12
    )
    assert rows.total_weight() == pytest.approx(np.sum(rows.weight), rel=1e-13)


def test_the_empty_network_predicts_zero():
    rows = problem(n_outputs=2)
    state = empty(rows, recipe())
    assert len(state.nodes) == 0
    assert state.stop is None
    np.testing.assert_array_equal(outputs(state, rows.X), np.zeros((50, 2)))
    np.testing.assert_array_equal(state.fit.residuals, rows.y)
    np.testing.assert_allclose(state.energy, rows.energy(rows.y), rtol=1e-15)
