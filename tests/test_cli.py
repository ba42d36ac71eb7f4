"""The command line, as a user meets it: files in, files out, one line where something is wrong."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robustscn import RobustSCNRegressor, __version__
from robustscn.cli import app, main
from robustscn.cli.application import COMMANDS as LISTED
from robustscn.cli.learning import learned, task_of
from robustscn.cli.messages import plain_errors
from robustscn.cli.settings import Settings
from robustscn.cli.writing import size_in_words, write_all
from robustscn.persistence import load
from robustscn.tables import read_table

COMMANDS = (
    "fit", "check", "predict", "outliers", "clean", "watch", "report", "export", "app", "info",
    "demo",
)  # fmt: skip
SMALL = ("--networks", "4", "--nodes", "30", "--rounds", "5")
TINY = ("--networks", "2", "--nodes", "5", "--rounds", "1")


def measurements(n=300, seed=0):
    """A table with every kind of column, and which of its rows are wrong."""
    rng = np.random.default_rng(seed)
    flow, mill = rng.random(n), rng.choice(["A", "B"], n)
    frame = pd.DataFrame(
        {
            "flow": flow,
            "water": rng.random(n),
            "mill": mill,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), unit="h"),
            "size": np.sin(4 * flow) + (mill == "A"),
        }
    )
    wrong = rng.random(n) < 0.1
    frame["size"] = frame["size"].where(~wrong, frame["size"] + rng.choice([-4, 4], n)).round(6)
    frame.loc[rng.random(n) < 0.05, "water"] = np.nan
    return frame, wrong


def outcome(capsys, *arguments):
    """Run a command; return its exit code and what it printed."""
    capsys.readouterr()
    code = main([str(each) for each in arguments])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def refusal(capsys, *arguments):
    """Run a command that must fail for its input; return its one line."""
    code, out, err = outcome(capsys, *arguments)
    assert code == 2, err
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    return line


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with a table and what one fit made of it."""
    folder = tmp_path_factory.mktemp("fitted")
    frame, wrong = measurements()
    frame.to_csv(folder / "data.csv", index=False)
    places = [f"--{name}={folder / file}" for name, file in FILES.items()]
    command = ["fit", str(folder / "data.csv"), "--target=size", *places, *SMALL, "-q"]
    assert main([*command, "--keep-time"]) == 0
    return folder, frame, wrong


FILES = {"model": "model.skops", "report": "report.html", "outliers": "outliers.csv"}


# fit


def test_one_command_makes_a_model_a_page_and_a_list_of_the_wrong_rows(fitted):
    folder, frame, wrong = fitted
    suspects = pd.read_csv(folder / "outliers.csv")
    found = np.zeros(len(frame), dtype=bool)
    found[suspects["line"] - 2] = True
    assert (found & wrong).sum() >= 0.95 * wrong.sum()
    assert (found & ~wrong).sum() <= 0.1 * (~wrong).sum()
    assert_array_equal(suspects["observed"], frame["size"].to_numpy()[suspects["line"] - 2])
    assert (suspects["deviations"].abs().diff().iloc[1:] <= 0).all()
    written = pd.read_csv(folder / "outliers.csv", dtype=str)["residual"]
    digits = written.str.replace(r"e.*|[-.]", "", regex=True).str.lstrip("0").str.len()
    assert digits.max() == 6  # what was computed has no more than anyone reads
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f"{len(suspects)} of {len(frame)}" in page
    assert "robustscn fit" in page
    saved = load(folder / "model.skops")
    assert saved.info["targets"] == ["size"]
    assert saved.info["features"] == ["flow", "water", "mill", "when"]


def test_the_package_is_the_program_too():
    program = [sys.executable, "-m", "robustscn", "--version"]
    ran = subprocess.run(program, capture_output=True, text=True, check=True)
    assert ran.stdout == f"robustscn {__version__}\n"


def test_the_summary_says_what_happened_and_what_to_do_next(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame, _ = measurements(100)
    frame.loc[[3, 4], "size"] = np.nan
    frame.assign(plant="P1").to_csv("data.csv", index=False)
    code, out, err = outcome(capsys, "fit", "data.csv", "-t", "size", *TINY)
    assert code == 0
    assert "98 were learned from; 2 without a target were not" in out
    assert "2 numbers, 1 category; 2 left out" in out
    assert re.search(r"flagged +\d+ of 98 rows", out)
    assert "next      robustscn predict model.skops data.csv" in out
    files = [*FILES.values(), "episodes.csv"]
    for file in files:
        assert f"wrote     {file} ({size_in_words((tmp_path / file).stat().st_size)})" in out
    left_out, kept_out = err.splitlines()
    assert left_out == "note: 'plant' is always P1: left out"
    assert kept_out.startswith("note: 'when' is a date: kept from the model")
    assert "--keep-time" in kept_out
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["data.csv", *files])


def test_json_is_one_object_and_agrees_with_the_files(fitted, tmp_path, capsys):
    folder, frame, _ = fitted
    places = [f"--{name}={tmp_path / file}" for name, file in FILES.items()]
    code, out, err = outcome(
        capsys, "fit", folder / "data.csv", "-t", "size", *places, *SMALL, "--keep-time", "--json"
    )
    assert (code, err) == (0, "")
    facts = json.loads(out)
    suspects = pd.read_csv(tmp_path / "outliers.csv")
    assert facts["rows"] == len(frame)
    assert facts["flagged_rows"] == len(suspects)
    assert facts["files"] == {
        str(p): p.stat().st_size for p in map(tmp_path.joinpath, FILES.values())
    }
    # the same seed: the same model, and so the same list
    pd.testing.assert_frame_equal(suspects, pd.read_csv(folder / "outliers.csv"))
    model = load(tmp_path / "model.skops").model.named_steps["model"]
    assert facts["held_out"]["median_absolute_error"] == np.median(np.abs(model.residuals_))
    assert facts["held_out"]["rows"] == len(frame)
    assert facts["held_out"]["trusted_rows"] == len(frame) - len(suspects)
    trusted = model.residuals_[~model.outliers_]
    assert facts["held_out"]["robust_rmse"] == pytest.approx(np.sqrt(np.mean(trusted**2)))


def test_several_targets_are_learned_together(tmp_path, capsys):
    frame, _ = measurements(150)
    frame["power"] = 3 * frame["flow"]
    frame.to_csv(tmp_path / "data.csv", index=False)
    places = [f"--{name}={tmp_path / file}" for name, file in FILES.items()]
    code, out, _ = outcome(
        capsys, "fit", tmp_path / "data.csv", "-t", "size,power", *places, *SMALL, "--json"
    )
    assert code == 0
    assert set(json.loads(out)["held_out"]["robust_rmse"]) == {"size", "power"}
    assert set(pd.read_csv(tmp_path / "outliers.csv")["output"]) <= {"size", "power"}
    code, out, _ = outcome(capsys, "predict", tmp_path / "model.skops", tmp_path / "data.csv")
    assert out.splitlines()[0] == "line,predicted size,predicted power,outside"


@pytest.mark.parametrize(
    ("option", "words"), [("--group=mill", "1 whole group of 2"), ("--time=when", "the last 20%")]
)
def test_the_hold_out_goes_by_group_or_time(fitted, tmp_path, capsys, option, words):
    folder, _, _ = fitted
    model = f"--model={tmp_path / 'model.skops'}"
    code, out, _ = outcome(
        capsys,
        "fit",
        folder / "data.csv",
        "-t",
        "size",
        option,
        model,
        "--report=none",
        "--outliers=none",
        *TINY,
        "--json",
    )
    assert code == 0
    facts = json.loads(out)
    assert words in facts["held_out"]["how"]
    assert facts["held_out"]["rows"] < facts["rows"]
    used = [name for kind in ("numbers", "categories", "dates") for name in facts["columns"][kind]]
    assert option.split("=")[1] not in used
    assert list(facts["files"]) == [str(tmp_path / "model.skops")]


def test_a_group_held_out_is_not_seen_by_the_fit_that_judges():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(10), 30)
    # within a group the target is its own level, which a row of the same group gives away
    level = rng.normal(0, 10, 10)[group]
    frame = pd.DataFrame({"g": group, "x": group + 0.01 * rng.random(300), "y": level})
    settings = Settings(4, 30, 3)
    by_group = learned(task_of(frame, ["y"], group="g"), settings, quiet=True)
    by_row = learned(task_of(frame, ["y"], drop=["g"]), settings, quiet=True)
    assert by_group.held_out.median[0] > 20 * by_row.held_out.median[0]


def test_features_and_drop_choose_the_columns(fitted, capsys):
    folder, _, _ = fitted
    arguments = ["fit", folder / "data.csv", "-t", "size", "--check", "--json"]
    features = {
        (): ["flow", "water", "mill"],
        ("--keep-time",): ["flow", "water", "mill", "when"],
        ("-f", "flow", "-f", "when"): ["flow", "when"],
        ("-f", "flow", "-f", "mill"): ["flow", "mill"],
        ("-f", "flow,mill"): ["flow", "mill"],
        ("--drop", "when, mill"): ["flow", "water"],
    }
    for options, expected in features.items():
        _, out, _ = outcome(capsys, *arguments, *options)
        assert json.loads(out)["features"] == expected
    assert "'size' is a target" in refusal(capsys, *arguments, "-f", "size")


def test_check_reads_and_writes_nothing(fitted, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = outcome(capsys, "fit", fitted[0] / "data.csv", "-t", "size", "--check")
    assert code == 0
    assert "300 rows, 3 columns" in out
    assert list(tmp_path.iterdir()) == []


def test_a_check_says_how_many_rows_have_no_target(fitted, tmp_path, capsys):
    table = pd.read_csv(fitted[0] / "data.csv", dtype=str)
    table.loc[[3, 5], "size"] = "Bad Input"
    table.to_csv(tmp_path / "data.csv", index=False)
    code, out, _ = outcome(capsys, "fit", tmp_path / "data.csv", "-t", "size", "--check")
    assert code == 0
    assert f"{len(table) - 2} rows (2 more have no target)" in out


def test_a_table_from_a_pipe(fitted, tmp_path):
    folder, _, _ = fitted
    done = subprocess.run(
        [sys.executable, "-m", "robustscn.cli", "predict", str(folder / "model.skops"), "-"],
        input=(folder / "data.csv").read_bytes(),
        capture_output=True,
        check=True,
    )
    (tmp_path / "out.csv").write_bytes(done.stdout)
    pipeline = load(folder / "model.skops").model
    assert_array_equal(
        pd.read_csv(tmp_path / "out.csv", dtype=str)["predicted size"].astype(float),
        pipeline.predict(read_table(folder / "data.csv")),
    )


# predict, outliers, report, export


def test_predictions_do_not_depend_on_order_format_or_other_columns(fitted, tmp_path, capsys):
    folder, frame, _ = fitted
    model = folder / "model.skops"
    _, expected, _ = outcome(capsys, "predict", model, folder / "data.csv")
    turned = frame[["when", "mill", "water", "flow"]].assign(more="x")
    turned.to_csv(tmp_path / "turned.tsv", sep="\t", index=False)
    _, out, _ = outcome(capsys, "predict", model, tmp_path / "turned.tsv")
    assert out == expected
    turned.to_parquet(tmp_path / "turned.parquet")
    code, out, err = outcome(
        capsys, "predict", model, tmp_path / "turned.parquet", "--out", tmp_path / "p.parquet"
    )
    assert (code, out) == (0, "")
    assert "wrote" in err
    values = pd.read_parquet(tmp_path / "p.parquet")["predicted size"]
    assert values.tolist() == [float(line.split(",")[1]) for line in expected.splitlines()[1:]]


def test_one_row_is_predicted_as_among_others(fitted, tmp_path, capsys):
    folder, _, _ = fitted
    lines = (folder / "data.csv").read_text().splitlines()
    (tmp_path / "one.csv").write_text("\n".join([lines[0], lines[8]]))
    _, out, _ = outcome(capsys, "predict", folder / "model.skops", tmp_path / "one.csv", "--json")
    (value,) = json.loads(out)["predictions"]["predicted size"]
    _, every, _ = outcome(capsys, "predict", folder / "model.skops", folder / "data.csv", "--json")
    assert value == pytest.approx(json.loads(every)["predictions"]["predicted size"][7], rel=1e-12)


def test_levels_that_look_like_numbers_stay_levels(tmp_path, capsys):
    n = 120
    rng = np.random.default_rng(0)
    code = np.array(["01", "02", "AB"])[rng.integers(0, 3, n)]
    size = (code == "01") * 5.0 + (code == "02") * 2.0 + 0.01 * rng.random(n)
    table = pd.DataFrame({"code": code, "x": rng.random(n), "size": size})
    table.to_csv(tmp_path / "data.csv", index=False)
    model = tmp_path / "model.skops"
    outcome(
        capsys,
        "fit",
        tmp_path / "data.csv",
        "-t",
        "size",
        "--model",
        model,
        "--report=none",
        "--outliers=none",
        *SMALL,
    )
    (tmp_path / "new.csv").write_text("code,x\n01,0.5\n02,0.5\n")
    _, out, _ = outcome(capsys, "predict", model, tmp_path / "new.csv", "--json")
    assert_allclose(json.loads(out)["predictions"]["predicted size"], [5, 2], atol=0.5)


def test_values_that_cannot_be_read_are_said(fitted, tmp_path, capsys):
    folder, frame, _ = fitted
    texts = frame.head(20).astype({"flow": object, "when": object})
    texts.loc[[2, 5], "flow"] = "broken"
    texts.loc[7, "when"] = "yesterday"
    texts.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = outcome(capsys, "predict", folder / "model.skops", tmp_path / "new.csv")
    assert code == 0
    assert len(out.splitlines()) == 21
    flow, when = err.splitlines()
    assert flow == "note: 'flow' has 2 values that are no numbers and count as missing: 'broken'"
    assert "'when' has 1 value that is no date and counts as missing" in when


def test_suspects_of_a_table_are_judged_by_the_models_scale(fitted, tmp_path, capsys):
    folder, _, _ = fitted
    frame, wrong = measurements(200, seed=7)
    frame["when"] = pd.Timestamp("2024-01-05")
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = outcome(capsys, "outliers", folder / "model.skops", tmp_path / "new.csv")
    assert code == 0
    (tmp_path / "suspects.csv").write_text(out)
    table = pd.read_csv(tmp_path / "suspects.csv")
    assert err == f"note: {len(table)} of 200 rows are flagged\n"
    assert set(np.flatnonzero(wrong) + 2) <= set(table["line"])
    pipeline = load(folder / "model.skops").model
    residuals = frame["size"] - pipeline.predict(frame)
    deviations = residuals / pipeline.named_steps["model"].residual_scale_[0]
    expected = deviations[deviations.abs() > 3]
    assert len(table) == len(expected)
    assert_allclose(np.sort(table["deviations"]), np.sort(expected), rtol=1e-5)


def test_the_page_can_be_made_again_from_its_own_table_only(fitted, tmp_path, capsys):
    folder, frame, _ = fitted
    page = tmp_path / "again.html"
    code, _, _ = outcome(
        capsys, "report", folder / "model.skops", folder / "data.csv", "--out", page
    )
    assert code == 0
    assert "rows were flagged" in page.read_text(encoding="utf-8")
    frame.head(200).to_csv(tmp_path / "other.csv", index=False)
    line = refusal(
        capsys, "report", folder / "model.skops", tmp_path / "other.csv", "-o", tmp_path / "x.html"
    )
    assert "300 rows that the model was made from" in line
    assert not (tmp_path / "x.html").exists()


def test_an_exported_model_predicts_the_same(tmp_path, capsys):
    onnxruntime = pytest.importorskip("onnxruntime")
    frame, _ = measurements(200)
    frame = frame.drop(columns="when")
    frame.loc[:9, "mill"] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    model, graph = tmp_path / "model.skops", tmp_path / "model.onnx"
    outcome(
        capsys,
        "fit",
        tmp_path / "data.csv",
        "-t",
        "size",
        "--model",
        model,
        "--report=none",
        "--outliers=none",
        *SMALL,
    )
    code, _, err = outcome(capsys, "export", model, graph, "--interval", "0.9")
    assert code == 0, err
    session = onnxruntime.InferenceSession(graph.read_bytes())
    given = {
        "flow": frame[["flow"]].to_numpy(np.float32),
        "water": frame[["water"]].to_numpy(np.float32),
        "mill": frame[["mill"]].fillna("").to_numpy(dtype=object),
    }
    got, lower, upper = session.run(["prediction", "lower", "upper"], given)
    pipeline = load(model).model
    exact = frame.assign(
        **{n: frame[n].astype(np.float32).astype(float) for n in ("flow", "water")}
    )
    assert_allclose(got, pipeline.predict(exact), rtol=1e-5, atol=1e-5)
    wanted = pipeline[-1].predict_interval(pipeline[:-1].transform(exact), 0.9)
    assert_allclose(np.column_stack([lower, upper]), wanted, rtol=1e-5, atol=1e-5)
    assert "--interval 90 is no share" in refusal(capsys, "export", model, graph, "--interval", 90)


def test_dates_are_not_exported_and_the_message_says_what_to_do(fitted, tmp_path, capsys):
    line = refusal(capsys, "export", fitted[0] / "model.skops", tmp_path / "m.onnx")
    assert "--drop 'when'" in line
    assert list(tmp_path.iterdir()) == []


# demo


def test_the_demo_measures_every_method_against_the_truth(tmp_path, capsys):
    code, out, err = outcome(capsys, "demo", tmp_path / "demo", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    by_name = {each["method"]: each for each in facts["methods"]}
    assert len(by_name) == 6
    ours = by_name["RobustSCN (ours)"]
    errors = sorted(each["rmse"] for each in by_name.values())
    assert ours["rmse"] in errors[:2]
    assert ours["rmse"] < 0.25 * by_name["RVFL"]["rmse"]
    assert ours["wrong_rows_found"] >= 70
    assert facts["wrong_rows"] == 75
    names = {"measurements.csv", "model.skops", "report.html", "outliers.csv"}
    assert {p.name for p in (tmp_path / "demo").iterdir()} == names


# Errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "data.csv"], "--target"),
        (["fit", "data.csv", "-t", "sise"], "did you mean 'size'?"),
        (["fit", "data.csv", "-t", "size", "-f", "flo"], "did you mean 'flow'?"),
        (["fit", "data.csv", "-t", "size", "--group", "mil"], "did you mean 'mill'?"),
        (["fit", "data.csv", "-t", "size", "--group", "mill", "--time", "when"], "not both"),
        (["fit", "dat.csv", "-t", "size"], "did you mean 'data.csv'?"),
        (["fit", "data.csv", "-t", "mill"], "line 2 ("),
        (["fit", "data.csv", "-t", "size", "--model", "data.csv"], "would be lost"),
        (["fit", "data.csv", "-t", "size", "--model", "no/such/model"], "no folder no/such"),
        (["fit", "data.csv", "-t", "size", "--model", "a", "--report", "a"], "two outputs"),
        (["fit", "data.csv", "-t", "size", "--networks", "0"], "--networks"),
        (["fit", "data.csv", "-t", "size", "--separator", "::"], "one character"),
        (["fit", "data.csv", "-t", "size", "--bogus"], "--bogus"),
        (["predict", "mdel.skops", "data.csv"], "did you mean 'model.skops'?"),
        (["predict", "model.skops", "few.csv"], "did you mean 'flow1'?"),
        (["predict", "data.csv", "data.csv"], "is no model"),
        (["predict", "model.skops", "data.csv", "--out", "model.skops"], "would be lost"),
        (["outliers", "model.skops", "untold.csv"], "no column 'size'"),
        (["no-such-command"], "no-such-command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_answered_in_one_line(fitted, capsys, monkeypatch, arguments, words):
    folder, frame, _ = fitted
    monkeypatch.chdir(folder)
    frame.head(20).rename(columns={"flow": "flow1"}).to_csv("few.csv", index=False)
    frame.head(20).drop(columns="size").to_csv("untold.csv", index=False)
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    assert words in refusal(capsys, *arguments)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_a_traceback_is_shown_on_demand_only(tmp_path, capsys):
    arguments = ["fit", tmp_path / "none.csv", "-t", "size"]
    assert "Traceback" not in refusal(capsys, *arguments)
    with pytest.raises(ValueError, match="no file"):
        main([str(each) for each in [*arguments, "--debug"]])


def test_no_file_is_left_when_one_of_them_cannot_be_written(tmp_path):
    (tmp_path / "first").write_text("old")

    def fails(path):
        path.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_all({tmp_path / "first": lambda p: p.write_text("new"), tmp_path / "second": fails})
    assert [p.name for p in tmp_path.iterdir()] == ["first"]
    assert (tmp_path / "first").read_text() == "old"


def test_what_a_library_warns_of_is_a_note(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with plain_errors():
            warnings.warn("two\nlines", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: two lines\n"


def test_every_command_shows_examples(capsys):
    for command in COMMANDS:
        code, out, _ = outcome(capsys, command, "--help")
        assert code == 0
        assert f"robustscn {command}" in out.split("For example:")[1]
    code, out, _ = outcome(capsys)
    assert code == 2
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", out, flags=re.M)


def test_the_page_on_the_command_line_names_what_there_is(capsys):
    page = (Path(__file__).parent.parent / "docs" / "command-line.md").read_text(encoding="utf-8")
    helps = "".join(outcome(capsys, command, "--help")[1] for command in COMMANDS)
    options = set(re.findall(r"--[a-z]+", page))
    assert len(options) > 10
    assert options <= set(re.findall(r"--[a-z]+", helps))
    named = re.findall(r"^\| `([a-z]+)", page, flags=re.M)
    assert set(COMMANDS) <= set(named)


def test_version_and_app(capsys):
    assert outcome(capsys, "--version") == (0, f"robustscn {__version__}\n", "")
    assert app.info.name == "robustscn"


@pytest.mark.parametrize("command", LISTED)
def test_the_list_of_commands_says_what_each_says_of_itself(capsys, command):
    _, sentence = LISTED[command]
    for asked in ((), (command,)):
        shown = " ".join(outcome(capsys, *asked, "--help")[1].split())
        assert sentence[:40] in shown
    assert sentence in shown


def test_a_program_is_told_of_progress_in_lines(fitted, tmp_path):
    pytest.importorskip("sklearn.callback")
    folder, _, _ = fitted
    nothing = [f"--{name}=none" for name in FILES]
    words = ["fit", str(folder / "data.csv"), "-t", "size", "--time", "when", "--json", *SMALL]
    done = subprocess.run(
        [sys.executable, "-m", "robustscn.cli", *words, "--transform", "none", *nothing],
        env=os.environ | {"ROBUSTSCN_PROGRESS": "json"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert json.loads(done.stdout)["rows"] == 300
    for label in ("fit", "hold-out"):
        told = [line for line in lines if line["fit"] == label]
        assert [set(line) for line in told] == [{"fit", "round", "rounds", "share"}] * len(told)
        shares = [line["share"] for line in told]
        assert shares == sorted(shares)
        assert (shares[0], shares[-1]) == (0.0, 1.0)
        n_rounds = told[-1]["rounds"]
        assert {line["round"] for line in told} == set(range(1, n_rounds + 1))
    assert [line["fit"] for line in lines] == sorted(line["fit"] for line in lines)


# Ctrl-C

LONG = ("--networks", "8", "--nodes", "150", "--rounds", "60")


def test_an_interrupt_ends_the_fit_and_keeps_nothing_without_a_terminal(fitted, tmp_path, capsys):
    ours = signal.getsignal(signal.SIGINT)

    def interrupt():
        while signal.getsignal(signal.SIGINT) is ours:  # until the fit listens
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    places = [f"--{name}={tmp_path / file}" for name, file in FILES.items()]
    code, out, err = outcome(capsys, "fit", fitted[0] / "data.csv", "-t", "size", *places, *LONG)
    thread.join()
    assert code == 130
    assert out == ""
    assert err.splitlines()[-1] == "error: interrupted, nothing was written"
    assert "finishing the running step" in err
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGINT) is ours


class Terminal:
    """A command run on a terminal of its own."""

    def __init__(self, *arguments):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "robustscn.cli", *map(str, arguments)],
            **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
            env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
        )
        os.close(theirs)
        self.seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.ours)
        self.process.kill()
        self.process.wait()

    def read(self):
        """Read what is there; return whether there may be more."""
        if not select.select([self.ours], [], [], 60)[0]:
            return False
        try:
            more = os.read(self.ours, 4096)
        except OSError:  # the command has ended and its terminal with it
            return False
        self.seen += more.decode(errors="replace")
        return bool(more)

    def wait_for(self, pattern):
        while not re.search(pattern, self.seen):
            assert self.read(), self.seen

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def exit_code(self):
        while self.read():
            pass
        return self.process.wait(timeout=60)


@pytest.mark.hostile
@pytest.mark.parametrize(("answer", "code", "kept"), [("y", 0, 3), ("n", 130, 0)])
def test_an_interrupt_on_a_terminal_offers_the_model_so_far(fitted, tmp_path, answer, code, kept):
    pytest.importorskip("sklearn.callback")
    places = [f"--{name}={tmp_path / file}" for name, file in FILES.items()]
    with Terminal("fit", fitted[0] / "data.csv", "-t", "size", *places, *LONG) as terminal:
        terminal.wait_for(r"round \d+ of 67")
        terminal.interrupt()
        terminal.wait_for(r"Keep the model so far\?")
        os.write(terminal.ours, f"{answer}\n".encode())
        assert terminal.exit_code() == code, terminal.seen
    assert len(list(tmp_path.iterdir())) == kept
    if kept:
        model = load(tmp_path / "model.skops").model.named_steps["model"]
        assert len(model.error_path_) < 60


@pytest.mark.hostile
def test_a_second_interrupt_quits_at_once(fitted, tmp_path):
    pytest.importorskip("sklearn.callback")
    places = [f"--{name}={tmp_path / file}" for name, file in FILES.items()]
    with Terminal("fit", fitted[0] / "data.csv", "-t", "size", *places, *LONG) as terminal:
        terminal.wait_for(r"round \d+ of 67")
        terminal.interrupt()
        terminal.wait_for("press Ctrl-C again")
        terminal.interrupt()
        assert terminal.exit_code() == 130
    assert list(tmp_path.iterdir()) == []


def test_the_defaults_are_the_estimators_own():
    given = Settings().estimator().estimator.get_params()
    assert given | {"random_state": None} == RobustSCNRegressor().get_params()


@pytest.mark.parametrize(
    ("learner", "kind"), [("trees", "RobustRegressor"), ("both", "RobustBlendRegressor")]
)
def test_another_learner_finds_the_rows_and_everything_else_works(learner, kind, tmp_path, capsys):
    frame, wrong = measurements()
    data, model = tmp_path / "data.csv", tmp_path / "model.skops"
    frame.to_csv(data, index=False)
    places = (f"--model={model}", f"--outliers={tmp_path / 'o.csv'}", f"--report={tmp_path / 'r'}")
    code, out, err = outcome(
        capsys, "fit", data, "-t", "size", "--learner", learner, *SMALL, *places, "--json"
    )
    assert code == 0, err
    facts = json.loads(out)
    saved = load(model)
    fitted = saved.model.named_steps["model"]
    assert type(fitted).__name__ == kind
    assert f"--learner {learner}" in saved.info["command"]
    assert fitted.outliers_[wrong].mean() > 0.9
    assert facts["flagged_rows"] == fitted.outliers_.sum() == len(pd.read_csv(tmp_path / "o.csv"))
    assert "models that had not seen it" in (tmp_path / "r").read_text(encoding="utf-8")
    code, out, err = outcome(capsys, "predict", model, data, "--interval", "0.9")
    assert code == 0, err
    assert out.count("\n") == len(frame) + 1
    assert outcome(capsys, "export", model, tmp_path / "model.onnx")[0] == 0
    # What goes on learning is networks alone.
    assert "does not go on learning" in refusal(capsys, "watch", model, data)


def test_on_a_cluster_only_networks_learn(tmp_path, capsys):
    line = refusal(
        capsys, "fit", tmp_path / "x.parquet", "-t", "size", "--dask", "--learner", "both"
    )
    assert "only networks learn" in line


def test_prices_are_learned_as_logarithms_and_it_says_so(tmp_path, capsys):
    rng = np.random.default_rng(0)
    area, wrong = rng.uniform(30, 200, 400), rng.random(400) < 0.1
    price = 1000 * area * np.exp(0.1 * rng.normal(size=400))
    price[wrong] *= rng.choice([0.1, 10], wrong.sum())
    data = tmp_path / "prices.csv"
    pd.DataFrame({"area": area, "price": price.round()}).to_csv(data, index=False)
    places = ("--model", str(tmp_path / "m.skops"), "--report=none", "--outliers=none")
    fit = ("fit", data, "-t", "price", *SMALL, *places)
    code, out, err = outcome(capsys, *fit)
    assert code == 0, err
    assert "the logarithm of the target, because noise grows with it" in out
    model = load(tmp_path / "m.skops").model.named_steps["model"]
    assert type(model).__name__ == "RobustTransformedRegressor"
    assert model.outliers_[wrong].all()
    assert "--transform none" in refusal(capsys, "watch", tmp_path / "m.skops", data)
    code, out, err = outcome(capsys, *fit, "--transform", "none", "--json")
    assert (code, json.loads(out)["transform"]) == (0, "none")
    model = load(tmp_path / "m.skops").model.named_steps["model"]
    assert type(model).__name__ == "RobustSCNRegressor"


def test_settings_come_from_a_file_and_what_is_typed_goes_before_it(tmp_path, capsys):
    frame, _ = measurements()
    frame.to_csv(tmp_path / "data.csv", index=False)
    config = tmp_path / "mill.toml"
    lines = [f'data = "{(tmp_path / "data.csv").as_posix()}"', 'target = "size"', 'drop = ["when"]']
    lines += ['model = "none"', 'report = "none"', 'outliers = "none"', "json = true", "seed = 3"]
    config.write_text("\n".join([*lines, "networks = 2", "nodes = 5", "rounds = 1"]))
    code, out, err = outcome(capsys, "fit", "--config", config)
    assert code == 0, err
    by_file = json.loads(out)
    typed = ("fit", tmp_path / "data.csv", "-t", "size", "--drop", "when", *TINY, "--json")
    none = ("--model=none", "--report=none", "--outliers=none")
    code, out, err = outcome(capsys, *typed, *none, "--seed", "3")
    by_hand = json.loads(out)
    for facts in (by_file, by_hand):
        del facts["fit_seconds"]
    assert by_file == by_hand
    code, out, err = outcome(capsys, "fit", "--config", config, "--target", "water", "--seed", "4")
    assert json.loads(out)["targets"] == ["water"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("target = ", "no TOML"),
        ('tarket = "size"', "sets 'tarket', which is no setting: did you mean 'target'?"),
        ("zzz = 1", "sets 'zzz', which is no setting: there is only data, target"),
        ("[size]\nnodes = 3", "sets 'size'"),
        ("nodes = -1", "nodes"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_of_settings_that_is_wrong_is_one_line(text, words, tmp_path, capsys):
    config = tmp_path / "mill.toml"
    if text is not None:
        config.write_text(text)
    assert words in refusal(capsys, "fit", "x.csv", "-t", "y", "--config", config)
