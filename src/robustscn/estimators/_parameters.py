"""Clear errors for wrong parameters: one table, since a name means the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.nodes import ACTIVATIONS
from ..core.weighting import named

Check = Callable[[Any], str | None]
"""Says what the value must be, or None if it is that."""


def _is_number(value: Any) -> bool:
    real = isinstance(value, (int, float, np.integer, np.floating))
    return real and not isinstance(value, bool) and bool(np.isfinite(value))


def _whole(value: Any) -> str | None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return None if whole and value >= 1 else "a whole number of at least 1"


def _jobs(value: Any) -> str | None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return None if value is None or (whole and value != 0) else "None or a whole number but 0"


def _positive_or_none(value: Any) -> str | None:
    return None if value is None or _positive(value) is None else "None or a positive number"


def _positive(value: Any) -> str | None:
    return None if _is_number(value) and value > 0 else "a positive finite number"


def _not_negative(value: Any) -> str | None:
    return None if _is_number(value) and value >= 0 else "a finite number of at least 0"


def _judge(value: Any) -> str | None:
    """Say whether a value is the name of a judge or an estimator that says which rows are wrong."""
    named_so = isinstance(value, str) and value in ("auto", "clones", "networks")
    # Those with intervals know the probability of rows to be wrong, and hear of trusted ones.
    says = hasattr(value, "predict_interval") and hasattr(value, "outlier_table")
    return None if named_so or says else '"auto", "clones", "networks" or a robust estimator'


def _folds(value: Any) -> str | None:
    enough = value is None or (_whole(value) is None and value > 1)
    return None if enough else "None or a whole number of at least 2"


def _share(value: Any) -> str | None:
    return None if _is_number(value) and 0 < value < 1 else "a number between 0 and 1"


def _flag(value: Any) -> str | None:
    return None if isinstance(value, (bool, np.bool_)) else "True or False"


def _flag_or_auto(value: Any) -> str | None:
    automatic = isinstance(value, str) and value == "auto"
    return None if automatic or _flag(value) is None else 'True, False or "auto"'


def _one_of(*choices: str) -> Check:
    return lambda value: None if value in choices else f"one of {', '.join(choices)}"


def _numbers(high: float, words: str) -> Check:
    def check(value: Any) -> str | None:
        several = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
        if several and len(value) and all(_is_number(v) and 0 < v < high for v in value):
            return None
        return words

    return check


CHECKS: dict[str, Check] = {
    "max_nodes": _whole,
    "n_nodes": _whole,
    "n_networks": _whole,
    "n_rounds": _whole,
    "n_folds": _folds,
    "judge": _judge,
    "n_candidates": _whole,
    "n_jobs": _jobs,
    "window": _whole,
    "block": _whole,
    "patience": _whole,
    "half_life": _positive_or_none,
    "ridge": _not_negative,
    "tol": _not_negative,
    "scope": _positive,
    "delta": _positive,
    "fdr": _share,
    "second_look": _flag,
    "direct_link": _flag,
    "bias": _flag,
    "rebuild": _flag_or_auto,
    "warm_start": _flag,
    "scopes": _numbers(np.inf, "positive finite numbers, at least one"),
    "contractions": _numbers(1.0, "numbers between 0 and 1, at least one"),
    "algorithm": _one_of("SC-I", "SC-II", "SC-III"),
    "scope_order": _one_of("ascending", "pooled"),
    "proposals": _one_of("random", "adaptive"),
    "transformation": _one_of("auto", "none", "log", "sqrt"),
    "rule": _one_of("inequality", "exact"),
    "activation": _one_of(*(name for name in ACTIVATIONS if name != "identity")),
}


def check_parameters(estimator: Any) -> None:
    """Raise an error that names the first wrong parameter of an estimator and its value."""
    for name, value in estimator.get_params(deep=False).items():
        # "auto" is no weighting: an estimator that has it makes of it what it means there.
        if name == "weighting" and value is not None and str(value) != "auto":
            named(value)
        if value is None and name in getattr(estimator, "_may_be_none", ()):
            continue
        wanted = CHECKS[name](value) if name in CHECKS else None
        if wanted is not None:
            raise ValueError(f"{name} must be {wanted}, got {value!r}")
