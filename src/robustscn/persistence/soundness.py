"""What was built agrees with itself: numbers that index stay within what they index.

An encoder hands the positions it learned to compiled code that does not look whether they lie
within the matrix it fills; a file could carry others than `fit` would have found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import OneHotEncoder

from ..core.channel import LEVEL, Channel
from ..core.forest import Forest
from ..core.line import Line
from ..core.memory import LINE, LINE_LEVEL, LONG, MIDDLE, Batch
from ..core.missing import Missing
from ..core.nodes import Network
from ..core.stream import Stream


class Unsound(ValueError):  # noqa: N818
    """Parts that do not fit together."""


def check_soundness(model: Any) -> None:
    """Raise where parts of a model do not fit together.

    Parameters
    ----------
    model : estimator
        As built from a file; nothing of it has been used.

    Raises
    ------
    Unsound
        That says which part.
    """
    for part in parts_of(model, set()):
        if isinstance(part, OneHotEncoder) and hasattr(part, "categories_"):
            _check_encoder(part)
        elif isinstance(part, Network):
            _check_network(part)
        elif isinstance(part, Stream):
            _check_stream(part)
        elif isinstance(part, BaseEstimator) and vars(part).get("_missing") is not None:
            _check_missing(part)
        elif isinstance(part, Forest) and not part.sound():
            raise Unsound("trees whose ways lead out of them")


def parts_of(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the objects that an estimator is made of, itself included.

    Parameters
    ----------
    value : object
        An estimator, or what one holds.
    seen : set of int
        Numbers of objects that were yielded.

    Yields
    ------
    object
        Estimators, and objects of ours within them.
    """
    if id(value) in seen:
        return
    seen.add(id(value))
    inside: Any = ()
    if isinstance(value, BaseEstimator) or type(value).__module__.startswith("robustscn."):
        yield value
        inside = list(vars(value).values()) if hasattr(value, "__dict__") else ()
    elif isinstance(value, dict):
        inside = value.values()
    elif isinstance(value, (list, tuple)):
        inside = value
    for part in inside:
        yield from parts_of(part, seen)


def _check_encoder(encoder: OneHotEncoder) -> None:
    levels = encoder.categories_
    n = len(levels)
    grouped = getattr(encoder, "_infrequent_enabled", False)
    rare = encoder._infrequent_indices if grouped else [None] * n
    mapping = encoder._default_to_infrequent_mappings if grouped else [None] * n
    dropped = encoder._drop_idx_after_grouping
    dropped = [None] * n if dropped is None else list(dropped)
    outs = encoder._n_features_outs
    if not len(rare) == len(mapping) == len(dropped) == len(outs) == encoder.n_features_in_ == n:
        raise Unsound("an encoder whose columns do not agree")
    for each in zip(levels, rare, mapping, dropped, outs, strict=True):
        if _width(*each[:4]) != each[4]:
            raise Unsound("an encoder whose levels do not agree")


def _width(levels: Any, rare: Any, mapping: Any, dropped: Any) -> int:
    """Return how many columns one column becomes; -1 where what was learned cannot be."""
    if not isinstance(levels, np.ndarray) or levels.ndim != 1 or len(levels) == 0:
        return -1
    if levels.dtype.kind in "biuf":  # looked up by halving, which takes their order on trust
        there = levels[~np.isnan(levels)] if levels.dtype.kind == "f" else levels
        if len(levels) - len(there) > 1 or np.any(there[1:] <= there[:-1]):
            return -1
    width = len(levels)
    if (rare is None) != (mapping is None):
        return -1
    if rare is not None:
        if not _within(rare, len(levels)) or len(rare) == 0:
            return -1
        width -= len(rare) - 1
        if not _within(mapping, width) or len(mapping) != len(levels):
            return -1
    if dropped is None:
        return width
    return width - 1 if 0 <= int(dropped) < width else -1


def _within(numbers: Any, end: int) -> bool:
    if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        return False
    return bool(np.all((numbers >= 0) & (numbers < end)))


def _check_network(network: Network) -> None:
    widths = []
    for layer in network.layers:
        weights, biases = layer.weights, layer.biases
        if weights.ndim != 2 or biases.shape != weights.shape[1:]:
            raise Unsound("hidden nodes whose weights and biases do not agree")
        widths.append(len(layer))
    output = network.output_weights
    if output.ndim != 2 or output.shape[0] != sum(widths):
        raise Unsound("a network whose output weights and nodes do not agree")


def _check_missing(model: Any) -> None:
    missing = model._missing
    if (
        not isinstance(missing, Missing)
        or not missing.sound()
        or len(missing.fill) != getattr(model, "n_features_in_", None)
        or model._scaling.low.shape != (missing.width,)
        or model._scaling.width.shape != (missing.width,)
    ):
        raise Unsound("a model whose inputs and what stands for missing ones do not agree")


def _check_stream(stream: Stream) -> None:
    n_features, n_given, n_outputs = (
        stream.kept.X.shape[-1],
        stream.kept.given.shape[-1],
        stream.kept.y.shape[-1],
    )
    width = n_given + n_features + len(stream.nodes) + 1
    weights = [each.output_weights for each in (stream.slow, stream.fast)] + list(stream.archive)
    shapes = [
        (stream.nodes.weights, (n_features, stream.nodes.n_units)),
        (stream.unit.low, (n_features,)),
        (stream.unit.width, (n_features,)),
        (stream.errors, (LONG, MIDDLE + 1, n_outputs)),
        (stream.said, (LONG, n_outputs)),
        (stream.limits, (2, n_outputs)),
        (stream.last, (n_outputs,)),
        (stream.suspects, (len(stream.suspects), 4)),
        (stream.drifts, (len(stream.drifts), 4)),
        *((each, (width, n_outputs)) for each in weights),
    ]
    if any(np.shape(array) != shape for array, shape in shapes):
        raise Unsound("a stream whose parts do not agree")
    for channel in (stream.slow, stream.fast):
        _check_channel(channel, width, n_outputs)
    _check_rows(stream.kept, n_features, n_outputs, n_given)
    _check_rows(stream.waiting, n_features, n_outputs, 0)
    if stream.line is not None:
        _check_line(stream.line, n_features, n_outputs)
    speakers = set(range(MIDDLE + 1)) - ({LINE, LINE_LEVEL} if stream.line is None else set())
    if stream.speaker not in speakers or min(stream.n_rows, stream.n_errors) < 0:
        raise Unsound("a stream that counts wrongly")


def _check_channel(channel: Channel, width: int, n_outputs: int) -> None:
    information, size = channel.information, width + n_outputs
    # LAPACK is handed the factor as it is, and takes its order on trust.
    if (
        information.n_columns != width
        or information.factor.shape != (size, size)
        or information.factor.dtype != np.float64
        or channel.tail.shape != (LEVEL, n_outputs)
    ):
        raise Unsound("a stream whose information does not agree with its nodes")


def _check_line(line: Line, n_features: int, n_outputs: int) -> None:
    wanted = (n_features,), (n_features, n_outputs), (n_outputs,), (LEVEL, n_outputs)
    if tuple(map(np.shape, (line.centre, line.slopes, line.constant, line.tail))) != wanted:
        raise Unsound("a stream whose plane does not agree with its rows")


def _check_rows(rows: Batch, n_features: int, n_outputs: int, n_given: int) -> None:
    n = len(rows.weight)
    wanted = (n, n_features), (n, n_given), (n, n_outputs), (n,)
    if tuple(map(np.shape, (rows.X, rows.given, rows.y, rows.weight))) != wanted:
        raise Unsound("rows of a stream that do not agree")
