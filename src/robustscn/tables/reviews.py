"""What people have answered about rows: a column that says which targets are wrong or fine.

An answer is more than a judgement of ours: a target that is called wrong is none, and a row that is
called fine is believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..text import shortened
from .faults import TableError, require_columns

if TYPE_CHECKING:
    import pandas as pd

WRONG = frozenset({"wrong", "bad", "false", "incorrect"})
FINE = frozenset({"fine", "ok", "okay", "good", "right", "true", "correct"})
UNANSWERED = frozenset({"", "unsure", "?", "-", "nan", "none", "<na>"})


def reviews_of(frame: pd.DataFrame, column: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    r"""Return which rows a column calls wrong, and which fine.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    column : str
        Its column of answers: "wrong", "fine", or nothing.

    Returns
    -------
    wrong, fine : bool ndarrays of shape (n_rows,)
        Which rows those are.

    Examples
    --------
    >>> from robustscn.tables import read_table, reviews_of
    >>> frame = read_table(b"size,review\n0.5,wrong\n0.6,\n0.7,Fine\n")
    >>> wrong, fine = reviews_of(frame, "review")
    >>> wrong.tolist(), fine.tolist()
    ([True, False, False], [False, False, True])
    """
    require_columns([column], frame.columns, "the table")
    given = frame[column]
    answers = given.astype(object).where(given.notna(), "").map(str).str.strip().str.lower()
    wrong, fine = (answers.isin(words).to_numpy(dtype=bool) for words in (WRONG, FINE))
    strange = answers[~(wrong | fine | answers.isin(UNANSWERED).to_numpy(dtype=bool))]
    if len(strange):
        kind = frame.index.name or "row"
        raise TableError(
            f"column {shortened(column)!r} is to say 'wrong', 'fine' or nothing, and "
            f"{len(strange):,} of its {len(frame):,} rows say something else, first {kind} "
            f"{strange.index[0]} ({shortened(strange.iloc[0], 20)!r}): correct them, or name "
            "another column"
        )
    return wrong, fine
