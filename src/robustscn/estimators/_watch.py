"""A fit as a tree of tasks that scikit-learn's callbacks are told of: fit -> round -> nodes.

A fit that begins with the fit of another estimator is told of as parts, of which that one is the
first and tells of its own rounds. How much of the work each task is expected to be is told in the
attribute `costs` of the fit's context.

A callback may answer that the level it was told of should end: growing then stops at the next
block of nodes, the round is completed with what there is, and no further round begins. Before
scikit-learn 1.9 there are no callbacks, and nothing is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

from ..core.nodes import Network

Fit = TypeVar("Fit", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # pragma: no cover

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Fit) -> Fit:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Watch", "told_of", "with_callbacks"]


def told_of(inner: Any, outer: Any) -> Any:
    """Return an estimator that tells the callbacks of the one it serves."""
    callbacks = getattr(outer, "_skl_callbacks", ())
    supported = bool(callbacks) and hasattr(inner, "set_callbacks")
    return inner.set_callbacks(*callbacks) if supported else inner


class Watch:
    """Tells the callbacks of an estimator how its fit goes on, and hears when to end it.

    Parameters
    ----------
    estimator : NetworkRegressor
        The estimator being fitted.
    costs : sequence of float
        How long each round, or part, of the fit is expected to take beside the others.
    X, y : arrays
        Its training data.
    closing : float, default=0
        How long what follows the last of them is expected to take.
    """

    def __init__(
        self, estimator: Any, costs: Sequence[float], X: Any, y: Any, closing: float = 0.0
    ) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        self._fit: Any = None
        self._round: Any = None
        self._block = 1
        self._lock = Lock()
        self.ended = False
        if hasattr(estimator, "_init_callback_context"):
            self._fit = estimator._init_callback_context(max_subtasks=len(costs))
            self._fit.costs = (*costs, closing)
            self._fit.call_on_fit_task_begin(estimator=estimator, **self._data)
        self._told = self._fit is not None and bool(getattr(estimator, "_skl_callbacks", ()))

    def begin_round(self, n_steps: int = 0, block: int = 1) -> None:
        """Tell that a round begins, and how many blocks of nodes it adds at most."""
        self._block = block
        if self._told:
            self._round = self._fit.subcontext("round", max_subtasks=n_steps)
            self._round.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    @contextmanager
    def part(self) -> Iterator[None]:
        """Tell that a part of the fit begins and ends, within which others may tell of theirs."""
        if not self._told:
            yield
            return
        part = self._fit.subcontext("part")
        part.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        yield
        part.call_on_fit_task_end(estimator=self._estimator, **self._data)

    def step(self, before: int, after: int) -> bool:
        """Tell that a network grew; return whether to add no more nodes.

        Networks grow at the same time; callbacks are told one thing at a time. A step that adds
        less than a block is told of together with the one that completes it.
        """
        if not self._told:
            return False
        with self._lock:
            for _ in range(-(-after // self._block) - -(-before // self._block)):
                leaf = self._round.subcontext("nodes")
                leaf.call_on_fit_task_begin(estimator=self._estimator, **self._data)
                end = leaf.call_on_fit_task_end(estimator=self._estimator, **self._data)
                self.ended = self.ended or bool(end)
            return self.ended

    def end_round(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Tell that a round is complete; return whether to begin no further one.

        Parameters
        ----------
        fitted : callable
            Gives the attributes that make the estimator predict as after this round.

        Returns
        -------
        bool
            Whether a callback wants the fit to end.
        """
        if self._told:
            end = self._round.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=fitted, **self._data
            )
            self.ended = self.ended or bool(end)
        return self.ended

    def end(self) -> None:
        """Tell that the fit is complete: the estimator itself is what was fitted."""
        if self._fit is not None:
            self._fit.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=dict, **self._data
            )


def fitted_network(training: Any, network: Network) -> dict[str, Any]:
    """Return the attributes by which an estimator of one network predicts."""
    return {"_network": network, "_scale": training.scale, "_flat": training.flat}
