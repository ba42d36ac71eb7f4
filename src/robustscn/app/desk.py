"""What lies on the desk: a table, a look at it, a running fit, what the last came to, answers.

One user, one table at a time. Everything is kept in one folder; a fit has a folder of its own
there, which is kept when it is complete and removed when it is not.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections import Counter
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..sizes import size_in_words
from ..text import one_line
from .forms import (
    CHOICE,
    OUTPUTS,
    READING,
    as_typed,
    filled_in,
    fit_words,
    guessed_target,
    reading_words,
)
from .jobs import Job

ANSWERS = ("wrong", "fine")
"""What a row can be called; one that is called neither is left to the fit."""

REVIEW = "review"
"""What the column of answers is called, with a number where the name is taken."""


_REVIEWED = rf"{REVIEW}(_\d+)?"


class Refusal(Exception):  # noqa: N818 - an answer to the user, and no fault
    """What was asked for cannot be done now; the text says why."""


@dataclass
class Table:
    """A file of rows.

    Parameters
    ----------
    path : Path
        Where it is.
    name : str
        What its owner calls it.
    ours : bool
        Whether it is a copy in our folder.
    """

    path: Path
    name: str
    ours: bool
    reading: dict[str, Any] = field(default_factory=dict)


@dataclass
class Result:
    """What a fit came to.

    Parameters
    ----------
    number : int
        Of the fit, counted from 1.
    folder : Path
        Where its files are.
    command : str
        As one would type it.
    choice : dict
        What was chosen.
    facts : dict
        What the command printed.
    lines : list
        The same in words.
    suspects : dict
        Rows to ask about.
    with_answers : bool
        Whether it knew the user's.
    """

    number: int
    folder: Path
    command: str
    choice: dict[str, Any]
    facts: dict[str, Any]
    lines: list[tuple[str, str]]
    suspects: dict[str, Any]
    with_answers: bool


class Desk:
    """The state of the page.

    Parameters
    ----------
    folder : Path
        Where everything is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.table: Table | None = None
        self.look: Job | None = None
        self.fit: Job | None = None
        self.result: Result | None = None
        self.answers: dict[int, str] = {}
        self.stage = ""
        self._count = self._uploads = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def fitting(self) -> bool:
        """Whether a fit is under way."""
        return bool(self.stage)

    @property
    def looking(self) -> bool:
        """Whether the table is being looked at."""
        return self.look is not None and not self.look.ended

    # The table ------------------------------------------------------------------------------

    def place(self) -> Path:
        """Return a new folder for a table that comes in."""
        self._uploads += 1
        place = self.folder / f"table-{self._uploads}"
        place.mkdir()
        return place

    def discard(self, place: Path) -> None:
        """Remove a folder of ours."""
        shutil.rmtree(place, ignore_errors=True)

    async def take(self, table: Table) -> None:
        """Put a table on the desk, in place of the one before and all that was found in it."""
        if self.fitting:
            raise Refusal("a fit is running: cancel it before you take another table")
        if self.look is not None:
            await self.look.cancel()
        if self.table is not None and self.table.ours:
            self.discard(self.table.path.parent)
        if self.result is not None:
            self.discard(self.result.folder)
        self.table, self.result, self.answers, self.fit = table, None, {}, None
        await self.look_at(table.reading)

    async def look_at(self, reading: Mapping[str, Any]) -> None:
        """Begin to look at the table, read as the user says."""
        table = self._there()
        if self.fitting:
            raise Refusal("a fit is running: cancel it before the table is read again")
        n_rows = None
        if self.look is not None:
            await self.look.cancel()
            n_rows = self.look.facts["rows"] if self.look.facts else None
        reading = table.reading = filled_in(reading, READING)
        file, folder = str(table.path), self.folder
        if table.ours:  # so that messages call it what its owner does
            file, folder = table.name, table.path.parent
        self.look = Job(["check", file, *reading_words(reading)], folder)
        self._begin(self._looked(self.look, n_rows))

    async def _looked(self, job: Job, n_rows: int | None) -> None:
        try:
            await job.run()
        except OSError as fault:  # not even a process could be started
            job.error = one_line(fault)
        if job.facts is not None and job.facts["rows"] != n_rows:
            self.answers = {}  # they would be about other rows

    def _there(self) -> Table:
        if self.table is None:
            raise Refusal("there is no table yet: choose a file first")
        return self.table

    # A fit ----------------------------------------------------------------------------------

    def start(self, choice: Mapping[str, Any], *, with_answers: bool = False) -> None:
        """Begin a fit."""
        self._there()
        if self.fitting:
            raise Refusal("a fit is running already")
        if self.look is None or self.look.facts is None:
            raise Refusal("the table has not been read yet")
        if with_answers and not self.answers:
            raise Refusal("no row is marked yet: say of some which are wrong and which are fine")
        chosen = filled_in(choice, CHOICE)
        self._count += 1
        self.stage, self.fit = "starting", Job([], self.folder / f"fit-{self._count}")
        self._begin(self._fitted(self.fit, chosen, with_answers))

    async def _fitted(self, job: Job, choice: dict[str, Any], with_answers: bool) -> None:
        folder = job.folder
        try:
            folder.mkdir()
            table = self._there()
            file, reading, column = await asyncio.to_thread(
                self._laid_out, table, folder, choice if with_answers else None
            )
            job.words = fit_words(file, choice, reading, column)
            self.stage = "fitting"
            if not job.cancelled:
                await job.run()
            if job.facts is not None and not job.cancelled:
                self.stage = "gathering"
                result = await asyncio.to_thread(self._gathered, job, choice, reading, file, column)
                if not job.cancelled:
                    self._keep(result)
        except Exception as fault:
            job.error = one_line(fault)
        finally:
            if self.result is None or self.result.folder != folder:
                self.discard(folder)
            self.stage = ""

    async def cancel(self) -> None:
        """End the fit that runs, and wait until nothing is left of it."""
        if self.fit is not None and self.fitting:
            await self.fit.cancel()
        while self.fitting:
            await asyncio.sleep(0.05)

    def _laid_out(
        self, table: Table, folder: Path, answered: dict[str, Any] | None
    ) -> tuple[str, dict[str, Any], str | None]:
        """Put the table where the fit runs; return its name there, how to read it, its answers."""
        if answered is not None:
            content, name, column = self.reviewed(answered)
            (folder / name).write_bytes(content)
            return name, _as_rewritten(table.reading), column
        if not table.ours:
            return str(table.path), table.reading, None
        try:
            os.link(table.path, folder / table.name)
        except OSError:
            shutil.copyfile(table.path, folder / table.name)
        return table.name, table.reading, None

    def _gathered(
        self,
        job: Job,
        choice: dict[str, Any],
        reading: dict[str, Any],
        file: str,
        column: str | None,
    ) -> Result:
        from ..cli.summary import summary_lines
        from ..tables import read_table
        from .suspects import listed_suspects

        facts = job.facts or {}
        frame = read_table(job.folder / file, **_keywords(reading))
        kinds = self.look.facts["kinds"] if self.look and self.look.facts else {}
        times = [choice.get("time"), *(n for n, kind in kinds.items() if kind == "date")]
        inputs = [*facts["columns"]["numbers"], *facts["columns"]["categories"]]
        beside = dict.fromkeys([*filter(None, times[:2]), *inputs])
        target = facts["targets"][0]
        suspects = listed_suspects(
            job.folder / "outliers.csv", frame, target, list(beside), choice.get("id")
        )
        return Result(
            self._count, job.folder, as_typed(job.words), choice, facts, summary_lines(facts),
            suspects, column is not None,
        )  # fmt: skip

    def _keep(self, result: Result) -> None:
        if self.result is not None:
            self.discard(self.result.folder)
            if self.result.choice["target"] != result.choice["target"]:
                self.answers = {}  # they were about another column
        self.result = result

    # Answers --------------------------------------------------------------------------------

    def answer(self, given: Mapping[str, Any]) -> None:
        """Take down what the user says of rows, by their place in the table."""
        n_rows = self.look.facts["rows"] if self.look and self.look.facts else 0
        for place, word in given.items():
            if not (place.isascii() and place.isdigit() and int(place) < n_rows):
                raise Refusal(f"there is no row {one_line(place, 20)}")
            if word in ANSWERS:
                self.answers[int(place)] = word
            else:
                self.answers.pop(int(place), None)

    def answer_episode(self, asked: Mapping[str, Any]) -> None:
        """Take down one answer for all rows of an episode, those that were not flagged too."""
        episodes = self.result.facts["episodes"] if self.result else []
        number = asked.get("episode")
        if not (isinstance(number, int) and 0 <= number < len(episodes)):
            raise Refusal("there is no such episode")
        runs = episodes[number]["positions"]
        rows = (str(row) for first, last in runs for row in range(first, last + 1))
        self.answer(dict.fromkeys(rows, asked.get("word")))

    def reviewed(self, choice: Mapping[str, Any]) -> tuple[bytes, str, str]:
        """Return the table with the answers as a column more, its name, and the column's.

        Answers that the table came with are in it too.
        """
        from ..tables import read_table, reviews_of, with_column

        table = self._there()
        if self.look is None or self.look.facts is None:
            raise Refusal("the table has not been read yet")
        facts = self.look.facts
        how = _keywords(table.reading)
        answers = dict(self.answers)
        if before := choice.get("reviewed"):
            marked = reviews_of(read_table(table.path, **how), before)
            for word, rows in zip(ANSWERS, marked, strict=True):
                answers = dict.fromkeys(rows.nonzero()[0].tolist(), word) | answers
        values = [answers.get(row, "") for row in range(facts["rows"])]
        column, number = REVIEW, 1
        while column in facts["kinds"]:
            number += 1
            column = f"{REVIEW}_{number}"
        asked = {k: how[k] for k in ("separator", "encoding", "skip_rows", "sheet")}
        content, ending = with_column(table.path, column, values, **asked)
        return content, f"{table.name.split('.')[0] or 'table'}-reviewed{ending}", column

    # All of it ------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what the page shows, as plain data."""
        return {
            "table": self._table_state(),
            "look": self._look_state(),
            "fit": self._fit_state(),
            "result": self._result_state(),
            "answers": dict(Counter(self.answers.values())),
        }

    def _table_state(self) -> dict[str, Any] | None:
        if self.table is None:
            return None
        size = self.table.path.stat().st_size if self.table.path.exists() else 0
        return {
            "name": one_line(self.table.name, 120),
            "size": size_in_words(size),
            "reading": self.table.reading,
        }

    def _look_state(self) -> dict[str, Any] | None:
        if self.look is None:
            return None
        facts = self.look.facts
        if facts is None or self.looking:
            return {"running": self.looking, "error": self.look.error}
        naming = facts["naming_rows"]
        return {
            "running": False,
            "error": None,
            "rows": facts["rows"],
            "columns": [
                {"name": name, "kind": kind, "why": naming.get(name, "")}
                for name, kind in facts["kinds"].items()
            ],
            "findings": [
                {"column": each["column"], "words": each["words"], "where": each["where"]}
                for each in facts["findings"]
            ],
            "notes": facts["notes"],
            "guess": guessed_target(facts["kinds"], naming),
            "reviewed": next((n for n in facts["kinds"] if re.fullmatch(_REVIEWED, n)), None),
        }

    def _fit_state(self) -> dict[str, Any] | None:
        if self.fit is None:
            return None
        return {
            "number": self._count,
            "stage": self.stage,
            "progress": self.fit.progress,
            "error": None if self.fitting else self.fit.error,
            "cancelled": self.fit.cancelled,
            "command": as_typed(self.fit.words) if self.fit.words else "",
        }

    def _result_state(self) -> dict[str, Any] | None:
        if self.result is None:
            return None
        facts = self.result.facts
        return {
            "number": self.result.number,
            "command": self.result.command,
            "choice": self.result.choice,
            "rows": facts["rows"],
            "flagged": facts["flagged_rows"],
            "share": facts["flagged_share"],
            "error": (facts["held_out"] or {}).get("median_absolute_error"),
            "error_of": (facts["held_out"] or {}).get("how"),
            "seconds": facts["fit_seconds"],
            "lines": self.result.lines,
            "episodes": [each["sentence"] for each in facts["episodes"]],
            "notes": facts["notes"],
            "with_answers": self.result.with_answers,
            "files": {
                name: size_in_words((self.result.folder / name).stat().st_size)
                for name in OUTPUTS
                if (self.result.folder / name).is_file()
            },
        }

    async def close(self) -> None:
        """End whatever runs."""
        for job in (self.look, self.fit):
            if job is not None:
                await job.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # the loop itself keeps no hold of it
        task.add_done_callback(self._tasks.discard)


def _keywords(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the table is read, as `read_table` takes it."""
    from ..cli.options import Reading

    given = dict(reading)
    if "skip_rows" in given:
        given["skip_rows"] = int(given["skip_rows"])
    return Reading(**given).keywords()


def _as_rewritten(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the table is read once it is UTF-8, of one sheet, with tabs for blanks."""
    gone = {"encoding", "sheet"}
    if reading.get("separator") in (" ", "space"):
        gone.add("separator")
    return {name: value for name, value in reading.items() if name not in gone}
