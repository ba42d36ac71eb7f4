"""Options that several commands share, and columns as users name them.

A group of options is a dataclass; a command takes it as one argument and `command` shows the
command line its fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from ..sizes import size_from_words
from .messages import plain_errors

DATA_HELP = "Table: CSV, TSV, Excel, Parquet, compressed or not; '-' is standard input."

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
Decimal = Annotated[
    str | None, typer.Option("--decimal", metavar="SIGN", help="Point or comma; else found out.")
]
Thousands = Annotated[
    str | None,
    typer.Option("--thousands", metavar="SIGN", help="Between thousands; else found out."),
]
SkipRows = Annotated[
    int | None,
    typer.Option("--skip-rows", metavar="N", min=0, help="Lines above the header; else found out."),
]
Na = Annotated[
    list[str] | None,
    typer.Option("--na", metavar="TEXT", help="Stands for nothing, such as -999; again for more."),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", metavar="NAME", help="Of a workbook; else the first.")
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


def sign_of(given: str | None, option: str) -> str | None:
    """Return the sign in numbers that a user means.

    Parameters
    ----------
    given : str or None
        One character, or "point", "comma", "space".
    option : str
        For the message.

    Returns
    -------
    str or None
        One character.
    """
    if given is None:
        return None
    named = {"point": ".", "dot": ".", "comma": ",", "space": " ", "apostrophe": "'"}
    sign = named.get(given.lower(), given)
    allowed = (".", ",") if option == "--decimal" else (".", ",", " ", "'")
    if sign not in allowed:
        raise typer.BadParameter(f"{option} must be one of {', '.join(map(repr, allowed))}")
    return sign


@dataclass(frozen=True)
class Reading:
    """How a table is written; what is not given is found out.

    Parameters
    ----------
    separator, encoding, decimal, thousands : str or None
        As the user gave them.
    skip_rows : int or None
        Lines above the header.
    na : list of str or None
        Texts that stand for nothing.
    sheet, max_size : str or None
        As the user gave them.
    """

    separator: Separator = None
    encoding: Encoding = None
    decimal: Decimal = None
    thousands: Thousands = None
    skip_rows: SkipRows = None
    na: Na = None
    sheet: Sheet = None
    max_size: MaxSize = None

    def keywords(self) -> dict[str, Any]:
        """Return how the table is to be read, as `read_table` takes it."""
        signs = {
            "decimal": sign_of(self.decimal, "--decimal"),
            "thousands": sign_of(self.thousands, "--thousands"),
        }
        if signs["decimal"] is not None and signs["decimal"] == signs["thousands"]:
            raise typer.BadParameter("--decimal and --thousands are the same sign")
        return {
            "separator": separator_of(self.separator),
            "encoding": self.encoding,
            **signs,
            "skip_rows": self.skip_rows,
            "na": tuple(self.na or ()),
            "sheet": self.sheet,
            "max_size": size_of(self.max_size),
        }


@dataclass(frozen=True)
class Telling:
    """How much a command says, and to whom.

    Parameters
    ----------
    json : bool
        One JSON object, for machines.
    quiet : bool
        No progress and no notes.
    debug : bool
        Show the traceback of an error.
    """

    json: Json = False
    quiet: Quiet = False
    debug: Debug = False

    @property
    def silent(self) -> bool:
        """Whether people are told nothing on the way."""
        return self.quiet or self.json


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command of the command line: groups of options spread out, errors in one line.

    Parameters
    ----------
    function : callable
        Of its arguments, those whose type is a dataclass are groups; one is `telling`.

    Returns
    -------
    callable
        With a signature in which each group's fields stand in its place.
    """
    hints = get_type_hints(function, include_extras=True)
    kinds = {name: kind for name, kind in hints.items() if isinstance(kind, type)}
    groups = {name: kind for name, kind in kinds.items() if is_dataclass(kind)}
    options: list[inspect.Parameter] = []
    for each in inspect.signature(function).parameters.values():
        if each.name in groups:
            inner = get_type_hints(groups[each.name], include_extras=True)
            fields = inspect.signature(groups[each.name]).parameters.values()
        else:
            inner, fields = hints, [each]  # type: ignore[assignment]
        options += [
            one.replace(kind=one.KEYWORD_ONLY, annotation=inner[one.name]) for one in fields
        ]

    @wraps(function)
    def spread_out(**given: Any) -> None:
        for name, kind in groups.items():
            fields = inspect.signature(kind).parameters
            given[name] = kind(**{field: given.pop(field) for field in fields})
        with plain_errors(given["telling"].debug):
            function(**given)

    spread_out.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    spread_out.__annotations__ = {one.name: one.annotation for one in options}
    return spread_out


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
