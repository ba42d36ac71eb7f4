"""Weights by how probable it is that a row is right: the formula, and that it adapts."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from robustscn.core.mixture import DEGREES, Kinds, believed, kinds_of
from robustscn.core.rows import LocalRows
from robustscn.core.weighting import Mixture


def dirty(share, *, n=4000, reach=30.0, seed=0):
    rng = np.random.default_rng(seed)
    e = rng.normal(size=n)
    wrong = np.arange(n) < share * n
    e[wrong] = rng.uniform(-reach, reach, size=wrong.sum())
    return e[:, None], wrong


def weights(e):
    """Weights of residuals that are standardised, as nearly as the normal ones among them are."""
    return believed(LocalRows(len(e)), e, np.ones(len(e)))


def kinds(e):
    return kinds_of(LocalRows(len(e)), np.abs(e[:, 0]), np.ones(len(e)))


def test_the_weight_is_the_square_of_the_probability_to_be_right():
    e, _ = dirty(0.25)
    literal = (1 - kinds(e).probability_wrong(np.abs(e[:, 0]))) ** 2
    np.testing.assert_array_equal(weights(e), literal)
    np.testing.assert_array_equal(
        Mixture().inlier_weight(LocalRows(len(e)), e, np.ones(len(e))), weights(e)
    )


@pytest.mark.parametrize("degrees", DEGREES)
def test_the_probability_is_that_of_a_mixture_of_t_and_a_flat_kind(degrees):
    d = np.linspace(0, 60, 200)
    for share, width, unit in ((0.01, 3.0, 1.0), (0.25, 8.0, 0.8), (0.6, 40.0, 1.2)):
        found = Kinds(share, width, degrees, unit)
        right = (1 - share) * 2 * stats.t.pdf(d / unit, degrees) / unit
        # Each kind has all of its mass at distances above zero, the wrong one half beyond `width`.
        np.testing.assert_allclose(found.densities(d)[0], right, rtol=1e-12)
        halves = ((0, width), (width, np.inf))
        wrong = [quad(lambda x, k=found: k.densities(np.array(x))[1], *ends)[0] for ends in halves]
        np.testing.assert_allclose(wrong, share / 2, rtol=1e-4)
        right, wrong = found.densities(d)
        np.testing.assert_allclose(found.probability_wrong(d), wrong / (right + wrong), rtol=1e-12)


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("share", [0.002, 0.1, 0.5])
@pytest.mark.parametrize("width", [3.0, 1e4])
def test_a_larger_residual_is_never_more_probable_to_be_right(share, width, degrees):
    d = np.concatenate([np.linspace(0, 20, 2001), np.geomspace(20, 1e9, 500)])
    for unit in (0.5, 1.0, 1.5):
        probability = Kinds(share, width, degrees, unit).probability_wrong(d)
        assert np.all(np.diff(probability) >= -1e-12)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.25, 0.4])
@pytest.mark.parametrize("reach", [12.0, 100.0])
def test_the_share_of_wrong_rows_is_found(share, reach):
    e, _ = dirty(share, reach=reach)
    assert kinds(e).share == pytest.approx(share, abs=0.05)
    assert kinds(e).width == pytest.approx(reach / 2, rel=0.45)


def test_heavy_tails_of_right_rows_are_told_from_wrong_rows():
    rng = np.random.default_rng(5)
    heavy, light = rng.standard_t(2.5, size=(4000, 1)), rng.normal(size=(4000, 1))
    assert kinds(heavy).degrees < kinds(light).degrees
    assert kinds(heavy).share < 0.03


def test_normal_noise_is_hardly_taken_for_wrong():
    e, _ = dirty(0.0)
    assert kinds(e).share < 0.01
    assert np.mean(weights(e)) > 0.98


def test_the_same_residual_is_believed_less_the_more_rows_are_wrong():
    believed = []
    for share in (0.0, 0.1, 0.25, 0.4):
        e, _ = dirty(share)
        e[-1] = 3.5
        believed.append(weights(e)[-1])
    assert np.all(np.diff(believed) < -0.02)
    assert believed[0] > 0.9
    assert believed[-1] < 0.5


def test_wrong_rows_lose_their_weight_and_right_ones_keep_it():
    e, wrong = dirty(0.25)
    found = weights(e)
    assert np.mean(found[wrong & (np.abs(e[:, 0]) > 6)]) < 0.02
    assert np.mean(found[~wrong]) > 0.85


def test_gross_targets_do_not_widen_what_counts_as_wrong():
    e, _ = dirty(0.1)
    plain = weights(e)
    e[:5] = 1e12
    np.testing.assert_allclose(weights(e)[5:], plain[5:], atol=0.01)
    assert np.all(weights(e)[:5] < 1e-6)


def test_a_scale_that_is_held_up_leaves_nothing_to_fit_and_a_fixed_curve_judges():
    e, _ = dirty(0.25)
    # One standard deviation is taken to be five times the rows' own: nothing here is far out.
    np.testing.assert_allclose(weights(e / 5), 1 / (1 + (e[:, 0] / 15) ** 2) ** 2)


@pytest.mark.parametrize("n_outputs", [1, 2, 5, 10, 11, 50])
def test_clean_rows_are_believed_however_many_outputs_they_have(n_outputs):
    e = np.random.default_rng(3).normal(size=(2000, n_outputs))
    assert np.mean(weights(e)) > (0.95 if n_outputs <= 10 else 0.1)
