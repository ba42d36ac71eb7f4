"""One story on the command line: a row has one name, and all commands say the same of it."""

import json

import numpy as np
import pandas as pd
import pytest

from robustscn.cli import main
from robustscn.cli.outside import outside, seen_in
from robustscn.tables import plan_columns, read_table

TINY = ["--networks", "3", "--nodes", "30", "--rounds", "5", "--quiet"]
N = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A plant's table with a stuck target, spikes, dates and tags, and a fit of it."""
    here = tmp_path_factory.mktemp("story")
    rng = np.random.default_rng(0)
    flow, temp = rng.normal(50, 5, N), rng.normal(80, 6, N)
    size = flow + 0.5 * temp + rng.normal(0, 0.3, N)
    size[[20, 75, 260]] += 40
    size[120:150] = 91.25
    pd.DataFrame(
        {
            "when": pd.date_range("2024-03-01", periods=N, freq="h"),
            "tag": [f"S-{i:04d}" for i in range(N)],
            "mill": rng.choice(["A", "B"], N),
            "flow": [f"{v:.3f} t/h" for v in flow],
            "temp": temp.round(3),
            "size": size.round(3),
        }
    ).to_csv(here / "plant.csv", index=False)
    code = main(
        [
            *("fit", str(here / "plant.csv"), "-t", "size", "--id", "tag", *TINY),
            *("--model", str(here / "m.skops"), "--report", str(here / "r.html")),
            *("--outliers", str(here / "o.csv"), "--episodes", str(here / "e.csv")),
        ]
    )
    assert code == 0
    return here


def test_a_row_has_one_name_everywhere(folder, capsys):
    flagged = pd.read_csv(folder / "o.csv")
    assert flagged.columns[0] == "tag"
    assert {"S-0020", "S-0075"} <= set(flagged["tag"])
    episodes = pd.read_csv(folder / "e.csv")
    stuck = episodes[episodes["kind"] == "stuck"].iloc[0]
    assert (stuck["start"], stuck["end"]) == ("S-0121", "S-0149")
    assert stuck["start_time"] == "2024-03-06 01:00"
    assert "constant at 91.25" in stuck["cause"]
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.index("constant at 91.25") < page.index("Predicted and observed")
    assert main(["outliers", str(folder / "m.skops"), str(folder / "plant.csv"), "-q"]) == 0
    again = pd.read_csv(pd.io.common.StringIO(capsys.readouterr().out))
    assert list(again["tag"]) == list(flagged["tag"])  # the same rows, in the same order
    np.testing.assert_allclose(again["deviations"], flagged["deviations"], rtol=1e-9)


def test_dates_and_tags_are_kept_from_the_networks(folder, capsys):
    assert main(["info", str(folder / "m.skops"), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)["info"]
    assert sorted(info["features"]) == ["flow", "mill", "temp"]
    assert info["reading"]["units"] == {"flow": "t/h"}


def test_predictions_stand_beside_the_rows_and_say_what_is_outside(folder, tmp_path, capsys):
    new = tmp_path / "new.csv"
    new.write_text("tag,mill,flow,temp\nn1,A,50 t/h,80\nn2,A,5000 t/h,80\nn3,C,50 t/h,80\n")
    out = tmp_path / "p.csv"
    command = ["predict", str(folder / "m.skops"), str(new)]
    assert main([*command, "--keep", "--out", str(out)]) == 0
    assert "2 of 3 rows lie outside" in capsys.readouterr().err
    got = pd.read_csv(out, keep_default_na=False)
    assert list(got["flow"]) == [50.0, 5000.0, 50.0]
    assert list(got["outside"]) == ["", "flow", "mill"]
    assert "predicted size" in got
    assert main([*command, "--strict"]) == 2
    line = capsys.readouterr().err
    assert "error: 2 of 3 rows lie outside" in line
    assert "first tag n2 (flow)" in line
    pounds = tmp_path / "lb.csv"
    pounds.write_text("tag,mill,flow,temp\nn1,A,50 lb/h,80\n")
    assert main(["predict", str(folder / "m.skops"), str(pounds)]) == 2
    assert "was in 't/h' when the model was made" in capsys.readouterr().err


@pytest.mark.parametrize("replace", [False, True])
def test_a_cleaned_table_has_all_rows_and_no_flagged_target(folder, tmp_path, replace, capsys):
    out = tmp_path / "clean.csv"
    command = ["clean", str(folder / "plant.csv"), "--model", str(folder / "m.skops")]
    assert main([*command, "--out", str(out), *["--replace"] * replace]) == 0
    flagged = pd.read_csv(folder / "o.csv").set_index("tag")
    assert f"{len(flagged)} of {N} targets were flagged" in capsys.readouterr().err
    cleaned = pd.read_csv(out)
    before = pd.read_csv(folder / "plant.csv")
    assert len(cleaned) == N
    marked = cleaned["flagged"] == 1
    assert set(before["tag"][marked]) == set(flagged.index)
    np.testing.assert_array_equal(cleaned["size"][~marked], before["size"][~marked])
    if replace:
        expected = flagged["expected"].loc[list(before["tag"][marked])]
        np.testing.assert_allclose(cleaned["size"][marked], expected, rtol=1e-5)
    else:
        assert cleaned["size"][marked].isna().all()


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_what_is_written_can_be_read_again(folder, tmp_path, ending):
    plant, model = str(folder / "plant.csv"), str(folder / "m.skops")
    cleaned, kept = tmp_path / f"c{ending}", tmp_path / f"p{ending}"
    assert main(["clean", plant, "--model", model, "--out", str(cleaned), "-q"]) == 0
    assert main(["predict", model, plant, "--keep", "--out", str(kept), "-q"]) == 0
    before = pd.read_csv(plant)
    for written in (cleaned, kept):
        again = read_table(written)
        assert list(again.columns)[: len(before.columns)] == list(before.columns)
        assert list(again["tag"]) == list(before["tag"])
        assert main(["outliers", model, str(written), "-q"]) == 0


def test_a_column_of_the_table_may_be_called_as_rows_are(folder, tmp_path, capsys):
    lines = pd.read_csv(folder / "plant.csv").assign(line=range(N))
    lines.to_csv(tmp_path / "lines.csv", index=False)
    table, model = str(tmp_path / "lines.csv"), str(tmp_path / "m.skops")
    nothing = ["--report", "none", "--outliers", "none", "--episodes", "none"]
    assert main(["fit", table, "-t", "size", "--model", model, *nothing, *TINY]) == 0
    capsys.readouterr()
    assert main(["predict", model, table, "--keep", "-q"]) == 0
    again = pd.read_csv(pd.io.common.StringIO(capsys.readouterr().out))
    assert list(again.columns[:2]) == ["line'", "when"]
    assert (again["line'"] - again["line"]).unique().tolist() == [2]


@pytest.mark.parametrize("command", ["clean", "predict"])
def test_no_csv_is_written_under_the_name_of_a_workbook(folder, tmp_path, command, capsys):
    plant, model = str(folder / "plant.csv"), str(folder / "m.skops")
    words = [plant, "--model", model] if command == "clean" else [model, plant]
    assert main([command, *words, "--out", str(tmp_path / "out.xlsx")]) == 2
    assert "workbooks are read, not written: name it .csv" in capsys.readouterr().err
    assert not (tmp_path / "out.xlsx").exists()


def test_outside_is_a_tenth_beyond_the_range_or_a_level_not_seen():
    frame = pd.DataFrame({"x": np.linspace(0.0, 10.0, 50), "c": ["a", "b"] * 25})
    trusted = np.ones(50, dtype=bool)
    trusted[-1] = False  # the largest was not believed
    seen = seen_in(frame, plan_columns(frame, ["x", "c"]), trusted)
    highest = frame["x"].iloc[-2]
    new = pd.DataFrame(
        {"x": [-0.9 * highest / 10, -1.1, 1.09 * highest, 1.2 * highest], "c": ["a", "b", "z", "a"]}
    )
    assert outside(new, seen) == ["", "x", "c", "x"]
