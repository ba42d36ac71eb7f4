"""Regression when the training targets cannot be trusted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import (
        ImprovedRVFLRegressor,
        PRNNRWRegressor,
        RobustBlendRegressor,
        RobustRegressor,
        RobustSCNRegressor,
        RobustTransformedRegressor,
        RSCKDERegressor,
        RVFLRegressor,
        SCNRegressor,
    )
    from .versions import show_versions

__version__ = "0.1.0.dev0"

__all__ = [
    "ImprovedRVFLRegressor",
    "PRNNRWRegressor",
    "RSCKDERegressor",
    "RVFLRegressor",
    "RobustBlendRegressor",
    "RobustRegressor",
    "RobustSCNRegressor",
    "RobustTransformedRegressor",
    "SCNRegressor",
    "show_versions",
]


# scikit-learn takes a second or two to load; who asks for a version or for help need not wait.
def __getattr__(name: str) -> Any:
    if name in ("core", "estimators", "weighting"):
        return import_module(f"{__name__}.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "versions" if name == "show_versions" else "estimators"
    globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
