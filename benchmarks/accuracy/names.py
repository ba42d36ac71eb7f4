"""Names of methods that are more than one among the peers."""

from __future__ import annotations

OURS, ORACLE, UNWEIGHTED = "RobustSCN", "RobustSCN oracle", "RobustSCN unweighted"
BLEND = "RobustBlend"
ROBUST_HIST, ROBUST_LIGHTGBM = "RobustRegressor", "RobustRegressor, LightGBM"
FAMILY = (OURS, BLEND, ROBUST_HIST, ROBUST_LIGHTGBM)
"""Ours, as users get them; trees inside are on their defaults too."""
PLAIN_HIST, PLAIN_LIGHTGBM = "HistGradientBoosting, squared", "LightGBM, squared"
LEARNERS = (PLAIN_HIST, PLAIN_LIGHTGBM)
"""The same trees with nothing made robust, for clean rows."""
CLEANLAB, RANKING = "CleanLearning", "HuberRegressor, linear"
NOT_RIVALS = (*FAMILY, *LEARNERS, ORACLE, UNWEIGHTED, RANKING)

ROBUST_LOSSES = {
    ROBUST_HIST: ("HistGradientBoosting, absolute",),
    ROBUST_LIGHTGBM: ("LightGBM, absolute", "LightGBM, Huber", "LightGBM, fair"),
}
"""The same trees, tuned, with losses that are said to be robust."""
