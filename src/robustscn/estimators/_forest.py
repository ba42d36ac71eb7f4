"""scikit-learn's histogram boosting, turned into plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from ..core.forest import LEAF, Forest


def forest_of(model: Any) -> Forest | None:
    """Return a fitted regressor's trees; None where it is something else or has categories.

    Parameters
    ----------
    model : regressor
        Fitted.

    Returns
    -------
    Forest or None
        Predicts the same, but for the order in which trees are summed.

    Examples
    --------
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> model = HistGradientBoostingRegressor(max_iter=5).fit(X, np.sin(9 * X[:, 0]))
    >>> bool(np.allclose(forest_of(model).predict(X), model.predict(X)))
    True
    """
    if not isinstance(model, HistGradientBoostingRegressor) or model.loss == "poisson":
        return None
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        return None
    trees = [tree.nodes for (tree,) in model._predictors]
    starts = np.cumsum([0, *(len(nodes) for nodes in trees)])[:-1]
    offsets = np.concatenate([np.full(len(n), s) for n, s in zip(trees, starts, strict=True)])
    nodes = np.concatenate(trees)
    leaf = nodes["is_leaf"].astype(bool)
    return Forest(
        float(np.ravel(model._baseline_prediction)[0]),
        starts.astype(np.int64),
        np.where(leaf, LEAF, nodes["feature_idx"]).astype(np.int64),
        nodes["num_threshold"].astype(np.float64),
        np.where(leaf, 0, nodes["left"] + offsets).astype(np.int64),
        np.where(leaf, 0, nodes["right"] + offsets).astype(np.int64),
        nodes["missing_go_to_left"].astype(bool),
        np.where(leaf, nodes["value"], 0.0).astype(np.float64),
        int(model.n_features_in_),
    )
