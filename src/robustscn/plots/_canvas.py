"""What all pictures share: matplotlib where it is installed, axes, colours, thinning."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.arrays import HostArray

PLAIN, STRANGE, INK, PALE = "#4878a8", "#c2371e", "#2f3e4e", "#9aa5b1"
TRUST = "coolwarm_r"
"""Colour map of inlier weights: red for none, blue for full trust."""


def axes(wanted_by: str, ax: Any = None) -> Any:
    """Return the caller's axes or new ones; say how to get matplotlib where it is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{wanted_by} needs matplotlib: pip install 'robustscn[plots]'"
        ) from error
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def explained(ax: Any, reason: str) -> None:
    """Say above the axes why something ended, where that is known, and what is what."""
    if reason:
        ax.set_title(reason, fontsize="small")
    ax.legend(frameon=False, fontsize="small")


def line_style(default: dict[str, Any], given: dict[str, Any] | None) -> dict[str, Any]:
    """Return keywords of a line, the caller's over ours under whichever name they came."""
    from matplotlib.lines import Line2D

    return _style(Line2D, default, given)


def dot_style(default: dict[str, Any], given: dict[str, Any] | None) -> dict[str, Any]:
    """Return keywords of a scatter, the caller's over ours under whichever name they came."""
    from matplotlib.collections import PathCollection

    return _style(PathCollection, default, given)


def _style(artist: Any, default: dict[str, Any], given: dict[str, Any] | None) -> dict[str, Any]:
    from matplotlib.cbook import normalize_kwargs

    return {**normalize_kwargs(default, artist), **normalize_kwargs(given or {}, artist)}


def evenly(count: int, most: int | None) -> HostArray:
    """Return places evenly spread over `count`, no more than `most` of them."""
    if most is not None and most < 1:
        raise ValueError(f"subsample must be None or at least 1, got {most!r}")
    if most is None or count <= most:
        return np.arange(count)
    return np.linspace(0, count - 1, most).round().astype(int)
