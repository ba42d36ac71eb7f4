"""Intervals of a stream: which errors count, and how wide they are when all of it is done."""

import numpy as np
import pytest

from robustscn.core.hindsight import around, probability_right, quantile, residual, with_imputed
from robustscn.core.memory import BLOCK
from small import after, nothing, plant, stream_alone

NOMINAL = 0.9


def _covered(wrong: float, noise: np.ndarray, counted: int) -> float:
    """Return the share of right targets, the latest, inside intervals made before their rows."""
    X, clean, y = plant(len(noise), wrong=wrong)
    hit = np.abs(y - clean) > 0.5
    right = clean + noise * np.random.default_rng(4).normal(size=len(noise))
    y = np.where(hit, y, right)
    stream, inside = stream_alone(), []
    for start in range(0, len(y), BLOCK):
        at = slice(start, start + BLOCK)
        ends = stream.ends(NOMINAL)
        if ends is not None and start >= len(y) - counted:
            error = right[at] - stream.predict(X[at], nothing)[:, 0]
            inside += ((ends[0] <= error) & (error <= ends[1])).tolist()
        after(stream, X[at], y[at])
    return float(np.mean(inside))


def test_where_noise_has_doubled_as_many_lie_inside_as_is_said() -> None:
    noise = np.where(np.arange(4000) < 1500, 0.05, 0.1)
    assert _covered(0.0, noise, 2000) == pytest.approx(NOMINAL, abs=0.02)


def test_intervals_are_as_wide_as_the_noise_soon_after_it_has_doubled() -> None:
    noise = np.where(np.arange(2000) < 1500, 0.05, 0.1)
    assert _covered(0.0, noise, 300) > 0.86


def test_wrong_rows_do_not_widen_intervals() -> None:
    assert 0.88 < _covered(0.25, np.full(3000, 0.05), 2000) < 0.96


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25])
def test_errors_of_right_rows_lie_within_their_quantiles(share: float) -> None:
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(40):
        right = rng.standard_t(3, size=500)  # trimmed at three deviations 86 % would lie inside
        errors = right.copy()
        wrong = rng.uniform(size=500) < share
        errors[wrong] += rng.uniform(-40, 40, size=wrong.sum())
        known = errors[:, None] + 0.3 * rng.normal(size=(500, 2))
        counted = with_imputed(errors, residual(known), probability_right(errors, known))
        low, high = around(*counted, np.ones(500), NOMINAL)
        covered.append(np.mean((low <= right) & (right <= high)))
    assert np.mean(covered) == pytest.approx(NOMINAL, abs=0.02)


def test_where_all_count_quantiles_are_those_of_one_more_than_there_are() -> None:
    errors = np.random.default_rng(1).uniform(-1.0, 1.0, size=99)
    shares = np.array([0.05, 0.5, 0.95])
    found = [quantile(errors, np.ones(99), np.ones(99), share) for share in shares]
    np.testing.assert_allclose(found, np.quantile(errors, shares, method="weibull"), rtol=1e-9)


def test_rows_are_right_that_a_model_meets_by_now_and_wrong_in_a_run() -> None:
    rng = np.random.default_rng(2)
    said, known = rng.normal(size=(2, 500))
    said[200:260] += 20.0 * rng.choice((-1, 1), size=60)  # a change: by now it is known
    said[300] += 20.0
    known[300] += 20.0  # wrong then and now
    said[400:415] -= 20.0
    known[400:415] -= 2.5  # a burst, to which a model has bent: near, and off in the same way
    right = probability_right(said, known[:, None])
    assert np.median(right[200:260]) > 0.9
    assert right[300] < 0.01
    np.testing.assert_array_equal(right[400:415], 0.0)
    assert np.median(right[:200]) > 0.9


def test_a_prediction_that_followed_a_burst_counts_by_what_is_known_since() -> None:
    rng = np.random.default_rng(3)
    said, known = 0.1 * rng.normal(size=(2, 500))
    known[100:200] += 30.0  # wrong targets, which what was said had followed
    right = probability_right(said, known[:, None])
    right[100:200] = 0.0
    errors, shares = with_imputed(said, known, right)
    assert shares.sum() == pytest.approx(500.0)
    low, high = around(errors, shares, np.ones(500), NOMINAL)
    assert low < -29.0
    assert high > 29.0


def test_what_is_wrong_on_one_side_does_not_count_until_it_is_more_than_the_rest() -> None:
    errors = np.concatenate([np.linspace(-1.0, 1.0, 93), np.full(7, 50.0)])
    low, high = around(errors, np.ones(100), np.ones(100), NOMINAL)
    assert -1.2 < low < high < 1.2


def test_the_level_of_a_model_that_drifts_is_taken_off() -> None:
    rng = np.random.default_rng(5)
    drift = np.linspace(0.0, 50.0, 500)
    noise = rng.normal(size=500)
    found = residual(np.stack([drift + noise, rng.normal(scale=20.0, size=500)], axis=1))
    assert np.median(np.abs(found)) < 1.0
    np.testing.assert_allclose(residual(noise[:30, None]), noise[:30])
