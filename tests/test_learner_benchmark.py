"""The page of the learner shows its committed results, and the tasks are what it says."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.evidence

ROOT = Path(__file__).parent.parent


@pytest.fixture
def learner(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("learner")


def test_the_page_shows_the_committed_results(learner):
    results = json.loads(learner.RESULTS.read_text())
    assert learner.page_of(results) == learner.PAGE.read_text()


@pytest.fixture
def tasks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("learner_tasks")


def test_a_task_has_the_share_of_wrong_rows_and_the_noise_it_says(tasks):
    task = tasks.Task(tasks.friedman, 8000, 20, 0.25, 0)
    assert task.wrong.mean() == 0.25
    error = task.y - tasks.friedman(task.X)
    assert np.std(error[~task.wrong]) == pytest.approx(0.1, rel=0.05)
    # U[-5, 5] and the noise.
    assert np.std(error[task.wrong]) == pytest.approx(np.sqrt(25 / 3 + 0.01), rel=0.05)
    np.testing.assert_array_equal(task.truth, tasks.friedman(task.tested))


def test_an_oracle_learns_without_the_wrong_rows(tasks):
    seen = []

    class Noted:
        def fit(self, X, y):
            seen.append((len(X), np.abs(y - tasks.smooth(X)).max()))

        def predict(self, X):
            return tasks.smooth(X) + 0.5

    task = tasks.Task(tasks.smooth, 400, 5, 0.25, 0)
    assert task.result(Noted(), oracle=True)["rmse"] == pytest.approx(0.5)
    task.result(Noted())
    (few, clean), (all_rows, dirty) = seen
    assert (few, all_rows) == (300, 400)
    assert clean < 0.6 < dirty
