"""Between what right targets lie on a stream: its latest errors, judged by what is known since.

When a target comes, a wrong row and a row of a changed world look alike: far off. Later they do
not. A row is taken for right as it is near to what was said of it, or to what any model says of it
by now, where its error stands in no run of errors that are off in the same way. What is not right
counts too: by how far the prediction was from what is said of the row by now. A prediction that
had followed a burst was wrong, although what was measured then agreed with it.

The latest rows count most, so that widths follow the noise. Ends are as far from the median of the
errors on either side: quantiles of each side by itself would be as far as what was wrong as soon as
that was a twentieth.
"""

from __future__ import annotations

import numpy as np

from .arrays import HostArray
from .memory import BLOCK, LONG, Memory
from .mixture import BINS, bin_of, kinds_in
from .running import in_runs, running_scales, trimmed_mean

LATELY = 100.0
"""Rows after which an error counts half for intervals. Measured on 15 streams of development in
five conditions: from 75 to 200 clean targets inside are as near to the nominal share, and widths
the same within a tenth; when noise doubles, intervals follow the sooner."""

LEVELS = 41
"""Rows whose median error is the level of one of them, in the middle, at the beginning or at the
end: more than two bursts of twenty rows, and few enough to follow what drifts. By argument."""

BELIEVED = 0.6
"""Share of rows by which models are compared: as many are in no burst. By argument, as `COUNTED`
in anew.py."""

ATOMS = 1.29 * np.sqrt(3.0) * np.array([-1.0, 0.0, 1.0]), np.array([1.0, 4.0, 1.0]) / 6.0
"""What stands for noise where none was measured: three points, in robust standard deviations, and
their shares, as three nodes stand for the normal distribution. 1.29 is the standard deviation of
Student's t with four degrees of freedom in robust ones. Measured on streams of development: 1 has
one in a hundred targets less inside, 1.5 one more."""


def ends(memory: Memory, coverage: float) -> HostArray | None:
    """Return what right targets lie between, less the prediction.

    Parameters
    ----------
    memory : Memory
        What is known.
    coverage : float
        Share of right targets that should lie inside.

    Returns
    -------
    array of shape (2, n_outputs) or None
        The median of the errors, and as far to either side as holds that share; None where there
        are hardly any.
    """
    counted = np.flatnonzero(memory.kept.weight > 0)[-LONG:]  # not what was passed over as stuck
    n = len(counted)
    if n < 2 * BLOCK:
        return None
    said = memory.said[-n:]
    age = np.arange(n)[::-1]
    mass = memory.kept.weight[counted] * 2.0 ** (-age / LATELY)
    if not memory.plan.robust:
        return np.stack([around(error, mass, mass, coverage) for error in said.T], axis=1)
    known = _known(memory, counted)
    found = []
    for q in range(said.shape[1]):
        right = probability_right(said[:, q], known[..., q])
        errors, share = with_imputed(said[:, q], residual(known[..., q]), right)
        found.append(around(errors, share * np.tile(mass, len(share) // n), mass, coverage))
    return np.stack(found, axis=1)


def _known(memory: Memory, rows: HostArray) -> HostArray:
    """Return how far rows are from what each model says by now, shape (n, n_models, n_outputs)."""
    kept = memory.kept
    X, y = kept.X[rows], kept.y[rows]
    columns = memory.columns(X, kept.given[rows])
    weights = [memory.slow.output_weights, memory.fast.output_weights, *memory.archive]
    errors = [y - columns @ each for each in weights]
    if memory.line is not None:
        errors.append(y - memory.line.says(X))
    return np.stack(errors, axis=1)


def probability_right(said: HostArray, known: HostArray) -> HostArray:
    """Return how probable it is that each row is right.

    Parameters
    ----------
    said : array of shape (n_rows,)
        Errors of what was said of the rows before their targets came.
    known : array of shape (n_rows, n_models)
        How far they are from what models say by now.

    Returns
    -------
    array of shape (n_rows,)
        Zero where the row stands in a run of errors that are off in the same way, whichever model
        is asked.
    """
    scales = running_scales(said[:, None])
    sizes = np.abs(said) / scales
    kinds = kinds_in(np.bincount(bin_of(sizes), minlength=BINS) / len(sizes))
    errors = np.concatenate([said[:, None], known], axis=1) / scales
    nearest = np.min(np.where(in_runs(errors), np.inf, np.abs(errors)), axis=1)
    right = 1.0 - kinds.probability_wrong(np.where(np.isfinite(nearest), nearest, 0.0))
    return np.where(np.isfinite(nearest), right, 0.0)


def residual(known: HostArray) -> HostArray:
    """Return how far rows are from the best that is known of them.

    Parameters
    ----------
    known : array of shape (n_rows, n_models)
        How far they are from what models say by now.

    Returns
    -------
    array of shape (n_rows,)
        From the model that most rows are near to, which may drift: its level may be taken off.
    """
    n = len(known)
    levels = [np.zeros_like(known)]
    if n >= LEVELS:
        medians = np.median(np.lib.stride_tricks.sliding_window_view(known, LEVELS, axis=0), axis=2)
        first = (LEVELS // 2, 0, LEVELS - 1)
        levels += [medians[np.clip(np.arange(n) - k, 0, len(medians) - 1)] for k in first]
    errors = np.concatenate([known - level for level in levels], axis=1)
    return errors[:, np.argmin(trimmed_mean(np.abs(errors), BELIEVED))]


def with_imputed(
    said: HostArray, residuals: HostArray, right: HostArray
) -> tuple[HostArray, HostArray]:
    """Return errors of what was said as they were or must have been, and the share of each.

    Parameters
    ----------
    said : array of shape (n_rows,)
        Errors of what was said, by the targets that came.
    residuals : array of shape (n_rows,)
        How far these are from the best that is known.
    right : array of shape (n_rows,)
        How probable it is that they are right.

    Returns
    -------
    errors, shares : arrays of shape (4 * n_rows,)
        The errors themselves, as far as targets are right, and those by what is known, with noise.
    """
    noise, parts = ATOMS
    scale = running_scales(residuals[:, None])[0]
    imputed = [said - residuals + scale * each for each in noise]
    return np.concatenate([said, *imputed]), np.concatenate(
        [right, *((1.0 - right) * part for part in parts)]
    )


def around(errors: HostArray, shares: HostArray, mass: HostArray, coverage: float) -> HostArray:
    """Return what a share of errors lies between.

    Parameters
    ----------
    errors, shares : arrays of the same shape
        What counts, and how much.
    mass : array of shape (n_rows,)
        How much each row counts.
    coverage : float
        Which share.

    Returns
    -------
    array of shape (2,)
        As far below their median as above it.
    """
    middle = quantile(errors, shares, mass, 0.5)
    reach = quantile(np.abs(errors - middle), shares, mass, coverage)
    return np.array([middle - reach, middle + reach])


def quantile(errors: HostArray, shares: HostArray, mass: HostArray, at: float) -> float:
    """Return a quantile.

    Parameters
    ----------
    errors, shares : arrays of the same shape
        What counts, and how much.
    mass : array of shape (n_rows,)
        How much each row counts.
    at : float
        Share of what lies below.

    Returns
    -------
    float
        Of n errors that count alike each stands between two of n + 1 shares, as if one more were to
        come.
    """
    order = np.argsort(errors, kind="stable")
    below = np.cumsum(shares[order])
    rows = float(np.sum(mass)) ** 2 / float(mass @ mass)
    return float(np.interp(at, below / (below[-1] * (1.0 + 1.0 / rows)), errors[order]))
