"""The few things the core must know about array libraries.

Row-sized arrays stay where the caller put them (NumPy, torch, CuPy, any array-API
namespace); small problems, a few hundred numbers wide, are solved on the host in
float64. `to_host` and `like` are the only bridges between the two.
"""

from __future__ import annotations

from typing import Any, Literal

import array_api_compat.numpy as numpy_namespace
import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array, to_device

Array = Any
"""An array of any array-API namespace."""

HostArray = np.ndarray[Any, np.dtype[Any]]
"""A small float64 NumPy array."""

ORDER: Literal["C"] = "C"
"""How NumPy arrays lie in memory in every fit: products of arrays that lie otherwise, such as a
frame's columns, differ in their last bits, and a fit would depend on who holds the data."""


def namespace(*arrays: Array) -> Any:
    """Return the array-API namespace that the arrays share."""
    # Asked some thousand times a second for small data, and nearly always of NumPy.
    if all(type(array) is np.ndarray for array in arrays):
        return numpy_namespace
    return array_namespace(*arrays)


def to_host(array: Array) -> HostArray:
    """Return a NumPy copy or view of an array that may live on a device."""
    if isinstance(array, np.ndarray | np.generic):
        return np.asarray(array)
    moved = array
    if "cpu" not in str(device(array)).lower():
        moved = to_device(array, "cpu")
    return moved if is_numpy_array(moved) else np.from_dlpack(moved)


def to_host64(array: Array) -> HostArray:
    """Return `array` on the host in float64."""
    return np.asarray(to_host(array), dtype=np.float64)


def like(values: Any, reference: Array) -> Array:
    """Return host values as an array with the library, device and dtype of `reference`."""
    if is_numpy_array(reference):
        return np.asarray(values, dtype=reference.dtype)
    return namespace(reference).asarray(
        np.asarray(values).tolist() if np.ndim(values) == 0 else _importable(values),
        dtype=reference.dtype,
        device=device(reference),
    )


def _importable(values: Any) -> HostArray:
    # torch refuses views with negative strides and warns on read-only memory.
    return np.array(values, order="C", copy=True)


def eps(array: Array) -> float:
    """Return the rounding unit of the array's floating dtype."""
    return float(namespace(array).finfo(array.dtype).eps)


def histogram(bins: Array, weights: Array, length: int) -> HostArray:
    """Return the weights summed by bin number, on the host.

    The array-API standard has no scatter-add; NumPy, torch and CuPy share `bincount`.
    """
    xp = namespace(bins)
    count = getattr(xp, "bincount", None)
    if count is None:
        return np.bincount(to_host(bins), to_host64(weights), length)
    # In float32 a large bin would stop growing at 2^24 rows.
    return to_host64(count(bins, xp.astype(weights, xp.float64), length))


def middle(values: Array) -> Array:
    """Return the median along the first axis, which the array-API standard lacks."""
    xp = namespace(values)
    ordered, n = xp.sort(values, axis=0), values.shape[0]
    return 0.5 * (ordered[(n - 1) // 2, ...] + ordered[n // 2, ...])


def triangle_of(matrix: Array) -> Array:
    """Return R of the orthogonal factorisation of a matrix.

    The standard has no way to ask for R alone; NumPy has, and saves half of the work.
    """
    if is_numpy_array(matrix):
        return np.linalg.qr(matrix, mode="r")
    return namespace(matrix).linalg.qr(matrix, mode="reduced")[1]
