"""The ablation takes out what it says, one part at a time, and the page shows its numbers."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from robustscn import RobustSCNRegressor
from robustscn.core.rows import LocalRows
from robustscn.datasets import contaminate, make_function

ROOT = Path(__file__).parents[1]
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
    keys = [key for key in ablation.MODELS if key not in ("full", "guard")]
    found = np.stack([full[False], *(predictions(ablation, key) for key in keys)])
    assert len(np.unique(found, axis=0)) == len(found)
    # Every part is back in its place.
    np.testing.assert_array_equal(predictions(ablation, "full"), full[False])


def test_the_guard_matters_where_a_target_is_gross_and_only_there(ablation, full):
    np.testing.assert_array_equal(predictions(ablation, "guard"), full[False])
    assert not np.array_equal(predictions(ablation, "guard", gross=True), full[True])


def test_plain_residuals_are_targets_less_predictions(ablation):
    rng = np.random.default_rng(0)
    X, y, weight = rng.uniform(size=(30, 2)), rng.uniform(size=(30, 1)), rng.uniform(size=30)
    rows, ridges = LocalRows(30), np.array([1e-3])
    tuned = ablation.tuned_with_plain_residuals(rows, X, y, weight, np.sin, 2, ridges)
    # Ridge per unit of weight on all but the constant, from the normal equations.
    H = np.column_stack([np.sin(X), np.ones(30)])
    penalty = np.diag([1.0, 1.0, 0.0]) * 1e-3 * weight.sum()
    solved = np.linalg.solve(H.T @ (weight[:, None] * H) + penalty, H.T @ (weight[:, None] * y))
    np.testing.assert_allclose(tuned.left_out, y - H @ solved, atol=1e-10)


def test_the_page_shows_the_committed_results(ablation, report):
    page = (ROOT / "docs" / "how-it-judges.md").read_text()
    assert ablation.measured(page, report) == page


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
