"""Error against rounds of reweighting, with the round that was kept."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..core.arrays import to_host64
from ..estimators import SCNRegressor
from ..judgement import fitted_model
from ._canvas import INK, STRANGE, axes, explained, line_style


class RoundsDisplay:
    """Error after each round of reweighting: the history of a robust fit.

    Parameters
    ----------
    errors : array of shape (n_rounds,)
        Error of each round, in the unit of y.
    kept : int
        The round that was kept, counted from one.
    reason : str
        Why it was kept; the title, where it is not empty.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The errors.
    kept_ : matplotlib Line2D
        The mark of the round that was kept.

    Examples
    --------
    >>> from robustscn.plots import RoundsDisplay
    >>> display = RoundsDisplay(errors=[0.4, 0.2, 0.25], kept=2).plot()
    >>> display.kept_.get_xydata().tolist()
    [[2.0, 0.2]]
    """

    def __init__(self, *, errors: Any, kept: int, reason: str = "") -> None:
        self.errors = errors
        self.kept = kept
        self.reason = reason

    def plot(
        self,
        ax: Any = None,
        *,
        line_kwargs: dict[str, Any] | None = None,
        kept_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the history.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.
        line_kwargs, kept_kwargs : dict or None
            Keywords for matplotlib's `plot` of the errors, and of the mark.

        Returns
        -------
        RoundsDisplay
            Itself.
        """
        ax = axes("RoundsDisplay.plot", ax)
        errors = np.asarray(self.errors, dtype=np.float64)
        style = line_style({"color": INK, "marker": "o", "ms": 4, "lw": 1.2}, line_kwargs)
        self.line_ = ax.plot(np.arange(1, len(errors) + 1), errors, **style)[0]
        mark = {"color": STRANGE, "marker": "o", "ms": 9, "mfc": "none", "mew": 1.8, "ls": "none"}
        self.kept_ = ax.plot(
            [self.kept],
            [errors[self.kept - 1]],
            label=f"round {self.kept} was kept",
            **line_style(mark, kept_kwargs),
        )[0]
        ax.set(xlabel="round", ylabel="error in the unit of y")
        ax.xaxis.get_major_locator().set_params(integer=True)
        explained(ax, self.reason)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(cls, estimator: Any, **kwargs: Any) -> Self:
        """Draw the rounds of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted RobustSCNRegressor, ImprovedRVFLRegressor or PRNNRWRegressor, or a pipeline
            that ends in one.
        **kwargs : dict
            For `plot`.

        Returns
        -------
        RoundsDisplay
            Drawn.
        """
        model = fitted_model(estimator)
        if not hasattr(model, "n_rounds_") or isinstance(model, SCNRegressor):
            raise TypeError(
                f"{type(model).__name__} keeps no errors of rounds. RobustSCNRegressor, "
                "ImprovedRVFLRegressor and PRNNRWRegressor do; for networks that grow see "
                "GrowthDisplay"
            )
        display = cls(
            errors=to_host64(model.error_path_), kept=model.n_rounds_, reason=model.stop_reason_
        )
        return display.plot(**kwargs)
