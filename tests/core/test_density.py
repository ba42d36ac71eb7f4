"""Kernel densities as a ladder: pair by pair, exact sums, binned, sampled."""

import numpy as np
import pytest

import reference
from robustscn.core import density as density_module
from robustscn.core.density import (
    POINTS_PER_BANDWIDTH,
    SAMPLED_CENTRES,
    _summed,
    binned,
    density,
    silverman,
)
from robustscn.core.rows import LocalRows, taken

KERNEL_PEAK = 1 / np.sqrt(2 * np.pi)


def exact_density(e, weight, bandwidth):
    """The middle rung: sums over all rows, whatever their number."""
    rows = LocalRows(e.shape[0])
    return _summed(rows, e, weight, bandwidth, (e, weight))


# --- exact sums against the formula ---------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("block_bytes", [8, 2**21])
def test_exact_sums_equal_the_formula(n_outputs, block_bytes):
    rng = np.random.default_rng(0)
    e = rng.standard_t(2, size=(60, n_outputs))
    counts = rng.integers(1, 4, size=60).astype(float)
    tau = reference.bandwidth(e, counts)
    found = density(LocalRows(60, block_bytes), e, counts, tau)
    np.testing.assert_allclose(found, reference.kernel_density(e, tau, counts), rtol=1e-11)


def test_a_weight_is_a_repetition():
    rng = np.random.default_rng(1)
    e, times = rng.normal(size=(40, 2)), rng.integers(0, 4, size=40)
    rows_of = np.repeat(np.arange(40), times)
    for exclude_self in (False, True):
        weighted = density(LocalRows(40), e, times.astype(float), 0.4, exclude_self=exclude_self)
        written_out = density(
            LocalRows(len(rows_of)),
            e[rows_of],
            np.ones(len(rows_of)),
            0.4,
            exclude_self=exclude_self,
        )
        np.testing.assert_allclose(weighted[rows_of], written_out, rtol=1e-10, atol=1e-14)


def test_excluding_oneself_leaves_out_one_repetition():
    rng = np.random.default_rng(2)
    e = rng.normal(size=(30, 1))
    e[0] = 1e3
    counts = rng.integers(1, 4, size=30).astype(float)
    counts[0] = 1.0
    found = density(LocalRows(30), e, counts, 0.5, exclude_self=True)
    np.testing.assert_allclose(
        found, reference.kernel_density(e, 0.5, counts, without_self=True), rtol=1e-9, atol=1e-14
    )
    assert found[0] == 0.0


def test_a_row_of_small_weight_excludes_itself_whole():
    e = np.random.default_rng(3).normal(size=(30, 1))
    weight = np.full(30, 1 / 30)
    found = density(LocalRows(30), e, weight, 0.5, exclude_self=True)
    whole = density(LocalRows(30), e, np.ones(30), 0.5, exclude_self=True)
    np.testing.assert_allclose(found, whole, rtol=1e-9)


def test_silverman_bandwidth_is_the_formulas():
    e = np.random.default_rng(4).normal(size=(50, 2))
    pooled = np.sqrt(np.mean((e - e.mean(axis=0)) ** 2))
    assert silverman(pooled, 50.0) == pytest.approx(reference.bandwidth(e, np.ones(50)), rel=1e-12)


def test_few_rows_are_summed_exactly_and_many_are_not(monkeypatch):
    rng = np.random.default_rng(5)
    e, weight = rng.normal(size=(100, 1)), np.ones(100)
    exact = exact_density(e, weight, 0.3)
    np.testing.assert_array_equal(density(LocalRows(100), e, weight, 0.3), exact)
    monkeypatch.setattr(density_module, "EXACT_ROWS", 99)
    found = density(LocalRows(100), e, weight, 0.3)
    np.testing.assert_array_equal(found, binned(LocalRows(100), e, weight, 0.3))
    assert np.any(found != exact)


# --- binned against exact -------------------------------------------------------------------

# Binning and interpolating widen the kernel by up to spacing^2 / 2 each, depending on where
# in its cell a row lies, and the kernel is narrowed by the mean of that, spacing^2 / 3. Worst
# is a mass at one grid point, which is not widened at all.
WORST = 1 / np.sqrt(1 - 1 / (3 * POINTS_PER_BANDWIDTH**2)) - 1
# Where the density is smooth beside the kernel, places in the cell average out.
SMOOTH = 2e-4

N = 6000


def mixed(rng, middle, share, scale):
    e = middle.copy()
    far = rng.random(N) < share
    e[far] = scale * rng.normal(size=np.sum(far))
    return e


SHAPES = {
    "normal": lambda rng: rng.normal(size=N),
    "heavy-tailed": lambda rng: rng.standard_t(2, size=N),
    "cauchy": lambda rng: rng.standard_cauchy(size=N),
    "bimodal": lambda rng: np.where(
        rng.random(N) < 0.5, rng.normal(size=N), 5 + 0.2 * rng.normal(size=N)
    ),
    "gross outliers": lambda rng: mixed(rng, rng.normal(size=N), 0.01, 1e6),
    "half of them equal": lambda rng: mixed(rng, np.zeros(N), 0.5, 1.0),
}


def scale_of(e, kind):
    if kind == "standard deviation":
        return np.std(e)
    return 1.4826 * np.median(np.abs(e)) or 0.01


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", ["standard deviation", "median"])
@pytest.mark.parametrize("name", SHAPES)
def test_binning_errs_by_a_share_of_the_largest_density(name, scale, dtype):
    rng = np.random.default_rng(6)
    e = SHAPES[name](rng).astype(dtype)[:, None]
    weight = rng.integers(1, 3, size=N).astype(dtype)
    tau = silverman(float(scale_of(e.astype(float), scale)), float(weight.sum()))
    found = binned(LocalRows(N), e, weight, tau)
    assert found.dtype == dtype
    some = np.arange(0, N, 7)
    centres = (e.astype(float), weight.astype(float))
    exact = _summed(LocalRows(len(some)), e[some].astype(float), weight[some], tau, centres)
    error = np.max(np.abs(found[some] - exact)) / np.max(exact)
    rounding = 0 if dtype == np.float64 else 3e-5
    assert error < 1.01 * WORST + rounding
    if name == "normal":
        assert error < SMOOTH + rounding


def test_the_worst_case_of_binning_is_reached():
    # All rows but two on one point of the grid, a hundred bandwidths from the others.
    e, weight = np.zeros((N, 1)), np.ones(N)
    e[0], e[1] = -1.0, 1.0
    found = binned(LocalRows(N), e, weight, 0.01)
    exact = (N - 2) / N * KERNEL_PEAK / 0.01
    assert found[2] / exact - 1 == pytest.approx(WORST, rel=1e-3)


def test_binned_densities_do_not_depend_on_the_partition():
    rng = np.random.default_rng(7)
    e, weight = rng.normal(size=(3000, 1)), rng.uniform(size=3000)
    whole = density(LocalRows(3000), e, weight, 0.2)
    parts = density(LocalRows(3000, block_bytes=8 * 17), e, weight, 0.2)
    np.testing.assert_allclose(parts, whole, rtol=1e-11)


def test_binned_weights_are_repetitions():
    rng = np.random.default_rng(8)
    e, times = rng.normal(size=(3000, 1)), rng.integers(0, 3, size=3000)
    rows_of = np.repeat(np.arange(3000), times)
    weighted = binned(LocalRows(3000), e, times.astype(float), 0.2)
    written_out = binned(LocalRows(len(rows_of)), e[rows_of], np.ones(len(rows_of)), 0.2)
    peak = np.max(written_out)
    np.testing.assert_allclose(weighted[rows_of], written_out, atol=2 * SMOOTH * peak)


def test_a_lone_gross_residual_has_no_density_of_others():
    rng = np.random.default_rng(9)
    e = rng.normal(size=(3000, 1))
    e[5] = 1e9  # beyond the grid
    e[6] = 50.0  # on the grid
    found = density(LocalRows(3000), e, np.ones(3000), 0.2, exclude_self=True)
    assert found[5] == 0.0
    assert found[6] < 1e-6 * np.max(found)
    assert np.min(np.delete(found, [5, 6])) >= 0.0


def test_binning_does_not_ask_the_residuals_to_lie_about_zero():
    rng = np.random.default_rng(10)
    e = rng.normal(size=(3000, 1))
    weight = np.ones(3000)
    np.testing.assert_allclose(
        density(LocalRows(3000), e + 1e6, weight, 0.2),
        density(LocalRows(3000), e, weight, 0.2),
        rtol=1e-3,
        atol=1e-3,
    )


# --- sampled against exact ------------------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [2, 3])
def test_sampling_errs_by_chance_as_much_as_its_centres_allow(n_outputs):
    rng = np.random.default_rng(11)
    e, weight, tau = rng.normal(size=(N, n_outputs)), np.ones(N), silverman(1.0, N)
    found = density(LocalRows(N), e, weight, tau)
    some = np.arange(1, N, 6)
    exact = _summed(LocalRows(len(some)), e[some], weight[some], tau, (e, weight))
    error = found[some] - exact
    # Standard deviation of a mean of so many kernels, at the peak of a normal density: the
    # share of a kernel's neighbours falls with the bandwidth to the number of outputs.
    n_centres = -(-N // -(-N // SAMPLED_CENTRES))
    peak = np.mean(exact[np.linalg.norm(e[some], axis=1) < 0.3])
    stated = np.sqrt((1 - n_centres / N) / (2 ** (n_outputs / 2) * tau**n_outputs * n_centres))
    near = np.linalg.norm(e[some], axis=1) < 0.5
    assert np.std(error[near]) / peak == pytest.approx(stated, rel=0.5)
    # Neighbouring rows share their error, so the mean of many is not much smaller than it.
    assert abs(np.mean(error)) < 0.5 * np.std(error)


def test_sampled_centres_that_are_all_of_the_rows_are_exact(monkeypatch):
    rng = np.random.default_rng(12)
    e, weight = rng.normal(size=(300, 2)), rng.uniform(size=300)
    monkeypatch.setattr(density_module, "EXACT_ROWS", 10)
    found = density(LocalRows(300), e, weight, 0.3)
    np.testing.assert_allclose(found, exact_density(e, weight, 0.3), rtol=1e-12)


def test_a_sample_without_weight_says_nothing():
    # Every sampled row has weight zero: all rows are as ordinary as another.
    e, weight = np.random.default_rng(13).normal(size=(4096, 2)), np.ones(4096)
    weight[taken(np.arange(4096), 0.5)] = 0.0
    found = density(LocalRows(4096), e, weight, 0.3)
    np.testing.assert_array_equal(found, np.full(4096, found[0]))
    assert found[0] > 0


def test_sampled_centres_are_spread_over_every_periodic_order_of_the_rows():
    e = np.random.default_rng(16).normal(size=(20480, 2))
    e[::10] += 100.0
    found = density(LocalRows(20480), e, np.ones(20480), 0.2)
    ordinary = np.arange(20480) % 10 != 0
    assert np.median(found[ordinary]) > 5 * np.median(found[~ordinary])
    for period in (2, 3, 7, 10, 64, 1000):
        chosen = taken(np.arange(0, 10**6, period), 0.01)
        assert np.mean(chosen) == pytest.approx(0.01, rel=0.2)


def test_sampled_densities_do_not_depend_on_the_partition():
    rng = np.random.default_rng(14)
    e, weight = rng.normal(size=(5000, 2)), np.ones(5000)
    whole = density(LocalRows(5000), e, weight, 0.3)
    parts = density(LocalRows(5000, block_bytes=8 * 1000), e, weight, 0.3)
    np.testing.assert_allclose(parts, whole, rtol=1e-10)


def test_a_lone_gross_residual_among_the_centres_does_not_vouch_for_itself():
    e = np.random.default_rng(15).normal(size=(20000, 3))
    e[0] = 1e3  # the first row is always a centre
    found = density(LocalRows(20000), e, np.ones(20000), 0.15, exclude_self=True)
    assert found[0] < 1e-3 * np.max(found)
