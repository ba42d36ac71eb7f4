"""Units of work: some trials of one group of methods on one experiment at one outlier share.

A unit is a pure function of its fields, hence the same in any process and any order. Groups:

    choice    cross-validation on the dirty rows: of the baselines' grid and of PRNNRW's prior
    layers    RVFL, Improved RVFL, PRNNRW at the paper's and at the chosen prior, over a grid
    rsc-kde   RSC-KDE with clean validation rows, and its oracle: the wrong rows removed
    literal   RSC-KDE with its open choices as in the authors' published code; the same with nodes
              and round chosen on the test rows, which the printed figures seem to need
    ours      RobustSCNRegressor on its defaults, no clean rows
    rounds    RSC-KDE after each round, with a fixed number of nodes (Table 5)
    ablation  RSC-KDE with one open choice changed at a time
    treasury  what was tried to get the printed errors on that set
    curves    predictions of every method for the test rows (Figures 1 and 6)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from ..core.weighting import Curve
from ..estimators import RobustSCNRegressor, RSCKDERegressor
from .draws import Data, drawn, seeds
from .layers import Layer, Matrix, improved_rvfl, layers, prnnrw, rvfl
from .settings import (
    ORACLE_TRIALS,
    PAPER_RHO,
    RHOS,
    ROUND_SIZES,
    ROUNDS,
    TABLE_LEVELS,
    Experiment,
    ablations,
    rsc_kde,
    treasury_tries,
)

HONEST, ON_TEST = "RSC-KDE, literal", "RSC-KDE, chosen on the test rows"
BASELINES = ("RVFL", "Improved RVFL", "PRNNRW", "PRNNRW, tuned")
SECONDS = {
    "choice": 5.0,
    "layers": 1.5,
    "rsc-kde": 0.9,
    "literal": 2.2,
    "ours": 1.4,
    "rounds": 1.8,
    "ablation": 13.0,
    "treasury": 10.0,
    "curves": 3.0,
}
"""Rough cost of a trial on a core of 2024, for how long a run will take and the size of units."""

Cell = tuple[str, float, int]
"""Method, scope, number of nodes."""


@dataclass(frozen=True)
class Unit:
    """Some trials of a group.

    Parameters
    ----------
    experiment : Experiment
        Task, protocol and kind of data.
    level : float
        Share of wrong targets.
    group : str
        Which methods.
    trials : tuple of int
        Which trials.
    rho : float
        The chosen prior of PRNNRW, for `layers`.
    cells : tuple of Cell or None
        Cells of the grid, for `layers`; None for all.
    """

    experiment: Experiment
    level: float
    group: str
    trials: tuple[int, ...]
    rho: float = float("nan")
    cells: tuple[Cell, ...] | None = None


def run(unit: Unit) -> list[dict[str, Any]]:
    """Return the unit's trials: their seeds, processor seconds and errors on clean test rows."""
    return [_trial(unit, trial) for trial in unit.trials]


def _trial(unit: Unit, trial: int) -> dict[str, Any]:
    start = time.process_time()
    seed = seeds(unit.experiment, unit.level, trial)
    errors = _GROUPS[unit.group](unit, trial, seed["network"])
    return {
        "trial": trial,
        "data_seed": seed["data"],
        "network_seed": seed["network"],
        "seconds": round(time.process_time() - start, 3),
        **errors,
    }


def cell_name(cell: Cell) -> str:
    """Return a cell as it is written in results."""
    method, scope, size = cell
    return f"{method} | {scope:g} | {size}"


def cell_of(name: str) -> Cell:
    """Return the cell that a name in the results means."""
    method, scope, size = name.split(" | ")
    return method, float(scope), int(size)


def grid(experiment: Experiment) -> tuple[Cell, ...]:
    """Return all cells of the baselines."""
    task = experiment.task
    return tuple((m, s, n) for m in BASELINES for s in task.scopes for n in task.sizes)


def _solver(method: str, rho: float) -> Callable[[Layer, Matrix], Matrix]:
    return {
        "RVFL": rvfl,
        "Improved RVFL": improved_rvfl,
        "PRNNRW": lambda layer, y: prnnrw(layer, y, PAPER_RHO),
        "PRNNRW, tuned": lambda layer, y: prnnrw(layer, y, rho),
    }[method]


def _layers(unit: Unit, trial: int, seed: int) -> dict[str, Any]:
    data = drawn(unit.experiment, unit.level, trial)
    cells = unit.cells or grid(unit.experiment)
    errors = {}
    for scope in sorted({scope for _, scope, _ in cells}):
        here = [cell for cell in cells if cell[1] == scope]
        built = layers(data.X, data.X_test, scope, {size for *_, size in here}, seed)
        for method, _, size in here:
            prediction = _solver(method, unit.rho)(built[size], data.y)
            errors[cell_name((method, scope, size))] = data.rmse(prediction)
    return {"rmse": errors, "rho": unit.rho}


def _choice(unit: Unit, trial: int, seed: int) -> dict[str, Any]:
    """Return each cell's mean absolute error on dirty rows left out, and the chosen prior."""
    task = unit.experiment.task
    data = drawn(unit.experiment, unit.level, trial)
    folds = list(KFold(3, shuffle=True, random_state=seed).split(data.X))
    built = {
        (scope, k): layers(data.X[a], data.X[b], scope, task.sizes, seed)
        for scope in task.scopes
        for k, (a, b) in enumerate(folds)
    }

    def loss(solve: Callable[[Layer, Matrix], Matrix], scope: float, size: int) -> float:
        errors = [
            np.abs(data.y[b] - solve(built[scope, k][size], data.y[a])).mean()
            for k, (a, b) in enumerate(folds)
        ]
        return float(np.mean(errors))

    def best_loss(rho: float) -> float:
        size = task.figure_size
        return min(loss(_solver("PRNNRW, tuned", rho), scope, size) for scope in task.scopes)

    rho = min(RHOS, key=best_loss)
    losses = {
        cell_name(cell): loss(_solver(cell[0], rho), cell[1], cell[2])
        for cell in grid(unit.experiment)
    }
    return {"rho": rho, "loss": losses}


def _fitted_with_validation(model: RSCKDERegressor, data: Data) -> RSCKDERegressor:
    return model.fit(data.X, data.y, X_val=data.X_val, y_val=data.y_val)


class Believing(Curve):
    """Every row weighs the same: what remains of a round is another draw of the network."""

    def weight(self, distance: Matrix) -> Matrix:
        """Return ones."""
        return np.ones_like(distance)


def _rsc_kde(unit: Unit, trial: int, seed: int) -> dict[str, Any]:
    data = drawn(unit.experiment, unit.level, trial)
    settings = rsc_kde(unit.experiment.task)
    model = _fitted_with_validation(RSCKDERegressor(**settings, random_state=seed), data)
    errors = {"RSC-KDE": data.rmse(model.predict(data.X_test))}
    beside = unit.experiment.data == "fixed" or unit.level not in TABLE_LEVELS
    if trial < ORACLE_TRIALS and not beside:
        # As many networks to choose from as RSC-KDE has, or the choice would be its advantage.
        oracle = RSCKDERegressor(**settings, weighting=Believing(), random_state=seed)
        right = ~data.wrong
        oracle.fit(data.X[right], data.y[right], X_val=data.X_val, y_val=data.y_val)
        errors["oracle"] = data.rmse(oracle.predict(data.X_test))
    return {
        "rmse": errors,
        "n_nodes": model.n_nodes_,
        "n_rounds": model.n_rounds_,
        "stop_reason": model.stop_reason_,
        "rows": [len(data.y), len(data.y_val), len(data.y_test)],
        "n_inputs": data.X.shape[1],
    }


def _literal(unit: Unit, trial: int, seed: int) -> dict[str, Any]:
    """Return errors of the literal algorithm, honest and with nodes and round chosen on test rows.

    The second has the paper's two parts, training rows and all others: there is no third.
    """
    task = unit.experiment.task
    data = drawn(unit.experiment, unit.level, trial)
    settings = rsc_kde(task, literal=True)
    model = _fitted_with_validation(RSCKDERegressor(**settings, random_state=seed), data)
    X, y = (data.X_test, data.y_test) if task.steep else data.unseen
    chosen = RSCKDERegressor(**settings, random_state=seed).fit(data.X, data.y, X_val=X, y_val=y)
    return {
        "rmse": {HONEST: data.rmse(model.predict(data.X_test)), ON_TEST: _rmse(chosen, X, y)},
        "n_nodes": model.n_nodes_,
        "n_rounds": model.n_rounds_,
    }


def _rmse(model: RSCKDERegressor, X: Matrix, y: Matrix) -> float:
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def _treasury(unit: Unit, trial: int, seed: int) -> dict[str, Any]:
    data = drawn(unit.experiment, unit.level, trial)
    X, y = data.unseen
    errors = {}
    for name, each in treasury_tries().items():
        rows = ~data.wrong if each.right_only else slice(None)
        split = round(each.share * len(y))
        chosen, tested = slice(split), slice(split if each.share < 1 else 0, None)
        model = RSCKDERegressor(**each.settings, random_state=seed)
        model.fit(data.X[rows], data.y[rows], X_val=X[chosen], y_val=y[chosen])
        errors[name] = _rmse(model, X[tested], y[tested])
    return {"rmse": errors}


def _ours(unit: Unit, trial: int, seed: int) -> dict[str, Any]:
    data = drawn(unit.experiment, unit.level, trial)
    model = RobustSCNRegressor(n_jobs=1, random_state=seed).fit(data.X, data.y)
    found = model.outliers_ & data.wrong
    return {
        "rmse": {"RobustSCN": data.rmse(model.predict(data.X_test))},
        "found": int(found.sum()),
        "wrong": int(data.wrong.sum()),
        "suspected": int(model.outliers_.sum()),
    }


def _errors_after(rounds: Sequence[int], model: RSCKDERegressor, data: Data) -> list[float]:
    """Return the test errors of one fit that goes on from each number of rounds to the next."""
    errors = []
    for n_rounds in rounds:
        model.set_params(n_rounds=n_rounds, warm_start=True).fit(data.X, data.y)
        errors.append(data.rmse(model.predict(data.X_test)))
    return errors


def _rounds(unit: Unit, trial: int, seed: int) -> dict[str, Any]:
    """Return the error after each of Table 5's rounds for each of its numbers of nodes."""
    data = drawn(unit.experiment, unit.level, trial)
    errors = {}
    for size in ROUND_SIZES:
        # With the task's few scopes the search gives up near 40 nodes; the literal one does not.
        settings = rsc_kde(unit.experiment.task, literal=True) | {"max_nodes": size}
        model = RSCKDERegressor(**settings, random_state=seed)
        for rounds, error in zip(ROUNDS, _errors_after(ROUNDS, model, data), strict=True):
            errors[f"{rounds} | {size}"] = error
    return {"rmse": errors}


def _ablation(unit: Unit, trial: int, seed: int) -> dict[str, Any]:
    errors = {}
    for name, (settings, n_validation) in ablations().items():
        data = drawn(unit.experiment, unit.level, trial, n_validation)
        model = _fitted_with_validation(RSCKDERegressor(**settings, random_state=seed), data)
        errors[name] = data.rmse(model.predict(data.X_test))
    return {"rmse": errors}


def _curves(unit: Unit, trial: int, seed: int) -> dict[str, Any]:
    """Return the rows of one trial and what each method predicts for its test rows."""
    task = unit.experiment.task
    data = drawn(unit.experiment, unit.level, trial)
    scope, size = (50.0, 100) if task.steep else (1.0, task.figure_size)
    layer = layers(data.X, data.X_test, scope, [size], seed)[size]
    curves = {m: _solver(m, PAPER_RHO)(layer, data.y) for m in BASELINES[:3]}
    model = RSCKDERegressor(**rsc_kde(task), random_state=seed)
    curves["RSC-KDE"] = _fitted_with_validation(model, data).predict(data.X_test)
    ours = RobustSCNRegressor(n_jobs=1, random_state=seed).fit(data.X, data.y)
    curves["RobustSCN"] = ours.predict(data.X_test)
    rows = {"x": data.X[:, 0], "y": data.y, "x_test": data.X_test[:, 0], "truth": data.y_test}
    return {
        "rows": {name: np.round(values, 5).tolist() for name, values in rows.items()},
        "wrong": np.flatnonzero(data.wrong).tolist(),
        "predictions": {name: np.round(values, 5).tolist() for name, values in curves.items()},
    }


_GROUPS: dict[str, Callable[[Unit, int, int], dict[str, Any]]] = {
    "choice": _choice,
    "layers": _layers,
    "rsc-kde": _rsc_kde,
    "literal": _literal,
    "ours": _ours,
    "rounds": _rounds,
    "ablation": _ablation,
    "treasury": _treasury,
    "curves": _curves,
}
