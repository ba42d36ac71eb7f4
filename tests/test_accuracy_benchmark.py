"""The accuracy benchmark spoils as it says, counts as it says, and its page is its results."""

from __future__ import annotations

import hashlib
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
def laws(module):
    return module("accuracy.conditions")


@pytest.fixture
def sets(module):
    return module("accuracy.sets")


@pytest.fixture
def plan(module):
    return module("accuracy.plan")


def split(laws, n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 3, n), rng.normal(size=n), rng.uniform(size=n)])
    y = rng.uniform(size=n)
    return laws.Split(X.astype(float), y, X[:5], y[:5])


def spoiled(laws, data, condition, name="stock", seed=7):
    found = laws.spoiled(name, data, condition, seed)
    return found.y, found.wrong


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
def test_clustered_rows_are_half_of_a_window_of_one_input(laws, share, seed):
    data = split(laws, seed=seed)
    dirty, hit = laws.clustered(data.X, data.y, share, np.random.default_rng(seed))
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


def test_a_window_wider_than_the_set_is_the_set(laws):
    data = split(laws)
    _, hit = laws.clustered(data.X, data.y, 0.6, np.random.default_rng(0))
    assert hit.sum() == 240


def test_clustered_rows_fill_the_window_evenly(laws):
    data, inside = split(laws, n=2000), []
    for seed in range(20):
        _, hit = laws.clustered(data.X, data.y, 0.25, np.random.default_rng(seed))
        orders = (np.argsort(column, kind="stable") for column in data.X.T[1:])
        ranks = min((np.flatnonzero(hit[order]) for order in orders), key=np.ptp)
        inside.append(np.mean(ranks - ranks.min() < 500))
    assert np.mean(inside) == pytest.approx(0.5, abs=0.02)


def test_one_sided_adds_and_never_takes(laws):
    data = split(laws)
    dirty, hit = spoiled(laws, data, laws.Condition("one-sided", 0.25))
    shift = dirty - data.y
    assert hit.sum() == 100
    assert np.all(shift[~hit] == 0)
    assert np.all(shift[hit] > 0)
    assert shift.max() <= 0.5
    assert stats.kstest(shift[hit], stats.uniform(0, 0.5).cdf).pvalue > 0.01


@pytest.mark.parametrize(("name", "low", "high"), [("function", -0.2, 0.8), ("stock", 0.0, 1.0)])
def test_replaced_targets_come_from_the_range_of_the_set(laws, name, low, high):
    dirty, hit = spoiled(laws, split(laws, n=4000), laws.Condition("replace", 0.25), name)
    assert low <= dirty[hit].min() < low + 0.02
    assert high - 0.02 < dirty[hit].max() <= high


@pytest.mark.parametrize("count", [1, 5])
def test_gross_targets_are_a_million_times_too_large(laws, count):
    data = split(laws)
    plain, wrong = spoiled(laws, data, laws.Condition("add", 0.1))
    gross, more = spoiled(laws, data, laws.Condition("add", 0.1, gross=count))
    changed = plain != gross
    assert changed.sum() == count
    assert gross[changed] == pytest.approx(1e6 * plain[changed])
    assert np.array_equal(more, wrong | changed)


def test_the_same_split_is_spoiled_alike_for_every_method(laws):
    data = split(laws)
    for condition in laws.CONDITIONS + laws.HARD_CONDITIONS:
        one, two = (laws.spoiled("stock", data, condition, 3) for _ in range(2))
        assert np.array_equal(one.X, two.X)
        assert np.array_equal(one.y, two.y)
        assert one.wrong.mean() == pytest.approx(condition.share)


HARD = (
    "uneven noise",
    "proportional noise",
    "dependent",
    "swapped",
    "times ten",
    "stuck",
    "second process",
    "wrong inputs",
)


def test_hard_conditions_leave_right_rows_as_they_say(laws):
    assert tuple(each.law for each in laws.HARD_CONDITIONS) == HARD
    data = split(laws, n=4000)
    for condition in laws.HARD_CONDITIONS:
        found = laws.spoiled("stock", data, condition, 5)
        right = ~found.wrong
        assert right.sum() == round(4000 * (1 - condition.share))
        shift = found.y - data.y
        if condition.law.endswith("noise"):
            assert 0.02 < np.std(shift[right]) < 0.1
            assert np.std(shift[found.wrong]) > 0.25
        else:
            assert np.all(shift[right] == 0)
        if condition.law != "wrong inputs":
            assert found.X is data.X


def test_uneven_noise_grows_along_one_input(laws):
    data = split(laws, n=4000)
    found = laws.spoiled("stock", data, laws.Condition("uneven noise", 0.0), 5)
    size = np.abs(found.y - data.y)
    rising = [stats.spearmanr(column, size).statistic for column in data.X.T]
    assert max(rising) > 0.4


def test_dependent_rows_are_further_up_along_one_input(laws):
    data = split(laws, n=4000)
    dirty, wrong = spoiled(laws, data, laws.Condition("dependent", 0.25))
    assert (dirty - data.y)[wrong].min() > 0
    ahead = [column[wrong].mean() - column[~wrong].mean() for column in data.X.T[1:]]
    assert max(ahead) > 0.2


def test_swapped_targets_are_those_of_other_rows(laws):
    data = split(laws)
    dirty, wrong = spoiled(laws, data, laws.Condition("swapped", 0.25))
    assert np.array_equal(np.sort(dirty), np.sort(data.y))
    assert np.all(dirty[wrong] != data.y[wrong])


def test_wrong_units_stuck_values_and_a_second_process(laws):
    data = split(laws)
    dirty, wrong = spoiled(laws, data, laws.Condition("times ten", 0.1))
    assert dirty[wrong] == pytest.approx(10 * data.y[wrong])
    dirty, wrong = spoiled(laws, data, laws.Condition("stuck", 0.25))
    assert len(np.unique(dirty[wrong])) == 1
    assert dirty[wrong][0] in data.y
    dirty, wrong = spoiled(laws, data, laws.Condition("second process", 0.3))
    assert dirty[wrong] + data.y[wrong] == pytest.approx(data.y.min() + data.y.max())


def test_wrong_inputs_are_a_third_of_a_row_within_their_ranges(laws):
    data = split(laws)
    found = laws.spoiled("stock", data, laws.Condition("wrong inputs", 0.1), 7)
    changed = found.X != data.X
    assert np.array_equal(changed.any(axis=1), found.wrong)
    assert changed.sum(axis=1).max() == 1  # of three
    assert np.all(found.X.min(axis=0) >= data.X.min(axis=0))
    assert np.all(found.X.max(axis=0) <= data.X.max(axis=0))


def test_draws_for_trying_out_are_none_of_those_on_the_page(plan):
    reporting, trying = (set(plan.seeds_of(1000, development=d)) for d in (False, True))
    assert not reporting & trying
    assert plan.TUNING_SEED not in reporting | trying
    assert min(reporting) >= 3000
    with pytest.raises(ValueError, match="there are 1000 draws, not 1001"):
        plan.seeds_of(1001, development=False)


def test_results_of_draws_for_trying_out_stay_out_of_the_committed_ones(module, monkeypatch):
    command = module("accuracy.command")
    for option in ("--development", "--quick"):
        monkeypatch.setattr("sys.argv", ["accuracy", option])
        chosen = command.parsed()
        assert chosen.development
        assert command.OUT in chosen.out.parents
        assert command.OUT in chosen.docs.parents
        assert command.OUT in chosen.cells.parents


def test_every_hard_condition_is_met_on_five_sets(plan, sets, laws):
    assert list(plan.MEETS) == [*plan.ALL_CONDITIONS_ON, *plan.FEW_CONDITIONS_ON]
    assert set(plan.MEETS) == set(plan.SHAPES) == set(sets.SETS)
    assert len(sets.SETS) >= 16
    for condition in laws.HARD_CONDITIONS:
        assert sum(condition in met for met in plan.MEETS.values()) == 5
    assert sum(inputs >= 20 for _, inputs in plan.SHAPES.values()) >= 2
    assert len(plan.TREE_FRIENDLY) >= 5


def test_another_file_is_refused_in_a_clear_line(module, monkeypatch, tmp_path):
    tables = module("accuracy.tables")
    (tmp_path / "a_table" / "data").mkdir(parents=True)
    (tmp_path / "a_table" / "__init__.py").touch()
    path = tmp_path / "a_table" / "data" / "rows.csv"
    path.write_text("a,b\n1,2\n3,5\n4,9\n")
    monkeypatch.syspath_prepend(tmp_path)
    file = tables.File("a-table", "rows.csv", hashlib.sha256(path.read_bytes()).hexdigest()[:16])
    X, y = tables.Table((file,), tables._last_column(","), 3, 1).load()
    assert X.tolist() == [[1], [3], [4]]
    assert (y.min(), y.max()) == pytest.approx((0, 1))
    with pytest.raises(ValueError, match="gave 3 rows of 1 inputs, not 4 of 1"):
        tables.Table((file,), tables._last_column(","), 4, 1).load()
    path.write_text("a,b\n1,2\n3,5\n4,8\n")
    with pytest.raises(ValueError, match=r"rows\.csv of a-table is another file than the results"):
        file.located()
    with pytest.raises(FileNotFoundError, match="pip install --no-deps no-such-table"):
        tables.File("no-such-table", "rows.csv", "").located()


def test_training_rows_and_inputs_are_as_the_page_says(plan, sets):
    for name in ("function", "grinding"):  # the others need files
        assert sets.SETS[name](1999).X.shape == plan.SHAPES[name]


def test_intervals_are_the_outer_ends_of_students_and_the_bootstraps(module):
    paired = module("accuracy.statistics").paired
    rng = np.random.default_rng(0)
    peer, ours = rng.normal(1.0, 0.3, 10), rng.normal(0.8, 0.3, 10)
    found = paired(list(peer), list(ours))
    student = stats.ttest_rel(peer, ours).confidence_interval(0.95)
    resampled = stats.bootstrap((peer - ours,), np.mean, method="percentile", rng=0)
    ends = resampled.confidence_interval
    assert found.low == pytest.approx(min(student.low, ends.low), abs=0.01)
    assert found.high == pytest.approx(max(student.high, ends.high), abs=0.01)
    assert found.low <= student.low
    assert found.high >= student.high
    assert found.mean == pytest.approx(np.mean(peer - ours))
    assert paired([*peer, None], [*ours, 5.0]) == found
    assert paired([0.2], [0.1]).verdict == "not told apart"


def test_verdicts_say_who_is_ahead(module):
    statistics = module("accuracy.statistics")
    ours = [0.1, 0.11, 0.12, 0.1, 0.11]
    assert statistics.paired([v + 0.05 for v in ours], ours).verdict == "ahead"
    assert statistics.paired([v - 0.05 for v in ours], ours).verdict == "behind"
    assert statistics.paired([0.2, 0.01, 0.2, 0.01, 0.1], ours).verdict == "not told apart"


def test_ranks_and_the_critical_difference_are_those_of_the_book(module):
    """Demsar's five classifiers: q is 2.728 for five methods."""
    rng = np.random.default_rng(0)
    errors = rng.uniform(size=(12, 5)) + np.arange(5)
    found = module("accuracy.statistics").average_ranks(errors)
    assert found["critical"] == pytest.approx(2.728 * np.sqrt(5 * 6 / (6 * 12)), rel=1e-3)
    assert found["ranks"] == pytest.approx(stats.rankdata(errors, axis=1).mean(axis=0))
    assert found["p"] == pytest.approx(stats.friedmanchisquare(*errors.T).pvalue)


def test_the_front_holds_those_that_none_beats_in_both(module):
    pareto = module("accuracy.pictures").pareto
    assert pareto([1.0, 2.0, 3.0, 0.5], [0.4, 0.5, 0.1, 0.9]) == [3, 0, 2]


RIVALS = ("SVR", "CleanLearning", "MLP", "XGBoost")
CONDITIONS = ("add 0%", "add 10%", "add 25%")
NOT_RUN = ("stock", "SVR", "add 25%")


@pytest.fixture
def report(module):
    """A report of random numbers, some of them missing."""
    names, summary = module("accuracy.names"), module("accuracy.summary").summary
    rng = np.random.default_rng(1)
    cells = []
    for name in ("stock", "laser"):
        for method in (*RIVALS, names.OURS, names.ORACLE, names.UNWEIGHTED, names.RANKING):
            for condition in CONDITIONS:
                if method == names.ORACLE and condition == "add 0%":
                    continue
                if method == names.UNWEIGHTED and condition != "add 0%":
                    continue
                if (name, method, condition) == NOT_RUN:
                    continue
                draws = rng.uniform(0.01, 0.05, (3, 4)).tolist()
                if (name, method, condition) == ("laser", "MLP", "add 10%"):
                    draws[0][2] = draws[1][2] = None
                cell = dict(zip(("rmse", "seconds", "average_precision"), draws, strict=True))
                made = {"set": name, "method": method, "condition": condition, "by": "numpy 2"}
                cells.append(made | cell)
    return {
        "first_seed": 3000,
        "looks": ["a version"],
        "tuning_seed": 1999,
        "configurations": 15,
        "machine": "a machine",
        "timing": {"seconds": {"1,000 x 15": 1.5, "20,000 x 20": 70.0}},
        "cells": cells,
        "summary": module("accuracy.grid").rounded(summary(cells)),
    }


def errors_of(report, name, method, condition):
    """Return the errors of a cell; where it was not run, of none."""
    if (name, method, condition) == NOT_RUN:
        return np.full(4, np.nan)
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
            if (at[0], rival, at[1]) == NOT_RUN:
                continue
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
    assert len(report["summary"]["duels"]) == 2 * len(CONDITIONS) * len(RIVALS) - 1
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
    losses = page.split("## Losses")[1].split("\n## ")[0]
    for contest in report["summary"]["contests"]:
        row = f"| {contest['set']}, {contest['condition']}: {contest['best_peer']} |"
        assert (row in losses) != contest["won"]
    (header,) = (line for line in page.splitlines() if line.startswith("| stock | add"))
    rows = page.split(header)[1].split("\n\n")[0]
    assert rows.count("**") == 2 * len(CONDITIONS)
    assert page.index("## Losses") < page.index("## Ahead") < page.index("## Targets")
    module("accuracy.pictures").draw_all(report, tmp_path)
    for name in ("accuracy.png", "accuracy_ranks.png", "accuracy_time.png"):
        assert (tmp_path / name).stat().st_size > 10_000


def test_what_was_not_run_is_shown_plainly(module, report):
    page = module("accuracy.page").page(report)
    name, rival, condition = NOT_RUN
    errors = page.split("## Error")[1]
    (header,) = (line for line in errors.splitlines() if line.startswith(f"| {name} | add"))
    column = [part.strip() for part in header.split("|")].index(condition)
    rows = errors.split(header)[1].split("\n\n")[0].splitlines()
    (row,) = (line for line in rows if line.startswith(f"| {rival} |"))
    assert row.split("|")[column].strip() == "not run"


def test_a_method_run_in_few_cells_is_not_ranked(module, report):
    grid, insights = module("accuracy.grid"), module("accuracy.insights")
    few = [c for c in report["cells"] if c["method"] != "MLP" or c["condition"] == "add 0%"]
    assert NOT_RUN[1] not in report["summary"]["over_all"]["methods"]
    assert "MLP" in report["summary"]["over_all"]["methods"]
    assert insights.over_all(grid.Cells(few))["methods"] == [
        "RobustSCN",
        "CleanLearning",
        "XGBoost",
    ]


def test_learner_or_judge_is_told_by_the_oracle(report):
    weakest = {each["set"]: each for each in report["summary"]["weakest"]}
    for name in ("stock", "laser"):
        product = 1.0
        for condition in CONDITIONS[1:]:
            (contest,) = (
                c
                for c in report["summary"]["contests"]
                if (c["set"], c["condition"]) == (name, condition)
            )
            oracle = errors_of(report, name, "RobustSCN oracle", condition)
            peer = errors_of(report, name, contest["best_peer"], condition)
            shared = ~np.isnan(peer)
            product *= oracle[shared].mean() / peer[shared].mean()
        assert weakest[name]["oracle"] == pytest.approx(np.sqrt(product), rel=1e-3)


def test_robust_trees_are_held_against_the_best_of_their_robust_losses(module):
    grid, insights = module("accuracy.grid"), module("accuracy.insights")
    errors = {
        "RobustRegressor, LightGBM": 0.11,
        "LightGBM, absolute": 0.2,
        "LightGBM, Huber": 0.1,
        "LightGBM, squared": 0.1,
    }
    cells = [
        {"set": "stock", "method": m, "condition": c, "rmse": [e], "seconds": [1.0]}
        for m, e in errors.items()
        for c in ("add 0%", "add 25%")
    ]
    found = insights.trees(grid.Cells(cells))["RobustRegressor, LightGBM"]
    assert found["dirty"] == {"stock, add 25%": pytest.approx(1.1)}
    assert found["clean"] == {"stock": pytest.approx(1.1)}


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
    summary = module("accuracy.summary").summary(committed["cells"])
    assert module("accuracy.grid").rounded(summary) == committed["summary"]


def test_committed_results_are_of_draws_that_are_counted(plan, committed):
    assert committed["first_seed"] == plan.REPORTING[0]
    assert committed["configurations"] >= 15
    looks = BENCHMARKS / "results" / "accuracy_looks.json"
    assert committed["looks"] == json.loads(looks.read_text())
    planned = {(s, c.name) for s, met in plan.MEETS.items() for c in met}
    for cell in committed["cells"]:
        if cell["method"] == "RobustSCN":
            assert cell["by"].removeprefix("robustscn ") in committed["looks"]
        if cell["method"] in committed["summary"]["standing"]["RobustSCN"]["peers"]:
            assert (cell["set"], cell["condition"]) in planned
            assert len(cell["rmse"]) >= 3
