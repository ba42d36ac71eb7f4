"""Regression when the training targets cannot be trusted."""

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
