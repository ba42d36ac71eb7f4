"""The peers of PyPI, tuned, beside ours on their defaults, in one run.

Sixteen sets, ways to spoil training rows, redrawn splits; the error is the root mean square on
clean test rows. Every peer is tuned once for each set on dirty rows, ours never. What is in the
committed results is not computed again, so that a new version of ours is measured alone; an
interrupted run goes on where it was, since every cell is a file, and gives every cell three draws
before any has more. The page says "not run" where nothing has been.

    python benchmarks/accuracy                       everything that is not there yet
    python benchmarks/accuracy --again Robust        ours of this version, peers as in the results
    python benchmarks/accuracy --development         the same on draws that no page ever shows
    python benchmarks/accuracy --spread              errors over seeds of the method, on fixed data
    python benchmarks/accuracy --timing              time default fits; the machine must be idle
    python benchmarks/accuracy --page                page and pictures from the committed results
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .page import page
from .pictures import draw_all

HERE = Path(__file__).parents[1]
RESULTS = HERE / "results" / "accuracy.json"
DOCS = HERE.parent / "docs"
OUT = HERE.parent / "out" / "accuracy"
QUICK_SETS, QUICK_CONDITIONS = "function,stock,concrete", "add 0,add 10,add 25"


def chosen(names: Iterable[str], beginnings: str | None) -> list[str]:
    """Return the names that start as one of the semicolon- or comma-separated beginnings does."""
    names = list(names)
    if beginnings is None:
        return names
    separator = ";" if ";" in beginnings else ","
    asked = tuple(beginning.strip().lower() for beginning in beginnings.split(separator))
    asked = tuple(beginning for beginning in asked if beginning)
    for beginning in asked:
        if not any(name.lower().startswith(beginning) for name in names):
            raise SystemExit(f"{beginning!r} starts none of: {'; '.join(names)}")
    return [name for name in names if name.lower().startswith(asked)]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", help="beginnings of names, with commas (or semicolons) between")
    parser.add_argument("--methods", help="the same")
    parser.add_argument("--conditions", help="the same")
    parser.add_argument("--draws", type=int, help="redrawn splits at most (20)")
    parser.add_argument("--configurations", type=int, help="settings tried in a tuning (15)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--again", help="only these methods, anew where of another version")
    parser.add_argument("--development", action="store_true", help="draws for trying out")
    parser.add_argument("--quick", action="store_true", help="five minutes of development draws")
    parser.add_argument("--cells", type=Path, help="folder of cells")
    parser.add_argument("--out", type=Path, help="where the JSON is")
    parser.add_argument("--docs", type=Path, help="where page and pictures go")
    parser.add_argument("--spread", action="store_true", help="only measure the spread over seeds")
    parser.add_argument("--timing", action="store_true", help="only time default fits")
    parser.add_argument("--write", action="store_true", help="only write results from the cells")
    parser.add_argument("--page", action="store_true", help="only write page and pictures")
    arguments = parser.parse_args()
    quick = arguments.quick
    arguments.development = arguments.development or quick
    if quick:
        arguments.sets = arguments.sets or QUICK_SETS
        arguments.conditions = arguments.conditions or QUICK_CONDITIONS
    arguments.draws = arguments.draws or (2 if quick else 20)
    arguments.configurations = arguments.configurations or (3 if quick else 15)
    name = "quick" if quick else "development" if arguments.development else "reporting"
    apart = arguments.development  # what is tried out never reaches the committed results
    arguments.cells = arguments.cells or OUT / name / "cells"
    arguments.out = arguments.out or (OUT / name / "accuracy.json" if apart else RESULTS)
    arguments.docs = arguments.docs or (OUT / name if apart else DOCS)
    return arguments


def _earlier(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def measure(arguments: argparse.Namespace) -> None:
    """Compute what is asked for and wanting; write the results."""
    # Only here: the page is made where none of the peers is installed.
    from .cells import METHODS, cells_of, source_digest
    from .names import FAMILY
    from .plan import SLOW, conditions_of, seeds_of
    from .report import laid_out, looked, report_of, restore
    from .run import Work, run
    from .sets import SETS
    from .spread import spread
    from .timing import timing

    names = dict.fromkeys(c.name for s in SETS for m in METHODS for c in conditions_of(m, s))
    everything = list(cells_of(SETS, METHODS, names))
    earlier = _earlier(arguments.out)
    if earlier:
        restore(earlier, everything, arguments.cells)
    elif arguments.development:  # peers are tuned alike, on a draw of neither kind
        tunings = [cell for cell in everything if cell.condition is None]
        restore(_earlier(RESULTS), tunings, arguments.cells)
    if arguments.timing:
        earlier["timing"] = timing()
    elif arguments.spread:
        earlier["spread"] = spread(arguments.cells)
    elif not arguments.write:
        methods = chosen(METHODS, arguments.again or arguments.methods)
        if arguments.quick and arguments.methods is None:
            methods = [method for method in methods if method not in SLOW]
        again = methods if arguments.again else ()
        sets, conditions = chosen(SETS, arguments.sets), chosen(names, arguments.conditions)
        asked = list(cells_of(sets, methods, conditions))
        if not arguments.development and set(FAMILY) & set(methods):
            looked(arguments.out, source_digest())
        work = Work(arguments.draws, arguments.configurations, arguments.development)
        run(asked, arguments.cells, work, arguments.jobs, again)
    (first,) = seeds_of(1, arguments.development)
    apart = earlier | {"looks": looked(arguments.out)}
    report = report_of(everything, arguments.cells, first, apart)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(laid_out(report) + "\n")
    print(f"results of {len(report['cells'])} cells written")
    write_page(arguments)


def write_page(arguments: argparse.Namespace) -> None:
    """Write page and pictures from the results."""
    report = json.loads(arguments.out.read_text())
    (arguments.docs / "accuracy.md").write_text(page(report))
    draw_all(report, arguments.docs)
    print("page and pictures written")


def main() -> None:
    arguments = parsed()
    if arguments.page:
        write_page(arguments)
    else:
        measure(arguments)
