"""The trees that stand in where no regressor is given: how many, and what predicts."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from robustscn import RobustRegressor
from robustscn.core.forest import Forest
from robustscn.estimators import _boosting
from robustscn.estimators._boosting import Boosting
from robustscn.estimators._forest import forest_of


def rows_and_folds(n_rows=400, n_outputs=1):
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 3))
    y = np.sin(6 * X[:, [0]]) + np.arange(1, n_outputs + 1) * X[:, [1]] ** 2
    weight = rng.choice([0.0, 0.3, 1.0], size=n_rows)
    return X, y + 0.1 * rng.normal(size=y.shape), weight, np.arange(n_rows) % 5


def test_as_many_trees_as_unseen_rows_of_all_folds_are_met_best_with(monkeypatch):
    monkeypatch.setattr(_boosting, "MOST_TREES", 150)
    monkeypatch.setattr(_boosting, "PATIENCE", 150)  # none ends early: each length can be tried
    X, y, weight, folds = rows_and_folds()
    members = Boosting(seed=3).parted(X, y, weight, folds)
    (count,) = {len(member.parts[0]._predictors) for member in members}
    losses = np.zeros(150)
    for fold in range(5):
        known, unseen = (folds != fold) & (weight > 0), folds == fold
        trees = HistGradientBoostingRegressor(
            max_iter=150, early_stopping=False, random_state=3 + fold, **_boosting.SETTINGS
        ).fit(X[known], y[known, 0], weight[known])
        for number, found in enumerate(trees.staged_predict(X[unseen])):
            losses[number] += np.sum(weight[unseen] * (found - y[unseen, 0]) ** 2)
        trees._predictors = trees._predictors[:count]
        np.testing.assert_allclose(members[fold].parts[0].predict(X), trees.predict(X))
    assert count == np.argmin(losses) + 1 < 150


def test_the_mean_of_all_rows_trees_and_of_the_clones_predicts():
    X, y, weight, folds = rows_and_folds(n_outputs=2)
    boosting = Boosting(seed=1)
    members = boosting.parted(X, y, weight, folds)
    whole = boosting.whole(X, y, weight, members)
    known = weight > 0
    for number in range(2):
        clones = [member.parts[number] for member in members]
        count = len(clones[0]._predictors)
        trees = HistGradientBoostingRegressor(
            max_iter=count, early_stopping=False, random_state=1, **_boosting.SETTINGS
        ).fit(X[known], y[known, number], weight[known])
        mean = trees.predict(X) / 2 + np.mean([c.predict(X) for c in clones], axis=0) / 2
        np.testing.assert_allclose(whole.parts[number].predict(X), mean, rtol=1e-10)


def test_a_row_without_weight_says_nothing_about_how_many_trees():
    X, y, weight, folds = rows_and_folds()
    other = np.where(weight[:, None] > 0, y, 1e6)
    for found, expected in zip(
        Boosting(seed=0).parted(X, other, weight, folds),
        Boosting(seed=0).parted(X, y, weight, folds),
        strict=True,
    ):
        np.testing.assert_array_equal(found.parts[0].predict(X), expected.parts[0].predict(X))


def test_a_fold_without_a_row_that_counts_asks_nobody():
    X, y, weight, folds = rows_and_folds()
    weight[folds == 2] = 0.0
    members = Boosting(seed=0).parted(X, y, weight, folds)
    others = [len(members[fold].parts[0]._predictors) for fold in (0, 1, 3, 4)]
    assert len(set(others)) == 1
    assert len(members[2].parts[0]._predictors) == min(others[0], _boosting.UNASKED)


def test_categories_are_no_plain_arrays_and_stay_with_scikit_learn():
    pandas = pytest.importorskip("pandas")
    X, y, weight, folds = rows_and_folds(300)
    codes = np.arange(300) % 3
    frame = pandas.DataFrame({"a": X[:, 0], "kind": pandas.Categorical(list("xyz"))[codes]})
    boosting = Boosting(seed=0)
    members = boosting.parted(frame, y + codes[:, None], weight, folds)
    (whole,) = boosting.whole(frame, y + codes[:, None], weight, members).parts
    assert forest_of(whole) is None
    found = whole.predict(frame)
    assert np.corrcoef(found, y[:, 0] + codes)[0, 1] > 0.95


def test_the_default_is_one_forest_and_a_regressor_that_is_given_is_left_as_it_is():
    X, y, _, _ = rows_and_folds()
    robust = RobustRegressor(judge="clones", n_rounds=2, random_state=0).fit(X, y[:, 0])
    assert isinstance(robust.estimator_, Forest)
    given = HistGradientBoostingRegressor(max_iter=7)
    robust = RobustRegressor(given, judge="clones", n_rounds=2, random_state=0).fit(X, y[:, 0])
    assert robust.estimator_.n_iter_ == 7
