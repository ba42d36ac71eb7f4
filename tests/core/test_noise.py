"""Noise as a function of the inputs: trusted as far as forecasts prove right, else even."""

import numpy as np
import pytest

from robustscn.core.noise import ERRORS, WIDEST, logarithm, noise_of
from robustscn.core.rows import LocalRows

N = 2000


def forecasts(slope, *, seed=0, n=N):
    """Return log sizes of which forecasts explain a part, and the forecasts."""
    rng = np.random.default_rng(seed)
    forecast = 0.5 * rng.normal(size=(n, 1)) - 1.0
    return slope * forecast + rng.normal(size=(n, 1)), forecast


def literal_slope(t, f, w):
    mean = [np.sum(w * x) / w.sum() for x in (t, f)]
    t, f = t - mean[0], f - mean[1]
    slope = np.sum(w * t * f) / np.sum(w * f * f)
    rest = np.sum(w * t * t) - slope * np.sum(w * t * f)
    certain = slope**2 * np.sum(w * f * f) * w.sum() / rest
    return min(max(slope, 0), 1) * max(0, 1 - ERRORS**2 / certain), mean[1]


@pytest.mark.parametrize("slope", [0.0, 0.3, 0.9, 1.6])
def test_the_slope_is_the_literal_one_less_what_is_within_its_error(slope):
    t, f = forecasts(slope)
    w = np.random.default_rng(1).uniform(0, 2, size=N)
    found = noise_of(LocalRows(N), w, t, (f, "model"))
    expected, centre = literal_slope(t[:, 0], f[:, 0], w)
    np.testing.assert_allclose(found.slope, [expected], rtol=1e-9)
    np.testing.assert_allclose(found.centre, [centre], rtol=1e-9)
    np.testing.assert_allclose(found.relative, np.exp(expected * (f - centre)), rtol=1e-9)
    np.testing.assert_array_equal(found.at(f), found.relative)
    assert found.model == "model"


def test_forecasts_of_even_noise_change_nothing_nearly_always():
    slopes = [
        noise_of(LocalRows(N), np.ones(N), *split(forecasts(0.0, seed=seed))).slope[0]
        for seed in range(40)
    ]
    assert np.mean(np.array(slopes) == 0) > 0.85
    assert max(slopes) < 0.1


def split(pair):
    return pair[0], (pair[1], None)


def test_no_local_scale_is_beyond_bounds():
    t, f = forecasts(1.0)
    f[0] = 1e3
    found = noise_of(LocalRows(N), np.ones(N), np.where(f > 9, 1e3, t), (f, None))
    assert found.relative[0, 0] == pytest.approx(WIDEST)


def test_sizes_are_told_apart_within_bounds_only():
    e = np.array([[0.0], [0.02], [1.0], [-2.0], [1e9]])
    found = logarithm(e, np.array([0.5]))
    np.testing.assert_allclose(np.exp(found[:, 0]), [0.1, 0.1, 2.0, 4.0, 6.0])
