"""Flags that hold their rate, quantiles of the right rows, and noise that is skewed."""

import numpy as np
import pytest

from robustscn.core.certainty import LEAST, certainty_of
from robustscn.core.rows import LocalRows
from robustscn.core.scale import trimmed_scales

N = 2000


def standardised(noise, wrong=None):
    e = noise.copy()
    if wrong is not None:
        e[: len(wrong)] += wrong
    e = e[:, None]
    return e / trimmed_scales(LocalRows(len(e)), e, np.ones(len(e)))


def sure(z, rate=0.1, weight=None):
    weight = np.ones(len(z)) if weight is None else weight
    return certainty_of(LocalRows(len(z)), z, weight, rate)


def flagged(z, rate=0.1):
    found, probability = sure(z, rate)
    return probability > found.cut


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
@pytest.mark.parametrize("skewed", [False, True])
def test_of_the_flagged_rows_few_are_right(share, skewed):
    rates, powers = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        noise = rng.exponential(size=N) - np.log(2) if skewed else rng.normal(size=N)
        z = standardised(noise, rng.uniform(-20, 20, size=round(share * N)))
        rows, wrong = flagged(z), np.arange(N) < share * N
        rates.append(np.mean(~wrong[rows]))
        powers.append(np.mean(rows[wrong]))
    assert np.mean(rates) < 0.15
    assert np.mean(powers) > 0.7


@pytest.mark.parametrize("noise", ["normal", "laplace", "exponential"])
def test_nearly_no_row_is_flagged_where_none_is_wrong(noise):
    counts = []
    for seed in range(9):
        e = getattr(np.random.default_rng(seed), noise)(size=1000)
        z = standardised(e - np.median(e))
        counts.append(flagged(z).sum())
    assert np.median(counts) <= 1


@pytest.mark.parametrize(("rate", "bound_by"), [(0.01, "rate"), (0.2, "LEAST")])
def test_as_many_rows_are_flagged_as_the_rate_allows_and_are_suspect_enough(rate, bound_by):
    rng = np.random.default_rng(3)
    z = standardised(rng.normal(size=N), rng.uniform(-20, 20, size=400))
    found, probability = sure(z, rate=rate)
    right = np.sort(1 - probability)
    allowed = np.sum(np.cumsum(right) / np.arange(1, N + 1) <= rate)
    likely = np.sum(probability > LEAST)
    assert (likely < allowed) == (bound_by == "LEAST"), "both bounds must be met"
    assert abs(np.sum(probability > found.cut) - min(allowed, likely)) <= 2
    assert found.share == pytest.approx(np.mean(probability), rel=1e-9)


def test_a_row_is_wrong_if_any_of_its_outputs_is():
    rng = np.random.default_rng(8)
    z = rng.normal(size=(N, 5))
    z[:60, 3] += 10.0
    found, probability = sure(z)
    alone = [sure(z[:, [q]])[1] for q in range(5)]
    np.testing.assert_allclose(probability, 1 - np.prod(1 - np.array(alone), axis=0), atol=1e-9)
    rows = probability > found.cut
    assert rows[:60].all()
    assert rows[60:].mean() < 0.01


def test_a_lower_rate_flags_fewer_rows():
    rng = np.random.default_rng(4)
    z = standardised(rng.normal(size=N), rng.uniform(-12, 12, size=500))
    counts = [flagged(z, rate).sum() for rate in (0.01, 0.1, 0.4)]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]


def test_quantiles_without_wrong_rows_are_those_of_the_rows():
    rng = np.random.default_rng(5)
    z = standardised(rng.normal(size=N))
    weight = rng.integers(0, 3, size=N).astype(float)
    found, _ = sure(z, weight=weight)
    order = np.argsort(z[:, 0])
    reached = np.cumsum(weight[order]) / weight.sum()
    for share in (0.05, 0.25, 0.5, 0.95):
        literal = z[order, 0][np.searchsorted(reached, share)]
        assert found.quantiles[int(share * 2000), 0] == pytest.approx(literal, abs=0.03)


def test_a_row_is_far_if_it_is_far_for_its_side():
    rng = np.random.default_rng(6)
    z = standardised(np.where(rng.random(N) < 0.5, 1, -3) * np.abs(rng.normal(size=N)))
    found, _ = sure(z)
    assert found.below[0] / found.above[0] == pytest.approx(3.0, rel=0.15)
    even, _ = sure(standardised(rng.normal(size=N)))
    np.testing.assert_array_equal([even.below, even.above], np.ones((2, 1)))


def test_a_weight_of_two_is_a_row_twice():
    rng = np.random.default_rng(7)
    z = standardised(rng.normal(size=N), rng.uniform(-20, 20, size=300))
    counts = rng.integers(0, 3, size=N)
    weighted, _ = sure(z, weight=counts.astype(float))
    repeated, _ = sure(np.repeat(z, counts, axis=0))
    assert weighted.cut == repeated.cut
    np.testing.assert_allclose(weighted.quantiles, repeated.quantiles, atol=1e-9)
