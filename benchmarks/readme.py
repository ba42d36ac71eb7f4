"""Write the README's tables from the committed results; nothing in them is typed by hand."""

from __future__ import annotations

import json
from pathlib import Path

from robustscn.paper.claims import claims
from robustscn.paper.published import tables
from robustscn.paper.results import Results
from robustscn.paper.settings import FUNCTION, KEEL, Experiment

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
START, STOP = "<!-- measured: rebuilt by `make readme` -->", "<!-- /measured -->"


def accuracy() -> str:
    report = json.loads((HERE / "results" / "methods.json").read_text())
    cells = report["cells"]
    names = list(next(iter(cells.values())))
    lines = [
        f"Root mean squared error on clean test rows, mean of {report['draws']} draws of data and "
        "networks. Share of wrong training targets beside the set (function: replaced by noise; "
        "others: noise added; inputs and targets in [0, 1]). Grinding is a simulated circuit, "
        "not a plant's data, and of its open choices the one that a plain network learns best. "
        "No method is given clean rows or "
        "tuned; the oracle is RobustSCN trained with the wrong rows removed "
        "([methods.py](benchmarks/methods.py)).",
        "",
        "| data | " + " | ".join(names) + " |",
        "| --- |" + " ---: |" * len(names),
    ]
    for cell, row in cells.items():
        best = min(row[n]["rmse"] for n in names if n != "oracle")
        shown = [
            f"**{row[n]['rmse']:.4f}**" if row[n]["rmse"] == best else f"{row[n]['rmse']:.4f}"
            for n in names
        ]
        lines.append(f"| {cell} | " + " | ".join(shown) + " |")
    seconds = [f"{n} {max(row[n]['seconds'] for row in cells.values()):.2f} s"
               for n in names if n != "oracle"]  # fmt: skip
    lines += ["", "Longest median fit: " + ", ".join(seconds) + "."]
    return "\n".join(lines)


def speed() -> str:
    report = json.loads((HERE / "results" / "growth_speed.json").read_text())
    lines = [
        "Growing 50 nodes on 600 rows, 100 candidates for each scope, against a Python loop over "
        "candidates and a pseudo-inverse for each node; the same nodes come out "
        "([growth_speed.py](benchmarks/growth_speed.py)).",
        "",
        "| data, scopes | textbook | robustscn | ratio |",
        "| --- | ---: | ---: | ---: |",
    ]
    for task, row in report["tasks"].items():
        lines.append(
            f"| {task} | {row['textbook_seconds']:.2f} s | {row['robustscn_seconds']:.3f} s | "
            f"{row['ratio']:.0f} |"
        )
    return "\n".join(lines)


def reproduction() -> str:
    results = Results.read(HERE.parent / "docs" / "reproduction" / "results.json")
    held = [claim for claim in claims(results) if claim.cases]
    whole = sum(claim.holds == claim.cases for claim in held)
    lines = [
        "The RSC-KDE paper run again: its printed error, ours with the same clean validation rows, "
        "and `RobustSCNRegressor`, which is given none; redrawn data, test error on clean rows. "
        f"Of {len(held)} claims, {whole} hold in full "
        "([all tables, figures and claims](docs/reproduction/README.md)).",
        "",
        "| data | RSC-KDE, paper | RSC-KDE, ours | RobustSCN |",
        "| --- | ---: | ---: | ---: |",
    ]
    for task in (FUNCTION, *KEEL):
        for level in (0.10, 0.25):
            name = Experiment(task).name
            scope = 1.0 if task is FUNCTION else None
            printed = tables()[task.name, scope, "RSC-KDE", level].mean
            ours, flagship = (results.error(name, level, m) for m in ("RSC-KDE", "RobustSCN"))
            lines.append(
                f"| {task.name} {level:.0%} | {printed:.4f} | {ours.mean:.4f} | "
                f"{flagship.mean:.4f} |"
            )
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
    return "\n".join(lines)


def measured(text: str) -> str:
    """Return the README with its measured part made anew."""
    before, rest = text.split(START)
    _, after = rest.split(STOP)
    parts = (accuracy(), reproduction(), speed(), gpu())
    return before + "\n\n".join((START, *parts, STOP)) + after


if __name__ == "__main__":
    README.write_text(measured(README.read_text()))
    print(f"{README.name}: tables written from benchmarks/results")
