"""The zip around a model, opened with care: what it would unpack to is known before it does.

A file is a zip of two members: `model.skops`, the model as scikit-learn's safe format writes it
and itself a zip, and `robustscn.json`, which says what wrote it, carries the checksum of the
other and whatever the caller wants kept beside the model. A file that skops wrote itself is the
inner zip alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, is_zipfile

from .. import __version__
from ..sizes import GB, TooLargeError, read_at_most, size_in_words
from .faults import DamagedModel, NotAModel, OtherVersion, TooLargeModel

FORMAT = 1
"""Number of the file format, raised when older versions could no longer read it."""

MOST_BYTES = 2 * GB
"""What a model may unpack to unless the caller allows more."""

MOST_TIMES, ALWAYS_BYTES = 200, 64_000_000
"""How many times its own size a file may unpack to, and what it may in any case."""

MOST_WORDS = 50_000_000
"""Bytes of the parts that are text: they grow tenfold when they are read."""

ABOUT, MODEL, SCHEMA = "robustscn.json", "model.skops", "schema.json"

_VERSION = re.compile(r"\d{1,4}(\.[0-9A-Za-z+]{1,20}){0,4}")


@dataclass(frozen=True)
class Archive:
    """A model file, unpacked as far as its inner zip.

    Parameters
    ----------
    path : Path
        Where it came from.
    about : dict
        What `robustscn.json` says; empty in a file of skops.
    content : bytes
        The inner zip, whose members are known to be within the limit.
    file_bytes, unpacked_bytes : int
        Size of the file and of all that is in it.
    """

    path: Path
    about: dict[str, Any]
    content: bytes
    file_bytes: int
    unpacked_bytes: int


def packed(about: dict[str, Any], content: bytes) -> bytes:
    """Return a model file.

    Parameters
    ----------
    about : dict
        What to say of the model, besides format and checksum.
    content : bytes
        The inner zip.

    Returns
    -------
    bytes
        The outer zip.
    """
    whole = {"format": FORMAT, **about, "sha256": hashlib.sha256(content).hexdigest()}
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as members:
        members.writestr(ABOUT, json.dumps(whole, indent=1))
        members.writestr(MODEL, content)
    return file.getvalue()


def opened(path: Path, max_size: int | None = None) -> Archive:
    """Return what is in a model file; raise where it is none, or too large.

    Parameters
    ----------
    path : Path
        The file.
    max_size : int or None, default=None
        Most bytes that it may unpack to; None takes `MOST_BYTES` and `MOST_TIMES`.

    Returns
    -------
    Archive
        What it says of itself, and the model.
    """
    content = _read(path, max_size or MOST_BYTES)
    if not is_zipfile(io.BytesIO(content)):
        raise _not_a_zip(path, content)
    limit = max_size or min(MOST_BYTES, max(ALWAYS_BYTES, MOST_TIMES * len(content)))
    words = max_size or MOST_WORDS
    file_bytes = len(content)
    about: dict[str, Any] = {}
    unpacked = 0
    with damage_told(path), ZipFile(io.BytesIO(content)) as members:
        names = set(members.namelist())
        if names >= {ABOUT, MODEL}:
            unpacked = _refuse_large(path, members, limit, words, file_bytes)
            about = json.loads(members.read(ABOUT))
            _check_version(path, about)
            content = members.read(MODEL)
            if hashlib.sha256(content).hexdigest() != about["sha256"]:
                raise damaged(path)
            if not isinstance(about.get("info", {}), dict):
                raise damaged(path)
        elif SCHEMA not in names:
            raise NotAModel(
                f"{path.name} is an archive but no model: give a file that "
                "robustscn.persistence.save wrote"
            )
    with damage_told(path), ZipFile(io.BytesIO(content)) as members:
        unpacked = max(unpacked, _refuse_large(path, members, limit, words, file_bytes))
    return Archive(path, about, content, file_bytes, unpacked)


def _read(path: Path, limit: int) -> bytes:
    """Return the bytes of a file, or the first of them where they are no zip."""
    with open(path, "rb") as file:
        start = file.read(2)
        if start != b"PK":
            return start
        status = path.stat()
        if stat.S_ISREG(status.st_mode) and status.st_size > limit:
            raise _too_large(path, status.st_size, limit, status.st_size)
        try:
            return start + read_at_most(file, limit)
        except TooLargeError:
            raise _too_large(path, limit + 1, limit, limit + 1) from None


def _refuse_large(
    path: Path, members: ZipFile, limit: int, most_words: int, file_bytes: int
) -> int:
    """Return what the members unpack to, which zip states and never exceeds."""
    listed = members.infolist()
    if len({each.filename for each in listed}) < len(listed):
        raise damaged(path)
    unpacked = sum(each.file_size for each in listed)
    words = max((e.file_size for e in listed if e.filename in (ABOUT, SCHEMA)), default=0)
    if unpacked > limit:
        raise _too_large(path, unpacked, limit, file_bytes)
    if words > most_words:
        raise _too_large(path, words, most_words, file_bytes)
    return unpacked


def _too_large(path: Path, unpacked: int, limit: int, file_bytes: int) -> TooLargeModel:
    times = f", {unpacked // max(file_bytes, 1):,} times its size" if unpacked > file_bytes else ""
    return TooLargeModel(
        f"{path.name} would unpack to {size_in_words(unpacked)}{times}; the limit is "
        f"{size_in_words(limit)}: raise it (max_size=, --max-size) if you know who made the file"
    )


def _not_a_zip(path: Path, content: bytes) -> ValueError:
    if content[:2] == b"PK":
        return damaged(path)
    if content[:1] == b"\x80":
        return NotAModel(
            f"{path.name} looks like a pickle, which can run any code when it is read: load it "
            "where you trust it and write it again with robustscn.persistence.save"
        )
    what = "is empty" if not content else "is no model"
    return NotAModel(f"{path.name} {what}: give a file that robustscn.persistence.save wrote")


def damaged(path: Path) -> DamagedModel:
    """Return the refusal of a file that was cut or changed.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    DamagedModel
        To be raised.
    """
    return DamagedModel(
        f"{path.name} is damaged, cut off or changed since it was saved: copy it again from where "
        "it came, or fit and save the model anew"
    )


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong into one refusal: a changed byte shows as one of many errors.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    None
        While it is taken apart.
    """
    try:
        yield
    except (OtherVersion, DamagedModel, NotAModel, TooLargeModel):
        raise
    except Exception as reason:
        raise damaged(path) from reason


def _check_version(path: Path, about: dict[str, Any]) -> None:
    writer = about["versions"]["robustscn"]
    if not _VERSION.fullmatch(writer):  # it is about to be shown as part of a command
        raise damaged(path)
    major = writer.split(".")[0]
    if about["format"] > FORMAT or major != __version__.split(".")[0]:
        raise OtherVersion(
            f"{path.name} was written by robustscn {writer}, this is {__version__}: install that "
            f"one (pip install 'robustscn=={major}.*'), or fit and save the model anew"
        )
