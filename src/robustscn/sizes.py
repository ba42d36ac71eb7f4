"""Sizes in bytes: in words, from words, and as a limit that is kept while reading."""

from __future__ import annotations

import io
import re
from typing import Any

GB = 1_000_000_000
_CHUNK = 1 << 20
_UNITS = {"": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": GB, "tb": 1_000 * GB}


class TooLargeError(ValueError):
    """There is more to read than was allowed."""


def size_in_words(n_bytes: int) -> str:
    """Return a file's size for people.

    Parameters
    ----------
    n_bytes : int
        Its length.

    Returns
    -------
    str
        Such as "1.2 MB".
    """
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit != "MB" else f"{size:.1f} MB"
        size /= 1000
    return f"{size:,.1f} GB"


def size_from_words(words: str) -> int:
    """Return the bytes that a person means.

    Parameters
    ----------
    words : str
        Such as "500MB", "4 GB" or a plain number.

    Returns
    -------
    int
        At least one.

    Examples
    --------
    >>> from robustscn.sizes import size_from_words
    >>> size_from_words("1.5 GB")
    1500000000
    """
    found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([kmgt]?b?)\s*", words.lower())
    unit = found[2] if found else ""
    unit = unit if unit in _UNITS else f"{unit}b"
    n_bytes = int(float(found[1]) * _UNITS[unit]) if found else 0
    if n_bytes < 1:
        raise ValueError(f"{words!r} is no size: write a number and kB, MB, GB or TB, as in 4GB")
    return n_bytes


def read_at_most(stream: Any, limit: int) -> bytes:
    """Read a stream to its end, which must come before a limit.

    Parameters
    ----------
    stream : binary file
        What to read; it may be endless.
    limit : int
        Most bytes.

    Returns
    -------
    bytes
        All of it.

    Raises
    ------
    TooLargeError
        As soon as there is more; what was read is forgotten.
    """
    whole = io.BytesIO()  # gives out what it holds without a second copy, unlike joined chunks
    room = limit
    while chunk := stream.read(min(_CHUNK, room + 1)):
        room -= len(chunk)
        if room < 0:
            raise TooLargeError(f"more than {size_in_words(limit)}")
        whole.write(chunk)
    return whole.getvalue()
