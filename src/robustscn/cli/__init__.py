"""The command line: `robustscn fit measurements.csv --target size`, then `robustscn predict`.

Results go to standard output, all else to standard error. Exit codes: 0 done, 1 failed while
running, 2 wrong usage or an input that cannot be used, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__

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
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:  # asked first where something is missing, so it needs nothing
        print(f"robustscn {__version__}")
        return 0
    try:
        from .application import run
    except ModuleNotFoundError as missing:
        print(
            f"error: the command line needs {missing.name}: pip install 'robustscn[cli]'",
            file=sys.stderr,
        )
        return 1
    return run(given)
