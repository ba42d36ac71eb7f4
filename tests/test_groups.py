"""Rows that belong together are judged by members that have seen none of their group."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from quick import whole
from robustscn import RobustBlendRegressor, RobustRegressor, RobustTransformedRegressor
from robustscn.estimators import flagship

N, DAY = 400, 20


def trees():
    return HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=5)


ESTIMATORS = {
    "networks": whole,
    "both": lambda: RobustBlendRegressor(whole(), trees(), random_state=0),
    "transformed": lambda: RobustTransformedRegressor(whole(), transformation="none"),
}


def a_bad_day(seed=0):
    """A plant whose inputs wander, so that each day has a corner of its own, and one day is off."""
    rng = np.random.default_rng(seed)
    days = rng.uniform(size=(N // DAY, 2))
    X = np.repeat(days, DAY, axis=0) + 0.03 * rng.normal(size=(N, 2))
    y = X @ [2.0, -1.0] + 0.05 * rng.normal(size=N)
    bad = np.arange(N) // DAY == 7
    return X, y + 2.0 * bad, bad, np.arange(N) // DAY


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_bad_day_cannot_vouch_for_itself(kind):
    X, y, bad, day = a_bad_day()
    alone = ESTIMATORS[kind]().fit(X, y)
    together = ESTIMATORS[kind]().fit(X, y, groups=day)
    assert alone.outliers_[bad].mean() < 0.5
    assert together.outliers_[bad].mean() > 0.9
    assert together.outliers_[~bad].mean() < 0.05
    assert np.abs(together.predict(X[bad]) - (y[bad] - 2.0)).mean() < 1.0


def test_they_are_judged_together_too_where_networks_grow_on_some_of_the_rows(monkeypatch):
    monkeypatch.setattr(flagship, "LOOKED_ROWS", 200)
    X, y, bad, day = a_bad_day()
    assert whole().fit(X, y, groups=day).outliers_[bad].mean() > 0.9


def test_a_rows_expectation_does_not_depend_on_targets_of_its_group():
    X, y, _, day = a_bad_day()
    one_round = RobustRegressor(LinearRegression(), n_rounds=1, random_state=0)
    before = one_round.fit(X, y, groups=day).expected_
    changed = y.copy()
    changed[day == 3] += 0.5
    after = one_round.fit(X, changed, groups=day).expected_
    own, other = (before - after)[day == 3], (before - after)[day != 3]
    # All are shifted alike, so that as many targets lie above as below.
    assert np.ptp(own) < 1e-12
    assert np.ptp(other) > 1e-4


def test_names_of_groups_are_names():
    X, y, _, day = a_bad_day()
    numbers = whole().fit(X, y, groups=day)
    names = whole().fit(X, y, groups=[f"day {number:02d}" for number in day])
    np.testing.assert_array_equal(numbers.predict(X), names.predict(X))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (np.zeros(3), "one name for each of the 400 rows"),
        (np.zeros((400, 1)), "one name for each of the 400 rows"),
        (np.arange(400) % 3, "rows of 3 groups cannot be judged by others"),
    ],
)
def test_what_groups_no_rows_is_refused(groups, words):
    X, y, _, _ = a_bad_day()
    for model in (whole(), RobustRegressor(LinearRegression())):
        with pytest.raises(ValueError, match=words):
            model.fit(X, y, groups=groups)
