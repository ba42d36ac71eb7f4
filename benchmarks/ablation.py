"""What each part of `RobustSCNRegressor` is worth: one taken out at a time, all else at defaults.

Every model sees the same draws of data and the same seeds; the error is the root mean square on
clean test rows. What the method does is in frozen values: parameters, a schedule, a committee, a
scaling. Parts are taken out by replacing something in these. A row with other random numbers and
nothing taken out says how much of a difference is luck.

Draws are numbered from 600: those of smaller numbers were looked at while the method was made
or are another benchmark's.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from accuracy.sets import SETS as DRAWN
from numpy.typing import NDArray
from scipy import stats
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import minmax_scale

import robustscn
from robustscn import RobustSCNRegressor
from robustscn.core.arrays import middle
from robustscn.core.committee import Committee
from robustscn.core.inputs import Scaling, scaling_of
from robustscn.core.judging import Plan
from robustscn.core.least_squares import Tuned
from robustscn.core.member import Grown
from robustscn.core.problem import Problem
from robustscn.core.rows import Column, filled
from robustscn.core.verdict import not_gross
from robustscn.datasets import contaminate

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


def as_it_is(value: Any) -> Any:
    return value


def drawn_with(committee: Committee, **changes: Any) -> Committee:
    recipe = committee.recipe
    return replace(committee, recipe=replace(recipe, draw=replace(recipe.draw, **changes)))


def without_folds(committee: Committee) -> Committee:
    rows, weight = committee.problem.rows, committee.problem.weight
    return replace(committee, parts=replace(committee.parts, fold=filled(rows, -1.0, weight)))


class PlainResiduals(Committee):
    """Chooses ridges as ever, but judges rows by residuals they had a part in."""

    def _solved(self, weighted: Problem, members: Sequence[Grown]) -> list[Tuned]:
        return [
            replace(tuned, left_out=weighted.y - member.nodes.hidden(weighted.X) @ beta - constant)
            for tuned, member in zip(super()._solved(weighted, members), members, strict=True)
            for beta, constant in ((tuned.output_weights[:-1], tuned.output_weights[-1]),)
        ]


def with_plain_residuals(committee: Committee) -> Committee:
    return PlainResiduals(
        **{each.name: getattr(committee, each.name) for each in fields(Committee)}
    )


def narrow_from_the_start(plans: Sequence[Plan]) -> tuple[Plan, ...]:
    return tuple(replace(plan, floor=0.0) for plan in plans)


def linear_only(problem: Problem) -> Scaling:
    return replace(scaling_of(problem), ranked=(), knots=(), ranks=())


def without_gross(problem: Problem) -> Column:
    return not_gross(problem.rows, problem.y, problem.weight)


def all_believed(problem: Problem) -> Column:
    return filled(problem.rows, 1.0, problem.weight)


def never_cut(plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
    """Return the plans with every network kept as it grew."""
    return tuple(replace(plan, sized=False) for plan in plans)


def with_one_scale(plans: tuple[Plan, ...]) -> tuple[Plan, ...]:
    """Return the plans with nobody asked how noise depends on the inputs."""
    return tuple(replace(plan, local=False) for plan in plans)


@dataclass(frozen=True)
class Model:
    """The full model or one that lacks a part.

    Parameters
    ----------
    label : str
        What the page says was taken out.
    params : mapping
        Parameters that are not at their defaults.
    schedule, committee : callable
        From what happens in which round, and from who learns, to the same without the part.
    units, first_weights : callable
        From the rows to how they are scaled, and to how far they are believed at first.
    together : callable
        From all networks' outputs to the prediction.
    other_seed : bool
        Whether the networks' seed is another than the draw's.
    """

    label: str
    params: Mapping[str, Any] = field(default_factory=dict)
    schedule: Callable[[tuple[Plan, ...]], tuple[Plan, ...]] = as_it_is
    committee: Callable[[Committee], Committee] = as_it_is
    units: Callable[[Problem], Scaling] = scaling_of
    first_weights: Callable[[Problem], Column] = without_gross
    together: Callable[[Array], Array] = middle
    other_seed: bool = False

    def predictions(self, X: Array, y: Array, X_test: Array, seed: int, **settings: Any) -> Array:
        """Return what is predicted for test rows after fitting training rows."""
        params = {"random_state": seed + OTHER_SEED * self.other_seed, "n_jobs": 1}
        model = Ablated(**(params | settings | dict(self.params)))
        model.parts = self
        return model.fit(X, y).predict(X_test)

    def error(self, split: Sequence[Array], seed: int) -> float:
        """Return the error on test rows after fitting training rows."""
        X, y, X_test, y_test = split
        return float(np.sqrt(np.mean((self.predictions(X, y, X_test, seed) - y_test) ** 2)))


class Ablated(RobustSCNRegressor):
    """The estimator, made of the parts that a model leaves it."""

    parts: Model

    def _schedule(self) -> tuple[Plan, ...]:
        return self.parts.schedule(super()._schedule())

    def _committee(self, *args: Any) -> Committee:
        return self.parts.committee(super()._committee(*args))

    def _units(self, problem: Problem) -> Scaling:
        return self.parts.units(problem)

    def _first_weights(self, problem: Problem) -> Column:
        return self.parts.first_weights(problem)

    def _output(self, X: Array) -> Array:
        scaled = self._scaling.inputs(X)
        outputs = np.stack([network.output(scaled) for network in self._networks])
        return self.parts.together(outputs) + self._scaling.centre


MODELS = {
    "full": Model("nothing: the full model"),
    "other seed": Model("nothing, but other random numbers", other_seed=True),
    "sparse nodes": Model("nodes of few inputs", committee=partial(drawn_with, sparse=False)),
    "ranks": Model("ranks of inputs (linear scaling alone)", units=linear_only),
    "centres": Model(
        "node centres inside the data", committee=partial(drawn_with, centres=None, boxes=False)
    ),
    "ridge": Model(
        "ridge by leave-one-out (1e-6 instead)", committee=partial(replace, ridges=(1e-6,))
    ),
    "folds": Model(
        "judged by networks that have not seen the row (all grow on all rows)",
        committee=without_folds,
    ),
    "leave-one-out": Model(
        "leave-one-out residuals as evidence (plain ones)", committee=with_plain_residuals
    ),
    "narrowing": Model(
        "scale that narrows (narrow from the start)", schedule=narrow_from_the_start
    ),
    "doubt": Model("doubt where networks disagree", committee=partial(replace, doubt=0.0)),
    "median of networks": Model(
        "median of the networks as prediction (mean)", together=partial(np.mean, axis=0)
    ),
    "all ranks": Model(
        "no ranks of inputs that are spread evenly (all ranks)",
        units=partial(scaling_of, alike=2.0),
    ),
    "median": Model("median taken off the evidence", committee=partial(replace, centre=False)),
    "networks": Model("several networks (one)", {"n_networks": 1}),
    "second look": Model("second look", {"second_look": False}),
    "lines": Model("lines to begin with", committee=partial(replace, opening=None)),
    "local scale": Model("scale that follows the noise", schedule=with_one_scale),
    "sized": Model("networks cut back where unseen rows say so", schedule=never_cut),
    "mixture": Model("Geman and McClure's weights (a mixture's)", {"weighting": "mixture"}),
    "kde weights": Model("Geman and McClure's weights (KDE)", {"weighting": "kde"}),
    "huber weights": Model("Geman and McClure's weights (Huber's)", {"weighting": "huber"}),
    "reweighting": Model("reweighting (one round)", {"n_rounds": 1}),
    "guard": Model("guard against gross targets", first_weights=all_believed),
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


def interval(cells: Sequence[Mapping[str, Any]], fulls: Sequence[Mapping[str, Any]]) -> str:
    """Return a 95 % interval of the geometric mean of paired ratios, all draws of all sets."""
    pairs = [np.log(np.divide(c["each"], f["each"])) for c, f in zip(cells, fulls, strict=True)]
    # Sets are what they are: only draws within a set count as chance.
    middle = np.mean([np.mean(each) for each in pairs])
    variance = np.mean([np.var(each, ddof=1) / len(each) for each in pairs]) / len(pairs)
    reach = stats.t.ppf(0.975, sum(len(each) - 1 for each in pairs)) * np.sqrt(variance)
    return f"{np.exp(middle - reach):.2f} to {np.exp(middle + reach):.2f}"


def row(label: str, cells: Sequence[Mapping[str, Any]], fulls: Sequence[Mapping[str, Any]]) -> str:
    """Return one line of the table: errors and ratios, and what they come to over the sets."""
    shown = [f"{number(cell['rmse'])} ({number(cell['ratio'], 2)})" for cell in cells]
    if all(cell is full for cell, full in zip(cells, fulls, strict=True)):
        shown, known = [number(cell["rmse"]) for cell in cells], ["", ""]
    else:
        pairs = zip(cells, fulls, strict=True)
        ratios = np.concatenate([np.divide(c["each"], f["each"]) for c, f in pairs])
        mean = number(float(np.exp(np.mean(np.log(ratios)))), 2)
        known = [mean, interval(cells, fulls) if len(cells[0]["each"]) > 1 else ""]
    return f"| {label} | " + " | ".join([*shown, *known]) + " |"


def number(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}f}" if value < 1000 else f"{value:.0e}"


def table(report: Mapping[str, Any]) -> str:
    """Return the table that the page shows."""
    sets = report["sets"]
    lines = [
        f"Mean error over {report['draws']} draws of data and networks, in brackets its ratio to "
        "the full model's; then the geometric mean of the paired ratios of all draws and its "
        "95 % interval: what holds 1.00 is not told from luck. A quarter of the training targets "
        "is wrong (function: replaced by noise; others: noise added), of the clean set none. "
        "Rebuilt by "
        "`python benchmarks/ablation.py --page`.",
        "",
        "| taken out | " + " | ".join(sets) + " | paired ratio | 95 % |",
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
