"""How right residuals are spread, wrong ones taken off: what intervals are made of.

Of the rows at some distance a part is wrong. Counting each row by its probability to be right asks
a lot of the assumed shape of right rows: its tails are heavy to spare right rows a flag, and wrong
rows in the shoulders then pass for right. The density of wrong rows is the surer part: they lie
far out as near. So what they are expected to have is taken off each side's count of all rows, as
far out as right rows are to be found.
"""

from __future__ import annotations

import numpy as np

from .arrays import HostArray
from .mixture import BINS, CENTRES, UNIT, Kinds

EDGES = np.expm1(UNIT * np.arange(BINS + 1))
"""Distances between which bins lie."""

HARDLY_RIGHT = 0.8
"""Probability to be wrong beyond which no right row is looked for. On 42 cells of four development
draws coverage was off by 1.7 points (root mean square); with a half and with 0.9 by 1.8 and 1.9,
by counting rows by their probability 2.3."""

QUANTILES = (np.arange(2000) + 0.5) / 2000
"""Shares at which the distribution of right rows is kept. By argument: intervals of 99.9 % still
lie between two of them."""


def right_quantiles(
    asked: HostArray, known: HostArray, wrong: HostArray, kinds: Kinds, units: tuple[float, float]
) -> HostArray:
    """Return the quantiles of the residuals of right rows.

    Parameters
    ----------
    asked : array of shape (2, n_bins)
        Weight of the rows in each bin of the distance, below and above zero.
    known : array of shape (2, n_bins)
        That of rows which are known to be right.
    wrong : array of shape (2,)
        Weight of the wrong rows on either side, as far as they are told from others.
    kinds : Kinds
        What right and wrong rows look like.
    units : tuple of float
        What distances are measured by on either side.

    Returns
    -------
    array of shape (2000,)
        From the smallest to the largest.
    """
    _, density = kinds.densities(CENTRES)
    expected = density * np.diff(EDGES) * asked.sum()
    shares = wrong / max(float(wrong.sum()), 1e-300)
    last = int(np.searchsorted(kinds.probability_wrong(CENTRES), HARDLY_RIGHT))
    reached = []
    for side in range(2):
        left = np.cumsum(asked[side] - shares[side] * expected)
        # Chance may take off more than there is; what was counted nearer stays counted.
        left = np.maximum.accumulate(np.maximum(left, 0.0))
        left[last:] = left[last - 1] if last else 0.0
        reached.append(np.concatenate([[0.0], left + np.cumsum(known[side])]))
    below, above = reached
    places = np.concatenate([-units[0] * EDGES[:0:-1], units[1] * EDGES])
    mass = np.concatenate([below[-1] - below[:0:-1], below[-1] + above])
    return np.interp(QUANTILES * mass[-1], mass, places)
