"""Code on the pages runs, and a newcomer's path leads where it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.site

ROOT = Path(__file__).parent.parent


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / page).read_text(), flags=re.S)


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
        "model": small,
        "RobustSCNRegressor": RobustSCNRegressor,
    }


@pytest.mark.parametrize(
    "page",
    ["certainty.md", "models.md", "own-weighting.md", "plots.md", "start.md", "time-and-groups.md"],
)
def test_the_code_on_a_page_runs(page, given, tmp_path, monkeypatch):
    import matplotlib as mpl

    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = dict(given)
    found = blocks(page, "python")
    assert found
    for code in found:
        exec(compile(code, page, "exec"), names)


def test_the_code_for_devices_runs_where_there_is_none(tmp_path):
    pytest.importorskip("torch")
    (code,) = blocks("gpu.md", "python")
    code = code.replace('device="cuda"', 'device="cpu"').replace("1_000_000", "2000")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
    )
    assert done.returncode == 0, done.stderr


def test_the_code_for_clusters_runs(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(200, 2)), columns=["flow", "feed"])
    frame["size"] = frame["flow"] + frame["feed"] ** 2
    frame.to_parquet(tmp_path / "part-0.parquet")
    (code,) = blocks("dask.md", "python")
    (tmp_path / "page.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "page.py"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_the_way_from_the_first_page_to_flagged_rows(tmp_path, monkeypatch):
    """A newcomer's path: the commands of the page in their order, no line of Python."""
    from robustscn.cli import main
    from robustscn.cli.demo import drawn

    monkeypatch.chdir(tmp_path)
    for block in blocks("start.md", "console"):
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            assert program == "robustscn"
            assert main(arguments) == 0, line
    _, wrong, _, _ = drawn(0)
    flagged = pd.read_csv("flagged.csv")["flagged"].astype(bool).to_numpy()
    assert flagged[wrong].mean() > 0.9
    assert flagged[~wrong].mean() < 0.1
    assert {"outliers.csv", "episodes.csv", "report.html"} <= {p.name for p in tmp_path.iterdir()}
    assert len(pd.read_csv("predictions.csv")) == len(flagged)
