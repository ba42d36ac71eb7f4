"""Streams with wrong targets: ours beside river's own, row by row, judged by the clean targets.

    python benchmarks/streams.py                   # goes on where it stopped
    python benchmarks/streams.py --minutes 5       # no new cell after five minutes
    python benchmarks/streams.py --methods ours --again
    python benchmarks/streams.py --page            # docs/streams.md from the committed results

Each model predicts a row before it learns it. The first 200 rows are learned and not scored.
Ours is `robustscn.river.RobustSCN` with its defaults; peers have theirs, inputs and, for linear
models, targets standardised as they come. A peer's cell is kept until its version changes, ours
until `--again`. What else is promised of streams is measured by streams_claims.py.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from streams_data import CONDITIONS, DRAWS, STREAMS, Array, Stream, spoiled, stream

from robustscn.atomic import write_whole

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "streams.json"
SCORED_FROM = 200
REFITTED_EVERY, REFITTED_ON = 500, 2000
BEFORE, AFTER, STEP = 300, 400, 20
"""Rows around the first abrupt change whose errors are kept, as means of so many."""


def _linear() -> Any:
    from river import linear_model, optim, preprocessing

    model = linear_model.LinearRegression(loss=optim.losses.Huber())
    return preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(model)


def _sgd() -> Any:
    from river import compat, preprocessing
    from sklearn.linear_model import SGDRegressor

    model = compat.convert_sklearn_to_river(SGDRegressor(loss="huber", random_state=0))
    return preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(model)


def _knn() -> Any:
    from river import neighbors, preprocessing

    return preprocessing.StandardScaler() | neighbors.KNNRegressor()


def _tree() -> Any:
    from river import tree

    return tree.HoeffdingAdaptiveTreeRegressor(seed=0)


def _rules() -> Any:
    from river import rules

    return rules.AMRules()


def _forest() -> Any:
    from river import forest

    return forest.ARFRegressor(seed=0)


def _patches() -> Any:
    from river import ensemble

    return ensemble.SRPRegressor(seed=0)


def _ours() -> Any:
    from robustscn.river import RobustSCN

    return RobustSCN()


class Refitted:
    """Ours, fitted anew every so many rows to the latest: what streams are to come near to."""

    def __init__(self) -> None:
        self.rows: list[tuple[list[float], float]] = []
        self.n = 0
        self.model: Any = None

    def learn_one(self, x: dict[str, float], y: float) -> None:
        """Keep a row, and fit anew where that is due."""
        from robustscn import RobustSCNRegressor

        self.rows = [*self.rows, (list(x.values()), y)][-REFITTED_ON:]
        self.n += 1
        if self.n == SCORED_FROM or self.n % REFITTED_EVERY == 0:
            X, t = (np.array(part) for part in zip(*self.rows, strict=True))
            model = RobustSCNRegressor(n_networks=4, max_nodes=100, n_jobs=1, random_state=0)
            self.model = model.fit(X, t)

    def predict_one(self, x: dict[str, float]) -> float:
        """Predict by the last fit."""
        return float(self.model.predict(np.array([list(x.values())]))[0])


METHODS: dict[str, Callable[[], Any]] = {
    "ours": _ours,
    "linear, Huber": _linear,
    "SGD, Huber": _sgd,
    "adaptive tree": _tree,
    "AMRules": _rules,
    "kNN": _knn,
    "ARF": _forest,
    "SRP": _patches,
    "ours, refitted": Refitted,
}


def cell(name: str, condition: str, draw: int, make: Callable[[], Any]) -> dict[str, Any]:
    data = stream(name)
    y, _ = spoiled(data.y, condition, draw)
    model, began = make(), time.process_time()
    errors = errors_of(model, data, y)
    found: dict[str, Any] = {
        "mae": float(np.nanmean(np.abs(errors))),
        "median": float(np.nanmedian(np.abs(errors))),
        "cpu_seconds": time.process_time() - began,
    }
    if data.changes:
        at = data.changes[0]
        around = np.abs(errors[at - BEFORE : at + AFTER])
        found["around_change"] = np.mean(around.reshape(-1, STEP), axis=1).tolist()
    if hasattr(model, "drifts"):
        found["drifts"] = len(model.drifts)
    return found


def errors_of(model: Any, data: Stream, y: Array) -> Array:
    """Return errors of predictions made before each row was learned; the first are not a number.

    Parameters
    ----------
    model : object
        With `learn_one` and `predict_one`.
    data : Stream
        Rows, and what is right.
    y : array of shape (n_rows,)
        Targets as the model gets them.

    Returns
    -------
    array of shape (n_rows,)
        Predicted less right.
    """
    errors = np.full(len(y), np.nan)
    for i, (row, target) in enumerate(zip(data.X.tolist(), y.tolist(), strict=True)):
        x = {f"x{j:02d}": value for j, value in enumerate(row)}
        if i >= SCORED_FROM:
            errors[i] = (model.predict_one(x) or 0.0) - data.y[i]
        model.learn_one(x, target)
    return errors


def made_with(method: str) -> str:
    """Return whose result a cell is: a peer's is used again while this stays the same."""
    if method.startswith("ours"):
        return "ours"
    packages = ("river", "scikit-learn") if method.startswith("SGD") else ("river",)
    return ", ".join(f"{each} {importlib.metadata.version(each)}" for each in packages)


def wanted(args: argparse.Namespace) -> Iterator[tuple[str, str, int, str]]:
    def named(given: str | None, all_: Iterable[str]) -> list[str]:
        return [each.replace(";", ",") for each in given.split(",")] if given else list(all_)

    for method in named(args.methods, METHODS):
        for condition in named(args.conditions, CONDITIONS):
            draws = DRAWS if CONDITIONS[condition][0] else DRAWS[:1]
            for draw in draws:
                for name in named(args.only, STREAMS):
                    yield name, condition, draw, method


def run(args: argparse.Namespace) -> None:
    ends = time.monotonic() + 60 * args.minutes
    for name, condition, draw, method in wanted(args):
        key, results = f"{name}|{condition}|{draw}|{method}", read_results()
        known = results["cells"].get(key)
        if known is not None and known["with"] == made_with(method) and not args.again:
            continue
        if time.monotonic() > ends:
            print("there is more to run: start again")
            return
        print(key, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cell(name, condition, draw, METHODS[method])
        results["cells"][key] = {**found, "with": made_with(method)}
        write_results(results)


def read_results() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cells": {}}


def write_results(results: dict[str, Any]) -> None:
    results["cells"] = dict(sorted(results["cells"].items()))
    write_whole(RESULTS, (json.dumps(results, indent=1) + "\n").encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for option in ("--only", "--conditions", "--methods"):
        parser.add_argument(option, help="names with commas; a comma within one is written ;")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--again", action="store_true", help="run cells that are there already")
    parser.add_argument("--page", action="store_true")
    args = parser.parse_args()
    if args.page:
        from streams_page import write_page

        write_page(read_results(), list(METHODS))
    else:
        run(args)


if __name__ == "__main__":
    main()
