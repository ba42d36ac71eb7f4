"""The paper's experiments: layers, data, units of work, resuming, tables, claims and the page."""

import copy
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

import reference
from robustscn import ImprovedRVFLRegressor, PRNNRWRegressor, RSCKDERegressor, RVFLRegressor, atomic
from robustscn.datasets import function_target, load_keel
from robustscn.nodes import Draw
from robustscn.paper import blocks as page_blocks
from robustscn.paper import units
from robustscn.paper.claims import (
    Claim,
    best_everywhere,
    claims,
    many_nodes_hurt,
    ours_without_clean_rows,
    paper_level,
)
from robustscn.paper.draws import FIRST_SEED, drawn, seeds
from robustscn.paper.figures import CAPTIONS, drawn_figures
from robustscn.paper.layers import Layer, improved_rvfl, layers, prnnrw, rvfl
from robustscn.paper.page import blocks, write_page
from robustscn.paper.published import table_5, tables
from robustscn.paper.results import Results, part_name, summarised
from robustscn.paper.runner import (
    Plan,
    cost,
    execute,
    favourite_cells,
    honest_cell,
    nearest_choice,
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
    Task,
    ablations,
    experiments,
    narrowed,
    quick,
    rsc_kde,
)
from robustscn.paper.store import Store, write_text
from robustscn.paper.tables import all_tables
from robustscn.paper.units import BASELINES, SECONDS, Unit, cell_name, cell_of, grid, run

PAGE = Path(__file__).parents[1] / "docs" / "reproduction"
needs_keel = pytest.mark.skipif(
    "ROBUSTSCN_DATA" not in os.environ, reason="ROBUSTSCN_DATA names no folder of KEEL files"
)

# --- layers: three methods over a grid of sizes from one draw --------------------------------


@pytest.fixture(scope="module")
def rows():
    """Well-conditioned rows in three dimensions, some targets wrong."""
    rng = np.random.default_rng(5)
    X, X_test = rng.random((140, 3)), rng.random((60, 3))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + X[:, 2]
    y[:20] += rng.uniform(-1, 1, 20)
    return X, y, X_test


def hidden(X, seed, scope, size, largest=None):
    """The first nodes of a draw, and their outputs by the literal formula."""
    nodes = Draw(seed, X.shape[1], (scope,), largest or size).pool(0, X)
    return reference.hidden(X, nodes.weights[:, :size], nodes.biases[:size])


def test_rvfl_is_least_squares_on_the_first_nodes_of_the_draw(rows):
    X, y, X_test = rows
    built = layers(X, X_test, 4.0, [25, 12], seed=9)
    for size in (12, 25):
        H, H_test = (hidden(part, 9, 4.0, size, largest=25) for part in (X, X_test))
        expected = H_test @ np.linalg.lstsq(H, y, rcond=None)[0]
        assert_allclose(rvfl(built[size], y), expected, rtol=0, atol=1e-9)


def test_layer_is_a_singular_value_decomposition(rows):
    X, _, X_test = rows
    layer = layers(X, X_test, 4.0, [12], seed=9)[12]
    H, H_test = hidden(X, 9, 4.0, 12), hidden(X_test, 9, 4.0, 12)
    assert_allclose(layer.basis.T @ layer.basis, np.eye(12), atol=1e-12)
    assert_allclose(layer.values, np.linalg.svd(H, compute_uv=False), rtol=1e-9)
    # In these coordinates the output weights beta become S V' beta.
    V = np.linalg.lstsq(H, layer.basis * layer.values, rcond=None)[0]
    assert_allclose(layer.on_test, H_test @ V / layer.values, atol=1e-8)


def test_prnnrw_is_the_literal_iteration(rows):
    X, y, X_test = rows
    layer = layers(X, X_test, 4.0, [12], seed=3)[12]
    H, H_test = hidden(X, 3, 4.0, 12), hidden(X_test, 3, 4.0, 12)
    for rho in (10.0, 0.01):
        beta, rounds = reference.prnnrw(H, y[:, None], rho, 1e-5, 100, 1e-4)
        assert rounds > 3
        assert_allclose(prnnrw(layer, y, rho), (H_test @ beta)[:, 0], rtol=0, atol=1e-6)


def test_improved_rvfl_is_the_literal_iteration(rows):
    X, y, X_test = rows
    layer = layers(X, X_test, 4.0, [12], seed=3)[12]
    H, H_test = hidden(X, 3, 4.0, 12), hidden(X_test, 3, 4.0, 12)
    for n_rounds in (1, 2, 15):
        beta, _ = reference.improved_rvfl(H, y[:, None], n_rounds, 0.0)
        expected = (H_test @ beta)[:, 0]
        # The density is binned, to 0.3 % of its peak.
        assert_allclose(improved_rvfl(layer, y, n_rounds=n_rounds, tol=0.0), expected, atol=2e-3)
    assert np.abs(expected - rvfl(layer, y)).max() > 0.02, "the weights must matter here"


@pytest.mark.parametrize(
    ("solve", "model"),
    [
        (rvfl, RVFLRegressor(60, scope=30.0, random_state=4)),
        (improved_rvfl, ImprovedRVFLRegressor(60, scope=30.0, random_state=4)),
        (lambda la, y: prnnrw(la, y, 10.0), PRNNRWRegressor(60, scope=30.0, random_state=4)),
        (
            lambda la, y: prnnrw(la, y, 1e-4),
            PRNNRWRegressor(60, scope=30.0, ridge=1e-4, random_state=4),
        ),
    ],
    ids=["rvfl", "improved-rvfl", "prnnrw", "prnnrw-weak-prior"],
)
def test_layers_predict_what_the_estimators_do(solve, model):
    data = drawn(Experiment(FUNCTION), 0.20, 0)
    layer = layers(data.X, data.X_test, 30.0, [60], model._seed())[60]
    expected = model.fit(data.X, data.y).predict(data.X_test)
    assert_allclose(solve(layer, data.y), expected, rtol=0, atol=2e-4)


def test_prior_drops_only_directions_that_do_not_matter():
    """Against an augmented least squares of the whole layer, which drops nothing."""
    data = drawn(Experiment(FUNCTION), 0.10, 0)
    full = layers(data.X, data.X_test, 50.0, [100], 0)[100]
    rho = 1e-2
    omega, c = np.ones(len(data.y)), None
    for _ in range(100):
        root = np.sqrt(omega)
        A = np.vstack([full.basis * root[:, None], np.diag(np.sqrt(rho) / full.values)])
        b = np.concatenate([data.y * root, np.zeros(len(full.values))])
        before, c = c, np.linalg.lstsq(A, b, rcond=None)[0]
        if before is not None:
            change = np.linalg.norm((c - before) / full.values)
            if change <= 1e-4 * np.linalg.norm(c / full.values):
                break
        omega = 1 / np.maximum(np.abs(data.y - full.basis @ c), 1e-5)
    kept = full.above(np.sqrt(1e-8 * rho / np.sqrt(len(data.y))))
    assert len(kept.values) < len(full.values), "nothing was dropped: the test shows nothing"
    assert_allclose(prnnrw(full, data.y, rho), full.on_test @ c, rtol=0, atol=5e-6)


def test_rows_that_are_met_exactly_keep_equal_weights():
    layer = Layer(np.eye(4), np.ones(4), np.eye(4))
    y = np.array([1.0, 2.0, 3.0, 4.0])
    assert_allclose(improved_rvfl(layer, y), y)


# --- data ------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [FUNCTION, GRINDING], ids=lambda task: task.name)
@pytest.mark.parametrize("protocol", ["add", "replace"])
def test_protocols_spoil_the_right_share_in_the_right_range(task, protocol):
    experiment = Experiment(task, protocol)
    clean, dirty = drawn(experiment, 0.0, 3), drawn(experiment, 0.25, 3)
    n = len(clean.y)
    assert dirty.wrong.sum() == round(0.25 * n)
    assert not clean.wrong.any()
    assert_array_equal(dirty.X, clean.X)
    assert_array_equal(dirty.y[~dirty.wrong], clean.y[~dirty.wrong])
    noise = dirty.y[dirty.wrong] - (clean.y[dirty.wrong] if protocol == "add" else 0.0)
    steep = task == FUNCTION
    low, high = {
        ("add", True): (-0.2, 0.2),
        ("add", False): (-0.5, 0.5),
        ("replace", True): (-0.2, 0.8),
        ("replace", False): (-0.5, 0.5),
    }[protocol, steep]
    assert low <= noise.min() < low + 0.1
    assert high - 0.1 < noise.max() <= high
    for left, right in ((clean.y_test, dirty.y_test), (clean.y_val, dirty.y_val)):
        assert_array_equal(left, right)


def test_function_has_the_papers_rows():
    data = drawn(Experiment(FUNCTION), 0.10, 0)
    assert data.X.shape == data.X_test.shape == (600, 1)
    assert data.X_val.shape == (300, 1)
    assert_allclose(data.X_test[:, 0], np.linspace(-1, 1, 600))
    assert_allclose(data.y_test, function_target(data.X_test[:, 0]))
    assert_allclose(data.y_val, function_target(data.X_val[:, 0]))
    assert not set(data.X[:, 0]) & set(data.X_val[:, 0])
    assert drawn(Experiment(FUNCTION), 0.10, 0, n_validation=75).X_val.shape == (75, 1)


def test_grinding_rows_are_disjoint_and_of_the_papers_number():
    data = drawn(Experiment(GRINDING), 0.10, 0)
    assert [len(part) for part in (data.X, data.X_val, data.X_test)] == [300, 300, 300]
    every = np.vstack([data.X, data.X_val, data.X_test])
    assert len(np.unique(every, axis=0)) == 900


@needs_keel
@pytest.mark.parametrize("task", KEEL, ids=lambda task: task.name)
def test_keel_rows_are_split_not_shared(task):
    data = drawn(Experiment(task), 0.0, 1)
    X, y = load_keel(task.name, return_X_y=True)
    whole = np.column_stack([X, y])
    whole = (whole - whole.min(axis=0)) / (whole.max(axis=0) - whole.min(axis=0))
    parts = ((data.X, data.y), (data.X_val, data.y_val), (data.X_test, data.y_test))
    split = np.vstack([np.column_stack(part) for part in parts])

    def counted(rows):
        return Counter(tuple(row) for row in np.round(rows, 9) + 0.0)

    assert counted(split) == counted(whole)
    n = len(y)
    assert abs(len(data.X) - 0.75 * n) <= 1
    assert abs(len(data.X_val) - len(data.X_test)) <= 1
    assert drawn(Experiment(task), 0.30, 1).y_test.min() >= 0


def test_data_are_the_same_again_and_differ_by_trial_only_if_redrawn():
    redrawn = Experiment(FUNCTION)
    fixed = Experiment(GRINDING, data="fixed")
    first, again, other = (drawn(redrawn, 0.20, trial) for trial in (0, 0, 1))
    assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)
    assert_array_equal(drawn(fixed, 0.20, 0).y, drawn(fixed, 0.20, 7).y)
    assert seeds(redrawn, 0.20, 7) == {"data": FIRST_SEED + 7, "network": 7}
    assert seeds(fixed, 0.20, 7) == {"data": FIRST_SEED, "network": 7}


def test_fixed_function_data_have_the_papers_fingerprint():
    """Of a hundred draws the one whose least squares error at scope 1 is nearest, found anew.

    Only the largest networks have the paper's deviation of 2e-5; smaller ones differ by ten
    times that from one network to the next, and then the network is chosen, not the data.
    """
    experiment, level = Experiment(FUNCTION, data="fixed"), 0.20
    printed = tables()["function", 1.0, "RVFL", level].mean
    distances = []
    for number in range(100):
        data = drawn(Experiment(FUNCTION), level, number)
        rng = np.random.default_rng(number)
        w, b = rng.uniform(-1, 1, 200), rng.uniform(-1, 1, 200)
        H, H_test = (1 / (1 + np.exp(-(X * w + b))) for X in (data.X, data.X_test))
        beta = np.linalg.lstsq(H, data.y, rcond=2e-13)[0]
        distances.append(abs(data.rmse(H_test @ beta) - printed))
    chosen = seeds(experiment, level, 0)["data"] - FIRST_SEED
    assert distances[chosen] <= min(distances) + 5e-5
    assert seeds(experiment, level, 55)["data"] == FIRST_SEED + chosen


# --- units -----------------------------------------------------------------------------------

SMALL = Task(
    "function",
    (1.0, 30.0),
    (10, 20),
    trials=8,
    figure_size=20,
    figure_scopes=(1.0, 30.0),
    steep=True,
)
"""The function with a grid that takes no time."""
TINY = Plan((Experiment(SMALL, levels=(0.10, 0.20), tuned_at=(0.10,)),), ("choice", "layers"), 7)


def without_seconds(trials):
    return [{k: v for k, v in trial.items() if k != "seconds"} for trial in trials]


def stored(folder):
    """All that was stored, apart from how long it took."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text())
        found[path.name] = record | {"trials": without_seconds(record["trials"])}
    return found


def quiet(*_):
    pass


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
    settings = {**rsc_kde(GRINDING), "n_rounds": 1, "random_state": 1}
    right = ~data.wrong
    model = RSCKDERegressor(**settings).fit(
        data.X[right], data.y[right], X_val=data.X_val, y_val=data.y_val
    )
    error = np.sqrt(np.mean((model.predict(data.X_test) - data.y_test) ** 2))
    assert trial["rmse"]["oracle"] == pytest.approx(error, rel=1e-12)
    assert trial["rmse"]["RSC-KDE"] > trial["rmse"]["oracle"]


def test_rounds_are_those_of_shorter_fits():
    """Table 5 takes twelve rounds once; its third is what a fit of three rounds ends with."""
    experiment = Experiment(GRINDING)
    data = drawn(experiment, 0.10, 0)
    settings = {"max_nodes": 10, "scopes": (0.5, 1.0), "random_state": 0}
    each = units._EachRound(data)
    RSCKDERegressor(n_rounds=4, **settings).set_callbacks(each).fit(data.X, data.y)
    assert len(each.errors) == 4
    for rounds in (1, 3, 4):
        shorter = RSCKDERegressor(n_rounds=rounds, **settings).fit(data.X, data.y)
        assert each.errors[rounds - 1] == data.rmse(shorter.predict(data.X_test))


@pytest.fixture(scope="module")
def thirty():
    """One trial of Table 5 at 30 % outliers."""
    return run(Unit(Experiment(GRINDING), 0.30, "rounds", (0,)))[0]["rmse"]


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


@pytest.fixture(scope="module")
def in_one_go(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one-go")
    told = []
    execute(TINY, Store(folder), 1, lambda *what: told.append(what))
    return folder, told


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
    assert plan.n_trials(function, "rsc-kde") == plan.n_trials(function, "layers") == 100
    assert plan.n_trials(stock, "rsc-kde") == plan.n_trials(stock, "layers") == 50
    assert plan.n_trials(function, "choice") == plan.n_trials(function, "curves") == 1
    assert plan.n_trials(function, "ablation") == 10
    assert replace(plan, trials=3).n_trials(function, "ablation") == 3
    assert replace(plan, trials=5).n_trials(stock, "rsc-kde") == 5


def test_plan_has_all_that_the_paper_shows():
    parts = {
        (e.name, level, group) for e, level, group in Plan(experiments(), tuple(SECONDS)).parts()
    }
    for task in TASKS.values():
        for group in ("rsc-kde", "layers"):
            assert {lv for n, lv, g in parts if (n, g) == (Experiment(task).name, group)} == set(
                LEVELS
            )
        for data in ("redrawn", "fixed"):
            name = Experiment(task, data=data).name
            assert {lv for n, lv, g in parts if (n, g) == (name, "choice")} == set(TABLE_LEVELS)
    for protocol in ("add", "replace"):
        for data in ("redrawn", "fixed"):
            assert (Experiment(FUNCTION, protocol, data).name, 0.25, "rsc-kde") in parts
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
    assert len(fast) == len(TASKS)
    assert all({0.10, 0.25} <= set(e.levels) for e in fast)
    assert {*ROUND_LEVELS} <= set(next(e for e in fast if e.task == GRINDING).levels)


def test_cell_names_are_read_back():
    for task in TASKS.values():
        for cell in grid(Experiment(task)):
            assert cell_of(cell_name(cell)) == cell


# --- the paper's own figures -----------------------------------------------------------------


def test_published_tables_are_whole():
    found = tables()
    methods = {"RVFL", "Improved RVFL", "PRNNRW", "RSC-KDE"}
    for task, scopes in (("function", (1, 30, 50, 150)), ("grinding", (0.1, 0.5, 1, 5))):
        keys = {key for key in found if key[0] == task}
        assert keys == {(task, s, m, lv) for s in scopes for m in methods for lv in TABLE_LEVELS}
    for task in KEEL:
        keys = {key for key in found if key[0] == task.name}
        assert keys == {(task.name, None, m, lv) for m in methods for lv in TABLE_LEVELS}
    assert len(found) == 2 * 64 + 4 * 16
    assert set(table_5()) == {
        (lv, r, n) for lv in ROUND_LEVELS for r in ROUNDS for n in ROUND_SIZES
    }


def test_published_figures_that_are_known():
    known = [tables()["function", 1.0, "RSC-KDE", level].mean for level in TABLE_LEVELS]
    assert known == [0.0090, 0.0098, 0.0104, 0.0117]
    assert tables()["function", 1.0, "RVFL", 0.10] == (0.0463, 2e-5)
    assert tables()["treasury", None, "RSC-KDE", 0.10].mean == 0.0084
    assert tables()["grinding", 5.0, "PRNNRW", 0.25].mean == 0.0022
    assert table_5()[0.30, 12, 80].mean == 0.2308
    assert table_5()[0.10, 5, 20].mean == 0.0009


# --- results, tables, claims, page -----------------------------------------------------------


def _summary(mean, n=5):
    return [mean, mean / 10, mean, n]


def _paired(means):
    return {
        "trials": 5,
        "rmse": {name: _summary(mean) for name, mean in means.items()},
        "each": {name: [mean] * 5 for name, mean in means.items()},
    }


def _layers_of(task, mean):
    cells = {cell_name(cell): _summary(mean) for cell in grid(Experiment(task))}
    size = task.sizes[1]
    favourite = {m: {f"{s:g}": cell_name((m, s, size)) for s in task.scopes} for m in BASELINES}
    lowest = {m: cell_name((m, task.scopes[1], size)) for m in BASELINES}
    return {
        "trials": 5,
        "rmse": cells,
        "favourite": favourite,
        "lowest": lowest,
        "honest": _honest_of(task),
    }


def _honest_of(task):
    return {m: cell_name((m, task.scopes[0], task.sizes[0])) for m in BASELINES}


@pytest.fixture(scope="module")
def record():
    """Results of a run in which RSC-KDE always has 0.01, ours 0.008, the others 0.02."""
    parts = {}
    for experiment in experiments():
        task = experiment.task
        for level in experiment.levels:
            part = parts.setdefault(part_name(experiment.name, level), {})
            part["rsc-kde"] = _paired({"RSC-KDE": 0.01, "oracle": 0.005})
            part["layers"] = _layers_of(task, 0.02)
            if level in TABLE_LEVELS:
                part["choice"] = {"rho": 0.01, "honest": _honest_of(task)}
                if experiment.data == "redrawn":
                    part["ours"] = _paired({"RobustSCN": 0.008})
    for level in ROUND_LEVELS:
        rmse = {f"{r} | {n}": _summary(n / 1000) for r in ROUNDS for n in ROUND_SIZES}
        parts[f"grinding-add-redrawn {round(100 * level)}"]["rounds"] = {"trials": 5, "rmse": rmse}
    for protocol in ("add", "replace"):
        for percent in (10, 25):
            part = parts[f"function-{protocol}-redrawn {percent}"]
            rmse = {name: _summary(0.03) for name in ablations()}
            part["ablation"] = {"trials": 5, "rmse": rmse}
            part["literal"] = _paired({"RSC-KDE, literal": 0.015})
    for name in ("function-add-redrawn 25", "grinding-add-redrawn 30"):
        rows = {"x": [0.0, 1.0], "y": [0.0, 9.0], "x_test": [0.0, 1.0], "truth": [0.0, 0.5]}
        methods = ("RVFL", "Improved RVFL", "PRNNRW", "RSC-KDE", "RobustSCN")
        predictions = {m: [0.1, 0.4] for m in methods}
        parts[name]["curves"] = {"rows": rows, "wrong": [1], "predictions": predictions}
    return {"seconds": 6000, "parts": parts}


@pytest.fixture
def results(record):
    return Results(copy.deepcopy(record))


def row_of(table, *words):
    """The only row with these words in its first columns, as a dict by column."""
    found = [row for row in table.rows if set(words) <= set(row[:2])]
    (row,) = found
    return dict(zip(table.columns, row, strict=True))


def test_tables_are_paper_ours_ratio(results):
    found = all_tables(results)
    assert {name: len(parts) for name, parts in found.items()} == {
        "table1": 4,
        "table3": 2,
        "table4": 2,
        "table5": 3,
        "choices": 1,
    }
    table = found["table1"][0]
    assert "protocol add, redrawn data" in table.title
    row = row_of(table, "RSC-KDE (pooled scopes, ridge)")
    for level, printed in zip(TABLE_LEVELS, (0.0090, 0.0098, 0.0104, 0.0117), strict=True):
        assert row[f"{level:.0%} paper"].startswith(f"{printed:.4f} ±")
        assert row[f"{level:.0%} ours"] == "0.0100 ± 0.0010"
        assert row[f"{level:.0%} ratio"] == f"{0.01 / printed:.2f}"
    row = row_of(table, "1", "RVFL")
    assert row["10% paper"] == "0.0463 ± 2e-05"
    assert row["10% ratio"] == f"{0.02 / 0.0463:.2f}"
    assert row_of(table, "RSC-KDE divided by RSC-KDE's oracle, same trials")["10% ours"] == "2.00"
    assert row_of(table, "RVFL, cell by cross-validation")["10% ours"] == "0.0200 ± 0.0020"


def test_table_1_takes_the_cell_that_is_best_by_test_error(results):
    name = part_name(Experiment(FUNCTION).name, 0.15)
    layers_done = results.record["parts"][name]["layers"]
    layers_done["favourite"]["PRNNRW"]["50"] = "PRNNRW | 50 | 200"
    layers_done["rmse"]["PRNNRW | 50 | 200"] = _summary(0.0444)
    row = row_of(all_tables(results)["table1"][0], "50", "PRNNRW (rho 10)")
    assert row["15% ours"].startswith("0.0444")
    assert row["10% ours"].startswith("0.0200")


def test_table_3_and_5(results):
    table = all_tables(results)["table3"][0]
    stock = [row for row in table.rows if row[0] == "stock"]
    assert len(stock) == 1
    printed = tables()["stock", None, "RVFL", 0.10].mean
    first = dict(zip(table.columns, stock[0], strict=True))
    assert first["method"] == "RVFL"
    assert first["10% ratio"] == f"{0.02 / printed:.2f}"
    last = all_tables(results)["table5"][2]
    row = row_of(last, "12")
    assert row["L=80 paper"] == "0.2308"
    assert row["L=80 ours"] == "0.0800"
    assert row["L=80 ratio"] == f"{0.08 / 0.2308:.2f}"


@pytest.mark.parametrize(
    ("task", "table"), [(FUNCTION, "table1"), (KEEL[0], "table3"), (GRINDING, "table4")]
)
def test_what_was_run_is_shown_whatever_the_protocol(task, table):
    """`--protocol replace` may be asked for with any task."""
    name = part_name(Experiment(task, "replace").name, 0.10)
    part = {"rsc-kde": _paired({"RSC-KDE": 0.0123}), "layers": _layers_of(task, 0.02)}
    (found,) = all_tables(Results({"seconds": 0, "parts": {name: part}}))[table]
    assert "replace" in found.title
    assert "0.0123" in found.markdown()


def test_no_results_no_tables():
    empty = Results({"seconds": 0, "parts": {}})
    assert all(parts == [] for parts in all_tables(empty).values())
    assert all(claim.cases == 0 for claim in claims(empty))
    assert all("not run" in claim.sentence() for claim in claims(empty))


def test_results_are_written_and_read_back(results, tmp_path):
    results.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json") == results


def test_summaries_are_means_over_trials(in_one_go):
    store = Store(in_one_go[0], {SMALL.name: SMALL})
    found = Results(json.loads(json.dumps(summarised(store))))
    experiment = TINY.experiments[0]
    name, done = experiment.name, store.trials(experiment, 0.10, "layers")
    for method in BASELINES:
        cell = found.lowest(name, 0.10, method)
        errors = [trial["rmse"][cell_name(cell)] for trial in done.values()]
        assert len(errors) == found.cell(name, 0.10, cell).n == 7
        assert found.cell(name, 0.10, cell).mean == pytest.approx(np.mean(errors), rel=1e-4)
        assert found.cell(name, 0.10, cell).std == pytest.approx(np.std(errors), rel=1e-4)
        best = favourite_cells(store, experiment, 0.10, method)
        assert {s: found.favourite(name, 0.10, method, s) for s in SMALL.scopes} == best
        assert found.honest(name, 0.10, method) == honest_cell(store, experiment, 0.10, method)
    assert found.group(name, 0.10, "layers")["data_seeds"] == [FIRST_SEED, FIRST_SEED + 6]
    assert found.record["seconds"] == round(
        sum(
            trial["seconds"]
            for level in experiment.levels
            for group in TINY.groups
            for trial in store.trials(experiment, level, group).values()
        )
    )


def test_choice_made_at_another_share_is_named_where_it_served(in_one_go):
    """0.20 takes the cell that was chosen at 0.10: a table of 0.20 has to show it."""
    store, experiment = Store(in_one_go[0], {SMALL.name: SMALL}), TINY.experiments[0]
    found = Results(summarised(store))
    for method in BASELINES:
        cell = found.honest(experiment.name, 0.20, method)
        assert cell == honest_cell(store, experiment, 0.20, method)
        assert found.cell(experiment.name, 0.20, cell).n == 7


def test_a_trial_is_the_same_whatever_was_asked_for_with_it():
    """The prior that a level's trials are run with must not depend on options, or files mix."""
    for asked in (quick(experiments()), narrowed(experiments(), (0.05, 0.10))):
        for few in asked:
            full = next(e for e in experiments() if e.name == few.name)
            for level in few.levels:
                assert nearest_choice(few, level) == nearest_choice(full, level)


def test_a_claim_that_holds_and_one_that_fails(results):
    assert (best_everywhere(results).holds, best_everywhere(results).cases) == (16, 16)
    assert best_everywhere(results).sentence().endswith("holds.")
    laser = results.record["parts"]["laser-add-redrawn 20"]
    laser["layers"]["rmse"][laser["layers"]["lowest"]["PRNNRW"]] = _summary(0.0099)
    found = best_everywhere(results)
    assert (found.holds, found.cases) == (15, 16)
    assert "holds in 15 of 16 cases" in found.sentence()
    assert "laser 20% (0.0100, PRNNRW 0.0099)" in found.detail
    assert Claim("It rains", 0, 3).sentence() == "It rains: does not hold."


def test_claim_about_the_papers_level(results):
    found = paper_level(results, "add", "redrawn")  # 0.01 against 0.009, 0.0098, 0.0104, 0.0117
    assert (found.holds, found.cases) == (2, 4)
    assert "10% 0.0150" in found.detail, "the literal algorithm's error is named"
    fixed = results.record["parts"]["function-add-fixed 10"]
    fixed["rsc-kde"]["rmse"]["RSC-KDE"] = _summary(0.0089)
    found = paper_level(results, "add", "fixed")
    assert (found.holds, found.cases) == (3, 4)
    assert "10% 0.0089, paper 0.0090" in found.detail


def test_methods_are_compared_on_the_trials_that_both_ran(results):
    part = results.record["parts"]["function-add-redrawn 10"]
    part["rsc-kde"]["each"]["RSC-KDE"] = [0.001, 0.003, 9.0]
    part["ours"]["each"]["RobustSCN"] = [0.002, 0.004]
    shared = results.shared("function-add-redrawn", 0.10, "RobustSCN", "RSC-KDE")
    assert shared == pytest.approx((0.003, 0.002))
    assert "function 10% (0.0030, 0.0020)" in ours_without_clean_rows(results).detail
    assert results.shared("function-add-fixed", 0.10, "RobustSCN", "RSC-KDE") is None


def test_claim_that_many_nodes_hurt(results):
    found = many_nodes_hurt(results)  # 80 nodes have eight times the error of 10
    assert (found.holds, found.cases) == (6, 6)
    assert "8.0 to 8.0 times" in found.detail
    rmse = results.record["parts"]["grinding-add-redrawn 30"]["rounds"]["rmse"]
    rmse |= {f"{r} | 80": _summary(0.011) for r in ROUNDS}
    assert many_nodes_hurt(results).holds == 0


class Balanced(HTMLParser):
    """Notes each tag that is closed out of order and counts the others."""

    VOID = ("meta", "img", "br", "hr", "link", "input")

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.count = [], [], Counter()

    def handle_starttag(self, tag, attrs):
        self.count[tag] += 1
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def parsed(text):
    parser = Balanced()
    parser.feed(text)
    parser.close()
    assert parser.open == parser.wrong == []
    return parser.count


def test_page_is_well_formed_and_whole(results):
    content = blocks(results, tuple(CAPTIONS))
    count = parsed(page_blocks.html(content))
    assert count["table"] == 12
    assert count["img"] == len(CAPTIONS) == 6
    assert count["html"] == count["h1"] == 1
    text = page_blocks.markdown(content)
    for table in [t for parts in all_tables(results).values() for t in parts]:
        lines = table.markdown().splitlines()[2:]
        assert {line.count("|") for line in lines} == {len(table.columns) + 1}
        assert table.markdown() in text
    for claim in claims(results):
        assert claim.sentence() in text


def test_page_escapes():
    table = page_blocks.Table("<i> & co", ["a<b", "method"], [["<script>", '"&"']])
    content = [page_blocks.Heading(1, "1 < 2"), table, page_blocks.Picture("x", 'a "<b>"')]
    text = page_blocks.html(content)
    assert parsed(text)["script"] == 0
    for raw in ("<script>", "a<b", "<i>", '"<b>"', "1 < 2"):
        assert raw not in text
    assert "&lt;script&gt;" in text


def test_page_follows_the_record(results):
    """Nothing typed by hand: another number in the record, another page."""
    before = page_blocks.markdown(blocks(results, ()))
    changes = {
        ("function-add-redrawn 10", "rsc-kde", "RSC-KDE"): "0.7771",
        ("treasury-add-redrawn 25", "layers", None): "0.7772",
        ("grinding-add-fixed 15", "rsc-kde", "oracle"): "0.7773",
        ("grinding-add-redrawn 30", "rounds", "12 | 80"): "0.7774",
        ("function-replace-redrawn 25", "ablation", "ours, no ridge"): "0.7775",
        ("stock-add-redrawn 10", "ours", "RobustSCN"): "0.7776",
    }
    for (part, group, method), value in changes.items():
        found = results.record["parts"][part][group]
        found["rmse"][method or found["lowest"]["PRNNRW, tuned"]] = _summary(float(value))
    after = page_blocks.markdown(blocks(results, ()))
    for value in changes.values():
        assert value not in before
        assert value in after


def test_simulated_tables_and_figures_say_so(results):
    found = all_tables(results)
    for table in (*found["table4"], *found["table5"]):
        assert "simulated" in table.title.lower()
    for name in ("figure4", "figure5", "figure6"):
        assert "simulated" in CAPTIONS[name].lower()


def test_simulated_claims_say_so(results):
    for claim in claims(results):
        if "Table 4" in claim.text or "Table 5" in claim.text:
            assert "simulated" in claim.text.lower(), claim.text


def test_page_says_how_many_trials_there_were(results):
    """From the results: a page of five trials that speaks of other numbers is wrong."""
    pages = []
    for count in (5, 37):
        text = json.dumps(results.record).replace('"trials": 5', f'"trials": {count}')
        pages.append(page_blocks.markdown(blocks(Results(json.loads(text)), ())))
    assert pages[0] != pages[1]
    assert "37" in pages[1]


# --- figures ---------------------------------------------------------------------------------


@pytest.fixture
def drawing():
    """Leave the settings of matplotlib as they were."""
    with matplotlib.rc_context():
        yield


@pytest.mark.usefixtures("drawing")
def test_page_is_written_with_its_figures_and_what_it_was_made_from(results, tmp_path):
    written = write_page(results, tmp_path / "all")
    assert {p.name for p in written} == {"index.html", "README.md", "results.json"}
    pictures = {f"{name}.{kind}" for name in CAPTIONS for kind in ("svg", "png")}
    assert {p.name for p in (tmp_path / "all").iterdir()} == pictures | {p.name for p in written}
    page = {p.name: p.read_text(encoding="utf-8") for p in written}
    content = blocks(Results.read(tmp_path / "all" / "results.json"), tuple(CAPTIONS))
    assert page["README.md"] == page_blocks.markdown(content)
    assert page["index.html"] == page_blocks.html(content)

    results.record["parts"] = {
        name: {"curves": part["curves"]}
        for name, part in results.record["parts"].items()
        if "curves" in part
    }
    assert drawn_figures(results, tmp_path / "some") == ["figure1", "figure4", "figure6"]
    for name in ("figure1", "figure6"):  # the same picture each time
        one, two = (tmp_path / folder / f"{name}.svg" for folder in ("all", "some"))
        assert one.read_bytes() == two.read_bytes()


# --- the page that is committed --------------------------------------------------------------


@pytest.mark.usefixtures("drawing")
def test_committed_page_is_what_its_results_make(tmp_path):
    results = Results.read(PAGE / "results.json")
    figures = [name for name in CAPTIONS if (PAGE / f"{name}.svg").exists()]
    content = blocks(results, figures)
    assert (PAGE / "README.md").read_text(encoding="utf-8") == page_blocks.markdown(content)
    assert (PAGE / "index.html").read_text(encoding="utf-8") == page_blocks.html(content)
    assert drawn_figures(results, tmp_path) == figures == list(CAPTIONS)
    committed = {p.name for p in PAGE.iterdir() if p.suffix in (".svg", ".png")}
    assert committed == {p.name for p in tmp_path.iterdir()}


def test_committed_page_is_of_a_full_run():
    results = Results.read(PAGE / "results.json")
    assert {name: len(parts) for name, parts in all_tables(results).items()} == {
        "table1": 4,
        "table3": 2,
        "table4": 2,
        "table5": 3,
        "choices": 1,
    }
    for experiment in experiments():
        for level in experiment.levels:
            error = results.error(experiment.name, level, "RSC-KDE")
            assert error is not None
            assert error.n == Plan((experiment,), ()).n_trials(experiment, "rsc-kde")
    assert all(claim.cases > 0 for claim in claims(results))
