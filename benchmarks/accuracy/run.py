"""Running the cells of the accuracy benchmark: which are wanting, in parallel, with time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from .cells import Cell, compute, version_of
from .plan import seeds_of

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


def wanting(
    cells: Sequence[Cell], folder: Path, most: int, again: Collection[str] = ()
) -> list[Cell]:
    """Return the cells with fewer draws than planned, and of some methods the outdated ones."""

    def there(cell: Cell) -> bool:
        found = cell.read(folder)
        if found is None:
            return False
        if cell.condition is None:
            return True
        outdated = cell.method in again and found["by"] != version_of(cell.method)
        return not outdated and len(found["rmse"]) >= cell.draws(most)

    return [cell for cell in cells if not there(cell)]


def _timed(cell: Cell, folder: Path, seeds: Sequence[int], n_configurations: int) -> Any:
    try:
        return cell, compute(cell, folder, seeds, n_configurations)
    except ImportError as error:  # a package of a peer is not installed: the page says "not run"
        return cell, error


def computed(
    cells: Sequence[Cell], folder: Path, work: Work, jobs: int
) -> Iterator[tuple[Cell, float]]:
    """Compute cells, of each set the tunings first; yield each with its processor seconds."""
    missing: set[str] = set()
    for set_name in dict.fromkeys(cell.set_name for cell in cells):
        for tuning in (True, False):
            chosen = [
                delayed(_timed)(cell, folder, work.seeds(cell), work.configurations)
                for cell in cells
                if cell.set_name == set_name
                and (cell.condition is None) == tuning
                and cell.method not in missing
            ]
            for cell, spent in Parallel(n_jobs=jobs, return_as="generator_unordered")(chosen):
                if isinstance(spent, ImportError):
                    missing.add(cell.method)
                    print(f"{cell.method} is not run: {spent}", flush=True)
                else:
                    yield cell, spent


@dataclass(frozen=True)
class Work:
    """How much is asked for, and on which draws."""

    draws: int
    configurations: int
    development: bool

    def seeds(self, cell: Cell) -> list[int]:
        """Return the seeds of a cell's draws."""
        return seeds_of(cell.draws(self.draws), self.development)


ROUNDS = (3, 5, 10, 20)
"""Draws of all cells before any has more: a run that is ended early is still an even one."""


def run(
    cells: Sequence[Cell], folder: Path, work: Work, jobs: int, again: Collection[str] = ()
) -> None:
    """Compute what is wanting, round after round."""
    for most in [r for r in ROUNDS if r < work.draws] + [work.draws]:
        part = replace(work, draws=most)
        asked = wanting(cells, folder, most, again)
        print(f"{len(asked)} cells to compute, up to {most} draws each", flush=True)
        progress = Progress(asked)
        try:
            for cell, seconds in computed(asked, folder, part, jobs):
                progress.done(cell, seconds)
        finally:
            progress.stop()
