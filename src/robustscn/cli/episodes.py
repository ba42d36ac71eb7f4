"""Stretches that went wrong, as a table and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..judgement import judgement_of
from ..looks import Episode, episodes_of, with_causes

if TYPE_CHECKING:
    import pandas as pd

    from .learning import Task


def fit_episodes(model: Any, task: Task) -> list[Episode]:
    """Return the episodes of a fit.

    Parameters
    ----------
    model : RobustSCNRegressor
        Fitted.
    task : Task
        What it was fitted on.

    Returns
    -------
    list of Episode
        The longest first, single spikes last.
    """
    judge = judgement_of(model)
    found = episodes_of(
        judge.expected + judge.residuals,
        judge.expected,
        judge.scale,
        judge.outliers,
        task.order,
        task.targets.names,
    )
    return with_causes(found, task.findings)


def plain_episode(episode: Episode) -> dict[str, Any]:
    """Return an episode as plain data.

    Parameters
    ----------
    episode : Episode
        What went wrong together.

    Returns
    -------
    dict
        One value each.
    """
    return {
        "kind": episode.kind,
        "target": episode.target,
        "start": episode.start,
        "end": episode.end,
        "start_time": episode.start_time,
        "end_time": episode.end_time,
        "length": episode.length,
        "rows": len(episode.rows),
        "flagged": episode.n_flagged,
        "size": episode.size,
        "deviations": episode.deviations,
        "cause": episode.words,
        "sentence": episode.sentence,
    }


def with_positions(episode: Episode, known: NDArray[np.bool_]) -> dict[str, Any]:
    """Return an episode as plain data, with the rows of the table that belong to it.

    Parameters
    ----------
    episode : Episode
        What went wrong together.
    known : bool ndarray
        Which rows of the table as it was read have a target.

    Returns
    -------
    dict
        From `plain_episode`, and `positions`: first and last of each run of rows, from 0, for
        programs that go on with them.
    """
    rows = np.sort(np.flatnonzero(known)[episode.rows])
    runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
    return plain_episode(episode) | {"positions": [[int(r[0]), int(r[-1])] for r in runs]}


def episode_rows(episodes: Sequence[Episode]) -> pd.DataFrame:
    """Return episodes as a table.

    Parameters
    ----------
    episodes : sequence of Episode
        What went wrong together.

    Returns
    -------
    pandas.DataFrame
        One row each, numbered from 1.
    """
    import pandas as pd

    columns = (
        *("kind", "target", "start", "end", "start_time", "end_time", "length", "rows"),
        *("flagged", "size", "deviations", "cause"),
    )
    rows = [plain_episode(each) for each in episodes]
    index = pd.RangeIndex(1, len(rows) + 1, name="episode")
    return pd.DataFrame(rows, index=index, columns=list(columns))
