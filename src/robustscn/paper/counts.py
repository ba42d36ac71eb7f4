"""How many trials stand behind the cells, from the results themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .blocks import Table
from .cells import NONE
from .results import Results
from .settings import FUNCTION, GRINDING, KEEL, TABLE_LEVELS, Experiment, Task

COLUMNS = {
    "rsc-kde": "RSC-KDE, our settings",
    "oracle": "its oracle",
    "literal": "RSC-KDE, literal and on test rows",
    "layers": "RVFL, Improved RVFL, PRNNRW",
    "ours": "RobustSCN",
}
BESIDE = {
    "rounds": "Table 5",
    "ablation": "the open choices (appendix C)",
    "treasury": "what was tried on treasury",
}


def span(counts: Iterable[int]) -> str:
    """Return the smallest and the largest number."""
    low, *_, high = [*sorted(counts)] * 2
    return f"{low}" if low == high else f"{low} to {high}"


def _counts(results: Results, experiment: Experiment, group: str) -> list[int]:
    """Return at each outlier share of the tables how many trials a group ran."""
    found = []
    for level in TABLE_LEVELS:
        part = results.group(experiment.name, level, "rsc-kde" if group == "oracle" else group)
        if part:
            number = len(part["each"].get("oracle", ())) if group == "oracle" else part["trials"]
            found.append(number)
    return [number for number in found if number]


def trials(results: Results) -> Table | None:
    """Return how many trials the tables of redrawn data are means of."""
    tasks: Sequence[Task] = (*KEEL, FUNCTION, GRINDING)
    rows = []
    for task in tasks:
        found = [_counts(results, Experiment(task), group) for group in COLUMNS]
        if any(found):
            counts = [span(each) if each else NONE for each in found]
            rows.append([task.name, str(task.trials), *counts])
    title = "Trials behind each cell: redrawn data, protocol add, 10 to 25% outliers"
    return Table(title, ["data", "the paper", *COLUMNS.values()], rows) if rows else None


def beside(results: Results) -> str:
    """Return in words how many trials stand behind all other tables."""
    parts = results.record["parts"]
    words = []
    for group, name in BESIDE.items():
        counts = {part[group]["trials"] for part in parts.values() if group in part}
        if counts:
            words.append(f"{name} {span(counts)}")
    for kind, name in (("-fixed ", "fixed data"), ("-replace-", "protocol replace")):
        counts = {
            group["trials"]
            for part, groups in parts.items()
            for known, group in groups.items()
            if kind in part and known in COLUMNS
        }
        if counts:
            words.append(f"{name} {span(counts)}")
    return ", ".join(words)
