"""Which of our splits of a KEEL set is most like the one that the paper had.

RVFL's and PRNNRW's errors differ more between splits than between networks, and PRNNRW's printed
ones hardly differ between outlier shares: one split served all of them, and these two columns say
which it was like.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .published import tables
from .results import FINGERPRINTS, Results
from .settings import TABLE_LEVELS, Experiment, Task


class Nearest(NamedTuple):
    """A split's number, how far its errors are from the printed ones, and the usual split's."""

    number: int
    distance: float
    usual: float
    candidates: int


def distances(results: Results, task: Task) -> NDArray[np.float64] | None:
    """Return how far the errors of each redrawn split are from the printed columns.

    Parameters
    ----------
    results : Results
        With the baselines' errors on redrawn splits.
    task : Task
        A KEEL set.

    Returns
    -------
    array of shape (n_splits,) or None
        Means over two methods and four outlier shares of |ours / printed - 1|; None where these
        were not all run.
    """
    ratios = []
    for level in TABLE_LEVELS:
        found = results.group(Experiment(task).name, level, "layers")
        if found is None or "splits" not in found:
            return None
        for method in FINGERPRINTS:
            printed = tables()[task.name, None, method, level].mean
            ratios.append(np.array(found["splits"][method]) / printed)
    count = min(len(each) for each in ratios)
    far: NDArray[np.float64] = np.mean([np.abs(each[:count] - 1.0) for each in ratios], axis=0)
    return far


def nearest_split(results: Results, task: Task) -> Nearest | None:
    """Return the redrawn split that comes nearest to the printed columns.

    Parameters
    ----------
    results : Results
        With the baselines' errors on redrawn splits.
    task : Task
        A KEEL set.

    Returns
    -------
    Nearest or None
        None where the baselines were not all run.
    """
    far = distances(results, task)
    if far is None:
        return None
    best = int(np.argmin(far))
    return Nearest(best, float(far[best]), float(np.median(far)), len(far))
