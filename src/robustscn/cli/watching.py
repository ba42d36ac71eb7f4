"""A model that goes on learning while rows come in: the work behind `robustscn watch`.

Rows are taken in runs of `RUN` lines: predicted first, then learned. The model, how far the stream
has been read and how long the output was are saved in one file, which is replaced at once: after
a kill the output is cut back to that length and reading goes on from there, so that no row is
lost and none learned twice.
"""

from __future__ import annotations

import json as json_lines
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..tables import (
    TableError,
    columns_needed,
    read_table,
    require_columns,
    targets_of,
    unread_values,
)
from ..tables.dialect import dialect_of
from .interrupts import interrupts_wait
from .messages import UnusableError, notes, say
from .model_rows import loaded

if TYPE_CHECKING:
    import pandas as pd

    from ..persistence import Saved

RUN = 20
"""Lines that are predicted and learned together: as many as the model learns at once."""

REMEMBERED = 200
"""Rows whose numbers are kept until the model has judged them."""

POLLED = 0.3
"""Seconds between two looks at a file that grows."""

MOST_OF_A_LINE = 10_000_000
"""Bytes of a line at most."""


@dataclass
class Place:
    """How far a stream has been read.

    Parameters
    ----------
    source : str
        Name of the file, "-" for standard input.
    offset : int
        Bytes of it that were learned.
    rows : int
        Rows that were predicted.
    numbers : list of int
        Numbers of the last rows that were learned.
    learned, judged : int
        Rows learned, and how many of them the model has judged.
    drifts : int
        Row of the last drift event that was told.
    written : int
        Bytes of the output file.
    """

    source: str
    offset: int = 0
    rows: int = 0
    numbers: list[int] = field(default_factory=list)
    learned: int = 0
    judged: int = 0
    drifts: int = -1
    written: int = 0


@dataclass
class Watching:
    """A stream, the model that learns it, and where both stand.

    Parameters
    ----------
    model, stream : str
        The model to begin with, and the rows; "-" is standard input.
    out : str or None
        Where JSON lines are appended; None prints them.
    state : Path
        The model as it learns.
    every : int
        Rows between two savings.
    follow, restart : bool
        Whether to wait for rows that are added, and to begin anew.
    separator, encoding : str or None
        How the stream is written.
    max_size : int or None
        Most bytes that the model may unpack to.
    quiet : bool
        Whether notes are shown.
    """

    model: str
    stream: str
    out: str | None
    state: Path
    every: int
    follow: bool
    restart: bool
    separator: str | None
    encoding: str | None
    max_size: int | None
    quiet: bool

    def run(self) -> None:
        """Predict, learn and tell until the stream ends."""
        again = self.state.exists() and not self.restart
        self.saved: Saved = loaded(str(self.state) if again else self.model, self.max_size)
        self.network = self.saved.model.named_steps["model"]
        if not hasattr(self.network, "partial_fit"):
            raise UnusableError(
                "this kind of model does not go on learning: fit it again with --learner networks "
                "--transform none"
            )
        self.place = self._place(again)
        with ExitStack() as opened:
            source = self._source(opened)
            self.output = self._output(opened)
            lines = self._lines(source)
            header = self._header(lines, source)
            interrupted = False
            try:
                self._go_through(lines, header)
            except KeyboardInterrupt:
                interrupted = True
            self._save()
        if not self.quiet:
            ended = "interrupted" if interrupted else "done"
            say(f"{ended}: {self.place.rows:,} rows so far, the model is in {self.state}")

    def _place(self, again: bool) -> Place:
        """Return where reading goes on."""
        name = "-" if self.stream == "-" else Path(self.stream).name
        kept = self.saved.info.get("watch") if again else None
        if kept is None:
            return Place(name)
        try:
            place = Place(**kept)
            counts = (place.offset, place.rows, place.learned, place.judged, place.written)
            sound = all(type(n) is int and n >= 0 for n in (*counts, *place.numbers))
        except TypeError:
            sound = False
        if not sound:
            raise UnusableError(f"{self.state} does not say where it was: use --restart")
        if place.source != name or name == "-":  # another file, or what comes through a pipe now
            place.source, place.offset = name, 0
        notes([f"goes on after row {place.rows:,}, from {self.state}"], self.quiet)
        return place

    def _source(self, opened: ExitStack) -> BinaryIO:
        if self.stream == "-":
            return sys.stdin.buffer
        if not Path(self.stream).is_file():
            raise UnusableError(f"there is no file {self.stream}")
        return opened.enter_context(Path(self.stream).open("rb"))

    def _output(self, opened: ExitStack) -> BinaryIO:
        if self.out is None:
            return sys.stdout.buffer
        file = opened.enter_context(open(self.out, "ab"))  # noqa: SIM115 - the stack closes it
        if file.tell() < self.place.written:
            raise UnusableError(f"{self.out} is shorter than it was: use --restart or another file")
        # Lines written after the last save will be written again.
        file.truncate(self.place.written)
        file.seek(self.place.written)
        return file

    def _lines(self, source: BinaryIO) -> Iterator[bytes | None]:
        """Yield whole lines; None where there is none at the moment, and at the end."""
        part = b""
        while True:
            part += source.readline(MOST_OF_A_LINE)
            if len(part) >= MOST_OF_A_LINE:
                raise TableError("a line of the stream is longer than 10 MB: is it a text table?")
            if part.endswith(b"\n"):
                yield part
                part = b""
            elif self.follow and self.stream != "-":
                yield None
                time.sleep(POLLED)
            else:
                if part.strip():
                    yield part
                return

    def _header(self, lines: Iterator[bytes | None], source: BinaryIO) -> bytes:
        header = next((line for line in lines if line is not None and line.strip()), None)
        if header is None:
            raise TableError("the stream is empty: its first line must name the columns")
        if self.place.offset > len(header):
            if Path(self.stream).stat().st_size < self.place.offset:
                raise UnusableError(
                    f"{self.stream} is shorter than what was read of it: use --restart, or give "
                    "the new file another name"
                )
            source.seek(self.place.offset)
        else:
            self.place.offset = len(header)
        return header

    def _go_through(self, lines: Iterator[bytes | None], header: bytes) -> None:
        run: list[bytes] = []
        unsaved = 0
        for line in lines:
            if line is not None:
                run.append(line)
            if len(run) == RUN or (line is None and run):
                self._take(header, run)
                unsaved, run = unsaved + len(run), []
            if unsaved >= self.every:
                self._save()
                unsaved = 0
        if run:
            self._take(header, run)

    # Told, learned and counted together: what is saved after an interrupt is no half.
    @interrupts_wait()
    def _take(self, header: bytes, run: list[bytes]) -> None:
        """Predict the rows of some lines, and learn them."""
        rows = b"".join(run)
        if rows.strip():
            frame = self._table(header + rows)
            names = self.saved.info["targets"]
            predicted = np.asarray(self.saved.model.predict(frame)).reshape(len(frame), -1)
            known = np.zeros(len(frame), bool)
            observed = np.full(predicted.shape, np.nan)
            if set(names) <= set(frame.columns):
                targets = targets_of(frame, names, to_learn=False)
                known = targets.known
                observed[known] = targets.values.reshape(int(known.sum()), -1)
            first = self.place.rows
            for i in range(len(frame)):
                self._tell(
                    row=first + i + 1,
                    predicted=dict(zip(names, predicted[i].tolist(), strict=True)),
                    observed=dict(zip(names, observed[i].tolist(), strict=True))
                    if known[i]
                    else None,
                )
            self.place.rows += len(frame)
            if known.any():
                self._learn(frame[known], targets.values, first + 1 + np.flatnonzero(known))
            self.output.flush()
        self.place.offset += len(rows)

    def _table(self, text: bytes) -> pd.DataFrame:
        if self.separator is None:
            self.separator = dialect_of(text).separator
        needed = columns_needed(self.saved.model)
        frame = read_table(
            text,
            text=tuple(needed["categories"]),
            separator=self.separator if len(self.separator) == 1 else None,
            encoding=self.encoding,
        )
        require_columns([n for kind in needed.values() for n in kind], frame.columns, "the stream")
        notes(unread_values(self.saved.model, frame), self.quiet)
        return frame

    def _learn(self, frame: pd.DataFrame, targets: Any, numbers: Any) -> None:
        place = self.place
        self.network.partial_fit(self.saved.model[:-1].transform(frame), targets)
        place.numbers = [*place.numbers, *numbers.tolist()][-REMEMBERED:]
        place.learned += len(frame)
        stream = self.network._stream
        for each in self.network.suspects_:
            if place.judged <= each.row < stream.n_rows:
                self._tell(event="suspect", **each._asdict() | {"row": self._number(each.row)})
        place.judged = stream.n_rows
        for change in self.network.drift_:
            if change.row > place.drifts:
                place.drifts = change.row
                where = {"row": self._number(change.row - 1), "began": self._number(change.began)}
                self._tell(event="drift", **change._asdict() | where)

    def _number(self, row: int) -> int:
        """Return the number in the file of a row that was learned; an older one's is a guess."""
        at = row - self.place.learned
        numbers = self.place.numbers
        return numbers[at] if -len(numbers) <= at < 0 else max(1, numbers[0] + at + len(numbers))

    def _tell(self, **content: Any) -> None:
        line = json_lines.dumps(content, allow_nan=False, default=float) + "\n"
        self.output.write(line.encode())

    def _save(self) -> None:
        from ..persistence import save

        self.output.flush()
        if self.out is not None:
            os.fsync(self.output.fileno())
            self.place.written = self.output.tell()
        self.saved.info["watch"] = asdict(self.place)
        save(self.saved.model, self.state, info=self.saved.info)
