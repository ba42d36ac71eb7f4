"""How far forecasts of sizes prove right: the likeliest fit, and wrong rows told from noise."""

import numpy as np
import pytest
from scipy import optimize, stats

from robustscn.core import slope
from robustscn.core.rows import LocalRows
from robustscn.core.slope import DEGREES, FIRST_ODDS, LEANING, LEAST_REACH, REACH, likeliest

N = 3000


def drawn(steep, *, odds=-2.0, tilt=0.0, seed=0, n=N):
    """Return residuals whose size forecasts explain in part, the forecasts, who is wrong."""
    rng = np.random.default_rng(seed)
    f = 0.6 * rng.normal(size=(n, 1))
    e = np.exp(steep * f) * rng.standard_t(4, size=(n, 1))
    wrong = rng.random((n, 1)) < 1 / (1 + np.exp(-odds - tilt * f))
    return np.where(wrong, rng.uniform(-15, 15, size=(n, 1)), e), f, wrong


def fitted(e, f, w=None):
    w = np.ones(len(e)) if w is None else w
    return likeliest(LocalRows(len(e)), w, e, f, np.average(f, axis=0, weights=w))


def unlikeliness(parameters, e, f, w, reach):
    level, steep, odds, tilt = parameters
    share = 1 / (1 + np.exp(-odds - tilt * f))
    scale = np.exp(level + steep * f)
    right = stats.t(DEGREES).pdf(e / scale) / scale
    wrong = np.sin(np.pi / 4) * 2 / np.pi / reach / (1 + (e / reach) ** 4)
    density = (1 - share) * right + share * wrong
    return LEANING * w.sum() * tilt**2 / 2 - w @ np.log(density)


@pytest.mark.parametrize(("steep", "tilt"), [(0.0, 0.0), (0.9, 0.0), (0.0, 2.0), (0.7, 1.0)])
def test_the_fit_is_the_likeliest(steep, tilt, monkeypatch):
    monkeypatch.setattr(slope, "STEPS", 400)
    e, f, _ = drawn(steep, tilt=tilt)
    w = np.random.default_rng(1).integers(1, 4, size=N).astype(float)
    fit, error = fitted(e, f, w)
    centred = f[:, 0] - np.average(f[:, 0], weights=w)
    sizes = np.sort(np.repeat(np.abs(e[:, 0]), w.astype(int)))
    reach = max(sizes[int(np.ceil(REACH * len(sizes))) - 1], LEAST_REACH)
    expected = optimize.minimize(
        unlikeliness,
        [0.0, 0.0, FIRST_ODDS, 0.0],
        (e[:, 0], centred, w, reach),
        method="Nelder-Mead",
        options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 10_000},
    ).x
    found = np.ravel([fit.level, fit.slope, fit.odds, fit.tilt])
    np.testing.assert_allclose(found, expected, atol=2e-4)
    assert fit.reach == pytest.approx(reach)
    assert abs(fit.slope[0] - steep) < 4 * error[0]
    # The steps that are taken suffice for what is asked of the slope.
    monkeypatch.undo()
    assert fitted(e, f, w)[0].slope == pytest.approx(fit.slope, abs=0.2 * error[0])


def test_wrong_rows_that_lie_together_are_no_noise():
    e, f, wrong = drawn(0.0, odds=-1.5, tilt=3.0)
    assert np.corrcoef(f[:, 0], wrong[:, 0])[0, 1] > 0.4

    def of_right_rows_alone(parameters):
        scale = np.exp(parameters[0] + parameters[1] * f)
        return -np.sum(stats.t(2).logpdf(e / scale) - np.log(scale))

    alone = optimize.minimize(of_right_rows_alone, [0.0, 0.0], method="Nelder-Mead").x[1]
    fit, _ = fitted(e, f)
    assert abs(fit.slope[0]) < 0.1 * alone
    assert fit.tilt[0] == pytest.approx(3.0, abs=0.6)


def test_noise_among_wrong_rows_is_seen():
    e, f, wrong = drawn(1.0, odds=-1.0)
    assert wrong.mean() > 0.25
    assert fitted(e, f)[0].slope[0] == pytest.approx(1.0, abs=0.12)
    e[wrong] = 1e300
    assert fitted(e, f)[0].slope[0] == pytest.approx(1.0, abs=0.12)


def test_a_weight_of_two_is_a_row_twice_zero_none_and_only_quotients_count():
    e, f, _ = drawn(0.8, n=300)
    w = np.random.default_rng(2).integers(0, 3, size=300)
    weighted = fitted(e, f, w.astype(float))
    repeated = fitted(*(np.repeat(column, w, axis=0) for column in (e, f)))
    for found, expected in zip(weighted, repeated, strict=True):
        for name in ("slope", "tilt") if found is weighted[0] else ():
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-7)
    scaled = fitted(e, f, 1e-9 * w)[0]
    np.testing.assert_allclose(scaled.slope, weighted[0].slope, rtol=1e-7)


def test_outputs_are_apart_and_forecasts_that_say_nothing_have_no_slope():
    e, f, _ = drawn(0.9)
    both = fitted(np.hstack([e, e]), np.hstack([f, 0 * f]))[0]
    assert both.slope[0] == pytest.approx(fitted(e, f)[0].slope[0], rel=1e-9)
    assert both.slope[1] == 0
