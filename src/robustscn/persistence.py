"""Models as files that are data and never run code.

A file is a zip of two members: `model.skops`, the model as scikit-learn's safe format writes it,
and `robustscn.json`, which says what wrote it, carries the checksum of the other and whatever the
caller wants kept beside the model. Only the types listed here are brought back to life; a file
that names any other is refused before anything is built. Each refusal is one sentence that says
what to do.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, is_zipfile

import numpy as np
import sklearn
from sklearn.base import BaseEstimator

from . import __version__, estimators, weighting
from .atomic import write_whole
from .core.inputs import Scaling
from .core.nodes import Network, Nodes

FORMAT = 1
"""Number of the file format, raised when older versions could no longer read it."""

_ABOUT, _MODEL = "robustscn.json", "model.skops"

_OURS = (
    *(getattr(estimators, name) for name in estimators.__all__),
    *{type(named) for named in weighting.NAMED.values()},
    Network,
    Nodes,
    Scaling,
)

TRUSTED = frozenset(
    {f"{kind.__module__}.{kind.__qualname__}" for kind in _OURS}
    | {
        # By name: a model without a table needs nothing of tables.
        "robustscn.tables.columns.DateParts",
        "robustscn.tables.columns.Numbers",
        "robustscn.tables.columns.Text",
        # What fitted encoders, and column transformers that choose columns by dtype, hold.
        "numpy.dtype",
        "sklearn.compose._column_transformer.make_column_selector",
    }
)
"""Types that are loaded besides those of scikit-learn, NumPy and SciPy that skops trusts."""


class NotAModel(ValueError):  # noqa: N818
    """The file is something else."""


class DamagedModel(ValueError):  # noqa: N818
    """The file was a model before it was cut or changed."""


class OtherVersion(ValueError):  # noqa: N818
    """The file was written by a version whose models this one does not read."""


class UntrustedModel(ValueError):  # noqa: N818
    """The file names types that are not known to be harmless."""


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
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "robustscn": __version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
        },
        "sha256": hashlib.sha256(content).hexdigest(),
        "info": info or {},
    }
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as members:
        members.writestr(_ABOUT, json.dumps(about, indent=1))
        members.writestr(_MODEL, content)
    return write_whole(path, file.getvalue())


def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Saved:
    """Read a model from a file, whoever wrote it, without running what it may carry.

    Parameters
    ----------
    path : str or path
        A file written by `save`, or by `skops.io.dump`.
    trusted : sequence of str
        Types to load besides `TRUSTED`, such as "mypackage.Hard" for a weighting of your own.
        Name only what you have read.

    Returns
    -------
    Saved
        The model and what was kept beside it.

    Raises
    ------
    NotAModel, DamagedModel, OtherVersion, UntrustedModel
        All of them ValueErrors, each with one sentence that says what to do.

    Examples
    --------
    See `save`.
    """
    path = Path(path)
    about, content = _read(path)
    model = _built(path, content, frozenset(trusted) | TRUSTED)
    return Saved(model, about.get("info", {}), about.get("created"), about.get("versions", {}))


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return what is said of the model (nothing in a file of skops) and its bytes."""
    content = path.read_bytes()
    if not is_zipfile(io.BytesIO(content)):
        raise _not_a_zip(path, content)
    # A changed byte shows as one of many errors, depending on where in the archive it is.
    try:
        with ZipFile(io.BytesIO(content)) as members:
            names = set(members.namelist())
            if names >= {_ABOUT, _MODEL}:
                about = json.loads(members.read(_ABOUT))
                _check_version(path, about)
                content = members.read(_MODEL)
                if hashlib.sha256(content).hexdigest() != about["sha256"]:
                    raise _damaged(path)
                return about, content
    except (OtherVersion, DamagedModel):
        raise
    except Exception as reason:
        raise _damaged(path) from reason
    if "schema.json" in names:
        return {}, content
    raise NotAModel(
        f"{path.name} is an archive but no model: give a file that robustscn.persistence.save wrote"
    )


def _not_a_zip(path: Path, content: bytes) -> ValueError:
    if content[:2] == b"PK":
        return _damaged(path)
    if content[:1] == b"\x80":
        return NotAModel(
            f"{path.name} looks like a pickle, which can run any code when it is read: load it "
            "where you trust it and write it again with robustscn.persistence.save"
        )
    what = "is empty" if not content else "is no model"
    return NotAModel(f"{path.name} {what}: give a file that robustscn.persistence.save wrote")


def _damaged(path: Path) -> DamagedModel:
    return DamagedModel(
        f"{path.name} is damaged, cut off or changed since it was saved: copy it again from where "
        "it came, or fit and save the model anew"
    )


def _check_version(path: Path, about: dict[str, Any]) -> None:
    writer = about["versions"]["robustscn"]
    major = writer.split(".")[0]
    if about["format"] > FORMAT or major != __version__.split(".")[0]:
        raise OtherVersion(
            f"{path.name} was written by robustscn {writer}, this is {__version__}: install that "
            f"one (pip install 'robustscn=={major}.*'), or fit and save the model anew"
        )


def _built(path: Path, content: bytes, trusted: frozenset[str]) -> Any:
    """Return the model, once all the types that it names are known to be trusted."""
    skops = _skops()
    try:
        strange = sorted(set(skops.get_untrusted_types(data=content)) - trusted)
    except Exception as reason:
        raise _damaged(path) from reason
    if strange:
        raise UntrustedModel(
            f"{path.name} was not loaded, it holds types that are not known to be harmless: "
            f"{', '.join(strange)}. If you know them and who made the file, name them in "
            "load(..., trusted=[...])"
        )
    try:
        model = skops.loads(content, trusted=sorted(trusted))
    except Exception as reason:
        raise DamagedModel(
            f"{path.name} cannot be built here ({type(reason).__name__}: {reason}): it was changed "
            "or made with other library versions; fit and save the model anew"
        ) from reason
    if not isinstance(model, BaseEstimator):
        raise NotAModel(f"{path.name} holds a {type(model).__name__}, not a model")
    return model


@contextmanager
def _callbacks_aside(model: Any) -> Iterator[None]:
    """Take progress bars and the like off the model while it is written: they are no part of it."""
    name = "_skl_callbacks"
    held = [(part, vars(part).pop(name)) for part in _parts(model, set()) if name in vars(part)]
    try:
        yield
    finally:
        for part, callbacks in held:
            setattr(part, name, callbacks)


def _parts(value: Any, seen: set[int]) -> Iterator[BaseEstimator]:
    """Yield the estimators that an estimator is made of, itself included."""
    if id(value) in seen:
        return
    seen.add(id(value))
    inside: Any = ()
    if isinstance(value, BaseEstimator):
        yield value
        inside = list(vars(value).values())
    elif isinstance(value, dict):
        inside = value.values()
    elif isinstance(value, (list, tuple)):
        inside = value
    for part in inside:
        yield from _parts(part, seen)


def _skops() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about names that its own dependencies deprecate
            return import_module("skops.io")
    except ImportError as missing:
        raise ImportError("model files need skops: pip install 'robustscn[cli]'") from missing
