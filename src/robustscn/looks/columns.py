"""A look at all columns of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..estimators._threads import ONE_BLAS_THREAD
from ..tables.columns import as_numbers
from .finding import Finding
from .levels import levels
from .order import Order, order_of
from .repeats import repeated
from .targets import heaps
from .undoing import contradictions
from .values import odd_values

if TYPE_CHECKING:
    import pandas as pd

MOSTLY_ONE = 0.4
"""A column of which this share is one value is not looked at for repeats and levels."""
SEVEREST = (
    *("sentinel", "impossible", "unit", "swapped", "cell", "heap", "stuck", "held", "level"),
    "drift",
)
"""Kinds of findings, the most certain first."""


def look(
    frame: pd.DataFrame,
    columns: Sequence[str],
    targets: Sequence[str] = (),
    *,
    order: Order | None = None,
    units: Mapping[str, str] | None = None,
) -> list[Finding]:
    """Return what is odd about columns of numbers, targets first.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    columns : sequence of str
        Columns to look at besides the targets; those that are no numbers are passed over.
    targets : sequence of str
        Columns that are to be predicted.
    order : Order or None
        In which order rows follow each other; None finds out.
    units : mapping of str to str or None
        Units of columns, where they are known.

    Returns
    -------
    list of Finding
        The most certain first in each column.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from robustscn.looks import look
    >>> flow = np.random.default_rng(0).normal(50, 2, 200)
    >>> flow[[20, 90, 140]] = -999
    >>> [finding.words for finding in look(pd.DataFrame({"flow": flow}), ["flow"])]
    ['is -999 in 3 rows, far from all else: a mark for nothing? (--na -999 reads it so)']
    """
    order = order or order_of(frame)
    names = [*targets, *(name for name in columns if name not in targets)]
    numbers = {name: as_numbers(frame[name]) for name in names}
    names = [
        name
        for name in names
        if frame[name].dtype.kind != "b" and np.isfinite(numbers[name]).mean() >= 0.2
    ]
    alone = {
        name: _looked_at(name, numbers[name], order, (units or {}).get(name, ""), name in targets)
        for name in names
    }
    rest = [_without(numbers[name], [f for f in alone[name] if _explains(f)]) for name in names]
    with ONE_BLAS_THREAD.held():  # matrices of a few columns: threads would wait for each other
        together = list(contradictions(names, rest, order, targets))
    found = []
    for name in names:
        mine = [each for each in together if each.column == name]
        here = [*mine, *(each for each in alone[name] if not _told(each, together))]
        here.sort(key=lambda each: SEVEREST.index(each.kind))
        found += [
            Finding(f.column, f.kind, f.words, f.rows, f.where, name in targets) for f in here
        ]
    return found


def _looked_at(
    name: str, values: NDArray[np.float64], order: Order, unit: str, target: bool
) -> list[Finding]:
    """Return what is odd about a column by itself."""
    here = [f for f in odd_values(name, values, order, unit) if _varies(values) or f.certain]
    rest = _without(values, here)
    if _varies(rest):
        here += [*repeated(name, rest, order), *_few(list(levels(name, rest, order)))]
    return [*here, *(heaps(name, values) if target else ())]


def _without(values: NDArray[np.float64], findings: list[Finding]) -> NDArray[np.float64]:
    """Return a column without cells that are odd one by one."""
    odd = np.zeros(len(values), dtype=bool)
    for each in findings:
        odd[each.rows] = True
    return np.where(odd, np.nan, values)


def _explains(finding: Finding) -> bool:
    """Return whether cells are odd for a reason that leaves nothing to be guessed."""
    return finding.certain or (finding.kind in ("stuck", "held") and bool(finding.where))


def _told(finding: Finding, others: list[Finding]) -> bool:
    """Return whether a stretch of another level or unit is part of one with a better reason."""
    return finding.kind in ("unit", "level") and any(
        np.isin(finding.rows, each.rows).mean() > 0.5 for each in others
    )


def _varies(values: NDArray[np.float64]) -> bool:
    """Return whether a column is measured all the time, and not mostly at its end or its rest."""
    known = values[np.isfinite(values)]
    if not len(known):
        return False
    _, counts = np.unique(known, return_counts=True)
    return bool(counts.max() <= MOSTLY_ONE * len(known))


def _few(findings: list[Finding]) -> list[Finding]:
    """Return findings with many stretches of another level as one: that is how the column is."""
    levels_found = [each for each in findings if each.kind == "level"]
    if len(levels_found) <= 2:
        return findings
    rows = np.concatenate([each.rows for each in levels_found])
    words = f"has another level in {len(levels_found)} stretches, {len(rows):,} rows"
    others = [each for each in findings if each.kind != "level"]
    return [*others, Finding(levels_found[0].column, "level", words, rows)]
