"""Wrong row or changed world: what a model that keeps learning makes of either."""

import numpy as np
import pytest

from robustscn.core.drift import ARCHIVED, _record_change
from robustscn.core.memory import BLOCK
from small import after, nothing, plant, stream_alone


def test_scattered_wrong_rows_are_no_change() -> None:
    X, clean, y = plant(3000, wrong=0.25)
    stream = after(stream_alone(), X, y)
    assert len(stream.drifts) == 0
    assert np.mean(np.abs(stream.predict(X[-500:], nothing)[:, 0] - clean[-500:])) < 0.1


@pytest.mark.parametrize("length", [1, 10, 20])
def test_a_burst_is_not_followed(length: int) -> None:
    X, clean, y = plant(1200)
    y[800 : 800 + length] += 3.0
    stream = after(stream_alone(), X[: 800 + length], y[: 800 + length])
    later = X[900:], clean[900:]
    assert np.mean(np.abs(stream.predict(later[0], nothing)[:, 0] - later[1])) < 0.1
    after(stream, X[800 + length :], y[800 + length :])
    assert len(stream.drifts) == 0


def test_a_change_that_lasts_is_taken_in_within_a_hundred_rows() -> None:
    X, clean, y = plant(1200)
    y[800:] += 3.0
    stream = after(stream_alone(), X[:800], y[:800])
    after(stream, X[800:900], y[800:900])
    error = stream.predict(X[900:], nothing)[:, 0] - (clean[900:] + 3.0)
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
    stream = after(stream_alone(), X[:860], y[:860])
    assert len(stream.drifts) == 0
    assert np.mean(np.abs(stream.predict(X[900:], nothing)[:, 0] - clean[900:])) < 0.15


def test_rows_of_a_stuck_sensor_stay_suspects_when_the_sceptic_gives_way() -> None:
    X, _, y = plant(1200)
    y[800:860] = y[799] + 2.0
    stream = after(stream_alone(), X[:860], y[:860])
    stuck = stream.suspects[:, 0] >= 800
    assert np.sum(stuck) > 50
    _record_change(stream)
    assert np.sum(stream.suspects[:, 0] >= 800) == np.sum(stuck)


def test_a_world_that_comes_back_is_recognised() -> None:
    X, clean, y = plant(1980)
    clean, y = (values + 2 * np.sin(9 * X[:, 1]) for values in (clean, y))  # no plane meets it
    y[1200:1500] = 20.0 - y[1200:1500]
    errors = []
    for remembers in (True, False):
        stream = stream_alone(max_nodes=40)
        for start in range(0, 1580, BLOCK):
            after(stream, X[start : start + BLOCK], y[start : start + BLOCK])
            assert len(stream.archive) <= ARCHIVED
            stream.archive = stream.archive if remembers else []
        assert len(stream.drifts) == 2
        errors.append(np.mean(np.abs(stream.predict(X[1580:], nothing)[:, 0] - clean[1580:])))
    assert errors[0] < 0.5 * errors[1]
