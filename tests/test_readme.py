"""The README stays true: its code runs and its tables are those of the committed results."""

import re
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robustscn.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_ten_lines_run_and_find_the_wrong_rows(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    exec(compile(code, "README.md", "exec"), {})
    found, total = map(
        int, re.match(r"(\d+) of (\d+) wrong rows", capsys.readouterr().out).groups()
    )
    assert total == 150
    assert found >= 145


def test_the_code_for_contributors_does_what_it_says(capsys):
    page = (ROOT / "CONTRIBUTING.md").read_text()
    weighting, learner = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    names = {}
    exec(compile(weighting, "CONTRIBUTING.md", "exec"), names)
    assert names["model"].weighting.weight(np.array([2.9, 3.1])).tolist() == [1.0, 0.0]
    exec(compile(learner, "CONTRIBUTING.md", "exec"), {})
    (said,) = re.findall(r"print\(.*\)  # (.*)", learner)
    assert capsys.readouterr().out.strip() == said


def test_the_code_for_those_who_come_from_other_tools_finds_wrong_rows():
    page = (ROOT / "docs" / "coming-from.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    names = {}
    exec(compile(code, "coming-from.md", "exec"), names)
    flagged, wrong = names["model"].outliers_, names["wrong"]
    assert np.mean(wrong[flagged]) > 0.65  # hardly any noise: right rows have heavy tails
    assert np.mean(flagged[wrong]) > 0.7
    assert len(names["table"]) == flagged.sum()


def test_the_tables_are_those_of_the_committed_results(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    made = runpy.run_path(str(ROOT / "benchmarks" / "readme.py"))
    assert made["measured"](README) == README
    page = (ROOT / "docs" / "measured.md").read_text()
    assert made["everything"](page) == page


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    pages = [README, (ROOT / "CONTRIBUTING.md").read_text()]
    pages.append((ROOT / "benchmarks" / "README.md").read_text())
    named = {
        name for page in pages for name in re.findall(r"(?:^|`)make ([a-z-]+)", page, flags=re.M)
    }
    assert {"demo", "test"} <= named <= targets


def commands(page):
    blocks = re.findall(r"```console\n(.*?)```", page, flags=re.S)
    return [line.split("#")[0].split() for block in blocks for line in block.splitlines()]


def test_the_commands_run_in_their_order(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["feed", "water"])
    table["size"] = table["feed"] + table["water"] ** 2
    table.loc[::10, "size"] += 5.0
    for name in ("measurements.csv", "new.csv"):
        table.to_csv(tmp_path / name, index=False)
    monkeypatch.chdir(tmp_path)
    asked = commands(README)
    assert asked[0][:2] == ["robustscn", "fit"]
    for program, *arguments in asked:
        assert program == "robustscn"
        assert main(arguments) == 0, arguments
    suspects = pd.read_csv("outliers.csv")
    assert set(range(2, 62, 10)) <= set(suspects["line"])
    predicted = pd.read_csv("predictions.csv")
    assert len(predicted) == 60
    flagged = pd.read_csv("flagged.csv")
    assert flagged["flagged"].astype(bool)[::10].all()
    for name in ("model.skops", "report.html"):
        assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize("name", re.findall(r"\]\(([a-z][\w/.-]*)\)", README))
def test_every_link_leads_somewhere(name):
    assert (ROOT / name).exists()
