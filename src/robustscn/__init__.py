"""Regression when the training targets cannot be trusted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import (
        ImprovedRVFLRegressor,
        PRNNRWRegressor,
        RobustSCNRegressor,
        RSCKDERegressor,
        RVFLRegressor,
        SCNRegressor,
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "ImprovedRVFLRegressor",
    "PRNNRWRegressor",
    "RSCKDERegressor",
    "RVFLRegressor",
    "RobustSCNRegressor",
    "SCNRegressor",
]


def __getattr__(name: str) -> Any:
    # Imported when first asked for: the command line must be able to answer Ctrl-C before that.
    if name in __all__:
        return getattr(import_module(f"{__name__}.estimators"), name)
    if name in ("core", "estimators", "weighting"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
