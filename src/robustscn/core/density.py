"""Kernel density of the residuals at the residuals: how ordinary each row's error is.

    density_i = 1 / (bandwidth V) sum_k v_k K(|e_i - e_k| / bandwidth),  V = sum_k v_k

with K the standard normal density and v the callers' weights (a weight of 2 is a row twice).
Up to `EXACT_ROWS` rows the sums are formed as they stand. Beyond, one output is binned on a
grid of eight points for each bandwidth, O(N + grid): the error is under 0.3 % of the largest
density, and under 0.02 % where the density is smooth. Several outputs are summed over about
`SAMPLED_CENTRES` rows taken at random: where N is large the error at the peak of m normal
outputs has a standard deviation of sqrt(2^(-m/2) h^-m / SAMPLED_CENTRES) of it, with h the
bandwidth in standard deviations; 7 % for two outputs at the h of `sampled_count`.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, HostArray, histogram, like, namespace
from .rows import Column, Rows, Totals, sample, taken
from .statistics import outermost, quantile, total_weight

EXACT_ROWS = 2048
"""Rows up to which all kernels are summed: four million at a time, some hundredths of a second.
Changes time, and densities by no more than the grid below."""

SAMPLED_CENTRES = 2048
"""Rows whose kernels are summed for several outputs; the error that this makes stands above."""

POINTS_PER_BANDWIDTH = 8
"""Points of the grid for each bandwidth: the error that this makes stands above."""

FURTHEST_BANDWIDTHS = 2.0**16
"""Bandwidths from the median beyond which the grid does not reach, which bounds it by a million
points: out there a row has no neighbour but itself."""

_PEAK = float(1.0 / np.sqrt(2.0 * np.pi))
"""The standard normal density at zero."""


def density(
    rows: Rows,
    residuals: Column,
    weight: Column,
    bandwidth: float,
    *,
    exclude_self: bool = False,
) -> Column:
    """Return the kernel density of the residuals at each residual.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    residuals : column of shape (n_rows, n_outputs)
        Residuals.
    weight : column of shape (n_rows,)
        How often each row counts; none negative, not all zero.
    bandwidth : float
        Positive.
    exclude_self : bool
        Leave each row's own kernel out of its density (one repetition of it: a row of weight
        2 still sees its copy), so that a lone outlier has none.

    Returns
    -------
    column of shape (n_rows,)
        The densities.
    """
    share = 1.0
    if rows.n_rows <= EXACT_ROWS:
        centres = _gathered(rows, residuals, weight)
        total = _summed(rows, residuals, weight, bandwidth, centres)
    elif residuals.shape[1] == 1:
        total = binned(rows, residuals, weight, bandwidth)
    else:
        share = SAMPLED_CENTRES / rows.n_rows
        centres = _gathered(rows, residuals, weight, share)
        total = _summed(rows, residuals, weight, bandwidth, centres)
    return _without_own(rows, total, weight, bandwidth, share) if exclude_self else total


def sampled_count(rows: Rows, n_outputs: int, count: float) -> float:
    """Return the number of rows that a bandwidth should reckon with: those that are summed."""
    sampled = rows.n_rows > EXACT_ROWS and n_outputs > 1
    return min(count, SAMPLED_CENTRES) if sampled else count


def _without_own(
    rows: Rows, total: Column, weight: Column, bandwidth: float, share: float
) -> Column:
    """Return the densities less each centre's own kernel: one repetition's, at most."""
    position = rows.positions(weight)

    def centre_weight(w: Array, at: Array) -> Array:
        xp = namespace(w)
        return xp.where(taken(at, share), w, xp.zeros_like(w))

    (count,) = rows.reduce(
        lambda w, at: (namespace(w).sum(centre_weight(w, at)),), weight, position
    )
    kernel = _PEAK / (bandwidth * max(float(count), 1e-300))

    def rest(d: Array, w: Array, at: Array) -> Array:
        xp = namespace(d)
        return xp.clip(d - kernel * xp.clip(centre_weight(w, at), None, 1.0), 0.0, None)

    return rows.map(rest, total, weight, position)


def _gathered(
    rows: Rows, residuals: Column, weight: Column, share: float = 1.0
) -> tuple[HostArray, HostArray]:
    """Return a share of the residuals and their weights, on the host."""
    centres, counts = sample(rows, share, residuals, weight)
    return centres, counts


def _summed(
    rows: Rows,
    residuals: Column,
    weight: Column,
    bandwidth: float,
    gathered: tuple[HostArray, HostArray],
) -> Column:
    """Return the densities by sums over the gathered centres."""
    centres, counts = gathered
    count = float(counts.sum())
    if count == 0:  # every sampled row has weight zero
        return rows.map(lambda w: namespace(w).ones_like(w), weight)

    def sums(e: Array) -> Array:
        xp = namespace(e)
        squared = 0.0
        for q in range(centres.shape[1]):
            difference = (e[:, q][:, None] - like(centres[:, q], e)[None, :]) / bandwidth
            difference = xp.clip(difference, -1e3, 1e3)  # far enough, and its square is finite
            squared = squared + difference * difference
        return xp.exp(-0.5 * squared) @ like(counts * (_PEAK / (bandwidth * count)), e)

    return rows.map(sums, residuals, width=2 * len(counts))


def binned(rows: Rows, residuals: Column, weight: Column, bandwidth: float) -> Column:
    """Return the densities of one output by linear binning, convolution and interpolation.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    residuals : column of shape (n_rows, 1)
        Residuals.
    weight : column of shape (n_rows,)
        How often each row counts.
    bandwidth : float
        Positive.

    Returns
    -------
    column of shape (n_rows,)
        The densities, to 0.3 % of the largest.
    """
    spacing = bandwidth / POINTS_PER_BANDWIDTH
    low, size = _grid(rows, residuals, weight, bandwidth, spacing)

    def place(e: Array) -> tuple[Array, Array, Array]:
        xp = namespace(e)
        position = (e[:, 0] - low) / spacing
        inside = (position >= 0) & (position <= size - 1)
        position = xp.where(inside, position, xp.zeros_like(position))
        cell = xp.clip(xp.floor(position), 0.0, size - 2.0)
        return xp.astype(cell, xp.int64), position - cell, xp.astype(inside, e.dtype)

    def masses(e: Array, w: Array) -> Totals:
        cell, share, inside = place(e)
        mass = w * inside
        return (
            histogram(cell, mass * (1 - share), size) + histogram(cell + 1, mass * share, size),
        )

    (mass,) = rows.reduce(masses, residuals, weight)
    count = total_weight(rows, weight)
    values = _convolved(mass, bandwidth, spacing) / float(count)

    def interpolated(e: Array) -> Array:
        xp = namespace(e)
        cell, share, inside = place(e)
        table = like(values, e)
        left, right = xp.take(table, cell), xp.take(table, cell + 1)
        return inside * (left + share * (right - left))

    return rows.map(interpolated, residuals)


def _grid(
    rows: Rows, residuals: Column, weight: Column, bandwidth: float, spacing: float
) -> tuple[float, int]:
    """Return the grid's first point and its size.

    Residuals further than `FURTHEST_BANDWIDTHS` from the median lie outside: they count as
    having no neighbours, which keeps the grid small beside one target of 1e6.
    """

    def extent(e: Array) -> Totals:
        xp = namespace(e)
        return xp.min(e), xp.max(e)

    low, high = (float(v) for v in rows.reduce(extent, residuals, combine=outermost))
    middle = quantile(rows, rows.map(lambda e: e[:, 0], residuals), weight, 0.5)
    reach = FURTHEST_BANDWIDTHS * bandwidth
    low, high = max(low, middle - reach), min(high, middle + reach)
    if low >= high:
        low, high = low - bandwidth, low + bandwidth
    return low, int(np.ceil((high - low) / spacing)) + 2


def _convolved(mass: HostArray, bandwidth: float, spacing: float) -> HostArray:
    # Binning and interpolating each smooth by a triangle of variance spacing^2 / 6; the kernel
    # is made narrower by as much, which removes the leading error.
    width = np.sqrt(bandwidth**2 - spacing**2 / 3.0)
    half = int(np.ceil(9.0 * width / spacing))
    offsets = np.arange(-half, half + 1) * (spacing / width)
    kernel = _PEAK / width * np.exp(-0.5 * offsets**2)
    return np.convolve(mass, kernel)[half : half + len(mass)]


def silverman(scale: float, count: float) -> float:
    """Return the bandwidth 1.06 scale count^(-1/5)."""
    return 1.06 * scale * count**-0.2
