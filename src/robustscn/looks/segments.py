"""Stretches in which something is more frequent or higher than elsewhere, and how sure that is.

Each row has a score: the logarithm of how much likelier it is inside such a stretch than outside.
A stretch is a run of rows whose scores have the greatest sum, none of whose parts would do better
alone; a few rows that look innocent do not break it. It counts where its sum is beyond what chance
makes of so many rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Segment = tuple[int, int, float]
"""First row, row after the last, and score."""


def maximal_segments(scores: NDArray[np.float64], least: float) -> list[Segment]:
    """Return the runs of greatest sum, in linear time.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Log-likelihood ratios.
    least : float
        Smallest sum that counts.

    Returns
    -------
    list of (int, int, float)
        First row, row after the last, and sum; in the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn.looks.segments import maximal_segments
    >>> maximal_segments(np.array([-1.0, 2.0, -0.5, 2.0, -9.0, 1.0]), 1.5)
    [(1, 4, 3.5)]
    """
    # Ruzzo and Tompa (1999): candidates are merged where a later one ends higher than an earlier.
    found: list[list[float]] = []  # first, end, sum before, sum after
    sums = np.append(0.0, np.cumsum(scores))
    for place in np.flatnonzero(scores > 0).tolist():
        new: list[float] = [place, place + 1, float(sums[place]), float(sums[place + 1])]
        while True:
            j = len(found) - 1
            while j >= 0 and found[j][2] >= new[2]:
                j -= 1
            if j < 0 or found[j][3] >= new[3]:
                found.append(new)
                break
            new = [found[j][0], new[1], found[j][2], new[3]]
            del found[j:]
    return [
        (int(first), int(end), after - before)
        for first, end, before, after in found
        if after - before >= least
    ]


def odds(event: NDArray[np.bool_], inside: float, outside: float) -> NDArray[np.float64]:
    """Return the scores of events that are more frequent inside a stretch.

    Parameters
    ----------
    event : bool ndarray of shape (n_rows,)
        Where it happened.
    inside, outside : float
        How frequent it is in a stretch and elsewhere.

    Returns
    -------
    ndarray of shape (n_rows,)
        Log-likelihood ratios.
    """
    with_event = float(np.log(inside / outside))
    without = float(np.log((1 - inside) / (1 - outside)))
    return np.where(event, with_event, without).astype(np.float64)


def usual_rate(event: NDArray[np.bool_], blocks: int = 21) -> float:
    """Return how frequent an event is in most of the table, whatever happens in less than half.

    Parameters
    ----------
    event : bool ndarray of shape (n_rows,)
        Where it happened.
    blocks : int, default=21
        Runs of rows that are compared.

    Returns
    -------
    float
        Median share over the blocks.
    """
    if len(event) < blocks:
        return float(np.mean(event)) if len(event) else 0.0
    return float(np.median([block.mean() for block in np.array_split(event, blocks)]))
