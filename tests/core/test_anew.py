"""When the believing channel starts anew: a relation that the latest rows agree on, no burst."""

import numpy as np
import pytest

from robustscn.core.anew import ALARM
from robustscn.core.memory import BLOCK
from small import after, nothing, plant, stream_alone

CHANGED = 800


def _changed(seed: int = 0, wrong: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a plant whose inputs change their parts: no row is off by the same as the next."""
    X, clean, y = plant(1200, seed=seed, wrong=wrong)
    other = np.sin(6 * X[:, 1]) + X[:, 2] + 10.0
    y[CHANGED:] += (other - clean)[CHANGED:]
    return X, np.where(np.arange(len(X)) < CHANGED, clean, other), y


@pytest.mark.parametrize("wrong", [0.0, 0.15])
def test_another_relation_is_followed_after_two_blocks(wrong: float) -> None:
    X, clean, y = _changed(wrong=wrong)
    at = slice(CHANGED + ALARM, CHANGED + ALARM + BLOCK)
    errors = []
    for seen in (CHANGED, CHANGED + ALARM):
        stream = after(stream_alone(), X[:seen], y[:seen])
        errors.append(np.mean(np.abs(stream.predict(X[at], nothing)[:, 0] - clean[at])))
    assert errors[1] < 0.6 * errors[0]
    after(stream, X[CHANGED + ALARM : 900], y[CHANGED + ALARM : 900])
    row, began, _, deviations = stream.drifts[-1]
    assert CHANGED < row <= 900
    assert abs(began - CHANGED) <= 10
    assert deviations > 5


def test_rows_left_out_stand_for_predictions_of_the_new_relation() -> None:
    X, _, y = _changed()
    stream = after(stream_alone(), X[: CHANGED + ALARM], y[: CHANGED + ALARM])
    assert stream.renewed == CHANGED + ALARM
    assert abs(stream.restarted - CHANGED) <= 10


@pytest.mark.parametrize("length", [15, 20])
def test_a_burst_is_no_relation(length: int) -> None:
    X, _, y = _changed()
    start = 600
    y[start : start + length] += 3.0
    stream = stream_alone()
    for first in range(0, CHANGED, BLOCK):
        after(stream, X[first : first + BLOCK], y[first : first + BLOCK])
        assert stream.renewed == 0


def test_a_long_offset_has_to_be_told_by_the_rows_that_follow() -> None:
    X, _, y = plant(1200)
    y[CHANGED:] += 3.0
    stream = stream_alone()
    for first in range(0, CHANGED + ALARM, BLOCK):
        after(stream, X[first : first + BLOCK], y[first : first + BLOCK])
    assert stream.renewed == stream.restarted == CHANGED + ALARM
