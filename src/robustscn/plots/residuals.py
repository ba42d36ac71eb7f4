"""How residuals are spread, and how far rows with such residuals are believed."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..core.arrays import HostArray
from ..core.density import silverman
from ..core.scale import NORMAL_MAD
from ._canvas import INK, PLAIN, STRANGE, axes, evenly, line_style
from ._judgement import judged_rows, one_output

GRID_POINTS = 2001
UNITS = ("deviations", "y")


class ResidualDensityDisplay:
    """Histogram and kernel density of residuals, with the rows' inlier weights over them.

    Parameters
    ----------
    residuals : array of shape (n_rows,)
        Observed less expected.
    scale : float
        One robust standard deviation, in the unit of the residuals.
    inlier_weight : array of shape (n_rows,) or None
        How far each row is believed; None draws no weights.
    outliers : bool array of shape (n_rows,) or None
        Suspect rows, which get a colour of their own.
    one_curve : bool
        Whether weights are a function of these residuals, which a line may join. With several
        outputs they are not: the others count as well.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    bars_ : list of matplotlib BarContainer
        Bars of the believed rows, and of the suspect ones where there are any.
    line_ : matplotlib Line2D
        The kernel density.
    weight_ax_ : matplotlib Axes or None
        The second axis, of the weights.
    weight_line_ : matplotlib Line2D or None
        The weights.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import RSCKDERegressor
    >>> from robustscn.plots import ResidualDensityDisplay
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=200)
    >>> y[::10] += 3.0
    >>> model = RSCKDERegressor(max_nodes=10, random_state=0).fit(X, y)
    >>> display = ResidualDensityDisplay.from_estimator(model)
    >>> display.weight_ax_.get_ylabel()
    'inlier weight'
    """

    def __init__(
        self,
        *,
        residuals: Any,
        scale: float,
        inlier_weight: Any = None,
        outliers: Any = None,
        one_curve: bool = True,
    ) -> None:
        self.residuals = residuals
        self.scale = scale
        self.inlier_weight = inlier_weight
        self.outliers = outliers
        self.one_curve = one_curve

    def plot(
        self,
        ax: Any = None,
        *,
        unit: str = "deviations",
        bins: int = 60,
        limit: float = 8.0,
        bar_kwargs: dict[str, Any] | None = None,
        line_kwargs: dict[str, Any] | None = None,
        weight_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the residuals.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.
        unit : {"deviations", "y"}
            Robust standard deviations, or the unit of y.
        bins : int
            Number of bars.
        limit : float
            Robust standard deviations to either side that are shown; rows beyond are counted
            in the outermost bars.
        bar_kwargs, line_kwargs, weight_kwargs : dict or None
            Keywords for matplotlib's `hist`, and for `plot` of the density and of the weights.

        Returns
        -------
        ResidualDensityDisplay
            Itself.
        """
        ax = axes("ResidualDensityDisplay.plot", ax)
        if unit not in UNITS:
            raise ValueError(f"unit must be one of {', '.join(UNITS)}, got {unit!r}")
        # A scale of zero: more than half of the rows were met exactly.
        scale = max(float(self.scale), np.finfo(np.float64).tiny)
        values = np.asarray(self.residuals, dtype=np.float64)
        one = scale
        if unit == "deviations":
            with np.errstate(over="ignore"):
                values, one = values / scale, 1.0
        edge = limit * one
        shown = np.clip(values, -edge, edge)
        self._draw_bars(ax, shown, np.linspace(-edge, edge, bins + 1), bar_kwargs)
        grid, height = _density(values, edge, silverman(one, len(values)))
        self.line_ = ax.plot(grid, height, **line_style({"color": INK, "lw": 1.5}, line_kwargs))[0]
        words = "robust standard deviations" if unit == "deviations" else "the unit of y"
        ax.set(xlabel=f"residual in {words}{_beyond(values, edge)}", ylabel="density of rows")
        self._draw_weights(ax, shown, weight_kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(
        self, ax: Any, shown: HostArray, edges: HostArray, given: dict[str, Any] | None
    ) -> None:
        suspect = np.zeros(len(shown), dtype=bool)
        if self.outliers is not None:
            suspect = np.asarray(self.outliers, dtype=bool)
        parts = [shown[~suspect], shown[suspect]] if suspect.any() else [shown]
        default: dict[str, Any] = {
            "density": True,
            "stacked": True,
            "alpha": 0.6,
            "color": [PLAIN, STRANGE][: len(parts)],
            "label": ["believed rows", "flagged rows"][: len(parts)],
        }
        bars = ax.hist(parts, bins=edges, **{**default, **(given or {})})[2]
        self.bars_ = list(bars) if len(parts) > 1 else [bars]
        if len(parts) > 1:
            ax.legend(loc="upper left", frameon=False, fontsize="small")

    def _draw_weights(self, ax: Any, shown: HostArray, given: dict[str, Any] | None) -> None:
        self.weight_ax_ = self.weight_line_ = None
        if self.inlier_weight is None:
            return
        order = np.argsort(shown, kind="stable")
        order = order[evenly(len(order), GRID_POINTS)]
        default = {"color": STRANGE, "marker": ".", "ms": 3, "lw": 0.8, "alpha": 0.8}
        default["ls"] = "-" if self.one_curve else "none"
        self.weight_ax_ = ax.twinx()
        self.weight_line_ = self.weight_ax_.plot(
            shown[order], np.asarray(self.inlier_weight)[order], **line_style(default, given)
        )[0]
        self.weight_ax_.set(ylim=(-0.02, 1.05), ylabel="inlier weight")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, output: int = 0, **kwargs: Any
    ) -> Self:
        """Draw the residuals by which a robust estimator judged its training rows.

        Parameters
        ----------
        estimator : estimator
            A fitted robust estimator, or a pipeline that ends in one.
        X, y : array-like or None
            The training rows. They are only counted: the estimator keeps what it needs.
        output : int
            Which output, where there are several.
        **kwargs : dict
            For `plot`.

        Returns
        -------
        ResidualDensityDisplay
            Drawn.
        """
        judged = judged_rows(estimator, X, y)
        display = cls(
            residuals=one_output(judged.residuals, output),
            scale=float(judged.scale[output]),
            inlier_weight=judged.inlier_weight,
            outliers=judged.outliers,
            one_curve=len(judged.scale) == 1,
        )
        return display.plot(**kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        scale: float | None = None,
        inlier_weight: Any = None,
        outliers: Any = None,
        output: int = 0,
        **kwargs: Any,
    ) -> Self:
        """Draw the residuals of any rows and predictions.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Observed and predicted targets.
        scale : float or None
            One robust standard deviation; None takes 1.4826 times the median absolute residual.
        inlier_weight, outliers : array-like of shape (n_rows,) or None
            How far each row is believed and which are suspect, where that is known.
        output : int
            Which output, where there are several.
        **kwargs : dict
            For `plot`.

        Returns
        -------
        ResidualDensityDisplay
            Drawn.
        """
        residuals = one_output(y_true, output) - one_output(y_pred, output)
        if scale is None:
            scale = NORMAL_MAD * float(np.median(np.abs(residuals))) or 1.0
        display = cls(
            residuals=residuals, scale=scale, inlier_weight=inlier_weight, outliers=outliers
        )
        return display.plot(**kwargs)


def _beyond(values: HostArray, edge: float) -> str:
    count = int(np.sum(np.abs(values) > edge))
    return f"\n({count} beyond, counted in the outermost bars)" if count else ""


def _density(values: HostArray, edge: float, bandwidth: float) -> tuple[HostArray, HostArray]:
    """Return a grid and the kernel density there: rows are counted on the grid, then smoothed.

    The grid reaches four bandwidths further than what is shown, whose rows still count there.
    """
    reach = edge + 4.0 * bandwidth
    step = 2.0 * reach / (GRID_POINTS - 1)
    edges = np.linspace(-reach - step / 2, reach + step / 2, GRID_POINTS + 1)
    counts = np.histogram(values, edges)[0].astype(np.float64)
    height = gaussian_filter1d(counts, bandwidth / step, mode="constant", truncate=5.0)
    grid = np.linspace(-reach, reach, GRID_POINTS)
    inside = np.abs(grid) <= edge
    return grid[inside], height[inside] / (len(values) * step)
