"""`robustscn reproduce` as a user meets it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import matplotlib
import pytest

from robustscn.cli import main
from robustscn.cli.reproducing import QUICK_TRIALS, how_long
from robustscn.paper.results import Results
from robustscn.paper.runner import Plan, cost
from robustscn.paper.settings import ROUND_SIZES, ROUNDS, experiments, quick
from robustscn.paper.store import Store
from robustscn.paper.units import SECONDS

pytestmark = pytest.mark.evidence


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch):
    """Leave matplotlib and the environment as they were."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    with matplotlib.rc_context():
        yield


def reproduce(capsys, *arguments):
    """Run the command; return its exit code and what it printed."""
    capsys.readouterr()
    code = main(["reproduce", *(str(each) for each in arguments)])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def refusal(capsys, *arguments):
    """Run the command with what it cannot do; return its one line."""
    code, out, err = reproduce(capsys, *arguments)
    assert (code, out) == (2, ""), err
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    return line


def test_table_is_printed_and_the_page_written(table_5):
    folder, out = table_5
    assert {p.name for p in folder.iterdir()} == {
        "cells",
        "README.md",
        "index.html",
        "results.json",
        "figure4.svg",
        "figure4.png",
    }
    (cell,) = (folder / "cells").iterdir()
    (trial,) = json.loads(cell.read_text())["trials"]
    assert (trial["data_seed"], trial["network_seed"]) == (1000, 0)
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert "Table 5 at 30% outliers" in out
    starts = tuple(f"| {rounds} |" for rounds in ROUNDS)
    lines = [line for line in out.splitlines() if line.startswith(starts)]
    assert len(lines) == len(ROUNDS)
    assert all(line in page for line in lines)
    for line, rounds in zip(lines, ROUNDS, strict=True):
        for size in ROUND_SIZES:
            assert f"{trial['rmse'][f'{rounds} | {size}']:.4f}" in line
    assert "0.2308" in lines[-1], "the paper's own figure"
    assert "simulated" in out.lower()


def test_page_alone_is_made_from_what_is_there(table_5, tmp_path, capsys):
    folder, out = table_5
    (tmp_path / "cells").mkdir()
    for cell in (folder / "cells").iterdir():
        (tmp_path / "cells" / cell.name).write_bytes(cell.read_bytes())
    code, again, _ = reproduce(capsys, "page", "--out", tmp_path)
    assert (code, again) == (0, out)
    for name in ("README.md", "index.html", "results.json", "figure4.svg"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_another_command_does_not_lose_earlier_results(table_5, tmp_path, capsys):
    (tmp_path / "cells").mkdir()
    for cell in (table_5[0] / "cells").iterdir():
        (tmp_path / "cells" / cell.name).write_bytes(cell.read_bytes())
    code, _, _ = reproduce(capsys, "figure4", "--out", tmp_path)
    assert code == 0
    found = Results.read(tmp_path / "results.json")
    assert found.group("grinding-add-redrawn", 0.30, "rounds") is not None


def test_what_only_the_kept_summary_has_stays_on_the_page(table_5, tmp_path, capsys):
    (tmp_path / "cells").mkdir()
    for cell in (table_5[0] / "cells").iterdir():
        (tmp_path / "cells" / cell.name).write_bytes(cell.read_bytes())
    kept = Results.read(table_5[0] / "results.json")
    (name,) = [n for n in kept.record["parts"] if n.endswith(" 30")]
    kept.record["parts"]["grinding-add-redrawn 7"] = dict(kept.record["parts"][name])
    kept.write(tmp_path / "results.json")
    for _ in range(2):  # and it does not grow
        assert reproduce(capsys, "page", "--out", tmp_path)[0] == 0
        assert Results.read(tmp_path / "results.json").record == kept.record


def test_drawing_of_the_circuit_needs_no_run(tmp_path, capsys):
    code, _, err = reproduce(capsys, "figure4", "--out", tmp_path)
    assert code == 0
    assert "written: " in err
    assert "Simulated stand-in" in (tmp_path / "figure4.svg").read_text()
    assert (tmp_path / "figure4.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "cells").exists()


def test_a_run_says_how_long_it_takes_and_less_where_less_is_asked_for(tmp_path):
    """Seconds of work, shared by processes; what is done is not counted."""

    def minutes(plan, jobs):
        first, number, unit, *_ = how_long(plan, Store(tmp_path), jobs).split()
        assert (first, unit.removesuffix("s")) == ("about", "minute")
        return int(number)

    whole = Plan(experiments(), tuple(SECONDS))
    assert minutes(whole, 1) == round(cost(whole, Store(tmp_path))[1] / 60)
    few = Plan(quick(experiments()), tuple(SECONDS), QUICK_TRIALS)
    assert minutes(few, 2) <= 5, "--quick, on two cores"
    assert minutes(whole, 2) <= 120
    assert minutes(Plan(experiments()[:1], ("rounds", "literal")), 2) < minutes(few, 1)
    for jobs, words in ((1, "1 core of"), (2, "2 cores of")):
        assert words in how_long(whole, Store(tmp_path), jobs)
    assert "--quick" in how_long(whole, Store(tmp_path), 2)
    assert "--quick" not in how_long(few, Store(tmp_path), 2, quick=True), "it has been given"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["table7"], "table7"),
        (["table1", "figure9"], "figure9"),
        (["table1", "--levels", "10,many"], "10,many"),
        (["table1", "--levels", "120"], "0 to 99"),
        (["table1", "--levels", "-5"], "0 to 99"),
        (["table1", "--protocol", "both"], "neither add nor replace"),
        (["table1", "--data", "old"], "neither redrawn nor fixed"),
        (["table1", "--trials", "0"], "trials"),
        (["page"], "no results"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_refused_in_one_line(arguments, words, tmp_path, capsys):
    assert words in refusal(capsys, *arguments, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_levels_that_would_share_a_file_are_refused(tmp_path, capsys):
    """Results are filed by whole percents: 12.4 would be mixed with 12."""
    assert "12.4" in refusal(capsys, "figure4", "--levels", "12.4", "--out", tmp_path / "out")


@pytest.mark.parametrize(
    "option", [("--levels", "10"), ("--protocol", "replace"), ("--data", "fixed")]
)
def test_quick_does_not_ignore_other_options(option, tmp_path, capsys):
    assert "--quick" in refusal(capsys, "figure4", "--quick", *option, "--out", tmp_path / "out")


def test_level_that_a_table_does_not_have_is_refused(tmp_path, capsys):
    """Table 5 has 0, 10 and 30 %: to advise `reproduce all` would help nobody."""
    line = refusal(capsys, "table5", "--levels", "20", "--out", tmp_path)
    assert "reproduce all" not in line


@pytest.mark.hostile
@pytest.mark.parametrize("seconds", [0.7, 2])  # while its processes import, and while they work
def test_interrupted_in_one_line_and_nothing_is_half_written(tmp_path, seconds):
    command = [sys.executable, "-m", "robustscn.cli", "reproduce", "table5", "--jobs", "1"]
    process = subprocess.Popen(
        [*command, "--levels", "10", "--trials", "50", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr.readline().startswith("about ")
    while not process.stderr.readline().startswith("0%"):
        assert process.poll() is None
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    try:
        out, err = process.communicate(timeout=60)
    finally:  # what does not answer must not stay
        process.kill()
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1].startswith("error: interrupted")
    assert "Traceback" not in err
    for path in tmp_path.rglob("*"):
        if path.is_file():
            json.loads(path.read_text())


@pytest.mark.hostile
def test_processes_of_a_killed_run_do_not_stay(tmp_path):
    command = [sys.executable, "-m", "robustscn.cli", "reproduce", "table5", "--jobs", "1"]
    process = subprocess.Popen(
        [*command, "--levels", "10", "--trials", "50", "--out", str(tmp_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not any(at_work(each) for each in alive_in_session(process.pid) if each != process.pid):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    for _ in range(1200):  # they share a session, which none is left in
        if not alive_in_session(process.pid):
            return
        time.sleep(0.05)
    for left in alive_in_session(process.pid):
        os.kill(left, signal.SIGKILL)
    raise AssertionError("a process was left behind")


def at_work(pid):
    """Whether a process has what it works with, and so knows its work."""
    try:
        return "numpy" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def alive_in_session(session):
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if entry.name.isdigit() and int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry.name))
    return found
