"""Planted faults: what is planted is what is counted, and the page is made from the results."""

import importlib
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.evidence

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def faults():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield vars(importlib.import_module("faults")) | vars(
            importlib.import_module("fault_oracles")
        )
    finally:
        sys.path.pop(0)


@pytest.mark.parametrize("table", ["stock", "concrete"])
def test_a_fault_changes_the_rows_that_it_says_and_no_others(faults, table):
    clean, target = faults["TABLES"][table](0)
    clean[target] = clean[target].astype(float)
    for name, plant in faults["FAULTS"].items():
        planted, rows = plant(clean.copy(), target, np.random.default_rng(3))
        changed = np.flatnonzero((planted.to_numpy() != clean.to_numpy()).any(axis=1))
        # A drift begins at nothing, and a swap or a hundredth of zeros changes none of them.
        assert set(changed) <= set(rows), name
        assert len(changed) >= 0.5 * len(rows), name


def test_the_page_is_made_from_the_committed_results(faults):
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    assert faults["page"]() == page
    rows = [row.split(" | ") for row in page.split("| none |")[0].splitlines()[6:]]
    recalls = [float(row[3].split(" / ")[0]) for row in rows if len(row) > 3]
    assert len(recalls) >= 8
    assert recalls == sorted(recalls)  # what is missed stands first


def test_an_oracle_is_surer_of_a_larger_fault_and_less_sure_where_it_must_search(faults):
    clean, target = faults["TABLES"]["concrete"](0)
    powers = []
    for share in (1.05, 1.2):
        planted = clean.copy()
        planted[target] = planted[target].astype(float)
        planted.loc[300:383, target] *= share
        powers.append(faults["oracle"](clean, planted, target))
    assert powers[0]["deviations"] < powers[1]["deviations"]
    assert powers[0]["anywhere"] < powers[0]["known"] < 1.0
    assert powers[1]["anywhere"] == powers[1]["known"] == 1.0
    assert powers[1]["any_length"] == 1.0
    assert powers[0]["any_length"] < powers[0]["known"]


def test_a_leap_is_what_a_column_does_both_ways_and_the_others_do_not_explain(faults):
    rng = np.random.default_rng(0)
    slow = np.cumsum(rng.normal(size=500))
    frame = faults["pd"].DataFrame({"x": slow, "y": 3 * slow + rng.normal(0, 0.1, 500)})
    assert np.abs(np.diff(frame["y"])).max() > 50 * 0.1  # but for the other column
    assert faults["leaps"](frame, "y") < 4
    frame.loc[300:320, "y"] += 5.0
    assert faults["leaps"](frame, "y") > 20


def test_a_fault_is_called_so_whichever_part_says_it(faults):
    said = [["slips: 20 single spikes, all about 10 times the value: decimal sign?"], ["shift: no"]]
    cells = [{"said": each} for each in said]
    assert faults["_called"](cells, "10 times, one row in 50") == "1 of 2"


def test_the_page_on_certainty_is_made_from_the_committed_results():
    import json

    certainty = runpy.run_path(str(ROOT / "benchmarks" / "certainty.py"))
    page = (ROOT / "docs" / "certainty.md").read_text(encoding="utf-8")
    results = json.loads((ROOT / "benchmarks" / "results" / "certainty.json").read_text())
    assert certainty["page_of"](page, results) == page
