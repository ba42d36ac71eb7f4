"""How far predictions are off, where the rows to check them by are dirty too.

Without a group or a time column nothing need be kept back: the model judges each row by
networks that have not seen it. Rows of one group, or neighbours in time, resemble each other,
and a random choice of rows would flatter the model; then whole groups, or the last part in
time, are kept from a second fit. Either way some of the checking rows are wrong themselves, so
the error is stated by the median and by the rows that are believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..tables import TableError
from ..tables.columns import as_numbers
from ..tables.dates import moments_of

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.2
_TO_DEVIATION = 1.4826  # the median absolute deviation of a normal distribution is 1 / 1.4826
_FARTHEST = 3.0


@dataclass(frozen=True)
class HeldOutError:
    """Error on rows that the predicting networks have not seen.

    Parameters
    ----------
    how : str
        How these rows were chosen, in words.
    rows, trusted : int
        How many rows, and how many of them are believed.
    median : tuple of float
        Median absolute error of each target, over all rows.
    rmse : tuple of float
        Root mean squared error of each target, over believed rows.
    """

    how: str
    rows: int
    trusted: int
    median: tuple[float, ...]
    rmse: tuple[float, ...]

    def facts(self, targets: tuple[str, ...]) -> dict[str, Any]:
        """Return the error as named facts.

        Parameters
        ----------
        targets : tuple of str
            Names of the targets.

        Returns
        -------
        dict
            Single numbers for one target, numbers by name for several.
        """
        single = len(targets) == 1
        by_name = [dict(zip(targets, each, strict=True)) for each in (self.median, self.rmse)]
        return {
            "median_absolute_error": self.median[0] if single else by_name[0],
            "robust_rmse": self.rmse[0] if single else by_name[1],
            "rows": self.rows,
            "trusted_rows": self.trusted,
            "how": self.how,
        }


def robust_error(
    residuals: NDArray[np.float64], how: str, trusted: NDArray[np.bool_] | None = None
) -> HeldOutError:
    """Return the error that most rows agree on.

    Parameters
    ----------
    residuals : ndarray of shape (n_rows,) or (n_rows, n_targets)
        Targets minus predictions.
    how : str
        How the rows were chosen.
    trusted : bool ndarray of shape (n_rows,) or None, default=None
        Which rows are believed, where that is known; None takes those within three robust
        standard deviations.

    Returns
    -------
    HeldOutError
        The median absolute error, and the root mean square over rows that are believed.
    """
    by_target = residuals[:, None] if residuals.ndim == 1 else residuals
    # In eighths: near the end of the range, medians and multiples of them stay within it.
    sizes = np.abs(np.nan_to_num(by_target)) / 8.0
    if trusted is None or not trusted.any():
        trusted = _near(sizes)
    median, rmse = 8.0 * np.median(sizes, axis=0), 8.0 * _root_mean_square(sizes[trusted])
    return HeldOutError(
        how=how,
        rows=len(sizes),
        trusted=int(trusted.sum()),
        median=tuple(float(each) for each in median),
        rmse=tuple(float(each) for each in rmse),
    )


def _root_mean_square(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return that of each column in units of its largest size, whose square is finite."""
    largest = sizes.max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(unit * np.sqrt(np.mean((sizes / unit) ** 2, axis=0)))


def _near(sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return rows within three robust standard deviations in every target.

    One is 1.4826 times the median size, computed again without the rows beyond until it settles.
    """
    near = np.ones(len(sizes), dtype=bool)
    for _ in range(50):
        scales = _TO_DEVIATION * np.median(sizes[near], axis=0)
        now = np.asarray((sizes <= _FARTHEST * scales).all(axis=1))
        if (now == near).all() or not now.any():
            break
        near = now
    return near


def held_out_groups(groups: pd.Series, seed: int) -> tuple[NDArray[np.bool_], str]:
    """Choose whole groups, about a fifth of the rows.

    Parameters
    ----------
    groups : pandas.Series
        The group of each row; rows without one are a group of their own.
    seed : int
        Seed of the choice.

    Returns
    -------
    held_out : bool ndarray of shape (n_rows,)
        Which rows are kept back.
    how : str
        The choice in words.
    """
    codes, levels = groups.factorize(use_na_sentinel=False)
    if len(levels) < 2:
        raise TableError(f"{groups.name!r} has one group only: leave out --group")
    order = np.random.default_rng(seed).permutation(len(levels))
    rows = np.cumsum(np.bincount(codes, minlength=len(levels))[order])
    n_chosen = min(len(levels) - 1, 1 + int(np.searchsorted(rows, SHARE * len(groups))))
    chosen = np.isin(codes, order[:n_chosen])
    plural = "group" if n_chosen == 1 else "groups"
    return chosen, f"{n_chosen} whole {plural} of {len(levels)} in {groups.name!r}"


def held_out_end(times: pd.Series) -> tuple[NDArray[np.bool_], str]:
    """Choose the last fifth of the rows in time.

    Parameters
    ----------
    times : pandas.Series
        Dates or numbers; rows without one are not kept back.

    Returns
    -------
    held_out : bool ndarray of shape (n_rows,)
        Which rows are kept back.
    how : str
        The choice in words.
    """
    dates = moments_of(times, str(times.name))
    moments = as_numbers(times) if dates is None else dates
    known = np.isfinite(moments)
    if not known.any():
        raise TableError(f"{times.name!r} holds no dates and no numbers: leave out --time")
    start = np.quantile(moments[known], 1 - SHARE)
    chosen = known & (moments > start)
    if not chosen.any():
        raise TableError(f"{times.name!r} hardly changes: there is no last part to hold out")
    return chosen, f"the last {SHARE:.0%} in {times.name!r}"
