"""What is taught with weights and asked about rows: a committee of networks, or any function.

The judging (judging.py) knows of a learner what stands here and nothing else. Where it can be, an
opinion is out-of-fold: cross-fitted residuals, by members that have not seen the row, and the
ensemble's spread as doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from .arrays import HostArray
from .rows import Column

Model = TypeVar("Model")


class Task(Protocol):
    """What a round asks of an ensemble."""

    @property
    def grow(self) -> int:
        """Members to grow; those there are already are refitted under the round's weights."""
        ...

    @property
    def restart(self) -> bool:
        """Whether earlier members are dismissed first."""
        ...

    @property
    def sized(self) -> bool:
        """Whether new members may be cut back to the size at which unseen rows were met best."""
        ...

    @property
    def contest(self) -> bool:
        """Whether new members are grown in all ways there are, and rows that were not seen choose.

        Later ones grow as those that were chosen.
        """
        ...


@dataclass(frozen=True)
class Opinion(Generic[Model]):
    """What a learner says of the rows under given weights.

    Parameters
    ----------
    model : object
        What predicts.
    residuals : column of shape (n_rows, n_outputs)
        Targets minus what is expected for them, by members that have not seen them if it can be.
    doubt : column of shape (n_rows, n_outputs) or None
        How far the learner may be from the truth at each row.
    members : tuple
        What the next round goes on from.
    centre : array of shape (n_outputs,) or None
        What was taken off all residuals alike; None where nothing was.
    """

    model: Model
    residuals: Column
    doubt: Column | None = None
    members: tuple[Any, ...] = ()
    centre: HostArray | None = None


class Learner(Protocol[Model]):
    """Anything that can be taught with weights and asked about rows."""

    def opinion(
        self, before: Opinion[Model] | None, task: Task, number: int, weight: Column
    ) -> Opinion[Model]:
        """Return what it says when taught with these weights, going on from what was before."""
        ...

    def foreseen(self, target: Column, number: int) -> Column:
        """Return what members foresee of another column for rows that they have not seen."""
        ...

    def scatter(
        self, sizes: Column, weight: Column, said: Opinion[Model], number: int
    ) -> tuple[Column, Any]:
        """Return what is foreseen of the sizes of residuals that were not seen.

        Beside it, what makes such forecasts for other inputs.
        """
        ...


@dataclass(frozen=True)
class Taught(Generic[Model]):
    """A learner that is a function: the plainest kind, taught anew with each set of weights.

    Parameters
    ----------
    teach : callable
        From the round's number and weights to a model and its residuals.
    """

    teach: Callable[[int, Column], tuple[Model, Column]]

    def opinion(
        self,
        before: Opinion[Model] | None,  # noqa: ARG002
        task: Task,  # noqa: ARG002
        number: int,
        weight: Column,
    ) -> Opinion[Model]:
        """Return the model and its residuals."""
        return Opinion(*self.teach(number, weight))

    def foreseen(self, target: Column, number: int) -> Column:
        """Raise: what has seen every row foresees nothing."""
        raise NotImplementedError("a second look needs members that have not seen the rows")

    def scatter(
        self, sizes: Column, weight: Column, said: Opinion[Model], number: int
    ) -> tuple[Column, Any]:
        """Raise: what has seen every row foresees nothing."""
        raise NotImplementedError("local noise needs members that have not seen the rows")
