"""The paper's data: rows, splits and wrong targets, the same again for each trial."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robustscn.datasets import function_target, load_keel
from robustscn.paper.draws import FIRST_SEED, drawn, seeds
from robustscn.paper.published import tables
from robustscn.paper.settings import (
    FIXED_SPLITS,
    FUNCTION,
    GRINDING,
    KEEL,
    Experiment,
)

pytestmark = pytest.mark.evidence

PAGE = Path(__file__).parents[1] / "docs" / "reproduction"
needs_keel = pytest.mark.skipif(
    "ROBUSTSCN_DATA" not in os.environ, reason="ROBUSTSCN_DATA names no folder of KEEL files"
)


@pytest.mark.parametrize("task", [FUNCTION, GRINDING], ids=lambda task: task.name)
@pytest.mark.parametrize("protocol", ["add", "replace"])
def test_protocols_spoil_the_right_share_in_the_right_range(task, protocol):
    experiment = Experiment(task, protocol)
    clean, dirty = drawn(experiment, 0.0, 3), drawn(experiment, 0.25, 3)
    n = len(clean.y)
    assert dirty.wrong.sum() == round(0.25 * n)
    assert not clean.wrong.any()
    assert_array_equal(dirty.X, clean.X)
    assert_array_equal(dirty.y[~dirty.wrong], clean.y[~dirty.wrong])
    noise = dirty.y[dirty.wrong] - (clean.y[dirty.wrong] if protocol == "add" else 0.0)
    steep = task == FUNCTION
    low, high = {
        ("add", True): (-0.2, 0.2),
        ("add", False): (-0.5, 0.5),
        ("replace", True): (-0.2, 0.8),
        ("replace", False): (-0.5, 0.5),
    }[protocol, steep]
    assert low <= noise.min() < low + 0.1
    assert high - 0.1 < noise.max() <= high
    for left, right in ((clean.y_test, dirty.y_test), (clean.y_val, dirty.y_val)):
        assert_array_equal(left, right)


def test_function_has_the_papers_rows():
    data = drawn(Experiment(FUNCTION), 0.10, 0)
    assert data.X.shape == data.X_test.shape == (600, 1)
    assert data.X_val.shape == (300, 1)
    assert_allclose(data.X_test[:, 0], np.linspace(-1, 1, 600))
    assert_allclose(data.y_test, function_target(data.X_test[:, 0]))
    assert_allclose(data.y_val, function_target(data.X_val[:, 0]))
    assert not set(data.X[:, 0]) & set(data.X_val[:, 0])
    assert drawn(Experiment(FUNCTION), 0.10, 0, n_validation=75).X_val.shape == (75, 1)


def test_grinding_rows_are_disjoint_and_of_the_papers_number():
    data = drawn(Experiment(GRINDING), 0.10, 0)
    assert [len(part) for part in (data.X, data.X_val, data.X_test)] == [300, 300, 300]
    every = np.vstack([data.X, data.X_val, data.X_test])
    assert len(np.unique(every, axis=0)) == 900


@needs_keel
@pytest.mark.parametrize("task", KEEL, ids=lambda task: task.name)
def test_keel_rows_are_split_not_shared(task):
    data = drawn(Experiment(task), 0.0, 1)
    X, y = load_keel(task.name, return_X_y=True)
    whole = np.column_stack([X, y])
    whole = (whole - whole.min(axis=0)) / (whole.max(axis=0) - whole.min(axis=0))
    parts = ((data.X, data.y), (data.X_val, data.y_val), (data.X_test, data.y_test))
    split = np.vstack([np.column_stack(part) for part in parts])

    def counted(rows):
        return Counter(tuple(row) for row in np.round(rows, 9) + 0.0)

    assert counted(split) == counted(whole)
    n = len(y)
    assert abs(len(data.X) - 0.75 * n) <= 1
    assert abs(len(data.X_val) - len(data.X_test)) <= 1
    assert drawn(Experiment(task), 0.30, 1).y_test.min() >= 0


def test_data_are_the_same_again_and_differ_by_trial_only_if_redrawn():
    redrawn = Experiment(FUNCTION)
    fixed = Experiment(GRINDING, data="fixed")
    first, again, other = (drawn(redrawn, 0.20, trial) for trial in (0, 0, 1))
    assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)
    assert_array_equal(drawn(fixed, 0.20, 0).y, drawn(fixed, 0.20, 7).y)
    assert seeds(redrawn, 0.20, 7) == {"data": FIRST_SEED + 7, "network": 7}
    assert seeds(fixed, 0.20, 7) == {"data": FIRST_SEED, "network": 7}


def test_fixed_function_data_have_the_papers_fingerprint():
    """Of a hundred draws the one whose least squares error at scope 1 is nearest, found anew.

    Only the largest networks have the paper's deviation of 2e-5; smaller ones differ by ten
    times that from one network to the next, and then the network is chosen, not the data.
    """
    experiment, level = Experiment(FUNCTION, data="fixed"), 0.20
    printed = tables()["function", 1.0, "RVFL", level].mean
    distances = []
    for number in range(100):
        data = drawn(Experiment(FUNCTION), level, number)
        rng = np.random.default_rng(number)
        w, b = rng.uniform(-1, 1, 200), rng.uniform(-1, 1, 200)
        H, H_test = (1 / (1 + np.exp(-(X * w + b))) for X in (data.X, data.X_test))
        beta = np.linalg.lstsq(H, data.y, rcond=2e-13)[0]
        distances.append(abs(data.rmse(H_test @ beta) - printed))
    chosen = seeds(experiment, level, 0)["data"] - FIRST_SEED
    assert distances[chosen] <= min(distances) + 5e-5
    assert seeds(experiment, level, 55)["data"] == FIRST_SEED + chosen


@needs_keel
def test_fixed_split_is_one_for_all_levels_and_networks(monkeypatch):
    monkeypatch.setitem(FIXED_SPLITS, "laser", 4)
    fixed, redrawn = Experiment(KEEL[1], data="fixed"), Experiment(KEEL[1])
    for level in (0.10, 0.25):
        assert seeds(fixed, level, 9) == {"data": FIRST_SEED + 4, "network": 9}
        assert_array_equal(drawn(fixed, level, 9).y, drawn(redrawn, level, 4).y)


def test_unseen_rows_are_validation_and_test_rows():
    data = drawn(Experiment(GRINDING), 0.10, 0)
    X, y = data.unseen
    assert_array_equal(X[:300], data.X_val)
    assert_array_equal(y[300:], data.y_test)
