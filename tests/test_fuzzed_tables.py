"""Fuzzed tables: a model that predicts, or one line; nothing grows."""

import pytest

from fuzzed import fuzzed, tried

pytestmark = pytest.mark.hostile


def test_fuzzed_tables_become_a_model_or_one_line():
    facts = tried(150, seed=0)
    assert facts["faults"] == []
    assert set(facts["counts"]) == {"model", "line"}
    assert min(facts["counts"].values()) > 20  # both ends are met
    assert facts["open_files_growth"] <= 0
    assert facts["memory_growth_bytes"] < 100_000_000


def test_the_same_seed_makes_the_same_tables():
    assert list(fuzzed(30, 5)) == list(fuzzed(30, 5))
