"""Fuzzed tables: a model that predicts, or one line; nothing grows."""

import json
import runpy
from pathlib import Path

import pytest

from fuzzed import fuzzed, tried

# What a library warns of is a note on the command line, and no error as elsewhere in the suite.
pytestmark = [pytest.mark.hostile, pytest.mark.filterwarnings("default")]


def test_fuzzed_tables_become_a_model_or_one_line():
    facts = tried(150, seed=0)
    assert facts["faults"] == []
    assert set(facts["counts"]) == {"model", "line"}
    assert min(facts["counts"].values()) > 20  # both ends are met
    assert facts["open_files_growth"] <= 0
    assert facts["memory_growth_bytes"] < 100_000_000


def test_the_same_seed_makes_the_same_tables():
    assert list(fuzzed(30, 5)) == list(fuzzed(30, 5))


def test_the_page_shows_the_counts_of_the_committed_soak():
    root = Path(__file__).parent.parent
    soak = runpy.run_path(str(root / "benchmarks" / "soak.py"))
    result = json.loads((root / "benchmarks" / "results" / "soak.json").read_text())
    page = (root / "docs" / "testing.md").read_text(encoding="utf-8")
    assert soak["page_of"](page, result) == page
    assert {"models", "tables", "kills", "watches", "pipes"} <= result.keys()
