"""Rows that are known to be right: believed in full, learned, never flagged."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor

from quick import whole
from robustscn import (
    RobustBlendRegressor,
    RobustRegressor,
    RobustTransformedRegressor,
)
from robustscn.core.certainty import certainty_of
from robustscn.core.rows import LocalRows
from robustscn.core.weighting import trusting
from robustscn.estimators import flagship


def trees():
    return HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=5)


ESTIMATORS = {
    "networks": whole,
    "trees": lambda: RobustRegressor(trees(), judge="clones", random_state=0),
    "trees, judged by networks": lambda: RobustRegressor(trees(), judge=whole(), random_state=0),
    "both": lambda: RobustBlendRegressor(whole(), trees(), random_state=0),
    "transformed": lambda: RobustTransformedRegressor(whole(), transformation="none"),
}


def a_rare_state(n=400, seed=0):
    """A plant that runs in another state, a fifth of which is caught in the table's targets."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    y = np.sin(5 * X[:, 0]) + 0.05 * rng.normal(size=n)
    odd = rng.permutation(n)[:12]
    y[odd] += 4.0
    return X, y, odd


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_trusted_rows_are_believed_in_full_and_never_flagged(kind):
    X, y, odd = a_rare_state()
    plain = ESTIMATORS[kind]().fit(X, y)
    assert plain.outliers_[odd].all()
    trusted = np.zeros(len(y), dtype=bool)
    trusted[odd[:6]] = True
    model = ESTIMATORS[kind]().fit(X, y, trusted=trusted)
    assert not model.outliers_[trusted].any()
    assert_array_equal(model.inlier_weight_[trusted], 1.0)
    assert_array_equal(model.outlier_probability_[trusted], 0.0)
    # One may pass for what a model of few nodes makes of the six that it has to learn.
    assert model.outliers_[odd[6:]].sum() >= 5
    assert model.estimated_outlier_share_ < plain.estimated_outlier_share_


def test_what_trusted_rows_say_is_learned():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(300, 1))
    corner = X[:, 0] > 0.965
    y = X[:, 0] + np.where(corner, 5.0, 0.0) + 0.02 * rng.normal(size=300)
    new = np.array([[0.985]])
    assert 5 < corner.sum() < 15
    assert abs(whole(second_look=False).fit(X, y).predict(new)[0] - 5.985) > 3.0
    model = whole(second_look=False).fit(X, y, trusted=corner)
    assert model.predict(new)[0] == pytest.approx(5.985, abs=0.3)


def test_trusting_no_row_changes_no_bit():
    X, y, _ = a_rare_state()
    nobody = np.zeros(len(y), dtype=bool)
    plain, same = whole().fit(X, y), whole().fit(X, y, trusted=nobody)
    assert_array_equal(plain.predict(X), same.predict(X))
    assert_array_equal(plain.outlier_probability_, same.outlier_probability_)


def test_they_are_trusted_too_where_networks_grow_on_some_of_the_rows(monkeypatch):
    monkeypatch.setattr(flagship, "LOOKED_ROWS", 200)
    X, y, odd = a_rare_state()
    trusted = np.zeros(len(y), dtype=bool)
    trusted[odd[:6]] = True
    model = whole().fit(X, y, trusted=trusted)
    assert_array_equal(model.inlier_weight_[trusted], 1.0)
    assert not model.outliers_[trusted].any()
    assert model.outliers_[odd[6:]].all()


@pytest.mark.parametrize(
    "trusted", [np.zeros(3, dtype=bool), np.zeros(400), [[True]] * 400, list(range(400))]
)
def test_what_names_no_rows_is_refused(trusted):
    X, y, _ = a_rare_state()
    with pytest.raises(ValueError, match="trusted must be one bool for each of the 400 rows"):
        whole().fit(X, y, trusted=trusted)


def test_their_weight_is_the_largest_that_a_counted_row_has():
    weight, sample = np.array([0.2, 3.0, 2.0, 0.0]), np.array([1.0, 0.0, 1.0, 1.0])
    known = np.array([0.0, 0.0, 0.0, 1.0])
    found = trusting(LocalRows(4), weight, sample, known)
    assert_array_equal(found, [0.2, 3.0, 2.0, 2.0])
    assert trusting(LocalRows(4), weight, sample, None) is weight


def test_the_share_of_wrong_rows_leaves_them_out_and_the_spread_of_right_rows_counts_them_whole():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2000, 1))
    z[:100] = 8.0
    known = np.zeros(2000)
    known[:100] = 1.0
    rows, ones = LocalRows(2000), np.ones(2000)
    suspected, _ = certainty_of(rows, z, ones, 0.1)
    trusted, probability = certainty_of(rows, z, ones, 0.1, known)
    assert suspected.share == pytest.approx(0.05, abs=0.02)
    assert trusted.share < 0.005
    assert_array_equal(probability[:100], 0.0)
    # A twentieth of the right rows lies at eight.
    assert suspected.quantiles[-60, 0] < 4.0 < 7.0 < trusted.quantiles[-60, 0]
