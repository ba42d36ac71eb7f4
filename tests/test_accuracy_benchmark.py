"""The accuracy benchmark spoils as it says, counts as it says, and its page is its results."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

pytestmark = pytest.mark.evidence

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


@pytest.fixture
def sets(module):
    return module("accuracy.sets")


def split(sets, n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 3, n), rng.normal(size=n), rng.uniform(size=n)])
    y = rng.uniform(size=n)
    return sets.Split(X.astype(float), y, X[:5], y[:5])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
def test_clustered_rows_are_half_of_a_window_of_one_input(sets, share, seed):
    data = split(sets, seed=seed)
    dirty, hit = sets.clustered(data.X, data.y, share, np.random.default_rng(seed))
    count = round(share * len(data.y))
    assert hit.sum() == count
    assert np.array_equal(dirty[~hit], data.y[~hit])
    shift = dirty[hit] - data.y[hit]
    assert np.abs(shift).max() <= 0.5
    assert shift.min() < 0 < shift.max()
    # The first input has three values only: it has no region.
    spans = []
    for column in data.X.T[1:]:
        ranks = np.flatnonzero(hit[np.argsort(column, kind="stable")])
        spans.append(ranks.max() - ranks.min() + 1)
    assert count < min(spans) <= 2 * count


def test_a_window_wider_than_the_set_is_the_set(sets):
    data = split(sets)
    _, hit = sets.clustered(data.X, data.y, 0.6, np.random.default_rng(0))
    assert hit.sum() == 240


def test_clustered_rows_fill_the_window_evenly(sets):
    data, inside = split(sets, n=2000), []
    for seed in range(20):
        _, hit = sets.clustered(data.X, data.y, 0.25, np.random.default_rng(seed))
        orders = (np.argsort(column, kind="stable") for column in data.X.T[1:])
        ranks = min((np.flatnonzero(hit[order]) for order in orders), key=np.ptp)
        inside.append(np.mean(ranks - ranks.min() < 500))
    assert np.mean(inside) == pytest.approx(0.5, abs=0.02)


def test_one_sided_adds_and_never_takes(sets):
    data = split(sets)
    dirty, hit = sets.spoiled("stock", data, sets.Condition("one-sided", 0.25), 7)
    shift = dirty - data.y
    assert hit.sum() == 100
    assert np.all(shift[~hit] == 0)
    assert np.all(shift[hit] > 0)
    assert shift.max() <= 0.5
    assert stats.kstest(shift[hit], stats.uniform(0, 0.5).cdf).pvalue > 0.01


@pytest.mark.parametrize(("name", "low", "high"), [("function", -0.2, 0.8), ("stock", 0.0, 1.0)])
def test_replaced_targets_come_from_the_range_of_the_set(sets, name, low, high):
    dirty, hit = sets.spoiled(name, split(sets, n=4000), sets.Condition("replace", 0.25), 7)
    assert low <= dirty[hit].min() < low + 0.02
    assert high - 0.02 < dirty[hit].max() <= high


@pytest.mark.parametrize("count", [1, 5])
def test_gross_targets_are_a_million_times_too_large(sets, count):
    data = split(sets)
    plain, wrong = sets.spoiled("stock", data, sets.Condition("add", 0.1), 7)
    gross, more = sets.spoiled("stock", data, sets.Condition("add", 0.1, gross=count), 7)
    changed = plain != gross
    assert changed.sum() == count
    assert gross[changed] == pytest.approx(1e6 * plain[changed])
    assert np.array_equal(more, wrong | changed)


def test_the_same_split_is_spoiled_alike_for_every_method(sets):
    data = split(sets)
    for condition in sets.CONDITIONS:
        one, two = (sets.spoiled("stock", data, condition, 3) for _ in range(2))
        assert np.array_equal(one[0], two[0])
        assert one[1].mean() == pytest.approx(condition.share)


def test_paired_interval_is_that_of_scipy(module):
    paired = module("accuracy.summary").paired
    rng = np.random.default_rng(0)
    peer, ours = rng.normal(1.0, 0.3, 10), rng.normal(0.8, 0.3, 10)
    found = paired(list(peer), list(ours))
    expected = stats.ttest_rel(peer, ours).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.mean == pytest.approx(np.mean(peer - ours))
    assert paired([*peer, None], [*ours, 5.0]) == found


RIVALS = ("SVR", "CleanLearning", "MLP")
CONDITIONS = ("add 0%", "add 10%", "add 25%")


@pytest.fixture
def report(module):
    """A report of random numbers, some of them missing."""
    summary = module("accuracy.summary")
    rng = np.random.default_rng(1)
    cells = []
    for name in ("stock", "laser"):
        for method in (*RIVALS, summary.OURS, summary.ORACLE, summary.UNWEIGHTED, summary.RANKING):
            for condition in CONDITIONS:
                if method == summary.ORACLE and condition == "add 0%":
                    continue
                if method == summary.UNWEIGHTED and condition != "add 0%":
                    continue
                draws = rng.uniform(0.01, 0.05, (3, 4)).tolist()
                if (name, method, condition) == ("laser", "MLP", "add 10%"):
                    draws[0][2] = draws[1][2] = None
                cell = dict(zip(("rmse", "seconds", "average_precision"), draws, strict=True))
                cells.append({"set": name, "method": method, "condition": condition, **cell})
    return {
        "seeds": [2000, 2001, 2002, 2003],
        "fewer_splits": 3,
        "tuning_seed": 1999,
        "configurations": 15,
        "machine": "a machine",
        "versions": {"numpy": "2"},
        "timing": {"seconds": {"1,000 x 15": 1.5, "20,000 x 20": 70.0}},
        "cells": cells,
        "summary": summary.rounded(summary.summary(cells)),
    }


def errors_of(report, name, method, condition):
    (cell,) = (
        c
        for c in report["cells"]
        if (c["set"], c["method"], c["condition"]) == (name, method, condition)
    )
    return np.array([np.nan if v is None else v for v in cell["rmse"]])


def test_wins_are_those_of_a_literal_loop(report):
    won = 0
    for contest in report["summary"]["contests"]:
        at = contest["set"], contest["condition"]
        ours = np.nanmean(errors_of(report, at[0], "RobustSCN", at[1]))
        better = True
        for rival in RIVALS:
            if np.nanmean(errors_of(report, at[0], rival, at[1])) <= ours:
                better = False
        assert contest["won"] == better
        won += better
    assert len(report["summary"]["contests"]) == 2 * len(CONDITIONS)
    assert 0 < won < 6  # or the loop above has told nothing apart


def test_differences_are_peer_minus_ours_split_by_split(report):
    for duel in report["summary"]["duels"]:
        peer = errors_of(report, duel["set"], duel["peer"], duel["condition"])
        ours = errors_of(report, duel["set"], "RobustSCN", duel["condition"])
        assert duel["mean"] == pytest.approx(np.nanmean(peer - ours), rel=1e-4)
    assert len(report["summary"]["duels"]) == 2 * len(CONDITIONS) * len(RIVALS)
    assert report["summary"]["failed_fits"] == {"MLP": 1}


def test_targets_say_no_where_they_are_missed(module, report):
    targets = module("accuracy.targets").targets
    by_words = {target.asked: target.met for target in targets(report)}
    fits = {words.split()[4]: met for words, met in by_words.items() if "default fit" in words}
    assert fits == {"1,000": True, "20,000": False}
    ratios = report["summary"]["ratios"]["to_oracle"]["add 10%"]
    for values, met in (((1.0, 1.09), True), ((0.9, 1.16), False), ((1.06, 1.06), False)):
        ratios.update(zip(ratios, values, strict=True))
        (found,) = (t.met for t in targets(report) if "oracle's, `add` 10%" in t.asked)
        assert found is met


def test_the_page_names_every_loss_and_marks_the_best(module, report, tmp_path):
    maker = module("accuracy.page")
    page = maker.page(report)
    losses = page.split("## Losses")[1].split("## Against itself")[0]
    for contest in report["summary"]["contests"]:
        row = f"| {contest['set']}, {contest['condition']}: {contest['best_peer']} |"
        assert (row in losses) != contest["won"]
    (header,) = (line for line in page.splitlines() if line.startswith("| stock | add"))
    rows = page.split(header)[1].split("\n\n")[0]
    assert rows.count("**") == 2 * len(CONDITIONS)
    maker.plot(report, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_names_are_chosen_by_their_beginnings(module):
    chosen = module("accuracy.command").chosen
    names = ("RobustSCN", "RobustSCN oracle", "SVR")
    assert chosen(names, None) == list(names)
    assert chosen(names, "robust") == ["RobustSCN", "RobustSCN oracle"]
    with pytest.raises(SystemExit, match="starts none of"):
        chosen(names, "SVR,Ridge")


@pytest.fixture
def committed():
    return json.loads((BENCHMARKS / "results" / "accuracy.json").read_text())


def test_the_committed_page_is_made_from_the_committed_results(module, committed):
    assert module("accuracy.page").page(committed) == (ROOT / "docs" / "accuracy.md").read_text()
    assert (ROOT / "docs" / "accuracy.png").exists()


def test_the_committed_summary_is_that_of_the_committed_cells(module, committed):
    summary = module("accuracy.summary")
    assert summary.rounded(summary.summary(committed["cells"])) == committed["summary"]


def test_committed_results_are_of_ten_splits_not_seen_before(sets, committed):
    assert len(committed["seeds"]) >= 10
    assert min(committed["seeds"]) >= 3000
    assert committed["configurations"] >= 15
    assert list(committed["summary"]["rmse"]) == list(sets.SETS)
    for cell in committed["cells"]:
        fewer = cell["set"] in sets.LARGE_SETS or cell["method"] == "CleanLearning"
        assert len(cell["rmse"]) == (committed["fewer_splits"] if fewer else 10)
