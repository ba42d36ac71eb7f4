"""Options that several commands share, and columns as users name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..sizes import size_from_words

DATA_HELP = "Table to read: CSV, TSV, Parquet, compressed or not; '-' is standard input."

Data = Annotated[str, typer.Argument(help=DATA_HELP, show_default=False)]
Model = Annotated[str, typer.Argument(help="Model that 'robustscn fit' wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of all draws.")
]
Separator = Annotated[
    str | None,
    typer.Option("--separator", metavar="SIGN", help="Between fields; else found out."),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Of a text file; else found out."),
]

MaxSize = Annotated[
    str | None,
    typer.Option("--max-size", metavar="SIZE", help="What files may unpack to, such as 8GB."),
]


def size_of(given: str | None) -> int | None:
    """Return the bytes that a user allows.

    Parameters
    ----------
    given : str or None
        Such as "8GB".

    Returns
    -------
    int or None
        None where the limits are to be the usual ones.
    """
    try:
        return None if given is None else size_from_words(given)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def separator_of(given: str | None) -> str | None:
    """Return the separator that a user means.

    Parameters
    ----------
    given : str or None
        One character, or "tab", "space", "comma", "semicolon", "pipe".

    Returns
    -------
    str or None
        One character.
    """
    if given is None:
        return None
    named = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
    sign = named.get(given.lower(), given)
    if len(sign) != 1 or sign in '"\r\n' or not sign.isascii():
        raise typer.BadParameter("must be one character, or tab, space, comma, semicolon, pipe")
    return sign


def named_columns(given: Sequence[str] | None, present: Sequence[str]) -> list[str]:
    """Return the columns that a user names: one for each option, or several with commas.

    Parameters
    ----------
    given : sequence of str or None
        As typed.
    present : sequence of str
        Columns that there are; one of them may have a comma in its name.

    Returns
    -------
    list of str
        Names, each once; whether they exist is not checked.
    """
    names: list[str] = []
    for each in given or ():
        plain = " ".join(each.split())
        parts = [plain] if plain in present else [part.strip() for part in each.split(",")]
        names += [part for part in parts if part and part not in names]
    return names
