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
_LISTS = ("drop", "na")
READING = (*_READING, "na")
CHOICE = ("target", "drop", *_COLUMNS, "reviewed", "keep_time", *_USUAL, *_SIZES)
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


def filled_in(asked: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a form that were filled in; what else was sent is left out.

    Parameters
    ----------
    asked : mapping
        As the browser sends it: anything.
    fields : sequence of str
        Names of the form's fields.

    Returns
    -------
    dict
        Texts and lists of texts.

    Raises
    ------
    ValueError
        Where a text is longer than any that is meant.

    Examples
    --------
    >>> from robustscn.app.forms import CHOICE, filled_in
    >>> filled_in({"target": "size", "rounds": 5, "drop": ["a", 1, ""], "evil": "x"}, CHOICE)
    {'target': 'size', 'drop': ['a', '1'], 'rounds': '5'}
    """
    found = {
        name: _texts(asked.get(name)) if name in _LISTS else _text(asked.get(name))
        for name in fields
    }
    return {name: value for name, value in found.items() if value}


def reading_words(reading: Mapping[str, Any]) -> list[str]:
    """Return the options that say how a table is read.

    Parameters
    ----------
    reading : mapping
        From `filled_in`; what is not given is found out.

    Returns
    -------
    list of str
        Words of the command.
    """
    words = []
    for name in _READING:
        if name in reading:
            words += _option(name.replace("_", "-"), reading[name])
    for mark in reading.get("na", ()):
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
        From `filled_in`; what is not given is as usual.
    reading : mapping
        The same of how the table is read.
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
    before = choice.get("reviewed")
    left_out = [*choice.get("drop", ()), *([before] if before and reviewed else [])]
    words = ["fit", file, *_option("target", choice.get("target", ""))]
    for name in left_out:
        words += _option("drop", name)
    for name in _COLUMNS:
        if name in choice:
            words += _option(name, choice[name])
    if asked := reviewed or before:
        words += _option("reviewed", asked)
    if "keep_time" in choice:
        words.append("--keep-time")
    for name in (*_USUAL, *_SIZES):
        if name in choice and choice[name] != _USUAL.get(name):
            words += _option(name, choice[name])
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
