"""Four regression benchmarks of the KEEL repository, found, fetched and verified.

A data set is looked for as ``<name>.csv`` (one header row, target last) in

    1. the folder that the environment variable ROBUSTSCN_DATA names,
    2. the cache, ``robustscn`` in scikit-learn's data folder (SCIKIT_LEARN_DATA, or
       ``~/scikit_learn_data``),

and else downloaded from OpenML into the cache. Wherever it came from, one checksum over
the values must agree. It does not see the order of rows, which OpenML may change.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import http.client
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from ..atomic import write_together

Array = NDArray[np.float64]

_DECIMALS = 3  # of the most precise column in any of the four


@dataclass(frozen=True)
class _Source:
    """One data set: what it is, where OpenML keeps it, what its values must be."""

    about: str
    openml_id: int
    checksum: str
    feature_names: tuple[str, ...]
    target_name: str


_SOURCES: Mapping[str, _Source] = {
    "stock": _Source(
        about="daily prices of ten aerospace companies, in order of date",
        openml_id=223,
        checksum="58748bc44c7203d5a1b23c5376ca6cc7c6e04bb6b1c78e1680e70bec9624cf05",
        feature_names=tuple(f"Company{i}" for i in range(1, 10)),
        target_name="Company10",
    ),
    "laser": _Source(
        about=(
            "intensity of a far-infrared laser (Santa Fe series A): four earlier values "
            "and the next; the one target of 0 is padding after the series' end"
        ),
        openml_id=42364,
        checksum="7034c44b883a6d3ab83a8b44c8e514bb0a712c55e23d0c3d654497f6e9df318c",
        feature_names=("Input1", "Input2", "Input3", "Input4"),
        target_name="Output",
    ),
    "concrete": _Source(
        about="mixture and age of concrete and its strength (Yeh 1998, doi 10.24432/C5PK67)",
        openml_id=4353,
        checksum="ae0c8c3a4d2cbb371cff2dbcbfaf7f5484f18f6eb3f2c86b89637badead11b79",
        feature_names=(
            "Cement",
            "BlastFurnaceSlag",
            "FlyAsh",
            "Water",
            "Superplasticizer",
            "CoarseAggregate",
            "FineAggregate",
            "Age",
        ),
        target_name="ConcreteCompressiveStrength",
    ),
    "treasury": _Source(
        about=(
            "weekly economic data of the USA; KEEL's input names look shifted by one "
            "column against their values and are kept as KEEL has them"
        ),
        openml_id=42367,
        checksum="4590bfd0465d60de8d4b4dbcda0f0cfabad612fb2cfbded7c18491af10456895",
        feature_names=(
            "1Y-CMaturityRate",
            "30Y-CMortgageRate",
            "3M-Rate-AuctionAverage",
            "3M-Rate-SecondaryMarket",
            "3Y-CMaturityRate",
            "5Y-CMaturityRate",
            "bankCredit",
            "currency",
            "demandDeposits",
            "federalFunds",
            "moneyStock",
            "checkableDeposits",
            "loansLeases",
            "savingsDeposits",
            "tradeCurrencies",
        ),
        target_name="1MonthCDRate",
    ),
}


def _checksum(values: Array) -> str:
    """SHA-256 of the rows in lexicographic order, in whole thousandths."""
    # Integers, so that neither the last bit of a float nor the sign of a zero counts.
    whole = np.rint(values * 10**_DECIMALS).astype("<i8")
    ordered = whole[np.lexsort(whole.T[::-1])]
    return hashlib.sha256(ordered.tobytes()).hexdigest()


def _holds(values: Array, source: _Source) -> bool:
    """Tell whether these are the values that the data set's name stands for."""
    return (
        values.ndim == 2
        and values.shape[1] == len(source.feature_names) + 1
        # NaN, infinity and what no 64-bit integer holds are refused before the rounding.
        and bool(np.all(np.abs(values) < 1e12))
        and _checksum(values) == source.checksum
    )


def _read(path: Path, source: _Source) -> Array:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        values = np.array([line.split(",") for line in lines[1:]], dtype=np.float64)
    except ValueError:  # not text, not numbers, or rows of unequal length
        values = np.empty(0)
    if not _holds(values, source):
        raise ValueError(
            f"{path} does not hold the values of KEEL's {path.stem}: it is damaged or another "
            f"version. Expected: one header row, {len(source.feature_names)} inputs and the "
            f"target {source.target_name} last, as in OpenML data_id {source.openml_id}. "
            f"Remove or replace the file."
        )
    return values


def _download(source: _Source) -> Array:
    # Without a target column OpenML's own columns come whole and in order; this parser
    # needs no pandas.
    with warnings.catch_warnings():
        # Of a failure that a second try mends the caller need not hear, and of one that
        # it does not mend the error speaks.
        warnings.filterwarnings("ignore", message="A network error occurred")
        fetched = fetch_openml(
            data_id=source.openml_id,
            target_column=None,
            as_frame=False,
            parser="liac-arff",
            cache=False,
            n_retries=1,
        )
    target = source.target_name.lower()
    order = sorted(
        range(len(fetched.feature_names)), key=lambda j: fetched.feature_names[j].lower() == target
    )
    # Rounding takes back what a detour through single precision adds (295.799988).
    return np.round(np.asarray(fetched.data, dtype=np.float64)[:, order], _DECIMALS)


def _store(values: Array, source: _Source, path: Path) -> None:
    """Write whole or not at all: another process may be reading, or writing, too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = ",".join((*source.feature_names, source.target_name))

    def write(draft: Path) -> None:
        np.savetxt(
            draft, values, fmt="%s", delimiter=",", header=header, comments="", encoding="utf-8"
        )

    write_together({path: write})


def _cache_folder() -> Path:
    # sklearn.datasets.get_data_home would create the folder just to look into it.
    home = os.environ.get("SCIKIT_LEARN_DATA", os.path.join("~", "scikit_learn_data"))
    return Path(home).expanduser() / "robustscn"


def _values(name: str, source: _Source) -> Array:
    """Take the values from the first place that has them."""
    folder = os.environ.get("ROBUSTSCN_DATA")
    cached = _cache_folder() / f"{name}.csv"
    places = [Path(folder).expanduser() / f"{name}.csv"] if folder else []
    for path in [*places, cached]:
        if path.is_file():
            return _read(path, source)
    try:
        values = _download(source)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise FileNotFoundError(
            f"KEEL data set {name!r} is not here, and OpenML did not answer with it ({error}). "
            f"Three ways to get it: set the environment variable ROBUSTSCN_DATA to a folder "
            f"with {name}.csv (now {folder or 'not set'}); or put {name}.csv into the cache "
            f"folder {cached.parent}; or be online, and it is downloaded from OpenML "
            f"(data_id {source.openml_id})."
        ) from error
    if not _holds(values, source):
        raise ValueError(
            f"OpenML data_id {source.openml_id} does not hold the values of KEEL's {name}. Put "
            f"KEEL's own, as {name}.csv, into the folder that ROBUSTSCN_DATA names, or into "
            f"{cached.parent}."
        )
    # The data are good even where nothing can be written: fetched again next time.
    with contextlib.suppress(OSError):
        _store(values, source, cached)
    return values


def _source(name: str) -> _Source:
    if name in _SOURCES:
        return _SOURCES[name]
    close = difflib.get_close_matches(str(name).lower(), _SOURCES, n=1)
    hint = f" did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"unknown KEEL data set {name!r};{hint} valid names: {', '.join(_SOURCES)}.")


@overload
def load_keel(name: str, *, return_X_y: Literal[False] = ..., as_frame: bool = ...) -> Bunch: ...


@overload
def load_keel(name: str, *, return_X_y: Literal[True], as_frame: bool = ...) -> tuple[Any, Any]: ...


def load_keel(
    name: str, *, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | tuple[Any, Any]:
    """Load one of four KEEL regression data sets.

    ============ ====== ======== =============================
    name         rows   inputs   target
    ============ ====== ======== =============================
    stock        950    9        price of the tenth company
    laser        993    4        next intensity
    concrete     1030   8        compressive strength, MPa
    treasury     1049   15       one-month certificate rate, %
    ============ ====== ======== =============================

    Parameters
    ----------
    name : {"stock", "laser", "concrete", "treasury"}
        Which one.
    return_X_y : bool, default=False
        Return only the inputs and the target.
    as_frame : bool, default=False
        Give pandas objects instead of arrays.

    Returns
    -------
    sklearn.utils.Bunch or tuple
        ``data`` (n_samples, n_features), ``target`` (n_samples,), ``feature_names``,
        ``target_name``, ``frame`` (inputs and target together, None unless
        ``as_frame``) and ``DESCR``; or ``(data, target)`` if ``return_X_y``.

    Notes
    -----
    ``<name>.csv`` is looked for in the folder that the environment variable
    ``ROBUSTSCN_DATA`` names, then in ``robustscn`` inside scikit-learn's data folder
    (``SCIKIT_LEARN_DATA``, or ``~/scikit_learn_data``), then downloaded from OpenML
    into the latter. Values are verified against a checksum; the order of rows is the
    source's, so a seeded split is the same only on the same source. Rows may be in
    order of time: shuffle before splitting. Nothing is scaled.

    Examples
    --------
    >>> from robustscn.datasets import load_keel
    >>> X, y = load_keel("laser", return_X_y=True)
    >>> X.shape, y.shape
    ((993, 4), (993,))
    """
    source = _source(name)
    values = _values(name, source)
    data: Any = values[:, :-1]
    target: Any = values[:, -1]
    frame = None
    if as_frame:
        import pandas as pd  # here, since arrays need no pandas

        frame = pd.DataFrame(values, columns=[*source.feature_names, source.target_name])
        data, target = frame[list(source.feature_names)], frame[source.target_name]
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=list(source.feature_names),
        target_name=source.target_name,
        DESCR=(
            f"KEEL {name}: {source.about}. {len(values)} rows, {len(source.feature_names)} "
            f"inputs, target {source.target_name}. KEEL: Alcala-Fdez et al., J. Multiple-Valued "
            f"Logic and Soft Computing 17, 2011, 255-287; OpenML data_id {source.openml_id}."
        ),
    )
