"""Estimators whose inputs may be missing: filled where arrays come in.

Nothing behind that ever sees a gap: networks, streams and intervals know columns of numbers.
"""

from __future__ import annotations

from typing import Literal

from sklearn.utils import Tags

from ..core.arrays import Array, namespace
from ..core.missing import Missing, missing_of
from ..core.rows import Column, Rows
from ._base import NetworkRegressor


class MissingMixin(NetworkRegressor):
    """Lets NaN in as a missing input."""

    _finite: bool | Literal["allow-nan"] = "allow-nan"

    def _missing_of(self, rows: Rows, X: Column, weight: Column) -> Missing | None:
        return missing_of(rows, X, weight)

    def _filled(self, X: Array, missing: Missing | None) -> Array:
        if missing is not None:
            return missing.filled(X)
        # Before there are networks the median of the first targets is predicted, whatever X is.
        waiting = "_first_rows" in vars(self)
        if not waiting and bool(namespace(X).any(namespace(X).isnan(X))):
            raise ValueError(
                "X has missing values (NaN), and this model has not learned what stands for them: "
                "it was fitted on a cluster or by an earlier version. Fit it again in memory, or "
                "fill them beforehand, for example with sklearn.impute.SimpleImputer"
            )
        return X

    def __sklearn_tags__(self) -> Tags:
        """Return what the estimator can do."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
