"""Wrong row or changed world: what a model that keeps learning makes of either."""

import pickle

import numpy as np
import pytest

from robustscn.core.stream import BLOCK, Plan, Stream, begun
from small import plant


def _nothing(X: np.ndarray) -> np.ndarray:
    return np.zeros((len(X), 0))


def _alone(half_life: float | None = None, n_features: int = 3, max_nodes: int = 30) -> Stream:
    """Return a stream without a fitted model."""
    plan = Plan(half_life, True, max_nodes, 0)
    return begun(plan, n_given=0, n_features=n_features, n_outputs=1)


def _learned(stream: Stream, X: np.ndarray, y: np.ndarray) -> Stream:
    stream.learn(X, y[:, None], np.ones(len(y)), _nothing)
    return stream


def test_a_wrong_row_hardly_moves_the_next_prediction() -> None:
    X, _, y = plant(800)
    stream = _learned(_alone(), X, y)
    other = _learned(_alone(), X, y)
    probe = np.random.default_rng(5).uniform(size=(200, 3))
    for stray in (1.0, 10.0, 1e6):
        rows, targets = plant(BLOCK, seed=9)[::2]
        spoiled = targets.copy()
        spoiled[-1] += stray
        _learned(stream, rows, targets)
        _learned(other, rows, spoiled)
        moved = np.abs(stream.predict(probe, _nothing) - other.predict(probe, _nothing))
        assert moved.max() < 0.1 * stray


def test_scattered_wrong_rows_are_no_change() -> None:
    X, clean, y = plant(3000, wrong=0.25)
    stream = _learned(_alone(), X, y)
    assert len(stream.drifts) == 0
    assert np.mean(np.abs(stream.predict(X[-500:], _nothing)[:, 0] - clean[-500:])) < 0.1


@pytest.mark.parametrize("length", [1, 10, 20])
def test_a_burst_is_not_followed(length: int) -> None:
    X, clean, y = plant(1200)
    y[800 : 800 + length] += 3.0
    stream = _learned(_alone(), X[: 800 + length], y[: 800 + length])
    after = X[900:], clean[900:]
    assert np.mean(np.abs(stream.predict(after[0], _nothing)[:, 0] - after[1])) < 0.1
    _learned(stream, X[800 + length :], y[800 + length :])
    assert len(stream.drifts) == 0


def test_a_change_that_lasts_is_taken_in_within_a_hundred_rows() -> None:
    X, clean, y = plant(1200)
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
    X, clean, y = plant(1200)
    y[800:860] = y[799] + 2.0
    stream = _learned(_alone(), X[:860], y[:860])
    assert len(stream.drifts) == 0
    assert np.mean(np.abs(stream.predict(X[900:], _nothing)[:, 0] - clean[900:])) < 0.15


def test_half_life_forgets() -> None:
    X, _, y = plant(1500)
    slope = np.linspace(0, 1, 1500)
    short = _learned(_alone(half_life=50.0), X, y + slope)
    assert short.slow.information.weight < 120
    assert _learned(_alone(), X, y).slow.information.weight > 1000


def test_memory_does_not_grow() -> None:
    X, _, y = plant(3000, wrong=0.4)
    stream = _learned(_learned(_alone(max_nodes=2), X, y), X, y)
    size = len(pickle.dumps(stream))
    assert len(pickle.dumps(_learned(_learned(stream, X, y), X, y))) < 1.01 * size


def test_predictions_stay_near_targets_that_were_seen() -> None:
    X, _, y = plant(400)
    stream = _learned(_alone(), X, y)
    far_off = stream.predict(np.full((1, 3), 1e6), _nothing)
    assert 2 * y.min() - y.max() <= far_off <= 2 * y.max() - y.min()
