"""Which rows are not believed: against what they should have been, and when they came."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..core.arrays import HostArray
from ._canvas import INK, STRANGE, TRUST, axes, dot_style, evenly, line_style
from ._judgement import judged_rows, one_output

KINDS = ("predictions", "order")


class SuspectRowsDisplay:
    """Rows coloured by how far they are believed, the suspect ones ringed.

    Parameters
    ----------
    observed, expected : array of shape (n_rows,)
        Targets as they came, and as the model would have them.
    inlier_weight : array of shape (n_rows,)
        How far each row is believed, between 0 and 1.
    outliers : bool array of shape (n_rows,)
        Suspect rows.
    time : array of shape (n_rows,) or None
        When each row came, numbers or dates; None takes their order.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    scatter_ : matplotlib PathCollection
        The rows.
    rings_ : matplotlib PathCollection
        The rings around suspect rows.
    line_ : matplotlib Line2D or None
        Where observed equals expected; None over time.
    colorbar_ : matplotlib Colorbar or None
        What the colours mean; None over time, where the height says it.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import RSCKDERegressor
    >>> from robustscn.plots import SuspectRowsDisplay
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=200)
    >>> y[::10] += 3.0
    >>> model = RSCKDERegressor(max_nodes=10, random_state=0).fit(X, y)
    >>> display = SuspectRowsDisplay.from_estimator(model, X, y)
    >>> len(display.rings_.get_offsets())
    20
    """

    def __init__(
        self,
        *,
        observed: Any,
        expected: Any,
        inlier_weight: Any,
        outliers: Any,
        time: Any = None,
    ) -> None:
        self.observed = observed
        self.expected = expected
        self.inlier_weight = inlier_weight
        self.outliers = outliers
        self.time = time

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "predictions",
        subsample: int | None = 5_000,
        scatter_kwargs: dict[str, Any] | None = None,
        ring_kwargs: dict[str, Any] | None = None,
        line_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the rows.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.
        kind : {"predictions", "order"}
            Observed against expected, or inlier weights over time or row order, where a failing
            sensor shows as a stripe.
        subsample : int or None
            Believed rows drawn at most, evenly chosen; suspect rows are always drawn. None
            draws every row.
        scatter_kwargs, ring_kwargs, line_kwargs : dict or None
            Keywords for matplotlib's `scatter` of the rows and of the rings, and for `plot`.

        Returns
        -------
        SuspectRowsDisplay
            Itself.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        ax = axes("SuspectRowsDisplay.plot", ax)
        weight, suspect = np.asarray(self.inlier_weight), np.asarray(self.outliers, dtype=bool)
        shown = _shown(suspect, subsample)
        across, up = self._places(kind)
        dots: dict[str, Any] = {"s": 12}
        if not {"c", "color"} & set(scatter_kwargs or {}):
            dots |= {"c": weight[shown], "cmap": TRUST, "vmin": 0.0, "vmax": 1.0}
        self.line_ = self.colorbar_ = None
        self.scatter_ = ax.scatter(across[shown], up[shown], **dot_style(dots, scatter_kwargs))
        rings = {"s": 45, "facecolors": "none", "edgecolors": STRANGE, "linewidths": 0.9}
        self.rings_ = ax.scatter(
            across[suspect],
            up[suspect],
            label=f"{suspect.sum()} of {len(suspect)} rows suspect",
            **dot_style(rings, ring_kwargs),
        )
        if kind == "predictions":
            self._draw_diagonal(ax, across, up, line_kwargs)
        else:
            where = "row" if self.time is None else "time"
            ax.set(xlabel=where, ylabel="inlier weight", ylim=(-0.03, 1.05))
        # Above the rows, of which there is one in every corner.
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
        ax.legend(frameon=False, fontsize="small", **place)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _places(self, kind: str) -> tuple[HostArray, HostArray]:
        if kind == "predictions":
            return np.asarray(self.expected), np.asarray(self.observed)
        weight = np.asarray(self.inlier_weight)
        time = np.arange(len(weight)) if self.time is None else np.asarray(self.time)
        if len(time) != len(weight):
            raise ValueError(f"time has {len(time)} entries for {len(weight)} rows")
        return time, weight

    def _draw_diagonal(
        self, ax: Any, across: HostArray, up: HostArray, given: dict[str, Any] | None
    ) -> None:
        ends = [min(across.min(), up.min()), max(across.max(), up.max())]
        style = line_style({"color": INK, "lw": 0.9, "ls": "--", "zorder": 0}, given)
        self.line_ = ax.plot(ends, ends, **style)[0]
        if self.scatter_.get_array() is not None:  # the caller may have asked for one colour
            self.colorbar_ = ax.figure.colorbar(self.scatter_, ax=ax, label="inlier weight")
        ax.set(xlabel="expected", ylabel="observed")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        time: Any = None,
        output: int = 0,
        **kwargs: Any,
    ) -> Self:
        """Draw the training rows of a robust estimator as it judged them.

        What was expected of a row is `expected_`: for RobustSCNRegressor the prediction of
        networks that have not seen its target, which `predict` does not give.

        Parameters
        ----------
        estimator : estimator
            A fitted robust estimator, or a pipeline that ends in one.
        X, y : array-like or None
            The training rows. They are only counted: the estimator keeps what it needs.
        time : array-like of shape (n_rows,) or None
            When each row came, numbers or dates; None takes their order.
        output : int
            Which output, where there are several.
        **kwargs : dict
            For `plot`.

        Returns
        -------
        SuspectRowsDisplay
            Drawn.
        """
        judged = judged_rows(estimator, X, y)
        display = cls(
            observed=one_output(judged.expected + judged.residuals, output),
            expected=one_output(judged.expected, output),
            inlier_weight=judged.inlier_weight,
            outliers=judged.outliers,
            time=time,
        )
        return display.plot(**kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        inlier_weight: Any,
        outliers: Any,
        time: Any = None,
        output: int = 0,
        **kwargs: Any,
    ) -> Self:
        """Draw any rows whose inlier weights are known.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Observed and predicted targets.
        inlier_weight : array-like of shape (n_rows,)
            How far each row is believed, between 0 and 1.
        outliers : bool array-like of shape (n_rows,)
            Suspect rows.
        time : array-like of shape (n_rows,) or None
            When each row came, numbers or dates; None takes their order.
        output : int
            Which output, where there are several.
        **kwargs : dict
            For `plot`.

        Returns
        -------
        SuspectRowsDisplay
            Drawn.
        """
        display = cls(
            observed=one_output(y_true, output),
            expected=one_output(y_pred, output),
            inlier_weight=inlier_weight,
            outliers=outliers,
            time=time,
        )
        return display.plot(**kwargs)


def _shown(suspect: HostArray, subsample: int | None) -> HostArray:
    """Return the rows to draw, suspect ones last so that none is hidden."""
    believed = np.flatnonzero(~suspect)
    return np.concatenate([believed[evenly(len(believed), subsample)], np.flatnonzero(suspect)])
