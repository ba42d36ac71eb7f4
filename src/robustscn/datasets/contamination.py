"""Spoil a known share of the targets, and say which.

A protocol is two choices: which rows are hit, and what becomes of their targets.

    replace    rows at random               y := U[low, high]
    add        rows at random               y := y + U[-amplitude, amplitude]
    one_sided  rows at random               y := y + U[0, amplitude]
    clustered  a run of rows next in ``x``  y := y + U[-amplitude, amplitude]

Exactly round(fraction * n) rows are hit, each at most once. Inputs are never touched,
and results under different protocols do not belong in one table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Options = Mapping[str, Any]


def _scattered(n: int, n_hit: int, _options: Options, rng: np.random.Generator) -> NDArray[np.intp]:
    return rng.choice(n, size=n_hit, replace=False)


def _neighbours(n: int, n_hit: int, options: Options, rng: np.random.Generator) -> NDArray[np.intp]:
    x = np.asarray(options["x"])
    if x.shape != (n,):
        raise ValueError(
            f"protocol 'clustered' needs x= one value for each of the {n} rows, "
            f"got shape {x.shape}."
        )
    start = rng.integers(n - n_hit + 1)
    return np.argsort(x, kind="stable")[start : start + n_hit]


def _replaced(y: NDArray[Any], options: Options, rng: np.random.Generator) -> NDArray[Any]:
    return rng.uniform(options["low"], options["high"], y.shape)


def _shifted(y: NDArray[Any], options: Options, rng: np.random.Generator) -> NDArray[Any]:
    return y + rng.uniform(-options["amplitude"], options["amplitude"], y.shape)


def _raised(y: NDArray[Any], options: Options, rng: np.random.Generator) -> NDArray[Any]:
    return y + rng.uniform(0.0, options["amplitude"], y.shape)


@dataclass(frozen=True)
class _Protocol:
    rows: Callable[[int, int, Options, np.random.Generator], NDArray[np.intp]]
    spoil: Callable[[NDArray[Any], Options, np.random.Generator], NDArray[Any]]
    defaults: Options


_PROTOCOLS: Mapping[str, _Protocol] = {
    "replace": _Protocol(_scattered, _replaced, {"low": -0.2, "high": 0.8}),
    "add": _Protocol(_scattered, _shifted, {"amplitude": 0.5}),
    "one_sided": _Protocol(_scattered, _raised, {"amplitude": 0.5}),
    "clustered": _Protocol(_neighbours, _shifted, {"amplitude": 0.5, "x": None}),
}


def _resolved(protocol: str, given: Options) -> tuple[_Protocol, Options]:
    """Look the protocol up, and complete the options given with its defaults."""
    if protocol not in _PROTOCOLS:
        raise ValueError(f"unknown protocol {protocol!r}; valid ones: {', '.join(_PROTOCOLS)}.")
    chosen = _PROTOCOLS[protocol]
    given = {name: value for name, value in given.items() if value is not None}
    # An option that has no effect is a mistake about the protocol: silence would
    # leave data other than the caller believes.
    unused = sorted(given.keys() - chosen.defaults.keys())
    if unused:
        raise ValueError(
            f"protocol {protocol!r} does not use {', '.join(unused)}; "
            f"it takes {', '.join(chosen.defaults)}."
        )
    options = {**chosen.defaults, **given}
    if "amplitude" in options and not 0 <= options["amplitude"] < np.inf:
        raise ValueError(f"amplitude must be finite and >= 0, got {options['amplitude']}.")
    if "low" in options and not -np.inf < options["low"] <= options["high"] < np.inf:
        raise ValueError(
            f"low and high must be finite with low <= high, "
            f"got {options['low']} and {options['high']}."
        )
    return chosen, options


def contaminate(
    y: ArrayLike,
    fraction: float,
    *,
    protocol: str = "add",
    amplitude: float | None = None,
    low: float | None = None,
    high: float | None = None,
    x: ArrayLike | None = None,
    rng: int | np.random.Generator | None = None,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Spoil a share of the targets.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Clean targets; never modified. A row that is hit is hit in every output.
    fraction : float
        Share of rows to hit, in [0, 1]; ``round(fraction * n_samples)`` rows are.
    protocol : {"add", "replace", "one_sided", "clustered"}, default="add"
        What is done, and to which rows: ``replace`` puts a draw from U[low, high] in
        the target's place, ``add`` adds one from U[-amplitude, amplitude],
        ``one_sided`` adds one from U[0, amplitude], and ``clustered`` does as ``add``
        to rows that follow each other in the order of ``x``.
    amplitude : float, default=None
        For the three that add; None means 0.5, made for targets in [0, 1].
    low, high : float, default=None
        For ``replace``; None means -0.2 and 0.8, those of the function task.
    x : array-like of shape (n_samples,), default=None
        For ``clustered``, which needs it: the input whose neighbours are hit together.
    rng : int, numpy.random.Generator or None, default=None
        Source of the draws.

    Returns
    -------
    dirty : ndarray of the shape of ``y``
        A floating-point copy with the rows that were hit spoiled.
    hit : ndarray of bool, shape (n_samples,)
        Which rows those are.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn.datasets import contaminate
    >>> dirty, hit = contaminate(np.zeros(200), 0.25, rng=0)
    >>> int(hit.sum()), bool(np.all(dirty[~hit] == 0))
    (50, True)
    """
    dirty = np.array(y, dtype=np.result_type(np.asarray(y), np.float32))
    if dirty.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got shape {dirty.shape}.")
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must be in [0, 1], got {fraction}.")
    given = {"amplitude": amplitude, "low": low, "high": high, "x": x}
    chosen, options = _resolved(protocol, given)
    generator = np.random.default_rng(rng)
    n = len(dirty)
    rows = chosen.rows(n, round(fraction * n), options, generator)
    dirty[rows] = chosen.spoil(dirty[rows], options, generator)
    hit = np.zeros(n, dtype=bool)
    hit[rows] = True
    return dirty, hit
