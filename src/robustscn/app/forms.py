"""From what was chosen on the page to the words of a command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

OUTPUTS = ("model.skops", "report.html", "outliers.csv", "episodes.csv")
"""What a fit writes into its folder."""

_READING = ("separator", "encoding", "decimal", "thousands", "skip_rows", "sheet")
_COLUMNS = ("id", "time", "group")
_USUAL = {"learner": "networks", "transform": "auto"}
_SIZES = ("networks", "nodes", "rounds", "seed")
_LONGEST = 20_000


def file_name(given: str) -> str:
    r"""Return a name under which a table of others may be kept.

    Parameters
    ----------
    given : str
        As the browser sends it: anything.

    Returns
    -------
    str
        One name without a folder, that is no option and none of our own files.

    Examples
    --------
    >>> from robustscn.app.forms import file_name
    >>> file_name("../../etc/passwd"), file_name(r"C:\data\mill 3.csv"), file_name("--debug")
    ('passwd', 'mill 3.csv', 'debug')
    """
    name = re.split(r"[\\/]", given)[-1]
    name = "".join("_" if c in '<>:"|?*' else c for c in name if c.isprintable())
    name = name.encode("utf-8", "replace").decode().strip().lstrip("-. ")
    while len(name.encode()) > 100:
        name = name[1:]
    name = name.lstrip("-. ") or "table"
    return f"table-{name}" if name.lower() in OUTPUTS else name


def reading_words(reading: Mapping[str, Any]) -> list[str]:
    """Return the options that say how a table is read.

    Parameters
    ----------
    reading : mapping
        By the names of the options; what is empty is left to be found out.

    Returns
    -------
    list of str
        Words of the command.
    """
    words = []
    for name in _READING:
        if text := _text(reading.get(name)):
            words += _option(name.replace("_", "-"), text)
    for mark in _texts(reading.get("na")):
        words += _option("na", mark)
    return words


def fit_words(
    file: str, choice: Mapping[str, Any], reading: Mapping[str, Any], reviewed: str | None = None
) -> list[str]:
    """Return the command that fits what was chosen.

    Parameters
    ----------
    file : str
        The table.
    choice : mapping
        Columns and settings by the names of the options; what is empty is as usual.
    reading : mapping
        As of `reading_words`.
    reviewed : str or None
        Column of answers, in place of one that was chosen.

    Returns
    -------
    list of str
        What follows `robustscn`.

    Examples
    --------
    >>> from robustscn.app.forms import fit_words
    >>> fit_words("mill.csv", {"target": "size", "learner": "networks", "rounds": "5"}, {})
    ['fit', 'mill.csv', '--target', 'size', '--rounds', '5']
    """
    words = ["fit", file, *_option("target", _text(choice.get("target")))]
    before = _text(choice.get("reviewed"))
    for name in [*_texts(choice.get("drop")), *filter(None, [before if reviewed else ""])]:
        words += _option("drop", name)
    for name in _COLUMNS:
        if text := _text(choice.get(name)):
            words += _option(name, text)
    if asked := reviewed or before:
        words += _option("reviewed", asked)
    if choice.get("keep_time"):
        words.append("--keep-time")
    for name, usual in _USUAL.items():
        if (text := _text(choice.get(name))) and text != usual:
            words += _option(name, text)
    for name in _SIZES:
        if text := _text(choice.get(name)):
            words += _option(name, text)
    return words + reading_words(reading)


def as_typed(words: Sequence[str]) -> str:
    """Return a command as one would type it.

    Parameters
    ----------
    words : sequence of str
        What follows `robustscn`.

    Returns
    -------
    str
        The line.
    """
    return shlex.join(["robustscn", *words])


def guessed_target(kinds: Mapping[str, str], naming_rows: Mapping[str, str]) -> str | None:
    """Return the column that is probably to be learned: one that is called so, else the last.

    Parameters
    ----------
    kinds : mapping of str to str
        What each column is, in the order of the table.
    naming_rows : mapping of str to str
        Columns that tell which row it is.

    Returns
    -------
    str or None
        One of the numbers, if there are any.

    Examples
    --------
    >>> from robustscn.app.forms import guessed_target
    >>> guessed_target({"flow": "number", "size": "number", "mill": "category"}, {})
    'size'
    """
    numbers = [name for name, kind in kinds.items() if kind == "number" and name not in naming_rows]
    called = [name for name in numbers if re.search(r"(?i)(^|[^a-z])(target|y|label)$", name)]
    return next(reversed(called or numbers), None)


def _option(name: str, value: str) -> list[str]:
    # A value that begins like an option must not stand alone.
    return [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]


def _text(given: Any) -> str:
    if given is None or isinstance(given, bool | list | dict):
        return ""
    text = str(given)
    if len(text) > _LONGEST or "\0" in text:
        raise ValueError("a field is too long")
    return text if text.strip() else ""


def _texts(given: Any) -> list[str]:
    return [text for each in given if (text := _text(each))] if isinstance(given, list) else []
