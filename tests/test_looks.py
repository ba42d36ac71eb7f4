"""Looks at columns and episodes: planted faults are found where they are, and nothing else."""

import json

import numpy as np
import pandas as pd
import pytest

from robustscn.cli import main
from robustscn.looks import episodes_of, look, order_of
from robustscn.looks.causes import cause_of, slips
from robustscn.looks.segments import maximal_segments
from robustscn.tables import DateParts, plan_columns, without_row_names
from robustscn.tables.identity import names_the_row

N = 600


def plant(seed=0):
    """An ordered table of which nothing is wrong."""
    rng = np.random.default_rng(seed)
    slow = np.cumsum(rng.normal(size=N)) / 10
    return pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=N, freq="h"),
            "flow": rng.normal(50, 4, N).round(2),
            "temp": (70 + 4 * np.sin(np.arange(N) / 30) + rng.normal(0, 1, N)).round(2),
            "slow": (20 + slow + rng.normal(0, 0.3, N)).round(3),
            "size": rng.gamma(8, 1, N).round(3),
        },
        index=pd.RangeIndex(2, N + 2, name="line"),
    )


def found(frame, target="size"):
    return look(frame, [c for c in frame.columns if c not in ("when", target)], [target])


# Stretches of greatest sum


def test_segments_are_those_of_an_exhaustive_search():
    rng = np.random.default_rng(1)
    for _ in range(200):
        scores = rng.integers(-4, 4, rng.integers(1, 14)).astype(float)
        got = maximal_segments(scores, 0.5)
        # The definition: the run of greatest sum, the shortest of them, then what is left on
        # either side.
        expected = sorted(exhaustive(scores, 0, len(scores)))
        assert [s[2] for s in got] == pytest.approx([s[2] for s in expected])
        for first, end, score in got:
            assert scores[first:end].sum() == score


def exhaustive(scores, low, high):
    best = max(
        (
            (scores[i:j].sum(), -(j - i), i, j)
            for i in range(low, high)
            for j in range(i + 1, high + 1)
        ),
        default=(0, 0, 0, 0),
    )
    total, _, first, end = best
    if total <= 0:
        return []
    return [
        (first, end, total),
        *exhaustive(scores, low, first),
        *exhaustive(scores, end, high),
    ]


# Columns


@pytest.mark.parametrize("seed", range(6))
def test_a_sound_table_has_no_findings(seed):
    assert [f for f in found(plant(seed)) if f.kind not in ("drift", "level")] == []


def only(frame, column, kind):
    findings = [f for f in found(frame) if f.column == column]
    assert [f.kind for f in findings] == [kind], findings
    return findings[0]


@pytest.mark.parametrize("mark", [-999.0, 9999.0, -32768.0])
def test_marks_for_nothing_are_found(mark):
    frame = plant()
    frame.loc[[7, 90, 311], "flow"] = mark
    finding = only(frame, "flow", "sentinel")
    assert list(frame.index[finding.rows]) == [7, 90, 311]
    assert f"--na {mark:g}" in finding.words


def test_a_stuck_stretch_is_found_with_its_length():
    frame = plant()
    frame.loc[202:249, "temp"] = frame.loc[202, "temp"]
    finding = only(frame, "temp", "stuck")
    assert list(frame.index[finding.rows]) == list(range(203, 250))
    assert "constant at" in finding.words
    assert "48 h" in finding.words
    assert "line 202" not in finding.where or "250" not in finding.where


def test_a_stuck_stretch_with_spikes_in_it_and_repeats_beside_it_is_stuck():
    frame = plant()
    frame.loc[202:249, "temp"] = frame.loc[202, "temp"]
    frame.loc[[207, 212, 222, 231, 240], "temp"] += [3.1, -4.2, 5.3, -2.4, 3.5]
    frame.loc[[251, 253], "temp"] = frame.loc[[250, 252], "temp"].to_numpy()
    finding = only(frame, "temp", "stuck")
    assert set(frame.index[finding.rows]) == set(range(203, 250)) - {207, 212, 222, 231, 240}


def test_a_target_that_is_held_is_found():
    frame = plant()
    values = frame["size"].to_numpy().copy()
    rows = np.arange(100, 228)
    values[rows] = values[100 + (rows - 100) // 8 * 8]
    frame["size"] = values
    finding = only(frame, "size", "held")
    assert finding.target
    assert set(finding.rows) == {row for row in rows if (row - 100) % 8}
    assert "about 8 rows" in finding.words
    frame["size"] = np.repeat(plant()["size"].to_numpy()[:75], 8)
    assert "75 measurements in 600 rows" in only(frame, "size", "held").words


def test_a_pump_that_is_off_now_and_then_is_not_stuck():
    frame = plant()
    for start in (50, 150, 250, 350, 450):
        frame.loc[start : start + 20, "flow"] = 0.0
    assert "stuck" not in {f.kind for f in found(frame)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v: (v - 32) / 1.8, "value / 1.8 - 17.8"),
        (lambda v: 1.8 * v + 32, "value x 1.8 + 32"),
        (lambda v: v / 100, "value / 100"),
        (lambda v: v * 1000, "1000 times"),
    ],
)
def test_a_stretch_in_another_unit_is_found(change, words):
    frame = plant()
    frame.loc[202:285, "temp"] = change(frame.loc[202:285, "temp"]).round(3)
    findings = [f for f in found(frame) if f.column == "temp"]
    assert {f.kind for f in findings} == {"unit"}
    rows = np.concatenate([f.rows for f in findings])
    inside = (frame.index[rows] >= 202) & (frame.index[rows] <= 285)
    assert inside.mean() > 0.98
    assert inside.sum() >= 80
    if len(findings) == 1 and "its usual value" not in findings[0].words:
        assert words in findings[0].words


def test_slips_of_the_decimal_sign_are_found():
    frame = plant()
    frame.loc[[33, 200], "temp"] *= 10
    finding = only(frame, "temp", "unit")
    assert list(frame.index[finding.rows]) == [33, 200]
    assert "10 times" in finding.words


def test_what_cannot_be_is_found():
    frame = plant().assign(humidity=np.random.default_rng(3).uniform(20, 90, N).round(1))
    frame.loc[44, "humidity"] = 104.0
    assert list(frame.index[only(frame, "humidity", "impossible").rows]) == [44]
    frame = plant()
    frame.loc[[9, 10], "flow"] = [-48.0, -51.5]
    assert list(frame.index[only(frame, "flow", "impossible").rows]) == [9, 10]


def test_drift_is_found_and_named_by_the_day():
    frame = plant()
    frame["flow"] += 1.5 * np.arange(N) / 24
    finding = only(frame, "flow", "drift")
    assert "a day" in finding.words
    assert float(finding.words.split()[2]) == pytest.approx(1.5, rel=0.1)


def test_what_counts_does_not_drift():
    frame = plant().assign(batch=np.arange(N) // 2 + 20240001, energy=np.linspace(1e4, 2e4, N) ** 2)
    assert [f for f in look(frame, ["batch", "energy"]) if f.kind == "drift"] == []


def test_check_says_it_on_the_command_line(tmp_path, capsys):
    frame = plant()
    frame.loc[202:249, "size"] = 4.2
    frame.loc[[7, 90, 311], "flow"] = -999
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv"), "-t", "size"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("target 'size' is constant at 4.2 for ")
    assert lines[1].startswith("'flow' is -999 in 3 rows")
    assert main(["check", str(tmp_path / "t.csv"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    marks = next(f for f in facts["findings"] if f["kind"] == "sentinel")
    assert marks["line"] == ["7", "90", "311"]
    assert list(facts["kinds"]) == list(frame.columns)
    assert facts["kinds"]["flow"] == "number"
    assert facts["kinds"]["when"] == "date"
    assert facts["naming_rows"] == {"when": "is a date"}


# Episodes


def judged(change, rows, noise=0.5, seed=0):
    """Episodes of a target of which some rows were changed, judged by a perfect model."""
    rng = np.random.default_rng(seed)
    expected = 80 + 6 * rng.normal(size=N)
    observed = expected + rng.normal(0, noise, N)
    observed[rows] = change(observed[rows])
    flagged = np.abs(observed - expected) > 3 * noise
    order = order_of(plant())
    return episodes_of(observed, expected, np.array([noise]), flagged, order, ["size"])


WEEK = np.arange(200, 284)


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda v: (v - 32) / 1.8, "unit", "value / 1.8 - 17.8"),
        (lambda v: v / 10, "unit", "value / 10"),
        (lambda v: 1.05 * v, "shift", "+5 %"),
        (lambda v: v + 4 * (len(v) * 0 + 1), "shift", "shift of +"),
        (lambda v: v + 0.1 * np.arange(len(v)), "drift", "a day"),
        (lambda v: 0 * v + 41.2, "stuck", "constant at 41.2"),
        (lambda v: v[::-1] + 0.0, "unclear", "no simple pattern"),
    ],
)
def test_a_bad_week_is_one_episode_with_its_cause(change, kind, words):
    episodes = judged(change, WEEK)
    main_one = episodes[0]
    assert main_one.kind == kind
    assert words in main_one.words
    share = np.isin(WEEK, main_one.rows).mean()
    assert share > (0.75 if kind == "drift" else 0.9)
    assert np.isin(main_one.rows, WEEK).mean() > 0.9
    assert main_one.start_time.startswith("2024-01-")
    assert main_one.sentence.count(" h") + main_one.sentence.count(" days") == 1  # told once
    stretches = [e for e in episodes if e.kind != "spikes"]
    assert len(stretches) == 1


def test_a_large_shift_does_not_reach_to_the_next_spike():
    rng = np.random.default_rng(0)
    expected, noise = rng.normal(80, 6, N), rng.normal(0, 1, N)
    observed = expected + np.clip(noise, -2, 2)
    days = WEEK[:30]
    observed[days] = 1.8 * observed[days] + 32
    after = np.arange(days[-1] + 1, days[-1] + 29)
    observed[after] += 0.9  # models lean to the bad week
    observed[after[-1]] *= 10
    flagged = np.abs(observed - expected) > 3
    stretch, spike = episodes_of(
        observed, expected, np.array([1.0]), flagged, order_of(plant()), ["size"]
    )
    assert stretch.rows.tolist() == days.tolist()
    assert after[-1] in spike.rows


def test_a_shift_that_flags_no_row_is_found_by_its_side():
    rng = np.random.default_rng(0)
    expected, noise = rng.normal(80, 6, N), rng.normal(0, 1, N)
    observed = expected + np.clip(noise, -2, 2)
    observed[WEEK] += 0.9
    flagged = np.zeros(N, dtype=bool)
    (episode,) = episodes_of(
        observed, expected, np.array([1.0]), flagged, order_of(plant()), ["size"]
    )
    assert episode.kind == "shift"
    assert episode.n_flagged == 0
    assert np.isin(WEEK, episode.rows).mean() > 0.75
    assert np.isin(episode.rows, WEEK).mean() > 0.85


def test_scattered_rows_are_spikes_and_slips_are_counted():
    rows = np.array([5, 60, 130, 222, 400, 555])
    (episode,) = judged(lambda v: 10 * v, rows)
    assert episode.kind == "spikes"
    assert np.isin(rows, episode.rows).all()
    assert len(episode.rows) <= len(rows) + 3  # and what chance has put beyond three deviations
    assert "about 10 times the value: decimal sign?" in episode.words


@pytest.mark.parametrize("seed", range(5))
def test_nothing_wrong_is_no_episode(seed):
    assert [e for e in judged(lambda v: v, WEEK, seed=seed) if e.kind != "spikes"] == []


def test_residuals_that_resemble_their_neighbours_are_no_episodes():
    rng = np.random.default_rng(2)
    noise = np.zeros(N)
    for i in range(1, N):
        noise[i] = 0.8 * noise[i - 1] + rng.normal(0, 0.6)
    expected = rng.normal(80, 6, N)
    flagged = np.abs(noise) > 3
    episodes = episodes_of(
        expected + noise, expected, np.array([1.0]), flagged, order_of(plant()), ["size"]
    )
    assert [e for e in episodes if e.kind != "spikes"] == []


def test_rows_follow_each_other_in_time_and_not_in_the_file():
    shuffled = np.random.default_rng(4).permutation(N)
    frame = plant().iloc[shuffled]
    order = order_of(frame)
    assert order.column == "when"
    assert np.array_equal(order.rows, np.argsort(shuffled))
    assert order_of(frame.drop(columns="when")).moments is None


def test_causes_and_slips_of_a_few_rows():
    expected = np.linspace(10, 20, 30)
    cause = cause_of(expected + 3, expected, 0.1, np.arange(30.0), "a row")
    assert cause.words == "shift of +3"
    assert slips(np.array([5.0]), np.array([5.0]), 0.1) == ""


def test_slips_of_the_decimal_sign_are_told_from_errors_of_any_size():
    rng = np.random.default_rng(0)
    expected = rng.uniform(8, 80, 40)
    wrong = 10 * (expected + rng.normal(0, 2, 40))
    assert slips(wrong, expected, 2.0) == "all about 10 times the value: decimal sign?"
    wrong[20:] = expected[20:] + rng.normal(0, 30, 20)
    assert slips(wrong, expected, 2.0) == "20 of them about 10 times the value: decimal sign?"
    near_zero = rng.normal(0, 1.2, 5000)
    added = near_zero + rng.choice([-1, 1], 5000) * rng.uniform(1, 4, 5000)
    assert slips(added, near_zero, 0.1) == ""


# Columns that tell which row it is


def series(values, name):
    return pd.Series(values, name=name)


def test_clocks_counters_and_names_of_rows_are_told_from_measurements():
    rng = np.random.default_rng(0)
    irregular = np.cumsum(rng.uniform(0.1, 2, 200))
    told = {
        "counter": series(np.arange(200), "n"),
        "backwards": series(np.arange(200)[::-1], "n"),
        "even clock": series(np.arange(200) * 0.25, "x"),
        "clock": series(irregular, "elapsed time"),
        "date": series(pd.date_range("2024-01-01", periods=200).astype(str), "d"),
        "epoch": series(1_700_000_000 + 60 * np.arange(200), "timestamp"),
        "shuffled numbers": series(rng.permutation(200), "x"),
        "ids": series(rng.choice(10**6, 200, replace=False), "customer_id"),
    }
    for name, column in told.items():
        assert names_the_row(column) is not None, name
    kept = {
        "flow": series(rng.normal(size=200), "flow"),
        "sorted flow": series(np.sort(rng.normal(size=200)), "flow"),
        "unique whole": series(rng.choice(10**6, 200, replace=False), "area"),
        "logical": series(rng.random(200) < 0.5, "on"),
        "short": series(np.arange(20), "n"),
    }
    for name, column in kept.items():
        assert names_the_row(column) is None, name


def test_the_calendar_stays_where_it_helps_and_the_clock_never():
    rng = np.random.default_rng(0)
    n = 1200
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=n, freq="h"),
            "no": np.arange(n),
            "flow": rng.normal(size=n),
        }
    )
    plan = plan_columns(frame, list(frame.columns))
    daily = np.sin(2 * np.pi * np.arange(n) / 24)
    helped = without_row_names(frame, plan, daily + 0.1 * frame["flow"].to_numpy())
    assert helped.calendar == ("when",)
    assert helped.used == ("flow", "when")
    trend = without_row_names(frame, plan, frame["flow"].to_numpy() + 0.01 * np.arange(n))
    assert trend.used == ("flow",)
    assert "--keep-time" in trend.notes[-1]
    alone = plan_columns(frame, ["no"])
    assert without_row_names(frame, alone, daily) == alone


def test_parts_without_seconds_come_again():
    short = pd.DataFrame({"d": pd.date_range("2024-01-01", periods=40, freq="h")})
    assert DateParts(elapsed=False).fit_transform(short).shape == (40, 0)
    long = pd.DataFrame({"d": pd.date_range("2020-01-01", periods=900, freq="29h")})
    parts = DateParts(elapsed=False).fit(long)
    names = parts.get_feature_names_out().tolist()
    assert names == [f"d {p} {f}" for p in ("day", "week", "year") for f in ("sine", "cosine")]
    angle = 2 * np.pi * (long["d"] - pd.Timestamp("1970-01-01")).dt.total_seconds() / 31556952
    np.testing.assert_allclose(parts.transform(long)[:, 4], np.sin(angle), atol=1e-9)


@pytest.mark.parametrize(("end", "word"), [(0.0, "smallest"), (9.0, "largest")])
def test_a_heap_at_an_end_of_a_target_is_said_and_of_an_input_not(end, word):
    values = np.random.default_rng(0).uniform(1, 8, 200)
    values[::5] = end
    frame = pd.DataFrame({"dose": values, "flow": values})
    (heap,) = [each for each in look(frame, ["flow"], ["dose"]) if each.kind == "heap"]
    assert heap.column == "dose"
    assert f"is {end:g}, its {word}, in 40 of 200 rows" in heap.words
    np.testing.assert_array_equal(heap.rows, np.arange(0, 200, 5))
    # One in ten is a heap, fewer are not.
    values[::5] = np.where(np.arange(40) < 19, end, 5.0)
    assert not [f for f in look(pd.DataFrame({"dose": values}), [], ["dose"]) if f.kind == "heap"]
