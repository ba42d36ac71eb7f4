"""Running the cells of the accuracy benchmark: which are wanting, in parallel, with time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from .cells import Cell, compute

Kind = tuple[str, str, bool]


class Progress:
    """Lines now and then, or a bar on a terminal: what is done, and what time is left."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.waiting, self.total = list(cells), len(cells)
        self.start = self.shown = time.monotonic()
        self.seconds: dict[Kind, list[float]] = {}
        self.bar: Any = None
        if sys.stdout.isatty() and cells:
            from rich.progress import Progress as Bar

            self.bar = Bar()
            self.bar.start()
            self.task = self.bar.add_task("cells", total=self.total)

    def done(self, cell: Cell, seconds: float) -> None:
        """Count a cell, and say so now and then."""
        self.waiting.remove(cell)
        self.seconds.setdefault(_kind(cell), []).append(seconds)
        finished = self.total - len(self.waiting)
        line = f"{finished}/{self.total} cells, {self._left() / 60:.0f} min left"
        if self.bar is not None:
            self.bar.update(self.task, completed=finished, description=line)
        elif time.monotonic() - self.shown > 20 or not self.waiting:
            self.shown = time.monotonic()
            print(f"{line}; last: {cell.file_name}, {seconds:.1f} s", flush=True)

    def stop(self) -> None:
        """Give the terminal back."""
        if self.bar is not None:
            self.bar.stop()

    def _left(self) -> float:
        """Return wall seconds left: each cell as its like have taken, at the pace so far."""
        known = {kind: sum(s) / len(s) for kind, s in self.seconds.items()}
        spent = sum(sum(s) for s in self.seconds.values())
        usual = spent / sum(len(s) for s in self.seconds.values())
        work = 0.0
        for cell in self.waiting:
            _, method, tuning = kind = _kind(cell)
            alike = [s for k, s in known.items() if k[1:] == (method, tuning)]
            work += known.get(kind, max(alike, default=usual))
        return work * (time.monotonic() - self.start) / max(spent, 1e-9)


def _kind(cell: Cell) -> Kind:
    return cell.set_name, cell.method, cell.condition is None


def wanting(cells: Sequence[Cell], folder: Path, n_splits: int) -> list[Cell]:
    """Return the cells that are not on disk with as many splits."""

    def there(cell: Cell) -> bool:
        found = cell.read(folder)
        return found is not None and (
            cell.condition is None or len(found["seeds"]) >= cell.splits(n_splits)
        )

    return [cell for cell in cells if not there(cell)]


def _timed(cell: Cell, folder: Path, n_splits: int, n_configurations: int) -> tuple[Cell, float]:
    return cell, compute(cell, folder, n_splits, n_configurations)


def computed(
    cells: Sequence[Cell], folder: Path, n_splits: int, n_configurations: int, jobs: int
) -> Iterator[tuple[Cell, float]]:
    """Compute cells, of each set the tunings first; yield each with its processor seconds."""
    for set_name in dict.fromkeys(cell.set_name for cell in cells):
        for tuning in (True, False):
            work = [
                delayed(_timed)(cell, folder, n_splits, n_configurations)
                for cell in cells
                if cell.set_name == set_name and (cell.condition is None) == tuning
            ]
            yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(work)


def run(
    cells: Sequence[Cell], folder: Path, n_splits: int, n_configurations: int, jobs: int
) -> None:
    """Compute what is wanting."""
    cells = wanting(cells, folder, n_splits)
    print(f"{len(cells)} cells to compute", flush=True)
    progress = Progress(cells)
    try:
        for cell, seconds in computed(cells, folder, n_splits, n_configurations, jobs):
            progress.done(cell, seconds)
    finally:
        progress.stop()
