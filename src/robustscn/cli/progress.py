"""How a fit goes on, and how to end it early: a progress bar and Ctrl-C.

scikit-learn's callbacks tell of each round and of each block of nodes. A round that grows networks
takes ten times as long as one that refits them; each counts for as much as it is expected to take,
or the time left would jump. The first Ctrl-C is remembered and ends the fit with the best model so
far; the second ends the program at once.

A program that runs a fit for its own users asks for lines instead of a bar: with
`ROBUSTSCN_PROGRESS=json` in the environment, each is a JSON object on standard error.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from .messages import INTERRUPTED, errors

ASKED_BY = "ROBUSTSCN_PROGRESS"
"""Variable of the environment; "json" asks for lines, also of a quiet command."""

LEAST_SHARE = 0.005
"""What a line tells more than the one before, so that thousands of nodes are no flood."""


@dataclass
class Stand:
    """Where one fit stands.

    Parameters
    ----------
    costs : tuple of float
        How long each of its tasks, and what follows them, is expected to take.
    done : int
        Tasks that are over.
    name : str
        What its tasks are: rounds, or parts of which one is a fit of its own.
    total : int
        How many there are.
    steps, step : int
        Blocks of nodes of the running round, and how many are there.
    """

    costs: tuple[float, ...] = (1.0,)
    done: int = 0
    name: str = "round"
    total: int = 1
    steps: int = 0
    step: int = 0

    def share(self, within: float) -> float:
        """Return the share of the work that is done.

        Parameters
        ----------
        within : float
            That of the running task.

        Returns
        -------
        float
            Between 0 and 1.
        """
        running = self.costs[self.done] if self.done < len(self.costs) else 0.0
        spent = sum(self.costs[: self.done]) + running * within
        return min(spent / (sum(self.costs) or 1.0), 1.0)


class FitProgress:
    """A scikit-learn callback: draws the progress of a fit and ends it when asked to.

    Parameters
    ----------
    label : str
        What is being fitted.
    quiet : bool
        Whether to draw nothing.
    """

    def __init__(self, label: str, quiet: bool) -> None:
        self.label = label
        self.end = False
        console = errors()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task: Any = None
        self._lines = os.environ.get(ASKED_BY) == "json"
        self._round = 1, 1
        self._told: tuple[int, float] = (0, -1.0)
        self._fits: list[Stand] = []
        """The fit, and the one that is a part of it."""

    def setup(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        """Begin to draw."""
        if not self._fits:
            self._task = self._bar.add_task(self.label, total=1.0)
            self._bar.start()
        self._fits.append(Stand())

    def teardown(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        """Take the bar away."""
        self._fits.pop()
        if not self._fits:
            self._bar.stop()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        """Take note of a new round or part."""
        if context.task_name in ("round", "part"):
            fit = self._fits[-1]
            fit.costs, fit.steps, fit.step = context.parent.costs, context.max_subtasks or 0, 0
            fit.name, fit.total = context.task_name, context.parent.max_subtasks
            self._draw()

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:  # noqa: ARG002
        """Move on; return whether the fit should end here."""
        fit = self._fits[-1]
        if context.task_name in ("round", "part"):
            fit.done, fit.steps, fit.step = fit.done + 1, 0, 0
        elif context.task_name == "nodes":
            fit.step += 1
        else:
            fit.done = len(fit.costs)
        self._draw()
        return self.end

    def _draw(self) -> None:
        fit = self._fits[-1]
        number = min(fit.done + 1, fit.total)
        words = f"{self.label}, {fit.name} {number} of {fit.total}"
        if fit.steps:
            words += f", nodes {fit.step} of {fit.steps} blocks"
        done = fit.step / fit.steps if fit.steps else 0.0
        for each in reversed(self._fits):
            done = each.share(done)
        self._bar.update(self._task, completed=done, description=words)
        if fit.name == "round":
            self._round = number, fit.total
        if self._lines:
            self._tell(*self._round, done)

    def _tell(self, number: int, total: int, share: float) -> None:
        if number == self._told[0] and 0 <= share - self._told[1] < LEAST_SHARE:
            return
        self._told = (number, share)
        line = {"fit": self.label, "round": number, "rounds": total, "share": round(share, 4)}
        sys.stderr.write(json.dumps(line) + "\n")
        sys.stderr.flush()


@contextmanager
def ending_by_interrupt(progress: FitProgress) -> Iterator[None]:
    """Let the first Ctrl-C end the fit after the running step, and the second the program.

    Parameters
    ----------
    progress : FitProgress
        The callback that ends the fit.

    Yields
    ------
    None
        While the fit runs.
    """

    def interrupted(_signal: int, _frame: Any) -> None:
        if progress.end:
            # Written past the stream, which cannot be entered twice: the first one's words may
            # still be on their way.
            cursor = "\x1b[?25h" if errors().is_terminal else ""
            os.write(2, f"{cursor}\nerror: interrupted, nothing was written\n".encode())
            os._exit(INTERRUPTED)  # worker threads would keep an orderly exit waiting
        progress.end = True
        errors().print("finishing the running step; press Ctrl-C again to quit at once")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
