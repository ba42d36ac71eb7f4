"""Small pictures of columns: a line of all rows in order, with what is odd about them marked.

They are drawn as SVG in the page itself, so that they are there without any script.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 320.0, 56.0
MOST_POINTS = 320


def spark(values: NDArray[np.float64], odd: NDArray[np.bool_]) -> str:
    """Return a small picture of a column.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Numbers and NaN, in order.
    odd : bool ndarray of shape (n_rows,)
        Rows to be marked.

    Returns
    -------
    str
        An SVG element.
    """
    known = np.isfinite(values)
    if not known.any():
        return ""
    # The rows that matter set the height, unless a mark for nothing would flatten all others.
    usual = values[known & ~odd] if (known & ~odd).any() else values[known]
    low, high = np.quantile(usual, [0.005, 0.995])
    reach = 0.35 * (high - low) or 1.0
    low, high = low - reach, high + reach
    stride = max(1, len(values) // MOST_POINTS)
    chosen = np.unique(
        np.concatenate([np.arange(0, len(values), stride), np.flatnonzero(odd)[:MOST_POINTS]])
    )
    chosen = chosen[known[chosen]]
    x = WIDTH * chosen / max(1, len(values) - 1)
    height = np.clip((values[chosen] - low) / (high - low), 0.0, 1.0)
    y = 2 + (HEIGHT - 4) * (1 - height)
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    marks = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2"/>'
        for a, b, strange in zip(x, y, odd[chosen], strict=True)
        if strange
    )
    return (
        f'<svg class="spark" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" aria-hidden="true">'
        f'<polyline points="{line}"/>{marks}</svg>'
    )
