"""From distrusted rows to episodes: where it began and ended, how large it was, what it may be.

Rows that follow each other and were distrusted together have one cause. A stretch is also found
where no single row stands out: residuals of a week that all lie on one side are no chance. Rows
in a stretch that look innocent belong to it. What repeats its target, unlike elsewhere, is an
episode whatever the model says of it. Distrusted rows that are left are single spikes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators._suspects import in_deviations
from .causes import cause_of, slips
from .finding import Finding
from .order import Order
from .ramps import ramp_of
from .repeats import repeated
from .segments import Segment, maximal_segments, odds, usual_rate

FEWEST_ROWS = 4
_SURE = 5.0
_INSIDE = 0.7
_SHIFT = 1.0
"""Shift in robust standard deviations that is looked for; half of it is found where it lasts."""
_LARGEST = 3.0
_FEWEST_OTHERS = 6
_FAR, _BEYOND = 5.0, 1.6
"""Standard deviations from the means of other stretches, and times the farthest of them."""


@dataclass(frozen=True)
class Episode:
    """Rows that went wrong together.

    Parameters
    ----------
    kind : str
        "stuck", "held", "unit", "shift", "drift", "inputs", "unclear" or "spikes".
    words : str
        The likely cause.
    target : str
        What went wrong.
    rows : ndarray of shape (n,)
        Positions in the table, in order.
    n_flagged : int
        How many of them were distrusted one by one.
    size : float
        Median of observed minus expected; of single spikes, of its absolute value.
    deviations : float
        The same in robust standard deviations.
    start, end : object
        Names of the first and the last row.
    start_time, end_time : str
        When they were; empty where it is not known.
    length : str
        How long it was.
    ends : tuple of float or None
        Milliseconds since 1970 of both ends; None where times are not known.
    """

    kind: str
    words: str
    target: str
    rows: NDArray[np.int64] = field(repr=False)
    n_flagged: int
    size: float
    deviations: float
    start: Any
    end: Any
    start_time: str
    end_time: str
    length: str
    ends: tuple[float, float] | None = None

    @property
    def sentence(self) -> str:
        """The episode in one line."""
        if self.kind == "spikes":
            return self.words
        begin, end = (self.start_time, self.end_time)
        where = f"{begin} to {end}" if begin else f"{self.start} to {self.end}"
        flagged = f", {self.n_flagged:,} flagged" if self.n_flagged < len(self.rows) else ""
        # What repeats says for how long; that is told once.
        length = "" if self.kind in ("stuck", "held") else f"{self.length}, "
        return f"{where}: {self.words} ({length}{len(self.rows):,} rows{flagged})"


def episodes_of(
    observed: NDArray[np.float64],
    expected: NDArray[np.float64],
    scale: NDArray[np.float64],
    flagged: NDArray[np.bool_],
    order: Order,
    targets: Sequence[str],
) -> list[Episode]:
    """Return the episodes of a fit, the longest first, single spikes last.

    Parameters
    ----------
    observed, expected : ndarray of shape (n_rows,) or (n_rows, n_targets)
        Targets as they came and as networks that had not seen the row would have them.
    scale : ndarray of shape (n_targets,)
        One robust standard deviation of the residuals.
    flagged : bool ndarray of shape (n_rows,)
        Rows that were distrusted.
    order : Order
        In which order rows follow each other.
    targets : sequence of str
        Names of the targets.

    Returns
    -------
    list of Episode
        One for each stretch, and one for what is left.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from robustscn.looks import episodes_of, order_of
    >>> rng = np.random.default_rng(0)
    >>> expected = rng.normal(80.0, 5.0, 400)
    >>> observed = expected + rng.normal(0.0, 0.5, 400)
    >>> observed[100:150] = (observed[100:150] - 32) / 1.8
    >>> far = np.abs(observed - expected) > 1.5
    >>> order = order_of(pd.DataFrame(index=range(1, 401)))
    >>> found = episodes_of(observed, expected, np.array([0.5]), far, order, ["temp"])
    >>> found[0].words, found[0].start, found[0].end
    ('about value / 1.8 - 17.8: °F read as °C?', 101, 150)
    """
    observed, expected = (each.reshape(len(flagged), -1) for each in (observed, expected))
    found: list[Episode] = []
    used = np.zeros(len(flagged), dtype=bool)
    scales = np.atleast_1d(scale)
    worst = np.abs(_deviations(observed - expected, scales)).argmax(axis=1)
    for q, target in enumerate(targets):
        mine = flagged & (worst == q)
        parts = (observed[:, q], expected[:, q], float(scales[q]))
        for finding in repeated(target, observed[:, q], order):
            if finding.where:
                words = finding.words.removeprefix("is ").replace("holds each value", "held")
                found.append(
                    _episode(finding.kind, words, target, finding.rows, mine, order, parts)
                )
                used[finding.rows] = True
        deviations = _deviations(parts[0] - parts[1], scales[q])
        if (drift := _drift(deviations, target, mine, order, parts)) is not None:
            found.append(drift)
            used[drift.rows] = True
        for first, end in _stretches(deviations, mine, used, order):
            rows = order.rows[first:end]
            rows = rows[~used[rows]]
            if len(rows) < FEWEST_ROWS:
                continue
            along, unit = order.clock(rows)
            cause = cause_of(parts[0][rows], parts[1][rows], parts[2], along, unit)
            found.append(_episode(cause.kind, cause.words, target, rows, mine, order, parts))
            used[rows] = True
    found.sort(key=lambda episode: -len(episode.rows))
    for q, target in enumerate(targets):
        rows = order.rows[(flagged & (worst == q) & ~used)[order.rows]]
        if len(rows):
            parts = (observed[:, q], expected[:, q], float(scales[q]))
            more = slips(parts[0][rows], parts[1][rows], parts[2])
            words = f"{len(rows):,} single spike{'s' * (len(rows) > 1)}" + (
                f", {more}" * bool(more)
            )
            found.append(_episode("spikes", words, target, rows, flagged, order, parts))
    return found


def with_causes(episodes: Sequence[Episode], findings: Sequence[Finding]) -> list[Episode]:
    """Return episodes, those whose inputs were found to be wrong with what was found of them.

    Parameters
    ----------
    episodes : sequence of Episode
        Of a fit.
    findings : sequence of Finding
        What is odd about the columns.

    Returns
    -------
    list of Episode
        In the same order.
    """
    wrong = [each for each in findings if each.contradicts]
    told = []
    for episode in episodes:
        for each in wrong if episode.kind != "spikes" else ():
            if np.isin(episode.rows, each.rows).mean() > 0.5:
                words = f"input {each.column!r} {each.words}"
                told.append(replace(episode, kind="inputs", words=words))
                break
        else:
            told.append(episode)
    return told


def _drift(
    deviations: NDArray[np.float64],
    target: str,
    flagged: NDArray[np.bool_],
    order: Order,
    parts: tuple[NDArray[np.float64], NDArray[np.float64], float],
) -> Episode | None:
    """Return the drift with which the table ends, if it does."""
    ramp = ramp_of(deviations[order.rows])
    if ramp is None:
        return None
    rows = order.rows[ramp.first :]
    along, unit = order.clock(rows)
    run = float(along[-1] - along[0])
    if not run:
        return None
    change = ramp.change * parts[2]
    words = f"drift of {change / run:+.3g} {unit}, {change:+.3g} in all"
    return _episode("drift", words, target, rows, flagged, order, parts)


def _deviations(residuals: NDArray[np.float64], scale: Any) -> NDArray[np.float64]:
    return np.nan_to_num(in_deviations(residuals, scale), nan=0.0, posinf=1e6, neginf=-1e6)


def _plain(name: Any) -> Any:
    return name.item() if hasattr(name, "item") else name


def _episode(
    kind: str,
    words: str,
    target: str,
    rows: NDArray[np.int64],
    flagged: NDArray[np.bool_],
    order: Order,
    parts: tuple[NDArray[np.float64], NDArray[np.float64], float],
) -> Episode:
    residuals = (parts[0] - parts[1])[rows]
    # Spikes go both ways; what is typical of them is how far.
    size = float(np.median(np.abs(residuals) if kind == "spikes" else residuals))
    first, last = int(rows[0]), int(rows[-1])
    return Episode(
        kind,
        words,
        target,
        rows,
        int(flagged[rows].sum()),
        size,
        float(_deviations(np.array(size), parts[2])),
        _plain(order.names[first]),
        _plain(order.names[last]),
        order.moment(first),
        order.moment(last),
        order.length(rows),
        None
        if order.moments is None
        else (1000 * float(order.moments[first]), 1000 * float(order.moments[last])),
    )


def _stretches(
    deviations: NDArray[np.float64],
    flagged: NDArray[np.bool_],
    used: NDArray[np.bool_],
    order: Order,
) -> list[tuple[int, int]]:
    """Return first place and place after the last, in order, of stretches that went wrong."""
    z = deviations[order.rows]
    hit = (flagged & ~used)[order.rows]
    least = np.log(max(len(z), 2)) + _SURE
    rate = float(np.clip(max(usual_rate(hit), 0.3 * hit.mean()), 5e-3, 0.4))
    together = maximal_segments(odds(hit, max(_INSIDE, 1.5 * rate), rate), least)
    found = [s for s in together if hit[s[0] : s[1]].sum() >= FEWEST_ROWS]
    return _merged([*found, *_one_sided(z, hit, least)])


def _one_sided(z: NDArray[np.float64], hit: NDArray[np.bool_], least: float) -> list[Segment]:
    """Return stretches whose residuals lie on one side for longer than chance would have it."""
    if (~hit).sum() < 50:
        return []
    bounded = np.clip(z - np.median(z[~hit]), -_LARGEST, _LARGEST)
    return [
        _trimmed(side * bounded, segment, least)
        for side in (1.0, -1.0)
        for segment in maximal_segments(_SHIFT * side * bounded - _SHIFT**2 / 2, least)
        if segment[1] - segment[0] >= 2 * FEWEST_ROWS and _stands_out(bounded, segment)
    ]


def _trimmed(bounded: NDArray[np.float64], segment: Segment, least: float) -> Segment:
    """Return a stretch from the first to the last part in which its own shift is found.

    What is looked for is small; a large shift has so much to spare that rows after it join, and
    the next spike with them. Within, what went wrong may stray.
    """
    first, end, sum_of_it = segment
    shift = float(np.median(bounded[first:end]))
    parts = maximal_segments(shift * bounded[first:end] - shift**2 / 2, least)
    if shift <= _SHIFT or not parts:
        return segment
    return first + parts[0][0], first + parts[-1][1], sum_of_it


def _stands_out(bounded: NDArray[np.float64], segment: Segment) -> bool:
    """Return whether no other stretch of that length is nearly so far to a side.

    Residuals resemble their neighbours, for hours or for weeks. How far the mean of so many of
    them strays by itself is seen in the other stretches; it need not be computed.
    """
    first, end, _ = segment
    length = end - first
    others = [
        part[k : k + length].mean()
        for part in (bounded[:first][::-1], bounded[end:])
        for k in range(0, len(part) - length + 1, length)
    ]
    if len(others) < _FEWEST_OTHERS:
        return False
    means = np.array(others)
    middle = np.median(means)
    spread = 1.4826 * np.median(np.abs(means - middle))
    here = abs(bounded[first:end].mean() - middle)
    rivals = np.sort(np.abs(means - middle))
    return bool(here > _FAR * spread and here > _BEYOND * rivals[-1 - len(rivals) // 20])


def _merged(segments: list[Segment]) -> list[tuple[int, int]]:
    """Return segments with those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for first, end, _ in sorted(segments):
        if joined and first < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((first, end))
    return joined
