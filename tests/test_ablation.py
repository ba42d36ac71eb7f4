"""The ablation takes out what it says, one part at a time, and the page shows its numbers."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from robustscn import RobustSCNRegressor
from robustscn.core.committee import Committee
from robustscn.core.folds import parts_of
from robustscn.core.judging import Plan, schedule
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.recipe import Recipe
from robustscn.core.rows import LocalRows
from robustscn.core.weighting import GemanMcClure
from robustscn.datasets import contaminate, make_function

pytestmark = pytest.mark.evidence

ROOT = Path(__file__).parents[1]
LINES_AND_NOISE = ("lines", "local scale", "sized")
TINY = {"n_networks": 5, "n_rounds": 5, "max_nodes": 20, "n_candidates": 5}


@pytest.fixture(scope="module")
def ablation():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return importlib.import_module("ablation")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def report():
    return json.loads((ROOT / "benchmarks" / "results" / "ablation.json").read_text())


def data(gross=False):
    """Two inputs, of which one matters; wrong targets lie on one side, so the median moves.

    The noise keeps the scale of the residuals above the one that narrows.
    """
    rng = np.random.default_rng(0)
    X, y = make_function(120, rng=rng)
    y = y + rng.normal(scale=0.05, size=120)
    X = np.column_stack([X, rng.uniform(size=120) ** 3])
    y, _ = contaminate(y, 0.25, protocol="one_sided", rng=rng)
    if gross:
        y[60] = 1e6
    return X, y


def predictions(ablation, key, gross=False):
    X, y = data(gross)
    return ablation.MODELS[key].predictions(X, y, X, 3, **TINY)


@pytest.fixture(scope="module")
def full(ablation):
    return {gross: predictions(ablation, "full", gross) for gross in (False, True)}


@pytest.mark.parametrize("gross", [False, True])
def test_the_full_model_is_the_estimator_itself(full, gross):
    X, y = data(gross)
    model = RobustSCNRegressor(random_state=3, n_jobs=1, **TINY).fit(X, y)
    np.testing.assert_array_equal(full[gross], model.predict(X))
    assert model.n_rounds_ > 1  # else nothing that happens between rounds would show


def test_each_model_differs_from_the_full_one_and_from_the_others(ablation, full):
    keys = [key for key in ablation.MODELS if key not in ("full", "guard", *LINES_AND_NOISE)]
    found = np.stack([full[False], *(predictions(ablation, key) for key in keys)])
    assert len(np.unique(found, axis=0)) == len(found)


@pytest.mark.parametrize(
    ("key", "slope", "noise", "uneven"),
    [("lines", 1.0, 0.1, 1.0), ("local scale", 0.0, 0.02, 20.0), ("sized", 0.0, 0.5, 1.0)],
)
def test_what_is_there_for_lines_and_noise_matters_where_these_are(
    ablation, key, slope, noise, uneven
):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 4))
    y = slope * X @ [1.0, -1.0, 0.5, 0.2] + (slope == 0.0) * np.sin(6 * X[:, 0])
    y += noise * uneven ** X[:, 3] * rng.normal(size=600)
    larger = TINY | {"max_nodes": 60, "n_candidates": 20}
    full, without = (ablation.MODELS[k].predictions(X, y, X, 3, **larger) for k in ("full", key))
    assert not np.array_equal(full, without)


def test_the_guard_matters_where_a_target_is_gross_and_only_there(ablation, full):
    np.testing.assert_array_equal(predictions(ablation, "guard"), full[False])
    assert not np.array_equal(predictions(ablation, "guard", gross=True), full[True])


def test_plain_residuals_are_targets_less_predictions(ablation):
    rng = np.random.default_rng(0)
    X, y, weight = rng.uniform(size=(60, 2)), rng.uniform(size=(60, 1)), rng.uniform(size=60)
    problem = Problem(LocalRows(60), X, y, weight)
    how = Recipe(Draw(0, 2, (1.0, 4.0), 10), 6)
    committee = Committee(problem, how, parts_of(problem, 0), centre=False)
    plan = Plan(GemanMcClure(), grow=4)
    said = ablation.with_plain_residuals(committee).opinion(None, plan, 0, weight)
    expected = committee.opinion(None, plan, 0, weight)
    fold = parts_of(problem, 0).fold.astype(int)
    errors = np.stack([y - network.output(X) for network in said.model])
    np.testing.assert_allclose(said.residuals, errors[fold, np.arange(60)], atol=1e-10)
    for one, other in zip(said.model, expected.model, strict=True):  # ridges are chosen as ever
        np.testing.assert_array_equal(one.output_weights, other.output_weights)
    assert np.all(np.abs(said.residuals) < np.abs(expected.residuals))


def test_nothing_but_the_schedules_floors_is_taken_out_with_the_narrowing(ablation):
    plans = schedule(12, 10, GemanMcClure())
    found = ablation.narrow_from_the_start(plans)
    assert {plan.floor for plan in found} == {0.0}
    assert [replace(a, floor=b.floor) for a, b in zip(found, plans, strict=True)] == list(plans)


def test_the_page_shows_the_committed_results(ablation, report):
    page = (ROOT / "docs" / "how-it-judges.md").read_text()
    assert ablation.measured(page, report) == page


def test_the_interval_of_paired_ratios_is_students_within_sets(ablation):
    rng = np.random.default_rng(0)
    full, other = np.exp(rng.normal(size=(2, 9)))
    log_ratio = np.log(other / full)
    low, high = stats.t.interval(0.95, 8, np.mean(log_ratio), stats.sem(log_ratio))
    one = ablation.interval([{"each": list(other)}], [{"each": list(full)}])
    assert one == f"{np.exp(low):.2f} to {np.exp(high):.2f}"
    # Sets that differ, alike in all of their draws: nothing is left to chance.
    cells, fulls = [{"each": [2.0] * 3}, {"each": [0.5] * 3}], [{"each": [1.0] * 3}] * 2
    assert ablation.interval(cells, fulls) == "1.00 to 1.00"


def test_means_and_ratios_are_those_of_the_draws(report):
    for cell in report["sets"].values():
        for models in cell.values():
            for model in models.values():
                assert len(model["each"]) == report["draws"]
                assert model["rmse"] == pytest.approx(np.mean(model["each"]))
                expected = np.mean(model["each"]) / np.mean(models["full"]["each"])
                assert model["ratio"] == pytest.approx(expected)


def test_every_set_of_the_results_has_all_models(ablation, report):
    assert list(report["sets"]) == [name for name in ablation.SETS if name in report["sets"]]
    for cell in report["sets"].values():
        assert list(cell["errors"]) == list(ablation.MODELS)
        assert list(cell["gross"]) == list(ablation.GROSS)
