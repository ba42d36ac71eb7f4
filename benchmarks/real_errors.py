"""Errors that were really made: readings of cheap air sensors beside reference instruments.

Two tables of a city's air (UCI Air Quality, as prepared by Zhou and others 2023): the target is a
cheap sensor's reading, and a column that no method sees says where it was off. Each method ranks
the rows by how wrong they seem; 0.5 is the area under ROC of a coin.

    python benchmarks/real_errors.py         both tables; two minutes
    python benchmarks/real_errors.py --page  docs/certainty.md from the committed results

The tables are looked for in `real-errors` in the folder that ROBUSTSCN_DATA names.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import KFold, cross_val_predict

from robustscn import RobustBlendRegressor, RobustRegressor, RobustSCNRegressor

Array = NDArray[np.float64]
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "real_errors.json"
PAGE = HERE.parent / "docs" / "certainty.md"
START, STOP = "<!-- real errors -->", "<!-- /real errors -->"
TABLES = {"carbon monoxide": "airquality_co.csv", "hydrocarbons": "airquality_nmhc.csv"}
HIDDEN = ["true_label", "given_label", "true_error"]
SEEDS = range(1)


def table(name: str) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return inputs, texts coded as columns of zeros and ones, readings, and which are off."""
    folder = Path(os.environ["ROBUSTSCN_DATA"]) / "real-errors"
    rows = pd.read_csv(folder / TABLES[name], index_col=0)
    X = pd.get_dummies(rows.drop(columns=HIDDEN), dtype=float).to_numpy()
    return X, rows["given_label"].to_numpy(), rows["true_error"].to_numpy() > 0


def _by_probability(estimator: Any) -> Callable[[Array, Array, int], Array]:
    def suspicion(X: Array, y: Array, seed: int) -> Array:
        model = estimator(random_state=seed).fit(X, y)
        # Rows of equal probability are told apart by how far off they are.
        far = np.abs(model.residuals_) / np.max(np.abs(model.residuals_))
        return model.outlier_probability_ + 1e-6 * far

    return suspicion


def left_out(X: Array, y: Array, seed: int) -> Array:
    """Return how far LightGBM is off on rows that it has not seen."""
    from lightgbm import LGBMRegressor

    trees = LGBMRegressor(n_jobs=1, verbose=-1, random_state=seed)
    folds = KFold(5, shuffle=True, random_state=seed)
    return np.abs(y - cross_val_predict(trees, X, y, cv=folds))


def cleanlab(X: Array, y: Array, seed: int) -> Array:
    """Return one less the label quality that CleanLearning gives each row."""
    from cleanlab.regression.learn import CleanLearning

    learning = CleanLearning(HistGradientBoostingRegressor(random_state=seed), seed=seed)
    return 1.0 - learning.find_label_issues(X, y)["label_quality"].to_numpy()


METHODS: Mapping[str, Callable[[Array, Array, int], Array]] = {
    "RobustSCN": _by_probability(RobustSCNRegressor),
    "RobustBlend": _by_probability(RobustBlendRegressor),
    "RobustRegressor, trees": _by_probability(RobustRegressor),
    "LightGBM, left-out residuals": left_out,
    "CleanLearning, trees": cleanlab,
}


def measure() -> dict[str, Any]:
    """Return, for each table and method, mean area under ROC and average precision over seeds."""
    report: dict[str, Any] = {}
    for name in TABLES:
        X, y, wrong = table(name)
        report[name] = {"rows": len(y), "wrong": int(wrong.sum()), "methods": {}}
        for method, suspicion in METHODS.items():
            found = [suspicion(X, y, seed) for seed in SEEDS]
            areas = [roc_auc_score(wrong, each) for each in found]
            precisions = [average_precision_score(wrong, each) for each in found]
            report[name]["methods"][method] = {
                "area": round(float(np.mean(areas)), 4),
                "precision": round(float(np.mean(precisions)), 4),
            }
            print(name, method, report[name]["methods"][method], flush=True)
    return report


def page_of(page: str, report: Mapping[str, Any]) -> str:
    """Return the page with the table between its marks made anew."""
    before, rest = page.split(START)
    _, after = rest.split(STOP)
    heads = [f"{name}, {each['rows']:,} rows, {each['wrong']} off" for name, each in report.items()]
    lines = ["| method | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for method in METHODS:
        entries = [
            f"{each['methods'][method]['area']:.3f} ({each['methods'][method]['precision']:.3f})"
            for each in report.values()
        ]
        lines.append(f"| {method} | " + " | ".join(entries) + " |")
    best = [max(METHODS, key=lambda m, e=each: e["methods"][m]["area"]) for each in report.values()]
    first = " and ".join(dict.fromkeys(best))
    shares = " and ".join(f"{each['wrong'] / each['rows']:.3f}" for each in report.values())
    lines.append(
        f"\nArea under ROC, where a coin has 0.5, and average precision, where it has {shares};"
        f" of one seed. Highest: {first}. Made by `python benchmarks/real_errors.py`.\n"
    )
    return before + START + "\n" + "\n".join(lines) + STOP + after


def main() -> None:
    """Measure, then write the page; or the page alone."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="only rebuild the page")
    if not parser.parse_args().page:
        RESULTS.write_text(json.dumps(measure(), indent=1) + "\n")
    report = json.loads(RESULTS.read_text())
    PAGE.write_text(page_of(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")


if __name__ == "__main__":
    main()
