"""`RobustSCNRegressor.partial_fit` behind river's `learn_one` and `predict_one`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from river import base

from ..estimators import RobustSCNRegressor
from ..estimators._stream import Drift, Suspect

if TYPE_CHECKING:
    import pandas as pd


class RobustSCN(base.MiniBatchRegressor):
    """Robust stochastic configuration network that learns from a stream of which rows are wrong.

    Wrong rows are ignored, a change that lasts is taken in; see `RobustSCNRegressor.partial_fit`.
    The inputs are those of the first row, which must be numbers: one that is missing later is
    taken at its mean so far, a new one is passed over. They need no scaler: one that learns as rows
    come changes what they mean, and so the world.

    Parameters
    ----------
    half_life : float or None, default=None
        Rows after which a row counts half; None never forgets.
    max_nodes : int, default=100
        Hidden nodes at most, of each first network and of those that grow on the stream.
    n_networks : int, default=4
        Networks that are fitted to the first 200 rows.
    seed : int, default=0
        Of all draws.

    Examples
    --------
    >>> from river import datasets
    >>> from robustscn.river import RobustSCN
    >>> model = RobustSCN()
    >>> for x, y in datasets.TrumpApproval().take(100):
    ...     before = model.predict_one(x)
    ...     model.learn_one(x, y)
    >>> 35 < before < 45
    True
    """

    def __init__(
        self,
        half_life: float | None = None,
        max_nodes: int = 100,
        n_networks: int = 4,
        seed: int = 0,
    ) -> None:
        self.half_life = half_life
        self.max_nodes = max_nodes
        self.n_networks = n_networks
        self.seed = seed
        self._names: list[Any] | None = None
        self._mean: np.ndarray = np.zeros(0)
        self._seen = 0
        self._model = RobustSCNRegressor(
            n_networks=n_networks,
            max_nodes=max_nodes,
            half_life=half_life,
            n_jobs=1,
            random_state=seed,
        )

    def learn_one(self, x: dict[Any, Any], y: float, w: float = 1.0) -> None:
        """Learn one row.

        Parameters
        ----------
        x : dict
            Inputs by name.
        y : float
            Target.
        w : float
            Weight.
        """
        if self._names is None:
            self._names = sorted(x, key=str)
            self._mean = np.zeros(len(self._names))
        row = self._followed(self._row(x)[None])
        self._model.partial_fit(row, np.array([float(y)]), np.array([float(w)]))

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Predict one target.

        Parameters
        ----------
        x : dict
            Inputs by name.

        Returns
        -------
        float
            Zero before the first row.
        """
        if not hasattr(self._model, "n_features_in_"):
            return 0.0
        return float(self._model.predict(self._filled(self._row(x))[None])[0])

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn several rows, as if they came one by one.

        Parameters
        ----------
        X : pandas.DataFrame
            Inputs.
        y : pandas.Series
            Targets.
        """
        if self._names is None:
            self._names = sorted(X.columns, key=str)
            self._mean = np.zeros(len(self._names))
        self._model.partial_fit(self._followed(self._rows(X)), np.asarray(y, float))

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Predict several targets.

        Parameters
        ----------
        X : pandas.DataFrame
            Inputs.

        Returns
        -------
        pandas.Series
            One for each row.
        """
        import pandas as pd

        if not hasattr(self._model, "n_features_in_"):
            return pd.Series(np.zeros(len(X)), index=X.index)
        return pd.Series(self._model.predict(self._filled(self._rows(X))), index=X.index)

    @property
    def drifts(self) -> list[Drift]:
        """Changes that were taken in."""
        return getattr(self._model, "drift_", [])

    @property
    def suspects(self) -> list[Suspect]:
        """Rows that were found strange."""
        return getattr(self._model, "suspects_", [])

    def _row(self, x: dict[Any, Any]) -> np.ndarray:
        assert self._names is not None
        values = (x.get(name) for name in self._names)
        return np.array([np.nan if v is None else float(v) for v in values])

    def _rows(self, X: pd.DataFrame) -> np.ndarray:
        return X.reindex(columns=self._names).to_numpy(float, copy=True)

    def _filled(self, rows: np.ndarray) -> np.ndarray:
        return np.where(np.isnan(rows), self._mean, rows)

    def _followed(self, rows: np.ndarray) -> np.ndarray:
        """Fill the gaps of each row by the means of those before it, and let the means follow."""
        for i, row in enumerate(rows):
            rows[i] = self._filled(row)
            self._seen += 1
            self._mean += (rows[i] - self._mean) / self._seen
        return rows
