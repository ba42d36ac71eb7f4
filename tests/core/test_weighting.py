"""Weightings: the formulas, their unit, and what repetition and gross errors do to them."""

import numpy as np
import pytest

import reference
from robustscn.core.rows import LocalRows
from robustscn.core.scale import robust_scales
from robustscn.core.verdict import standardised, verdict
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
    Weighting,
    Welsch,
    at_most_one,
    mean_one,
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


def weighed(weighting, e, counts):
    """The weights of residuals, standardised by the weighting's own scale."""
    rows = LocalRows(len(e))
    scaled = standardised(rows, e, None, weighting.scale(rows, e, counts))
    return weighting.inlier_weight(rows, scaled, counts)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, "float64") for name in NAMED] + [(name, "float32") for name in NAMED],
)
def test_weights_are_finite_where_most_rows_are_met_exactly(name, dtype):
    e = np.zeros((9, 1), dtype=dtype)
    e[:3] = 2.0
    weight = weighed(NAMED[name], e, np.ones(9, dtype))
    assert np.all(np.isfinite(weight))
    assert np.all(weight[3:] == weight[3])
    assert np.all(weight[:3] <= weight[3])


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
def test_curves_equal_their_formulas(curve):
    e, counts = residuals()
    found = curve.inlier_weight(LocalRows(80), e, counts)
    np.testing.assert_allclose(found, CURVES[curve](np.abs(e[:, 0])), rtol=1e-10)
    scale = reference.trimmed_scale(e[:, 0], counts)
    np.testing.assert_allclose(curve.scale(LocalRows(80), e, counts), [scale], rtol=1e-6)


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
def test_a_floor_holds_the_scale_up(name):
    e, counts = residuals(2)
    e[:8] *= 20.0
    rows, weighting = LocalRows(80), NAMED[name]
    free = verdict(rows, counts, e, None, weighting)
    low = verdict(rows, counts, e, None, weighting, np.array([1e-6, 1e-6]))
    np.testing.assert_array_equal(low.inlier_weight, free.inlier_weight)
    wide = verdict(rows, counts, e, None, weighting, np.array([1e6, 1e6]))
    # Beside a wide scale all residuals are small and all rows nearly alike.
    np.testing.assert_allclose(wide.inlier_weight, 1.0, atol=1e-2)
    assert np.ptp(free.inlier_weight) > 0.1


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
        found = weighed(KDE(robust=False), e, counts)
        (pooled,) = set(KDE(robust=False).scale(LocalRows(80), e, counts))
        tau = reference.bandwidth(e, counts)
        # The density of e / pooled is that of e, times the unit.
        literal = pooled * reference.kernel_density(e, tau, counts)
        np.testing.assert_allclose(found, literal, rtol=1e-10)
        normalised = mean_one(LocalRows(80), found, counts)
        np.testing.assert_allclose(normalised, reference.kde_weights(e, counts), rtol=1e-10)


def test_robust_kde_equals_the_formula_with_median_scales():
    for n_outputs in (1, 2):
        e, counts = residuals(n_outputs)
        scaled = e / robust_scales(LocalRows(80), e, counts)
        tau = 1.06 * np.sum(counts) ** -0.2
        literal = reference.kernel_density(scaled, tau, counts, without_self=True)
        found = weighed(KDE(robust=True), e, counts)
        np.testing.assert_allclose(found, literal, rtol=1e-9, atol=1e-14)


def test_textbook_kde_of_equal_residuals_believes_all():
    e = np.full((10, 1), 0.25)
    found = verdict(LocalRows(10), np.ones(10), e, None, KDE(robust=False)).inlier_weight
    np.testing.assert_allclose(found, np.ones(10), rtol=1e-14)


def test_one_gross_error_inflates_the_textbook_bandwidth_but_not_the_robust_one():
    rng = np.random.default_rng(5)
    e = rng.normal(size=(200, 1))
    e[0], e[1] = 1e6, 8.0
    ones = np.ones(200)
    textbook = weighed(KDE(robust=False), e, ones)
    robust = weighed(KDE(robust=True), e, ones)
    assert textbook[1] > 0.99 * np.max(textbook)
    assert robust[1] < 1e-3 * np.max(robust)
    assert robust[0] == 0.0


def test_laplace_is_the_reciprocal_of_the_residual():
    e, counts = residuals()
    for unit in (1.0, 8.0):
        absolute = weighed(Laplace(0.1, unit=unit), e, counts)
        literal = 1 / np.maximum(unit * np.abs(e[:, 0]), 0.1)
        np.testing.assert_allclose(absolute, literal, rtol=1e-13)
    scale = robust_scales(LocalRows(80), e, counts)[0]
    relative = weighed(Laplace(0.1), e, counts)
    np.testing.assert_allclose(relative, 1 / np.maximum(np.abs(e[:, 0]) / scale, 0.1), rtol=1e-12)


def shape(weighting, e, counts):
    return verdict(LocalRows(len(e)), counts, e, None, weighting).inlier_weight


def test_only_weights_with_a_unit_keep_their_size():
    assert all(weighting.normalised for weighting in NAMED.values())
    assert Laplace().normalised
    assert not Laplace(unit=2.0).normalised


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
    with pytest.raises(TypeError, match="a Curve with a weight function of your own"):
        named(3.0)

    class LooksAlike:  # has the method, but neither a scale nor a say in normalising
        def inlier_weight(self, rows, standardised, sample_weight):
            return sample_weight

    with pytest.raises(TypeError, match=r"robustscn\.weighting\.Weighting"):
        named(LooksAlike())


def test_a_curve_of_ones_own():
    class Hard(Curve):
        def weight(self, distance):
            return 1.0 * (distance < 3)

    e = np.append(np.linspace(-1, 1, 21), 100.0)[:, None]
    weight = weighed(named(Hard()), e, np.ones(22))
    np.testing.assert_array_equal(weight, [1.0] * 21 + [0.0])
    with pytest.raises(NotImplementedError):
        Curve().weight(np.ones(1))
    with pytest.raises(NotImplementedError):
        Weighting().inlier_weight(LocalRows(22), e, np.ones(22))


# --- sizes of weights -----------------------------------------------------------------------


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


def test_at_most_one_scales_the_largest_of_a_counted_row_to_one():
    theta = np.random.default_rng(0).uniform(1, 100, size=500)
    scaled = at_most_one(LocalRows(500, block_bytes=64), theta, np.ones(500))
    assert np.max(scaled) == 1.0
    np.testing.assert_allclose(scaled, theta / np.max(theta), rtol=1e-14)
    weight = np.where(theta > 50, 0.0, 1.0)
    scaled = at_most_one(LocalRows(500), theta, weight)
    largest = theta[weight > 0].max()
    np.testing.assert_allclose(scaled, np.minimum(theta / largest, 1.0), rtol=1e-14)
