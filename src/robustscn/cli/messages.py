"""What the command line says besides results: notes, errors, all on standard error.

An error is one line that says what to do. A traceback is shown with `--debug` only.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console

from ..text import one_line

FAILED, UNUSABLE, INTERRUPTED = 1, 2, 130
"""Exit codes."""

LOOKING = "looking at the columns"


class UnusableError(ValueError):
    """What was asked for cannot be done with these options or files."""


def errors() -> Console:
    """Return the console on standard error, as it is now.

    Returns
    -------
    rich.console.Console
        Plain where it is no terminal.
    """
    return Console(stderr=True, highlight=False, soft_wrap=True)


def notes(lines: Iterable[str], quiet: bool) -> None:
    """Say what was assumed.

    Parameters
    ----------
    lines : iterable of str
        One assumption each.
    quiet : bool
        Whether to say nothing.
    """
    if not quiet:
        for line in lines:
            say(f"note: {line}", style="dim")


def say(line: object, style: str | None = None) -> None:
    """Print a line on standard error, whatever the text in it came from.

    Parameters
    ----------
    line : object
        What to say.
    style : str or None, default=None
        How it looks on a terminal.
    """
    errors().print(one_line(line), markup=False, style=style)


@contextmanager
def at_work(words: str, quiet: bool) -> Iterator[None]:
    """Show on a terminal that something goes on of which no share is known.

    Parameters
    ----------
    words : str
        What goes on.
    quiet : bool
        Whether to show nothing.

    Yields
    ------
    None
        While it does.
    """
    console = errors()
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(words):
        yield


def fail(message: object, code: int) -> typer.Exit:
    """Print an error as one line and return what ends the command.

    Parameters
    ----------
    message : object
        What is wrong and what to do.
    code : int
        Exit code.

    Returns
    -------
    typer.Exit
        To be raised.
    """
    say(f"error: {message}")
    return typer.Exit(code)


@contextmanager
def plain_errors(debug: bool = False) -> Iterator[None]:
    """Turn exceptions into one line and an exit code.

    Parameters
    ----------
    debug : bool, default=False
        Whether to let the traceback through.

    Yields
    ------
    None
        While the command runs.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _as_note
            yield
    except typer.Exit:
        raise
    except BrokenPipeError as error:
        if error.filename is not None:  # a FIFO that was to be written
            raise fail(*_in_words(error)) from None
        # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (KeyboardInterrupt, typer.Abort):
        raise fail("interrupted, nothing was written", INTERRUPTED) from None
    except Exception as error:
        if _came_from_interrupt(error):
            raise fail("interrupted, nothing was written", INTERRUPTED) from None
        # Wrong usage is Typer's to find, and its own kind of error; its classes have moved about.
        if hasattr(error, "format_message"):
            raise fail(error.format_message(), UNUSABLE) from None
        if debug:
            raise
        raise fail(*_in_words(error)) from None


def _came_from_interrupt(error: BaseException) -> bool:
    """Return whether an interrupt is at the root; imports report one in their own words."""
    root: BaseException | None = error
    for _ in range(20):
        if root is None or isinstance(root, KeyboardInterrupt):
            break
        root = root.__cause__ or root.__context__
    return isinstance(root, KeyboardInterrupt)


def _as_note(message: Warning | str, *_where: object, **_more: object) -> None:
    notes([str(message)], quiet=False)


def _in_words(error: Exception) -> tuple[str, int]:
    from ..onnx import CannotExport
    from ..persistence import faults
    from ..tables import TableError

    models = (faults.NotAModel, faults.DamagedModel, faults.OtherVersion, faults.UntrustedModel)
    unusable = (TableError, UnusableError, *models, faults.TooLargeModel, CannotExport)
    if isinstance(error, unusable):
        return str(error), UNUSABLE
    if isinstance(error, ImportError):
        return str(error), FAILED
    if isinstance(error, MemoryError):
        return "out of memory: use fewer rows, or fewer --networks and --nodes", FAILED
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror, FAILED
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return f"{first} (run again with --debug to see where)", FAILED


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object; what is not finite is null.

    Parameters
    ----------
    content : dict
        Plain data.
    """
    text = json.dumps(_plain(content), ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "ascii")
        shown = text.isprintable()
    except UnicodeEncodeError:  # an ASCII terminal, or a file name that is no text
        shown = False
    # JSON leaves some control characters as they are, and a name from a file may hold them.
    print(text if shown else json.dumps(_plain(content)).replace("\x7f", "\\u007f"))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
