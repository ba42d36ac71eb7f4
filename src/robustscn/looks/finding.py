"""One thing that is odd about a column, in words and with its rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Finding:
    """What is odd about a column.

    Parameters
    ----------
    column : str
        Its name.
    kind : str
        "stuck", "held", "heap", "sentinel", "impossible", "unit", "swapped", "cell", "level" or
        "drift".
    words : str
        A sentence without the column's name.
    rows : ndarray of shape (n,)
        Positions of the rows in the table.
    where : str
        First and last of them, as the table calls them.
    target : bool
        Whether the column is to be predicted.
    """

    column: str
    kind: str
    words: str
    rows: NDArray[np.int64] = field(repr=False)
    where: str = ""
    target: bool = False

    @property
    def certain(self) -> bool:
        """Whether it is odd by the value alone, whatever the other rows are like."""
        return self.kind in ("sentinel", "impossible")

    @property
    def contradicts(self) -> bool:
        """Whether inputs are wrong by what the other cells of their rows say."""
        return self.kind in ("unit", "swapped", "cell") and not self.target

    @property
    def sentence(self) -> str:
        """The finding with its place."""
        comma = "" if self.words.endswith("?") else ","
        return f"{self.words}{comma} {self.where}" if self.where else self.words


def counted(rows: NDArray[np.int64]) -> str:
    """Say how many rows.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Their positions.

    Returns
    -------
    str
        Such as "1 row" or "1,200 rows".
    """
    return f"{len(rows):,} row{'s' * (len(rows) != 1)}"
