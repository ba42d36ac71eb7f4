"""Networks and trees together."""

import numpy as np
import onnxruntime
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from quick import quick, whole
from robustscn import RobustBlendRegressor, RobustRegressor
from robustscn.core.forest import Forest
from robustscn.estimators.blend import network_share
from robustscn.onnx import CannotExport, to_onnx
from robustscn.persistence import DamagedModel, UntrustedModel, load, save


def steps(n=600, *, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    clean = 2.0 * (X[:, 0] > 0.4) + 1.0 * (X[:, 1] > 0.7) * (X[:, 0] < 0.6)
    y = clean + 0.05 * rng.normal(size=n)
    wrong = rng.random(n) < share
    y[wrong] += rng.uniform(-4, 4, size=wrong.sum())
    return X, y, clean, wrong


def blend(**params):
    return RobustBlendRegressor(**{"networks": whole(), "random_state": 0, **params})


def trees(**params):
    """Default trees, judged in few fits: what is asked here are files."""
    return RobustRegressor(**{"n_folds": 2, "n_rounds": 2, "random_state": 0, **params})


def error(model, X, truth):
    return np.sqrt(np.mean((model.predict(X) - truth) ** 2))


@parametrize_with_checks([RobustBlendRegressor(quick("RobustSCNRegressor"), LinearRegression())])
def test_scikit_learns_checks(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


def test_without_noise_of_their_own_the_share_is_the_least_squares_and_a_standard_error():
    rng = np.random.default_rng(3)
    e, g = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    g[:, 1] += 2.0 * e[:, 1]
    w = rng.uniform(0.2, 1.0, size=200)
    found = network_share(e, g, np.zeros_like(e), w)
    for q in range(2):
        least = minimize_scalar(lambda a, q=q: w @ (a * e[:, q] + (1 - a) * g[:, q]) ** 2).x
        apart, left = g[:, q] - e[:, q], least * e[:, q] + (1 - least) * g[:, q]
        # The sandwich: its bread is the curvature, its filling the scores' own sizes.
        deviation = np.sqrt(np.sum((w * apart * left) ** 2)) / (w @ apart**2)
        assert found[q] == pytest.approx(np.clip(least + deviation, 0, 1), rel=1e-5)


def test_what_averaging_takes_off_is_not_held_against_the_networks():
    # Left-out networks are the truth and noise that the mean of all has not; trees are worse.
    rng = np.random.default_rng(1)
    truth, noise, trees = rng.normal(size=(3, 20_000, 1)) * np.array([1, 0.6, 0.5])[:, None, None]
    del truth
    y = 0.3 * rng.normal(size=(20_000, 1))
    ones = np.ones(20_000)
    blind = network_share(y - noise, y - trees, np.zeros_like(y), ones)
    told = network_share(y - noise, y - trees, np.full_like(y, 0.36), ones)
    assert blind < 0.5
    assert told > 0.97


def test_equal_opinions_are_the_networks():
    e = np.ones((5, 1))
    np.testing.assert_array_equal(network_share(e, e, 0 * e, np.ones(5)), [1.0])


def test_trees_help_where_there_are_steps_and_wrong_rows_are_found():
    X, y, _, wrong = steps(1200)
    X_test, _, truth, _ = steps(2000, seed=1)
    model = blend().fit(X, y)
    assert model.share_.shape == (1,)
    assert 0.0 <= model.share_[0] < 0.6
    assert error(model, X_test, truth) < 0.8 * error(model.networks_, X_test, truth)
    expected = model.share_ * model.networks_.predict(X_test) + (
        1 - model.share_
    ) * model.estimator_.predict(X_test)
    np.testing.assert_allclose(model.predict(X_test), expected, rtol=1e-12)
    far = wrong & (np.abs(model.residuals_) > 0.5)
    assert model.outliers_[far].mean() > 0.95
    assert model.outliers_[~wrong].mean() < 0.05
    assert model.error_path_[1] <= model.error_path_[0]


def test_smooth_relations_stay_the_networks():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.02 * rng.normal(size=400)
    model = blend().fit(X, y)
    assert model.share_[0] > 0.9


def test_intervals_hold_clean_targets():
    X, y, _, _ = steps(800)
    X_test, y_test, _, _ = steps(2000, share=0.0, seed=1)
    low, high = blend().fit(X, y).predict_interval(X_test, 0.9).T
    assert 0.85 < np.mean((low < y_test) & (y_test < high)) < 0.97


def test_each_output_has_its_share():
    X, y, clean, _ = steps()
    model = blend().fit(X, np.column_stack([y, 3 * X[:, 2]]))
    assert model.share_[0] < model.share_[1]
    assert model.predict(X).shape == (600, 2)
    assert np.mean(np.abs(model.predict(X)[:, 0] - clean)) < 0.2
    assert model.predict_interval(X).shape == (600, 2, 2)


@pytest.mark.parametrize("model", [blend(n_folds=2), trees()], ids=["both", "trees"])
def test_the_default_trees_survive_a_file(model, tmp_path):
    X, y, _, _ = steps(300)
    model.fit(X, y)
    assert isinstance(model.estimator_, Forest)
    again = load(save(model, tmp_path / "model.skops")).model
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    np.testing.assert_array_equal(again.outliers_, model.outliers_)


def test_a_file_whose_trees_lead_astray_is_refused(tmp_path):
    X, y, _, _ = steps(300)
    model = trees().fit(X, y)
    model.estimator_.left[0] = 10**6
    with pytest.raises(DamagedModel, match="trees whose ways lead out of them"):
        load(save(model, tmp_path / "model.skops"))


def test_other_regressors_are_theirs_to_vouch_for(tmp_path):
    X, y, _, _ = steps(300)
    model = RobustRegressor(LinearRegression(), random_state=0).fit(X, y)
    with pytest.raises(UntrustedModel, match="LinearRegression"):
        load(save(model, tmp_path / "model.skops"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("model", [blend(n_folds=2), trees()], ids=["both", "trees"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_onnx_predicts_the_same(model, n_outputs, dtype):
    X, y, clean, _ = steps(300)
    X = X.astype(dtype)
    targets = y if n_outputs == 1 else np.column_stack([y, clean])
    model = clone(model).fit(X, targets)
    session = onnxruntime.InferenceSession(to_onnx(model, dtype=dtype).SerializeToString())
    (found,) = session.run(["prediction"], {"X": X})
    assert found.shape == model.predict(X).shape
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-5, atol=1e-5)


def test_other_regressors_have_no_onnx():
    X, y, _, _ = steps(100)
    model = RobustRegressor(LinearRegression(), random_state=0).fit(X, y)
    with pytest.raises(CannotExport, match="LinearRegression is not exported"):
        to_onnx(model)


def test_callbacks_are_told_of_rounds_and_may_end_them():
    class Ends:
        def __init__(self):
            self.rounds = 0

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.rounds += context.task_name == "round"
            return self.rounds == 2

    X, y, _, _ = steps(200)
    told = Ends()
    model = RobustRegressor(LinearRegression(), judge="clones", random_state=0)
    model.set_callbacks(told).fit(X, y)
    assert (told.rounds, model.n_rounds_, len(model.error_path_)) == (2, 2, 2)
    assert "callback ended" in model.stop_reason_
    told = Ends()
    model = RobustRegressor(LinearRegression(), judge=whole(), random_state=0)
    model.set_callbacks(told).fit(X, y)
    assert told.rounds == 2
