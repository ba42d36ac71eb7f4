"""The command line in the reference: each command with what its `--help` says."""

from __future__ import annotations

from typing import Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from robustscn.cli.application import COMMANDS, app

WIDTH = 72
"""Columns of a help text: as many as a page has."""


def help_of(name: str) -> str:
    """Return what a command says of itself, as on a terminal.

    Parameters
    ----------
    name : str
        Of the command.

    Returns
    -------
    str
        Without colours.
    """
    group: Any = typer.main.get_command(app)
    with group.make_context("robustscn", [name]) as above:
        _, command, _ = group.resolve_command(above, [name])
        kind = type(above)
        with kind(command, info_name=name, parent=above, terminal_width=WIDTH) as context:
            return command.get_help(context)


class Commands(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        found: list[nodes.Node] = []
        for name in COMMANDS:
            section = nodes.section(ids=[f"robustscn-{name}"], names=[f"robustscn {name}"])
            section += nodes.title(text=name)
            text = help_of(name)
            section += nodes.literal_block(text, text, language="text")
            found.append(section)
        return found


def setup(app: Any) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
