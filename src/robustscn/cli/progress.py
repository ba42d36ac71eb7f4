"""How a fit goes on, and how to end it early: a progress bar and Ctrl-C.

scikit-learn's callbacks tell of each round and of each block of nodes. The first Ctrl-C is
remembered and ends the fit with the best model so far; the second ends the program at once.

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
from typing import Any

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from .messages import INTERRUPTED, errors

ASKED_BY = "ROBUSTSCN_PROGRESS"
"""Variable of the environment; "json" asks for lines, also of a quiet command."""

LEAST_SHARE = 0.005
"""What a line tells more than the one before, so that thousands of nodes are no flood."""


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
        self._told: tuple[int, float] = (0, -1.0)
        self._rounds = self._steps = self._step = 0

    def setup(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        """Begin to draw."""
        self._rounds = self._steps = self._step = 0
        self._task = self._bar.add_task(self.label, total=context.max_subtasks or None)
        self._bar.start()

    def teardown(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        """Take the bar away."""
        self._bar.stop()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:  # noqa: ARG002
        """Take note of a new round."""
        if context.task_name == "round":
            self._steps, self._step = context.max_subtasks or 0, 0
            self._draw(context.parent)

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:  # noqa: ARG002
        """Move on; return whether the fit should end here."""
        if context.task_name == "round":
            self._rounds, self._step = self._rounds + 1, 0
            self._draw(context.parent)
        elif context.task_name == "nodes":
            self._step += 1
            self._draw(context.parent.parent)
        return self.end

    def _draw(self, root: Any) -> None:
        total = (root.max_subtasks if root is not None else None) or 1
        number = min(self._rounds + 1, total)
        words = f"{self.label}, round {number} of {total}"
        if self._steps:
            words += f", nodes {self._step} of {self._steps} blocks"
        done = self._rounds + (self._step / self._steps if self._steps else 0)
        self._bar.update(self._task, completed=min(done, total), total=total, description=words)
        if self._lines:
            self._tell(number, total, min(done / total, 1.0))

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
