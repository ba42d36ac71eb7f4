"""How well and how fast `RobustSCNRegressor` learns on its defaults, beside boosted trees.

Three functions of twenty inputs with noise of 0.1 and, where rows are wrong, U[-5, 5] added to a
quarter of the targets; the error is the root mean square against the true function. Trees learn
from the absolute error, on their defaults. Each part is a set of rows of `docs/learner.md`, kept
in the results as soon as it is done:

    python benchmarks/learner.py                      all parts, a quarter of an hour
    python benchmarks/learner.py --parts accuracy     one of accuracy, rows, curves, memory
    python benchmarks/learner.py --page               the page from the committed results

Seconds are wall-clock on an idle machine, both sides in one run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import learner_curves
import numpy as np
from learner_tasks import FAST, FUNCTIONS, Task, both, friedman, ours, steps, trees
from rich.progress import track

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "learner.json"
PAGE = HERE.parent / "docs" / "learner.md"


def accuracy(n_draws: int) -> list[dict[str, Any]]:
    """Many inputs of which five matter."""
    cases = (
        (friedman, 4000, 20, 0.0, n_draws),
        (friedman, 4000, 20, 0.25, n_draws),
        (friedman, 1500, 200, 0.0, max(1, n_draws // 2)),
        (steps, 10_000, 20, 0.25, max(1, n_draws // 3)),
    )
    found = []
    for function, n_rows, n_inputs, share, count in cases:
        for seed in track(range(count), f"{function.__name__}, {n_rows} x {n_inputs}, {share:.0%}"):
            task = Task(function, n_rows, n_inputs, share, 7000 + seed)
            blend = both(seed)
            with_trees = task.result(blend)
            row = {
                "function": function.__name__,
                "rows": n_rows,
                "inputs": n_inputs,
                "wrong": share,
                "seed": seed,
                # The blend's networks are the flagship, fitted as it is alone.
                "RobustSCN": {"rmse": task.error(blend.networks_)},
                "with trees": with_trees,
                "trees": task.result(trees(seed)),
            }
            if share:
                row["oracle"] = task.result(ours(seed), oracle=True)
            found.append(row)
    return found


def by_rows(sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Error and seconds against rows, a quarter of the targets wrong."""
    found = []
    for n_rows in sizes:
        for name, function in FUNCTIONS.items():
            print(f"{name}, {n_rows} rows ...", flush=True)
            task = Task(function, n_rows, 20, 0.25, 7100)
            found.append(
                {
                    "function": name,
                    "rows": n_rows,
                    "RobustSCN": task.result(ours(0)),
                    "fast": task.result(ours(0, **FAST)),
                    "trees": task.result(trees(0)),
                }
            )
    return found


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


def few_inputs(results: dict[str, Any]) -> list[str]:
    """Return the table of errors where few of many inputs matter."""
    cases: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in results["accuracy"]:
        key = (row["function"], row["rows"], row["inputs"], row["wrong"])
        cases.setdefault(key, []).append(row)
    body = []
    for (function, n_rows, n_inputs, wrong), draws in cases.items():
        errors = {
            name: [draw[name]["rmse"] for draw in draws if name in draw]
            for name in ("RobustSCN", "with trees", "trees", "oracle")
        }
        oracle = errors["oracle"]
        body.append(
            [
                f"{function}, {n_rows:,} x {n_inputs}",
                f"{wrong:.0%}",
                len(draws),
                f"{np.mean(errors['RobustSCN']):.4f}",
                f"{np.max(errors['RobustSCN']):.4f}",
                f"{np.mean(errors['RobustSCN']) / np.mean(oracle):.2f}" if oracle else "",
                f"{np.mean(errors['with trees']):.4f}" if errors["with trees"] else "",
                f"{np.mean(errors['trees']):.4f}",
            ]
        )
    head = ["data", "wrong", "draws", "RobustSCN", "worst draw", "of its oracle"]
    head += ["with trees", "trees"]
    return table(head, body)


def page_of(results: dict[str, Any]) -> str:
    """Return the page: tables and a picture, nothing typed by hand."""
    fast = ", ".join(f"{name}={value}" for name, value in FAST.items())
    lines = [
        "# How well it learns, and how fast",
        "",
        "Rebuilt by `make bench-learner` (`benchmarks/learner.py`) from"
        " `benchmarks/results/learner.json`.",
        "Functions of 20 inputs or more of which five matter, noise of 0.1, and U[-5, 5] added to"
        " the wrong targets; root mean squared error against the true function. Trees are"
        " HistGradientBoosting on the absolute error; both sides on their defaults.",
        "",
        "## Few inputs matter",
        "",
    ]
    lines += few_inputs(results)
    lines += [
        "",
        "The oracle is RobustSCN trained without the wrong rows; with trees is"
        " `RobustBlendRegressor`, whose networks are the same.",
        "",
        "## More rows",
        "",
        f"A quarter of the targets wrong, one draw, seconds on two cores. Fast: `{fast}`.",
        "",
    ]
    head = ["data", "RobustSCN", "fast", "trees", "seconds", "fast", "trees", "ratios"]
    body = []
    for row in results["rows"]:
        each = [row[name] for name in ("RobustSCN", "fast", "trees")]
        ratios = [f"{one['seconds'] / each[2]['seconds']:.1f}" for one in each[:2]]
        body.append(
            [
                f"{row['function']}, {row['rows']:,} rows",
                *(f"{one['rmse']:.4f}" for one in each),
                *(f"{one['seconds']:.1f}" for one in each),
                ", ".join(ratios),
            ]
        )
    lines += table(head, body)
    lines += learner_curves.told(results, table)
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default="accuracy,rows,curves,memory", help="which, with commas")
    parser.add_argument("--draws", type=int, default=10, help="draws of the first part (10)")
    parser.add_argument("--rows", default="1000,3000,20000,100000", help="sizes of the second")
    parser.add_argument("--curves", default="3000,20000,100000,1000000", help="sizes of the third")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results are")
    parser.add_argument("--docs", type=Path, default=PAGE, help="where the page goes")
    parser.add_argument("--page", action="store_true", help="only write the page")
    chosen = parser.parse_args()
    results = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    parts: dict[str, Callable[[], Any]] = {
        "accuracy": lambda: accuracy(chosen.draws),
        "rows": lambda: by_rows([int(size) for size in chosen.rows.split(",")]),
        "curves": lambda: learner_curves.curves([int(s) for s in chosen.curves.split(",")]),
        "memory": lambda: learner_curves.memory(10**6),
    }
    for part in () if chosen.page else chosen.parts.split(","):
        results[part] = parts[part]()
        chosen.out.write_text(json.dumps(results, indent=1) + "\n")
    chosen.docs.write_text(page_of(results))
    if results.get("curves"):
        learner_curves.draw(results["curves"], chosen.docs.with_suffix(".png"))
    print(f"wrote {chosen.docs}")


if __name__ == "__main__":
    main()
