"""The scikit-learn face: validate, call the core, unpack."""

from .anyone import RobustRegressor
from .flagship import RobustSCNRegressor
from .rvfl import ImprovedRVFLRegressor, PRNNRWRegressor, RVFLRegressor
from .scn import RSCKDERegressor, SCNRegressor

__all__ = [
    "ImprovedRVFLRegressor",
    "PRNNRWRegressor",
    "RSCKDERegressor",
    "RVFLRegressor",
    "RobustRegressor",
    "RobustSCNRegressor",
    "SCNRegressor",
]
