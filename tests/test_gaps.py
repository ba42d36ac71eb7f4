"""Missing inputs: filled with medians, marked where they were, and told apart from right values."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils import get_tags

from quick import QUICK, quick, whole
from robustscn import RobustBlendRegressor, RobustSCNRegressor, RobustTransformedRegressor
from robustscn.core.arrays import to_host
from robustscn.core.missing import Missing
from robustscn.persistence import DamagedModel, load, save

NAN = np.nan


def gappy(n=160, share=0.1, seed=0):
    """Rows of three inputs, of which the first two have gaps; a gap in the first one tells."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.02 * rng.normal(size=n)
    gaps = rng.random((n, 2)) < share
    y += 1.5 * gaps[:, 0]
    X[:, :2][gaps] = NAN
    wrong = rng.permutation(n)[: n // 10]
    y[wrong] += 6.0
    return X, y


def median(x, weight):
    known = ~np.isnan(x)
    order = np.argsort(x[known])
    reached = np.cumsum(weight[known][order])
    return x[known][order][np.searchsorted(reached, 0.5 * reached[-1])]


def by_hand(X, weight=None, marked=(0, 1), like=None):
    """The same table without gaps, and columns that say where they were."""
    like = X if like is None else like
    weight = np.ones(len(like)) if weight is None else weight
    fill = [median(x, weight) for x in like.T]
    return np.column_stack([np.where(np.isnan(X), fill, X), *(np.isnan(X[:, j]) for j in marked)])


@pytest.fixture(scope="module")
def fitted():
    X, y = gappy()
    return quick("RobustSCNRegressor").fit(X, y), X, y


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_it_is_the_estimator_on_a_table_filled_and_marked_by_hand(dtype, n_outputs):
    X, y = gappy()
    X, weight = X.astype(dtype), np.random.default_rng(1).integers(0, 3, len(X))
    y = y if n_outputs == 1 else np.column_stack([y, -y])
    model = whole()
    there = by_hand(X, weight).astype(dtype)
    other = clone(model).fit(there, y, weight)
    model.fit(X, y, weight)
    assert model.n_features_in_ == 3
    assert_array_equal(model.predict(X), other.predict(there))
    assert_array_equal(model.predict_interval(X), other.predict_interval(there))
    assert_array_equal(model.outlier_probability_, other.outlier_probability_)


def test_validation_rows_may_have_gaps():
    X, y = gappy()
    model = quick("RobustSCNRegressor").fit(X, y, X_val=X[:30], y_val=y[:30])
    there = by_hand(X)
    other = quick("RobustSCNRegressor").fit(there, y, X_val=there[:30], y_val=y[:30])
    assert_array_equal(model.predict(X), other.predict(there))


def test_an_input_that_first_has_gaps_at_prediction_gets_its_median(fitted):
    model, X, _ = fitted
    later, filled = X[:20].copy(), X[:20].copy()
    later[:, 2], filled[:, 2] = NAN, median(X[:, 2], np.ones(len(X)))
    assert_array_equal(model.predict(later), model.predict(filled))


def test_weight_two_is_the_row_twice():
    X, y = gappy()
    weight = np.random.default_rng(2).integers(1, 3, len(X))
    twice = np.repeat(np.arange(len(X)), weight)
    one = whole().fit(X, y, weight).predict(X)
    assert_allclose(one, whole().fit(X[twice], y[twice]).predict(X), atol=1e-6)


def test_rows_without_weight_change_nothing():
    X, y = gappy()
    odd = np.column_stack([np.full(30, NAN), np.full(30, 7.0), np.full(30, NAN)])
    weight = np.append(np.ones(len(X)), np.zeros(30))
    model = whole().fit(np.vstack([odd, X]), np.append(np.full(30, 9.0), y), weight[::-1])
    assert_allclose(model.predict(X), whole().fit(X, y).predict(X), atol=1e-6)


def test_the_order_of_rows_does_not_matter():
    X, y = gappy()
    order = np.random.default_rng(3).permutation(len(X))
    assert_allclose(
        whole().fit(X[order], y[order]).predict(X), whole().fit(X, y).predict(X), atol=1e-6
    )


def telling(seed, n=400):
    """A target that depends on whether an input is missing, a tenth of the targets wrong."""
    rng = np.random.default_rng(seed)
    X, gaps = rng.uniform(size=(n, 2)), rng.random((n, 2)) < (0.1, 0.0)
    right = np.sin(5 * X[:, 1]) + 0.3 * X[:, 0] + gaps[:, 0]
    wrong = rng.random(n) < 0.1
    return np.where(gaps, NAN, X), right, right + 0.02 * rng.normal(size=n) + 5.0 * wrong


def test_that_a_value_is_missing_is_learned():
    (X, _, y), (X_new, right, _) = telling(0), telling(1)
    model, medians = whole().fit(X, y), whole().fit(by_hand(X, marked=()), y)
    left = right - model.predict(X_new)
    by_medians = right - medians.predict(by_hand(X_new, marked=(), like=X))
    assert np.mean(left**2) < 0.2 * np.mean(by_medians**2)


@pytest.mark.parametrize("values", [[1.0, 1.0], [0.0, 50.0]])
def test_an_input_that_was_never_known_is_left_out_of_account(values):
    X, y = gappy()
    X[:, 1] = NAN
    model = quick("RobustSCNRegressor").fit(X, y)
    other = quick("RobustSCNRegressor").fit(np.column_stack([X[:, 0], 0 * y, X[:, 2]]), y)
    later = X.copy()
    later[:2, 1] = values
    assert_array_equal(model.predict(later), model.predict(X))
    assert_array_equal(other.predict(np.nan_to_num(X[:, [0, 1, 2]], nan=NAN)), model.predict(X))


def test_all_inputs_missing_is_the_middle_of_the_targets():
    y = np.arange(40.0)
    model = quick("RobustSCNRegressor").fit(np.full((40, 2), NAN), y)
    assert np.ptp(model.predict(np.array([[NAN, NAN], [1.0, 2.0]]))) == 0
    assert 10 < model.predict([[NAN, NAN]])[0] < 30


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_stays_refused(fitted, value):
    model, X, y = fitted
    bad = X.copy()
    bad[3, 2] = value
    for call in (
        lambda: clone(model).fit(bad, y),
        lambda: clone(model).partial_fit(bad, y),
        lambda: model.predict(bad),
        lambda: model.predict_interval(bad),
    ):
        with pytest.raises(ValueError, match="infinity"):
            call()


def test_targets_must_be_known_and_gaps_hide_no_overflow(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="contains NaN"):
        clone(model).fit(X, np.where(y > 1, NAN, y))
    huge = X.copy()
    huge[3, 2] = 1e200
    for call in (clone(model).fit, clone(model).partial_fit):
        with pytest.raises(ValueError, match="beyond 1e\\+100"):
            call(huge, y)
    with pytest.raises(ValueError, match="beyond 1e\\+100"):
        model.predict(huge)


@pytest.mark.parametrize("cuts", [(), (50, 130, 205)])
def test_streams_have_gaps_too(cuts):
    X, y = gappy(300)
    model, other = (quick("RobustSCNRegressor", max_nodes=20) for _ in range(2))
    for part in np.split(np.arange(300), cuts):
        model.partial_fit(X[part], y[part])
        assert np.all(np.isfinite(model.predict(X)))
    there = by_hand(X, like=X[:200])
    other.partial_fit(there, y)
    assert_array_equal(model.predict(X), other.predict(there))
    assert_array_equal(model.predict_interval(X), other.predict_interval(there))


def test_a_fit_goes_on_as_a_stream():
    X, y = gappy(300)
    there = by_hand(X, like=X[:150])
    model = quick("RobustSCNRegressor").fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    other = quick("RobustSCNRegressor").fit(there[:150], y[:150])
    other.partial_fit(there[150:], y[150:])
    assert_array_equal(model.predict(X), other.predict(there))


def test_before_there_are_networks_a_stream_predicts_its_median():
    X, y = gappy(40)
    assert_allclose(quick("RobustSCNRegressor").partial_fit(X, y).predict(X), np.median(y))


@pytest.mark.parametrize("on", [False, True])
def test_saved_and_pickled_models_predict_the_same(fitted, tmp_path, on):
    model, X, y = fitted
    if on:
        model = clone(model).fit(X, y).partial_fit(X, y)
    loaded = load(save(model, tmp_path / "model.skops")).model
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.predict(X), model.predict(X), strict=True)
        assert_array_equal(other.predict_interval(X), model.predict_interval(X), strict=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: replace(m, fill=m.fill[:2]),
        lambda m: replace(m, fill=np.append(m.fill, 1.0)),
        lambda m: replace(m, marked=(0,)),
        lambda m: replace(m, fill=np.append(m.fill, 1.0), marked=(0,)),
        lambda m: replace(m, marked=(0, 3)),
        lambda m: replace(m, marked=(1, 0)),
        lambda m: replace(m, fill=np.full(3, "a")),
        lambda m: {"fill": m.fill, "marked": list(m.marked)},
        lambda m: Missing(m.fill[:, None], m.marked),
    ],
)
def test_a_file_whose_parts_do_not_agree_is_refused(fitted, tmp_path, change):
    model, _, _ = fitted
    other = pickle.loads(pickle.dumps(model))
    other._missing = change(model._missing)
    with pytest.raises(DamagedModel):
        load(save(other, tmp_path / "model.skops"))


def test_a_model_of_an_earlier_version_asks_to_be_fitted_again(fitted):
    model, X, y = fitted
    old = clone(model).fit(np.nan_to_num(X), y)
    wanted = old.predict(np.nan_to_num(X))
    del old._missing
    assert_array_equal(old.predict(np.nan_to_num(X)), wanted)
    for ask in (old.predict, old.predict_interval):
        with pytest.raises(ValueError, match="has not learned what stands for them"):
            ask(X)


def test_a_refit_that_fails_leaves_the_earlier_model_as_it_was(fitted):
    model, X, y = fitted
    model, wanted = pickle.loads(pickle.dumps(model)), model.predict(X)
    with pytest.raises(ValueError, match="y_val has 2 outputs"):
        model.fit(np.nan_to_num(X), y, X_val=X, y_val=np.column_stack([y, y]))
    assert_array_equal(model.predict(X), wanted)


def test_blends_and_transformed_targets_have_gaps_through_it():
    X, y = gappy()
    networks = RobustSCNRegressor(**QUICK["RobustSCNRegressor"], random_state=0)
    blend = RobustBlendRegressor(networks, random_state=0).fit(X, y)
    assert np.all(np.isfinite(blend.predict(X)))
    assert np.all(np.isfinite(blend.predict_interval(X)))
    transformed = RobustTransformedRegressor(networks, transformation="none").fit(X, y)
    assert_array_equal(transformed.predict(X), clone(networks).fit(X, y).predict(X))
    assert get_tags(blend).input_tags.allow_nan
    assert get_tags(transformed).input_tags.allow_nan
    alone = RobustBlendRegressor(networks, LinearRegression())
    assert not get_tags(alone).input_tags.allow_nan


def test_a_frame_with_its_own_kinds_of_nothing(fitted):
    pd = pytest.importorskip("pandas")
    model, X, y = fitted
    frame = pd.DataFrame(X, columns=list("abc")).convert_dtypes()
    assert frame["a"].isna().any()
    other = clone(model).fit(frame, y)
    assert_array_equal(other.predict(frame), model.predict(X))
    table = other.outlier_table(frame.index)
    assert len(table) == other.outliers_.sum() > 0


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_arrays_of_other_libraries_have_gaps_too(fitted, library, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    xp = pytest.importorskip(library)
    model, X, y = fitted
    with config_context(array_api_dispatch=True):
        there = xp.asarray(X.copy())
        other = clone(model).fit(there, xp.asarray(y.copy()))
        found = other.predict(there)
    assert type(found) is type(there)
    assert_allclose(to_host(found), model.predict(X), atol=1e-6)


def test_on_a_cluster_no_gaps_are_let_in():
    pytest.importorskip("distributed")
    from robustscn.dask import DaskRobustSCNRegressor

    assert not get_tags(DaskRobustSCNRegressor()).input_tags.allow_nan


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("never", [False, True])
def test_onnx_fills_and_marks_as_predict_does(dtype, never):
    pytest.importorskip("onnx")
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    from robustscn.onnx import to_onnx

    X, y = gappy()
    if never:
        X[:, 1] = NAN
    networks = quick("RobustSCNRegressor")
    X_new, _ = gappy(50, seed=1)
    X_new[::5, 2] = NAN
    X_new = X_new.astype(dtype)
    # scikit-learn's own trees are refused an input that is never known.
    for model in (networks, *([] if never else [RobustBlendRegressor(networks, random_state=0)])):
        graph = to_onnx(model.fit(X, y), dtype=np.dtype(dtype).name)
        session = runtime.InferenceSession(graph.SerializeToString())
        (found,) = session.run(["prediction"], {"X": X_new})
        assert_allclose(found, model.predict(X_new.astype(np.float64)), atol=1e-5)
