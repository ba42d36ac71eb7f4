"""How sure: whether intervals cover clean targets, and how many flagged rows are really wrong.

Training targets are spoiled, test targets are clean. Beside `RobustSCNRegressor` and
`RobustRegressor` stand MAPIE's CV+ and split conformal intervals, around the same boosted trees and
around `RobustSCNRegressor`, and a quantile forest, which all believe every row that they calibrate
on, and an oracle: `RobustSCNRegressor` without the rows that were spoiled, whose
intervals are as wide as they have to be. Nominal: 90 % of clean test targets inside, 10 % of the
flagged rows right. Flags stand beside those of cleanlab's CleanLearning around the same trees.

    python benchmarks/certainty.py             what is missing in the results; half an hour
    python benchmarks/certainty.py --draws 20 --methods 'RobustSCN;oracle'
                                               more draws, of some methods only
    python benchmarks/certainty.py --again 'RobustSCN;oracle'
                                               these once more, the others as they are
    python benchmarks/certainty.py --page      docs/certainty.md from the committed results

Draws are numbered from 8000, which no other benchmark uses and nothing was tuned on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from rich.progress import track
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from robustscn import RobustRegressor, RobustSCNRegressor
from robustscn.datasets import load_keel

Array = NDArray[np.float64]
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "certainty.json"
PAGE = HERE.parent / "docs" / "certainty.md"
START, STOP = "<!-- measured -->", "<!-- /measured -->"
COVERAGE, FIRST_DRAW = 0.9, 8000
Results = dict[str, dict[str, Any]]
CONDITIONS = {
    "none": ("add", 0.0),
    "add 10 %": ("add", 0.1),
    "add 25 %": ("add", 0.25),
    "add 40 %": ("add", 0.4),
    "replace 25 %": ("replace", 0.25),
    "one side 25 %": ("one side", 0.25),
}
"""How targets are spoiled, and what share of them. `add`: up to half the range either way;
`replace`: any value within the range instead; `one side`: up to the range, upwards."""


@dataclass(frozen=True)
class Draw:
    """Training rows, some of them wrong, clean test rows, and how noisy these are."""

    X: Array
    y: Array
    wrong: NDArray[np.bool_]
    X_test: Array
    y_test: Array
    level: Array


def keel(name: str) -> Callable[[np.random.Generator], tuple[Array, ...]]:
    def rows(rng: np.random.Generator) -> tuple[Array, ...]:
        X, y = load_keel(name, return_X_y=True)
        seed = int(rng.integers(2**31))
        parts = train_test_split(
            minmax_scale(X), minmax_scale(y), train_size=0.75, random_state=seed
        )
        return parts[0], parts[2], parts[1], parts[3], np.zeros(len(parts[3]))

    return rows


def made(noise: Callable[[np.random.Generator, Array], tuple[Array, Array]]) -> Any:
    """Friedman's function of eight inputs, of which five matter, with noise of some kind."""

    def rows(rng: np.random.Generator) -> tuple[Array, ...]:
        X = rng.uniform(size=(3000, 8))
        bump = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
        errors, level = noise(rng, X)
        y = (bump + 10 * X[:, 3] + 5 * X[:, 4]) / 25 + 0.04 * errors
        return X[:1000], y[:1000], X[1000:], y[1000:], level[1000:]

    return rows


def even(rng: np.random.Generator, X: Array) -> tuple[Array, Array]:
    return rng.normal(size=len(X)), np.zeros(len(X))


def fanning(rng: np.random.Generator, X: Array) -> tuple[Array, Array]:
    level = 0.3 * 10 ** X[:, 5]
    return level * rng.normal(size=len(X)), level


def skewed(rng: np.random.Generator, X: Array) -> tuple[Array, Array]:
    return rng.exponential(size=len(X)) - np.log(2.0), np.zeros(len(X))


SETS: dict[str, Callable[[np.random.Generator], tuple[Array, ...]]] = {
    "concrete": keel("concrete"),
    "stock": keel("stock"),
    "laser": keel("laser"),
    "treasury": keel("treasury"),
    "Friedman, even noise": made(even),
    "Friedman, noise grows tenfold": made(fanning),
    "Friedman, skewed noise": made(skewed),
}


def drawn(name: str, condition: str, number: int) -> Draw:
    """Return a draw with some of its training targets spoiled."""
    rng = np.random.default_rng((FIRST_DRAW + number, list(SETS).index(name)))
    X, y, X_test, y_test, level = SETS[name](rng)
    kind, share = CONDITIONS[condition]
    wrong = rng.permutation(len(y)) < round(share * len(y))
    low, high = np.quantile(y, [0.01, 0.99])
    spoiled = {
        "add": y + (high - low) * rng.uniform(-0.5, 0.5, len(y)),
        "replace": rng.uniform(low, high, len(y)),
        "one side": y + (high - low) * rng.uniform(0.0, 1.0, len(y)),
    }[kind]
    return Draw(X, np.where(wrong, spoiled, y), wrong, X_test, y_test, level)


def ours(draw: Draw) -> tuple[Any, Array]:
    model = RobustSCNRegressor(random_state=0).fit(draw.X, draw.y)
    return model, model.predict_interval(draw.X_test, COVERAGE)


def trees(draw: Draw) -> tuple[Any, Array]:
    boosting = HistGradientBoostingRegressor(random_state=0)
    model = RobustRegressor(boosting, random_state=0).fit(draw.X, draw.y)
    return model, model.predict_interval(draw.X_test, COVERAGE)


def mapie_cross(regressor: Any) -> Callable[[Draw], tuple[Any, Array]]:
    """Return CV+ around a regressor: what five clones miss of rows they have not seen."""

    def interval(draw: Draw) -> tuple[Any, Array]:
        from mapie.regression import CrossConformalRegressor

        model = CrossConformalRegressor(clone(regressor), COVERAGE, cv=5, random_state=0)
        _, ends = model.fit_conformalize(draw.X, draw.y).predict_interval(draw.X_test)
        return None, ends[:, :, 0]

    return interval


def mapie_split(regressor: Any) -> Callable[[Draw], tuple[Any, Array]]:
    """Return split conformal prediction: what a regressor misses of a third of the rows."""

    def interval(draw: Draw) -> tuple[Any, Array]:
        from mapie.regression import SplitConformalRegressor

        parts = train_test_split(draw.X, draw.y, test_size=1 / 3, random_state=0)
        X, X_conform, y, y_conform = parts
        model = SplitConformalRegressor(clone(regressor), COVERAGE, prefit=False).fit(X, y)
        _, ends = model.conformalize(X_conform, y_conform).predict_interval(draw.X_test)
        return None, ends[:, :, 0]

    return interval


def forest(draw: Draw) -> tuple[Any, Array]:
    from quantile_forest import RandomForestQuantileRegressor

    ends = [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]
    model = RandomForestQuantileRegressor(min_samples_leaf=5, random_state=0).fit(draw.X, draw.y)
    return None, np.asarray(model.predict(draw.X_test, quantiles=ends))


def cleanlab(draw: Draw) -> dict[str, Any]:
    """Return what CleanLearning flags, and what it would at any number of right rows flagged."""
    from cleanlab.regression.learn import CleanLearning

    learning = CleanLearning(HistGradientBoostingRegressor(random_state=0), seed=0)
    shares = [0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4]  # on its own it stops at 0.2
    issues = learning.find_label_issues(draw.X, draw.y, coarse_search_range=shares)
    flagged = issues["is_label_issue"].to_numpy()
    right = ~draw.wrong[np.argsort(issues["label_quality"].to_numpy(), kind="stable")]
    good = np.cumsum(right)
    rate = good / np.arange(1, len(right) + 1)
    bad = [int((~right)[: 1 + max(np.flatnonzero(rate <= p), default=-1)].sum()) for p in RATES]
    return {
        "flagged": float(flagged.sum()),
        "found": float((flagged & draw.wrong).sum()),
        "wrong": float(draw.wrong.sum()),
        "found at": " ".join(map(str, bad)),
    }


def oracle(draw: Draw) -> tuple[Any, Array]:
    right = ~draw.wrong
    model = RobustSCNRegressor(random_state=0).fit(draw.X[right], draw.y[right])
    return None, model.predict_interval(draw.X_test, COVERAGE)


BOOSTING, NETWORKS = (
    HistGradientBoostingRegressor(random_state=0),
    RobustSCNRegressor(random_state=0),
)
METHODS = {
    "RobustSCN": ours,
    "RobustRegressor, trees": trees,
    "MAPIE CV+, trees": mapie_cross(BOOSTING),
    "MAPIE split, trees": mapie_split(BOOSTING),
    "MAPIE CV+, RobustSCN": mapie_cross(NETWORKS),
    "MAPIE split, RobustSCN": mapie_split(NETWORKS),
    "quantile forest": forest,
    "oracle": oracle,
}
FLAGGING = ("RobustSCN", "RobustRegressor, trees")
CLEANLAB = "CleanLearning, trees"
"""Gives no intervals and no rate of false flags, but an order of the rows."""
RATES = np.arange(31) / 100
"""Shares of right rows among the flagged at which the order of the rows is compared."""


def measured(method: str, draw: Draw) -> dict[str, Any]:
    """Return coverage, mean width, and how many rows are flagged, wrong and both."""
    if method == CLEANLAB:
        return cleanlab(draw)
    model, interval = METHODS[method](draw)
    inside = (interval[:, 0] <= draw.y_test) & (draw.y_test <= interval[:, 1])
    found = {"coverage": float(inside.mean()), "width": float(np.ptp(interval, axis=1).mean())}
    if np.ptp(draw.level) > 0:
        fifths = np.quantile(draw.level, np.linspace(0, 1, 6)[1:-1])
        part = np.searchsorted(fifths, draw.level)
        found |= {f"fifth {k}": float(inside[part == k].mean()) for k in range(5)}
    if model is not None:
        found |= {
            "flagged": float(model.outliers_.sum()),
            "found": float((model.outliers_ & draw.wrong).sum()),
            "wrong": float(draw.wrong.sum()),
            "estimated": float(model.estimated_outlier_share_),
        }
    return {key: round(value, 4) for key, value in found.items()}


def cells(n_draws: int, methods: Sequence[str]) -> Iterator[tuple[str, str, str, int]]:
    for number in range(n_draws):
        for name in SETS:
            for condition in CONDITIONS:
                for method in methods:
                    if method != CLEANLAB or CONDITIONS[condition][1]:
                        yield method, name, condition, number


def run(n_draws: int, methods: Sequence[str], jobs: int, *, again: bool) -> None:
    """Measure what is missing, and keep each result as soon as it is there."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if again:
        results = {k: found for k, found in results.items() if k.split(" / ")[0] not in methods}
    wanted = cells(n_draws, methods)
    missing = [cell for cell in wanted if " / ".join(map(str, cell)) not in results]
    work = (delayed(_one)(cell) for cell in missing)
    done = Parallel(n_jobs=jobs, return_as="generator_unordered")(work)
    for key, found in track(done, "Measuring", total=len(missing)):
        results[key] = found
        RESULTS.write_text(json.dumps(results, indent=0, sort_keys=True) + "\n")


def _one(cell: tuple[str, str, str, int]) -> tuple[str, dict[str, float]]:
    method, *which = cell
    return " / ".join(map(str, cell)), measured(method, drawn(*which))


def page_of(page: str, results: Results) -> str:
    """Return the page with the tables between its marks made anew."""
    before, rest = page.split(START)
    _, after = rest.split(STOP)
    rivals = [name for name in METHODS if name.startswith("MAPIE")]
    others = [name for name in METHODS if name not in rivals and name != "oracle"]
    tables = [
        _short(results),
        "### Intervals\n",
        "Share of clean test targets inside, nominal 90 %, and in brackets the mean width over the"
        " oracle's, which is `RobustSCNRegressor` without the spoiled rows.\n",
        _coverage(results, others),
        "*draws*: of the first; of the others, where fewer. *fifths*: the lowest and the highest"
        " mean coverage of a fifth of the test rows, sorted by how noisy they are.\n",
        "### Intervals of MAPIE\n",
        "The same of conformal intervals, which are calibrated on all rows, the wrong ones too:"
        " around boosted trees and around `RobustSCNRegressor`.\n",
        _coverage(results, rivals),
        _flags(results),
    ]
    return before + START + "\n" + "\n".join(tables) + STOP + after


def _short(results: Results) -> str:
    """Return what the tables come to, in three sentences."""
    cells = [(name, condition) for name in SETS for condition in CONDITIONS]
    covered: dict[str, list[float]] = {}
    wider: dict[str, list[float]] = {}
    false: list[float] = []
    for cell in cells:
        for method in METHODS:
            found = _of(results, method, *cell)
            covered.setdefault(method, []).append(np.mean([e["coverage"] for e in found]))
            wider.setdefault(method, []).append(_width(results, method, *cell))
        found = [e for e in _of(results, "RobustSCN", *cell) if e["wrong"] and e["flagged"]]
        false += [np.mean([1 - e["found"] / e["flagged"] for e in found])] if found else []
    low, high = 100 * min(covered["RobustSCN"]), 100 * max(covered["RobustSCN"])
    near = sum(0.88 <= each <= 0.92 for each in covered["RobustSCN"])
    return (
        f"In short: `RobustSCNRegressor`'s intervals cover {low:.0f} to {high:.0f} % (within two "
        f"points of 90 in {near} of {len(cells)} cells) and are {min(wider['RobustSCN']):.2f} to "
        f"{max(wider['RobustSCN']):.2f} times as wide as the oracle's; MAPIE's are up to "
        f"{max(wider['MAPIE CV+, trees']):.0f} times, around `RobustSCNRegressor` itself up to "
        f"{max(wider['MAPIE CV+, RobustSCN']):.0f} times, a quantile forest's up to "
        f"{max(wider['quantile forest']):.0f} times, and cover nearly everything. Of the rows that "
        f"it flags at most {100 * max(false):.0f} % are right in any cell.\n"
    )


def _of(results: Results, method: str, name: str, condition: str) -> list[dict[str, float]]:
    start = f"{method} / {name} / {condition} / "
    return [value for key, value in results.items() if key.startswith(start)]


def _widths(results: Results, method: str, name: str, condition: str) -> dict[str, float]:
    """Return the width of a method's intervals in each draw."""
    start = f"{method} / {name} / {condition} / "
    return {key[len(start) :]: e["width"] for key, e in results.items() if key.startswith(start)}


def _width(results: Results, method: str, name: str, condition: str) -> float:
    """Return the mean width of a method's intervals over the oracle's on the same draws."""
    own, needed = (_widths(results, each, name, condition) for each in (method, "oracle"))
    return float(np.mean(list(own.values())) / np.mean([needed[number] for number in own]))


def _coverage(results: Results, methods: Sequence[str]) -> str:
    lines = [
        "| set | spoiled | draws | " + " | ".join(methods) + " |",
        "| --- | ---: | ---: | " + " | ".join("---:" for _ in methods) + " |",
    ]
    for name in SETS:
        for condition in CONDITIONS:
            entries, draws = [], []
            for method in methods:
                found = _of(results, method, name, condition)
                if not found:
                    entries.append("not run")
                    continue
                covered = np.mean([each["coverage"] for each in found])
                width = _width(results, method, name, condition)
                draws.append(len(found))
                entry = f"{100 * covered:.1f} % ({width:.2f})"
                if "fifth 0" in found[0]:
                    fifths = [np.mean([each[f"fifth {k}"] for each in found]) for k in range(5)]
                    entry += f"; fifths {100 * min(fifths):.0f} to {100 * max(fifths):.0f} %"
                entries.append(entry)
            count = f"{max(draws)}; {min(draws)}" if min(draws) < max(draws) else f"{draws[0]}"
            lines.append(f"| {name} | {condition} | {count} | " + " | ".join(entries) + " |")
    return "\n".join(lines) + "\n"


def _flags(results: Results) -> str:
    lines = [
        "### Flags\n",
        "Share of flagged rows that are right (nominal: 10 % at most), of spoiled rows that are"
        " flagged, and the estimated share of wrong rows; many are spoiled by less than the noise,"
        " and nobody can find those. Where no row is spoiled: how many of all rows are flagged,"
        " median. CleanLearning states no rate: first what it flags by itself; then how many"
        " spoiled rows it finds, going down its own order of rows, and how many RobustSCN finds on"
        " the same draws, with as large a share of right rows among the flagged as RobustSCN has"
        f" there. {_ahead(results)}\n",
        "| set | spoiled | " + " | ".join((*FLAGGING, CLEANLAB)) + " |",
        "| --- | ---: | " + " | ".join("---:" for _ in (*FLAGGING, CLEANLAB)) + " |",
    ]
    for name in SETS:
        for condition in CONDITIONS:
            entries = [_flag_entry(_of(results, each, name, condition)) for each in FLAGGING]
            entries.append(_cleanlab_entry(results, name, condition))
            lines.append(f"| {name} | {condition} | " + " | ".join(entries) + " |")
    return "\n".join(lines) + "\n"


def _flag_entry(found: list[dict[str, float]]) -> str:
    estimated = 100 * np.mean([each["estimated"] for each in found])
    if not found[0]["wrong"]:
        flagged = np.median([each["flagged"] for each in found])
        return f"{flagged:.0f} rows flagged; {estimated:.1f} % estimated"
    false = [1 - each["found"] / each["flagged"] for each in found if each["flagged"]]
    power = 100 * np.mean([each["found"] / each["wrong"] for each in found])
    if not false:
        return f"none flagged; {estimated:.0f} % estimated"
    return f"{100 * np.mean(false):.0f} % right, {power:.0f} % found; {estimated:.0f} % estimated"


def main() -> None:
    """Measure, then write the page; or the page alone."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", help="names, with semicolons between; all of them")
    parser.add_argument("--again", help="methods whose results are measured anew, and no others")
    parser.add_argument("--page", action="store_true", help="only rebuild the page")
    arguments = parser.parse_args()
    asked = arguments.again or arguments.methods
    known = (*METHODS, CLEANLAB)
    methods = [name for name in known if asked is None or name in asked.split(";")]
    if not arguments.page:
        run(arguments.draws, methods, arguments.jobs, again=arguments.again is not None)
    results = json.loads(RESULTS.read_text())
    PAGE.write_text(page_of(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")


def _beside_cleanlab(results: Results, name: str, condition: str) -> Array:
    """Return shares of spoiled rows that CleanLearning and ours find at ours' rate, by draw."""
    pairs = []
    for key, found in results.items():
        if key.startswith(f"{CLEANLAB} / {name} / {condition} / "):
            own = results[key.replace(CLEANLAB, "RobustSCN")]
            rate = (own["flagged"] - own["found"]) / max(own["flagged"], 1.0)
            at = int(np.searchsorted(RATES, rate - 1e-9))  # the next whole percent: in its favour
            theirs = float(found["found at"].split()[min(at, len(RATES) - 1)])
            pairs.append((theirs / found["wrong"], own["found"] / own["wrong"]))
    return np.array(pairs).reshape(-1, 2)


def _cleanlab_entry(results: Results, name: str, condition: str) -> str:
    found = _of(results, CLEANLAB, name, condition)
    if not found:
        return ""
    false = 100 * np.mean([1 - each["found"] / each["flagged"] for each in found])
    power = 100 * np.mean([each["found"] / each["wrong"] for each in found])
    theirs, own = 100 * _beside_cleanlab(results, name, condition).mean(axis=0)
    return f"{false:.0f} % right, {power:.0f} % found; {theirs:.0f} % and {own:.0f} %"


def _ahead(results: Results) -> str:
    """Return in how many cells more is found than by CleanLearning at the same rate."""
    pairs = [
        _beside_cleanlab(results, name, condition) for name in SETS for condition in CONDITIONS
    ]
    means = np.array([each.mean(axis=0) for each in pairs if len(each)]).reshape(-1, 2)
    ahead = int((means[:, 1] > means[:, 0]).sum())
    return f"There RobustSCN finds more in {ahead} of {len(means)} cells."


if __name__ == "__main__":
    main()
