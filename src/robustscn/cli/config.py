"""Settings of a command from a TOML file, for runs that come again."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import typer


def from_config(context: typer.Context, path: str | None) -> str | None:
    """Take a file's settings for what is not typed.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    path : str or None
        The file; None takes nothing.

    Returns
    -------
    str or None
        The path.

    Raises
    ------
    typer.BadParameter
        Where it cannot be read, is no TOML, or names what the command does not have.
    """
    if path is None:
        return None
    from ..tables.faults import nearest, quoted

    try:
        settings = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as fault:
        raise typer.BadParameter(f"{path} cannot be read: {fault.strerror}") from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise typer.BadParameter(f"{path} is no TOML: {fault}") from fault
    known = _settings_of(context)
    for name, value in settings.items():
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {quoted(near)}?" if near else f"there is only {', '.join(known)}"
            raise typer.BadParameter(f"{path} sets {name!r}, which is no setting: {hint}")
        if isinstance(value, dict):
            raise typer.BadParameter(f"{path} has a table {name!r}: write settings without one")
        if known[name].multiple and not isinstance(value, list):
            settings[name] = [value]
    context.default_map = {known[name].name: value for name, value in settings.items()}
    return path


def _settings_of(context: typer.Context) -> dict[str, Any]:
    """Return what can be set, by the long names of options and by those of arguments."""
    found = {}
    for each in context.command.params:
        long = [name.removeprefix("--") for name in each.opts if name.startswith("--")]
        for name in long or [each.name]:
            if name not in ("config", "help"):
                found[str(name)] = each
    return found
