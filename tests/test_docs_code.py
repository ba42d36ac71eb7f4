"""Every block of code on every page runs, in its page's order, and does what the page says."""

import os
import re
import shlex
import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest

from fences import PAGES, ROOT, code_of, fences
from robustscn.cli import main

pytestmark = pytest.mark.site

LANGUAGES = {"python", "console", "text"}


def with_code(language):
    return [page for page in PAGES if code_of(page, language)]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is_and_code_is_run_or_says_why_not(page):
    for fence in fences(page):
        assert fence.language in LANGUAGES, fence.code
        assert not (fence.not_run and fence.language == "text"), "nobody would run it"


# ---------------------------------------------------------------- Python


SCRIPTS = {
    "docs/dask.md": [],
    # What is shown on a device runs on any.
    "docs/gpu.md": [('device="cuda"', 'device="cpu"'), ("1_000_000", "2000")],
}
"""Pages whose code is a program of its own, and what is another in the test."""


@pytest.fixture(scope="module")
def given():
    """What the pages' short blocks take for granted: some rows, and a fitted model."""
    from robustscn import RobustSCNRegressor

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 2))
    y = X[:, 0] + X[:, 1] ** 2 + 0.01 * rng.normal(size=120)
    y[::12] += 3
    small = RobustSCNRegressor(n_networks=2, max_nodes=15, random_state=0).fit(X, y)
    return {
        "X": X,
        "y": y,
        "X_new": X[:5],
        "day": np.arange(120) // 10,
        "model": small,
        "RobustSCNRegressor": RobustSCNRegressor,
    }


def ten_lines(_, printed):
    found, total = map(int, re.match(r"(\d+) of (\d+) wrong rows", printed).groups())
    assert total == 150
    assert found >= 145


def contributing(names, printed):
    (said,) = re.findall(r"print\(.*\)  # (.*)", code_of("CONTRIBUTING.md", "python")[1])
    assert printed.strip() == said
    hard(names)


def hard(names):
    assert names["Hard"]().weight(np.array([2.9, 3.1])).tolist() == [1.0, 0.0]


def own_weighting(names, printed):
    hard(names)
    ten_lines(names, printed)


def coming_from(names, _):
    flagged, wrong = names["model"].outliers_, names["wrong"]
    assert np.mean(wrong[flagged]) > 0.65  # hardly any noise: right rows have heavy tails
    assert np.mean(flagged[wrong]) > 0.7
    assert len(names["table"]) == flagged.sum()


PROMISED = {
    "README.md": ten_lines,
    "CONTRIBUTING.md": contributing,
    "docs/coming-from.md": coming_from,
    "docs/own-weighting.md": own_weighting,
    "docs/start.md": ten_lines,
}
"""What the code of a page does, beside running."""


@pytest.mark.parametrize("page", [page for page in with_code("python") if page not in SCRIPTS])
def test_the_python_on_a_page_runs(page, given, tmp_path, monkeypatch, capsys):
    import matplotlib as mpl

    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = dict(given)
    for code in code_of(page, "python"):
        exec(compile(code, page, "exec"), names)
    PROMISED.get(page, lambda *_: None)(names, capsys.readouterr().out)


@pytest.mark.parametrize("page", SCRIPTS)
def test_the_programs_on_a_page_run(page, tables):
    if page == "docs/gpu.md":
        pytest.importorskip("torch")
    (code,) = code_of(page, "python")
    for shown, here in SCRIPTS[page]:
        assert shown in code
        code = code.replace(shown, here)
    (tables / "page.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "page.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tables,
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
    )
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- commands


@pytest.fixture
def tables(tmp_path):
    """A folder with the tables that the pages' commands name: every tenth row of each is wrong."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["feed", "flow"])
    table["size"] = table["feed"] + table["flow"] ** 2
    table.loc[::10, "size"] += 5.0
    for name in ("measurements.csv", "new.csv", "plant.csv"):
        table.to_csv(tmp_path / name, index=False)
    table.to_parquet(tmp_path / "part-0.parquet")
    table["timestamp"] = pd.date_range("2026-01-01", periods=60, freq="h")
    table["plant"] = np.repeat(list("abcde"), 12)
    table.to_csv(tmp_path / "log.csv", index=False)
    return tmp_path


TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def run_line(line):
    """Run one command of a page; what installs or makes things is only looked up."""
    program, *arguments = shlex.split(line, comments=True)
    if program == "make":
        assert set(arguments) <= TARGETS, line
    elif program == "pip":
        (wanted,) = arguments[1:]
        extras = re.fullmatch(r"robustscn(?:\[([\w,]+)\])?", wanted)[1]
        assert set((extras or "cli").split(",")) <= set(EXTRAS), line
    else:
        assert program == "robustscn", line
        assert main(arguments) == 0, line


def quick_start():
    from robustscn.cli.demo import drawn

    _, wrong, _, _ = drawn(0)
    flagged = pd.read_csv("flagged.csv")["flagged"].astype(bool).to_numpy()
    assert flagged[wrong].mean() > 0.9
    assert flagged[~wrong].mean() < 0.1
    assert len(pd.read_csv("predictions.csv")) == len(flagged)
    assert pd.read_csv("episodes.csv") is not None


def one_command():
    assert set(range(2, 62, 10)) <= set(pd.read_csv("outliers.csv")["line"])
    assert len(pd.read_csv("predictions.csv")) == 60
    assert pd.read_csv("flagged.csv")["flagged"].astype(bool)[::10].all()


WRITTEN = {"README.md": one_command, "docs/start.md": quick_start}
"""What is there after the commands of a page."""


@pytest.mark.parametrize("page", with_code("console"))
def test_the_commands_on_a_page_run_in_their_order(page, tables, monkeypatch, request):
    monkeypatch.chdir(tables)
    text = "".join(code_of(page, "console"))
    if "tcp://scheduler:8786" in text:
        client = request.getfixturevalue("client")
        text = text.replace("tcp://scheduler:8786", client.scheduler.address)
    for line in text.splitlines():
        run_line(line)
    if page in WRITTEN:
        WRITTEN[page]()
        assert all((tables / name).stat().st_size > 1000 for name in ("model.skops", "report.html"))
