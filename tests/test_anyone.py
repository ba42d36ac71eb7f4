"""Any regressor made robust: the judging around other people's models."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

from quick import quick
from robustscn import RobustBlendRegressor, RobustRegressor, RobustSCNRegressor, RSCKDERegressor
from robustscn.datasets import load_keel
from robustscn.estimators._crossfit import (
    MANY_ROWS,
    Teacher,
    _drawn,
    by_value,
    dealt_out,
    ready_for,
    weight_name,
)
from robustscn.estimators._judges import networks_can_judge, widened


def rows(n=300, *, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    clean = 3 * X[:, 0] - X[:, 1] + 2.0
    y = clean + 0.05 * rng.normal(size=n)
    wrong = rng.random(n) < share
    y[wrong] += rng.uniform(1, 4, size=wrong.sum())
    return X, y, clean, wrong


@parametrize_with_checks(
    [
        RobustRegressor(Ridge(), n_rounds=2),
        RobustRegressor(Ridge(), judge=quick("RobustSCNRegressor")),
    ]
)
def test_scikit_learns_checks(estimator, check, monkeypatch):
    # With it scikit-learn runs its check of array dispatch instead of skipping it.
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRegression(),
        Ridge(alpha=1e-3),
        SVR(kernel="linear", epsilon=0.01),
        make_pipeline(StandardScaler(), LinearRegression()),
        make_pipeline(StandardScaler(), KNeighborsRegressor(5)),
        KNeighborsRegressor(5),
        RandomForestRegressor(30, min_samples_leaf=3, random_state=0),
        HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=5),
    ],
    ids=lambda e: type(e).__name__,
)
def test_errors_fall_and_wrong_rows_are_found(estimator):
    X, y, clean, wrong = rows()
    robust = RobustRegressor(estimator, random_state=0).fit(X, y)
    plain = Teacher(estimator, 0).fitted(X, y[:, None], np.ones(len(y))).output(X)[:, 0]
    errors = [np.sqrt(np.mean((p - clean) ** 2)) for p in (robust.predict(X), plain)]
    assert errors[0] < 0.5 * errors[1]
    assert np.mean(robust.outliers_[wrong]) > 0.9
    assert np.mean(wrong[robust.outliers_]) > 0.85
    assert robust.estimated_outlier_share_ == pytest.approx(0.2, abs=0.08)
    assert len(robust.outlier_table()) == robust.outliers_.sum()


def test_linear_regression_becomes_the_fit_to_the_right_rows():
    X, y, _, wrong = rows()
    robust = RobustRegressor(LinearRegression(), random_state=0).fit(X, y)
    right = LinearRegression().fit(X[~wrong], y[~wrong])
    np.testing.assert_allclose(robust.estimator_.coef_, right.coef_, atol=0.02)
    # What was learned with are the weights of the round before, which differ by little.
    weighted = LinearRegression().fit(X, y, robust.inlier_weight_)
    np.testing.assert_allclose(robust.predict(X), weighted.predict(X), atol=5e-3)


class Memory(RegressorMixin, BaseEstimator):
    """Says for each row what it was told, and the mean elsewhere."""

    def fit(self, X, y, sample_weight=None):
        self.known_ = {tuple(x): t for x, t in zip(X, y, strict=True)}
        self.mean_ = float(np.average(y, weights=sample_weight))
        return self

    def predict(self, X):
        return np.array([self.known_.get(tuple(x), self.mean_) for x in X])


def test_no_row_is_judged_by_a_clone_that_has_seen_it_or_its_copy():
    X, y, _, _ = rows(80)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    robust = RobustRegressor(Memory(), n_rounds=2, random_state=0).fit(X, y)
    # Had any been seen, its residual would be the median that is taken off all.
    assert np.unique(np.round(robust.expected_, 9)).size <= 5


def test_folds_depend_on_inputs_alone_and_are_even():
    X, *_ = rows(101)
    ones = np.ones(101)
    folds = dealt_out(X, ones, 5, 3)
    assert np.ptp(np.bincount(folds)) <= 1
    order = np.random.default_rng(1).permutation(101)
    np.testing.assert_array_equal(dealt_out(X[order], ones, 5, 3), folds[order])
    np.testing.assert_array_equal(
        dealt_out(np.repeat(X, 3, axis=0), np.ones(303), 5, 3), np.repeat(folds, 3)
    )
    weight = np.where(np.arange(101) < 10, 0.0, 1.0)
    np.testing.assert_array_equal(
        dealt_out(X, weight, 5, 3)[10:], dealt_out(X[10:], ones[10:], 5, 3)
    )
    assert np.mean(dealt_out(X, ones, 5, 4) == folds) < 0.5
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0.5, "x", "y")})
    assert np.ptp(np.bincount(dealt_out(frame, ones, 5, 3))) <= 1


def test_weights_reach_the_last_step_and_rows_are_drawn_where_there_is_none():
    assert weight_name(Ridge()) == "sample_weight"
    pipeline = make_pipeline(StandardScaler(), Ridge())
    assert weight_name(pipeline) == "ridge__sample_weight"
    assert weight_name(make_pipeline(StandardScaler(), KNeighborsRegressor())) is None
    X, y, _, _ = rows(200)
    weight = np.random.default_rng(2).uniform(0, 2, size=200)
    by_pipeline = Teacher(pipeline, 0).fitted(X, y[:, None], weight).output(X)[:, 0]
    by_hand = pipeline.fit(X, y, ridge__sample_weight=weight).predict(X)
    np.testing.assert_allclose(by_pipeline, by_hand, rtol=1e-6)

    counts = np.bincount(_drawn(np.arange(200), weight, 0), minlength=200)
    often = weight / np.quantile(weight, 0.75)  # an ordinary row once
    assert np.all(np.abs(counts - often) < 1)
    assert counts.sum() == pytest.approx(often.sum(), abs=1)


def test_frames_with_categories_and_missing_values_go_to_the_regressor_as_they_are():
    X, y, clean, wrong = rows()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 1] > 0.5, "x", "y")})
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough"), Ridge(1e-3)
    )
    robust = RobustRegressor(pipeline, random_state=0).fit(frame, y)
    assert np.sqrt(np.mean((robust.predict(frame) - clean) ** 2)) < 0.1
    assert list(robust.feature_names_in_) == ["a", "b", "kind"]
    X[::7, 1] = np.nan
    trees = HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=5)
    robust = RobustRegressor(trees, random_state=0).fit(X, y)
    assert np.mean(robust.outliers_[wrong]) > 0.7


def test_several_outputs_through_a_regressor_that_knows_one():
    X, y, _, wrong = rows()
    Y = np.column_stack([y, X[:, 0] - X[:, 1]])
    one = RobustRegressor(SVR(kernel="linear", epsilon=0.01), random_state=0).fit(X, Y)
    assert one.predict(X).shape == (300, 2)
    assert len(one.estimator_) == 2
    assert np.mean(one.outliers_[wrong]) > 0.9
    assert one.predict_interval(X).shape == (300, 2, 2)


def test_intervals_hold_clean_targets():
    covered, widths = [], []
    for seed in range(4):
        X, y, _, _ = rows(400, seed=seed)
        fresh, _, clean, _ = rows(400, share=0.0, seed=seed + 50)
        target = clean + 0.05 * np.random.default_rng(seed).normal(size=400)
        robust = RobustRegressor(LinearRegression(), random_state=0).fit(X, y)
        low, high = robust.predict_interval(fresh, 0.9).T
        covered.append(np.mean((low <= target) & (target <= high)))
        widths.append(np.mean(high - low))
    assert 0.86 < np.mean(covered) < 0.95
    assert np.mean(widths) == pytest.approx(2 * 1.645 * 0.05, rel=0.15)
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        robust.predict_interval(fresh, 90)


def test_the_scale_follows_noise_that_grows_with_the_value():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, size=(2000, 1))
    clean = np.exp(3 * X[:, 0])
    y = clean * (1 + 0.1 * rng.normal(size=2000))
    trees = HistGradientBoostingRegressor(max_iter=50)
    robust = RobustRegressor(trees, judge="clones", random_state=0).fit(X[:1000], y[:1000])
    X, y, clean = X[1000:], y[1000:], clean[1000:]
    dear = clean > np.quantile(clean, 0.95)
    assert np.mean(robust.outliers_) < 0.01
    assert np.mean(robust.inlier_weight_[robust.expected_ > np.quantile(clean, 0.95)]) > 0.8
    low, high = robust.predict_interval(X, 0.9).T
    for part in (dear, clean < np.quantile(clean, 0.2)):
        assert np.mean((low <= y)[part] & (y <= high)[part]) == pytest.approx(0.9, abs=0.07)


def test_knots_lie_at_quantiles_of_the_weight():
    rng = np.random.default_rng(2)
    value, often = rng.normal(size=(80, 2)), rng.integers(0, 4, 80)
    found = by_value(value, value, often.astype(float))
    repeated = np.repeat(value, often, axis=0)
    shares = np.linspace(0.02, 0.98, len(found.knots))
    expected = np.quantile(repeated, shares, axis=0, method="inverted_cdf")
    np.testing.assert_array_equal(found.knots, expected)


def test_sizes_by_value_are_weighted_least_squares_between_knots():
    rng = np.random.default_rng(1)
    value = rng.uniform(size=(500, 1))
    target = np.interp(value, [0, 0.4, 1], [1, 3, 2])
    found = by_value(value, target, np.ones(500), np.array([[0.0], [0.4], [1.0]]))
    np.testing.assert_allclose(found.forecast(value), target, atol=1e-2)
    # Beyond the outermost knots nothing is known.
    np.testing.assert_allclose(found.forecast(np.array([[-5.0], [7.0]])), [[1], [2]], atol=2e-2)


def test_inputs_of_boosting_are_binned_once_and_others_left_alone():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=2000), rng.integers(0, 9, size=2000)]).astype(float)
    X[::50, 0] = np.nan
    binned = ready_for(HistGradientBoostingRegressor(), X)
    np.testing.assert_array_equal(binned[:, 1], X[:, 1])
    known = ~np.isnan(X[:, 0])
    np.testing.assert_array_equal(np.isnan(binned[:, 0]), ~known)
    assert len(np.unique(binned[known, 0])) == 255
    order = np.argsort(X[known, 0])
    assert np.all(np.diff(binned[known, 0][order]) >= 0)
    assert np.max(np.abs(np.argsort(np.argsort(binned[known, 0])) - np.argsort(order))) < 20
    assert ready_for(Ridge(), X) is X


def test_clear_errors():
    X, y, _, _ = rows(20)
    with pytest.raises(ValueError, match="all rows have the same inputs"):
        RobustRegressor(Ridge()).fit(np.ones((20, 2)), y)
    with pytest.raises(ValueError, match="n_folds must be None or a whole number of at least 2"):
        RobustRegressor(Ridge(), n_folds=1).fit(X, y)
    with pytest.raises(ValueError, match="all sample weights are zero"):
        RobustRegressor(Ridge()).fit(X, y, np.zeros(20))
    with pytest.raises(ValueError, match="fdr must be a number between 0 and 1"):
        RobustRegressor(Ridge(), fdr=1.5).fit(X, y)
    for judge in ("trees", Ridge(), RSCKDERegressor(), None):
        with pytest.raises(ValueError, match='judge must be "auto", "clones", "networks" or a'):
            RobustRegressor(Ridge(), judge=judge).fit(X, y)


def test_fits_to_few_rows_are_done_by_one_thread_and_limits_come_back():
    def limits():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"]

    seen = []

    class Looks(Ridge):
        def fit(self, X, y, sample_weight=None):
            seen.append(limits())
            return super().fit(X, y, sample_weight)

    with threadpool_limits(2, user_api="openmp"):
        before = limits()
        assert 2 in before
        RobustRegressor(Looks(), n_rounds=1).fit(*rows(100)[:2])
        assert limits() == before
    assert seen
    assert all(set(each) == {1} for each in seen)


def test_clean_rows_that_trees_meet_badly_are_not_taken_for_wrong_ones():
    X, y = load_keel("stock", return_X_y=True)
    test = np.random.default_rng(0).uniform(size=len(y)) < 0.25
    trees = HistGradientBoostingRegressor(random_state=0)
    plain = clone(trees).fit(X[~test], y[~test])
    robust = RobustRegressor(trees, judge="clones", random_state=0).fit(X[~test], y[~test])
    errors = [np.sqrt(np.mean((m.predict(X[test]) - y[test]) ** 2)) for m in (robust, plain)]
    # By the weights of the last round it would be two fifths more.
    assert errors[0] < 1.15 * errors[1]
    assert robust.n_rounds_ < len(robust.error_path_) == 6
    assert f"round {robust.n_rounds_} of 6" in robust.stop_reason_


def waves(n=400, seed=0):
    """A relation that no straight line meets, a quarter of the targets wrong by less than that."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    clean = np.sin(9 * X[:, 0]) + X[:, 1]
    wrong = rng.random(n) < 0.25
    y = clean + 0.02 * rng.normal(size=n) + wrong * rng.choice([-0.5, 0.5], size=n)
    return X, y, clean, wrong


def test_a_judge_sees_what_the_regressor_cannot():
    X, y, _, wrong = waves()
    by_clones, by_networks = (
        RobustRegressor(LinearRegression(), judge=judge, random_state=0).fit(X, y)
        for judge in ("clones", "auto")
    )
    assert (by_clones.judged_by_, by_networks.judged_by_) == ("clones", "networks")
    found = [np.mean(model.outliers_[wrong]) for model in (by_clones, by_networks)]
    assert found[0] < 0.1
    assert found[1] > 0.9
    assert np.mean(by_networks.outliers_[~wrong]) < 0.02
    # The regressor is still a line: the best one for the rows that are right.
    right = LinearRegression().fit(X[~wrong], y[~wrong])
    gap = by_networks.predict(X) - right.predict(X)
    assert np.sqrt(np.mean(gap**2)) < 0.03
    lower, upper = by_networks.predict_interval(X, 0.9).T
    assert 0.86 < np.mean((lower <= y)[~wrong] & (y <= upper)[~wrong]) < 0.95


def test_the_judges_word_on_the_rows_is_kept():
    X, y, _, _ = waves(200)
    networks = RobustSCNRegressor(n_networks=4, max_nodes=40, n_rounds=5, random_state=0)
    alone = clone(networks).fit(X, y)
    model = RobustRegressor(LinearRegression(), judge=networks, random_state=0).fit(X, y)
    assert not hasattr(networks, "outliers_")
    for name in ("inlier_weight_", "outlier_probability_", "outliers_", "expected_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(alone, name))
    pd.testing.assert_frame_equal(model.outlier_table(), alone.outlier_table())


def jumps(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 6))
    y = 1.0 * (X[:, 0] > 0.5) * (X[:, 1] > 0.3) + 0.5 * (X[:, 2] > 0.6) - 0.7 * (X[:, 3] < 0.4)
    return X, y + 0.02 * rng.normal(size=n)


def test_right_rows_that_networks_cannot_follow_are_believed_again():
    (X, y), (unseen, truth) = jumps(2000, 0), jumps(1000, 1)
    networks = RobustSCNRegressor(n_networks=4, max_nodes=60, random_state=0)
    trees = HistGradientBoostingRegressor(random_state=0)
    alone = clone(networks).fit(X, y)
    # Taught with the networks' weights as they are, trees lose the edges of the steps.
    misled = clone(trees).fit(X, y, sample_weight=alone.inlier_weight_)
    model = RobustRegressor(trees, judge=networks, random_state=0).fit(X, y)
    both = RobustBlendRegressor(networks, trees, random_state=0).fit(X, y)
    plain = clone(trees).fit(X, y)

    def error(each):
        return np.sqrt(np.mean((each.predict(unseen) - truth) ** 2))

    assert error(misled) > 1.15 * error(plain)
    assert error(model) < 1.05 * error(plain)
    assert error(both) < 1.1 * error(plain)
    assert model.judged_by_ == "clones"


def test_widened_weights_are_those_of_a_wider_scale():
    distance = np.concatenate([np.linspace(0, 50, 200), [1e6]])
    for times in (1.0, 4.0, 16.0):
        literal = 1 / (1 + (distance / times) ** 2) ** 2
        found = widened(1 / (1 + distance**2) ** 2, times)
        np.testing.assert_allclose(found, literal, rtol=1e-6)


def test_networks_judge_tables_of_numbers_that_are_not_too_long():
    frame = pd.DataFrame({"a": [1.0, 2.0, None], "b": [1, 2, 3], "c": [True, False, True]})
    assert networks_can_judge(frame)
    assert networks_can_judge(np.zeros((MANY_ROWS - 1, 1)))
    assert not networks_can_judge(np.zeros((MANY_ROWS, 1)))
    assert not networks_can_judge(frame.assign(d=["x", "y", "z"]))
    assert not networks_can_judge(np.array([[1.0], [np.inf]]))
    assert not networks_can_judge([[1.0], [2.0]])
    X, y, _, _ = rows(60)
    assert RobustRegressor(Ridge(), n_rounds=2).fit(X, y).judged_by_ == "clones"
