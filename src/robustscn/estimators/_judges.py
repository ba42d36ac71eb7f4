"""Who judges the rows of a regressor that is made robust: networks, or its own clones.

Networks see the most in tables of numbers. But where they cannot follow, at the edges of steps
say, they take right rows for wrong ones, and a regressor that is taught so learns no better. So
clones are taught three times, with weights by the networks' scale and by wider ones, and their own
left-out residuals say by which rows are met best.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..core.arrays import HostArray
from ..core.judging import GRAIN, HALVED, WIDEST, Plan, Round, Start, judge
from ..core.keeping import kept_round
from ..core.problem import Problem
from ..core.weighting import named
from ._crossfit import MANY_ROWS, CrossFitted, Fitted
from ._watch import Watch
from .flagship import RobustSCNRegressor

LARGEST = 1e12
"""Input beyond which networks are not asked: they would refuse it, and trees do not mind."""

WIDER = (16.0, 4.0, 1.0)
"""Times the networks' scale by which rows are weighed. On steps without wrong rows trees taught by
the narrowest alone err half as much again as by the widest; with a quarter of the rows wrong the
narrowest or the middle one was kept on all of ten sets. Development draws."""

NARROWED = HALVED**9
"""Share of its widest that the scale's floor has here: where the flagship's ten rounds end."""

JUDGED_AND_TAUGHT = (3.0, *(1.0 for _ in WIDER))
"""How long networks take to judge rows beside clones to learn from them by each scale: on 800 rows
half of it, on 15,000 as long as all of them; for progress."""

SAID = (
    "inlier_weight_",
    "outliers_",
    "outlier_probability_",
    "estimated_outlier_share_",
    "expected_",
    "residuals_",
    "residual_scale_",
)
"""What a judge says of the rows that it was fitted to."""


def judge_of(estimator: Any, X: Any, seed: int) -> Any:
    """Return who judges the rows, not yet fitted; None for clones of the regressor.

    Parameters
    ----------
    estimator : RobustRegressor
        Its `judge`, and what it passes on to networks.
    X : array-like of shape (n_rows, n_features)
        Inputs of any kind.
    seed : int
        Of the networks.

    Returns
    -------
    estimator or None
        With the attributes in `SAID` once it is fitted.
    """
    asked = estimator.judge
    if not isinstance(asked, str):
        return clone(asked)
    rounds_chosen = estimator.n_rounds is not None or estimator.weighting != "auto"
    if asked == "clones" or (asked == "auto" and (rounds_chosen or not networks_can_judge(X))):
        return None
    networks = RobustSCNRegressor(fdr=estimator.fdr, n_jobs=estimator.n_jobs, random_state=seed)
    if estimator.weighting != "auto":
        networks.set_params(weighting=estimator.weighting)
    return networks


def networks_can_judge(X: Any) -> bool:
    """Return whether inputs are such that networks judge them, and soon.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Inputs of any kind.

    Returns
    -------
    bool
        Whether they are a table of finite numbers, gaps allowed, of fewer rows than those from
        which on networks take longer than some fits of a regressor.

    Examples
    --------
    >>> networks_can_judge(np.eye(3)), networks_can_judge(np.array([["a"], ["b"]]))
    (True, False)
    """
    values = _numbers(X)
    if values is None or len(values) >= MANY_ROWS:
        return False
    return not bool(np.any(np.abs(values) > LARGEST))  # a gap is not larger than anything


def _numbers(X: Any) -> HostArray | None:
    """Return a table as an array of numbers, or None where it is something else."""
    if hasattr(X, "select_dtypes"):
        if X.select_dtypes(["number", "bool"]).shape != X.shape:
            return None
        return X.to_numpy(dtype=np.float64, na_value=np.nan)
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2:
        return X.astype(np.float64)
    return None


def taught_by(
    weight: HostArray, problem: Problem, learner: CrossFitted, watch: Watch
) -> Round[tuple[Fitted, ...]]:
    """Return what clones make of rows that a judge has weighed.

    Parameters
    ----------
    weight : array of shape (n_rows,)
        How far the judge believes each row, one at most.
    problem : Problem
        The rows.
    learner : CrossFitted
        Clones to be taught.
    watch : Watch
        Told of each scale as of a part of the fit.

    Returns
    -------
    Round
        That of the scale by which rows kept from the clones are met best; the narrowest of those
        that are not told apart.
    """
    rows, counted = problem.rows, problem.weight
    plan = Plan(named("mixture"), floor=WIDEST * NARROWED, local=True, grain=GRAIN)
    rounds: list[Round[tuple[Fitted, ...]]] = []
    for times in WIDER:
        start = Start(widened(weight, times), trusted=problem.trusted)
        with watch.part():
            rounds += judge(rows, counted, learner, [plan], start)
    return rounds[kept_round(rows, counted, [each.evidence for each in rounds])]


def widened(weight: HostArray, times: float) -> HostArray:
    """Return what rows would weigh by a scale so many times as wide.

    Parameters
    ----------
    weight : array
        Between 0 and 1, taken for 1 / (1 + d^2)^2 of some distance d.
    times : float
        One or more.

    Returns
    -------
    array
        1 / (1 + (d / times)^2)^2; what weighs nothing goes on to weigh nothing.

    Examples
    --------
    >>> widened(np.array([1.0, 0.25, 0.0]), 2.0).round(2).tolist()
    [1.0, 0.64, 0.0]
    """
    root = np.sqrt(weight)
    # With r = 1 / (1 + d^2): d^2 = (1 - r) / r.
    return (root * times**2 / (root * times**2 + 1.0 - root)) ** 2
