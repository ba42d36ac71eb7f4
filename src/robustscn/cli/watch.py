"""`robustscn watch`: what it takes; `watching` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .messages import plain_errors
from .writing import check_outputs


def watch(
    model: options.Model,
    stream: Annotated[
        str, typer.Argument(help="Text table whose rows come in; '-' is standard input.")
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Append JSON lines; else printed."),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="The model as it learns; else beside MODEL as .watch.skops.",
        ),
    ] = None,
    every: Annotated[
        int, typer.Option("--every", metavar="ROWS", min=1, help="Save after so many rows.")
    ] = 1000,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for rows that are added to the file.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin with MODEL, whatever was learned before.")
    ] = False,
    separator: options.Separator = None,
    encoding: options.Encoding = None,
    max_size: options.MaxSize = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Predict rows as they come in, learn from them, and tell of changes.

    Prints a line of JSON for each row, for each suspect and for each change. Rows without a
    target are predicted only. Run again, it goes on where it was. What came from standard input
    after the last save is lost with the process: a pipe cannot be read twice.

    For example:

        robustscn watch model.skops today.csv --out today.jsonl

        tail -n +1 -F today.csv | robustscn watch model.skops -
    """
    with plain_errors(debug):
        from .watching import Watching

        state = Path(save) if save is not None else Path(model).with_suffix(".watch.skops")
        check_outputs([state] if out is None else [state, Path(out)], [model, stream])
        Watching(
            model=model,
            stream=stream,
            out=out,
            state=state,
            every=every,
            follow=follow,
            restart=restart,
            separator=options.separator_of(separator),
            encoding=encoding,
            max_size=options.size_of(max_size),
            quiet=quiet,
        ).run()
