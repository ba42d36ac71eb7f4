"""The trees that stand in where no regressor is given: as many as rows that were not seen ask for.

scikit-learn's histogram boosting makes a hundred trees by default, of leaves of twenty rows,
whatever the rows are. Here leaves may be small, and the clones that are asked about rows they have
not seen say after how many trees they met those best. What predicts is the mean of trees grown on
all rows and of the clones, which err apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.utils import _safe_indexing

from ..core.arrays import HostArray
from ..core.forest import mean_of
from ._crossfit import Fitted, counted, few_threads, unless_even
from ._forest import forest_of

SETTINGS: dict[str, Any] = {
    "learning_rate": 0.1,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 5,
    "max_features": 0.75,
}
"""On two development draws of sixteen sets the error on clean rows was 11 % lower than with
scikit-learn's defaults (geometric mean), 3 to 4 % with a quarter of the targets wrong. Leaves of
three rows gained 1 % more on clean rows and lost 3 % on the others; with half of the inputs asked
at a split a robot's arm, whose inputs matter together, lost 20 %."""

MOST_TREES, PATIENCE = 400, 30
"""Trees at most, and trees after the best that end the growth. More are asked for on smooth
functions only, where networks are better than any number of trees. A matter of time."""

UNASKED = 100
"""Trees, at most, without a fold none of whose rows counts: there is nobody to ask, and so many is
scikit-learn's default."""

WHOLE = 0.5
"""Share in the prediction of the trees that have seen all rows: as much as that of all clones, each
of which has seen four fifths. By argument; on the same draws the mean erred 1.3 % less than these
trees alone and 2 % less than the clones."""


@dataclass(frozen=True)
class Boosting:
    """How boosted trees are taught with weights, one clone without each fold of the rows.

    Parameters
    ----------
    seed : int
        Of the inputs that are asked at each split.
    """

    seed: int

    def parted(
        self,
        X: Any,
        y: HostArray,
        weight: HostArray,
        folds: HostArray,
        each: Callable[..., Iterable[Any]] = map,
    ) -> tuple[Fitted, ...]:
        """Return trees grown without the rows of each fold, as many as all folds met best.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Inputs.
        y : array of shape (n_rows, n_outputs)
            Targets.
        weight : array of shape (n_rows,)
            Weights.
        folds : array of shape (n_rows,)
            Each row's fold.
        each : callable
            Like `map`, perhaps at the same time.

        Returns
        -------
        tuple of Fitted
            One for each fold, with trees for each output.
        """
        outputs = []
        for target in y.T:
            grown = partial(self._without_fold, X, target, weight, folds)
            clones, paths = zip(*each(grown, range(int(folds.max()) + 1)), strict=True)
            count = int(np.argmin(np.sum(paths, axis=0))) + 1
            for clone in clones:
                clone._predictors = clone._predictors[:count]
            outputs.append(clones)
        return tuple(Fitted(parts) for parts in zip(*outputs, strict=True))

    def whole(self, X: Any, y: HostArray, weight: HostArray, parted: Sequence[Fitted]) -> Fitted:
        """Return the mean of trees grown on all rows, as many as the clones', and of these.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Inputs.
        y : array of shape (n_rows, n_outputs)
            Targets.
        weight : array of shape (n_rows,)
            Weights.
        parted : sequence of Fitted
            What `parted` returned.

        Returns
        -------
        Fitted
            Trees as plain arrays where they can be, for each output.
        """
        rows = counted(weight)
        known = _safe_indexing(X, rows)
        shares = [WHOLE, *((1.0 - WHOLE) / len(parted) for _ in parted)]
        parts = []
        for number, target in enumerate(y.T):
            clones = [member.parts[number] for member in parted]
            count = max(clone.n_iter_ for clone in clones)
            trees = self._trees(self.seed, max_iter=count, early_stopping=False)
            with few_threads(len(rows)):
                trees.fit(known, target[rows], unless_even(weight[rows]))
            forests = [forest_of(model) for model in (trees, *clones)]
            plain = [forest for forest in forests if forest is not None]
            # Those that ask for categories are no plain arrays, and no mean is made of them.
            parts.append(mean_of(plain, shares) if len(plain) == len(forests) else trees)
        return Fitted(tuple(parts))

    def _without_fold(
        self, X: Any, y: HostArray, weight: HostArray, folds: HostArray, fold: int
    ) -> tuple[HistGradientBoostingRegressor, HostArray]:
        """Return trees grown without a fold, and after each what they left of its rows."""
        rows = counted(np.where(folds == fold, 0.0, weight))
        unseen = np.flatnonzero((folds == fold) & (weight > 0))
        seed, path = self.seed + fold, np.zeros(MOST_TREES)
        with few_threads(len(rows)):
            known = _safe_indexing(X, rows), y[rows], unless_even(weight[rows])
            if not len(unseen):
                return self._trees(seed, max_iter=UNASKED, early_stopping=False).fit(*known), path
            asked = {"X_val": _safe_indexing(X, unseen), "y_val": y[unseen]}
            if known[2] is not None:
                asked["sample_weight_val"] = weight[unseen]
            trees = self._trees(
                seed, max_iter=MOST_TREES, early_stopping=True, n_iter_no_change=PATIENCE, tol=0.0
            ).fit(*known, **asked)
        left = -np.asarray(trees.validation_score_[1:]) * np.sum(weight[unseen])
        path[: len(left)], path[len(left) :] = left, left[-1]
        return trees, path

    @staticmethod
    def _trees(seed: int, **settings: Any) -> HistGradientBoostingRegressor:
        # Numbers of more than 32 bits are no seeds.
        return HistGradientBoostingRegressor(**SETTINGS, **settings, random_state=seed % 2**32)
