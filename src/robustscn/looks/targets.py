"""Targets that are not what a robust fit takes them for: heaps of one value at an end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .finding import Finding

HEAPED = 0.1
"""Share of the rows at the smallest or largest value from which on they are a kind of their own:
of a measured quantity hardly two rows are equal there."""


def heaps(name: str, values: NDArray[np.float64]) -> Iterator[Finding]:
    """Find heaps of one value at an end: zeros, a detection limit, saturation.

    Parameters
    ----------
    name : str
        The target.
    values : ndarray of shape (n_rows,)
        Numbers and NaN.

    Yields
    ------
    Finding
        "heap", with the rows in it.

    Examples
    --------
    >>> values = np.r_[np.zeros(30), np.linspace(1, 2, 50)]
    >>> [heap.words for heap in heaps("dose", values)]  # doctest: +ELLIPSIS
    ['is 0, its smallest, in 30 of 80 rows: a limit, or rows of two kinds? A fit predicts the...
    """
    known = values[np.isfinite(values)]
    if len(known) < 20 or len(np.unique(known)) < 10:
        return
    for end, word in ((known.min(), "smallest"), (known.max(), "largest")):
        rows = np.flatnonzero(values == end)
        if len(rows) >= HEAPED * len(known):
            yield Finding(
                name,
                "heap",
                f"is {end:.6g}, its {word}, in {len(rows):,} of {len(known):,} rows: a limit, or "
                "rows of two kinds? A fit predicts the median of all; learn these rows apart, or "
                "leave them out",
                rows,
                target=True,
            )
