"""Streams beside river: what is spoiled is what is counted, and the page is made from results."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.evidence

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def scripts():
    names = ("streams_data", "streams", "streams_page", "streams_claims")
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.pop(0)


@pytest.mark.parametrize("condition", ["clean", "5 %", "10 %", "25 %", "25 % in bursts"])
def test_as_many_targets_are_wrong_as_is_said(scripts, condition):
    data = scripts["streams_data"]
    share, bursts = data.CONDITIONS[condition]
    y = np.random.default_rng(0).normal(size=1200)
    spoiled, wrong = data.spoiled(y, condition, seed=1)
    assert np.mean(wrong) == pytest.approx(share, abs=0.01)
    np.testing.assert_array_equal(spoiled[~wrong], y[~wrong])
    assert np.all(spoiled[wrong] != y[wrong])
    assert np.max(np.abs(spoiled - y)) <= data.AMPLITUDE * np.std(y)
    if bursts:
        off = (spoiled - y)[wrong].reshape(-1, data.BURST)
        np.testing.assert_allclose(off - off[:, :1], 0.0, atol=1e-12)


def test_methods_are_compared_on_the_draws_that_all_have(scripts):
    cells = {
        "s|clean|1|ours": {"mae": 1.0},
        "s|clean|2|ours": {"mae": 9.0},
        "s|clean|1|SRP": {"mae": 2.0},
        "t|clean|1|SRP": {"mae": 7.0},
    }
    means = scripts["streams_page"].means(cells, "s", "clean", ["ours", "SRP", "ARF"])
    assert means == {"ours": 1.0, "SRP": 2.0}


def test_the_page_is_made_from_the_committed_results(scripts):
    streams, made = scripts["streams"], scripts["streams_page"]
    assert made.page(streams.read_results(), list(streams.METHODS)) == made.PAGE.read_text()


def test_reported_draws_are_none_of_development(scripts):
    assert not set(scripts["streams_data"].DRAWS) & {0, 101, 102, 103}


def test_a_share_of_its_own_error_is_what_calm_measures(scripts, monkeypatch):
    claims = scripts["streams_claims"]
    # A stream that believes everything is not calm.
    monkeypatch.setattr("robustscn.core.stream.inlier_weight", np.ones_like)
    believing = claims.calm()["largest share"]
    monkeypatch.undo()
    assert claims.calm()["largest share"] < 0.1 * believing
