"""Whether the latest rows are another world, and what they say of it: the believing one anew.

Rows that are odd may be wrong or right. Wrong ones in a burst are off by the same; right ones of a
changed world are off by whatever the two worlds differ by for their inputs: they are scattered, and
a model of these rows alone meets each of them better than what was known, left out while it is
learned. So there are two ways to start anew:

    a relation   two fifths of the last rows are odd, scattered, and agree on another model:
                 what this one says of rows left out stands for predictions, and it may speak at
                 once,
    an offset    three fifths are odd: perhaps a change that moves all alike, perhaps a long burst;
                 the rows that follow have to tell.
"""

from __future__ import annotations

import numpy as np

from .arrays import HostArray
from .channel import LEVEL, Channel
from .memory import FAST, FAST_LEVEL, LONG, MIDDLE, SLOW, Memory
from .regrowth import Evidence, solved
from .running import far, inlier_weight, running_scales, trimmed_mean

COUNTED = 0.6
"""Share of rows that must be in no burst; of more the smallest errors count, so many. By
argument."""

ALARM, MANY, MOST = 40, 0.4, 0.6
"""Rows of which these shares must be odd before the believing channel starts anew: for a relation,
for an offset. Bursts of twenty rows, which the tests ask to be passed over, are less than the
second. Measured on 16 streams of development whose world changes: after two blocks half of the rows
are odd by the median, two fifths in nine of ten."""

ENOUGH = 30
"""Rows of a relation at least. Measured on the same streams: of twenty rows a model of ten inputs
meets those left out as badly as what was known. In a burst of fifteen there are as many others."""

ODD = 2.0
"""Robust standard deviations beyond which a row is odd: of right rows one in twenty is, so that
two fifths of forty never are by chance."""

BETWEEN = 0.3
"""Share of odd rows that is more than usual and less than in a changed world: it began where most
rows since are above it. By argument."""

ALIKE, HALF = 0.6, 0.5
"""Odd rows that are off by the same as the odd one before them, as a share: fewer are no burst. In
a burst of fifteen nine tenths are, in a changed world two fifths. The same are errors that differ
by less than noise or by less than half. By argument."""

AGREED = 0.9
"""What left-out errors of the latest rows must be of those of every predictor and of what was
known, but for an offset: chance gives 0.95 and more. Measured on streams of development; 0.8 waits
a block longer in one of six."""

ANCHOR = 20.0
"""Rows that old knowledge counts as when the believing channel starts anew: half of `ALARM`, so
that the new rows outvote it. By argument."""


def started_anew(memory: Memory) -> bool:
    """Let the believing channel start anew where the latest rows are odd; return whether it did."""
    if min(memory.n_errors - ALARM, memory.n_rows) < 2 * ALARM:
        return False
    earlier = memory.errors[-min(memory.n_errors, LONG) : -ALARM]
    latest = memory.errors[-2 * ALARM :]
    usual = running_scales(earlier[:, SLOW])
    odd = np.all(far(latest[:, [SLOW, FAST]], usual) > ODD, axis=1)
    if np.mean(odd[-ALARM:]) < MANY:
        return False
    best = int(np.argmin(trimmed_mean(far(earlier, usual), COUNTED)[:MIDDLE]))
    scales = running_scales(earlier[:, best])
    odd &= far(latest[:, best], scales) > ODD
    share = float(np.mean(odd[-ALARM:]))
    if share < MANY:
        return False
    run = np.cumsum((odd - BETWEEN)[::-1])[::-1]
    n_new = 2 * ALARM - int(np.argmax(run))
    errors = latest[-n_new:, best]
    scattered = n_new >= ENOUGH and _alike(errors[odd[-n_new:]], scales) < ALIKE
    if not scattered and share < MOST:
        return False
    anew, left_out, known = _learned_anew(memory, n_new)
    others = [latest[-n_new:, k] for k in range(MIDDLE) if np.isfinite(latest[-n_new:, k]).all()]
    agree = scattered and all(_better(left_out, each) for each in (known, *others))
    if not agree and share < MOST:
        return False
    memory.fast, memory.renewed = anew, memory.n_rows
    memory.restarted = memory.n_rows - n_new if agree else memory.n_rows
    memory.suspected = memory.n_rows - n_new
    if agree:
        memory.errors[-n_new:, [FAST, FAST_LEVEL]] = left_out[:, None]
    return True


def _alike(errors: HostArray, scales: HostArray) -> float:
    """Return the share of errors that are nearly those before them."""
    sizes = far(errors, scales)
    steps = far(np.diff(errors, axis=0), scales)
    near = np.maximum(np.sqrt(2.0) * ODD, HALF * np.maximum(sizes[1:], sizes[:-1]))
    return float(np.mean(steps <= near))


def _better(left_out: HostArray, known: HostArray) -> bool:
    """Return whether left-out errors are clearly smaller than others less their median."""
    new, old = (
        float(np.sum(trimmed_mean(np.abs(each), COUNTED)))
        for each in (left_out, known - np.median(known, axis=0))
    )
    return new < AGREED * old


def _learned_anew(memory: Memory, n_new: int) -> tuple[Channel, HostArray, HostArray]:
    """Return what the latest rows say, their left-out errors, and those of what was known."""
    kept = memory.kept
    columns = memory.columns(kept.X, kept.given)
    latest = np.flatnonzero(kept.weight > 0)[-n_new:]  # a stuck sensor's rows have no error
    known = _closest(memory, columns, latest)
    says, weights, weight = known, memory.slow.output_weights, np.zeros(len(kept))
    for _ in range(3):
        error = (kept.y - says)[latest]
        weight[latest] = kept.weight[latest] * inlier_weight(far(error, running_scales(error)))
        evidence = Evidence(kept.y, weight, known, ANCHOR)
        information, ridge, left_out = solved(columns, evidence, kept.given.shape[1])
        weights = information.output_weights()
        says = columns @ weights
    anew = Channel(information, weights, ridge, kept.y[-LEVEL:] - says[-LEVEL:])
    return anew, left_out[latest], (kept.y - known)[latest]


def _closest(memory: Memory, columns: HostArray, latest: HostArray) -> HostArray:
    """Return what the known state says that, but for a level, meets the latest rows best."""
    y = memory.kept.y
    found: list[tuple[float, int, HostArray]] = []
    for number, weights in enumerate((memory.slow.output_weights, *memory.archive)):
        says = columns @ weights
        error = (y - says)[latest]
        level = np.median(error, axis=0)
        loss = float(np.sum(trimmed_mean(np.abs(error - level), COUNTED)))
        found.append((loss, number, says + level))
    return min(found, key=lambda each: each[:2])[2]
