"""What is to be learned: target columns as numbers, and which rows have them.

Marks that people and loggers write for "nothing" count as missing. Any other text is an error
that names the rows: a target that is half words is a mistake to be seen, not to be filled in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..text import shortened
from .faults import TableError, require_columns
from .marks import marks_in

if TYPE_CHECKING:
    import pandas as pd

FEWEST_ROWS = 10


@dataclass(frozen=True)
class Targets:
    """Targets as numbers.

    Parameters
    ----------
    names : tuple of str
        The target columns.
    values : ndarray of shape (n_known,) or (n_known, n_targets)
        Targets of the rows that have them all.
    known : bool ndarray of shape (n_rows,)
        Which rows those are.
    wrong : bool ndarray of shape (n_rows,)
        Of the others, which have targets that are known to be wrong.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    known: NDArray[np.bool_]
    wrong: NDArray[np.bool_]

    @property
    def n_missing(self) -> int:
        """Rows that lack a target."""
        return int((~self.known & ~self.wrong).sum())

    @property
    def n_wrong(self) -> int:
        """Rows whose targets are known to be wrong."""
        return int(self.wrong.sum())


def targets_of(
    frame: pd.DataFrame,
    names: Sequence[str],
    *,
    to_learn: bool = True,
    wrong: NDArray[np.bool_] | None = None,
) -> Targets:
    r"""Return the targets of a table as numbers.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    names : sequence of str
        The target columns.
    to_learn : bool, default=True
        Whether a model is to be learned from them: then ten rows are needed, and values that
        are not all the same.
    wrong : bool ndarray of shape (n_rows,) or None
        Rows whose targets are known to be wrong: they count as none.

    Returns
    -------
    Targets
        Values, and which rows have them.

    Examples
    --------
    >>> from robustscn.tables import read_table, targets_of
    >>> frame = read_table(b"size,flow\n0.5,1\nn/a,2\n0.7,3\n")
    >>> targets_of(frame, ["size"], to_learn=False).values
    array([0.5, 0.7])
    """
    require_columns(names, frame.columns, "the table")
    columns = np.column_stack([_numbers(frame[name], name) for name in names])
    known: NDArray[np.bool_] = np.asarray(np.isfinite(columns).all(axis=1))
    wrong = np.zeros_like(known) if wrong is None else known & wrong
    known &= ~wrong
    values = columns[known]
    if to_learn:
        _refuse_too_little(values, names, len(frame))
    return Targets(tuple(names), values[:, 0] if len(names) == 1 else values, known, wrong)


def _numbers(column: pd.Series, name: str) -> NDArray[np.float64]:
    import pandas as pd

    if column.dtype.kind == "M":
        raise TableError(
            f"target {shortened(name)!r} holds dates, and only numbers are predicted: choose "
            "another target, or turn the dates into a number of days"
        )
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
    else:
        numbers = _parsed(column, name)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _parsed(column: pd.Series, name: str) -> NDArray[np.float64]:
    import pandas as pd

    texts = column.astype(object).where(column.notna(), "").map(str).str.strip()
    numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    words = np.isnan(numbers)
    words[words] = ~marks_in(texts[words])
    if not words.any():
        return numbers
    strange = texts[words]
    kind = column.index.name or "row"
    shown = ", ".join(f"{kind} {i} ({shortened(v, 20)!r})" for i, v in strange[:4].items())
    raise TableError(
        f"target {shortened(name)!r} holds text in {len(strange):,} of {len(column):,} rows, and "
        f"only numbers are predicted: correct or empty {shown}"
        + (" and others" if len(strange) > 4 else "")
    )


def _refuse_too_little(values: NDArray[np.float64], names: Sequence[str], n_rows: int) -> None:
    if len(values) < FEWEST_ROWS:
        which = "the target" if len(names) == 1 else "every target"
        raise TableError(
            f"{len(values)} of {n_rows:,} rows have {which}, at least {FEWEST_ROWS} are needed "
            "to learn from"
        )
    for name, column in zip(names, values.T, strict=True):
        if (column == column[0]).all():
            raise TableError(
                f"target {shortened(name)!r} is {column[0]:g} in every row: there is nothing to "
                "learn"
            )
