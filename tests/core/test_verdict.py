"""One scale, residuals standardised by it, weights; and targets that are set aside at first."""

import numpy as np
import pytest

import reference
from robustscn.core.rows import LocalRows
from robustscn.core.verdict import not_gross, standardised, verdict
from robustscn.core.weighting import GemanMcClure, Laplace, Weighting

CURVE = GemanMcClure()


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
