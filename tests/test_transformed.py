"""Targets learned as logarithms or square roots, and told in their unit."""

import numpy as np
import onnxruntime
import pytest
from scipy.stats import rankdata
from sklearn.utils.estimator_checks import parametrize_with_checks

from quick import quick, whole
from robustscn import RobustTransformedRegressor
from robustscn.estimators.transformed import evenness
from robustscn.judgement import judgement_of
from robustscn.onnx import to_onnx
from robustscn.persistence import load, save


def prices(n=400, *, share=0.0, seed=0):
    """Return prices with noise and errors that are factors, their medians, and which are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    median = np.exp(3 * X[:, 0] + np.sin(4 * X[:, 1]))
    wrong = rng.random(n) < share
    y = median * np.exp(0.15 * rng.normal(size=n))
    y[wrong] *= rng.choice([0.1, 0.4, 2.5, 10.0], size=wrong.sum())
    return X, y, median, wrong


def transformed(transform="auto", **params):
    return RobustTransformedRegressor(whole(**params), transformation=transform)


@parametrize_with_checks(
    [RobustTransformedRegressor(quick("RobustSCNRegressor"), transformation="none")]
)
def test_scikit_learns_checks(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


@pytest.mark.parametrize(
    ("name", "there", "back"), [("log", np.log, np.exp), ("sqrt", np.sqrt, np.square)]
)
def test_it_is_the_estimator_fitted_to_the_transformed_target(name, there, back):
    X, y, _, _ = prices(share=0.1)
    model, plain = transformed(name).fit(X, y), whole().fit(X, there(y))
    assert model.transformation_ == name
    np.testing.assert_allclose(model.predict(X), back(plain.predict(X)), rtol=1e-12)
    np.testing.assert_allclose(
        model.predict_interval(X, 0.8), back(np.maximum(plain.predict_interval(X, 0.8), 0))
        if name == "sqrt" else back(plain.predict_interval(X, 0.8)), rtol=1e-12,
    )  # fmt: skip
    np.testing.assert_array_equal(model.outliers_, plain.outliers_)
    np.testing.assert_allclose(model.expected_ + model.residuals_, y, rtol=1e-12)
    # Rows are as far away as they were judged to be, wherever they are told of.
    literal = (there(y) - plain.expected_) / plain.residual_scale_
    np.testing.assert_allclose(judgement_of(model).deviations[:, 0], literal, rtol=1e-9)
    table = model.outlier_table()
    np.testing.assert_allclose(table["deviations"], literal[table["row"]], rtol=1e-9)
    np.testing.assert_allclose(table["observed"], y[table["row"]])


def test_the_scale_in_the_targets_unit_is_that_at_the_median():
    X, y, _, _ = prices()
    model = transformed("log").fit(X, y)
    relative = model.estimator_.residual_scale_[0]
    assert model.residual_scale_[0] == pytest.approx(relative * np.median(model.expected_))


def test_noise_that_grows_with_the_value_is_seen_and_errors_are_found():
    X, y, median, wrong = prices(600, share=0.15)
    model = transformed().fit(X, y)
    assert model.transformation_ == "log"
    assert model.evenness_["none"] > 0.3
    assert abs(model.evenness_["log"]) < model.evenness_["none"] / 3
    plain = whole().fit(X, y)
    assert model.outliers_[wrong].mean() > 0.95 > 1.5 * plain.outliers_[wrong].mean()
    assert model.outliers_[~wrong].mean() < 0.03
    errors = [np.median(np.abs(m.predict(X) / median - 1)) for m in (model, plain)]
    assert errors[0] < 0.8 * errors[1]


def test_even_noise_is_left_alone():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = 5 + np.sin(4 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=400)
    model = transformed().fit(X, y)
    assert model.transformation_ == "none"
    assert list(model.evenness_) == ["none"]
    np.testing.assert_array_equal(model.predict(X), whole().fit(X, y).predict(X))


def test_with_zeros_it_is_the_square_root_and_below_zero_nothing():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(600, 1))
    counts = rng.poisson(np.exp(4 * X[:, 0] - 0.5)).astype(float)
    assert counts.min() == 0
    assert transformed().fit(X, counts).transformation_ == "sqrt"
    assert transformed().fit(X, counts - 1).transformation_ == "none"


def test_evenness_is_the_rank_correlation_of_believed_rows():
    X, y, _, _ = prices(300, share=0.1)
    fitted = whole().fit(X, y)
    believed = fitted.inlier_weight_ > 0.5
    ranks = [rankdata(v[believed]) for v in (np.abs(fitted.residuals_), fitted.expected_)]
    assert evenness(fitted) == pytest.approx(np.corrcoef(*ranks)[0, 1], rel=1e-9)


@pytest.mark.parametrize(("name", "least"), [("log", 0.0), ("sqrt", -1.0)])
def test_targets_out_of_range_are_named(name, least):
    X, y, _, _ = prices(60)
    y[7] = least
    with pytest.raises(ValueError, match=f"transformation='{name}' needs targets .*{least:g}"):
        transformed(name).fit(X, y)
    with pytest.raises(ValueError, match="transformation must be one of auto"):
        transformed("cube").fit(X, y)


@pytest.mark.parametrize("name", ["log", "sqrt"])
def test_files_and_onnx_carry_it(name, tmp_path):
    X, y, _, _ = prices(200)
    model = transformed(name, max_nodes=12).fit(X, np.column_stack([y, 2 * y]))
    again = load(save(model, tmp_path / "model.skops")).model
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    session = onnxruntime.InferenceSession(to_onnx(model, dtype="float64").SerializeToString())
    (found,) = session.run(["prediction"], {"X": X})
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-7)
