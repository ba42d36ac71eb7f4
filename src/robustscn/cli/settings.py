"""What learns, and how much of it: settings of a fit, shown by help without loading a learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Learner(StrEnum):
    """What learns and judges."""

    NETWORKS = "networks"
    TREES = "trees"
    BOTH = "both"


class Transformation(StrEnum):
    """What is learned of a target."""

    AUTO = "auto"
    NONE = "none"
    LOG = "log"
    SQRT = "sqrt"


@dataclass(frozen=True)
class Settings:
    """Settings of the estimator.

    Parameters
    ----------
    networks, nodes, rounds : int
        As `n_networks`, `max_nodes`, `n_rounds` of `RobustSCNRegressor`.
    seed : int
        Seed of all draws.
    learner : Learner
        What learns.
    transform : Transformation
        What is learned of the target.
    """

    networks: int = 12
    nodes: int = 200
    rounds: int = 10
    seed: int = 0
    learner: Learner = Learner.NETWORKS
    transform: Transformation = Transformation.AUTO

    def estimator(self, callback: Any = None) -> Any:
        """Return the estimator, not yet fitted, that tells a callback how its fit goes on."""
        from .. import RobustTransformedRegressor

        learner = self._learner(callback)
        if self.transform is Transformation.NONE:
            return learner
        return RobustTransformedRegressor(learner, transformation=self.transform.value)

    def _learner(self, callback: Any) -> Any:
        from .. import RobustBlendRegressor, RobustRegressor, RobustSCNRegressor

        told = () if callback is None else (callback,)
        networks = RobustSCNRegressor(
            n_networks=self.networks,
            max_nodes=self.nodes,
            n_rounds=self.rounds,
            random_state=self.seed,
        )
        if self.learner is Learner.TREES:
            return telling(RobustRegressor(judge="clones", random_state=self.seed), told)
        if self.learner is Learner.BOTH:
            return telling(RobustBlendRegressor(networks, random_state=self.seed), told)
        return telling(networks, told)


def telling(estimator: Any, callbacks: Sequence[Any]) -> Any:
    """Return an estimator with callbacks, where scikit-learn has them.

    Parameters
    ----------
    estimator : estimator
        Not yet fitted.
    callbacks : sequence
        Which are told of its rounds.

    Returns
    -------
    estimator
        The same.
    """
    return estimator.set_callbacks(*callbacks) if hasattr(estimator, "set_callbacks") else estimator
