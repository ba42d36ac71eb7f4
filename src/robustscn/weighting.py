"""Ready-made weightings, and the base class of your own: from residuals to inlier weights."""

from .core.weighting import (
    KDE,
    NAMED,
    Cauchy,
    Curve,
    GemanMcClure,
    Huber,
    Laplace,
    Mixture,
    StudentT,
    Tukey,
    Weighting,
    Welsch,
    named,
)

__all__ = [
    "KDE",
    "NAMED",
    "Cauchy",
    "Curve",
    "GemanMcClure",
    "Huber",
    "Laplace",
    "Mixture",
    "StudentT",
    "Tukey",
    "Weighting",
    "Welsch",
    "named",
]
