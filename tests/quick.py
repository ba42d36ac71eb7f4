"""Estimators of sizes that show what they promise on a few hundred rows, and are quick."""

from __future__ import annotations

import robustscn

QUICK = {
    "RVFLRegressor": {"n_nodes": 15, "scope": 5.0},
    "ImprovedRVFLRegressor": {"n_nodes": 15, "scope": 5.0},
    "PRNNRWRegressor": {"n_nodes": 15, "scope": 5.0, "ridge": 1e-6},
    "SCNRegressor": {"max_nodes": 12},
    "RSCKDERegressor": {"max_nodes": 12, "n_rounds": 3},
    # Too few rounds for a second look, which takes three times as long: `whole` has it.
    "RobustSCNRegressor": {"max_nodes": 12, "n_rounds": 3, "n_networks": 3, "n_jobs": 1},
}


def quick(name, **params):
    """Return an estimator of that name: small, with a seed."""
    return getattr(robustscn, name)(**{**QUICK[name], "random_state": 0, **params})


def whole(**params):
    """Return a flagship of a size that has all of its parts."""
    sizes = {"max_nodes": 20, "n_rounds": 6, "n_networks": 4}
    return quick("RobustSCNRegressor", **{**sizes, **params})
