"""Error against nodes: how networks learned while they grew, and where they stopped."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..estimators import SCNRegressor
from ..judgement import fitted_model
from ._canvas import INK, PALE, STRANGE, axes, explained, line_style


class GrowthDisplay:
    """Error of a growing network against its size, with the size that was kept.

    Parameters
    ----------
    nodes : array of shape (n_steps,)
        Number of nodes after each step.
    training_error : array of shape (n_steps,)
        Error on the rows the network grew on, in the unit of y.
    other_error : array of shape (n_steps,) or None
        Error on rows it did not grow on.
    other_name : str
        What those rows are, in the legend.
    kept : int
        Number of nodes that was kept, or with which growth ended.
    reason : str
        Why; the title, where it is not empty.
    unit : str
        What is counted: nodes, or steps of several.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The training error.
    other_line_ : matplotlib Line2D or None
        The error on other rows.
    kept_ : matplotlib Line2D
        The mark of the size that was kept.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import SCNRegressor
    >>> from robustscn.plots import GrowthDisplay
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> model = SCNRegressor(max_nodes=8, random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> GrowthDisplay.from_estimator(model).kept
    8
    """

    def __init__(
        self,
        *,
        nodes: Any,
        training_error: Any,
        kept: int,
        other_error: Any = None,
        other_name: str = "left-out rows",
        reason: str = "",
        unit: str = "nodes",
    ) -> None:
        self.nodes = nodes
        self.training_error = training_error
        self.kept = kept
        self.other_error = other_error
        self.other_name = other_name
        self.reason = reason
        self.unit = unit

    def plot(
        self,
        ax: Any = None,
        *,
        log: bool = True,
        line_kwargs: dict[str, Any] | None = None,
        other_kwargs: dict[str, Any] | None = None,
        kept_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the growth.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a new figure.
        log : bool
            Whether errors are drawn on a logarithmic axis, unless all are zero.
        line_kwargs, other_kwargs, kept_kwargs : dict or None
            Keywords for matplotlib's `plot` of the training error and of the other one, and
            for `axvline` of the mark.

        Returns
        -------
        GrowthDisplay
            Itself.
        """
        ax = axes("GrowthDisplay.plot", ax)
        style = line_style({"color": PALE, "lw": 1.5}, line_kwargs)
        self.line_ = ax.plot(self.nodes, self.training_error, label="training rows", **style)[0]
        self.other_line_ = None
        if self.other_error is not None:
            style = line_style({"color": INK, "lw": 1.5}, other_kwargs)
            self.other_line_ = ax.plot(
                self.nodes, self.other_error, label=self.other_name, **style
            )[0]
        style = line_style({"color": STRANGE, "lw": 1.0, "ls": "--"}, kept_kwargs)
        self.kept_ = ax.axvline(self.kept, label=f"{self.kept} {self.unit} kept", **style)
        if log and np.any(np.asarray(self.training_error) > 0):
            ax.set_yscale("log")
        ax.set(xlabel=self.unit, ylabel="error in the unit of y")
        explained(ax, self.reason)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(cls, estimator: Any, **kwargs: Any) -> Self:
        """Draw the growth of a fitted estimator.

        For RobustSCNRegressor errors are means over its networks, whose other rows are those
        each was grown without. For SCNRegressor and RSCKDERegressor the other rows are the
        validation rows, if there were any, and decide what is kept.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator whose networks grow, or a pipeline that ends in one.
        **kwargs : dict
            For `plot`.

        Returns
        -------
        GrowthDisplay
            Drawn.
        """
        model = fitted_model(estimator)
        if hasattr(model, "growth_path_"):
            path = model.growth_path_
            left_out = path["left_out_error"]  # of nothing, where rows were too few to spare any
            display = cls(
                nodes=path["nodes"],
                training_error=path["training_error"],
                other_error=None if np.isnan(left_out).all() else left_out,
                kept=int(path["nodes"][-1]),
            )
        elif isinstance(model, SCNRegressor):
            display = cls(**_of_one_network(model))
        else:
            raise TypeError(
                f"{type(model).__name__} does not grow: its nodes are drawn at once. "
                "RobustSCNRegressor, RSCKDERegressor and SCNRegressor do"
            )
        return display.plot(**kwargs)


def _of_one_network(model: SCNRegressor) -> dict[str, Any]:
    errors, validation = model.error_path_, model.validation_path_
    # A step may add fewer nodes than a block: what is known is the number of steps.
    one_by_one = model.block == 1
    return {
        "nodes": np.arange(1, len(errors) + 1),
        "training_error": errors,
        "other_error": validation if len(validation) else None,
        "other_name": "validation rows",
        "kept": int(np.argmin(validation)) + 1 if len(validation) else len(errors),
        "reason": model.stop_reason_,
        "unit": "nodes" if one_by_one else f"steps of up to {model.block} nodes",
    }
