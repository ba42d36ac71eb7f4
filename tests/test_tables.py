"""Tables: read as an independent reader reads them, and made into numbers by literal formulas."""

import datetime
import gzip
import io
import math
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from robustscn import RVFLRegressor
from robustscn.cli.holdout import held_out_end, held_out_groups, robust_error
from robustscn.tables import (
    DateParts,
    Numbers,
    TableError,
    columns_needed,
    nearest,
    plan_columns,
    read_table,
    table_pipeline,
    targets_of,
)

CSV = b"flow,size\n1.5,2\n2.5,3\n"


def frame_of(n=120, seed=0):
    rng = np.random.default_rng(seed)
    start = pd.Timestamp("2024-03-01 06:00")
    return pd.DataFrame(
        {
            "flow": np.where(rng.random(n) < 0.1, np.nan, rng.random(n)),
            "mill": rng.choice(["A", "B", "C"], n),
            "when": start + pd.to_timedelta(np.arange(n) * 7, unit="h"),
            "open": rng.random(n) < 0.5,
            "size": rng.random(n),
        }
    )


# Reading


@given(
    numbers=st.lists(
        st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=3, max_size=3),
        min_size=1,
        max_size=30,
    ),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_numbers_are_read_to_the_last_bit(numbers, separator, decimal, end, encoding):
    if separator == ",":
        decimal = "."
    table = pd.DataFrame(numbers, columns=["größe", "b", "c"]).map(lambda v: f"{v:.17g}")
    written = table.map(lambda v: v.replace(".", decimal)).to_csv(
        sep=separator, index=False, lineterminator=end
    )
    got = read_table(written.encode(encoding))
    assert list(got.columns) == ["größe", "b", "c"]
    assert_array_equal(got.to_numpy(dtype=float), numbers)


def test_a_path_a_buffer_a_file_and_a_pipe_are_the_same_table(tmp_path, monkeypatch):
    expected = read_table(CSV)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(CSV))
    pd.testing.assert_frame_equal(read_table(str(tmp_path / "t.csv.gz")), expected)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv.gz"), expected)
    pd.testing.assert_frame_equal(read_table(io.BytesIO(CSV)), expected)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV)))
    pd.testing.assert_frame_equal(read_table("-"), expected)


def test_parquet_is_the_same_table_with_rows_for_lines():
    file = io.BytesIO()
    read_table(CSV).to_parquet(file, index=False)
    table = read_table(file.getvalue())
    assert_array_equal(table.to_numpy(), read_table(CSV).to_numpy())
    assert table.index.name == "row"
    assert list(table.index) == [1, 2]


@pytest.mark.parametrize("before", ["", "\n\n", "sep=,\n"], ids=["plain", "blank", "excel"])
def test_the_index_is_the_line_in_the_file(before):
    text = before + "flow,size\n" + "".join(f"{i},{i * i}\n" for i in range(40))
    table = read_table(text.encode())
    assert table.index.name == "line"
    lines = text.split("\n")
    for line, flow in table["flow"].items():
        assert lines[line - 1].startswith(f"{flow},")


def test_rows_are_counted_where_lines_cannot_be():
    table = read_table(b'flow,mill\n1,"two\nlines"\n\n3,x\n')
    assert table.index.name == "row"
    assert list(table.index) == [1, 2]
    assert table["mill"].tolist() == ["two\nlines", "x"]


def test_columns_can_be_kept_as_text():
    assert read_table(b"code,x\n01,1\n02,2\n")["code"].tolist() == [1, 2]
    assert read_table(b"code,x\n01,1\n02,2\n", text=("code",))["code"].tolist() == ["01", "02"]


def test_separator_and_encoding_can_be_given():
    table = read_table("a:ü\n1:2\n".encode("cp850"), separator=":", encoding="cp850")
    assert list(table.columns) == ["a", "ü"]
    with pytest.raises(TableError, match="no encoding 'martian'"):
        read_table(CSV, encoding="martian")


def test_western_european_text_is_read_with_a_note():
    table = read_table("größe\n1\n2\n".encode("cp1252"))
    assert list(table.columns) == ["größe"]
    (note,) = table.attrs["notes"]
    assert "not UTF-8" in note
    assert "line 1" in note


def test_a_mistyped_path_is_answered_with_the_nearest(tmp_path):
    (tmp_path / "measurements.csv").write_bytes(CSV)
    with pytest.raises(TableError, match=r"did you mean 'measurements.csv'"):
        read_table(tmp_path / "mesurements.csv")


def test_nearest_names_ignore_case():
    assert nearest("TEMPRATURE", ["flow", "Temperature", "temp_out"])[0] == "Temperature"
    assert nearest("zzz", ["flow", "size"]) == []


# What columns are


def test_kinds_of_columns_are_told_and_explained():
    n = 100
    frame = pd.DataFrame(
        {
            "number": np.arange(n) + 0.5,
            "stray": ["n/a", "error"] + [str(i) for i in range(n - 2)],
            "logical": [True, False] * 50,
            "category": ["x", "y"] * 50,
            "date": pd.date_range("2024-01-01", periods=n),
            "text date": [f"{i % 28 + 1:02d}.05.2024" for i in range(n)],
            "constant": 3,
            "empty": [None] * n,
            "identifier": [f"id-{i}" for i in range(n)],
        }
    )
    plan = plan_columns(frame, list(frame.columns))
    assert plan.numbers == ("number", "stray", "logical")
    assert plan.categories == ("category",)
    assert plan.dates == ("date", "text date")
    assert plan.left_out == ("constant", "empty", "identifier")
    notes = "\n".join(plan.notes)
    assert "'stray' has 2 values that are no numbers and count as missing: 'n/a', 'error'" in notes
    for name in plan.left_out:
        assert f"{name!r} is" in notes


@pytest.mark.parametrize(("share", "kind"), [(0.79, "categories"), (0.81, "numbers")])
def test_four_fifths_of_numbers_make_a_column_of_numbers(share, kind):
    n = 1000
    values = [str(i) if i < share * n else "off" for i in range(n)]
    plan = plan_columns(pd.DataFrame({"x": values}), ["x"])
    assert getattr(plan, kind) == ("x",)


def test_day_before_month_is_said_where_both_fit():
    frame = pd.DataFrame({"d": [f"{i % 12 + 1:02d}/{i % 9 + 1:02d}/2024" for i in range(60)]})
    (note,) = plan_columns(frame, ["d"]).notes
    assert "day/month/year" in note
    american = pd.DataFrame({"d": [f"{i % 12 + 1:02d}/{i % 28 + 1:02d}/2024" for i in range(60)]})
    assert DateParts().fit(american).formats_ == ["%m/%d/%Y"]


def test_date_parts_are_the_literal_formulas():
    moments = [
        datetime.datetime(2024, 2, 27, 22) + datetime.timedelta(hours=5 * i) for i in range(100)
    ]
    got = DateParts().fit_transform(pd.DataFrame({"when": moments}))
    expected = []
    for moment in moments:
        day = (moment.hour * 3600 + moment.minute * 60 + moment.second) / 86400
        week = moment.weekday() / 7
        expected.append(
            [
                (moment - moments[0]).total_seconds(),
                math.sin(2 * math.pi * day),
                math.cos(2 * math.pi * day),
                math.sin(2 * math.pi * week),
                math.cos(2 * math.pi * week),
            ]
        )
    assert_allclose(got, expected, atol=1e-9)


def test_dates_without_times_and_short_spans_have_fewer_parts():
    days = pd.DataFrame({"d": pd.date_range("2024-01-01", periods=10)})
    assert list(DateParts().fit(days).get_feature_names_out()) == ["d seconds"]
    months = pd.DataFrame({"d": pd.date_range("2024-01-01", periods=15)})
    assert len(DateParts().fit(months).get_feature_names_out()) == 3


def test_dates_are_the_same_as_text_and_as_dates():
    dates = pd.DataFrame({"d": pd.date_range("2024-01-01 03:00", periods=40, freq="11h")})
    parts = DateParts().fit(dates)
    for form in ("%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ"):
        texts = pd.DataFrame({"d": dates["d"].dt.strftime(form)})
        assert_array_equal(parts.transform(texts), parts.transform(dates))
        assert_array_equal(DateParts().fit_transform(texts), parts.transform(dates))
    german = pd.DataFrame({"d": dates["d"].dt.strftime("%d.%m.%Y %H:%M")})
    assert_array_equal(DateParts().fit_transform(german), parts.transform(dates))


def test_values_that_are_no_numbers_are_missing():
    values = ["1.5", " 2 ", "n/a", "", None, "inf", "-1e200", "true", "FALSE"]
    got = Numbers().fit_transform(pd.DataFrame({"x": values}))[:, 0]
    nan = math.nan
    assert_array_equal(got, [1.5, 2.0, nan, nan, nan, nan, nan, 1.0, 0.0])


# The pipeline


def features_of(pipeline, frame):
    return pipeline.named_steps["columns"].fit_transform(frame)


def test_numbers_are_filled_by_the_median_and_marked():
    frame = pd.DataFrame({"x": [1.0, np.nan, 5.0, 9.0, np.nan, 5.5]})
    got = features_of(table_pipeline(frame, ["x"], RVFLRegressor()), frame)
    assert_array_equal(got[:, 0], [1.0, 5.25, 5.0, 9.0, 5.25, 5.5])
    assert_array_equal(got[:, 1], [0, 1, 0, 0, 1, 0])


def test_rare_levels_are_one_and_unknown_ones_join_them():
    levels = ["A"] * 50 + ["B"] * 44 + ["C", "D"] * 1 + ["E", "F", "G", "H"]
    frame = pd.DataFrame({"mill": levels})
    pipeline = table_pipeline(frame, ["mill"], RVFLRegressor())
    got = features_of(pipeline, frame)
    assert got.shape[1] == 3
    columns = pipeline.named_steps["columns"]
    unknown = columns.transform(pd.DataFrame({"mill": ["never seen", "C", "A"]}))
    assert_array_equal(unknown[0], unknown[1])
    assert not np.array_equal(unknown[0], unknown[2])


def test_a_missing_level_is_a_level():
    frame = pd.DataFrame({"mill": ["A", "B", None] * 20})
    got = features_of(table_pipeline(frame, ["mill"], RVFLRegressor()), frame)
    assert_array_equal(got.sum(axis=1), np.ones(60))
    assert got.shape[1] == 3


@pytest.fixture(scope="module")
def fitted():
    frame = frame_of()
    features = ["flow", "mill", "when", "open"]
    pipeline = table_pipeline(frame, features, RVFLRegressor(20, random_state=0))
    return pipeline.fit(frame, frame["size"]), frame


def test_order_of_columns_does_not_matter_and_others_are_ignored(fitted):
    pipeline, frame = fitted
    other = frame[["open", "when", "size", "mill", "flow"]].assign(extra="?")
    assert_array_equal(pipeline.predict(other), pipeline.predict(frame))


def test_rows_are_predicted_from_the_texts_of_a_file(fitted):
    pipeline, frame = fitted
    texts = frame.assign(
        flow=frame["flow"].map(lambda v: "n/a" if v != v else repr(v)),
        when=frame["when"].dt.strftime("%Y-%m-%d %H:%M:%S"),
        open=frame["open"].map({True: "true", False: "False"}),
        mill=" " + frame["mill"] + " ",
    )
    assert_array_equal(pipeline.predict(texts), pipeline.predict(frame))


def test_the_columns_a_pipeline_needs_are_known(fitted):
    assert columns_needed(fitted[0]) == {
        "numbers": ["flow", "open"],
        "categories": ["mill"],
        "dates": ["when"],
    }


def test_every_feature_has_a_name(fitted):
    pipeline, frame = fitted
    columns = pipeline.named_steps["columns"]
    names = columns.get_feature_names_out()
    assert len(names) == columns.transform(frame).shape[1]
    assert "dates__when day sine" in names


# Targets


def test_rows_without_a_target_are_counted():
    frame = read_table(b"x,y\n" + b"".join(b"%d,%d\n" % (i, i) for i in range(20)) + b"1,\n2,-\n")
    targets = targets_of(frame, ["y"])
    assert targets.n_missing == 2
    assert_array_equal(targets.values, np.arange(20.0))


def test_several_targets_need_all_of_them():
    n = 20
    frame = pd.DataFrame({"a": np.arange(n) * 1.0, "b": np.arange(n) * 2.0})
    frame.loc[3, "a"] = np.nan
    frame.loc[5, "b"] = np.inf
    targets = targets_of(frame, ["a", "b"])
    assert targets.values.shape == (18, 2)
    assert_array_equal(np.flatnonzero(~targets.known), [3, 5])


def test_text_in_a_target_is_shown_with_its_lines():
    frame = read_table(b"x,y\n" + b"1,2\n" * 20 + b"1,two\n1,2 kg\n")
    with pytest.raises(TableError, match=r"2 of 22 rows.*line 22 \('two'\), line 23 \('2 kg'\)"):
        targets_of(frame, ["y"])


# The error on rows that are dirty themselves


def test_the_robust_error_leaves_out_what_is_wrong():
    rng = np.random.default_rng(0)
    clean = rng.normal(0, 2.0, 5000)
    dirty = clean.copy()
    dirty[::5] += 200.0
    error = robust_error(dirty, "so")
    assert error.rmse[0] == pytest.approx(2.0, rel=0.05)
    assert error.median[0] == np.median(np.abs(dirty))
    assert error.trusted == pytest.approx(4000 * 0.997, abs=20)


@pytest.mark.parametrize("unit", [1e307, 1e200, 1.0, 1e-200])
def test_the_robust_error_is_the_same_in_any_unit(unit):
    sizes = np.array([1.0, 2.0, 2.0, 4.0, 15.0])
    believed = robust_error(unit * sizes, "so", np.array([True] * 4 + [False]))
    assert believed.rmse[0] == pytest.approx(2.5 * unit)  # the square root of 25 / 4
    assert believed.median[0] == pytest.approx(2.0 * unit)
    near = robust_error(unit * sizes, "so")
    assert (near.trusted, near.rmse[0]) == (4, pytest.approx(2.5 * unit))


def test_the_error_of_several_targets_is_one_for_each():
    residuals = np.column_stack([np.full(50, 1.0), np.tile([-3.0, 3.0], 25)])
    error = robust_error(residuals, "so")
    assert error.median == (1.0, 3.0)
    assert error.facts(("a", "b"))["robust_rmse"] == {"a": 1.0, "b": 3.0}


def test_groups_are_held_out_whole():
    groups = pd.Series(np.repeat([f"g{i}" for i in range(10)], 30), name="plant")
    chosen, how = held_out_groups(groups, 0)
    assert 0.15 <= chosen.mean() <= 0.35
    assert not set(groups[chosen]) & set(groups[~chosen])
    assert "whole group" in how
    with pytest.raises(TableError, match="one group"):
        held_out_groups(pd.Series(["a"] * 9, name="plant"), 0)


@pytest.mark.parametrize("kind", ["dates", "texts", "numbers"])
def test_the_last_part_in_time_is_held_out(kind):
    rng = np.random.default_rng(0)
    order = rng.permutation(100)
    days = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(order, unit="D"), name="t")
    times = {
        "dates": days,
        "texts": days.dt.strftime("%d.%m.%Y"),
        "numbers": pd.Series(order * 1.0, name="t"),
    }[kind]
    chosen, _ = held_out_end(times)
    assert chosen.sum() == 20
    assert order[chosen].min() > order[~chosen].max()
