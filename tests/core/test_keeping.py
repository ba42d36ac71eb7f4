"""The round that is kept meets rows that it has not seen best."""

import numpy as np
import pytest

from robustscn.core.keeping import BEND, ERRORS, kept_round
from robustscn.core.rows import LocalRows

N = 400


def literal_choice(evidence, w):
    scale = 1.4826022185056018 * weighted_median(np.abs(evidence[-1]), w)
    losses = []
    for e in evidence:
        size = np.abs(e) / scale
        losses.append(np.where(size <= BEND, 0.5 * size**2, BEND * (size - 0.5 * BEND)))
    means = [np.average(each, weights=w) for each in losses]
    lowest = losses[int(np.argmin(means))]
    for k in reversed(range(len(losses))):
        difference = losses[k] - lowest
        mean = np.average(difference, weights=w)
        variance = np.average((difference - mean) ** 2, weights=w)
        if mean <= ERRORS * np.sqrt(variance / w.sum()):
            return k
    raise AssertionError("the lowest is within its own error")


def weighted_median(x, w):
    order = np.argsort(x)
    return x[order][np.searchsorted(np.cumsum(w[order]), 0.5 * w.sum())]


def residuals_of(seed, spreads, n=N):
    rng = np.random.default_rng(seed)
    common = rng.standard_t(3, size=n)
    return [s * common + 0.3 * rng.normal(size=n) for s in spreads]


def chosen(evidence, w):
    return kept_round(LocalRows(len(w)), w, [e[:, None] for e in evidence])


@pytest.mark.parametrize("seed", range(20))
def test_the_choice_is_the_literal_one(seed):
    spreads = np.random.default_rng(100 + seed).uniform(0.98, 1.04, size=6)
    evidence = residuals_of(seed, spreads)
    w = np.random.default_rng(seed).uniform(0.1, 2.0, size=N)
    assert chosen(evidence, w) == literal_choice(evidence, w)


def test_of_equal_rounds_the_last_is_kept():
    one = residuals_of(0, [1.0])[0]
    assert chosen([one, one, 2 * one, one, 2 * one], np.ones(N)) == 3


def test_a_round_that_rejects_good_rows_and_predicts_them_badly_is_not_kept():
    rng = np.random.default_rng(1)
    believing = rng.normal(size=N)
    rejecting = 0.95 * believing
    rejecting[: N // 20] = 6.0  # met badly because they were rejected
    assert chosen([believing, rejecting], np.ones(N)) == 0
    # By their squares alone the wrong rows of both would decide.
    assert chosen([2 * believing, believing], np.ones(N)) == 1


def test_one_gross_row_decides_nothing():
    first, second = residuals_of(2, [2.0, 1.0])
    first[0], second[0] = 1e9, 1e9 + 1.0  # what is predicted for it has not seen its target
    assert chosen([first, second], np.ones(N)) == 1


def test_a_weight_of_two_is_a_row_twice():
    evidence = residuals_of(3, [1.05, 1.0, 0.98, 1.01])
    w = np.random.default_rng(3).integers(0, 3, size=N)
    repeated = [np.repeat(e, w) for e in evidence]
    assert chosen(evidence, w.astype(float)) == chosen(repeated, np.ones(w.sum()))
