"""Noise as a function of the inputs: trusted as far as forecasts prove right, else even."""

import numpy as np
import pytest
from scipy import optimize, stats

from robustscn.core.noise import DEGREES, ERRORS, STEEPEST, WIDEST, logarithm, noise_of
from robustscn.core.rows import LocalRows

N = 2000


def forecasts(slope, *, seed=0, n=N):
    """Return residuals whose size forecasts explain in part, and the forecasts."""
    rng = np.random.default_rng(seed)
    forecast = 0.5 * rng.normal(size=(n, 1)) - 1.0
    return np.exp(slope * forecast) * rng.standard_t(4, size=(n, 1)), forecast


def unlikeliness(parameters, e, f, w):
    level, slope = parameters
    scale = np.exp(level + slope * (f - np.average(f, weights=w)))
    return -w @ (stats.t(DEGREES).logpdf(e / scale) - np.log(scale))


def literal_slope(e, f, w):
    found = optimize.minimize(unlikeliness, [0.0, 0.0], (e, f, w), method="Nelder-Mead", tol=1e-9)
    level, slope = found.x
    f = f - np.average(f, weights=w)
    square = (e / np.exp(level + slope * f)) ** 2
    pull = (DEGREES + 1) * square / (DEGREES + square) - 1
    information = 2 * DEGREES / (DEGREES + 3) * np.sum(w * f * f)
    error = np.sqrt(np.sum(w * (pull * f) ** 2)) / information
    return min(max(slope, 0), STEEPEST) * max(0, 1 - (ERRORS * error / slope) ** 2)


@pytest.mark.parametrize("slope", [0.0, 0.3, 0.9, 1.6, 2.7])
def test_the_slope_is_the_likeliest_less_what_is_within_its_error(slope):
    e, f = forecasts(slope)
    w = np.random.default_rng(1).uniform(0, 2, size=N)
    found = noise_of(LocalRows(N), w, e, (f, "model"))
    expected, centre = literal_slope(e[:, 0], f[:, 0], w), np.average(f[:, 0], weights=w)
    np.testing.assert_allclose(found.slope, [expected], rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(found.centre, [centre], rtol=1e-9)
    relative = np.exp(np.clip(found.slope * (f - centre), -np.log(WIDEST), np.log(WIDEST)))
    np.testing.assert_allclose(found.relative, relative, rtol=1e-9)
    np.testing.assert_array_equal(found.at(f), found.relative)
    assert found.model == "model"


def test_forecasts_of_even_noise_change_nothing_nearly_always():
    slopes = [
        noise_of(LocalRows(N), np.ones(N), *split(forecasts(0.0, seed=seed))).slope[0]
        for seed in range(40)
    ]
    assert np.mean(np.array(slopes) == 0) > 0.85
    assert max(slopes) < 0.1


def test_wrong_rows_hardly_flatten_the_slope():
    e, f = forecasts(1.0)
    wrong = np.random.default_rng(1).uniform(size=N) < 0.2
    e[wrong] = 10.0
    found = noise_of(LocalRows(N), np.ones(N), e, (f, None)).slope[0]
    assert found == pytest.approx(1.0, abs=0.15)
    e[wrong] = 1e300
    assert noise_of(LocalRows(N), np.ones(N), e, (f, None)).slope[0] == pytest.approx(found, 0.05)


def test_a_weight_of_two_is_a_row_twice_and_zero_none():
    e, f = forecasts(0.8, n=300)
    w = np.random.default_rng(2).integers(0, 3, size=300)
    weighted = noise_of(LocalRows(300), w.astype(float), e, (f, None))
    e, f = (np.repeat(column, w, axis=0) for column in (e, f))
    repeated = noise_of(LocalRows(len(e)), np.ones(len(e)), e, (f, None))
    np.testing.assert_allclose(weighted.slope, repeated.slope, rtol=1e-9)


def split(pair):
    return pair[0], (pair[1], None)


def test_no_local_scale_is_beyond_bounds():
    e, f = forecasts(1.0)
    f[0], e[0] = 9.0, np.exp(9.0)
    found = noise_of(LocalRows(N), np.ones(N), e, (f, None))
    assert found.relative[0, 0] == pytest.approx(WIDEST)


def test_sizes_are_told_apart_within_bounds_only():
    e = np.array([[0.0], [0.02], [1.0], [-2.0], [1e9]])
    np.testing.assert_allclose(np.exp(logarithm(e)[:, 0]), [0.1, 0.1, 1.0, 2.0, 3.0])
