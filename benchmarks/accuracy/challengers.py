"""Peers from packages that few have installed: each is imported where it is built.

Perpetual has Huber losses too; in version 2.3.0 they diverge on standardised targets, so its
absolute and fair losses are here. TabPFN and TabICL need weights that are not in their packages:
with these at hand, a line in `CHALLENGERS` adds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from .peer import Build, Peer, Settings, Space, leaves, scaled_target

FEW = 3
"""Settings tried of peers that are slow: NGBoost, and RealMLP, whose defaults are tuned already."""

MOST_ROWS_OF_GP = 2000
"""A Gaussian process with a variance for each row takes cubic time."""


def _catboost(loss: str) -> Build:
    def build(s: Settings, seed: int) -> Any:
        from catboost import CatBoostRegressor

        settings = dict(s)
        bend = f":delta={settings.pop('delta')}" if loss == "Huber" else ""
        fixed = {"thread_count": 1, "verbose": 0, "allow_writing_files": False}
        model = CatBoostRegressor(
            loss_function=loss + bend,
            bootstrap_type="Bernoulli",
            random_seed=seed,
            **fixed,
            **settings,
        )
        return scaled_target(model)

    return build


def _oblivious(space: Space) -> Settings:
    return {
        "learning_rate": space.log(0.02, 0.3),
        "depth": space.one_of(3, 4, 5, 6, 8),
        "iterations": space.whole(100, 600),
        "l2_leaf_reg": space.log(0.1, 10.0),
        "subsample": space.flat(0.5, 1.0),
    }


class Perpetual(RegressorMixin, BaseEstimator):
    """PerpetualBooster with scikit-learn's face."""

    def __init__(self, objective: str, budget: float, seed: int) -> None:
        self.objective = objective
        self.budget = budget
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Perpetual:
        """Fit the booster."""
        from perpetual import PerpetualBooster

        booster = PerpetualBooster(
            objective=self.objective, budget=self.budget, num_threads=1, seed=self.seed
        )
        self.booster_ = booster.fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Return predictions."""
        return self.booster_.predict(X)


def _perpetual(objective: str) -> Build:
    def build(s: Settings, seed: int) -> Any:
        return scaled_target(Perpetual(objective, s["budget"], seed))

    return build


def _linear_trees(s: Settings, seed: int) -> Any:
    from lightgbm import LGBMRegressor

    fixed: Settings = {"linear_tree": True, "n_jobs": 1, "verbose": -1, "subsample_freq": 1}
    model = LGBMRegressor(objective="huber", **fixed, **s, random_state=seed)
    # Planes in leaves reach as far as their inputs do: these are brought to one size.
    return scaled_target(make_pipeline(StandardScaler(), model))


def _ngboost(s: Settings, seed: int) -> Any:
    from ngboost import NGBRegressor
    from ngboost.distns import Laplace

    settings = dict(s)
    base = DecisionTreeRegressor(criterion="friedman_mse", max_depth=settings.pop("max_depth"))
    return scaled_target(
        NGBRegressor(Dist=Laplace, Base=base, verbose=False, random_state=seed, **settings)
    )


class RelevancePursuit(RegressorMixin, BaseEstimator):
    """BoTorch's robust Gaussian process, which gives rows it distrusts a variance of their own."""

    def __init__(self, most_outliers: float) -> None:
        self.most_outliers = most_outliers

    def fit(self, X: Any, y: Any) -> RelevancePursuit:
        """Fit it by relevance pursuit."""
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models.robust_relevance_pursuit_model import (
            RobustRelevancePursuitSingleTaskGP,
        )
        from gpytorch.mlls import ExactMarginalLogLikelihood

        if len(y) > MOST_ROWS_OF_GP:
            raise ValueError(f"{len(y)} rows are more than {MOST_ROWS_OF_GP}")
        torch.set_num_threads(1)
        X, y = (torch.as_tensor(np.asarray(each), dtype=torch.float64) for each in (X, y))
        self.model_ = RobustRelevancePursuitSingleTaskGP(X, y[:, None])
        mll = ExactMarginalLogLikelihood(self.model_.likelihood, self.model_)
        counts = [round(share * len(y)) for share in np.linspace(0.0, self.most_outliers, 6)]
        fit_gpytorch_mll(mll, numbers_of_outliers=counts)
        return self

    def predict(self, X: Any) -> Any:
        """Return the mean."""
        import torch

        with torch.no_grad():
            posterior = self.model_.posterior(torch.as_tensor(np.asarray(X), dtype=torch.float64))
        return posterior.mean.squeeze(-1).numpy()


def _pursuit(s: Settings, _seed: int) -> Any:
    return scaled_target(make_pipeline(StandardScaler(), RelevancePursuit(s["most_outliers"])))


def _realmlp(s: Settings, seed: int) -> Any:
    from pytabkit import RealMLP_TD_Regressor

    model = RealMLP_TD_Regressor(
        device="cpu",
        random_state=seed,
        n_threads=1,
        train_metric_name="mae",
        val_metric_name="mae",
        **s,
    )
    return scaled_target(model)


CHALLENGERS: Mapping[str, Peer] = {
    "CatBoost, absolute": Peer(_catboost("MAE"), _oblivious, "catboost"),
    "CatBoost, Huber": Peer(
        _catboost("Huber"), lambda s: {**_oblivious(s), "delta": s.log(0.1, 3.0)}, "catboost"
    ),
    "LightGBM, linear trees": Peer(
        _linear_trees,
        lambda s: {**leaves(s), "alpha": s.log(0.1, 3.0), "linear_lambda": s.log(1e-3, 10.0)},
        "lightgbm",
    ),
    "Perpetual, absolute": Peer(
        _perpetual("AbsoluteLoss"), lambda s: {"budget": s.log(0.3, 2.0)}, "perpetual"
    ),
    "Perpetual, fair": Peer(
        _perpetual("FairLoss"), lambda s: {"budget": s.log(0.3, 2.0)}, "perpetual"
    ),
    "NGBoost, Laplace": Peer(
        _ngboost,
        lambda s: {
            "n_estimators": s.whole(100, 400),
            "learning_rate": s.log(0.01, 0.1),
            "max_depth": s.one_of(2, 3, 4),
            "minibatch_frac": s.flat(0.5, 1.0),
        },
        "ngboost",
        most_tried=FEW,
    ),
    "RealMLP": Peer(
        _realmlp,
        lambda s: {"n_epochs": s.one_of(64, 128), "lr": s.log(0.01, 0.1)},
        "pytabkit",
        most_tried=FEW,
    ),
    "Relevance pursuit GP": Peer(
        _pursuit, lambda s: {"most_outliers": s.flat(0.1, 0.5)}, "botorch", most_tried=1
    ),
}
