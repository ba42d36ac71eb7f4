"""A robust network that keeps learning, and tells a wrong row from a world that has changed.

Rows are learned in blocks of `BLOCK`, counted from the first row of the stream, whatever calls
they come in; what is left over waits. So the result is the same to the bit however rows are cut.

Two channels with the same hidden nodes learn side by side, each by least squares under robust
weights, which come from prequential errors, of predictions made before the targets were known:

    sceptical   remembers for `half_life` rows, and judges by the errors of the last `LONG` rows,
    believing   remembers fifty rows or more, and judges by the errors of the last `SHORT`.

Beside them a robust plane is drawn through the last `LONG` rows (line.py). Each of the three also
comes with a level: the median of its last believed errors is added to what it says. Of these six
the one speaks that errs least lately, if it errs less than the median of the last `LONG` targets:
where inputs say nothing, nothing is said of them.

Which that is, and whether the world has changed, is told in drift.py; upkeep.py looks after nodes,
hindsight.py says how far predictions may be off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .anew import ANCHOR
from .arrays import HostArray
from .channel import LEVEL, STRANGE, Channel, followed
from .drift import KEPT_EVENTS, decide
from .hindsight import ends
from .information import nothing_known
from .line import Line, robust_line
from .memory import (
    BLOCK,
    FAST,
    FAST_LEVEL,
    LINE,
    LINE_LEVEL,
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
"""Rows after which predictions are held near the targets seen so far, what a fitted model says is
mixed with other columns, and intervals come from the stream's errors: fewer rows may not show what
it knows. By argument."""

FRESH = 100
"""Rows after which the plane is drawn anew, from the median: what it was told wrong does not stay.
In between it goes on from the last, which is four times as fast."""

MOST_INPUTS = LONG // 5
"""Inputs up to which a plane is drawn: with more it would take longer than networks do, and have
fewer than five rows for each. By argument."""

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
        self.kept, self.n_errors, self.n_rows = rows, n, n
        self._draw_line()
        of_line = self._line_errors(rows)
        known = [errors] * LINE + [of_line] * 2 + [rows.y - self.middle()]
        both = np.stack(known, axis=1)
        self.errors = np.concatenate([self.errors, both])[-LONG:]
        believed = rows.weight * (inlier_weight(far(errors, scales)) if self.plan.robust else 1.0)
        solve(self, [Evidence(rows.y, believed, rows.y, 0.0)] * 2, self.columns(rows.X, rows.given))
        self.due = 2 * n
        # A burst that a network has bent to is no error of it: it has to show on later rows.
        self.restarted = self.renewed = n
        self.speaker = SLOW if self.line is None else LINE
        self.said = np.array(self.errors[:, self.speaker])

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
        output = self._says(X, see)
        if self.speaker in (SLOW_LEVEL, FAST_LEVEL, LINE_LEVEL):
            output = output + self._level(see)
        if self.n_rows < WARY:
            return output
        low, high = self.limits
        return np.clip(output, 2 * low - high, 2 * high - low)

    def ends(self, coverage: float) -> HostArray | None:
        """Return what right targets lie between, less the prediction, shape (2, n_outputs).

        Parameters
        ----------
        coverage : float
            Share of right targets that should lie inside.

        Returns
        -------
        array of shape (2, n_outputs) or None
            What held that share of the errors over the last `LONG` rows, as hindsight judges them
            (hindsight.py). None before `WARY` rows.
        """
        return None if self.n_rows < WARY else ends(self, coverage)

    def _speaking(self) -> Channel | Line:
        spoken: Channel | Line | None = (self.slow, self.fast, self.line)[self.speaker // 2]
        assert spoken is not None
        return spoken

    def _says(self, X: HostArray, see: See) -> HostArray:
        """Return what the one that speaks says, but for its level."""
        if self.speaker == MIDDLE:
            return np.repeat(self.middle()[None], len(X), axis=0)
        speaking = self._speaking()
        if isinstance(speaking, Line):
            return speaking.says(X)
        return self.columns(X, see(X)) @ speaking.output_weights

    def _level(self, see: See) -> HostArray:
        """Return the level with the rows that wait."""
        tail, rows = self._speaking().tail, self.waiting
        if len(rows):
            errors = rows.y - self._says(rows.X, see)
            plain = self.speaker - 1  # the same without its level
            _, tail = followed(tail, errors, self.scales(plain, LONG))
        return np.median(tail, axis=0)

    def _learn_block(self, rows: Batch) -> None:
        columns = self.columns(rows.X, rows.given)
        plain = [rows.y - columns @ each.output_weights for each in (self.slow, self.fast)]
        if self.n_errors == 0:  # nothing to judge by yet: these rows judge each other
            self.errors[-len(rows) :] = plain[0][:, None]
            self.n_errors = len(rows)
        errors = self._with_levels(plain, self._line_errors(rows), rows.y)
        strange = self._note(rows, errors[:, self.speaker], self.scales(self.speaker, LONG))
        moving = ~self._stuck(rows.y, strange)
        if not moving.all():
            # As if they had not been: what was expected stands in for what was measured.
            y = np.where(moving[:, None], rows.y, rows.y - errors[:, self.speaker])
            rows = replace(rows, y=y, weight=np.where(moving, rows.weight, 0.0))
            errors = errors[moving]
        self._follow(rows, columns, plain)
        self.said = np.concatenate([self.said[len(errors) :], errors[:, self.speaker]])
        self.errors = np.concatenate([self.errors[len(errors) :], errors])
        self.n_errors += len(errors)
        self.kept = self.kept.followed_by(rows, MEMORY)
        self.n_rows += len(rows)
        self._draw_line()
        decide(self)
        if self.n_rows >= self.due:
            renew(self)

    def _with_levels(self, plain: list[HostArray], line: HostArray, y: HostArray) -> HostArray:
        """Return errors of all predictors, and let levels follow them."""
        slow, tail = followed(self.slow.tail, plain[0], self.scales(SLOW, LONG))
        self.slow = replace(self.slow, tail=tail)
        fast, tail = followed(self.fast.tail, plain[1], self.scales(FAST, LONG))
        self.fast = replace(self.fast, tail=tail)
        level = np.zeros_like(line)
        if self.line is not None:
            level, tail = followed(self.line.tail, line, self.scales(LINE, LONG))
            self.line = replace(self.line, tail=tail)
        errors = [plain[0], plain[0] - slow, plain[1], plain[1] - fast, line, line - level]
        return np.stack([*errors, y - self.middle()], axis=1)

    def _line_errors(self, rows: Batch) -> HostArray:
        return (
            np.full_like(rows.y, np.inf) if self.line is None else rows.y - self.line.says(rows.X)
        )

    def _draw_line(self) -> None:
        """Draw the plane through the latest rows, from time to time without a look at the last."""
        rows = self.kept
        X, y, weight = rows.X[-LONG:], rows.y[-LONG:], rows.weight[-LONG:]
        if X.shape[1] > MOST_INPUTS or len(y) < 2 * BLOCK or not weight.any():
            return
        before = None if self.n_rows % FRESH < BLOCK else self.line
        line = robust_line(X, y, weight, before)
        if self.line is not None:
            moved = np.mean(line.says(X[-BLOCK:]) - self.line.says(X[-BLOCK:]), axis=0)
            line = replace(line, tail=self.line.tail - moved)
        self.line = line

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
    errors[:, LINE:] = np.inf
    if scales is not None:
        # Errors whose robust standard deviation is the given one.
        errors[-BLOCK:, :LINE] = (
            np.where(np.arange(BLOCK) % 2, 1.0, -1.0)[:, None, None] * scales / 1.4826
        )
        n_errors = BLOCK
    none = Batch(
        np.zeros((0, n_features)), np.zeros((0, n_given)), np.zeros((0, n_outputs)), np.zeros(0)
    )
    return Stream(
        plan,
        slow,
        fast,
        None,
        Nodes(np.zeros((n_features, 0)), np.zeros(0), plan.activation),
        Unit(np.zeros(n_features), np.ones(n_features)),
        none,
        replace(none, given=np.zeros((0, 0))),
        errors,
        np.zeros((LONG, n_outputs)),
        np.stack([np.full(n_outputs, np.inf), np.full(n_outputs, -np.inf)]),
        np.full(n_outputs, np.nan),
        n_errors=n_errors,
        due=WARY if learned > 0 else BLOCK,
    )
