"""How sure: whether intervals cover clean targets, and how many flagged rows are really wrong.

Training targets are spoiled, test targets are clean. Beside `RobustSCNRegressor` and
`RobustRegressor` stands MAPIE's CV+ around the same boosted trees, which believes every row it
calibrates on. Nominal: 90 % of clean test targets inside, 10 % of the flagged rows right.

    python benchmarks/certainty.py             what is missing in the results; a quarter of an hour
    python benchmarks/certainty.py --draws 8   more draws
    python benchmarks/certainty.py --page      docs/certainty.md from the committed results

Draws are numbered from 8000, which no other benchmark uses and nothing was tuned on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
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
SHARES = (0.0, 0.1, 0.25, 0.4)


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


def drawn(name: str, share: float, number: int) -> Draw:
    """Return a draw with U[-1/2, 1/2] of the targets' range added to a share of them."""
    rng = np.random.default_rng((FIRST_DRAW + number, list(SETS).index(name)))
    X, y, X_test, y_test, level = SETS[name](rng)
    wrong = rng.permutation(len(y)) < round(share * len(y))
    reach = np.ptp(np.quantile(y, [0.01, 0.99]))
    return Draw(X, y + wrong * reach * rng.uniform(-0.5, 0.5, len(y)), wrong, X_test, y_test, level)


def ours(draw: Draw) -> tuple[Any, Array]:
    model = RobustSCNRegressor(random_state=0).fit(draw.X, draw.y)
    return model, model.predict_interval(draw.X_test, COVERAGE)


def trees(draw: Draw) -> tuple[Any, Array]:
    boosting = HistGradientBoostingRegressor(random_state=0)
    model = RobustRegressor(boosting, random_state=0).fit(draw.X, draw.y)
    return model, model.predict_interval(draw.X_test, COVERAGE)


def mapie(draw: Draw) -> tuple[Any, Array]:
    from mapie.regression import CrossConformalRegressor

    model = CrossConformalRegressor(
        HistGradientBoostingRegressor(random_state=0), COVERAGE, cv=5, random_state=0
    )
    _, interval = model.fit_conformalize(draw.X, draw.y).predict_interval(draw.X_test)
    return None, interval[:, :, 0]


METHODS = {"RobustSCN": ours, "RobustRegressor, trees": trees, "MAPIE CV+, trees": mapie}


def measured(method: str, draw: Draw) -> dict[str, float]:
    """Return coverage, mean width, and how many rows are flagged, wrong and both."""
    model, interval = METHODS[method](draw)
    inside = (interval[:, 0] <= draw.y_test) & (draw.y_test <= interval[:, 1])
    found = {"coverage": float(inside.mean()), "width": float(np.ptp(interval, axis=1).mean())}
    if np.ptp(draw.level) > 0:
        fifths = np.quantile(draw.level, np.linspace(0, 1, 6)[1:-1])
        part = np.searchsorted(fifths, draw.level)
        by_level = [float(inside[part == k].mean()) for k in range(5)]
        found |= {"lowest fifth": min(by_level), "highest fifth": max(by_level)}
    if model is not None:
        found |= {
            "flagged": float(model.outliers_.sum()),
            "found": float((model.outliers_ & draw.wrong).sum()),
            "wrong": float(draw.wrong.sum()),
            "estimated": float(model.estimated_outlier_share_),
        }
    return {key: round(value, 4) for key, value in found.items()}


def cells(n_draws: int) -> Iterator[tuple[str, str, float, int]]:
    for number in range(n_draws):
        for name in SETS:
            for share in SHARES:
                for method in METHODS:
                    yield method, name, share, number


def run(n_draws: int) -> None:
    """Measure what is missing, and keep each result as soon as it is there."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    missing = [cell for cell in cells(n_draws) if _key(*cell) not in results]
    for cell in track(missing, "Measuring"):
        method, name, share, number = cell
        results[_key(*cell)] = measured(method, drawn(name, share, number))
        RESULTS.write_text(json.dumps(results, indent=0, sort_keys=True) + "\n")


def _key(method: str, name: str, share: float, number: int) -> str:
    return f"{method} / {name} / {share:.0%} / {number}"


def page_of(page: str, results: dict[str, dict[str, float]]) -> str:
    """Return the page with the tables between its marks made anew."""
    before, rest = page.split(START)
    _, after = rest.split(STOP)
    tables = [_coverage(results), _flags(results)]
    return before + START + "\n" + "\n".join(tables) + STOP + after


def _of(
    results: dict[str, dict[str, float]], method: str, name: str, share: float
) -> list[dict[str, float]]:
    start = f"{method} / {name} / {share:.0%} / "
    return [value for key, value in results.items() if key.startswith(start)]


def _coverage(results: dict[str, dict[str, float]]) -> str:
    lines = [
        "### Intervals\n",
        "Share of clean test targets inside (mean width in brackets, as a share of the targets'"
        " range); nominal 90 %.\n",
        "| set | wrong | draws | " + " | ".join(METHODS) + " |",
        "| --- | ---: | ---: | " + " | ".join("---:" for _ in METHODS) + " |",
    ]
    for name in SETS:
        for share in SHARES:
            entries = []
            for method in METHODS:
                found = _of(results, method, name, share)
                covered = np.mean([each["coverage"] for each in found])
                width = np.mean([each["width"] for each in found])
                entry = f"{100 * covered:.1f} % ({width:.3f})"
                if "lowest fifth" in found[0]:
                    low = np.mean([each["lowest fifth"] for each in found])
                    entry += f"; fifths from {100 * low:.0f} %"
                entries.append(entry)
            count = len(_of(results, "RobustSCN", name, share))
            lines.append(f"| {name} | {share:.0%} | {count} | " + " | ".join(entries) + " |")
    lines.append(
        "\n*fifths from*: coverage of the worst fifth of the test rows, sorted by how noisy they"
        " are.\n"
    )
    return "\n".join(lines)


def _flags(results: dict[str, dict[str, float]]) -> str:
    methods = [method for method in METHODS if not method.startswith("MAPIE")]
    lines = [
        "### Flags\n",
        "Share of flagged rows that are right (nominal: 10 % at most), of wrong rows that are"
        " flagged, and the estimated share of wrong rows. Where no row is wrong: how many of all"
        " rows are flagged.\n",
        "| set | wrong | " + " | ".join(methods) + " |",
        "| --- | ---: | " + " | ".join("---:" for _ in methods) + " |",
    ]
    for name in SETS:
        for share in SHARES:
            entries = [_flag_entry(_of(results, method, name, share), share) for method in methods]
            lines.append(f"| {name} | {share:.0%} | " + " | ".join(entries) + " |")
    return "\n".join(lines) + "\n"


def _flag_entry(found: list[dict[str, float]], share: float) -> str:
    estimated = 100 * np.mean([each["estimated"] for each in found])
    if share == 0:
        flagged = np.median([each["flagged"] for each in found])
        return f"{flagged:.0f} rows flagged; {estimated:.1f} % estimated"
    false = [1 - each["found"] / each["flagged"] for each in found if each["flagged"]]
    power = 100 * np.mean([each["found"] / each["wrong"] for each in found])
    rate = f"{100 * np.mean(false):.0f} %" if false else "none flagged"
    return f"{rate} right, {power:.0f} % found; {estimated:.0f} % estimated"


def main() -> None:
    """Measure, then write the page; or the page alone."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--page", action="store_true", help="only rebuild the page")
    arguments = parser.parse_args()
    if not arguments.page:
        run(arguments.draws)
    results = json.loads(RESULTS.read_text())
    PAGE.write_text(page_of(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
