"""All cells of the results, by set, method and condition; some may be missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .names import NOT_RIVALS
from .statistics import Values

Key = tuple[str, str, str]


def there(values: Values) -> list[float]:
    """Return the values of fits that ended in a model."""
    return [v for v in values if v is not None]


def mean_of(values: Values) -> float:
    """Return the mean of what is there."""
    return float(np.mean(there(values))) if there(values) else float("inf")


def rounded(value: Any) -> Any:
    """Return the value with its numbers to five digits, which is more than they are worth."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


class Cells(Mapping[Key, dict[str, Any]]):
    """All cells by set, method and condition."""

    def __init__(self, cells: Iterable[dict[str, Any]]) -> None:
        self._cells = {(c["set"], c["method"], c["condition"]): c for c in cells}
        self.sets = list(dict.fromkeys(key[0] for key in self._cells))
        self.methods = list(dict.fromkeys(key[1] for key in self._cells))
        self.rivals = [m for m in self.methods if m not in NOT_RIVALS]
        # What the rivals meet: ours meets more.
        self.conditions = list(
            dict.fromkeys(key[2] for key in self._cells if key[1] in self.rivals)
        )

    def __getitem__(self, key: Key) -> dict[str, Any]:
        return self._cells[key]

    def __iter__(self) -> Any:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def met_by(self, method: str) -> list[tuple[str, str]]:
        """Return the sets and conditions in which a method meets a rival."""
        return [
            (s, c)
            for s in self.sets
            for c in self.conditions
            if (s, method, c) in self and self.rivals_in(s, c)
        ]

    def rivals_in(self, set_name: str, condition: str) -> list[str]:
        """Return the rivals that have been run."""
        return [
            m
            for m in self.rivals
            if (set_name, m, condition) in self and there(self[set_name, m, condition]["rmse"])
        ]

    def rmse(self, set_name: str, method: str, condition: str) -> float:
        """Return the mean error over the draws."""
        return mean_of(self[set_name, method, condition]["rmse"])

    def shared(self, set_name: str, one: str, other: str, condition: str) -> tuple[float, float]:
        """Return the mean errors of two methods over the draws that both have."""
        errors = (self[set_name, m, condition]["rmse"] for m in (one, other))
        both = [(a, b) for a, b in zip(*errors, strict=False) if a is not None and b is not None]
        return mean_of([a for a, _ in both]), mean_of([b for _, b in both])

    def ratio(self, set_name: str, above: tuple[str, str], below: tuple[str, str]) -> float:
        """Return a ratio of mean errors; each is of a method and a condition."""
        errors = [self[set_name, *each]["rmse"] for each in (above, below)]
        shared = min(map(len, errors))
        return mean_of(errors[0][:shared]) / mean_of(errors[1][:shared])
