"""Whether the world has changed: which predictor speaks, and when the sceptic gives way.

The one speaks that erred least lately, over rows that are in no burst: not strange to the best of
those without a level, nor off in the same way as their neighbours. Unless it erred clearly less
than the median of the targets, that median speaks.

When most of the last `ALARM` rows are odd to both channels, the believing one starts anew from
these rows. If it then meets the rows that follow better than the sceptic by a fifth, the world has
changed: the sceptic takes over what it knows, and a drift event (concept drift) is recorded.
Otherwise it was a long burst, and the sceptic goes on as if nothing had been. What the sceptic knew
before is kept: a world that comes back is recognised.
"""

from __future__ import annotations

import numpy as np

from .arrays import HostArray
from .channel import LEVEL, STRANGE, Channel
from .memory import (
    BLOCK,
    FAST,
    FAST_LEVEL,
    LINE,
    LONG,
    MIDDLE,
    SHORT,
    SLOW,
    SLOW_LEVEL,
    Memory,
)
from .regrowth import Evidence, solved
from .running import far, inlier_weight, running_scales, trimmed_mean

COMPARED = 240
"""Rows over which predictors are compared, at most: twelve blocks. Measured on streams of
development, and nearly even: half as many err more in bursts on three of four."""

COUNTED = 0.6
"""Share of these that must be in no burst; of more the smallest errors count, so many. By
argument."""

ALL_BUT_TAILS = 0.9
"""Share that counts of rows that stand in no burst. By argument: right rows have tails too.
Measured on streams of development: all of them, or the share above, come to the same."""

EARNED = 0.95
"""What a predictor's error must be of that of the median of the targets for it to speak: what is
less than a twentieth lower over so few rows is chance. Measured on streams of development, 81
cells: where inputs say nothing bursts cost a twentieth less, elsewhere nothing changes. With 0.9
one that drifts errs 1 % more."""

RUN, RUN_OFF = 9, 1.5
"""Rows whose median error must be so many robust standard deviations from zero for them to be a
burst: by chance that median is off by 0.4. Measured on four streams of development, in bursts, and
mixed: without it a stream that cannot be predicted errs a quarter more, two that drift err an
eighth less."""

ALARM, MOST = 40, 0.6
"""Rows of which the given share must be odd before the believing channel starts anew. By argument:
bursts of twenty rows, which the tests ask to be passed over, are less than that share."""

ODD = 2.0
"""Robust standard deviations beyond which a row counts towards these: of right rows one in twenty
is, so that more than half of forty never are by chance."""

BETTER = 0.8
"""What the believing channel's error must be of the sceptic's for a change to be recorded. By
argument: the believing one, which remembers less, errs more in a world that stays."""

NOTABLE = 1.0
"""Robust standard deviations that a change must move predictions by to be recorded: less is within
the noise, and no news."""

ANCHOR = 20.0
"""Rows that old knowledge counts as when the believing channel starts anew: half of `ALARM`, so
that the new rows outvote it. By argument."""

ARCHIVED = 4
"""States of the sceptic that are kept to be recognised. By argument: a plant has a few ways to run;
each costs its output weights."""

KEPT_EVENTS = 1000
"""Suspects and drift events that are kept, the latest: a model file must not grow for ever."""


def decide(memory: Memory) -> None:
    """Let the predictor speak that erred least lately; start anew, or record a change."""
    count = min(memory.n_errors, COMPARED, memory.n_rows - memory.restarted)
    if count >= BLOCK:
        sizes = far(memory.errors[-count:], memory.scales(SLOW, LONG))
        best = min((SLOW, FAST, LINE), key=lambda k: trimmed_mean(sizes[:, k], COUNTED))
        doubtful = _in_bursts(memory.errors[-count:, best], memory.scales(best, LONG))
        if np.mean(doubtful) < 1 - COUNTED:
            loss = trimmed_mean(sizes[~doubtful], ALL_BUT_TAILS)
        else:  # so many are no bursts: the world may have changed
            loss = trimmed_mean(sizes, COUNTED)
        best = int(np.argmin(loss))
        memory.speaker = best if loss[best] < EARNED * loss[MIDDLE] else MIDDLE
        ahead = loss[[FAST, FAST_LEVEL]].min() <= loss[[SLOW, SLOW_LEVEL]].min()
        if ahead and loss[FAST] < BETTER * loss[SLOW]:
            _record_change(memory)
    if memory.plan.robust and memory.n_rows - memory.restarted >= ALARM:
        began = _began(memory)
        if began is not None:
            _start_anew(memory, began)


def _in_bursts(errors: HostArray, scales: HostArray) -> HostArray:
    """Return which rows are strange, or stand in a run of rows that are off in the same way.

    They say nothing of predictors: one that follows a burst would look the best.
    """
    doubtful = far(errors, scales) > STRANGE
    if len(errors) >= RUN:
        runs = np.lib.stride_tricks.sliding_window_view(errors, RUN, axis=0)
        for start in np.flatnonzero(far(np.median(runs, axis=-1), scales) > RUN_OFF).tolist():
            doubtful[start : start + RUN] = True
    return doubtful


def _began(memory: Memory) -> int | None:
    """Return the row from which on most are odd to both channels, if there is one."""
    if min(memory.n_errors - ALARM, memory.n_rows) < 2 * ALARM:
        return None
    scales = running_scales(memory.errors[-min(memory.n_errors, LONG) : -ALARM, SLOW])
    odd = np.all(far(memory.errors[-2 * ALARM :, [SLOW, FAST]], scales) > ODD, axis=1)
    if np.mean(odd[-ALARM:]) < MOST:
        return None
    run = np.cumsum((odd - 0.5)[::-1])[::-1]
    return memory.n_rows - 2 * ALARM + int(np.argmax(run))


def _start_anew(memory: Memory, began: int) -> None:
    """Let the believing channel know what the rows since then say, and little else."""
    kept, n_new = memory.kept, memory.n_rows - began
    columns = memory.columns(kept.X, kept.given)
    known = _closest(memory, columns, n_new)
    is_new = np.arange(len(kept)) >= len(kept) - n_new
    says, weights = known, memory.slow.output_weights
    for _ in range(3):
        error = kept.y - says
        believed = inlier_weight(far(error, running_scales(error[-n_new:])))
        evidence = Evidence(kept.y, np.where(is_new, kept.weight * believed, 0.0), known, ANCHOR)
        information, ridge = solved(columns, evidence, kept.given.shape[1])
        weights = information.output_weights()
        says = columns @ weights
    memory.fast = Channel(information, weights, ridge, kept.y[-LEVEL:] - says[-LEVEL:])
    memory.restarted, memory.suspected = memory.n_rows, began


def _closest(memory: Memory, columns: HostArray, n_new: int) -> HostArray:
    """Return what the known state says that, but for a level, meets the latest rows best."""
    y = memory.kept.y
    found: list[tuple[float, int, HostArray]] = []
    for number, weights in enumerate((memory.slow.output_weights, *memory.archive)):
        says = columns @ weights
        error = y[-n_new:] - says[-n_new:]
        level = np.median(error, axis=0)
        loss = float(np.sum(trimmed_mean(np.abs(error - level), COUNTED)))
        found.append((loss, number, says + level))
    return min(found, key=lambda each: each[:2])[2]


def _record_change(memory: Memory) -> None:
    """Let the sceptic know what the believing channel knows."""
    earliest = max(memory.n_rows - COMPARED, memory.since)
    began = memory.suspected if memory.suspected >= 0 else earliest
    columns = memory.columns(memory.kept.X, memory.kept.given)
    n_new = min(len(memory.kept), memory.n_rows - began)
    moved = columns[-ALARM:] @ (memory.fast.output_weights - memory.slow.output_weights)
    size = np.median(np.abs(moved), axis=0)
    scales = memory.scales(FAST, min(SHORT, memory.n_rows - memory.restarted))
    worst = int(np.argmax(size / scales))
    event = [memory.n_rows, began, size[worst], size[worst] / scales[worst]]
    if event[-1] >= NOTABLE:  # else the sceptic was only the slower learner
        memory.drifts = np.concatenate([memory.drifts, [event]])[-KEPT_EVENTS:]
    memory.archive = [memory.slow.output_weights, *memory.archive][:ARCHIVED]
    _acquit(memory, (memory.kept.y - columns @ memory.fast.output_weights)[-n_new:], scales)
    memory.slow = memory.fast
    memory.errors[:, [SLOW, SLOW_LEVEL]] = memory.errors[:, [FAST, FAST_LEVEL]]
    memory.n_errors = min(memory.n_errors, max(BLOCK, memory.n_rows - memory.restarted))
    memory.since, memory.suspected = began, -1
    memory.due = memory.n_rows + BLOCK


def _acquit(memory: Memory, errors: HostArray, scales: HostArray) -> None:
    """Take rows off the suspects that the changed world explains."""
    explained = memory.n_rows - len(errors) + np.flatnonzero(far(errors, scales) <= STRANGE)
    stays = ~np.isin(memory.suspects[:, 0], explained)
    memory.n_suspects -= int(np.sum(~stays))
    memory.suspects = memory.suspects[stays]
