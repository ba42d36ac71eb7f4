"""A robust network that keeps learning, and tells a wrong row from a world that has changed.

Rows are learned in blocks of `BLOCK`, counted from the first row of the stream, whatever calls
they come in; what is left over waits. So the result is the same to the bit however rows are cut.

Two channels with the same hidden nodes learn side by side, each by least squares under robust
weights, which come from prequential errors, of predictions made before the targets were known:

    sceptical   remembers for `half_life` rows, and judges by the errors of the last `LONG` rows,
    believing   remembers fifty rows or more, and judges by the errors of the last `SHORT`.

Each also comes with a level: the median of its last believed errors is added to what it says. Of
these four, and the plain median of the targets, the one speaks whose errors were the smallest
lately. The larger two fifths of the errors have no say in that, so that scattered wrong rows, or
a burst of them, change nothing.

Whether the world has changed is told in drift.py, and upkeep.py looks after the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .arrays import HostArray
from .channel import LEVEL, STRANGE, Channel, followed
from .drift import ANCHOR, KEPT_EVENTS, decide
from .information import nothing_known
from .memory import (
    BLOCK,
    FAST,
    FAST_LEVEL,
    LONG,
    MIDDLE,
    SHORT,
    SLOW,
    SLOW_LEVEL,
    Batch,
    Memory,
    Plan,
)
from .nodes import Nodes
from .regrowth import Evidence, Unit, drawn_to
from .running import far, inlier_weight, running_scales
from .upkeep import renew, solve

MEMORY = 2000
"""Rows that are kept, the latest: nodes grow on them. Enough for some hundred nodes; a bound on
memory and on the time of an upkeep."""

WARY = 200
"""Rows after which predictions are held near the targets seen so far, and what a fitted model says
is mixed with other columns: fewer rows may not show what it knows. By argument."""

See = Callable[[HostArray], HostArray]
"""Makes given columns (what a fitted model says) of raw inputs, shape (n_rows, n_given)."""


class Stream(Memory):
    """A model that keeps learning from the rows of a stream."""

    def learn(self, X: HostArray, y: HostArray, weight: HostArray, see: See) -> None:
        """Learn further rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Raw inputs.
        y : array of shape (n_rows, n_outputs)
            Targets.
        weight : array of shape (n_rows,)
            Weights; rows without any are passed over.
        see : callable
            Makes given columns of raw inputs.
        """
        if not weight.all():
            X, y, weight = (part[weight > 0] for part in (X, y, weight))
        # What a fitted model says is asked block by block: its last bits depend on the rows
        # that it is asked about together.
        rows = self.waiting.followed_by(Batch(X, np.empty((len(X), 0)), y, weight), 2**62)
        start, whole = 0, len(rows) - len(rows) % BLOCK
        for start in range(0, whole, BLOCK):
            at = slice(start, start + BLOCK)
            block = np.ascontiguousarray(rows.X[at])
            self._learn_block(Batch(block, see(block), rows.y[at], rows.weight[at]))
        self.waiting = Batch(
            *(part[whole:].copy() for part in (rows.X, rows.given, rows.y, rows.weight))
        )

    def first_rows(self, rows: Batch, errors: HostArray) -> None:
        """Take in the rows from which the fitted model was learned.

        Parameters
        ----------
        rows : Batch
            The rows.
        errors : array of shape (n_rows, n_outputs)
            Their errors, left-out ones where there are such.
        """
        n = len(rows)
        scales = running_scales(errors)
        self._note(rows, errors, scales)
        repeated = np.repeat(errors[:, None], MIDDLE, axis=1)
        middle = np.median(rows.y, axis=0)
        repeated = np.concatenate([repeated, (rows.y - middle)[:, None]], axis=1)
        self.errors = np.concatenate([self.errors, repeated])[-LONG:]
        self.n_errors, self.n_rows, self.middle = n, n, middle
        self.kept = rows
        believed = rows.weight * (inlier_weight(far(errors, scales)) if self.plan.robust else 1.0)
        solve(self, [Evidence(rows.y, believed, rows.y, 0.0)] * 2, self.columns(rows.X, rows.given))
        self.due = 2 * n

    def predict(self, X: HostArray, see: See) -> HostArray:
        """Return predictions, shape (n_rows, n_outputs).

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Raw inputs.
        see : callable
            Makes given columns of raw inputs.

        Returns
        -------
        array of shape (n_rows, n_outputs)
            No further beyond the targets that were believed than these are apart.
        """
        if self.speaker == MIDDLE:
            return np.repeat(self.middle[None], len(X), axis=0)
        channel = self.slow if self.speaker in (SLOW, SLOW_LEVEL) else self.fast
        output = self.columns(X, see(X)) @ channel.output_weights
        if self.speaker in (SLOW_LEVEL, FAST_LEVEL):
            output = output + self._level(channel, see)
        if self.n_rows < WARY:
            return output
        low, high = self.limits
        return np.clip(output, 2 * low - high, 2 * high - low)

    def _level(self, channel: Channel, see: See) -> HostArray:
        """Return the level with the rows that wait."""
        tail, rows = channel.tail, self.waiting
        if len(rows):
            errors = rows.y - self.columns(rows.X, see(rows.X)) @ channel.output_weights
            _, tail = followed(tail, errors, self.scales(self.speaker, SHORT))
        return np.median(tail, axis=0)

    def _learn_block(self, rows: Batch) -> None:
        columns = self.columns(rows.X, rows.given)
        plain = [rows.y - columns @ each.output_weights for each in (self.slow, self.fast)]
        if self.n_errors == 0:  # nothing to judge by yet: these rows judge each other
            self.errors[-len(rows) :] = plain[0][:, None]
            self.n_errors = len(rows)
        slow, tail = followed(self.slow.tail, plain[0], self.scales(SLOW_LEVEL, SHORT))
        self.slow = replace(self.slow, tail=tail)
        fast, tail = followed(self.fast.tail, plain[1], self.scales(FAST_LEVEL, SHORT))
        self.fast = replace(self.fast, tail=tail)
        errors = np.stack(
            [plain[0], plain[0] - slow, plain[1], plain[1] - fast, rows.y - self.middle], axis=1
        )
        strange = self._note(rows, errors[:, self.speaker], self.scales(self.speaker, LONG))
        moving = ~self._stuck(rows.y, strange)
        if not moving.all():
            # As if they had not been: what was expected stands in for what was measured.
            y = np.where(moving[:, None], rows.y, rows.y - errors[:, self.speaker])
            rows = replace(rows, y=y, weight=np.where(moving, rows.weight, 0.0))
            errors = errors[moving]
        self._follow(rows, columns, plain)
        self.errors = np.concatenate([self.errors[len(errors) :], errors])
        self.n_errors += len(errors)
        self.kept = self.kept.followed_by(rows, MEMORY)
        self.n_rows += len(rows)
        self.middle = np.median(self.kept.y[-LONG:], axis=0)
        decide(self)
        if self.n_rows >= self.due:
            renew(self)

    def _stuck(self, y: HostArray, strange: HostArray) -> HostArray:
        """Return which rows repeat a strange target to the digit, as a sensor does that is stuck.

        One that does so for more than `LONG` rows is believed: perhaps the plant stands still.
        """
        stuck = np.zeros(len(y), bool)
        for i, same in enumerate(np.all(y == np.vstack([self.last, y[:-1]]), axis=1).tolist()):
            self.n_same = self.n_same + 1 if same else 0
            stuck[i] = same and strange[i] and self.n_same <= LONG
        self.last = y[-1]
        return stuck if self.plan.robust else np.zeros(len(y), bool)

    def _note(self, rows: Batch, error: HostArray, scales: HostArray) -> HostArray:
        """Note which rows are strange, and return them; learn how far targets go."""
        distance = far(error, scales)
        believed = rows.y[distance <= STRANGE]
        if len(believed):
            low, high = self.limits
            self.limits = np.stack(
                [np.minimum(low, believed.min(axis=0)), np.maximum(high, believed.max(axis=0))]
            )
        strange = np.flatnonzero(distance > STRANGE)
        if len(strange):
            worst = np.argmax(np.abs(error / scales)[strange], axis=1)
            y, e = rows.y[strange, worst], error[strange, worst]
            new = np.stack([self.n_rows + strange, y, y - e, distance[strange]], axis=1)
            self.suspects = np.concatenate([self.suspects, new])[-KEPT_EVENTS:]
            self.n_suspects += len(strange)
        return distance > STRANGE

    def _follow(self, rows: Batch, columns: HostArray, errors: list[HostArray]) -> None:
        """Let both channels learn a block."""
        weights = [rows.weight, rows.weight]
        if self.plan.robust:
            scales = self.scales(SLOW, LONG), self.scales(FAST, SHORT)
            weights = [
                rows.weight * inlier_weight(far(e, s)) for e, s in zip(errors, scales, strict=True)
            ]
        elapsed, turn = float(np.sum(rows.weight)), self.n_rows // BLOCK
        towards = self.slow.output_weights
        # Before the first solution there is nothing to update: the fitted model speaks.
        if self.slow.ridge > 0:
            kept = _kept(elapsed, self.plan.half_life)
            n_given = self.kept.given.shape[1]
            goal = drawn_to(columns.shape[1], rows.y.shape[1], n_given)
            self.slow = self.slow.learned(
                columns, rows.y, weights[0], kept=kept, turn=turn, towards=goal
            )
        if self.fast.ridge > 0:
            kept = _kept(elapsed, self.shorter_half_life())
            self.fast = self.fast.learned(
                columns, rows.y, weights[1], kept=kept, turn=turn, towards=towards
            )


def _kept(elapsed: float, half_life: float | None) -> float:
    return 1.0 if half_life is None else float(2.0 ** (-elapsed / half_life))


def begun(
    plan: Plan,
    *,
    n_given: int,
    n_features: int,
    n_outputs: int,
    learned: float = 0.0,
    scales: HostArray | None = None,
) -> Stream:
    """Return a stream before its first row.

    Parameters
    ----------
    plan : Plan
        How to learn.
    n_given : int
        Columns that a fitted model gives; the first are what it predicts for each output.
    n_features, n_outputs : int
        Number of inputs and outputs.
    learned : float
        Weight of the rows that the fitted model knows.
    scales : array of shape (n_outputs,) or None
        One robust standard deviation of its errors, where that is known.

    Returns
    -------
    Stream
        It predicts what the fitted model does.
    """
    width = n_given + n_features + 1
    weights = drawn_to(width, n_outputs, n_given)
    nothing = nothing_known(width, n_outputs)
    slow = Channel(replace(nothing, weight=learned), weights, 0.0, np.zeros((LEVEL, n_outputs)))
    fast = replace(slow, information=replace(nothing, weight=min(learned, ANCHOR)))
    errors, n_errors = np.zeros((LONG, MIDDLE + 1, n_outputs)), 0
    if scales is not None:
        # Errors whose robust standard deviation is the given one.
        errors[-BLOCK:] = np.where(np.arange(BLOCK) % 2, 1.0, -1.0)[:, None, None] * scales / 1.4826
        n_errors = BLOCK
    none = Batch(
        np.zeros((0, n_features)), np.zeros((0, n_given)), np.zeros((0, n_outputs)), np.zeros(0)
    )
    return Stream(
        plan,
        slow,
        fast,
        Nodes(np.zeros((n_features, 0)), np.zeros(0), plan.activation),
        Unit(np.zeros(n_features), np.ones(n_features)),
        none,
        replace(none, given=np.zeros((0, 0))),
        errors,
        np.stack([np.full(n_outputs, np.inf), np.full(n_outputs, -np.inf)]),
        np.zeros(n_outputs),
        np.full(n_outputs, np.nan),
        n_errors=n_errors,
        due=WARY if learned > 0 else BLOCK,
    )
