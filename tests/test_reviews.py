"""Answers of people about rows, from a column of the table to every command."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from robustscn.cli import main
from robustscn.persistence import load
from robustscn.tables import TableError, read_table, reviews_of

SMALL = ("--networks", "4", "--nodes", "20", "--rounds", "5", "--transform", "none")


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """A table with answers about its suspects, and what a fit made of it."""
    folder = tmp_path_factory.mktemp("reviewed")
    rng = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame({"flow": rng.uniform(size=n), "water": rng.uniform(size=n)})
    frame["size"] = np.sin(4 * frame["flow"]) + 0.02 * rng.normal(size=n)
    wrong = rng.permutation(n)[:20]
    frame.loc[wrong, "size"] += 3.0
    frame["answer"] = ""
    frame.loc[wrong[:8], "answer"] = "Wrong"
    frame.loc[wrong[8:12], "answer"] = " fine "
    frame.to_csv(folder / "data.csv", index=False)
    fit(folder, "data.csv", "--reviewed", "answer")
    return folder, frame, wrong


def fit(folder, data, *options):
    files = [f"--{name}={folder / file}" for name, file in FILES.items()]
    assert main(["fit", str(folder / data), "--target=size", *files, *SMALL, *options, "-q"]) == 0


FILES = {"model": "m.skops", "report": "r.html", "outliers": "o.csv", "episodes": "none"}


def test_answers_in_any_case_and_the_rest_is_unanswered():
    frame = read_table(b"y,said\n1,WRONG\n2,\n3,ok\n4,bad\n5,unsure\n6,Fine\n")
    wrong, fine = reviews_of(frame, "said")
    assert_array_equal(wrong, [True, False, False, True, False, False])
    assert_array_equal(fine, [False, False, True, False, False, True])


def test_a_column_without_answers_says_nothing():
    wrong, fine = reviews_of(pd.DataFrame({"said": [np.nan, np.nan]}), "said")
    assert not wrong.any()
    assert not fine.any()


def test_other_words_are_refused_with_their_line():
    frame = read_table(b"y,said\n1,wrong\n2,perhaps\n")
    with pytest.raises(TableError, match=r"1 of its 2 rows say something else, first line 3"):
        reviews_of(frame, "said")


def test_rows_that_are_called_wrong_are_not_learned_from(reviewed, tmp_path):
    folder, frame, wrong = reviewed
    without = frame.drop(index=wrong[:8])
    without.to_csv(tmp_path / "data.csv", index=False)
    fit(tmp_path, "data.csv", "--reviewed", "answer")
    same, model = load(tmp_path / "m.skops"), load(folder / "m.skops")
    assert_array_equal(same.model.predict(frame), model.model.predict(frame))
    assert model.info["rows"] == 192


def test_rows_that_are_called_fine_are_no_suspects(reviewed):
    folder, _, wrong = reviewed
    listed = set(pd.read_csv(folder / "o.csv")["line"] - 2)
    assert listed >= set(wrong[12:].tolist())
    assert not listed & set(wrong[:12].tolist())
    weight = load(folder / "m.skops").model["model"].inlier_weight_
    assert (weight == 1.0).sum() >= 4


def test_the_summary_counts_the_answers_and_the_command_has_them(reviewed, tmp_path, capsys):
    folder, *_ = reviewed
    capsys.readouterr()
    files = [f"--{name}=none" for name in ("report", "outliers")]
    command = ["fit", str(folder / "data.csv"), "--target=size", "--reviewed", "answer", *SMALL]
    main([*command, *files, f"--model={tmp_path / 'm.skops'}", "--json"])
    facts = json.loads(capsys.readouterr().out)
    counts = (facts["rows"], facts["rows_known_wrong"], facts["rows_known_fine"])
    assert counts == (192, 8, 4)
    assert facts["rows_without_target"] == 0
    assert "answer" not in facts["columns"]["categories"]
    assert "--reviewed answer" in load(tmp_path / "m.skops").info["command"]


def test_other_commands_know_the_answers_too(reviewed, tmp_path, capsys):
    folder, frame, wrong = reviewed
    model, data = str(folder / "m.skops"), str(folder / "data.csv")
    capsys.readouterr()
    assert main(["outliers", model, data, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    suspects = len(pd.read_csv(folder / "o.csv"))
    assert (facts["rows"], facts["suspects"]) == (192, suspects)
    assert main(["report", model, data, "--out", str(tmp_path / "again.html"), "-q"]) == 0
    for option, left in (("--replace", 0), (None, 8 + suspects)):
        out = ["--model", model, "--out", str(tmp_path / "clean.csv"), "-q"]
        assert main(["clean", data, *out, *([option] if option else [])]) == 0
        table = pd.read_csv(tmp_path / "clean.csv")
        assert table["flagged"].sum() == 8 + suspects
        assert table["size"].isna().sum() == left
    fine = wrong[8:12]
    assert_array_equal(table.loc[fine, "size"], frame.loc[fine, "size"])
    assert main(["clean", data, *out, "--replace"]) == 0
    table = pd.read_csv(tmp_path / "clean.csv")
    truth = np.sin(4 * frame["flow"])
    assert np.abs(table.loc[wrong[:8], "size"] - truth[wrong[:8]]).max() < 1.0
