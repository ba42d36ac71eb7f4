"""What can be told apart: paired differences, verdicts, ranks over sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range
from scipy.stats import t as student

Values = Sequence[float | None]

RESAMPLES = 2000
AHEAD, BEHIND, LEVEL = "ahead", "behind", "not told apart"


@dataclass(frozen=True)
class Interval:
    """A mean with the ends of its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """What a difference, peer minus ours, says of ours."""
        return AHEAD if self.low > 0 else BEHIND if self.high < 0 else LEVEL


@cache
def _resampled(n: int) -> NDArray[np.intp]:
    """Return the rows of every resample; the same ones each time, so that pages can be rebuilt."""
    return np.random.default_rng(n).integers(n, size=(RESAMPLES, n))


def interval_of(difference: NDArray[np.float64]) -> Interval:
    """Return a mean with its interval: the outer ends of the bootstrap's and of Student's.

    The bootstrap alone is too sure of itself with few draws, Student's alone is not made for
    errors with heavy tails.
    """
    mean, n = float(difference.mean()), len(difference)
    if n < 2:
        return Interval(mean, float("-inf"), float("inf"))
    half = float(student.ppf(0.975, n - 1) * difference.std(ddof=1) / np.sqrt(n))
    low, high = np.quantile(difference[_resampled(n)].mean(axis=1), (0.025, 0.975))
    return Interval(mean, min(float(low), mean - half), max(float(high), mean + half))


def paired(peer: Values, ours: Values) -> Interval:
    """Return the mean of peer minus ours over the draws that both have, with its interval."""
    both = [(p, o) for p, o in zip(peer, ours, strict=False) if p is not None and o is not None]
    return interval_of(np.array([p - o for p, o in both]))


def tally(verdicts: Sequence[str]) -> list[int]:
    """Return how many are ahead, behind and not told apart."""
    return [verdicts.count(each) for each in (AHEAD, BEHIND, LEVEL)]


def average_ranks(errors: NDArray[np.float64]) -> dict[str, Any]:
    """Return ranks over rows of errors (a block each), whether they differ, and by how much.

    Friedman's test asks whether any method differs; two whose average ranks are closer than
    Nemenyi's critical difference are not told apart.
    """
    n_blocks, n_methods = errors.shape
    if n_blocks < 2 or n_methods < 3:
        return {}
    ranks = rankdata(errors, axis=1)
    wide = studentized_range.ppf(0.95, n_methods, np.inf) / np.sqrt(2)
    return {
        "ranks": ranks.mean(axis=0).tolist(),
        "p": float(friedmanchisquare(*errors.T).pvalue),
        "critical": float(wide * np.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks))),
        "blocks": n_blocks,
    }
