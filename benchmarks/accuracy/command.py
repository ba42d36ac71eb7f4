"""The peers of PyPI, tuned, against `RobustSCNRegressor()` on its defaults, in one run.

Eight sets, seven ways to spoil training targets, ten redrawn splits; the error is the root mean
square on clean test rows. Every peer is tuned once for each set on dirty rows, ours never. About
two hours on two cores; an interrupted run goes on where it was, since every cell is a file.

    python benchmarks/accuracy                       everything that is not there yet
    python benchmarks/accuracy --again RobustSCN     ours once more, peers as in the results
    python benchmarks/accuracy --timing              time default fits; the machine must be idle
    python benchmarks/accuracy --page                page and plot from the committed results
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from .page import page, plot

HERE = Path(__file__).parents[1]
RESULTS = HERE / "results" / "accuracy.json"
DOCS = HERE.parent / "docs"
CELLS = HERE.parent / "out" / "accuracy" / "cells"
QUICK = HERE.parent / "out" / "accuracy" / "quick"
QUICK_SETS, QUICK_CONDITIONS = "function,stock,concrete", "add 0,add 10,add 25"


def chosen(names: Iterable[str], beginnings: str | None) -> list[str]:
    """Return the names that start as one of the comma-separated beginnings does."""
    names = list(names)
    if beginnings is None:
        return names
    asked = tuple(beginning.strip().lower() for beginning in beginnings.split(","))
    for beginning in asked:
        if not any(name.lower().startswith(beginning) for name in names):
            raise SystemExit(f"{beginning!r} starts none of: {'; '.join(names)}")
    return [name for name in names if name.lower().startswith(asked)]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", help="beginnings of names, with commas between")
    parser.add_argument("--methods", help="the same")
    parser.add_argument("--conditions", help="the same")
    parser.add_argument("--splits", type=int, help="redrawn splits (10)")
    parser.add_argument("--configurations", type=int, help="settings tried in a tuning (15)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--again", help="compute these methods' cells anew, and no others")
    parser.add_argument("--quick", action="store_true", help="five minutes, not for quoting")
    parser.add_argument("--cells", type=Path, help="folder of cells")
    parser.add_argument("--out", type=Path, help="where the JSON is")
    parser.add_argument("--docs", type=Path, help="where page and plot go")
    parser.add_argument("--timing", action="store_true", help="only time default fits")
    parser.add_argument("--page", action="store_true", help="only write page and plot")
    arguments = parser.parse_args()
    quick = arguments.quick
    if quick:
        arguments.sets = arguments.sets or QUICK_SETS
        arguments.conditions = arguments.conditions or QUICK_CONDITIONS
    arguments.splits = arguments.splits or (2 if quick else 10)
    arguments.configurations = arguments.configurations or (3 if quick else 15)
    arguments.cells = arguments.cells or (QUICK / "cells" if quick else CELLS)
    arguments.out = arguments.out or (QUICK / "accuracy.json" if quick else RESULTS)
    arguments.docs = arguments.docs or (QUICK if quick else DOCS)
    return arguments


def measure(arguments: argparse.Namespace) -> None:
    """Compute what is asked for and wanting; write the results once they are complete."""
    # Only here: page and plot are made where none of the peers is installed.
    from .cells import METHODS, cells_of, conditions_of, time_defaults
    from .report import laid_out, report_of, restore
    from .run import run, wanting
    from .sets import SETS

    if arguments.timing:
        time_defaults(arguments.cells)
    names = dict.fromkeys(c.name for s in SETS for m in METHODS for c in conditions_of(m, s))
    sets, conditions = chosen(SETS, arguments.sets), chosen(names, arguments.conditions)
    asked = list(cells_of(sets, chosen(METHODS, arguments.again or arguments.methods), conditions))
    if arguments.again:
        for cell in asked:
            (arguments.cells / cell.file_name).unlink(missing_ok=True)
    if not arguments.timing:
        run(asked, arguments.cells, arguments.splits, arguments.configurations, arguments.jobs)
    # A run of some sets is no result, unless all that was asked for is a few of them.
    everything = list(
        cells_of(sets, METHODS, conditions) if arguments.quick else cells_of(SETS, METHODS, names)
    )
    if arguments.again and arguments.out.exists():
        restore(json.loads(arguments.out.read_text()), everything, arguments.cells)
    missing = wanting(everything, arguments.cells, arguments.splits)
    if missing:
        print(f"{len(missing)} of {len(everything)} cells wanting; results not written")
        return
    report = report_of(everything, arguments.cells, arguments.splits)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(laid_out(report) + "\n")
    print(f"results of {len(everything)} cells written")
    write_page(arguments)


def write_page(arguments: argparse.Namespace) -> None:
    """Write page and plot from the results."""
    report = json.loads(arguments.out.read_text())
    (arguments.docs / "accuracy.md").write_text(page(report))
    plot(report, arguments.docs / "accuracy.png")
    print("page and plot written")


def main() -> None:
    arguments = parsed()
    if arguments.page:
        write_page(arguments)
    else:
        measure(arguments)
