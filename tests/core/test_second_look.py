"""The second look: what lies together is suspected, by how much, and what that allows."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from robustscn.core.committee import Committee
from robustscn.core.folds import parts_of
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.recipe import Recipe
from robustscn.core.rows import LocalRows
from robustscn.core.second_look import SecondLook, second_look
from robustscn.core.verdict import not_gross, verdict
from robustscn.core.weighting import GemanMcClure

CURVE = GemanMcClure()
N = 600


@pytest.fixture(scope="module")
def committee():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, 1))
    rows = Problem(LocalRows(N), X, np.sin(5 * X), np.ones(N))
    draw = Draw(0, 1, (1.0, 10.0, 100.0), 20, centres=np.array([[0.0], [1.0]]))
    return Committee(rows, Recipe(draw, 40, block=5, exact=True, ridge=1e-6), parts_of(rows, 0))


@dataclass(frozen=True)
class Last:
    """The last round of a first look, as far as it matters here."""

    inlier_weight: np.ndarray
    evidence: np.ndarray


def round_of(rejected, size=0.3):
    """Return a round that rejects the given rows, which have residuals of the given size."""
    return Last(np.where(rejected, 0.0, 1.0), np.where(rejected, size, 0.001)[:, None])


def looked_again(committee, last, believable=None):
    rows, weight = committee.problem.rows, committee.problem.weight
    believable = np.ones(N) if believable is None else believable
    return second_look(
        rows,
        weight,
        last.inlier_weight,
        last.evidence,
        believable,
        lambda target: committee.foreseen(target, 1),
    )


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
    last = replace(last, inlier_weight=believed)
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
    last = replace(last, evidence=evidence)
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
