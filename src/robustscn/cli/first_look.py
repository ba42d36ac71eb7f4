"""A first look at a long table: what a fit on some of its rows says, before the long fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .episodes import fit_episodes
from .learning import Task, learned
from .settings import Settings

LONG = 20_000
"""Rows from which on there is a first look; a fit of fewer takes little longer than it."""
SAMPLE = 3_000
"""Rows of the first look. A matter of time: seconds, whatever the table is."""
MOST_EPISODES = 3


def sample_of(task: Task, rows: int = SAMPLE) -> Task:
    """Return the same task on rows evenly spread over the table.

    Parameters
    ----------
    task : Task
        What is to be learned.
    rows : int
        How many are taken at most.

    Returns
    -------
    Task
        Of every k-th row, in the order of time; its columns are not looked at again.
    """
    step = -(-len(task.frame) // rows)
    places = np.sort(task.order.rows[::step])
    known = np.ones(len(places), dtype=bool)
    targets = replace(
        task.targets, values=task.targets.values[places], known=known, wrong=np.zeros_like(known)
    )
    return replace(task, frame=task.frame.iloc[places], targets=targets, looked=False)


def first_look(task: Task, settings: Settings) -> list[str]:
    """Return what a fit on some of the rows says of the table.

    Parameters
    ----------
    task : Task
        What is to be learned.
    settings : Settings
        How.

    Returns
    -------
    list of str
        Lines for people; none where the table is not long.
    """
    if len(task.frame) <= LONG or task.group is not None:
        return []
    sample = sample_of(replace(task, time=None))
    fit = learned(sample, settings, quiet=True)
    assert fit.held_out is not None
    median = ", ".join(f"{error:.4g}" for error in fit.held_out.median)
    share = float(np.mean(fit.model.outliers_))
    lines = [
        f"first look, at {len(sample.frame):,} of {len(task.frame):,} rows: half of the rows are "
        f"predicted to within {median}, {share:.1%} are flagged"
    ]
    episodes = [each for each in fit_episodes(fit.model, sample) if each.kind != "spikes"]
    return [*lines, *(f"first look: {each.sentence}" for each in episodes[:MOST_EPISODES])]
