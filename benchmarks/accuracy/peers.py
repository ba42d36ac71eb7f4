"""The tools a Python user would reach for, and what each is tuned over.

A peer is tuned once for each set: random configurations, the mean absolute error over three
folds of dirty training rows, nothing clean. Targets are standardised where a method has a
setting in their unit (epsilon, the bend of a Huber loss), inputs where it measures distances.
CleanLearning fits its model some seventy times, so the model inside is tuned bare. RSC-KDE, the
paper's, is given no clean rows here, though the paper has some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cleanlab.regression.learn import CleanLearning
from lightgbm import LGBMRegressor
from quantile_forest import RandomForestQuantileRegressor
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import HuberRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR
from xgboost import XGBRegressor

from robustscn import RSCKDERegressor

from .challengers import CHALLENGERS
from .names import CLEANLAB, RANKING
from .peer import Build, Peer, Settings, Space, leaves, scaled_target

SCOPES = {
    "gentle": (0.5, 1.0, 3.0, 5.0),
    "middle": (1.0, 5.0, 10.0, 30.0),
    "steep": (10.0, 30.0, 50.0, 100.0, 150.0, 200.0),
}


def _svr(s: Settings, _seed: int) -> Any:
    return scaled_target(make_pipeline(StandardScaler(), SVR(cache_size=500, **s)))


def _hist(s: Settings, seed: int) -> Any:
    return HistGradientBoostingRegressor(**{"loss": "absolute_error", **s}, random_state=seed)


def _lightgbm(objective: str) -> Build:
    def build(s: Settings, seed: int) -> Any:
        fixed: Settings = {"objective": objective, "n_jobs": 1, "verbose": -1, "subsample_freq": 1}
        return scaled_target(LGBMRegressor(**fixed, **s, random_state=seed))

    return build


def _xgboost(objective: str) -> Build:
    def build(s: Settings, seed: int) -> Any:
        return scaled_target(XGBRegressor(objective=objective, n_jobs=1, **s, random_state=seed))

    return build


def _boosting(s: Settings, seed: int) -> Any:
    return GradientBoostingRegressor(loss="huber", **s, random_state=seed)


def _forest(s: Settings, seed: int) -> Any:
    return RandomForestQuantileRegressor(default_quantiles=0.5, n_jobs=1, **s, random_state=seed)


def _fourier(s: Settings, seed: int) -> Any:
    features = RBFSampler(gamma=s["gamma"], n_components=s["n_components"], random_state=seed)
    huber = HuberRegressor(epsilon=s["epsilon"], alpha=s["alpha"], max_iter=300)
    return scaled_target(make_pipeline(StandardScaler(), features, huber))


def _mlp(s: Settings, seed: int) -> Any:
    settings = {**s, "hidden_layer_sizes": tuple(s["hidden_layer_sizes"])}
    network = MLPRegressor(**settings, early_stopping=True, max_iter=200, random_state=seed)
    return scaled_target(make_pipeline(StandardScaler(), network))


class WideCleanLearning(CleanLearning):
    """CleanLearning that looks for up to 40 % wrong rows; on its own it stops at 20 %."""

    def fit(self, X: Any, y: Any) -> WideCleanLearning:
        """Find suspicious rows, then fit without them."""
        shares = [0.05, 0.1, 0.2, 0.3, 0.4]
        super().fit(X, y, find_label_issues_kwargs={"coarse_search_range": shares})
        return self


def _cleanlab(s: Settings, seed: int) -> Any:
    return WideCleanLearning(_hist(s, seed), seed=seed)


def _rsc_kde(s: Settings, seed: int) -> Any:
    settings = {**s, "scopes": SCOPES[s["scopes"]]}
    lowest = settings.pop("lowest_input")
    model = RSCKDERegressor(**settings, scope_order="pooled", n_candidates=20, random_state=seed)
    return make_pipeline(MinMaxScaler((lowest, 1.0)), model)


def _linear_huber(s: Settings, _seed: int) -> Any:
    return scaled_target(make_pipeline(StandardScaler(), HuberRegressor(**s, max_iter=1000)))


def _boosted(space: Space, most_trees: int) -> Settings:
    return {
        "learning_rate": space.log(0.02, 0.3),
        "max_leaf_nodes": space.whole(4, 64),
        "max_iter": space.whole(50, most_trees),
        "min_samples_leaf": space.whole(3, 40),
        "l2_regularization": space.log(1e-3, 10.0),
    }


def _trees(space: Space) -> Settings:
    return {
        "learning_rate": space.log(0.02, 0.3),
        "max_depth": space.one_of(2, 3, 4, 5, 6, 8),
        "n_estimators": space.whole(100, 600),
        "min_child_weight": space.log(0.1, 20.0),
        "subsample": space.flat(0.5, 1.0),
        "colsample_bytree": space.flat(0.5, 1.0),
        "reg_lambda": space.log(1e-3, 10.0),
    }


PEERS: Mapping[str, Peer] = {
    "SVR": Peer(
        _svr,
        lambda s: {"C": s.log(0.1, 100), "epsilon": s.log(0.003, 0.5), "gamma": s.gamma()},
        "scikit-learn",
    ),
    "HistGradientBoosting, absolute": Peer(_hist, lambda s: _boosted(s, 400), "scikit-learn"),
    "LightGBM, absolute": Peer(_lightgbm("regression_l1"), leaves, "lightgbm"),
    "LightGBM, Huber": Peer(
        _lightgbm("huber"), lambda s: {**leaves(s), "alpha": s.log(0.1, 3.0)}, "lightgbm"
    ),
    "LightGBM, fair": Peer(
        _lightgbm("fair"), lambda s: {**leaves(s), "fair_c": s.log(0.05, 3.0)}, "lightgbm"
    ),
    "XGBoost, absolute": Peer(_xgboost("reg:absoluteerror"), _trees, "xgboost-cpu"),
    "XGBoost, pseudo-Huber": Peer(
        _xgboost("reg:pseudohubererror"),
        lambda s: {**_trees(s), "huber_slope": s.log(0.05, 3.0)},
        "xgboost-cpu",
    ),
    "GradientBoosting, Huber": Peer(
        _boosting,
        lambda s: {
            "learning_rate": s.log(0.02, 0.3),
            "max_depth": s.one_of(2, 3, 4, 5, 6),
            "n_estimators": s.whole(50, 300),
            "min_samples_leaf": s.whole(1, 30),
            "subsample": s.flat(0.3, 1.0),
            "alpha": s.flat(0.5, 0.95),
        },
        "scikit-learn",
    ),
    "Quantile forest, median": Peer(
        _forest,
        lambda s: {
            "n_estimators": s.whole(50, 150),
            "min_samples_leaf": s.whole(1, 20),
            "max_features": s.flat(0.3, 1.0),
        },
        "quantile-forest",
    ),
    "Fourier features + Huber": Peer(
        _fourier,
        lambda s: {
            "gamma": s.gamma(),
            "n_components": s.whole(50, 400),
            "alpha": s.log(1e-5, 10.0),
            "epsilon": s.flat(1.05, 2.0),
        },
        "scikit-learn",
    ),
    "MLP": Peer(
        _mlp,
        lambda s: {
            "hidden_layer_sizes": list(s.one_of((50,), (100,), (50, 50), (100, 50))),
            "activation": s.one_of("relu", "tanh"),
            "alpha": s.log(1e-6, 1.0),
            "learning_rate_init": s.log(5e-4, 2e-2),
            "batch_size": s.one_of(32, 64, 128),
        },
        "scikit-learn",
    ),
    CLEANLAB: Peer(
        _cleanlab,
        lambda s: {"loss": s.one_of("absolute_error", "squared_error"), **_boosted(s, 100)},
        "cleanlab",
        tuned=_hist,
    ),
    "RSC-KDE": Peer(
        _rsc_kde,
        lambda s: {
            "max_nodes": s.whole(20, 150),
            "scopes": s.one_of("gentle", "middle", "steep"),
            "n_rounds": s.one_of(3, 5, 8),
            "ridge": s.log(1e-8, 1e-3),
            "lowest_input": s.one_of(-1.0, 0.0),
        },
        "robustscn",
    ),
}
TUNED: Mapping[str, Peer] = {
    **PEERS,
    **CHALLENGERS,
    RANKING: Peer(
        _linear_huber,
        lambda s: {"epsilon": s.flat(1.01, 3.0), "alpha": s.log(1e-6, 10.0)},
        "scikit-learn",
    ),
}
