"""Models that keep learning: rows in any cut, wrong rows, changed worlds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from robustscn import RobustSCNRegressor, RSCKDERegressor, SCNRegressor
from robustscn.core.memory import BLOCK
from robustscn.estimators._stream import FIRST_ROWS
from robustscn.persistence import DamagedModel, load, save
from small import plant

SMALL = {
    SCNRegressor: SCNRegressor(15, random_state=0),
    RSCKDERegressor: RSCKDERegressor(15, n_rounds=2, random_state=0),
    RobustSCNRegressor: RobustSCNRegressor(
        n_networks=2, n_rounds=2, max_nodes=20, n_jobs=1, random_state=0
    ),
}


@pytest.fixture(scope="module")
def dirty() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return plant(330, wrong=0.15)


@pytest.mark.parametrize("kind", list(SMALL))
def test_the_cut_into_calls_makes_no_difference(kind, dirty) -> None:
    X, _, y = dirty
    models = []
    for cut in (1, 7, 330):
        model = clone(SMALL[kind])
        for start in range(0, len(X), cut):
            model.partial_fit(X[start : start + cut], y[start : start + cut])
        models.append(model)
    *cut_up, whole = models
    for model in cut_up:
        np.testing.assert_array_equal(model.predict(X), whole.predict(X))
        if kind is RobustSCNRegressor:
            np.testing.assert_array_equal(model.predict_interval(X), whole.predict_interval(X))
        assert model.suspects_ == whole.suspects_
        assert model.drift_ == whole.drift_


@pytest.mark.parametrize("kind", list(SMALL))
def test_a_fitted_model_goes_on_from_what_it_says(kind, dirty) -> None:
    X, _, y = dirty
    model = clone(SMALL[kind]).fit(X[:100], y[:100])
    before = model.predict(X)
    model.partial_fit(X[100 : 100 + BLOCK - 1], y[100 : 100 + BLOCK - 1])
    np.testing.assert_allclose(model.predict(X), before, rtol=1e-12)
    model.partial_fit(X[119:], y[119:])
    assert np.any(np.abs(model.predict(X) - before) > 1e-6)
    np.testing.assert_array_equal(model.fit(X[:100], y[:100]).predict(X), before)
    assert not hasattr(model, "drift_")


def test_rows_without_weight_change_no_interval(dirty) -> None:
    X, _, y = dirty
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X, y)
    before = model.predict_interval(X)
    model.partial_fit(X, 100 * y, np.zeros(len(X)))
    np.testing.assert_array_equal(model.predict_interval(X), before)


def test_rows_without_weight_change_nothing(dirty) -> None:
    X, _, y = dirty
    some, all_ = clone(SMALL[SCNRegressor]), clone(SMALL[SCNRegressor])
    assert not hasattr(some.partial_fit(X[:5], y[:5], np.zeros(5)), "n_features_in_")
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    some.partial_fit(X, np.where(weight > 0, y, 1e6), weight)
    all_.partial_fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(some.predict(X), all_.predict(X))
    before = some.predict(X)
    some.partial_fit(X, 100 * y, np.zeros(len(X)))
    np.testing.assert_array_equal(some.predict(X), before)


def test_before_there_are_enough_rows_the_median_is_predicted() -> None:
    X, _, y = plant(FIRST_ROWS - 1)
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X, y)
    np.testing.assert_allclose(model.predict(X[:3]), np.median(y))
    with pytest.raises(AttributeError, match="after partial_fit"):
        model.drift_  # noqa: B018


def test_a_cold_start_learns_and_names_wrong_rows() -> None:
    X, clean, y = plant(600, wrong=0.15)
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X, y)
    assert np.mean(np.abs(model.predict(X) - clean)) < 0.12
    found = {each.row for each in model.suspects_}
    wrong = set(np.flatnonzero(np.abs(y - clean) > 0.5))
    assert len(wrong - found) < 0.1 * len(wrong)
    assert len(found) < 1.5 * len(wrong)
    assert model.drift_ == []


def test_several_outputs_and_their_units() -> None:
    X, _, y = plant(320)
    Y = np.stack([y, 1000 * y[::-1]], axis=1)
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X, Y)
    assert model.predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="y has 1 outputs in 1 dimensions"):
        model.partial_fit(X, y)
    again = clone(SMALL[RobustSCNRegressor]).partial_fit(X, 1024 * Y)
    np.testing.assert_allclose(again.predict(X), 1024 * model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("half_life", [0, -1, "short", np.inf])
def test_a_wrong_half_life_is_refused(half_life) -> None:
    X, _, y = plant(10)
    with pytest.raises(ValueError, match="half_life must be None or a positive number"):
        SCNRegressor(half_life=half_life).partial_fit(X, y)


def _covered(model, X, clean, y) -> float:
    """Return the share of right targets inside 80 % intervals, each made before its row."""
    inside = []
    for start in range(0, len(X), BLOCK):
        at = slice(start, start + BLOCK)
        low, high = model.predict_interval(X[at], 0.8).T
        right = np.abs(y[at] - clean[at]) < 0.5
        inside += ((low <= y[at]) & (y[at] <= high))[right].tolist()
        model.partial_fit(X[at], y[at])
    return float(np.mean(inside))


def test_intervals_follow_the_noise_of_the_stream() -> None:
    X, clean, y = plant(1200, wrong=0.15)
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X[:400], y[:400])
    assert 0.7 < _covered(model, X[400:800], clean[400:800], y[400:800]) < 0.9
    later = clean + 3 * (y - clean) * (np.abs(y - clean) < 0.5)  # the noise is three times as large
    _covered(model, X, clean, later)
    assert 0.7 < _covered(model, X, clean, later) < 0.9


def test_a_stream_that_has_only_begun_says_what_intervals_need() -> None:
    X, _, y = plant(100)
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X, y)
    for ask in (model.predict_interval, partial(model.predict, return_std=True)):
        with pytest.raises(NotFittedError, match="need a fit, or 200 rows given to partial_fit"):
            ask(X)


def test_intervals_of_a_fit_hold_until_the_stream_has_its_own() -> None:
    X, _, y = plant(700)
    model = clone(SMALL[RobustSCNRegressor]).fit(X[:300], y[:300])
    before = model.predict_interval(X)
    model.partial_fit(X[300:310], y[300:310])
    np.testing.assert_allclose(model.predict_interval(X), before, rtol=1e-12)
    model.partial_fit(X[310:], y[310:])
    ends = model.predict_interval(X) - model.predict(X)[:, None]
    np.testing.assert_allclose(ends - ends[0], 0.0, atol=1e-12)  # one width, about the prediction


def test_a_saved_stream_goes_on_as_if_it_had_not_been_saved(tmp_path, dirty) -> None:
    X, _, y = dirty
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X[:270], y[:270])
    again = load(save(model, tmp_path / "model.skops")).model
    for each in (model, again):
        each.partial_fit(X[270:], y[270:])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    model._stream.said = model._stream.said[1:]
    with pytest.raises(DamagedModel):
        load(save(model, tmp_path / "crafted.skops"))
    again._stream.line = replace(again._stream.line, slopes=np.zeros((7, 1)))
    with pytest.raises(DamagedModel):
        load(save(again, tmp_path / "crafted.skops"))
