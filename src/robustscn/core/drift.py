"""Whether the world has changed: which predictor speaks, and when the sceptic gives way.

The one speaks that erred least lately, over rows that are in no burst: not strange to the best of
those without a level, nor off in the same way as their neighbours. Unless it erred clearly less
than the median of the targets, that median speaks.

When the latest rows are odd, the believing channel may start anew from them (anew.py). If it then
meets the two blocks that follow better than the sceptic by a fifth, the world has changed: the
sceptic takes over what it knows, and a drift event (concept drift) is recorded. Otherwise it was a
long burst, and the sceptic goes on as if nothing had been. What the sceptic knew before is kept: a
world that comes back is recognised.
"""

from __future__ import annotations

import numpy as np

from .anew import ALARM, COUNTED, started_anew
from .arrays import HostArray
from .channel import STRANGE
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
from .running import RUN, RUN_OFF, far, rows_of_runs, trimmed_mean

COMPARED = 240
"""Rows over which predictors are compared, at most: twelve blocks. Measured on streams of
development, and nearly even: half as many err more in bursts on three of four."""

ALL_BUT_TAILS = 0.9
"""Share that counts of rows that stand in no burst. By argument: right rows have tails too.
Measured on streams of development: all of them, or the share above, come to the same."""

EARNED = 0.95
"""What a predictor's error must be of that of the median of the targets for it to speak: what is
less than a twentieth lower over so few rows is chance. Measured on streams of development, 81
cells: where inputs say nothing bursts cost a twentieth less, elsewhere nothing changes. With 0.9
one that drifts errs 1 % more."""

TRIED = 40
"""Rows that the believing channel must have predicted since it started anew before the sceptic
gives way, which cannot be taken back: two blocks. Measured on streams of development, a quarter of
the rows wrong: after one block two of them that move err 7 % more."""

BETTER = 0.8
"""What the believing channel's error must be of the sceptic's for a change to be recorded. By
argument: the believing one, which remembers less, errs more in a world that stays."""

NOTABLE = 1.0
"""Usual robust standard deviations that a change must move predictions by to be recorded: less is
within the noise, and no news."""

ARCHIVED = 4
"""States of the sceptic that are kept to be recognised. By argument: a plant has a few ways to run;
each costs its output weights."""

KEPT_EVENTS = 1000
"""Suspects and drift events that are kept, the latest: a model file must not grow for ever."""


def decide(memory: Memory) -> None:
    """Let the predictor speak that erred least lately; start anew, or record a change."""
    tried = memory.n_rows - memory.renewed
    count = min(memory.n_errors, COMPARED, memory.n_rows - memory.restarted)
    if count >= BLOCK:
        loss = _let_speak(memory, count)
        if min(count, tried) >= TRIED:
            loss = loss if tried >= count else _losses(memory, tried)
            ahead = loss[[FAST, FAST_LEVEL]].min() <= loss[[SLOW, SLOW_LEVEL]].min()
            if ahead and loss[FAST] < BETTER * loss[SLOW]:
                _record_change(memory)
    if memory.plan.robust and tried >= ALARM and started_anew(memory):
        known = memory.n_rows - memory.restarted
        if known >= BLOCK:  # the latest rows follow a relation: no need to wait for more
            _let_speak(memory, known)


def _let_speak(memory: Memory, count: int) -> HostArray:
    """Let the predictor speak that erred least over so many rows; return what each erred."""
    loss = _losses(memory, count)
    best = int(np.argmin(loss))
    memory.speaker = best if loss[best] < EARNED * loss[MIDDLE] else MIDDLE
    return loss


def _losses(memory: Memory, count: int) -> HostArray:
    """Return what each predictor erred over so many rows, but for those in bursts."""
    sizes = far(memory.errors[-count:], memory.scales(SLOW, LONG))
    best = min((SLOW, FAST, LINE), key=lambda k: trimmed_mean(sizes[:, k], COUNTED))
    doubtful = _in_bursts(memory.errors[-count:, best], memory.scales(best, LONG))
    if np.mean(doubtful) < 1 - COUNTED:
        return trimmed_mean(sizes[~doubtful], ALL_BUT_TAILS)
    # So many are no bursts: the world may have changed.
    return trimmed_mean(sizes, COUNTED)


def _in_bursts(errors: HostArray, scales: HostArray) -> HostArray:
    """Return which rows are strange, or stand in a run of rows that are off in the same way.

    They say nothing of predictors: one that follows a burst would look the best.
    """
    doubtful = far(errors, scales) > STRANGE
    if len(errors) >= RUN:
        runs = np.lib.stride_tricks.sliding_window_view(errors, RUN, axis=0)
        doubtful |= rows_of_runs(far(np.median(runs, axis=-1), scales) > RUN_OFF)
    return doubtful


def _record_change(memory: Memory) -> None:
    """Let the sceptic know what the believing channel knows."""
    earliest = max(memory.n_rows - COMPARED, memory.since)
    began = memory.suspected if memory.suspected >= 0 else earliest
    columns = memory.columns(memory.kept.X, memory.kept.given)
    n_new = min(len(memory.kept), memory.n_rows - began)
    moved = columns[-ALARM:] @ (memory.fast.output_weights - memory.slow.output_weights)
    size = np.median(np.abs(moved), axis=0)
    # What was usual before: just after a change errors are larger, and it would look small.
    scales = memory.scales(SLOW, LONG)
    worst = int(np.argmax(size / scales))
    event = [memory.n_rows, began, size[worst], size[worst] / scales[worst]]
    if event[-1] >= NOTABLE:  # else the sceptic was only the slower learner
        memory.drifts = np.concatenate([memory.drifts, [event]])[-KEPT_EVENTS:]
    memory.archive = [memory.slow.output_weights, *memory.archive][:ARCHIVED]
    scales = memory.scales(FAST, min(SHORT, memory.n_rows - memory.restarted))
    _acquit(memory, (memory.kept.y - columns @ memory.fast.output_weights)[-n_new:], scales)
    memory.slow = memory.fast
    memory.errors[:, [SLOW, SLOW_LEVEL]] = memory.errors[:, [FAST, FAST_LEVEL]]
    memory.n_errors = min(memory.n_errors, max(BLOCK, memory.n_rows - memory.restarted))
    memory.since, memory.suspected = began, -1
    memory.due = memory.n_rows + BLOCK


def _acquit(memory: Memory, errors: HostArray, scales: HostArray) -> None:
    """Take rows off the suspects that the changed world explains."""
    measured = memory.kept.weight[-len(errors) :] > 0  # not what stands in for a stuck sensor
    met = measured & (far(errors, scales) <= STRANGE)
    explained = memory.n_rows - len(errors) + np.flatnonzero(met)
    stays = ~np.isin(memory.suspects[:, 0], explained)
    memory.n_suspects -= int(np.sum(~stays))
    memory.suspects = memory.suspects[stays]
