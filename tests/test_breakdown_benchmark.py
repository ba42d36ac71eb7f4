"""The benchmark of breakdown: what it does to targets, and that the page shows what was found."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.evidence

ROOT = Path(__file__).parent.parent
BREAKDOWN = runpy.run_path(str(ROOT / "benchmarks" / "breakdown.py"))
RESULTS = BREAKDOWN["RESULTS"]


@pytest.mark.parametrize("kind", BREAKDOWN["KINDS"])
def test_just_so_many_targets_are_wrong_and_as_it_says(kind):
    y = np.random.default_rng(0).normal(size=200)
    dirty = BREAKDOWN["KINDS"][kind](y, 0.45, 0)
    wrong = dirty != y
    assert wrong.sum() == 90
    change, width = (dirty - y)[wrong], np.ptp(y)
    if kind == "added, both sides":
        assert np.abs(change).max() <= width / 2
        assert 30 < np.sum(change > 0) < 60
    elif kind == "added, one side":
        assert change.min() > 0.0
        assert width / 2 < change.max() <= width
    elif kind == "any value":
        assert y.min() <= dirty.min() < dirty.max() <= y.max()
        assert len(set(dirty[wrong])) == 90
    else:
        assert set(dirty[wrong]) == {np.quantile(y, 0.9)}


def test_without_wrong_rows_all_kinds_share_a_cell():
    keys = [BREAKDOWN["key_of"](*cell) for cell in BREAKDOWN["cells"]()]
    assert len(keys) == len(set(keys)) == 3 * 2 * (1 + 4 * 6)
    assert BREAKDOWN["key_of"]("a", "one value", 0.0, 1) == BREAKDOWN["key_of"]("a", "any", 0.0, 1)


def test_errors_are_in_deviations_of_clean_targets(monkeypatch):
    class Mean:
        def fit(self, X, y):
            self.mean = float(np.mean(y))
            return self

        def predict(self, X):
            return np.full(len(X), self.mean)

    errors_of = BREAKDOWN["errors_of"]
    monkeypatch.setitem(errors_of.__globals__, "METHODS", {"mean": lambda _: Mean()})
    clean = errors_of("Friedman 1", "one value", 0.0, 700)["mean"]
    assert clean == pytest.approx(1.0, abs=0.01)
    _, y, _, y_test = BREAKDOWN["SETS"]["Friedman 1"](700)
    dirty = BREAKDOWN["KINDS"]["one value"](y, 0.4, 700)
    off = (dirty.mean() - y_test.mean()) / y_test.std()
    assert errors_of("Friedman 1", "one value", 0.4, 700)["mean"] == pytest.approx(np.hypot(1, off))


def test_the_page_shows_the_committed_results():
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    assert BREAKDOWN["page_of"](page, json.loads(RESULTS.read_text())) == page
    assert BREAKDOWN["PICTURE"].exists()
