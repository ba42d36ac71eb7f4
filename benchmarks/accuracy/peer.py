"""What a peer is: how it is built from settings, how settings are drawn, and how it is tuned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

Settings = dict[str, Any]
Build = Callable[[Settings, int], Any]


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


def scaled_target(model: Any) -> Any:
    """Return a model of standardised targets."""
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def leaves(space: Space) -> Settings:
    """Return settings of boosted trees that grow leaf by leaf."""
    return {
        "learning_rate": space.log(0.02, 0.3),
        "num_leaves": space.whole(4, 64),
        "n_estimators": space.whole(100, 600),
        "min_child_samples": space.whole(3, 40),
        "subsample": space.flat(0.5, 1.0),
        "colsample_bytree": space.flat(0.5, 1.0),
        "reg_lambda": space.log(1e-3, 10.0),
    }


@dataclass(frozen=True)
class Peer:
    """One method: how it is built from settings, and how settings are drawn."""

    build: Build
    draw: Callable[[Space], Settings]
    package: str
    """Whose version the results depend on."""
    tuned: Build | None = None
    """What is tuned in its place."""
    most_tried: int | None = None
    """Settings tried at most, where a fit takes long."""


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
    tried = [peer.draw(space) for _ in range(min(n_configurations, peer.most_tried or 1000))]
    build = peer.tuned or peer.build
    errors = [mean_absolute_error(build, settings, X, y, seed) for settings in tried]
    best = int(np.argmin(errors))
    return {"settings": tried[best], "errors": errors, "tried": tried}
