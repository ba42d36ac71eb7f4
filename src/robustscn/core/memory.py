"""What a stream remembers: its latest rows, two channels with common nodes, errors, events."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .arrays import HostArray
from .channel import Channel
from .line import Line
from .nodes import Nodes
from .regrowth import Unit
from .running import running_scales

BLOCK = 20
"""Rows that are learned together: fewer cost more time for each, more wait longer. Any number gives
the same answer however rows are cut."""

LONG, SHORT = 500, 60
"""Rows by whose errors the sceptical and the believing channel judge: a long memory for what is
usual, a short one for what is new. By argument."""

SHORTEST = 50.0
"""Half-life of the believing channel, unless it has more columns than that: with fewer rows than
columns it would learn them by heart."""

SLOW, SLOW_LEVEL, FAST, FAST_LEVEL, LINE, LINE_LEVEL, MIDDLE = range(7)
"""The predictors: each channel and the plane without and with its level, and the median."""


@dataclass(frozen=True)
class Plan:
    """How a stream is learned.

    Parameters
    ----------
    half_life : float or None
        Weight of rows after which a row counts half; None never forgets.
    robust : bool
        Whether strange rows count less.
    max_nodes : int
        Nodes that grow on the stream at most.
    seed : int
        Of the draws.
    activation : str
        See `Nodes`.
    """

    half_life: float | None
    robust: bool
    max_nodes: int
    seed: int
    activation: str = "logistic"


@dataclass(frozen=True)
class Batch:
    """Rows in the order they came.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Raw inputs.
    given : array of shape (n_rows, n_given)
        What the fitted model says.
    y : array of shape (n_rows, n_outputs)
        Targets.
    weight : array of shape (n_rows,)
        The caller's weights.
    """

    X: HostArray
    given: HostArray
    y: HostArray
    weight: HostArray

    def __len__(self) -> int:
        return len(self.weight)

    def followed_by(self, other: Batch, most: int) -> Batch:
        """Return these rows and the other ones, at most so many, the latest."""
        start = max(0, len(self) + len(other) - most)
        mine = (self.X, self.given, self.y, self.weight)
        others = (other.X, other.given, other.y, other.weight)
        return Batch(*(np.concatenate([a[start:], b]) for a, b in zip(mine, others, strict=True)))


@dataclass
class Memory:
    """What is known after the rows so far.

    Parameters
    ----------
    plan : Plan
        How to learn.
    slow, fast : Channel
        The sceptical and the believing channel.
    line : Line or None
        The plane through the latest rows; None before there are enough.
    nodes : Nodes
        Hidden nodes, for inputs in `unit`.
    unit : Unit
        Unit of the inputs.
    kept : Batch
        The latest rows.
    waiting : Batch
        Rows of a block that is not complete.
    errors : array of shape (LONG, 7, n_outputs)
        Latest errors of the predictors, infinite where there was none.
    n_errors : int
        How many of these have been seen.
    said : array of shape (LONG, n_outputs)
        Latest errors of what was said, whoever spoke.
    limits : array of shape (2, n_outputs)
        Smallest and largest target that was believed.
    last : array of shape (n_outputs,)
        The last target.
    n_same : int
        How many rows before had the same.
    n_rows : int
        Rows learned; those that wait not counted.
    speaker : int
        Which predictor speaks.
    restarted : int
        Row from which on predictors are compared.
    renewed : int
        Row after which the believing channel started anew.
    suspected : int
        Row at which a change may have begun, -1 where nothing points to one.
    since : int
        Row from which on the present world holds.
    due : int
        Row after which nodes are looked for again.
    archive : list of arrays
        Earlier output weights of the sceptic.
    suspects : array of shape (n, 4)
        Number of the row, target, prediction, distance; of several outputs the farthest.
    n_suspects : int
        How many there were, those not kept included.
    drifts : array of shape (n, 4)
        Row at which a change was recorded, row at which it began, size in the unit of the
        targets and in robust standard deviations.
    """

    plan: Plan
    slow: Channel
    fast: Channel
    line: Line | None
    nodes: Nodes
    unit: Unit
    kept: Batch
    waiting: Batch
    errors: HostArray
    said: HostArray
    limits: HostArray
    last: HostArray
    n_same: int = 0
    n_errors: int = 0
    n_rows: int = 0
    speaker: int = SLOW
    restarted: int = 0
    renewed: int = 0
    suspected: int = -1
    since: int = 0
    due: int = BLOCK
    archive: list[HostArray] = field(default_factory=list)
    suspects: HostArray = field(default_factory=lambda: np.zeros((0, 4)))
    n_suspects: int = 0
    drifts: HostArray = field(default_factory=lambda: np.zeros((0, 4)))

    def columns(self, X: HostArray, given: HostArray) -> HostArray:
        """Return what output weights multiply: given columns, inputs, hidden nodes, a constant."""
        inputs = self.unit.inputs(X)
        parts = [given, inputs, np.ones((len(X), 1))]
        if len(self.nodes):
            parts.insert(2, self.nodes.hidden(inputs))
        return np.concatenate(parts, axis=1)

    def middle(self) -> HostArray:
        """Return the median of the latest targets, infinite where there are none."""
        y = self.kept.y[-LONG:]
        return np.median(y, axis=0) if len(y) else np.full(y.shape[1], np.inf)

    def scales(self, which: int, window: int) -> HostArray:
        """Return robust standard deviations of a predictor's latest errors."""
        return running_scales(self.errors_of(which, window))

    def errors_of(self, which: int, window: int) -> HostArray:
        """Return a predictor's latest errors, so many where there are, shape (n, n_outputs)."""
        errors = self.errors[LONG - min(self.n_errors, window) :, which]
        return errors if which < LINE else errors[np.isfinite(errors[:, 0])]

    def shorter_half_life(self) -> float:
        """Return the weight of rows after which a row counts half to the believing channel."""
        own = max(SHORTEST, float(len(self.slow.output_weights)))
        return own if self.plan.half_life is None else min(own, self.plan.half_life)
