"""What each part of `RobustSCNRegressor` is worth: one taken out at a time, all else at defaults.

Every model sees the same draws of data and the same seeds; the error is the root mean square on
clean test rows. Parts are taken out by parameters or, for the time of one fit and its
predictions, by a stand-in for a name of the package. A row with other random numbers and
nothing taken out says how much of a difference is luck.

Draws are numbered from 600: those of smaller numbers were looked at while the method was made
or are another benchmark's.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy
import sklearn
from accuracy_sets import SETS as DRAWN
from numpy.typing import NDArray
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import minmax_scale

import robustscn
from robustscn import RobustSCNRegressor
from robustscn.core import committee
from robustscn.core import inputs as scaling
from robustscn.core.inputs import Scaling
from robustscn.core.least_squares import Tuned, ridge_by_leave_one_out
from robustscn.core.proposals import Draw
from robustscn.core.rows import filled
from robustscn.datasets import contaminate
from robustscn.estimators import flagship

Array = NDArray[np.float64]

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "ablation.json"
PAGE = HERE.parent / "docs" / "how-it-judges.md"
START, STOP = "<!-- ablation -->", "<!-- /ablation -->"
SETS = {
    "function": "replace",
    "concrete": "add",
    "stock": "add",
    "laser": "add",
    "friedman": "add",
    "treasury, clean": None,
}
"""What is done to a quarter of each set's training targets. Of friedman's 20 inputs 5 matter."""
SHARE, FIRST_DRAW, OTHER_SEED = 0.25, 600, 1000


def drawn_with(**changes: Any) -> Callable[..., Draw]:
    def draw(*args: Any, **kwargs: Any) -> Draw:
        return Draw(*args, **(kwargs | changes))

    return draw


def linear_only(learned: Scaling, X: Array) -> Array:
    return (X - learned.low) / learned.width


def no_folds(problem: Any, _seed: int, _n_different: int) -> Any:
    return filled(problem.rows, -1.0, problem.weight)


def tuned_with_plain_residuals(
    rows: Any, X: Any, y: Any, weight: Any, hidden: Any, *args: Any, **kwargs: Any
) -> Tuned:
    """Choose the ridge as ever, but judge rows by residuals they had a part in."""
    tuned = ridge_by_leave_one_out(rows, X, y, weight, hidden, *args, **kwargs)
    weights, constant = tuned.output_weights[:-1], tuned.output_weights[-1]
    plain = rows.map(lambda x, t: t - hidden(x) @ weights - constant, X, y)
    return replace(tuned, left_out=plain)


def narrow_from_the_start(problem: Any) -> Callable[..., Array]:
    return lambda _number, _evidence: np.zeros(problem.y.shape[1])


def uncentred(_problem: Any, residuals: Any) -> Any:
    return residuals


def mean(outputs: Array) -> Array:
    return outputs.mean(axis=0)


def all_believed(problem: Any) -> Any:
    return filled(problem.rows, 1.0, problem.weight)


@dataclass(frozen=True)
class Model:
    """The full model or one that lacks a part.

    Parameters
    ----------
    label : str
        What the page says was taken out.
    params : mapping
        Parameters that are not at their defaults.
    stand_ins : tuple of (owner, name, stand-in)
        What takes the place of names of the package.
    other_seed : bool
        Whether the networks' seed is another than the draw's.
    """

    label: str
    params: Mapping[str, Any] = field(default_factory=dict)
    stand_ins: tuple[tuple[Any, str, Any], ...] = ()
    other_seed: bool = False

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the stand-ins in their places while the context lasts."""
        with ExitStack() as stack:
            for owner, name, stand_in in self.stand_ins:
                stack.enter_context(patch.object(owner, name, stand_in))
            yield

    def predictions(self, X: Array, y: Array, X_test: Array, seed: int, **settings: Any) -> Array:
        """Return what is predicted for test rows after fitting training rows."""
        params = {"random_state": seed + OTHER_SEED * self.other_seed, "n_jobs": 1}
        with self.in_place():
            model = RobustSCNRegressor(**(params | settings | dict(self.params)))
            return model.fit(X, y).predict(X_test)

    def error(self, split: Sequence[Array], seed: int) -> float:
        """Return the error on test rows after fitting training rows."""
        X, y, X_test, y_test = split
        return float(np.sqrt(np.mean((self.predictions(X, y, X_test, seed) - y_test) ** 2)))


UNGUARDED = tuple((module, "not_gross", all_believed) for module in (flagship, committee))
MODELS = {
    "full": Model("nothing: the full model"),
    "other seed": Model("nothing, but other random numbers", other_seed=True),
    "sparse nodes": Model(
        "nodes of few inputs", stand_ins=((flagship, "Draw", drawn_with(sparse=False)),)
    ),
    "ranks": Model(
        "ranks of inputs (linear scaling alone)", stand_ins=((Scaling, "inputs", linear_only),)
    ),
    "centres": Model(
        "node centres inside the data",
        stand_ins=((flagship, "Draw", drawn_with(centres=None, boxes=False)),),
    ),
    "ridge": Model(
        "ridge by leave-one-out (1e-6 instead)",
        stand_ins=((committee, "RIDGES", np.array([1e-6])),),
    ),
    "folds": Model(
        "judged by networks that have not seen the row (all grow on all rows)",
        stand_ins=((committee, "fold_of_rows", no_folds),),
    ),
    "leave-one-out": Model(
        "leave-one-out residuals as evidence (plain ones)",
        stand_ins=((committee, "ridge_by_leave_one_out", tuned_with_plain_residuals),),
    ),
    "narrowing": Model(
        "scale that narrows (narrow from the start)",
        stand_ins=((flagship, "narrowing", narrow_from_the_start),),
    ),
    "doubt": Model("doubt where networks disagree", stand_ins=((committee, "DOUBT", 0.0),)),
    "median of networks": Model(
        "median of the networks as prediction (mean)", stand_ins=((flagship, "middle", mean),)
    ),
    "all ranks": Model(
        "no ranks of inputs that are spread evenly (all ranks)",
        stand_ins=((scaling, "ALIKE", 2.0),),
    ),
    "median": Model(
        "median taken off the evidence", stand_ins=((committee, "centred", uncentred),)
    ),
    "networks": Model("several networks (one)", {"n_networks": 1}),
    "second look": Model("second look", {"second_look": False}),
    "mixture": Model(
        "weights that adapt to how many rows are wrong (Geman-McClure to the end)",
        {"weighting": "geman-mcclure"},
    ),
    "kde weights": Model("both weights (KDE throughout)", {"weighting": "kde"}),
    "huber weights": Model("both weights (Huber throughout)", {"weighting": "huber"}),
    "reweighting": Model("reweighting (one round)", {"n_rounds": 1}),
    "guard": Model("guard against gross targets", stand_ins=UNGUARDED),
}
GROSS = ("full", "guard")
"""Models that also meet a target of a million times its size."""


def clean(name: str, draw: int) -> tuple[Array, Array, Array, Array]:
    """Return training inputs and targets, test inputs and targets of one draw."""
    if name != "friedman":
        split = DRAWN[name.removesuffix(", clean")](draw)
        return split.X, split.y, split.X_test, split.y_test
    X, y = make_friedman1(1200, n_features=20, random_state=draw)
    y = minmax_scale(y)
    return X[:600], y[:600], X[600:], y[600:]


def with_gross(y: Array, draw: int) -> Array:
    """Multiply one target, of those that are not small, by a million."""
    large = np.flatnonzero(np.abs(y) >= np.median(np.abs(y)))
    spoiled = y.copy()
    spoiled[np.random.default_rng([draw, 1]).choice(large)] *= 1e6
    return spoiled


def errors_of(name: str, draw: int) -> dict[str, dict[str, float]]:
    """Return the error of every model on one draw of a set, without and with a gross target."""
    X, y, *test = clean(name, draw)
    protocol = SETS[name]
    dirty = y if protocol is None else contaminate(y, SHARE, protocol=protocol, rng=draw)[0]
    start = time.process_time()
    errors = {key: model.error((X, dirty, *test), draw) for key, model in MODELS.items()}
    spoiled = with_gross(dirty, draw)
    gross = {key: MODELS[key].error((X, spoiled, *test), draw) for key in GROSS}
    seconds = time.process_time() - start
    print(f"{name} {draw}: {len(errors) + len(gross)} fits, {seconds:.0f} s", flush=True)
    return {"errors": errors, "gross": gross}


def summary(draws: Sequence[Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """Return each model's errors, their mean, and its ratio to that of the full model."""
    each = {key: [errors[key] for errors in draws] for key in draws[0]}
    full = np.mean(each["full"])
    return {
        key: {"each": e, "rmse": float(np.mean(e)), "ratio": float(np.mean(e) / full)}
        for key, e in each.items()
    }


def kept_cells(results: Path, n_draws: int) -> dict[str, Any]:
    """Return the results of sets that are there already, if of the same draws."""
    if not results.exists():
        return {}
    report = json.loads(results.read_text())
    return report["sets"] if report["draws"] == n_draws else {}


def report_of(cells: Mapping[str, Any], n_draws: int) -> dict[str, Any]:
    return {
        "what": "RMSE on clean test rows, 25 % of training targets wrong but for the clean set's; "
        "ratio to the full model",
        "draws": n_draws,
        "first_draw": FIRST_DRAW,
        "protocols": {name: SETS[name] for name in SETS if name in cells},
        "sets": {name: cells[name] for name in SETS if name in cells},
        "machine": {
            "architecture": platform.machine(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "robustscn": robustscn.__version__,
        },
    }


def row(label: str, cells: Sequence[Mapping[str, Any]], fulls: Sequence[Mapping[str, Any]]) -> str:
    """Return one line of the table: errors, ratios, their geometric mean, draws that got worse."""
    shown = [f"{number(cell['rmse'])} ({number(cell['ratio'], 2)})" for cell in cells]
    mean = number(float(np.exp(np.mean(np.log([cell["ratio"] for cell in cells])))), 2)
    pairs = zip(cells, fulls, strict=True)
    changes = np.concatenate([np.subtract(c["each"], f["each"]) for c, f in pairs])
    worse = f"{np.count_nonzero(changes > 0)} of {len(changes)}"
    if all(cell is full for cell, full in zip(cells, fulls, strict=True)):
        shown, mean, worse = [number(cell["rmse"]) for cell in cells], "", ""
    return f"| {label} | " + " | ".join([*shown, mean, worse]) + " |"


def number(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}f}" if value < 1000 else f"{value:.0e}"


def table(report: Mapping[str, Any]) -> str:
    """Return the table that the page shows."""
    sets = report["sets"]
    lines = [
        f"Mean error over {report['draws']} draws of data and networks, in brackets its ratio to "
        "the full model's; then the geometric mean of the ratios and the draws in which the "
        "error was larger than the full model's. A quarter of the training targets is wrong "
        "(function: replaced by noise; others: noise added), of the clean set none. Rebuilt by "
        "`python benchmarks/ablation.py --page`.",
        "",
        "| taken out | " + " | ".join(sets) + " | mean ratio | worse in |",
        "| --- |" + " ---: |" * (len(sets) + 2),
    ]
    for condition, suffix in (("errors", ""), ("gross", "; one target times a million")):
        results = [cell[condition] for cell in sets.values()]
        fulls = [result["full"] for result in results]
        lines += [
            row(MODELS[key].label + suffix, [result[key] for result in results], fulls)
            for key in results[0]
        ]
    return "\n".join(lines)


def measured(page: str, report: Mapping[str, Any]) -> str:
    """Return the page with its measured part made anew."""
    before, rest = page.split(START)
    _, after = rest.split(STOP)
    return f"{before}{START}\n\n{table(report)}\n\n{STOP}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=4, help="draws of data and networks")
    parser.add_argument(
        "--sets", nargs="+", choices=SETS, help="only these; results of the others are kept"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes, one draw at a time each")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true", help="only write the page, from the results")
    arguments = parser.parse_args()
    if arguments.page:
        PAGE.write_text(measured(PAGE.read_text(), json.loads(arguments.out.read_text())))
        return
    cells = kept_cells(arguments.out, arguments.draws) if arguments.sets else {}
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for name in arguments.sets or SETS:
            numbers = range(FIRST_DRAW, FIRST_DRAW + arguments.draws)
            found = list(pool.map(partial(errors_of, name), numbers))
            cells[name] = {key: summary([draw[key] for draw in found]) for key in found[0]}
            for key, cell in cells[name]["errors"].items():
                print(f"  {name:9} {key:15} {cell['rmse']:.4f} {cell['ratio']:.3f}", flush=True)
            arguments.out.parent.mkdir(parents=True, exist_ok=True)
            report = report_of(cells, arguments.draws)
            arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
