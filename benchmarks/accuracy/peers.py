"""The tools a Python user would reach for, and what each is tuned over.

A peer is tuned once for each set: random configurations, the mean absolute error over three
folds of dirty training rows, nothing clean. Targets are standardised where a method has a
setting in their unit (epsilon, the bend of a Huber loss), inputs where it measures distances.
CleanLearning fits its model some seventy times, so the model inside is tuned bare. RSC-KDE, the
paper's, is given no clean rows here, though the paper has some.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from cleanlab.regression.learn import CleanLearning
from lightgbm import LGBMRegressor
from quantile_forest import RandomForestQuantileRegressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import HuberRegressor
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR
from xgboost import XGBRegressor

from robustscn import RSCKDERegressor

from .summary import CLEANLAB, RANKING

Settings = dict[str, Any]
Build = Callable[[Settings, int], Any]
SCOPES = {
    "gentle": (0.5, 1.0, 3.0, 5.0),
    "middle": (1.0, 5.0, 10.0, 30.0),
    "steep": (10.0, 30.0, 50.0, 100.0, 150.0, 200.0),
}


class Space:
    """Draws of settings, as plain numbers that JSON can hold."""

    def __init__(self, rng: np.random.Generator, n_inputs: int) -> None:
        self.rng = rng
        self.n_inputs = n_inputs

    def log(self, low: float, high: float) -> float:
        """Return a number whose logarithm is uniform."""
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))

    def whole(self, low: int, high: int) -> int:
        """Return a whole number whose logarithm is uniform."""
        return round(self.log(low, high))

    def flat(self, low: float, high: float) -> float:
        """Return a uniform number."""
        return float(self.rng.uniform(low, high))

    def gamma(self) -> float:
        """Return an inverse squared width; one input alone can be resolved far more finely."""
        return self.log(1.0, 3000.0) if self.n_inputs == 1 else self.log(0.003, 10.0)

    def one_of(self, *choices: Any) -> Any:
        """Return one of the choices."""
        return choices[int(self.rng.integers(len(choices)))]


def _scaled_target(model: Any) -> Any:
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def _svr(s: Settings, _seed: int) -> Any:
    return _scaled_target(make_pipeline(StandardScaler(), SVR(cache_size=500, **s)))


def _hist(s: Settings, seed: int) -> Any:
    return HistGradientBoostingRegressor(**{"loss": "absolute_error", **s}, random_state=seed)


def _lightgbm(objective: str) -> Build:
    def build(s: Settings, seed: int) -> Any:
        fixed: Settings = {"objective": objective, "n_jobs": 1, "verbose": -1, "subsample_freq": 1}
        return _scaled_target(LGBMRegressor(**fixed, **s, random_state=seed))

    return build


def _xgboost(objective: str) -> Build:
    def build(s: Settings, seed: int) -> Any:
        return _scaled_target(XGBRegressor(objective=objective, n_jobs=1, **s, random_state=seed))

    return build


def _boosting(s: Settings, seed: int) -> Any:
    return GradientBoostingRegressor(loss="huber", **s, random_state=seed)


def _forest(s: Settings, seed: int) -> Any:
    return RandomForestQuantileRegressor(default_quantiles=0.5, n_jobs=1, **s, random_state=seed)


def _fourier(s: Settings, seed: int) -> Any:
    features = RBFSampler(gamma=s["gamma"], n_components=s["n_components"], random_state=seed)
    huber = HuberRegressor(epsilon=s["epsilon"], alpha=s["alpha"], max_iter=300)
    return _scaled_target(make_pipeline(StandardScaler(), features, huber))


def _mlp(s: Settings, seed: int) -> Any:
    settings = {**s, "hidden_layer_sizes": tuple(s["hidden_layer_sizes"])}
    network = MLPRegressor(**settings, early_stopping=True, max_iter=200, random_state=seed)
    return _scaled_target(make_pipeline(StandardScaler(), network))


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
    return _scaled_target(make_pipeline(StandardScaler(), HuberRegressor(**s, max_iter=1000)))


def _boosted(space: Space, most_trees: int) -> Settings:
    return {
        "learning_rate": space.log(0.02, 0.3),
        "max_leaf_nodes": space.whole(4, 64),
        "max_iter": space.whole(50, most_trees),
        "min_samples_leaf": space.whole(3, 40),
        "l2_regularization": space.log(1e-3, 10.0),
    }


def _leaves(space: Space) -> Settings:
    return {
        "learning_rate": space.log(0.02, 0.3),
        "num_leaves": space.whole(4, 64),
        "n_estimators": space.whole(100, 600),
        "min_child_samples": space.whole(3, 40),
        "subsample": space.flat(0.5, 1.0),
        "colsample_bytree": space.flat(0.5, 1.0),
        "reg_lambda": space.log(1e-3, 10.0),
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


@dataclass(frozen=True)
class Peer:
    """One method: how it is built from settings, and how settings are drawn."""

    build: Build
    draw: Callable[[Space], Settings]
    tuned: Build | None = None
    """What is tuned in its place."""


PEERS: Mapping[str, Peer] = {
    "SVR": Peer(
        _svr,
        lambda s: {"C": s.log(0.1, 100), "epsilon": s.log(0.003, 0.5), "gamma": s.gamma()},
    ),
    "HistGradientBoosting, absolute": Peer(_hist, lambda s: _boosted(s, 400)),
    "LightGBM, absolute": Peer(_lightgbm("regression_l1"), _leaves),
    "LightGBM, Huber": Peer(_lightgbm("huber"), lambda s: {**_leaves(s), "alpha": s.log(0.1, 3.0)}),
    "LightGBM, fair": Peer(_lightgbm("fair"), lambda s: {**_leaves(s), "fair_c": s.log(0.05, 3.0)}),
    "XGBoost, absolute": Peer(_xgboost("reg:absoluteerror"), _trees),
    "XGBoost, pseudo-Huber": Peer(
        _xgboost("reg:pseudohubererror"),
        lambda s: {**_trees(s), "huber_slope": s.log(0.05, 3.0)},
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
    ),
    "Quantile forest, median": Peer(
        _forest,
        lambda s: {
            "n_estimators": s.whole(50, 150),
            "min_samples_leaf": s.whole(1, 20),
            "max_features": s.flat(0.3, 1.0),
        },
    ),
    "Fourier features + Huber": Peer(
        _fourier,
        lambda s: {
            "gamma": s.gamma(),
            "n_components": s.whole(50, 400),
            "alpha": s.log(1e-5, 10.0),
            "epsilon": s.flat(1.05, 2.0),
        },
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
    ),
    CLEANLAB: Peer(
        _cleanlab,
        lambda s: {"loss": s.one_of("absolute_error", "squared_error"), **_boosted(s, 100)},
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
    ),
}
TUNED: Mapping[str, Peer] = {
    **PEERS,
    RANKING: Peer(
        _linear_huber, lambda s: {"epsilon": s.flat(1.01, 3.0), "alpha": s.log(1e-6, 10.0)}
    ),
}


def mean_absolute_error(build: Build, settings: Settings, X: Any, y: Any, seed: int) -> float:
    """Return the error over three folds of the rows given; infinite where a fit fails."""
    sizes = []
    for train, left_out in KFold(3, shuffle=True, random_state=seed).split(X):
        try:
            model = build(settings, seed).fit(X[train], y[train])
        except ValueError:  # HuberRegressor's way to say that it did not converge
            return float("inf")
        sizes.append(np.abs(model.predict(X[left_out]) - y[left_out]))
    return float(np.mean(np.concatenate(sizes)))


def tuned(peer: Peer, X: Any, y: Any, n_configurations: int, seed: int) -> dict[str, Any]:
    """Return the best of some random settings, and the error of each."""
    space = Space(np.random.default_rng(seed), X.shape[1])
    tried = [peer.draw(space) for _ in range(n_configurations)]
    build = peer.tuned or peer.build
    errors = [mean_absolute_error(build, settings, X, y, seed) for settings in tried]
    best = int(np.argmin(errors))
    return {"settings": tried[best], "errors": errors, "tried": tried}
