"""Models that keep learning: rows in any cut, wrong rows, changed worlds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from robustscn import RobustSCNRegressor, RSCKDERegressor, SCNRegressor
from robustscn.core.channel import LEVEL, followed
from robustscn.core.nodes import Nodes
from robustscn.core.regrowth import Unit, unit_of
from robustscn.core.stream import BLOCK, Plan, Stream, begun
from robustscn.estimators._stream import FIRST_ROWS

SMALL = {
    SCNRegressor: SCNRegressor(15, random_state=0),
    RSCKDERegressor: RSCKDERegressor(15, n_rounds=2, random_state=0),
    RobustSCNRegressor: RobustSCNRegressor(
        n_networks=2, n_rounds=2, max_nodes=20, n_jobs=1, random_state=0
    ),
}


def _plant(n: int, seed: int = 0, wrong: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, clean targets and targets with some wrong ones."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    clean = np.sin(6 * X[:, 0]) + X[:, 1] + 10.0
    y = clean + 0.05 * rng.normal(size=n)
    hit = rng.uniform(size=n) < wrong
    y[hit] += rng.uniform(-5, 5, hit.sum())
    return X, clean, y


def _nothing(X: np.ndarray) -> np.ndarray:
    return np.zeros((len(X), 0))


def _alone(half_life: float | None = None, n_features: int = 3, max_nodes: int = 30) -> Stream:
    """Return a stream without a fitted model."""
    plan = Plan(half_life, True, max_nodes, 0)
    return begun(plan, n_given=0, n_features=n_features, n_outputs=1)


def _learned(stream: Stream, X: np.ndarray, y: np.ndarray) -> Stream:
    stream.learn(X, y[:, None], np.ones(len(y)), _nothing)
    return stream


@pytest.fixture(scope="module")
def dirty() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _plant(330, wrong=0.15)


@pytest.mark.parametrize("kind", list(SMALL))
def test_the_cut_into_calls_makes_no_difference(kind, dirty) -> None:
    X, _, y = dirty
    models = []
    for cut in (7, 330):
        model = clone(SMALL[kind])
        for start in range(0, len(X), cut):
            model.partial_fit(X[start : start + cut], y[start : start + cut])
        models.append(model)
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))
    assert models[0].suspects_ == models[1].suspects_
    assert models[0].drift_ == models[1].drift_


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
    X, _, y = _plant(FIRST_ROWS - 1)
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X, y)
    np.testing.assert_allclose(model.predict(X[:3]), np.median(y))
    with pytest.raises(AttributeError, match="after partial_fit"):
        model.drift_  # noqa: B018


def test_a_cold_start_learns_and_names_wrong_rows() -> None:
    X, clean, y = _plant(600, wrong=0.15)
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X, y)
    assert np.mean(np.abs(model.predict(X) - clean)) < 0.12
    found = {each.row for each in model.suspects_}
    wrong = set(np.flatnonzero(np.abs(y - clean) > 0.5))
    assert len(wrong - found) < 0.1 * len(wrong)
    assert len(found) < 1.5 * len(wrong)
    assert model.drift_ == []


def test_several_outputs_and_their_units() -> None:
    X, _, y = _plant(320)
    Y = np.stack([y, 1000 * y[::-1]], axis=1)
    model = clone(SMALL[RobustSCNRegressor]).partial_fit(X, Y)
    assert model.predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="y has 1 outputs in 1 dimensions"):
        model.partial_fit(X, y)
    again = clone(SMALL[RobustSCNRegressor]).partial_fit(X, 1024 * Y)
    np.testing.assert_allclose(again.predict(X), 1024 * model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("half_life", [0, -1, "short", np.inf])
def test_a_wrong_half_life_is_refused(half_life) -> None:
    X, _, y = _plant(10)
    with pytest.raises(ValueError, match="half_life must be None or a positive number"):
        SCNRegressor(half_life=half_life).partial_fit(X, y)


def test_a_wrong_row_hardly_moves_the_next_prediction() -> None:
    X, _, y = _plant(800)
    stream = _learned(_alone(), X, y)
    other = _learned(_alone(), X, y)
    probe = np.random.default_rng(5).uniform(size=(200, 3))
    for stray in (1.0, 10.0, 1e6):
        rows, targets = _plant(BLOCK, seed=9)[::2]
        spoiled = targets.copy()
        spoiled[-1] += stray
        _learned(stream, rows, targets)
        _learned(other, rows, spoiled)
        moved = np.abs(stream.predict(probe, _nothing) - other.predict(probe, _nothing))
        assert moved.max() < 0.1 * stray


def test_scattered_wrong_rows_are_no_change() -> None:
    X, clean, y = _plant(3000, wrong=0.25)
    stream = _learned(_alone(), X, y)
    assert len(stream.drifts) == 0
    assert np.mean(np.abs(stream.predict(X[-500:], _nothing)[:, 0] - clean[-500:])) < 0.1


@pytest.mark.parametrize("length", [1, 10, 20])
def test_a_burst_is_not_followed(length: int) -> None:
    X, clean, y = _plant(1200)
    y[800 : 800 + length] += 3.0
    stream = _learned(_alone(), X[: 800 + length], y[: 800 + length])
    after = X[900:], clean[900:]
    assert np.mean(np.abs(stream.predict(after[0], _nothing)[:, 0] - after[1])) < 0.1
    _learned(stream, X[800 + length :], y[800 + length :])
    assert len(stream.drifts) == 0


def test_a_change_that_lasts_is_taken_in_within_a_hundred_rows() -> None:
    X, clean, y = _plant(1200)
    y[800:] += 3.0
    stream = _learned(_alone(), X[:800], y[:800])
    _learned(stream, X[800:900], y[800:900])
    error = stream.predict(X[900:], _nothing)[:, 0] - (clean[900:] + 3.0)
    assert np.mean(np.abs(error)) < 0.2
    row, began, size, _ = stream.drifts[-1]
    assert 800 < row <= 900
    assert abs(began - 800) <= 5
    assert size == pytest.approx(3.0, abs=0.3)
    # Rows of the new world are no suspects any more.
    assert np.sum(stream.suspects[:, 0] >= 800) <= 5


def test_a_stuck_sensor_is_no_change() -> None:
    X, clean, y = _plant(1200)
    y[800:860] = y[799] + 2.0
    stream = _learned(_alone(), X[:860], y[:860])
    assert len(stream.drifts) == 0
    assert np.mean(np.abs(stream.predict(X[900:], _nothing)[:, 0] - clean[900:])) < 0.15


def test_half_life_forgets() -> None:
    X, _, y = _plant(1500)
    slope = np.linspace(0, 1, 1500)
    short = _learned(_alone(half_life=50.0), X, y + slope)
    assert short.slow.information.weight < 120
    assert _learned(_alone(), X, y).slow.information.weight > 1000


def test_memory_does_not_grow() -> None:
    import pickle

    X, _, y = _plant(3000, wrong=0.4)
    stream = _learned(_learned(_alone(max_nodes=2), X, y), X, y)
    size = len(pickle.dumps(stream))
    assert len(pickle.dumps(_learned(_learned(stream, X, y), X, y))) < 1.01 * size


def test_predictions_stay_near_targets_that_were_seen() -> None:
    X, _, y = _plant(400)
    stream = _learned(_alone(), X, y)
    far_off = stream.predict(np.full((1, 3), 1e6), _nothing)
    assert 2 * y.min() - y.max() <= far_off <= 2 * y.max() - y.min()


def test_the_level_skips_what_is_strange() -> None:
    errors = np.array([[1.0], [100.0], [1.0], [1.0], [1.0]])
    levels, tail = followed(np.zeros((LEVEL, 1)), errors, np.ones(1))
    np.testing.assert_array_equal(levels[:, 0], [0, 0, 0, 0, 1])
    assert tail[:, 0].tolist() == [0.0, 1.0, 1.0, 1.0, 1.0]


def test_nodes_in_another_unit_are_the_same_nodes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) * 30 + 100
    one, other = Unit(np.array([1.0, 2.0]), np.array([3.0, 40.0])), unit_of(X)
    nodes = Nodes(rng.normal(size=(2, 3)), rng.normal(size=3), factors=((0,),))
    np.testing.assert_allclose(
        nodes.hidden(one.inputs(X)),
        one.translated(nodes, other).hidden(other.inputs(X)),
        rtol=1e-9,
    )
