"""Growing that ends early: validation errors against the network's own, and a watcher's word."""

from dataclasses import replace

import numpy as np
import pytest

from robustscn.core.early_stopping import validated, watched
from robustscn.core.growth import grow
from robustscn.core.recipe import Stop
from small import problem, recipe


def outputs(state, X):
    return state.nodes.hidden(X) @ state.fit.output_weights


def validation_rows():
    rng = np.random.default_rng(9)
    X = rng.uniform(-1, 1, size=(40, 2))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] ** 2)[:, None]
    return X, y, rng.uniform(0.5, 2.0, size=40)


@pytest.mark.parametrize("block", [1, 3])
def test_validation_errors_are_those_of_the_network(block):
    X, y, weight = validation_rows()
    rows = problem()
    pairs = list(validated(grow(rows, recipe(9, block=block)), X, y, weight, patience=100))
    assert pairs[-1][0].stop is Stop.MAX_NODES
    for state, error in pairs:
        e = y - outputs(state, X)
        assert error == pytest.approx(np.sqrt(np.sum(weight[:, None] * e**2) / weight.sum()))


def test_validation_stops_when_its_error_has_stopped_falling():
    X, y, weight = validation_rows()
    rows = problem(n_rows=40)
    patience = 5
    everything = list(validated(grow(rows, recipe(35)), X, y, weight, patience=1000))
    pairs = list(validated(grow(rows, recipe(35)), X, y, weight, patience=patience))
    assert pairs[-1][0].stop is Stop.VALIDATION
    assert all(state.stop is None for state, _ in pairs[:-1])
    errors = [error for _, error in pairs]
    assert errors == [error for _, error in everything[: len(errors)]]
    # No sooner and no later than `patience` nodes after the best.
    assert len(errors) - 1 - int(np.argmin(errors)) == patience
    for end in range(patience + 1, len(errors)):
        assert np.argmin(errors[:end]) > end - 1 - patience


def test_validation_of_no_nodes_is_the_targets_own_size():
    X, y, weight = validation_rows()
    rows = replace(problem(), y=np.zeros((50, 1)))
    ((state, error),) = validated(grow(rows, recipe()), X, y, weight, patience=5)
    assert state.stop is Stop.TOLERANCE
    assert error == pytest.approx(np.sqrt(np.sum(weight[:, None] * y**2) / weight.sum()))


def test_a_watcher_is_told_of_each_size_and_may_end_the_growing():
    told = []

    def enough(before, after):
        told.append((before, after))
        return after >= 2

    states = list(watched(grow(problem(), recipe(9)), enough))
    assert told == [(0, 1), (1, 2)]
    assert [state.stop for state in states] == [None, Stop.CALLER]
    *_, last = watched(grow(problem(), recipe(3)), lambda _before, after: after >= 3)
    assert last.stop is Stop.MAX_NODES  # its own reason comes first
    assert len(list(watched(grow(problem(), recipe(3)), None))) == 3
