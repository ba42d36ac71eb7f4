"""Noise as a function of the inputs: trusted as far as forecasts prove right, else even."""

import numpy as np
import pytest

from robustscn.core.noise import ERRORS, STEEPEST, WIDEST, logarithm, noise_of
from robustscn.core.rows import LocalRows
from robustscn.core.slope import likeliest

N = 2000


def forecasts(slope, *, seed=0, n=N):
    """Return residuals whose size forecasts explain in part, and the forecasts."""
    rng = np.random.default_rng(seed)
    forecast = 0.5 * rng.normal(size=(n, 1)) - 1.0
    return np.exp(slope * forecast) * rng.standard_t(4, size=(n, 1)), forecast


@pytest.mark.parametrize("slope", [0.3, 0.9, 2.7])
def test_the_slope_is_the_likeliest_less_what_is_within_its_error(slope):
    e, f = forecasts(slope)
    sample_weight, w = np.random.default_rng(1).uniform(0, 2, size=(2, N))
    found = noise_of(LocalRows(N), sample_weight, w, e, (f, "model"))
    centre = np.average(f[:, 0], weights=w)
    fit, error = likeliest(LocalRows(N), sample_weight, e, f, np.array([centre]))
    sure = 1 - (ERRORS * error / fit.slope) ** 2
    np.testing.assert_allclose(found.slope, np.minimum(fit.slope, STEEPEST) * sure, rtol=1e-9)
    np.testing.assert_allclose(found.centre, [centre], rtol=1e-9)
    relative = np.exp(np.clip(found.slope * (f - centre), -np.log(WIDEST), np.log(WIDEST)))
    np.testing.assert_allclose(found.relative, relative, rtol=1e-9)
    np.testing.assert_array_equal(found.at(f), found.relative)
    assert found.model == "model"


def evenly(e, foreseen):
    return noise_of(LocalRows(len(e)), np.ones(len(e)), np.ones(len(e)), e, foreseen)


def test_forecasts_of_even_noise_change_nothing_nearly_always():
    slopes = [evenly(*split(forecasts(0.0, seed=seed))).slope[0] for seed in range(40)]
    assert np.mean(np.array(slopes) == 0) > 0.85
    assert max(slopes) < 0.1


def split(pair):
    return pair[0], (pair[1], None)


def test_no_local_scale_is_beyond_bounds():
    e, f = forecasts(1.0)
    f[0], e[0] = 9.0, np.exp(9.0)
    found = evenly(e, (f, None))
    assert found.relative[0, 0] == pytest.approx(WIDEST)


def test_sizes_are_told_apart_within_bounds_only():
    e = np.array([[0.0], [0.02], [1.0], [-2.0], [1e9]])
    np.testing.assert_allclose(np.exp(logarithm(e)[:, 0]), [0.1, 0.1, 1.0, 2.0, 3.0])
