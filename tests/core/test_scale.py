"""Robust standard deviations and distances in them, against medians written out."""

import numpy as np
import pytest

import reference
from robustscn.core.rows import LocalRows
from robustscn.core.scale import (
    at_least,
    centred,
    distances,
    mean_size,
    robust_scales,
    standard_deviation,
    trimmed_scales,
)


def residuals(n_outputs=1, n=80, seed=0):
    rng = np.random.default_rng(seed)
    e = rng.standard_t(3, size=(n, n_outputs)) * np.arange(1, n_outputs + 1)
    return e, rng.integers(1, 4, size=n).astype(float)


def test_standard_deviation_is_pooled_and_weighted():
    e, counts = residuals(2)
    written_out = np.repeat(e, counts.astype(int), axis=0)
    pooled = np.sqrt(np.mean((written_out - written_out.mean(axis=0)) ** 2))
    for block_bytes in (8, 2**21):
        found = standard_deviation(LocalRows(80, block_bytes), e, counts)
        assert found == pytest.approx(pooled, rel=1e-12)


def test_robust_scale_is_the_weighted_median_absolute_residual():
    e, counts = residuals(3)
    literal = [1.4826022 * reference.weighted_median(np.abs(e[:, q]), counts) for q in range(3)]
    np.testing.assert_allclose(robust_scales(LocalRows(80), e, counts), literal, rtol=1e-7)


def test_robust_scale_estimates_the_standard_deviation_of_normal_noise():
    e = 7.0 * np.random.default_rng(1).normal(size=(20001, 1))
    assert robust_scales(LocalRows(20001), e, np.ones(20001))[0] == pytest.approx(7.0, rel=0.02)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_robust_scale_of_rows_that_are_met_exactly_is_held_above_rounding(dtype):
    e = np.zeros((9, 1), dtype=dtype)
    assert robust_scales(LocalRows(9), e, np.ones(9, dtype))[0] > 0
    e[:3] = 2.0
    scale = robust_scales(LocalRows(9), e, np.ones(9, dtype))[0]
    assert 0 < scale <= 100 * np.finfo(dtype).eps * 2.0
    assert np.all(np.isfinite(distances(LocalRows(9), e, np.array([scale]))))


def test_trimming_brings_the_scale_back_down():
    rng = np.random.default_rng(2)
    e = rng.normal(size=(4000, 1))
    e[:1000] += rng.choice([-50.0, 50.0], size=(1000, 1))
    plain = robust_scales(LocalRows(4000), e, np.ones(4000))[0]
    trimmed = trimmed_scales(LocalRows(4000), e, np.ones(4000))[0]
    assert plain > 1.3
    assert trimmed == pytest.approx(1.0, rel=0.05)
    # Exactly the median of the rows within three of it.
    kept = np.abs(e[np.abs(e) <= 3 * trimmed])
    assert trimmed == pytest.approx(
        1.4826022 * reference.weighted_median(kept, np.ones(len(kept))), rel=1e-7
    )


def test_trimming_leaves_clean_noise_nearly_alone():
    e = np.random.default_rng(3).normal(size=(4000, 1))
    plain = robust_scales(LocalRows(4000), e, np.ones(4000))[0]
    trimmed = trimmed_scales(LocalRows(4000), e, np.ones(4000))[0]
    assert 0.98 * plain < trimmed <= plain


def test_distances_of_one_output_are_scaled_sizes():
    e, _ = residuals()
    np.testing.assert_allclose(
        distances(LocalRows(80), e, np.array([2.5])), np.abs(e[:, 0]) / 2.5, rtol=1e-14
    )


def test_distances_of_several_outputs_go_beyond_three_as_seldom_as_of_one():
    e = np.random.default_rng(4).normal(size=(400001, 3)) * [1.0, 10.0, 0.1]
    d = distances(LocalRows(400001), e, np.array([1.0, 10.0, 0.1]))
    assert np.mean(d > 3) == pytest.approx(0.0027, rel=0.1)
    length = np.linalg.norm(e / [1.0, 10.0, 0.1], axis=1)
    np.testing.assert_allclose(d / length, d[0] / length[0], rtol=1e-12)


def test_the_trimmed_scale_of_one_output_is_the_literal_loop():
    for seed in range(20):
        e, counts = residuals(seed=seed)
        e[:20] += 12.0
        found = trimmed_scales(LocalRows(80, 64), e, counts)
        np.testing.assert_allclose(found, [reference.trimmed_scale(e[:, 0], counts)], rtol=1e-6)


def test_a_least_scale_is_least_for_each_output():
    np.testing.assert_array_equal(at_least(np.array([1.0, 5.0]), np.array([2.0, 3.0])), [2.0, 5.0])
    np.testing.assert_array_equal(at_least(np.array([1.0, 5.0]), None), [1.0, 5.0])


def test_evidence_lies_around_zero_for_each_output():
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 5, size=240).astype(float)
    e = np.column_stack([rng.exponential(size=240), 5.0 - rng.exponential(size=240)])
    found, middles = centred(LocalRows(240), e, counts)
    for q in range(2):
        middle = reference.weighted_median(e[:, q], counts)
        np.testing.assert_allclose(middles[q], middle)
        np.testing.assert_allclose(found[:, q], e[:, q] - middle)


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
