"""A robust network that keeps learning, and tells a wrong row from a world that has changed.

Rows are learned in blocks of `BLOCK`, counted from the first row of the stream, whatever calls
they come in; what is left over waits. So the result is the same to the bit however rows are cut.

Two channels with the same hidden nodes learn side by side, each by least squares under robust
weights, which come from the errors of predictions made before the targets were known:

    sceptical   remembers for `half_life` rows, and judges by the errors of the last `LONG` rows,
    believing   remembers fifty rows or more, and judges by the errors of the last `SHORT`.

Each also comes with a level: the median of its last believed errors is added to what it says. Of
these four, and the plain median of the targets, the one speaks whose errors were the smallest
lately. The larger two fifths of the errors have no say in that, so that scattered wrong rows, or
a burst of them, change nothing.

When most of the last `ALARM` rows are odd to both channels, the believing one starts anew from
these rows. If it then meets the rows that follow better than the sceptic by a fifth, the world has
changed: the sceptic takes over what it knows, and a drift event is recorded. Otherwise it was a
long burst, and the sceptic goes on as if nothing had been. What the sceptic knew before is kept: a
world that comes back is recognised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .arrays import HostArray
from .channel import LEVEL, STRANGE, Channel, followed
from .information import nothing_known
from .nodes import Nodes
from .regrowth import Evidence, Unit, drawn_to, more_nodes, recipe_of, solved, unit_of
from .running import far, inlier_weight, running_scales, trimmed_mean

BLOCK = 20
"""Rows that are learned together."""

MEMORY = 2000
"""Rows that are kept, the latest: nodes grow on them."""

LONG, SHORT = 500, 60
"""Rows by whose errors the sceptical and the believing channel judge."""

COMPARED = 120
"""Rows over which predictors are compared, at most."""

COUNTED = 0.6
"""Share of these that count, those with the smallest errors."""

ALARM, MOST = 40, 0.6
"""Rows of which the given share must be odd before the believing channel starts anew."""

ODD = 2.0
"""Robust standard deviations beyond which a row counts towards these."""

BETTER = 0.8
"""What the believing channel's error must be of the sceptic's for a change to be recorded."""

NOTABLE = 1.0
"""Robust standard deviations that a change must move predictions by to be recorded."""

ANCHOR = 20.0
"""Rows that old knowledge counts as when the believing channel starts anew."""

SHORTEST = 50.0
"""Half-life of the believing channel, unless it has more columns than that."""

ARCHIVED = 4
"""States of the sceptic that are kept to be recognised."""

KEPT_EVENTS = 1000
"""Suspects and drift events that are kept, the latest."""

WARY = 200
"""Rows after which predictions are held near the targets seen so far, and what a fitted model says
is mixed with other columns: fewer rows may not show what it knows."""

CARRIES = 0.01
"""Robust standard deviations that a node must move predictions by, or it is removed."""

SLOW, SLOW_LEVEL, FAST, FAST_LEVEL, MIDDLE = range(5)
"""The predictors."""

See = Callable[[HostArray], HostArray]
"""Makes given columns (what a fitted model says) of raw inputs, shape (n_rows, n_given)."""


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
class Stream:
    """What is known after the rows so far.

    Parameters
    ----------
    plan : Plan
        How to learn.
    slow, fast : Channel
        The sceptical and the believing channel.
    nodes : Nodes
        Hidden nodes, for inputs in `unit`.
    unit : Unit
        Unit of the inputs.
    kept : Batch
        The latest rows.
    waiting : Batch
        Rows of a block that is not complete.
    errors : array of shape (LONG, 5, n_outputs)
        Latest errors of the predictors.
    n_errors : int
        How many of these have been seen.
    limits : array of shape (2, n_outputs)
        Smallest and largest target that was believed.
    middle : array of shape (n_outputs,)
        Median of the latest targets.
    last : array of shape (n_outputs,)
        The last target.
    n_same : int
        How many rows before had the same.
    n_rows : int
        Rows learned; those that wait not counted.
    speaker : int
        Which predictor speaks.
    restarted : int
        Row from which on the believing channel knows what it knows.
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
    nodes: Nodes
    unit: Unit
    kept: Batch
    waiting: Batch
    errors: HostArray
    limits: HostArray
    middle: HostArray
    last: HostArray
    n_same: int = 0
    n_errors: int = 0
    n_rows: int = 0
    speaker: int = SLOW
    restarted: int = 0
    suspected: int = -1
    since: int = 0
    due: int = BLOCK
    archive: list[HostArray] = field(default_factory=list)
    suspects: HostArray = field(default_factory=lambda: np.zeros((0, 4)))
    n_suspects: int = 0
    drifts: HostArray = field(default_factory=lambda: np.zeros((0, 4)))

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
        self._solve(
            [Evidence(rows.y, believed, rows.y, 0.0)] * 2, self._columns(rows.X, rows.given)
        )
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
        output = self._columns(X, see(X)) @ channel.output_weights
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
            errors = rows.y - self._columns(rows.X, see(rows.X)) @ channel.output_weights
            _, tail = followed(tail, errors, self._scales(self.speaker, SHORT))
        return np.median(tail, axis=0)

    def _columns(self, X: HostArray, given: HostArray) -> HostArray:
        inputs = self.unit.inputs(X)
        parts = [given, inputs, np.ones((len(X), 1))]
        if len(self.nodes):
            parts.insert(2, self.nodes.hidden(inputs))
        return np.concatenate(parts, axis=1)

    def _scales(self, which: int, window: int) -> HostArray:
        count = min(self.n_errors, window)
        return running_scales(self.errors[LONG - count :, which])

    def _learn_block(self, rows: Batch) -> None:
        columns = self._columns(rows.X, rows.given)
        plain = [rows.y - columns @ each.output_weights for each in (self.slow, self.fast)]
        if self.n_errors == 0:  # nothing to judge by yet: these rows judge each other
            self.errors[-len(rows) :] = plain[0][:, None]
            self.n_errors = len(rows)
        slow, tail = followed(self.slow.tail, plain[0], self._scales(SLOW_LEVEL, SHORT))
        self.slow = replace(self.slow, tail=tail)
        fast, tail = followed(self.fast.tail, plain[1], self._scales(FAST_LEVEL, SHORT))
        self.fast = replace(self.fast, tail=tail)
        errors = np.stack(
            [plain[0], plain[0] - slow, plain[1], plain[1] - fast, rows.y - self.middle], axis=1
        )
        strange = self._note(rows, errors[:, self.speaker], self._scales(self.speaker, LONG))
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
        self._decide()
        if self.n_rows >= self.due:
            self._renew()

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
            scales = self._scales(SLOW, LONG), self._scales(FAST, SHORT)
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
            kept = _kept(elapsed, self._shorter_half_life())
            self.fast = self.fast.learned(
                columns, rows.y, weights[1], kept=kept, turn=turn, towards=towards
            )

    def _shorter_half_life(self) -> float:
        own = max(SHORTEST, float(len(self.slow.output_weights)))
        return own if self.plan.half_life is None else min(own, self.plan.half_life)

    def _decide(self) -> None:
        """Let the predictor speak that erred least lately; start anew, or record a change."""
        count = min(self.n_errors, COMPARED, self.n_rows - self.restarted)
        if count >= BLOCK:
            sizes = far(self.errors[-count:], self._scales(SLOW, LONG))
            loss = trimmed_mean(sizes, COUNTED)
            self.speaker = int(np.argmin(loss))
            ahead = loss[[FAST, FAST_LEVEL]].min() <= loss[[SLOW, SLOW_LEVEL]].min()
            if ahead and loss[FAST] < BETTER * loss[SLOW]:
                self._record_change()
        if self.plan.robust and self.n_rows - self.restarted >= ALARM:
            began = self._began()
            if began is not None:
                self._start_anew(began)

    def _began(self) -> int | None:
        """Return the row from which on most are odd to both channels, if there is one."""
        if min(self.n_errors - ALARM, self.n_rows) < 2 * ALARM:
            return None
        scales = running_scales(self.errors[-min(self.n_errors, LONG) : -ALARM, SLOW])
        odd = np.all(far(self.errors[-2 * ALARM :, [SLOW, FAST]], scales) > ODD, axis=1)
        if np.mean(odd[-ALARM:]) < MOST:
            return None
        run = np.cumsum((odd - 0.5)[::-1])[::-1]
        return self.n_rows - 2 * ALARM + int(np.argmax(run))

    def _start_anew(self, began: int) -> None:
        """Let the believing channel know what the rows since then say, and little else."""
        kept, n_new = self.kept, self.n_rows - began
        columns = self._columns(kept.X, kept.given)
        known = self._closest(columns, n_new)
        is_new = np.arange(len(kept)) >= len(kept) - n_new
        says, weights = known, self.slow.output_weights
        for _ in range(3):
            error = kept.y - says
            believed = inlier_weight(far(error, running_scales(error[-n_new:])))
            evidence = Evidence(
                kept.y, np.where(is_new, kept.weight * believed, 0.0), known, ANCHOR
            )
            information, ridge = solved(columns, evidence, kept.given.shape[1])
            weights = information.output_weights()
            says = columns @ weights
        self.fast = Channel(information, weights, ridge, kept.y[-LEVEL:] - says[-LEVEL:])
        self.restarted, self.suspected = self.n_rows, began

    def _closest(self, columns: HostArray, n_new: int) -> HostArray:
        """Return what the known state says that, but for a level, meets the latest rows best."""
        y = self.kept.y
        found: list[tuple[float, int, HostArray]] = []
        for number, weights in enumerate((self.slow.output_weights, *self.archive)):
            says = columns @ weights
            error = y[-n_new:] - says[-n_new:]
            level = np.median(error, axis=0)
            loss = float(np.sum(trimmed_mean(np.abs(error - level), COUNTED)))
            found.append((loss, number, says + level))
        return min(found, key=lambda each: each[:2])[2]

    def _record_change(self) -> None:
        """Let the sceptic know what the believing channel knows."""
        earliest = max(self.n_rows - COMPARED, self.since)
        began = self.suspected if self.suspected >= 0 else earliest
        columns = self._columns(self.kept.X, self.kept.given)
        n_new = min(len(self.kept), self.n_rows - began)
        moved = columns[-ALARM:] @ (self.fast.output_weights - self.slow.output_weights)
        size = np.median(np.abs(moved), axis=0)
        scales = self._scales(FAST, min(SHORT, self.n_rows - self.restarted))
        worst = int(np.argmax(size / scales))
        event = [self.n_rows, began, size[worst], size[worst] / scales[worst]]
        if event[-1] >= NOTABLE:  # else the sceptic was only the slower learner
            self.drifts = np.concatenate([self.drifts, [event]])[-KEPT_EVENTS:]
        self.archive = [self.slow.output_weights, *self.archive][:ARCHIVED]
        self._acquit((self.kept.y - columns @ self.fast.output_weights)[-n_new:], scales)
        self.slow = self.fast
        self.errors[:, [SLOW, SLOW_LEVEL]] = self.errors[:, [FAST, FAST_LEVEL]]
        self.n_errors = min(self.n_errors, max(BLOCK, self.n_rows - self.restarted))
        self.since, self.suspected = began, -1
        self.due = self.n_rows + BLOCK

    def _acquit(self, errors: HostArray, scales: HostArray) -> None:
        """Take rows off the suspects that the changed world explains."""
        explained = self.n_rows - len(errors) + np.flatnonzero(far(errors, scales) <= STRANGE)
        stays = ~np.isin(self.suspects[:, 0], explained)
        self.n_suspects -= int(np.sum(~stays))
        self.suspects = self.suspects[stays]

    def _renew(self) -> None:
        """Solve both channels again from the kept rows, with other nodes where these help."""
        kept = self.kept
        n_new = min(len(kept), self.n_rows - self.since)
        self.due = self.n_rows + max(BLOCK, self.n_rows - self.since)
        columns = self._columns(kept.X, kept.given)
        evidence = [
            self._evidence(columns @ channel.output_weights, n_new, fast)
            for channel, fast in ((self.slow, False), (self.fast, True))
        ]
        unit = unit_of(kept.X)
        self.nodes, self.unit = self.unit.translated(self.nodes, unit), unit
        carried = self._carried(columns)
        if not np.all(carried > CARRIES):
            self._keep_nodes(np.flatnonzero(carried > CARRIES))
        if n_new >= 3 * BLOCK:
            self._regrow(n_new, evidence[0])
        self._solve(evidence, self._columns(kept.X, kept.given))

    def _carried(self, columns: HostArray) -> HostArray:
        """Return how many standard deviations each node moves the predictions by."""
        n_nodes = len(self.nodes)
        hidden = columns[:, -1 - n_nodes : -1]
        size = np.maximum(np.abs(self.slow.output_weights), np.abs(self.fast.output_weights))
        moved = np.std(hidden, axis=0)[:, None] * size[-1 - n_nodes : -1]
        return np.max(moved / self._scales(SLOW, LONG), axis=1, initial=0.0)

    def _keep_nodes(self, numbers: HostArray) -> None:
        """Remove all other nodes; output weights are to be solved for."""
        n_first = len(self.slow.output_weights) - 1 - len(self.nodes)
        rows = np.concatenate([np.arange(n_first), n_first + numbers, [-1]])
        self.nodes = self.nodes.take(numbers)
        channels = self.slow, self.fast
        self.slow, self.fast = (
            replace(each, output_weights=each.output_weights[rows]) for each in channels
        )
        self.archive = [weights[rows] for weights in self.archive]

    def _regrow(self, n_new: int, evidence: Evidence) -> None:
        """Take in nodes with which the latest rows are met better; the weakest make room."""
        kept, columns = self.kept, self._columns(self.kept.X, self.kept.given)
        most, n_nodes = self.plan.max_nodes, len(self.nodes)
        n_weak = max(0, n_nodes + most // 4 - most)
        order = np.argsort(-self._carried(columns), kind="stable")
        stay = np.sort(order[: n_nodes - n_weak])
        n_first = columns.shape[1] - 1 - n_nodes
        left = np.concatenate([np.arange(n_first), n_first + stay, [columns.shape[1] - 1]])
        recipe = recipe_of(
            kept.X.shape[1],
            most - len(stay),
            self.plan.seed,
            self.n_rows // BLOCK,
            self.plan.activation,
        )
        nodes = more_nodes(
            self.unit.inputs(kept.X)[-n_new:],
            columns[-n_new:],
            columns[-n_new:, left],
            evidence.last(n_new),
            recipe,
            n_given=kept.given.shape[1],
        )
        if nodes is None:
            return
        self._keep_nodes(stay)
        self.nodes = self.nodes.joined(nodes)
        self.archive = [
            np.insert(weights, [-1] * len(nodes), 0.0, axis=0) for weights in self.archive
        ]

    def _solve(self, evidence: list[Evidence], columns: HostArray) -> None:
        channels = []
        for each in evidence:
            information, ridge = solved(columns, each, self.kept.given.shape[1])
            weights = information.output_weights()
            tail = self.kept.y[-LEVEL:] - columns[-LEVEL:] @ weights
            channels.append(Channel(information, weights, ridge, tail))
        self.slow, self.fast = channels

    def _evidence(self, says: HostArray, n_new: int, fast: bool) -> Evidence:
        """Return what a channel knows as kept rows of the present world and what it says of all."""
        kept = self.kept
        weight = np.where(np.arange(len(kept)) >= len(kept) - n_new, kept.weight, 0.0)
        if self.plan.robust:
            which, window = (FAST, SHORT) if fast else (SLOW, LONG)
            weight = weight * inlier_weight(far(kept.y - says, self._scales(which, window)))
        half_life = self._shorter_half_life() if fast else self.plan.half_life
        if half_life is not None:
            age = np.append(np.cumsum(kept.weight[:0:-1])[::-1], 0.0)
            weight = weight * 2.0 ** (-age / half_life)
        total = (self.fast if fast else self.slow).information.weight
        return Evidence(kept.y, weight, says, max(total - float(weight.sum()), 0.0))


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
