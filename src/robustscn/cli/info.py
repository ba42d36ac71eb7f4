"""`robustscn info`: what is in a model file, of which nothing is built."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..sizes import size_in_words
from ..text import shortened
from . import options
from .messages import plain_errors, print_json

if TYPE_CHECKING:
    from ..persistence import Contents


def info(
    model: options.Model,
    max_size: options.MaxSize = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Show what is in a model file without building any of it.

    Also of a file that would be refused: it says why.

    For example:

        robustscn info model.skops
    """
    with plain_errors(debug):
        from ..persistence import inspect
        from .model_rows import model_path
        from .summary import print_pairs

        contents = inspect(model_path(model), max_size=options.size_of(max_size))
        if json:
            print_json(asdict(contents))
        else:
            print_pairs("robustscn info", _lines(contents))


def _lines(contents: Contents) -> list[tuple[str, str]]:
    kept = contents.info
    versions = ", ".join(
        f"{shortened(name)} {shortened(number)}"
        for name, number in list(contents.versions.items())[:5]
    )
    types = [f"{name} ({count:,})" for name, count in contents.types.items()]
    lines = [
        ("size", f"{size_in_words(contents.file_bytes)}, {_unpacked(contents)} unpacked"),
        ("saved", _saved(contents.created, versions)),
        ("target", _names(kept.get("targets"))),
        ("columns", _names(kept.get("features"))),
        ("rows", _plain(kept.get("rows"))),
        ("source", _plain(kept.get("source"))),
        ("command", _plain(kept.get("command"))),
        ("arrays", f"{contents.n_arrays:,}, {size_in_words(contents.array_bytes)}"),
        *(("type", shortened(each, 100)) for each in types[:30]),
        ("loads", "yes" if contents.refused is None else f"no: {contents.refused}"),
    ]
    return [(name, text) for name, text in lines if text]


def _unpacked(contents: Contents) -> str:
    return size_in_words(contents.unpacked_bytes)


def _saved(created: str | None, versions: str) -> str:
    return f"{shortened(created)} by {versions}" if created else ""


def _names(given: Any) -> str:
    from ..tables.faults import quoted

    return quoted([str(name) for name in given]) if isinstance(given, list) else ""


def _plain(given: Any) -> str:
    return shortened(given, 200) if isinstance(given, str | int) else ""
