"""A look at all that a model file names and holds, before any of it is built.

The format of skops is a tree of nodes, each with a type, a loader that builds it, and what it is
built from. Only loaders that our models need are known here; of every node its type, its array or
its value is checked. What is not known is not let in: types the caller has not named are listed
and refused, and a tree that is put together in another way than skops would is damaged.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import Any
from zipfile import ZipFile

import numpy as np

from .archive import SCHEMA
from .kinds import (
    ARRAY_KINDS,
    ARRAYS,
    MODELS,
    PIPELINE,
    SCALARS,
    SETTINGS,
    TRANSFORMED_TARGET,
    TRUSTED,
)

Node = dict[str, Any]

DEEPEST = 100
"""Nodes within nodes; our deepest pipelines have about thirty."""

_OLDEST_PROTOCOL = 2
"""Files of older ones are built by other rules than those that are checked here."""


class Malformed(ValueError):  # noqa: N818
    """A tree that skops would not have written."""


@dataclass
class Findings:
    """What is in a file.

    Parameters
    ----------
    kinds : Counter
        How often each type occurs, containers and plain values aside.
    strange : set of str
        Types that are not trusted.
    forbidden : list of str
        Settings that would do more than compute.
    n_arrays, array_bytes : int
        Arrays and their size.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    strange: set[str] = field(default_factory=set)
    forbidden: list[str] = field(default_factory=list)
    n_arrays: int = 0
    array_bytes: int = 0


def audited(members: ZipFile, trusted: Set[str] = frozenset()) -> tuple[Node, Findings]:
    """Go through a file of skops and return its tree and what was found.

    Parameters
    ----------
    members : ZipFile
        The file.
    trusted : set of str
        Types that the caller has named; what they hold is looked at, but not how they are set.

    Returns
    -------
    tree : dict
        The outermost node.
    findings : Findings
        What is in it.

    Raises
    ------
    Malformed
        Where the tree is none that skops would have written.
    """
    schema = json.loads(members.read(SCHEMA))
    if not isinstance(schema, dict) or type(schema.get("protocol")) is not int:
        raise Malformed("there is no schema")
    if schema["protocol"] < _OLDEST_PROTOCOL:
        raise Malformed("the schema is of a version before this one's")
    tree = {k: v for k, v in schema.items() if k not in ("protocol", "_skops_version")}
    audit = _Audit(members, trusted)
    try:
        audit.look(tree, 0)
    except (Malformed, KeyError, TypeError, AttributeError):
        if not audit.findings.strange:  # else it is refused for those
            raise
    return tree, audit.findings


def predictors(tree: Node) -> Iterator[str]:
    """Yield the types that a tree predicts with: at the end of pipelines, within transformations.

    Parameters
    ----------
    tree : dict
        A node that was looked at.

    Yields
    ------
    str
        Name of a type.
    """
    name = _name(tree)
    inside = _attributes(tree)
    if name == PIPELINE and _items(inside.get("steps")):
        last = _items(_items(inside["steps"])[-1])
        yield from predictors(last[-1]) if last else [name]
    elif name == TRANSFORMED_TARGET and "regressor" in inside:
        for which in ("regressor", "regressor_"):
            if which in inside:
                yield from predictors(inside[which])
    else:
        yield name


def is_model(name: str, trusted: Set[str]) -> bool:
    """Return whether a type is one to predict with.

    Parameters
    ----------
    name : str
        Of the type.
    trusted : set of str
        Types that the caller has named.

    Returns
    -------
    bool
        Whether it is.
    """
    return name in MODELS or name in trusted


def _name(node: Node) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _items(node: Node | None) -> list[Node]:
    if node is None or node["__loader__"] not in ("ListNode", "TupleNode"):
        return []
    return node["content"]


def _attributes(node: Node) -> dict[str, Node]:
    content = node.get("content")
    inside = content.get("content") if isinstance(content, dict) else None
    return inside if isinstance(inside, dict) else {}


def _is_scalar(node: Node) -> bool:
    number = node["__loader__"] == "NdArrayNode" and _name(node) != "numpy.ndarray"
    return number or node["__loader__"] == "JsonNode"


def _alike(one: Any, other: Any) -> bool:
    """Return whether nodes are the same but for numbers and files of what is made in passing."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            key in ("__id__", "file") or _alike(one[key], other[key]) for key in one
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return type(one) is type(other) and one == other


class _Audit:
    def __init__(self, members: ZipFile, trusted: Set[str]) -> None:
        self.findings = Findings()
        self._members = {each.filename: each for each in members.infolist()}
        self._archive = members
        self._trusted = trusted
        self._seen: dict[Any, Node] = {}
        self._loaders = {
            "ObjectNode": self._object,
            "DictNode": self._dictionary,
            "ListNode": self._sequence,
            "TupleNode": self._sequence,
            "SliceNode": self._slice,
            "JsonNode": self._value,
            "TypeNode": self._type,
            "NdArrayNode": self._array,
            "DTypeNode": self._dtype,
        }

    def look(self, node: Any, depth: int) -> None:
        if not isinstance(node, dict) or depth > DEEPEST:
            raise Malformed("no node, or too deep")
        loader = node.get("__loader__")
        words = (node.get("__class__"), node.get("__module__"), loader)
        if not all(isinstance(word, str) for word in words):
            raise Malformed("a node without a type")
        self._refuse_other_with_same_number(node)
        name = _name(node)
        if name in self._trusted:
            self.findings.kinds[name] += 1
            self._look_inside(node, depth)
        elif (known := self._loaders.get(str(loader))) is not None:
            known(node, depth)
        else:
            self._strange(node, depth)

    def _refuse_other_with_same_number(self, node: Node) -> None:
        """Skops builds nodes of one number once: a second one could be shown in place of it."""
        number = node.get("__id__")
        if number is None:
            return
        if not isinstance(number, int) or not _alike(self._seen.setdefault(number, node), node):
            raise Malformed("two nodes of one number")

    def _strange(self, node: Node, depth: int) -> None:
        self.findings.kinds[_name(node)] += 1
        self.findings.strange.add(_name(node))
        self._look_inside(node, depth)

    def _look_inside(self, value: Any, depth: int) -> None:
        """Look at all nodes within one whose loader is not known here."""
        if depth > DEEPEST:
            raise Malformed("too deep")
        for part in value.values() if isinstance(value, dict) else value:
            if isinstance(part, dict) and "__loader__" in part:
                self.look(part, depth + 1)
            elif isinstance(part, dict | list):
                self._look_inside(part, depth + 1)

    def _object(self, node: Node, depth: int) -> None:
        name = _name(node)
        if name not in TRUSTED:
            self._strange(node, depth)
            return
        self.findings.kinds[name] += 1
        if node.get("content") is None:
            return
        attributes = node["content"]
        if not isinstance(attributes, dict) or attributes.get("__loader__") != "DictNode":
            raise Malformed("an object without attributes")
        self.look(attributes, depth + 1)
        if name.startswith("sklearn."):
            self._refuse_settings(name, _attributes(node))

    def _refuse_settings(self, name: str, attributes: dict[str, Node]) -> None:
        for setting, (harmless, does) in SETTINGS.items():
            given = attributes.get(setting)
            if given is not None and not (
                given["__loader__"] == "JsonNode" and harmless(json.loads(given["content"]))
            ):
                self.findings.forbidden.append(f"{setting} of {name}, which {does}")

    def _dictionary(self, node: Node, depth: int) -> None:
        content, key_types = node.get("content"), node.get("key_types")
        if _name(node) != "builtins.dict":
            self._strange(node, depth)
            return
        if not isinstance(content, dict) or not isinstance(key_types, dict):
            raise Malformed("a dictionary without content")
        self.look(key_types, depth + 1)
        types = key_types.get("content")
        if not isinstance(types, list) or len(types) != len(content):
            raise Malformed("a dictionary without types of keys")
        for each in types:
            if each["__loader__"] != "TypeNode":
                raise Malformed("a key whose type is none")
        for each in content.values():
            self.look(each, depth + 1)

    def _sequence(self, node: Node, depth: int) -> None:
        wanted = {"ListNode": "builtins.list", "TupleNode": "builtins.tuple"}[node["__loader__"]]
        if _name(node) != wanted:
            self._strange(node, depth)
            return
        if not isinstance(node.get("content"), list):
            raise Malformed("a sequence without content")
        for each in node["content"]:
            self.look(each, depth + 1)

    def _slice(self, node: Node, depth: int) -> None:
        content = node.get("content")
        if _name(node) != "builtins.slice" or not isinstance(content, dict) or depth < 0:
            raise Malformed("no slice")
        for end in ("start", "stop", "step"):
            if type(content.get(end)) not in (int, type(None)):
                raise Malformed("a slice of something else than numbers")

    def _value(self, node: Node, depth: int) -> None:
        content = node.get("content")
        if _name(node) != "builtins.str" or not isinstance(content, str) or depth < 0:
            raise Malformed("no value")
        if not isinstance(json.loads(content), str | int | float | bool | None):
            raise Malformed("a value that is no scalar")

    def _type(self, node: Node, depth: int) -> None:
        if _name(node) not in SCALARS:
            self._strange(node, depth)

    def _dtype(self, node: Node, depth: int) -> None:
        if _name(node) != "numpy.dtype":
            self._strange(node, depth)
            return
        content = node.get("content")
        if not isinstance(content, dict) or content.get("__loader__") != "NdArrayNode":
            raise Malformed("no dtype")
        self.look(content, depth + 1)

    def _array(self, node: Node, depth: int) -> None:
        if _name(node) not in ARRAYS:
            self._strange(node, depth)
            return
        self.findings.n_arrays += 1
        if node.get("type") == "numpy":
            self.findings.array_bytes += self._checked_header(node)
        elif node.get("type") == "json" and _name(node) == "numpy.ndarray":
            self._objects(node, depth)
        else:
            raise Malformed("an array of no known form")

    def _checked_header(self, node: Node) -> int:
        """Return the bytes of an array once its header agrees with them: NumPy believes it."""
        member = self._members.get(node.get("file", ""))
        if member is None:
            raise Malformed("an array that is not there")
        with self._archive.open(member) as file:
            version = np.lib.format.read_magic(file)
            if version not in ((1, 0), (2, 0)):
                raise Malformed("an array of another version")
            read = {1: "read_array_header_1_0", 2: "read_array_header_2_0"}[version[0]]
            shape, _, dtype = getattr(np.lib.format, read)(file)
            length = member.file_size - file.tell()
        if dtype.kind not in ARRAY_KINDS or (dtype.kind != "U" and dtype.itemsize > 8):
            raise Malformed(f"an array of {dtype.str}")
        if any(n < 0 for n in shape) or math.prod(shape) * dtype.itemsize != length:
            raise Malformed("an array of another length than it says")
        if _name(node) != "numpy.ndarray" and math.prod(shape) != 1:
            raise Malformed("a number that is several")
        return length

    def _objects(self, node: Node, depth: int) -> None:
        """Check an array of texts and gaps, which is written as lists."""
        content, shape = node.get("content"), node.get("shape")
        if not isinstance(content, list) or not isinstance(shape, dict):
            raise Malformed("an array without content")
        self.look(shape, depth + 1)
        for each in content:
            self.look(each, depth + 1)
        lengths = [json.loads(each["content"]) for each in shape["content"]]
        if not all(type(n) is int and 0 <= n < 2**31 for n in lengths) or not lengths:
            raise Malformed("an array without a shape")
        self._refuse_ragged(content, lengths)

    def _refuse_ragged(self, content: list[Node], lengths: list[int]) -> None:
        if len(content) != lengths[0]:
            raise Malformed("an array of another shape than it says")
        for each in content:
            if len(lengths) > 1 and each["__loader__"] == "ListNode":
                self._refuse_ragged(each["content"], lengths[1:])
            elif len(lengths) > 1 or not _is_scalar(each):
                raise Malformed("an array of something else than texts and numbers")
