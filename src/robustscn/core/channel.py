"""One model of a stream: output weights that follow the rows, and a level that follows faster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .arrays import HostArray
from .information import Information

LEVEL = 5
"""Errors whose median is the level: two wrong ones of five do not move it. By argument; more would
follow more slowly."""

STRANGE = 3.0
"""Robust standard deviations beyond which a row is strange: the usual three, as in
`OUTLIER_DISTANCE`."""


@dataclass(frozen=True)
class Channel:
    """What one of the models knows.

    Parameters
    ----------
    information : Information
        What rows said.
    output_weights : array of shape (n_columns, n_outputs)
        What follows from it.
    ridge : float
        Penalty for each unit of weight that is in the information.
    tail : array of shape (LEVEL, n_outputs)
        Last errors that were believed.
    """

    information: Information
    output_weights: HostArray
    ridge: float
    tail: HostArray

    def learned(
        self,
        columns: HostArray,
        targets: HostArray,
        weight: HostArray,
        *,
        kept: float,
        turn: int,
        towards: HostArray,
    ) -> Channel:
        """Return the channel after further rows.

        Parameters
        ----------
        columns : array of shape (n_rows, n_columns)
            Hidden columns, the constant last.
        targets : array of shape (n_rows, n_outputs)
            Targets.
        weight : array of shape (n_rows,)
            How far each row counts.
        kept : float
            Share of the weight of earlier rows that is left.
        turn : int
            Number of the block. What fades of the ridge is put back, one column after the other.
        towards : array of shape (n_columns, n_outputs)
            Output weights that the ridge draws to.

        Returns
        -------
        Channel
            The last errors are moved as the predictions were.
        """
        n_drawn = columns.shape[1] - 1
        lost = self.ridge * self.information.weight * (1.0 - kept) * n_drawn
        rows, goals, counts = columns, targets, weight
        if lost > 0:
            pull = np.zeros((1, n_drawn + 1))
            pull[0, turn % n_drawn] = 1.0
            rows = np.concatenate([columns, pull])
            goals = np.concatenate([targets, pull @ towards])
            counts = np.append(weight, lost)
        information = self.information.updated(rows, goals, counts, kept)
        information = replace(information, weight=information.weight - lost)
        output_weights = information.output_weights()
        moved = np.mean(columns @ (output_weights - self.output_weights), axis=0)
        return replace(
            self, information=information, output_weights=output_weights, tail=self.tail - moved
        )


def followed(tail: HostArray, errors: HostArray, scales: HostArray) -> tuple[HostArray, HostArray]:
    """Return the level before each row, and the last errors that were believed after all.

    Parameters
    ----------
    tail : array of shape (LEVEL, n_outputs)
        Last errors that were believed.
    errors : array of shape (n_rows, n_outputs)
        Errors of the rows that follow.
    scales : array of shape (n_outputs,)
        One robust standard deviation of errors without the level.

    Returns
    -------
    levels : array of shape (n_rows, n_outputs)
        Median of the last errors that were believed. One that is strange is not, by itself and
        when the level is taken off: a burst of wrong rows is not followed, until it has lasted
        long enough to widen the scale, and a level that is wrong does not stay.
    tail : array of shape (LEVEL, n_outputs)
        The last of them.
    """
    levels, tails = np.empty_like(errors), np.empty_like(tail)
    for q, limit in enumerate((STRANGE * scales).tolist()):
        last = tail[:, q].tolist()
        for i, error in enumerate(errors[:, q].tolist()):
            level = sorted(last)[LEVEL // 2]
            levels[i, q] = level
            if min(abs(error), abs(error - level)) <= limit:
                last = [*last[1:], error]
        tails[:, q] = last
    return levels, tails
