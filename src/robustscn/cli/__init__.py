"""The command line: `robustscn fit measurements.csv --target size`, then `robustscn predict`.

Results go to standard output, all else to standard error. Exit codes: 0 done, 1 failed while
running, 2 wrong usage or an input that cannot be used, 130 interrupted.
"""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__
from .interrupts import WORDS, quitting_at_once

if TYPE_CHECKING:
    from .application import app as app

__all__ = ["app", "main"]


def __getattr__(name: str) -> Any:
    if name == "app":
        from .application import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str or None
        What follows the command's name; None takes the process's own.

    Returns
    -------
    int
        0 done, 1 failed while running, 2 wrong usage or input, 130 interrupted.

    Examples
    --------
    >>> from robustscn.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    robustscn ...
    0
    """
    try:
        _take_any_character()
        code = _run(arguments)
    except KeyboardInterrupt:
        print(WORDS, file=sys.stderr)
        code = 130
    if arguments is None:  # nothing is left to interrupt but the interpreter's own end
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:  # asked first where something is missing, so it needs nothing
        print(f"robustscn {__version__}")
        return 0
    try:
        with quitting_at_once():
            from .application import run
    except ModuleNotFoundError as missing:
        print(
            f"error: the command line needs {missing.name}: pip install 'robustscn[cli]'",
            file=sys.stderr,
        )
        return 1
    return run(given)


def _take_any_character() -> None:
    """Show what a stream's encoding lacks by its number: file names and columns may be anything."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
