"""`robustscn watch`: rows as they come, and a kill in the middle of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from robustscn import RobustSCNRegressor
from robustscn.cli import main
from robustscn.persistence import load


def _rows(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.05 * rng.normal(size=n)
    y[::10] += 4.0
    return [f"{a:.6f},{b:.6f},{t:.6f}\n" for (a, b), t in zip(X, y, strict=True)]


HEADER = "flow,load,size\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("watch")
    table = folder / "history.csv"
    table.write_text(HEADER + "".join(_rows(120, 0)))
    fit = ["fit", str(table), "--target", "size", "--model", str(folder / "model.skops"), "-q"]
    fit += ["--report", "none", "--outliers", "none"]
    assert main([*fit, "--networks", "2", "--nodes", "10", "--rounds", "3"]) == 0
    return folder / "model.skops"


def _watched(model: Path, stream: Path, folder: Path, *more: str) -> tuple[Path, Path]:
    out, state = folder / "out.jsonl", folder / "state.skops"
    arguments = ["watch", str(model), str(stream), "--out", str(out), "--save", str(state), "-q"]
    assert main([*arguments, *more]) == 0
    return out, state


def _told(out: Path) -> list[dict]:
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_each_row_is_predicted_before_it_is_learned(model, tmp_path) -> None:
    rows = _rows(110, 1)
    rows[7] = rows[7].rsplit(",", 1)[0] + ",\n"  # no target: predicted only
    stream = tmp_path / "stream.csv"
    stream.write_text(HEADER + "".join(rows))
    out, state = _watched(model, stream, tmp_path)
    told = _told(out)
    lines = [each for each in told if "event" not in each]
    assert [each["row"] for each in lines] == list(range(1, 111))
    assert lines[7]["observed"] is None
    pipeline = load(model).model
    X = np.array([[float(v) for v in row.split(",")[:2]] for row in rows])
    import pandas as pd

    first = pipeline.predict(pd.DataFrame(X[:20], columns=["flow", "load"]))
    np.testing.assert_allclose([each["predicted"]["size"] for each in lines[:20]], first)
    suspects = {each["row"] for each in told if each.get("event") == "suspect"}
    assert {11, 21, 31, 41, 51, 61, 71} <= suspects
    network = load(state).model.named_steps["model"]
    assert network._stream.n_rows + len(network._stream.waiting) == 109


@pytest.mark.hostile
def test_it_goes_on_after_a_kill_with_nothing_lost_or_learned_twice(model, tmp_path) -> None:
    rows = _rows(150, 2)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder in (whole, cut):
        folder.mkdir()
    (whole / "stream.csv").write_text(HEADER + "".join(rows))
    expected, state = _watched(model, whole / "stream.csv", whole)
    stream, out, kept = (cut / name for name in ("stream.csv", "out.jsonl", "state.skops"))
    stream.write_text(HEADER + "".join(rows[:60]))
    command = [sys.executable, "-m", "robustscn.cli", "watch", str(model), str(stream), "-f"]
    command += ["--out", str(out), "--save", str(kept), "--every", "40", "-q"]
    running = subprocess.Popen(command, env=os.environ)
    try:
        _wait_for(lambda: out.exists() and len(out.read_text().splitlines()) >= 60, running)
        with open(stream, "a") as file:
            file.write("".join(rows[60:75]) + rows[75][:5])  # in the middle of a line
        _wait_for(lambda: '"row": 75' in out.read_text(), running)
    finally:
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
    with open(stream, "a") as file:
        file.write(rows[75][5:] + "".join(rows[76:]))
    _watched(model, stream, cut)
    numbers = [each["row"] for each in _told(out) if "event" not in each]
    assert numbers == list(range(1, 151))
    events = [[e for e in _told(path) if "event" in e] for path in (out, expected)]
    assert events[0] == events[1]
    one, other = (load(path).model.named_steps["model"] for path in (kept, state))
    probe = np.random.default_rng(0).uniform(size=(50, one.n_features_in_))
    np.testing.assert_array_equal(one.predict(probe), other.predict(probe))


def test_an_interrupt_waits_until_a_run_of_rows_is_told_and_learned(
    model, tmp_path, monkeypatch
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder in (whole, cut):
        folder.mkdir()
        (folder / "stream.csv").write_text(HEADER + "".join(_rows(150, 2)))
    expected, _ = _watched(model, whole / "stream.csv", whole)
    learn, runs = RobustSCNRegressor.partial_fit, []

    def interrupted(self, X, y):
        runs.append(len(X))
        if len(runs) == 3:
            signal.raise_signal(signal.SIGINT)  # told, and not learned yet
        return learn(self, X, y)

    monkeypatch.setattr(RobustSCNRegressor, "partial_fit", interrupted)
    out, _ = _watched(model, cut / "stream.csv", cut)
    assert [each["row"] for each in _told(out) if "event" not in each] == list(range(1, 61))
    monkeypatch.undo()
    _watched(model, cut / "stream.csv", cut)
    assert out.read_bytes() == expected.read_bytes()


def _wait_for(what, running: subprocess.Popen) -> None:
    for _ in range(1200):
        if what():
            return
        assert running.poll() is None
        time.sleep(0.1)
    raise AssertionError("nothing was written for two minutes")


def test_run_again_there_is_nothing_new_and_another_file_is_new(model, tmp_path) -> None:
    stream = tmp_path / "day1.csv"
    stream.write_text(HEADER + "".join(_rows(40, 3)))
    out, state = _watched(model, stream, tmp_path)
    before = out.read_bytes()
    _watched(model, stream, tmp_path)
    assert out.read_bytes() == before
    other = tmp_path / "day2.csv"
    other.write_text(HEADER + "".join(_rows(20, 4)))
    _watched(model, other, tmp_path)
    assert [e["row"] for e in _told(out) if "event" not in e] == list(range(1, 61))
    assert load(state).info["watch"]["source"] == "day2.csv"


def test_a_file_that_has_shrunk_is_refused(model, tmp_path, capsys) -> None:
    stream = tmp_path / "stream.csv"
    stream.write_text(HEADER + "".join(_rows(40, 3)))
    _watched(model, stream, tmp_path)
    stream.write_text(HEADER)
    save = ["--out", str(tmp_path / "out.jsonl"), "--save", str(tmp_path / "state.skops")]
    assert main(["watch", str(model), str(stream), *save]) == 2
    assert "is shorter than what was read of it: use --restart" in capsys.readouterr().err
