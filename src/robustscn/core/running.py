"""Errors of the last rows of a stream: how large one robust standard deviation is just now.

Windows are short and asked about every few rows, so this is plain NumPy: one sort, and the rows
that `scale.trimmed_scales` would leave out are a run at its end.
"""

from __future__ import annotations

import numpy as np

from .arrays import HostArray
from .mixture import geman_mcclure
from .scale import NORMAL_MAD, shrinking

RUN, RUN_OFF = 9, 1.5
"""Rows whose median error must be so many robust standard deviations from zero for them to be a
burst: by chance that median is off by 0.4. Measured on four streams of development, in bursts, and
mixed: without it a stream that cannot be predicted errs a quarter more, two that drift err an
eighth less."""

LEAST = 1e-30
"""No scale is smaller: where most rows are met exactly, every other is as strange as can be."""


def running_scales(errors: HostArray, cutoff: float = 3.0) -> HostArray:
    """Return each output's robust standard deviation.

    Parameters
    ----------
    errors : array of shape (n_rows, n_outputs)
        Errors of predictions that were made before their targets came.
    cutoff : float
        Errors beyond this many standard deviations are left out, until that changes nothing.

    Returns
    -------
    array of shape (n_outputs,)
        1.4826 times the median of |error|.
    """
    ordered = np.sort(np.abs(errors), axis=0)
    scales = np.empty(ordered.shape[1])
    for q, sizes in enumerate(ordered.T):
        scale = _of_sorted(sizes)
        floor = 1e-3 * scale
        for _ in range(20):
            near = int(np.searchsorted(sizes, cutoff * scale, side="right"))
            renewed = max(_of_sorted(sizes[:near]), floor)
            if renewed >= (1 - 1e-6) * scale:
                break
            scale = renewed
        scales[q] = scale
    return scales


def _of_sorted(sizes: HostArray) -> float:
    n = len(sizes)
    if n == 0:
        return LEAST
    return max(NORMAL_MAD * 0.5 * float(sizes[(n - 1) // 2] + sizes[n // 2]), LEAST)


def far(errors: HostArray, scales: HostArray) -> HostArray:
    """Return distances from zero in robust standard deviations, over the last axis.

    Parameters
    ----------
    errors : array of shape (..., n_outputs)
        Errors.
    scales : array of shape (n_outputs,)
        One standard deviation of each output.

    Returns
    -------
    array of shape (...)
        As `scale.distances` has them.
    """
    scaled = np.abs(errors / scales)
    if len(scales) == 1:
        return np.minimum(scaled[..., 0], 1e18)
    scaled = np.minimum(scaled, 1e18)
    return shrinking(len(scales)) * np.sqrt(np.sum(scaled * scaled, axis=-1))


def inlier_weight(distance: HostArray) -> HostArray:
    """Return how far rows at given distances are believed: Geman and McClure's curve."""
    return geman_mcclure(distance)


def trimmed_mean(sizes: HostArray, share: float) -> HostArray:
    """Return the mean of the smallest part of the sizes, over the first axis.

    Parameters
    ----------
    sizes : array of shape (n_rows, ...)
        Sizes of errors.
    share : float
        Which part of the rows counts.

    Returns
    -------
    array of shape (...)
        What the largest ones are makes no difference.
    """
    count = max(1, int(share * len(sizes)))
    return np.mean(np.sort(sizes, axis=0)[:count], axis=0)


def in_runs(errors: HostArray) -> HostArray:
    """Return which rows stand in a run of rows that are off in the same way.

    Parameters
    ----------
    errors : array of shape (n_rows, n_columns)
        Errors in robust standard deviations, each column for itself.

    Returns
    -------
    bool array of shape (n_rows, n_columns)
        None where there are fewer rows than a run has.
    """
    if len(errors) < RUN:
        return np.zeros(errors.shape, bool)
    windows = np.lib.stride_tricks.sliding_window_view
    return rows_of_runs(np.abs(np.median(windows(errors, RUN, axis=0), axis=-1)) > RUN_OFF)


def rows_of_runs(starts: HostArray) -> HostArray:
    """Return which rows stand in a run.

    Parameters
    ----------
    starts : bool array of shape (n_rows - RUN + 1, ...)
        Whether a run begins at a row.

    Returns
    -------
    bool array of shape (n_rows, ...)
        Whether one began there or at one of the rows before that it reaches.
    """
    around = [(RUN - 1, RUN - 1)] + [(0, 0)] * (starts.ndim - 1)
    padded = np.pad(starts, around)
    return np.any(np.lib.stride_tricks.sliding_window_view(padded, RUN, axis=0), axis=-1)
