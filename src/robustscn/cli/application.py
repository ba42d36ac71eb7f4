"""The commands put together, and what their exit codes are."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from .. import __version__
from .demo import demo
from .fit import fit
from .info import info
from .messages import UNUSABLE, plain_errors
from .use import export, outliers, predict, report

commands: list[Callable[..., Any]] = [fit, predict, outliers, report, export, info, demo]
if find_spec(f"{__package__}.reproduce") is not None:
    commands.append(import_module(f"{__package__}.reproduce").reproduce)

app = typer.Typer(
    name="robustscn",
    help="Regression when the training targets cannot be trusted.",
    epilog="Exit codes: 0 done, 1 failed while running, 2 wrong usage or input, 130 interrupted.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in commands:
    app.command()(command)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"robustscn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - the callback does the work
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Regression when the training targets cannot be trusted."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(UNUSABLE)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments : list of str
        What follows the command's name.

    Returns
    -------
    int
        0 done, 1 failed while running, 2 wrong usage or input, 130 interrupted.
    """
    debug = "--debug" in arguments
    try:
        with plain_errors(debug):
            code = app(args=arguments, prog_name="robustscn", standalone_mode=False)
    except typer.Exit as ended:
        return ended.exit_code
    return code if isinstance(code, int) else 0
