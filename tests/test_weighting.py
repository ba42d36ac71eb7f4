"""Weightings: the formulas, their unit, and what repetition and gross errors do to them."""

import numpy as np
import pytest

import reference
from robustscn.core.rounds import mean_one
from robustscn.core.rows import LocalRows
from robustscn.core.scale import distances, robust_scales, standard_deviation, trimmed_scales
from robustscn.core.weighting import (
    KDE,
    NAMED,
    Cauchy,
    Curve,
    GemanMcClure,
    Huber,
    Laplace,
    StudentT,
    Tukey,
    Welsch,
    named,
)

CURVES = {
    Huber(1.5): lambda d: np.where(d <= 1.5, 1.0, 1.5 / np.maximum(d, 1e-300)),
    Tukey(4.0): lambda d: np.where(d < 4.0, (1 - (d / 4.0) ** 2) ** 2, 0.0),
    Cauchy(2.0): lambda d: 1 / (1 + (d / 2.0) ** 2),
    GemanMcClure(2.0): lambda d: 1 / (1 + (d / 2.0) ** 2) ** 2,
    Welsch(3.0): lambda d: np.exp(-((d / 3.0) ** 2)),
    StudentT(5.0): lambda d: 5.0 / (5.0 + d**2),
}


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


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, "float64") for name in NAMED] + [(name, "float32") for name in NAMED],
)
def test_weights_are_finite_where_most_rows_are_met_exactly(name, dtype):
    e = np.zeros((9, 1), dtype=dtype)
    e[:3] = 2.0
    weight = NAMED[name].inlier_weight(LocalRows(9), e, np.ones(9, dtype))
    assert np.all(np.isfinite(weight))
    assert np.all(weight[3:] == weight[3])
    assert np.all(weight[:3] <= weight[3])


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


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
def test_curves_equal_their_formulas(curve):
    e, counts = residuals()
    scale = trimmed_scales(LocalRows(80), e, counts)[0]
    found = curve.inlier_weight(LocalRows(80), e, counts)
    np.testing.assert_allclose(found, CURVES[curve](np.abs(e[:, 0]) / scale), rtol=1e-10)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_curves_fall_from_one_and_stay_finite(curve, dtype):
    d = np.array([0.0, 0.5, 1.0, 2.0, 3.9, 5.0, 1e3, 1e18], dtype=dtype)
    weight = curve.weight(d)
    assert weight.dtype == dtype
    assert weight[0] == 1.0
    assert np.all(np.diff(weight) <= 0)
    assert 0 <= weight[-1] < 1e-15


@pytest.mark.parametrize("name", NAMED)
def test_a_least_scale_holds_the_scale_up(name):
    e, counts = residuals(2)
    rows, weighting = LocalRows(80), NAMED[name]
    plain = weighting.inlier_weight(rows, e, counts)
    np.testing.assert_array_equal(
        weighting.inlier_weight(rows, e, counts, np.array([1e-6, 1e-6])), plain
    )
    wide = mean_one(rows, weighting.inlier_weight(rows, e, counts, np.array([1e4, 1e4])), counts)
    # Beside a wide scale all residuals are small and all rows nearly alike.
    np.testing.assert_allclose(wide, 1.0, atol=1e-2)


def test_efficiency_constants():
    # Cut-offs that promise 95 % efficiency: E[psi']^2 / E[psi^2] under normal noise.
    d = np.linspace(-12, 12, 200001)
    normal = np.exp(-(d**2) / 2) / np.sqrt(2 * np.pi)
    for curve in (Huber(), Tukey(), Cauchy(), Welsch()):
        psi = d * curve.weight(np.abs(d))
        slope = np.gradient(psi, d)
        step = d[1] - d[0]
        efficiency = np.sum(slope * normal * step) ** 2 / np.sum(psi**2 * normal * step)
        assert efficiency == pytest.approx(0.95, abs=2e-3)


def test_textbook_kde_equals_the_formula_up_to_scale():
    for n_outputs in (1, 2):
        e, counts = residuals(n_outputs)
        found = KDE(robust=False).inlier_weight(LocalRows(80), e, counts)
        tau = reference.bandwidth(e, counts)
        np.testing.assert_allclose(found, reference.kernel_density(e, tau, counts), rtol=1e-10)
        normalised = mean_one(LocalRows(80), found, counts)
        np.testing.assert_allclose(normalised, reference.kde_weights(e, counts), rtol=1e-10)


def test_robust_kde_equals_the_formula_with_median_scales():
    for n_outputs in (1, 2):
        e, counts = residuals(n_outputs)
        scaled = e / robust_scales(LocalRows(80), e, counts)
        tau = 1.06 * np.sum(counts) ** -0.2
        literal = reference.kernel_density(scaled, tau, counts, without_self=True)
        found = KDE(robust=True).inlier_weight(LocalRows(80), e, counts)
        np.testing.assert_allclose(found, literal, rtol=1e-9, atol=1e-14)


def test_textbook_kde_of_equal_residuals_believes_all():
    e = np.full((10, 1), 0.25)
    np.testing.assert_array_equal(
        KDE(robust=False).inlier_weight(LocalRows(10), e, np.ones(10)), np.ones(10)
    )


def test_one_gross_error_inflates_the_textbook_bandwidth_but_not_the_robust_one():
    rng = np.random.default_rng(5)
    e = rng.normal(size=(200, 1))
    e[0], e[1] = 1e6, 8.0
    ones = np.ones(200)
    textbook = KDE(robust=False).inlier_weight(LocalRows(200), e, ones)
    robust = KDE(robust=True).inlier_weight(LocalRows(200), e, ones)
    assert textbook[1] > 0.99 * np.max(textbook)
    assert robust[1] < 1e-3 * np.max(robust)
    assert robust[0] == 0.0


def test_laplace_is_the_reciprocal_of_the_residual():
    e, counts = residuals()
    for unit in (1.0, 8.0):
        absolute = Laplace(0.1, unit=unit).inlier_weight(LocalRows(80), e, counts)
        literal = 1 / np.maximum(unit * np.abs(e[:, 0]), 0.1)
        np.testing.assert_allclose(absolute, literal, rtol=1e-13)
    scale = robust_scales(LocalRows(80), e, counts)[0]
    relative = Laplace(0.1).inlier_weight(LocalRows(80), e, counts)
    np.testing.assert_allclose(relative, 1 / np.maximum(np.abs(e[:, 0]) / scale, 0.1), rtol=1e-12)


def shape(weighting, e, counts):
    rows = LocalRows(len(e))
    return mean_one(rows, weighting.inlier_weight(rows, e, counts), counts)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_no_named_weighting_has_a_unit(name, n_outputs):
    e, counts = residuals(n_outputs)
    for unit in (1e-9, 3.7, 1e9):
        np.testing.assert_allclose(
            shape(NAMED[name], unit * e, counts), shape(NAMED[name], e, counts), rtol=1e-8
        )


@pytest.mark.parametrize("name", NAMED)
def test_weight_is_repetition_for_every_weighting(name):
    e, counts = residuals(2)
    counts[::5] = 0.0
    rows_of = np.repeat(np.arange(80), counts.astype(int))
    np.testing.assert_allclose(
        shape(NAMED[name], e, counts)[rows_of],
        shape(NAMED[name], e[rows_of], np.ones(len(rows_of))),
        rtol=1e-9,
        atol=1e-12,
    )


def test_robust_kde_tells_outliers_whatever_the_weights_sum_to():
    e, _ = residuals(n=200)
    e[0] = 100.0
    weight = shape(KDE(), e, np.full(200, 1 / 200))
    assert weight[0] < 0.01 * np.median(weight)


def test_names_and_objects():
    assert named("tukey") == Tukey()
    mine = Laplace(0.5)
    assert named(mine) is mine
    with pytest.raises(ValueError, match="weighting='biweight' is not known; use one of cauchy"):
        named("biweight")
    with pytest.raises(TypeError, match="inlier_weight"):
        named(3.0)


def test_a_curve_of_ones_own():
    class Hard(Curve):
        def weight(self, distance):
            return 1.0 * (distance < 3)

    e = np.append(np.linspace(-1, 1, 21), 100.0)[:, None]
    weight = named(Hard()).inlier_weight(LocalRows(22), e, np.ones(22))
    np.testing.assert_array_equal(weight, [1.0] * 21 + [0.0])
    with pytest.raises(NotImplementedError):
        Curve().weight(np.ones(1))
