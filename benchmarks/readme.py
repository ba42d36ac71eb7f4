"""Write the figures of the README, docs/measured.md and docs/benchmarks.md from committed results.

Nothing in them is typed by hand. The README has five rows, the measured page all, the overview of
the benchmarks a sentence for each.
"""

from __future__ import annotations

import json
from pathlib import Path

from accuracy.page import headline, headline_row
from accuracy.statistics import tally
from learner import few_inputs

from robustscn.paper.claims import claims, counted
from robustscn.paper.published import tables
from robustscn.paper.results import Results
from robustscn.paper.settings import FUNCTION, KEEL, Experiment

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
PAGE = HERE.parent / "docs" / "measured.md"
OVERVIEW = HERE.parent / "docs" / "benchmarks.md"
START, STOP = "<!-- measured: rebuilt by `make readme` -->", "<!-- /measured -->"

SHOWN = ("function, add 25%", "laser, add 25%", "concrete, add 25%", "flights, add 25%")
"""Rows of the README that are named; one more is the one that is lost by most."""


def _contests(report: dict) -> tuple[int, int, int]:
    """Return how many pairs with wrong rows are won, how many there are, how many tuned tools."""
    contests = _with_wrong_rows(report)
    tools = {duel["peer"] for duel in report["summary"]["duels"]}
    return sum(contest["won"] for contest in contests), len(contests), len(tools)


def _with_wrong_rows(report: dict) -> list[dict]:
    return [c for c in report["summary"]["contests"] if not c["condition"].endswith(" 0%")]


def _told_apart(report: dict) -> str:
    """Return in how many pairs the best tool is told apart from ours, and how."""
    ahead, behind, rest = tally([contest["verdict"] for contest in _with_wrong_rows(report)])
    return (
        f"by 95 % intervals of paired differences from the best of them ahead in {ahead}, behind "
        f"in {behind}, not told apart in {rest}"
    )


def accuracy() -> str:
    report = json.loads((HERE / "results" / "accuracy.json").read_text())
    won, contests, tools = _contests(report)
    return "\n".join(
        (
            "Root mean squared error on clean test rows, `RobustSCNRegressor()` on its defaults "
            f"beside {tools} tuned tools, "
            "nobody given clean rows; noise is added to the share of training targets beside the "
            "set, and the oracle is RobustSCN trained without the rows it hit. Of "
            f"{contests} pairs of data and kind of contamination RobustSCN is ahead of every "
            f"peer in {won}; {_told_apart(report)} ([all of them, losses first](docs/accuracy.md); "
            "[how it was measured](benchmarks/accuracy)).",
            "",
            *([f"**{report['note']}**", ""] if "note" in report else []),
            headline(report),
            "",
            "![Error against the share of wrong targets, a panel for each data set]"
            "(docs/accuracy.png)",
        )
    )


def learner() -> str:
    results = json.loads((HERE / "results" / "learner.json").read_text())
    return "\n".join(
        (
            "Functions of which five inputs matter, error against the truth; defaults on both "
            "sides, trees are HistGradientBoosting on the absolute error "
            "([more rows, seconds](docs/learner.md); [learner.py](benchmarks/learner.py)).",
            "",
            *few_inputs(results),
        )
    )


def speed() -> str:
    report = json.loads((HERE / "results" / "growth_speed.json").read_text())
    lines = [
        "Growing 50 nodes on 600 rows, 100 candidates for each scope, against a Python loop over "
        "candidates and a pseudo-inverse for each node; the same nodes come out "
        "([growth_speed.py](benchmarks/growth_speed.py)).",
        "",
        "| data, scopes | candidates one by one | a pool at a time | robustscn | ratios |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for task, row in report["tasks"].items():
        lines.append(
            f"| {task} | {row['one_by_one_seconds']:.2f} s | {row['textbook_seconds']:.2f} s | "
            f"{row['robustscn_seconds']:.3f} s | {row['ratio_to_one_by_one']:.0f}, "
            f"{row['ratio']:.0f} |"
        )
    return "\n".join(lines)


def many_rows() -> str:
    report = json.loads((HERE / "results" / "speed.json").read_text())["by_rows"]
    seconds = report["seconds"]
    rows = list(next(iter(seconds.values())))
    ours, trees = list(seconds)[:2]

    def error(name: str) -> float:
        return float(seconds[name][rows[-1]]["rmse_on_clean_rows"])

    lines = [
        "Robust fits of 20 inputs with a tenth of the targets wrong, seconds on two cores: one "
        "RSC-KDE network of 100 nodes, 500 candidates for each block of up to ten, five rounds, "
        f"beside gradient boosting on its defaults. Time only: at {int(rows[-1]):,} rows "
        f"the boosted trees' error is {error(trees):.2f}, the single network's {error(ours):.2f} "
        "([speed.py](benchmarks/speed.py)).",
        "",
        "| rows | " + " | ".join(f"{int(n):,}" for n in rows) + " |",
        "| --- | " + " | ".join("---:" for _ in rows) + " |",
    ]
    lines += [
        f"| {name} | " + " | ".join(f"{line[n]['seconds']:.1f}" for n in rows) + " |"
        for name, line in seconds.items()
    ]
    return "\n".join(lines)


def reproduction() -> str:
    results = Results.read(HERE.parent / "docs" / "reproduction" / "results.json")
    own = counted([claim for claim in claims(results) if claim.kind == "paper"])
    lines = [
        "The RSC-KDE paper run again: its printed error, and ours with the same clean validation "
        "rows; redrawn data, test error on clean rows. "
        f"Of the paper's own claims {own[:-1]} "
        "([why its KEEL errors are lower, all tables, figures and claims]"
        "(docs/reproduction/README.md)).",
        "",
        "| data | RSC-KDE, paper | RSC-KDE, ours |",
        "| --- | ---: | ---: |",
    ]
    for task in (FUNCTION, *KEEL):
        for level in (0.10, 0.25):
            name = Experiment(task).name
            scope = 1.0 if task is FUNCTION else None
            printed = tables()[task.name, scope, "RSC-KDE", level].mean
            ours = results.error(name, level, "RSC-KDE")
            lines.append(f"| {task.name} {level:.0%} | {printed:.4f} | {ours.mean:.4f} |")
    return "\n".join(lines)


def gpu() -> str:
    report = json.loads((HERE / "results" / "gpu.json").read_text())
    same = report["same_nodes"]
    lines = [
        f"RSC-KDE by passing torch arrays on one {report['device']}: 20 inputs, 100 nodes in "
        "blocks of 10, 500 candidates for each block, 5 rounds. On 50,000 rows the first "
        f"{min(row['equal_from_the_start'] for row in same)} of {same[0]['nodes_cpu']} nodes are "
        "those of the CPU ([gpu.py](benchmarks/gpu.py)).",
        "",
        "| rows | dtype | seconds | device memory |",
        "| ---: | --- | ---: | ---: |",
    ]
    lines += [
        f"| {row['rows']:,} | {row['dtype']} | {row['seconds']:.2f} | {row['peak_GiB']:.1f} GiB |"
        for row in report["fits"]
    ]
    lines += [
        "",
        "`RobustSCNRegressor()` on its defaults, float32, 20 inputs, a quarter of the targets "
        f"wrong, on that device and on the {report['cores']} cores of its host: seconds, and the "
        "error against the true function. The rounds run on 4,096 rows on the host either way, "
        "which is most of the device's time.",
        "",
        "| rows | function | seconds | on the host | error |",
        "| ---: | --- | ---: | ---: | ---: |",
    ]
    for row in report["flagship"]:
        for name in ("smooth", "Friedman"):
            there, here = row[f"{name}, cuda"], row[f"{name}, cpu"]
            lines.append(
                f"| {row['rows']:,} | {name} | {there['seconds']:.1f} | {here['seconds']:.1f} | "
                f"{there['rmse']:.4f} |"
            )
    return "\n".join(lines)


def few() -> str:
    """Return five rows, a loss among them."""
    report = json.loads((HERE / "results" / "accuracy.json").read_text())
    won, contests, tools = _contests(report)
    heading, rule, *rows = headline(report).splitlines()
    by_name = {row.split("|")[1].strip(): row for row in rows}
    lost = max(_with_wrong_rows(report), key=lambda contest: contest["ratio"])
    return "\n".join(
        (
            "Root mean squared error on clean test rows, defaults beside "
            f"{tools} tuned tools, nobody "
            f"given clean rows; ahead of every one of them in {won} of {contests} pairs of "
            f"data and kind of contamination; {_told_apart(report)}. The last row is the one lost "
            "by most ([all of them](docs/accuracy.md); [the paper run again, speed, a GPU]"
            "(docs/measured.md)).",
            "",
            *([f"**{report['note']}**", ""] if "note" in report else []),
            heading,
            rule,
            *(by_name[name] for name in SHOWN),
            "| " + " | ".join(headline_row(report["summary"], lost)) + " |",
        )
    )


def in_short() -> str:
    """Return what the accuracy benchmark says, for the overview."""
    report = json.loads((HERE / "results" / "accuracy.json").read_text())
    won, contests, tools = _contests(report)
    return (
        f"`RobustSCNRegressor()` on its defaults beside {tools} tuned tools, nobody given clean "
        f"rows. Of {contests} pairs of data and kind of contamination it is ahead of every "
        f"peer in {won}. It misses targets of its own: the error over the oracle's at 25 %, "
        "the cost on clean rows, speed. [All of it, targets missed first](accuracy.md)."
    )


def on_page(text: str) -> str:
    """Return markup with its links as seen from docs/."""
    return text.replace("](docs/", "](").replace("](benchmarks/", "](../benchmarks/")


def _between(text: str, *parts: str) -> str:
    before, rest = text.split(START)
    _, after = rest.split(STOP)
    return before + "\n\n".join((START, *parts, STOP)) + after


def measured(text: str) -> str:
    """Return the README with its measured part made anew."""
    return _between(text, few())


def everything(text: str) -> str:
    """Return the page with its measured part made anew."""
    parts = (accuracy(), learner(), reproduction(), speed(), many_rows(), gpu())
    return _between(text, *(on_page(part) for part in parts))


def overview(text: str) -> str:
    """Return the overview of the benchmarks with its measured part made anew."""
    return _between(text, in_short())


if __name__ == "__main__":
    README.write_text(measured(README.read_text()))
    PAGE.write_text(everything(PAGE.read_text()))
    OVERVIEW.write_text(overview(OVERVIEW.read_text()))
    print(f"{README.name}, {PAGE.name}, {OVERVIEW.name}: figures written from benchmarks/results")
