"""Stretches that went wrong, as a table and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
