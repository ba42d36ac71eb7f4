"""`robustscn app`: the command that serves the page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..cli import options
from ..cli.messages import UnusableError

LIBRARIES = ("starlette", "uvicorn")


@options.command
def app(
    data: Annotated[str | None, typer.Argument(metavar="FILE", help="Table to begin with.")] = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="0 takes a free one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address and open nothing.")
    ] = False,
    *,
    telling: options.Telling,
) -> None:
    """Serve a page on this machine: drop a table, see suspects, say which are wrong, fit again.

    Only this machine can reach it, and only who has the address that is printed. Ctrl-C ends it
    and removes what it kept: download what you want to keep before.

    For example:

        robustscn app

        robustscn app measurements.xlsx --port 8000 --no-browser
    """
    try:
        from .serving import serve
    except ModuleNotFoundError as missing:
        if missing.name not in LIBRARIES:
            raise
        raise ImportError(f"the page needs {missing.name}: pip install 'robustscn[app]'") from None
    serve(_there(data), port, browser=not no_browser, json=telling.json, quiet=telling.quiet)


def _there(given: str | None) -> Path | None:
    """Return the whole path of a file that is there."""
    if given is None:
        return None
    path = Path(given)
    if not path.is_file():
        from ..tables.opening import file_hint

        what = "is a folder and no table" if path.is_dir() else "is not there"
        raise UnusableError(f"{path} {what}{file_hint(path)}")
    return path.resolve()
