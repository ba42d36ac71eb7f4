"""Results on disk: one small file for each experiment, outlier share and group of methods.

A file is only ever replaced by a longer one, atomically, so that a run may end at any moment and
be taken up again. The settings it was made with stand in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..atomic import write_whole
from .settings import TASKS, Experiment, Task, group_settings

Key = tuple[str, float, str]
"""Experiment, outlier share, group."""


class Store:
    """Trials that are done.

    Parameters
    ----------
    folder : Path
        Where the files are.
    tasks : mapping of str to Task
        The tasks that their names mean.
    """

    def __init__(self, folder: Path, tasks: Mapping[str, Task] = TASKS) -> None:
        self.folder, self.tasks = folder, tasks
        self._trials: dict[Key, dict[int, dict[str, Any]]] = {}

    def trials(self, experiment: Experiment, level: float, group: str) -> dict[int, dict[str, Any]]:
        """Return the trials done, by number."""
        key = (experiment.name, level, group)
        if key not in self._trials:
            self._trials[key] = self._read(self._path(key), group_settings(experiment, group))
        return self._trials[key]

    def _read(self, path: Path, settings: dict[str, Any]) -> dict[int, dict[str, Any]]:
        if not path.exists():
            return {}
        record = _record(path)
        # Through JSON and back, as what is compared has been.
        if record["settings"] != json.loads(json.dumps(settings)):
            raise ValueError(
                f"{path} was made with other settings than the present ones: name another folder, "
                "or remove the file"
            )
        return {trial["trial"]: trial for trial in record["trials"]}

    def add(
        self, experiment: Experiment, level: float, group: str, trials: Iterable[dict[str, Any]]
    ) -> None:
        """Add trials and write the file."""
        done = self.trials(experiment, level, group)
        done.update({trial["trial"]: trial for trial in trials})
        key = (experiment.name, level, group)
        record = {
            "experiment": experiment.name,
            "level": level,
            "group": group,
            "settings": group_settings(experiment, group),
            "trials": [done[number] for number in sorted(done)],
        }
        write_text(self._path(key), json.dumps(record) + "\n")

    def parts(self) -> list[tuple[Experiment, float, str]]:
        """Return the experiments, outlier shares and groups that have results here."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            record = _record(path)
            name, protocol, data = record["experiment"].split("-")
            task = self.tasks[name]
            found.append((Experiment(task, protocol, data), record["level"], record["group"]))
        return found

    def _path(self, key: Key) -> Path:
        name, level, group = key
        return self.folder / f"{name}-{round(100 * level):02d}-{group}.json"


def _record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict) and {"experiment", "settings", "trials"} <= record.keys():
            return record
    except ValueError:
        pass
    raise ValueError(f"{path} is damaged: remove it, and what it held is computed again")


def write_text(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())
