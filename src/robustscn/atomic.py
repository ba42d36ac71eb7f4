"""Files that are there whole or not at all, whatever interrupts their writing.

Each is first written beside its place under a hidden name; only when all are complete are they
moved, which the file system does at once. What was there before is kept until the last one is in
place, and put back where one cannot be moved. What is no file is written through, before any
file changes.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .places import Place, place_of

Writer = Callable[[Path], Any]
"""What writes a file, given a path to write to."""


def write_whole(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file so that others see all of it or nothing.

    Parameters
    ----------
    path : str or path
        Where to; a file of that name is replaced, a device or FIFO written through.
    content : bytes
        What to write.

    Returns
    -------
    Path
        Where it is.
    """
    path = Path(path)
    write_together({path: lambda part: part.write_bytes(content)})
    return path


def write_together(writers: Mapping[Path, Writer]) -> dict[Path, int]:
    """Write files so that all of them change or none does.

    Owner and mode of files that are replaced stay what they were; links are followed.

    Parameters
    ----------
    writers : mapping of Path to callable
        For each place what writes the file, given a path with the same ending to write to.

    Returns
    -------
    dict
        Size in bytes of each file.

    Raises
    ------
    OSError
        That names the file, whatever went wrong with it.
    """
    places = [place_of(path) for path in writers]
    with _ended_tidily(), ExitStack() as cleared_up:
        parts = []
        for place, write in zip(places, writers.values(), strict=True):
            with _named(place):
                part = _begun(place, cleared_up)
                write(part)
                _finished(part, place)
                parts.append(part)
        sizes = {
            place.named: part.stat().st_size for place, part in zip(places, parts, strict=True)
        }
        for place, part in zip(places, parts, strict=True):
            if place.is_stream:
                with _named(place):
                    _pour(part, place)
        with _undisturbed():
            _move(
                [(p, place) for p, place in zip(parts, places, strict=True) if not place.is_stream]
            )
    return sizes


class _Ended(BaseException):
    """A request to end, on its way through what has to be removed before."""


@contextmanager
def _ended_tidily() -> Iterator[None]:
    """Let a request to end the program leave no hidden parts; then it ends as it would have.

    Where the program has an answer of its own to such requests, that one stays.
    """
    end = signal.SIGTERM
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(end) is not signal.SIG_DFL
    ):
        yield
        return
    asked: list[int] = []
    writing = True

    def stop(number: int, _frame: Any) -> None:
        asked.append(number)
        if writing:
            raise _Ended

    signal.signal(end, stop)
    try:
        yield
    except _Ended:
        pass
    finally:
        writing = False
        signal.signal(end, signal.SIG_DFL)
        if asked:
            signal.raise_signal(end)


@contextmanager
def _named(place: Place) -> Iterator[None]:
    """Let errors of the system name the file that was asked for, and not a hidden one."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise OSError(error.errno or errno.EIO, why, str(place.named)) from error


def _begun(place: Place, cleared_up: ExitStack) -> Path:
    """Return a new empty file to write to, which only its future owner can read."""
    folder = place.target.parent
    if place.is_stream:
        folder = Path(cleared_up.enter_context(TemporaryDirectory(prefix="robustscn-")))
    part = _beside(folder / place.named.name)
    cleared_up.callback(part.unlink, missing_ok=True)
    before = None if place.is_stream else place.before
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if before else 0o666))
    if before is not None:
        _give_to_owner(part, before)
    return part


def _give_to_owner(path: Path, before: os.stat_result) -> None:
    now = path.stat()
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        os.chown(path, before.st_uid, before.st_gid)


def _beside(path: Path) -> Path:
    """Return a hidden name; it ends as the path does, which tells the format, and is short."""
    return path.with_name(f".{secrets.token_hex(4)}.{path.name[-24:]}")


def _finished(part: Path, place: Place) -> None:
    """Bring a file to the disk, with the mode of the one that it replaces."""
    with open(part, "rb") as file:
        os.fsync(file.fileno())
    if place.before is not None and not place.is_stream:
        os.chmod(part, stat.S_IMODE(place.before.st_mode))


def _pour(part: Path, place: Place) -> None:
    with open(part, "rb") as content, os.fdopen(place.opened(), "wb") as stream:
        shutil.copyfileobj(content, stream)


def _move(moves: Sequence[tuple[Path, Place]]) -> None:
    """Move files to their places; where one cannot be, bring the others back."""
    begun: list[tuple[Path, Path | None]] = []
    try:
        for part, place in moves:
            with _named(place):
                old = _kept(place) if len(moves) > 1 else None
                begun.append((place.target, old))
                os.replace(part, place.target)
    except BaseException:
        if len(moves) > 1:
            for target, old in reversed(begun):
                _put_back(target, old)
        raise
    for _, old in begun:
        if old is not None:
            with suppress(OSError):
                old.unlink()


def _kept(place: Place) -> Path | None:
    """Return a second name of what is there, or a copy where the file system has no such names."""
    if place.before is None:
        return None
    old = _beside(place.target)
    try:
        os.link(place.target, old)
    except OSError:
        shutil.copy2(place.target, old)
        _give_to_owner(old, place.before)
    return old


def _put_back(target: Path, old: Path | None) -> None:
    if old is None:
        target.unlink(missing_ok=True)
        return
    os.replace(old, target)
    old.unlink(missing_ok=True)  # replacing a file by itself leaves both names


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let nothing end the program in the moment that moving takes.

    Ctrl-C is ignored: done is done, and will be said so. A request to end waits until after.
    """
    interrupt, end = signal.SIGINT, signal.SIGTERM
    before = {each: signal.getsignal(each) for each in (interrupt, end)}
    if threading.current_thread() is not threading.main_thread() or None in before.values():
        yield
        return
    asked: list[int] = []
    signal.signal(interrupt, signal.SIG_IGN)
    signal.signal(end, lambda number, _: asked.append(number))
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if asked:
            signal.raise_signal(end)
