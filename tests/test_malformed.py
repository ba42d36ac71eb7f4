"""A hundred malformed files: a clear line or a correct read for each, nothing written on error."""

import json

import numpy as np
import pytest

from malformed import Case, cases
from robustscn.cli import main
from robustscn.tables import read_table, targets_of

pytestmark = pytest.mark.hostile

CASES = list(cases())
TINY = ["--networks", "2", "--nodes", "5", "--rounds", "1", "--report", "none", "--json"]


def fitted(case: Case, folder, capsys):
    path = case.write(folder)
    out = folder / "out"
    out.mkdir()
    places = ["--model", str(out / "model.skops"), "--outliers", str(out / "outliers.csv")]
    code = main(["fit", str(path), "--target", "size", *places, *TINY])
    streams = capsys.readouterr()
    return code, streams, path, sorted(p.name for p in out.iterdir())


def test_there_are_a_hundred_of_them_with_names_of_their_own():
    assert len(CASES) >= 100
    assert len({case.name for case in CASES}) == len(CASES)
    assert sum(bool(case.refused) for case in CASES) >= 50


@pytest.mark.parametrize("case", [c for c in CASES if c.refused], ids=lambda case: case.name)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(case, tmp_path, capsys):
    code, streams, _, written = fitted(case, tmp_path, capsys)
    assert code == 2, streams
    assert streams.out == ""
    (line,) = streams.err.splitlines()
    assert line.startswith("error: ")
    assert "Traceback" not in line
    assert len(line) < 400
    for words in case.refused:
        assert words in line
    assert written == []


@pytest.mark.parametrize("case", [c for c in CASES if not c.refused], ids=lambda case: case.name)
def test_a_file_that_can_be_used_is_read_correctly(case, tmp_path, capsys):
    code, streams, path, written = fitted(case, tmp_path, capsys)
    assert code == 0, streams
    facts = json.loads(streams.out)
    assert facts["rows"] == case.rows
    assert written == ["model.skops", "outliers.csv"]
    values = targets_of(read_table(path), ["size"]).values
    np.testing.assert_array_equal(values, case.sizes)
