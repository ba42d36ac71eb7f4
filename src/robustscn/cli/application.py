"""The commands put together, and what their exit codes are."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from .interrupts import quitting_at_once
from .messages import UNUSABLE, plain_errors

COMMANDS = {
    "fit": ("fit", "Learn a target from a table of which some rows are wrong."),
    "check": ("check", "Look at the columns of a table: what repeats, jumps, drifts or cannot be."),
    "predict": ("use", "Predict the target of new rows."),
    "outliers": (
        "use",
        "List the rows of a table that a model flags, the most suspicious first.",
    ),
    "clean": ("clean", "Write a table with the flagged targets blanked or replaced, and marked."),
    "report": (
        "use",
        "Write the page about a fit again, from the model and the table it was made from.",
    ),
    "watch": ("watch", "Predict rows as they come in, learn from them, and tell of changes."),
    "export": ("use", "Write a model as ONNX, which predicts where there is no Python."),
    "app": (
        "robustscn.app.command",
        "Serve a page on this machine: drop a table, see suspects, say which are wrong, fit again.",
    ),
    "info": ("info", "Show what is in a model file without building any of it."),
    "demo": ("demo", "Show all of this on a simulated grinding circuit with 25 % wrong targets."),
    "reproduce": (
        "reproduce",
        "Run the experiments of the RSC-KDE paper and write them beside its own figures.",
    ),
}
"""Each command's module and first sentence: what `--help` shows without waiting for the rest."""

WORK = {
    "fit": "fitting",
    "check": "robustscn.looks",
    **dict.fromkeys(("predict", "outliers", "clean", "report", "export"), "model_rows"),
    "watch": "watching",
    "info": "robustscn.persistence",
    "demo": "learning",
    "reproduce": "reproducing",
}
"""What does the work of a command. It takes a second to load, which help need not wait for."""


def _module(name: str) -> str:
    """Return the whole name of a module; one with a dot is not of this package."""
    return name if "." in name else f"{__package__}.{name}"


class _Group(TyperGroup):
    """Commands that are imported when they are run."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        helping = not {"-h", "--help"}.isdisjoint(rest)
        return name, command and _loaded(str(name), helping), rest


def _loaded(name: str, helping: bool) -> Any:
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    with quitting_at_once():
        module = import_module(_module(COMMANDS[name][0]))
        if name in WORK and not helping:
            import_module(_module(WORK[name]))
    alone.command(name)(getattr(module, name))
    return typer.main.get_command(alone)


app = typer.Typer(
    name="robustscn",
    cls=_Group,
    help="Regression when the training targets cannot be trusted.",
    epilog="Exit codes: 0 done, 1 failed while running, 2 wrong usage or input, 130 interrupted.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, (_, _sentence) in COMMANDS.items():
    if find_spec(_module(COMMANDS[_name][0])) is not None:
        app.command(_name, help=_sentence)(lambda: None)


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
