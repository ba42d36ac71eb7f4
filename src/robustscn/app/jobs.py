"""A command of ours in a process of its own: how far it is, what it says, and how to end it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..cli.progress import ASKED_BY

PATIENCE = 5.0
"""Seconds that a command has to end when asked to, before it is made to."""

_OTHER_WAYS = ("FORCE_COLOR", "CLICOLOR_FORCE", "PYTHONWARNINGS")
"""Of the environment: what would change the lines that are read here."""


@dataclass
class Job:
    """A command that runs.

    Parameters
    ----------
    words : list of str
        What follows `robustscn`.
    folder : Path
        Where it runs, and writes.
    """

    words: list[str]
    folder: Path
    progress: dict[str, Any] | None = None
    error: str | None = None
    cancelled: bool = False
    facts: dict[str, Any] | None = None
    ended: bool = False
    _process: Any = field(default=None, repr=False)

    async def run(self) -> None:
        """Run it to its end: `facts` is what it printed, or `error` says in a line why not."""
        try:
            await self._run()
        finally:
            self.ended = True

    async def _run(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            # -P: a table that is called numpy.py is no module.
            *(sys.executable, "-P", "-m", "robustscn.cli", *self.words, "--json"),
            cwd=self.folder,
            env=_environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us, and ending it ends all that it started
        )
        if self.cancelled:
            self._end(force=True)
        printed, _, code = await asyncio.gather(
            self._process.stdout.read(), self._listen(), self._process.wait()
        )
        if self.cancelled:
            return
        if code == 0:
            self.facts, self.error = json.loads(printed), None
        elif self.error is None:
            self.error = f"the command ended with code {code} and said nothing: out of memory?"

    async def cancel(self) -> None:
        """End it, whatever it does, and wait until it has ended."""
        self.cancelled = True
        if self._process is None:
            return
        self._end(force=False)
        try:
            await asyncio.wait_for(self._process.wait(), PATIENCE)
        except TimeoutError:
            self._end(force=True)
            await self._process.wait()

    async def _listen(self) -> None:
        """Take in what it says while it runs."""
        async for line in self._process.stderr:
            text = line.decode("utf-8", "replace").strip()
            if text.startswith("{"):
                with suppress(ValueError):
                    self.progress = json.loads(text)
            elif text.startswith("error: "):
                self.error = text.removeprefix("error: ")

    def _end(self, *, force: bool) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL if force else signal.SIGTERM)
            else:
                self._process.kill()


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _OTHER_WAYS}
    places = [os.path.abspath(p) for p in kept.pop("PYTHONPATH", "").split(os.pathsep) if p]
    if places:  # what is relative is meant from where we were started
        kept["PYTHONPATH"] = os.pathsep.join(places)
    return kept | {ASKED_BY: "json", "PYTHONIOENCODING": "utf-8", "TERM": "dumb"}
