"""Saving, loading and looking into model files."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast
from zipfile import ZipFile

import numpy as np
import sklearn
from sklearn.base import BaseEstimator

from .. import __version__
from ..atomic import write_whole
from ..text import shortened
from .archive import Archive, damage_told, opened, packed
from .audit import Findings, Node, audited, is_model, predictors
from .faults import DamagedModel, NotAModel, UntrustedModel
from .kinds import TRUSTED
from .soundness import check_soundness, parts_of

SAFE_SKOPS = (0, 16)
"""The first version in which no function that a file names is called while it is looked at."""


@dataclass(frozen=True)
class Saved:
    """What a model file holds.

    Parameters
    ----------
    model : estimator
        The model.
    info : dict
        What the caller kept beside it.
    created : str or None
        When it was saved, in ISO 8601; None for a file that skops wrote itself.
    versions : dict
        Versions of robustscn, scikit-learn and NumPy that it was saved with.
    """

    model: Any
    info: dict[str, Any] = field(default_factory=dict)
    created: str | None = None
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Contents:
    """What a model file says of itself, of which nothing was built.

    Parameters
    ----------
    created : str or None
        When it was saved, in ISO 8601; None for a file that skops wrote itself.
    versions : dict
        Versions of robustscn, scikit-learn and NumPy that it was saved with.
    info : dict
        What the caller kept beside the model.
    types : dict
        Names of the types in it, and how often each occurs.
    n_arrays, array_bytes : int
        Arrays and their size.
    file_bytes, unpacked_bytes : int
        Size of the file and of all that is in it.
    refused : str or None
        Why `load` would refuse it; None where nothing is known against it.
    """

    created: str | None
    versions: dict[str, str]
    info: dict[str, Any]
    types: dict[str, int]
    n_arrays: int
    array_bytes: int
    file_bytes: int
    unpacked_bytes: int
    refused: str | None


def save(model: Any, path: str | os.PathLike[str], *, info: dict[str, Any] | None = None) -> Path:
    """Write a model to a file that can be shared.

    Parameters
    ----------
    model : estimator
        One of ours, or a scikit-learn estimator around it such as a Pipeline.
    path : str or path
        Where to; a file of that name is replaced once the new one is complete.
    info : dict or None
        Kept beside the model: column names, settings, where the data came from. Anything that
        JSON can hold.

    Returns
    -------
    Path
        Where the model is.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from robustscn import RVFLRegressor
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> model = RVFLRegressor(10, random_state=0).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(model, f"{folder}/model.skops", info={"target": "height"})
    ...     saved = load(path)
    >>> saved.info
    {'target': 'height'}
    >>> bool(np.all(saved.model.predict(X) == model.predict(X)))
    True
    """
    skops = _skops()
    if not isinstance(model, BaseEstimator) or not hasattr(model, "predict"):
        raise TypeError(f"only models can be saved, got {type(model).__name__}")
    try:
        json.dumps(info)
    except (TypeError, ValueError) as reason:
        raise TypeError(f"info must be what JSON can hold: {reason}") from reason
    with _callbacks_aside(model):
        content = skops.dumps(model)
    about = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "robustscn": __version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
        },
        "info": info or {},
    }
    return write_whole(path, packed(about, content))


def load(
    path: str | os.PathLike[str], *, trusted: Sequence[str] = (), max_size: int | None = None
) -> Saved:
    """Read a model from a file, whoever wrote it, without running what it may carry.

    Parameters
    ----------
    path : str or path
        A file written by `save`, or by `skops.io.dump`.
    trusted : sequence of str
        Types to load besides `TRUSTED`, such as "mypackage.Hard" for a weighting of your own.
        Name only what you have read. A type that is named may have any settings.
    max_size : int or None, default=None
        Most bytes that the file may unpack to; None allows 2 GB, and 200 times the file's size
        where that is beyond 64 MB.

    Returns
    -------
    Saved
        The model and what was kept beside it.

    Raises
    ------
    NotAModel, DamagedModel, OtherVersion, UntrustedModel, TooLargeModel
        All of them ValueErrors, each with one sentence that says what to do.

    Examples
    --------
    See `save`.
    """
    archive = opened(Path(path), max_size)
    named = frozenset(trusted)
    tree, findings = _looked_at(archive, named)
    if (refusal := _refusal(archive.path, tree, findings, named)) is not None:
        raise refusal
    about = archive.about
    model = _built(archive, named | TRUSTED)
    return Saved(model, about.get("info", {}), about.get("created"), about.get("versions", {}))


def inspect(path: str | os.PathLike[str], *, max_size: int | None = None) -> Contents:
    """Return what is in a model file without building any of it.

    Parameters
    ----------
    path : str or path
        A file written by `save`, or by `skops.io.dump`.
    max_size : int or None, default=None
        As of `load`.

    Returns
    -------
    Contents
        What it says, what it holds, and whether `load` would take it.

    Raises
    ------
    NotAModel, DamagedModel, OtherVersion, TooLargeModel
        As `load` does; types that are not trusted are listed instead.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from robustscn import RVFLRegressor
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> model = RVFLRegressor(10, random_state=0).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     contents = inspect(save(model, f"{folder}/model.skops"))
    >>> contents.refused is None
    True
    >>> "robustscn.estimators.rvfl.RVFLRegressor" in contents.types
    True
    """
    archive = opened(Path(path), max_size)
    tree, findings = _looked_at(archive, frozenset())
    refusal = _refusal(archive.path, tree, findings, frozenset())
    if isinstance(refusal, NotAModel):
        raise refusal
    return Contents(
        created=archive.about.get("created"),
        versions=archive.about.get("versions", {}),
        info=archive.about.get("info", {}),
        types=dict(findings.kinds.most_common()),
        n_arrays=findings.n_arrays,
        array_bytes=findings.array_bytes,
        file_bytes=archive.file_bytes,
        unpacked_bytes=archive.unpacked_bytes,
        refused=None if refusal is None else str(refusal),
    )


def _looked_at(archive: Archive, trusted: frozenset[str]) -> tuple[Node, Findings]:
    with damage_told(archive.path), ZipFile(io.BytesIO(archive.content)) as members:
        return audited(members, trusted)


def _refusal(
    path: Path, tree: Node, findings: Findings, trusted: frozenset[str]
) -> ValueError | None:
    """Return why a file is not to be built, if so."""
    if findings.strange:
        return UntrustedModel(
            f"{path.name} was not loaded, it holds types that are not known to be harmless: "
            f"{_listed(sorted(findings.strange))}. If you know them and who made the file, name "
            "them in load(..., trusted=[...])"
        )
    if findings.forbidden:
        return UntrustedModel(
            f"{path.name} was not loaded for the setting {findings.forbidden[0]}. If you know who "
            "made the file, name the type in load(..., trusted=[...]), or save the model without it"
        )
    for name in predictors(tree):
        if not is_model(name, trusted):
            kind = shortened(name.rpartition(".")[2])
            return NotAModel(f"{path.name} holds a {kind}, not a model of robustscn")
    return None


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(shortened(name, 80) for name in names[:most]) + more


def _built(archive: Archive, trusted: frozenset[str]) -> Any:
    """Return the model of a file that was found harmless."""
    skops, name = _skops(), archive.path.name
    with damage_told(archive.path):
        strange = sorted(set(skops.get_untrusted_types(data=archive.content)) - trusted)
    if strange:  # what skops knows of and we do not
        raise UntrustedModel(
            f"{name} was not loaded, it holds what is not known to be harmless: {_listed(strange)}"
        )
    try:
        model = skops.loads(archive.content, trusted=sorted(trusted))
        check_soundness(model)
    except Exception as reason:
        raise DamagedModel(
            f"{name} cannot be built here ({type(reason).__name__}: {shortened(reason, 200)}): it "
            "was changed or made with other library versions; fit and save the model anew"
        ) from reason
    if not isinstance(model, BaseEstimator):
        raise NotAModel(f"{name} holds a {type(model).__name__}, not a model")
    return model


@contextmanager
def _callbacks_aside(model: Any) -> Iterator[None]:
    """Take progress bars and the like off the model while it is written: they are no part of it."""
    name = "_skl_callbacks"
    parts = [part for part in parts_of(model, set()) if name in getattr(part, "__dict__", ())]
    held = [(part, vars(part).pop(name)) for part in parts]
    try:
        yield
    finally:
        for part, callbacks in held:
            setattr(part, name, callbacks)


@contextmanager
def _array_libraries_unseen() -> Iterator[None]:
    """Hide scikit-learn's doors to other array libraries while skops is imported.

    On its way through every module of scikit-learn it would import all of torch or Dask where
    they are installed: seconds in each command. What has been imported before stays.
    """
    if "skops.io" in sys.modules:
        yield
        return
    doors = [f"sklearn.externals.array_api_compat.{name}" for name in ("torch", "cupy", "dask")]
    hidden = [door for door in doors if door not in sys.modules]
    modules = cast(dict[str, ModuleType | None], sys.modules)
    modules.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        for door in hidden:
            modules.pop(door, None)


def _skops() -> Any:
    try:
        with warnings.catch_warnings(), _array_libraries_unseen():
            warnings.simplefilter("ignore")  # about names that its own dependencies deprecate
            found = import_module("skops").__version__
            if tuple(map(int, found.split(".")[:2])) < SAFE_SKOPS:
                raise ImportError(f"skops {found} may run what a file names")
            return import_module("skops.io")
    except ImportError as missing:
        least = ".".join(map(str, SAFE_SKOPS))
        raise ImportError(
            f"model files need skops {least} or newer: pip install 'robustscn[cli]'"
        ) from missing
