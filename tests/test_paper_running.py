"""The paper's experiments as units of work: pure, stored whole, gone on with."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import KFold

from paper_plan import SMALL, TINY, hidden, quiet, stored, without_seconds
from robustscn import RSCKDERegressor, atomic
from robustscn.paper import units
from robustscn.paper.draws import FIRST_SEED, drawn
from robustscn.paper.runner import (
    Plan,
    cost,
    execute,
    favourite_cells,
    honest_cell,
    ready_units,
    shown_cells,
)
from robustscn.paper.settings import (
    FUNCTION,
    GRINDING,
    KEEL,
    LEVELS,
    PILOT_TRIALS,
    ROUND_LEVELS,
    ROUND_SIZES,
    ROUNDS,
    TABLE_LEVELS,
    TASKS,
    Experiment,
    Try,
    experiments,
    narrowed,
    quick,
    rsc_kde,
)
from robustscn.paper.store import Store, write_text
from robustscn.paper.units import (
    BASELINES,
    HONEST,
    ON_TEST,
    SECONDS,
    Unit,
    cell_name,
    cell_of,
    grid,
    run,
)

pytestmark = pytest.mark.evidence

PAGE = Path(__file__).parents[1] / "docs" / "reproduction"
needs_keel = pytest.mark.skipif(
    "ROBUSTSCN_DATA" not in os.environ, reason="ROBUSTSCN_DATA names no folder of KEEL files"
)


def test_unit_is_a_pure_function_of_its_fields():
    unit = Unit(TINY.experiments[0], 0.10, "layers", (3, 0), rho=0.01)
    together = without_seconds(run(unit))
    alone = without_seconds(run(replace(unit, trials=(0,))) + run(replace(unit, trials=(3,))))
    assert together == alone[::-1]
    assert [(t["trial"], t["data_seed"], t["network_seed"]) for t in together] == [
        (3, FIRST_SEED + 3, 3),
        (0, FIRST_SEED, 0),
    ]
    assert set(together[0]["rmse"]) == {cell_name(cell) for cell in grid(TINY.experiments[0])}
    assert together[0]["rmse"] != together[1]["rmse"]


def test_unit_is_the_same_in_another_process():
    code = (
        "import json; from robustscn.paper.settings import GRINDING, Experiment; "
        "from robustscn.paper.units import Unit, run; "
        "cells = (('PRNNRW', 0.5, 30), ('Improved RVFL', 5.0, 10)); "
        "print(json.dumps(run(Unit(Experiment(GRINDING), 0.3, 'layers', (2,), 1.0, cells))))"
    )
    there = json.loads(subprocess.check_output([sys.executable, "-c", code], text=True))
    cells = (("PRNNRW", 0.5, 30), ("Improved RVFL", 5.0, 10))
    here = run(Unit(Experiment(GRINDING), 0.3, "layers", (2,), 1.0, cells))
    assert without_seconds(there) == without_seconds(here)
    assert list(here[0]["rmse"]) == ["PRNNRW | 0.5 | 30", "Improved RVFL | 5 | 10"]


def test_cells_of_a_unit_do_not_change_their_errors():
    """A cell has the same error alone as in the whole grid: nodes are a prefix of one draw."""
    whole = Unit(TINY.experiments[0], 0.10, "layers", (1,), rho=0.01)
    everything = run(whole)[0]["rmse"]
    for cell in grid(TINY.experiments[0]):
        if cell[2] == 20:  # the largest: of the same factorisation
            alone = run(replace(whole, cells=(cell,)))[0]["rmse"]
            assert alone == {cell_name(cell): everything[cell_name(cell)]}


def test_choice_is_cross_validation_on_the_dirty_rows_only():
    (choice,) = run(Unit(TINY.experiments[0], 0.20, "choice", (0,)))
    data = drawn(TINY.experiments[0], 0.20, 0)
    # The mean absolute error of predicting the spoilt targets, hence no smaller than their noise.
    floor = np.abs(data.y[data.wrong]).mean() * 0.2 / 4
    assert all(floor < loss < 1 for loss in choice["loss"].values())
    errors = []
    for train, left_out in KFold(3, shuffle=True, random_state=0).split(data.X):
        H, H_out = (hidden(data.X[part], 0, 30.0, 20) for part in (train, left_out))
        beta = np.linalg.lstsq(H, data.y[train], rcond=2e-13)[0]
        errors.append(np.abs(data.y[left_out] - H_out @ beta).mean())
    assert choice["loss"]["RVFL | 30 | 20"] == pytest.approx(np.mean(errors), rel=1e-6)
    assert set(choice["loss"]) == {cell_name(cell) for cell in grid(TINY.experiments[0])}


def test_oracle_is_the_same_network_without_the_wrong_rows():
    experiment = Experiment(GRINDING)
    (trial,) = run(Unit(experiment, 0.25, "rsc-kde", (1,)))
    data = drawn(experiment, 0.25, 1)
    # Rounds in which all rows are believed are fits of their own, of which the best is kept.
    right, errors = ~data.wrong, []
    model = RSCKDERegressor(**rsc_kde(GRINDING) | {"warm_start": True, "random_state": 1})
    rows = {"X_val": data.X_val, "y_val": data.y_val}
    for n_rounds in range(1, rsc_kde(GRINDING)["n_rounds"] + 1):
        model._last_round = n_rounds - 1, np.ones(right.sum())
        model.set_params(n_rounds=n_rounds).fit(data.X[right], data.y[right], **rows)
        validation = np.mean((model.predict(data.X_val) - data.y_val) ** 2)
        errors.append((validation, data.rmse(model.predict(data.X_test))))
    assert len({error for _, error in errors}) == len(errors), "each round draws its own nodes"
    error = min(errors)[1]
    assert trial["rmse"]["oracle"] == pytest.approx(error, rel=1e-12)
    assert trial["rmse"]["RSC-KDE"] > trial["rmse"]["oracle"]


def test_chosen_on_the_test_rows_is_the_lowest_error_that_they_ever_saw():
    """Nodes and round are picked by the very rows that give the error: hence not our result."""
    experiment = Experiment(GRINDING)
    (trial,) = run(Unit(experiment, 0.25, "literal", (2,)))
    data = drawn(experiment, 0.25, 2)
    X, y = np.vstack([data.X_val, data.X_test]), np.append(data.y_val, data.y_test)
    model = RSCKDERegressor(**rsc_kde(GRINDING, literal=True), random_state=2)
    model.fit(data.X, data.y, X_val=X, y_val=y)
    assert trial["rmse"][ON_TEST] == pytest.approx(model.validation_path_.min(), rel=1e-6)
    model.fit(data.X, data.y, X_val=data.X_val, y_val=data.y_val)
    assert trial["rmse"][HONEST] == data.rmse(model.predict(data.X_test))


def test_rows_that_choose_are_not_tested_unless_all_of_them_choose(monkeypatch):
    few = {"max_nodes": 6, "n_rounds": 2, "scopes": (0.5, 1.0)}
    tries = {"quarter": Try(few, 0.25), "all": Try(few), "right": Try(few, right_only=True)}
    monkeypatch.setattr(units, "treasury_tries", lambda: tries)
    experiment = Experiment(GRINDING)
    (trial,) = run(Unit(experiment, 0.25, "treasury", (0,)))
    data = drawn(experiment, 0.25, 0)
    X, y = data.unseen
    for name, rows, chosen, tested in (
        ("quarter", slice(None), slice(0, 150), slice(150, 600)),
        ("all", slice(None), slice(0, 600), slice(0, 600)),
        ("right", ~data.wrong, slice(0, 600), slice(0, 600)),
    ):
        model = RSCKDERegressor(**few, random_state=0)
        model.fit(data.X[rows], data.y[rows], X_val=X[chosen], y_val=y[chosen])
        error = np.sqrt(np.mean((model.predict(X[tested]) - y[tested]) ** 2))
        assert trial["rmse"][name] == pytest.approx(error, rel=1e-12)


def test_rounds_are_those_of_shorter_fits():
    """Table 5 takes twelve rounds once; its third is what a fit of three rounds ends with."""
    experiment = Experiment(GRINDING)
    data = drawn(experiment, 0.10, 0)
    settings = {"max_nodes": 10, "scopes": (0.5, 1.0), "random_state": 0}
    errors = units._errors_after((1, 3, 4), RSCKDERegressor(**settings), data)
    for rounds, error in zip((1, 3, 4), errors, strict=True):
        shorter = RSCKDERegressor(n_rounds=rounds, **settings).fit(data.X, data.y)
        assert error == data.rmse(shorter.predict(data.X_test))


@pytest.fixture(scope="module")
def thirty(table_5):
    """One trial of Table 5 at 30 % outliers, as the command line stored it."""
    store = Store(table_5[0] / "cells")
    (trial,) = store.trials(Experiment(GRINDING), 0.30, "rounds").values()
    return trial["rmse"]


def test_rounds_fill_table_5(thirty):
    assert set(thirty) == {f"{rounds} | {size}" for rounds in ROUNDS for size in ROUND_SIZES}


def test_a_cell_of_table_5_is_a_fit_of_its_own(thirty):
    """As many rounds as it says, no validation rows, no ridge; the scopes are either."""
    data = drawn(Experiment(GRINDING), 0.30, 0)
    errors = []
    for literal in (True, False):
        settings = rsc_kde(GRINDING, literal=literal)
        settings |= {"ridge": 0.0, "max_nodes": 10, "n_rounds": 3, "random_state": 0}
        model = RSCKDERegressor(**settings).fit(data.X, data.y)
        errors.append(data.rmse(model.predict(data.X_test)))
    assert thirty["3 | 10"] in errors


def test_networks_of_table_5_have_as_many_nodes_as_it_says(thirty):
    """A search that gives up early makes the columns of larger networks copies of each other."""
    for rounds in ROUNDS:
        errors = [thirty[f"{rounds} | {size}"] for size in ROUND_SIZES]
        assert len(set(errors)) == len(errors)


# --- store -----------------------------------------------------------------------------------


def test_killed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "result.json"
    write_text(path, "old")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in path.parent.iterdir()] == ["result.json"]


def test_store_keeps_trials_and_reads_them_again(tmp_path):
    experiment = TINY.experiments[0]
    store = Store(tmp_path)
    assert store.trials(experiment, 0.15, "ours") == {}
    store.add(experiment, 0.15, "ours", [{"trial": 3, "x": 0.1 + 0.2}, {"trial": 1, "x": 1.0}])
    store.add(experiment, 0.15, "ours", [{"trial": 0, "x": 5.0}])
    store.add(experiment, 0.05, "ours", [{"trial": 0, "x": 6.0}])
    again = Store(tmp_path)
    assert again.trials(experiment, 15 / 100, "ours")[3]["x"] == 0.1 + 0.2
    assert sorted(again.trials(experiment, 0.15, "ours")) == [0, 1, 3]
    assert {p.name for p in tmp_path.iterdir()} == {
        "function-add-redrawn-15-ours.json",
        "function-add-redrawn-05-ours.json",
    }


def test_every_level_has_its_own_file(tmp_path):
    store, experiment = Store(tmp_path), TINY.experiments[0]
    for percent in range(100):
        store.add(experiment, percent / 100, "ours", [{"trial": 0, "percent": percent}])
    for percent in range(100):
        (trial,) = Store(tmp_path).trials(experiment, percent / 100, "ours").values()
        assert trial["percent"] == percent


# --- runner ----------------------------------------------------------------------------------


def test_baselines_go_in_three_steps(in_one_go):
    folder, told = in_one_go
    store, experiment = Store(folder), TINY.experiments[0]
    everything = {cell_name(cell) for cell in grid(experiment)}
    for level in experiment.levels:
        done = store.trials(experiment, level, "layers")
        assert sorted(done) == list(range(7))
        for number in range(PILOT_TRIALS):
            assert set(done[number]["rmse"]) == everything
        shown = {cell_name(cell) for cell in shown_cells(store, experiment, level)}
        assert shown < everything
        for number in range(PILOT_TRIALS, 7):
            assert set(done[number]["rmse"]) == shown
    assert sorted(store.trials(experiment, 0.10, "choice")) == [0]
    assert not store.trials(experiment, 0.20, "choice"), "0.20 takes the choice made at 0.10"
    done, total, _ = told[-1]
    assert done == total == cost(TINY, store)[1]
    assert [what[0] for what in told] == sorted(what[0] for what in told)


def test_cells_that_are_shown(in_one_go):
    store, experiment, level = Store(in_one_go[0]), TINY.experiments[0], 0.20
    done = store.trials(experiment, level, "layers")
    mean = {
        cell: np.mean([done[k]["rmse"][cell_name(cell)] for k in range(PILOT_TRIALS)])
        for cell in grid(experiment)
    }
    losses = store.trials(experiment, 0.10, "choice")[0]["loss"]
    shown = set(shown_cells(store, experiment, level))
    for method in BASELINES:
        favourites = favourite_cells(store, experiment, level, method)
        for scope in SMALL.scopes:
            sizes = [(method, scope, size) for size in SMALL.sizes]
            assert favourites[scope] == min(sizes, key=mean.__getitem__)
            assert (method, scope, SMALL.figure_size) in shown
        assert set(favourites.values()) <= shown
        cells = [cell for cell in grid(experiment) if cell[0] == method]
        honest = honest_cell(store, experiment, level, method)
        assert honest == min(cells, key=lambda cell: losses[cell_name(cell)])
        assert honest in shown


def test_any_number_of_jobs_gives_the_same_files(in_one_go, tmp_path):
    execute(TINY, Store(tmp_path), 2, quiet)
    assert stored(tmp_path) == stored(in_one_go[0])


@pytest.mark.hostile
def test_interrupted_run_goes_on_where_it_was(in_one_go, tmp_path):
    calls = 0

    def interrupt(*_):
        nonlocal calls
        calls += 1
        if calls == 3:  # the choice is done, and the first trials of one level
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(TINY, Store(tmp_path), 1, interrupt)
    half = stored(tmp_path)
    whole = stored(in_one_go[0])
    assert set(half) < set(whole)
    for path in tmp_path.glob("*.json"):  # what is done bears a mark, which running it would lose
        record = json.loads(path.read_text())
        for trial in record["trials"]:
            trial["mark"] = True
        path.write_text(json.dumps(record))
    execute(TINY, Store(tmp_path), 1, quiet)
    finished = stored(tmp_path)
    for name, record in finished.items():
        before = len(half.get(name, {"trials": []})["trials"])
        marks = [trial.pop("mark", False) for trial in record["trials"]]
        assert marks == [True] * before + [False] * (len(marks) - before)
    assert finished == whole


def test_nothing_is_left_to_run_when_all_is_done(in_one_go):
    store = Store(in_one_go[0])
    assert [u for part in TINY.parts() for u in ready_units(TINY, store, *part)] == []
    before = {p: p.stat().st_mtime_ns for p in in_one_go[0].iterdir()}
    execute(TINY, store, 1, quiet)
    assert {p: p.stat().st_mtime_ns for p in in_one_go[0].iterdir()} == before


def test_more_trials_go_on_from_fewer(in_one_go, tmp_path):
    whole, store, experiment = Store(in_one_go[0]), Store(tmp_path), TINY.experiments[0]
    for group, numbers in (("choice", (0,)), ("layers", (0, 1))):
        done = whole.trials(experiment, 0.10, group)
        store.add(experiment, 0.10, group, [done[number] for number in numbers])
    assert ready_units(replace(TINY, trials=2), store, experiment, 0.10, "layers") == []
    more = ready_units(TINY, store, experiment, 0.10, "layers")
    assert [unit.trials for unit in more] == [(2, 3, 4)]
    assert more[0].cells is None


def test_numbers_of_trials_are_the_papers():
    plan = Plan(experiments(), tuple(SECONDS))
    function, stock = Experiment(FUNCTION), Experiment(KEEL[0])
    for group in ("rsc-kde", "layers", "ours"):
        for level in TABLE_LEVELS:
            assert plan.n_trials(function, level, group) == 100
            assert plan.n_trials(stock, level, group) == 50
    assert plan.n_trials(function, 0.30, "rsc-kde") == 100, "which the text has"
    assert plan.n_trials(stock, 0.30, "rsc-kde") == 25, "which figures have"
    assert plan.n_trials(Experiment(GRINDING), 0.30, "rounds") == 50
    assert plan.n_trials(function, 0.10, "choice") == plan.n_trials(function, 0.25, "curves") == 1
    assert plan.n_trials(function, 0.10, "ablation") == 10
    assert replace(plan, trials=3).n_trials(function, 0.10, "ablation") == 3
    assert replace(plan, trials=5).n_trials(stock, 0.10, "rsc-kde") == 5


def test_plan_has_all_that_the_paper_shows():
    parts = {
        (e.name, level, group) for e, level, group in Plan(experiments(), tuple(SECONDS)).parts()
    }
    for task in TASKS.values():
        for group in ("rsc-kde", "layers"):
            assert {lv for n, lv, g in parts if (n, g) == (Experiment(task).name, group)} == set(
                LEVELS
            )
        for data in ("redrawn", "fixed") if task != GRINDING else ("redrawn",):
            name = Experiment(task, data=data).name
            assert {lv for n, lv, g in parts if (n, g) == (name, "choice")} == set(TABLE_LEVELS)
    for task in KEEL:
        for data in ("redrawn", "fixed"):
            name = Experiment(task, data=data).name
            assert {lv for n, lv, g in parts if (n, g) == (name, "literal")} == set(TABLE_LEVELS)
    assert (Experiment(FUNCTION, "replace").name, 0.25, "rsc-kde") in parts
    assert (Experiment(FUNCTION).name, 0.30, "literal") in parts
    assert {n for n, _, g in parts if g == "treasury"} == {
        "treasury-add-redrawn",
        "treasury-add-fixed",
    }
    assert {(n, lv) for n, lv, g in parts if g == "rounds"} == {
        ("grinding-add-redrawn", level) for level in ROUND_LEVELS
    }


def test_cost_adds_up():
    plan = Plan((Experiment(SMALL, levels=(0.10,)),), ("rsc-kde", "layers"), 7)
    store = Store(Path("nowhere"))
    pilot, later = SECONDS["layers"], SECONDS["layers"] / 4
    total = 7 * SECONDS["rsc-kde"] + PILOT_TRIALS * pilot + 2 * later
    assert cost(plan, store) == (0.0, total)


def test_narrowed_and_quick_keep_each_experiment_once():
    once = narrowed(experiments(), (0.10,), "add", "redrawn")
    assert sorted(e.name for e in once) == sorted(Experiment(task).name for task in TASKS.values())
    assert all(e.levels == (0.10,) for e in once)
    fast = quick(experiments())
    assert [e.name for e in fast] == [e.name for e in experiments()], "every table"
    assert all(0.10 in e.levels for e in fast)
    assert {*ROUND_LEVELS} <= set(next(e for e in fast if e.task == GRINDING).levels)


def test_cell_names_are_read_back():
    for task in TASKS.values():
        for cell in grid(Experiment(task)):
            assert cell_of(cell_name(cell)) == cell
