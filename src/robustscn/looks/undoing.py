"""Stretches that look like the rest of the table once a fault is undone.

A fault is a guess: this column was in another unit, these two were swapped. Undone, the cells of
a row must agree with each other as they do elsewhere in the table (`others`). Each row has, for
each guess, the logarithm of how much likelier it is undone than as it stands; a stretch in which
the sum of these is beyond chance is a finding. Where several guesses explain a stretch, that one
is taken which leaves all columns of the row most likely, and then the next, with the first undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cells import findings_of, odd_cells, without
from .finding import Finding
from .levels import CONVERSIONS, Conversion
from .order import Order
from .others import Others, spread
from .ramps import ramp_of
from .segments import Segment

Array = NDArray[np.float64]

FEWEST_ROWS = 16
"""By argument: a few rows in a row that resemble another unit are chance in a skewed column."""
FEWEST_TABLE, FEWEST_VALUES = 200, 10
"""Rows of a table and values of a column below which nothing is said: codes and settings are no
measurements, and of a short table too little is left when a block is."""
MOST_ROWS = 2500
"""Rows that are looked at; of longer tables every k-th, so that a look takes seconds."""
MOST_COLUMNS = 16
"""Columns that are looked at: the time grows with their square."""
LONGEST = 0.4
"""Share of the table from which on a stretch is no exception."""
_SURE = 5.0
FEWEST_STRETCHES = 8
"""Means that a scatter is computed from: a few of them may be of bad weeks."""
_FARTHEST = 5.0
"""Most that one row inside a stretch may say for or against a guess."""
_DEGREES = 5.0
_MOST_CANDIDATES, _MOST_STRETCHES = 12, 4


@dataclass(frozen=True)
class Guess:
    """What may have gone wrong.

    Parameters
    ----------
    columns : tuple of int
        One, whose unit is another, or two, which are swapped.
    conversion : Conversion or None
        From the right unit to the one that is there; None is a swap.
    """

    columns: tuple[int, ...]
    conversion: Conversion | None = None

    @property
    def cost(self) -> float:
        """What rows lose for being undone: smaller numbers always lie closer together."""
        slope = 1.0 if self.conversion is None else abs(self.conversion.slope)
        return max(0.0, float(np.log(slope)))

    def undone(self, rows: Array) -> Array:
        """Return rows as they would be without the fault.

        Parameters
        ----------
        rows : ndarray of shape (n, n_columns)
            As they stand.

        Returns
        -------
        ndarray of shape (n, n_columns)
            A copy.
        """
        right = rows.copy()
        if self.conversion is None:
            right[:, self.columns] = rows[:, self.columns[::-1]]
        else:
            column, unit = self.columns[0], self.conversion
            right[:, column] = (rows[:, column] - unit.start) / unit.slope
        return right


@dataclass(frozen=True)
class Undone:
    """A stretch that a guess explains.

    Parameters
    ----------
    guess : Guess
        What may have gone wrong.
    first, end : int
        First place and place after the last.
    """

    guess: Guess
    first: int
    end: int


def contradictions(
    names: Sequence[str], columns: Sequence[Array], order: Order, targets: Sequence[str] = ()
) -> Iterator[Finding]:
    """Find where columns contradict each other: another unit, a swap, a target that drifts.

    Parameters
    ----------
    names : sequence of str
        The columns.
    columns : sequence of ndarray of shape (n_rows,)
        Numbers and NaN, in the order of the table.
    order : Order
        In which order rows follow each other.
    targets : sequence of str
        Those of the columns that are looked at for drift.

    Yields
    ------
    Finding
        "unit", "swapped", which is told of its first column, or "drift".
    """
    step = max(1, -(-len(order.rows) // MOST_ROWS))
    rows = order.rows[::step]
    cells = {n: c[rows] for n, c in zip(names, columns, strict=True) if _varied(c[rows])}
    if not 2 <= len(cells) <= MOST_COLUMNS or len(rows) < FEWEST_TABLE:
        return
    names, table = list(cells), np.column_stack(list(cells.values()))
    gaps = ~np.isfinite(table)
    others = _filled(Others(np.where(gaps, np.nanmedian(table, axis=0), table)), gaps)
    odd = odd_cells(others, ~gaps)
    inputs = [cell for cell in odd if names[cell.column] not in targets]
    yield from findings_of(inputs, names, rows, order)
    others, repaired = without(odd, others)
    gaps |= repaired
    for each in explained(others, gaps):
        stretch = order.rows[step * each.first : step * each.end]
        where, length = order.where(int(stretch[0]), int(stretch[-1])), order.length(stretch)
        name = names[each.guess.columns[0]]
        if each.guess.conversion is not None:
            words = f"is about {each.guess.conversion.words}, for {length}: unit?"
            yield Finding(name, "unit", words, stretch, where)
        else:
            other = names[each.guess.columns[1]]
            words = f"is what {other!r} should be, and {other!r} what it should be, for {length}"
            yield Finding(name, "swapped", f"{words}: columns swapped?", stretch, where)
    for column in (k for k, name in enumerate(names) if name in targets):
        deviations = np.where(gaps, 0.0, others.deviations(others.table))[:, column]
        ramp = ramp_of(deviations)
        if ramp is not None:
            stretch = order.rows[step * ramp.first :]
            way = "above" if ramp.change > 0 else "below"
            words = f"drifts {way} what the other columns say, for {order.length(stretch)}"
            where = order.where(int(stretch[0]), int(stretch[-1]))
            yield Finding(names[column], "drift", words, stretch, where)


def _varied(column: Array) -> bool:
    known = column[np.isfinite(column)]
    return len(known) > 0.2 * len(column) and len(np.unique(known)) >= FEWEST_VALUES


def _filled(others: Others, gaps: NDArray[np.bool_]) -> Others:
    """Return the same beside a table whose gaps hold what the other columns say.

    With the median there, those would seem to contradict it wherever it is not what they say.
    """
    table = others.table.copy()
    for column in np.flatnonzero(gaps.any(axis=0)).tolist():
        places = np.flatnonzero(gaps[:, column])
        nothing = np.zeros(len(places))
        table[places, column] = others.expected(others.table[places], column, places, nothing)
    return others.with_table(table)


def explained(others: Others, gaps: NDArray[np.bool_] | None = None) -> list[Undone]:
    """Return stretches that a fault explains, the surest first.

    Parameters
    ----------
    others : Others
        What columns say of each other.
    gaps : bool ndarray of shape (n_rows, n_columns) or None
        Cells that were filled and say nothing.

    Returns
    -------
    list of Undone
        None of which explains what another one did.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn.looks.others import Others
    >>> from robustscn.looks.undoing import explained
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal([[20.0], [50.0]], 3.0, (2, 500))
    >>> table = np.column_stack([a, b, a + 2 * b + rng.normal(size=500)])
    >>> table[200:240, :2] = table[200:240, 1::-1]
    >>> [(found.guess.columns, found.first, found.end) for found in explained(Others(table))]
    [((0, 1), 200, 240)]
    """
    rows = others.table.copy()
    known = np.ones(rows.shape, dtype=bool) if gaps is None else ~gaps
    least = float(np.log(len(rows) ** 2 * len(list(_guesses(rows.shape[1])))) + _SURE)
    deviations = np.where(known, others.deviations(rows), 0.0)
    left = _candidates(others, known, least)
    found: list[Undone] = []
    while left:
        gains = [_gain(others, rows, known, deviations, each) for each in left]
        best = int(np.argmax(gains))
        if gains[best] < least:
            break
        chosen = left.pop(best)
        found.append(chosen)
        stretch = slice(chosen.first, chosen.end)
        rows[stretch] = chosen.guess.undone(rows[stretch])
    return found


class Chain(NamedTuple):
    """Residuals that resemble the ones before: an AR(1) with Student's innovations.

    Parameters
    ----------
    memory : ndarray of shape (n_columns,)
        How far they do.
    news : ndarray of shape (n_columns,)
        Robust standard deviation of what they are beyond that.
    cost : float
        What a row loses for being undone.
    """

    memory: Array
    news: Array
    cost: float = 0.0

    def told(self, now: Array, then: Array) -> Array:
        """Return the log-likelihood of each row, up to a constant, given the row before it.

        Parameters
        ----------
        now, then : ndarray of shape (n_rows, n_columns)
            Deviations of the rows, and those from which the row before is taken.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Nothing of the first row, which has none before it.
        """
        news = np.zeros(now.shape)
        news[1:] = (now[1:] - self.memory * then[:-1]) / self.news
        each: Array = np.log1p(news**2 / _DEGREES)
        return -(_DEGREES + 1) / 2 * each

    def inside(self, gain: Array) -> Array:
        """Return what rows say that have the row before them on the same side of a fault.

        Parameters
        ----------
        gain : ndarray of shape (n_rows, n_columns)
            Log-likelihood ratios.

        Returns
        -------
        ndarray of shape (n_rows,)
            Sums over the columns. The more residuals remember, the more of it is their level,
            which also strays for good reasons, and the less it counts beside the jumps at the ends.
        """
        lost = self.cost * (1 - self.memory.max())
        return np.clip(gain @ (1 - self.memory) - lost, -_FARTHEST, _FARTHEST)


def _guesses(n_columns: int) -> Iterator[Guess]:
    for column in range(n_columns):
        for conversion in CONVERSIONS:
            yield Guess((column,), conversion)
    for pair in combinations(range(n_columns), 2):
        yield Guess(pair)


def _candidates(others: Others, known: NDArray[np.bool_], least: float) -> list[Undone]:
    """Return stretches whose own columns a guess makes likelier than chance would."""
    table = others.table
    as_it_stands = np.where(known, others.deviations(table), 0.0)
    found: list[tuple[float, Undone]] = []
    for guess in _guesses(table.shape[1]):
        mine = list(guess.columns)
        right = guess.undone(table)
        before = as_it_stands[:, mine]
        if guess.conversion is None:
            after = others.deviations(right, mine)
        else:  # what is expected of a column does not depend on it
            moved = (others.bent(right) - others.bent(table))[:, mine]
            after = before + moved / others.scale[mine]
        after = np.where(known[:, mine], after, 0.0)
        for first, end, total in stretches(
            before, after, Chain(others.memory[mine], others.news[mine], guess.cost), least
        ):
            found.append((total, Undone(guess, first, end)))
    found.sort(key=lambda each: -each[0])
    return [each for _, each in found[:_MOST_CANDIDATES]]


def stretches(before: Array, after: Array, chain: Chain, least: float) -> list[Segment]:
    """Return the stretches in which deviations are likelier undone than as they stand.

    Residuals resemble their neighbours, so what a row adds is what it says beyond the row before
    it; where a stretch begins or ends, that row is on the other side of the fault.

    Parameters
    ----------
    before, after : ndarray of shape (n_rows, n_columns)
        Deviations as they stand and undone, in order.
    chain : Chain
        How residuals of these columns follow each other.
    least : float
        Smallest sum of log-likelihood ratios that counts.

    Returns
    -------
    list of (int, int, float)
        First place, place after the last, and sum; the surest first.
    """
    usual = chain.told(before, before)
    inside = chain.inside(chain.told(after, after) - usual)
    begin, beyond = (
        (chain.told(now, then) - usual).sum(axis=1)
        for now, then in ((after, before), (before, after))
    )
    found: list[Segment] = []
    while len(found) < _MOST_STRETCHES:
        # All stretches at once: the sum up to an end less the sum up to a beginning.
        sums = np.append(0.0, np.cumsum(inside))
        ends = sums[1:] + np.append(beyond[1:], 0.0)
        starts = begin - sums[1:]
        best = np.maximum.accumulate(starts)
        totals = ends[FEWEST_ROWS - 1 :] + best[: len(best) - FEWEST_ROWS + 1]
        place = int(np.argmax(totals))
        if totals[place] < least:
            break
        first, end = int(np.argmax(starts[: place + 1])), place + FEWEST_ROWS
        if end - first <= LONGEST * len(inside):
            found.append((first, end, float(totals[place])))
        inside[first:end] = begin[first:end] = -1e6
    return found


def _gain(
    others: Others, rows: Array, known: NDArray[np.bool_], deviations: Array, each: Undone
) -> float:
    """Return how much likelier all cells of a stretch are undone, with a row on either side.

    What a stretch says by its level counts by how far levels stray in the rest of the table.
    """
    places = np.arange(max(each.first - 1, 0), min(each.end + 1, len(rows)))
    inside = (places >= each.first) & (places < each.end)
    part = rows[places]
    right = np.where(inside[:, None], each.guess.undone(part), part)
    chain = Chain(others.memory, others.news, each.guess.cost)
    before, after = (
        np.where(known[places], others.deviations(cells, places=places), 0.0)
        for cells in (part, right)
    )
    gain = chain.told(after, after) - chain.told(before, before)
    within = inside & np.append(False, inside[:-1])
    mine = list(each.guess.columns)
    strayed = max(
        straying(deviations[:, column], others.memory[column], each.end - each.first)
        for column in mine
    )
    return float(chain.inside(gain[within]).sum() / strayed + gain[~within].sum())


def straying(deviations: Array, memory: float, length: int) -> float:
    """Return how much more the means of stretches scatter than a memory of one row explains.

    Columns that wander for weeks under hourly noise have two memories, and the short one alone
    takes every hour of a wandering week for news.

    Parameters
    ----------
    deviations : ndarray of shape (n_rows,)
        Of one column, in robust standard deviations, in order.
    memory : float
        How far each resembles the one before.
    length : int
        Rows of a stretch.

    Returns
    -------
    float
        A ratio of variances, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn.looks.undoing import straying
    >>> noise = np.random.default_rng(0).normal(size=2000)
    >>> straying(noise, 0.0, 50) < 2
    True
    >>> straying(noise + 2 * np.sin(np.arange(2000) / 200), 0.6, 50) > 5
    True
    """
    length = max(1, min(length, len(deviations) // FEWEST_STRETCHES))
    whole = deviations[: len(deviations) // length * length]
    means = np.clip(whole, -_FARTHEST, _FARTHEST).reshape(-1, length).mean(axis=1)
    # The variance of the mean of an AR(1) of variance one.
    past = 2 * memory * (1 - memory**length) / (length * (1 - memory) ** 2)
    explained_by_memory = ((1 + memory) / (1 - memory) - past) / length
    return max(1.0, spread(means) ** 2 / explained_by_memory)
