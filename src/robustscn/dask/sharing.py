"""What estimators for Dask collections share: those for arrays in memory, rows on a cluster.

Their `fit` is inherited; what differs is where checked rows come from (`_training`) and what
arrays of one number for each row look like (`_shown`).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from distributed import Client, default_client
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.arrays import Array, HostArray
from ..core.rows import LocalRows
from ..estimators._base import (
    NetworkRegressor,
    Training,
    check_largest,
    check_weight_range,
    training_of,
)
from ..estimators._parameters import check_parameters
from ..estimators._suspects import suspects
from .loading import as_array, header_of, loaded, shown
from .rows import ChunkedColumn
from .waiting import gathered

if TYPE_CHECKING:
    import pandas as pd

ROW_ATTRIBUTES = (
    "inlier_weight_",
    "outliers_",
    "outlier_probability_",
    "expected_",
    "residuals_",
    "_observed",
)
"""Fitted attributes with one entry for each training row, of the robust estimators."""

CLUSTER_ATTRIBUTES = ("_lengths", "_passes", "_last_round")
"""What an estimator in memory has no use for."""

CALLBACK_ATTRIBUTES = ("_skl_callbacks", "_parent_callback_ctx")
"""Who is told of a fit; no part of the model, and a progress bar does not travel."""


class DaskMixin(NetworkRegressor):
    """What the estimators for Dask collections share."""

    client: Client | None
    _local: type[NetworkRegressor]
    _few_rows = 0  # up to so many are brought here to be fitted
    _lengths: tuple[int, ...]
    _passes: list[str]

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        check_parameters(self)
        rows = loaded(_client(self.client), X, y, sample_weight)
        validate_data(self, rows.header, skip_check_array=True)
        check_largest(rows.largest, rows.X)
        if rows.weight_range[1] == 0:
            raise ValueError("all sample weights are zero: there is no row to learn from")
        check_weight_range(*rows.weight_range)
        self._check_chunks(rows.lengths)
        self._lengths, self._passes = rows.lengths, rows.rows.passes
        columns: tuple[Any, ...] = rows.X, rows.y, rows.weight
        if rows.rows.n_rows <= self._few_rows:
            here, columns = rows.rows.some(np.arange(rows.rows.n_rows), *columns)
            return training_of(here, *columns)
        return training_of(rows.rows, *columns)

    def __sklearn_tags__(self) -> Tags:
        """Return what the estimator can do: a gap in a chunk is refused by its place."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags

    def _check_chunks(self, lengths: tuple[int, ...]) -> None:
        """Raise where learned weights, which lie beside rows, would lie beside other rows."""
        if not hasattr(self, "_last_round") or self._lengths == lengths:
            return
        if getattr(self, "warm_start", False):
            raise ValueError(
                f"warm_start goes on from the weights of {sum(self._lengths)} rows in "
                f"{len(self._lengths)} chunks, X has {sum(lengths)} rows in {len(lengths)} chunks "
                "or chunks of other lengths: use the same chunks, or warm_start=False"
            )
        del self._last_round

    @property
    def n_passes_(self) -> int:
        """How often the fit read the training rows."""
        check_is_fitted(self)
        return len(self._passes)

    def _point(self, X: Any) -> Array:
        """Return predictions, lazily for Dask collections."""
        return self._by_chunks(X, "predict")

    def _by_chunks(self, X: Any, method: str, **params: Any) -> Array:
        """Return what a method of the estimator in memory says, lazily for Dask collections."""
        check_is_fitted(self)
        local = self.to_local()
        if not dask.is_dask_collection(X):
            return getattr(local, method)(X, **params)
        inputs = as_array(X, "X")
        validate_data(self, header_of(X), reset=False, skip_check_array=True)
        return self._lazily(inputs, local, method, **params)

    def _lazily(
        self, inputs: da.Array, local: NetworkRegressor, method: str = "predict", **params: Any
    ) -> da.Array:
        few = np.zeros((1, self.n_features_in_), dtype=inputs.dtype)
        example = _predicted(few, local, method, params)
        more = example.ndim - 2
        return da.map_blocks(
            _predicted,
            inputs,
            model=dask.delayed(local),
            method=method,
            params=params,
            chunks=(inputs.chunks[0], *((size,) for size in example.shape[1:])),
            drop_axis=1 if more < 0 else None,
            new_axis=2 if more > 0 else None,
            meta=example[:0],
            name=f"robustscn-{method.replace('_', '-')}-{uuid4().hex}",
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination, the mean over the outputs.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            Inputs.
        y : Dask array, data frame or series
            True targets, in the same chunks.
        sample_weight : Dask array or series, or None
            Weights.

        Returns
        -------
        float
            One is perfect, zero is the mean of y. Only sums over the rows come here.
        """
        if not dask.is_dask_collection(X):
            return self.to_local().score(X, y, sample_weight)
        check_is_fitted(self)
        client = _client(self.client)
        rows = loaded(client, X, y, sample_weight)
        validate_data(self, rows.header, reset=False, skip_check_array=True)
        predicted = self._lazily(shown(rows.X, rows.lengths), self.to_local())
        y, weight = (shown(column, rows.lengths) for column in (rows.y, rows.weight))
        if y.ndim == 1:
            y, predicted = y[:, None], predicted[:, None]
        weight = weight[:, None].astype(np.float64)
        mean = (weight * y).sum(axis=0) / weight.sum()
        left, spread = _brought(
            client,
            (weight * (y - predicted) ** 2).sum(axis=0),
            (weight * (y - mean) ** 2).sum(axis=0),
        )
        return float(np.mean(1.0 - left / spread))

    def to_local(self, *, rows: bool = False) -> Any:
        """Return the estimator for arrays in memory, fitted.

        Parameters
        ----------
        rows : bool
            Whether to bring along what has one entry for each training row, `inlier_weight_`
            and the like; `outlier_table` needs it.

        Returns
        -------
        estimator
            It predicts the same, and can be saved.
        """
        check_is_fitted(self)
        parameters = {k: v for k, v in self.get_params(deep=False).items() if k != "client"}
        local = self._local(**parameters)
        leave = {
            *("client", *parameters),
            *(*CLUSTER_ATTRIBUTES, *CALLBACK_ATTRIBUTES, *ROW_ATTRIBUTES),
        }
        fitted = {name: value for name, value in vars(self).items() if name not in leave}
        if rows:
            present = [name for name in ROW_ATTRIBUTES if hasattr(self, name)]
            brought = _brought(_client(self.client), *(getattr(self, name) for name in present))
            fitted |= dict(zip(present, brought, strict=True))
        for name, value in fitted.items():
            setattr(local, name, value)
        return local

    def _shown(self, column: ChunkedColumn | HostArray) -> da.Array:
        if isinstance(column, ChunkedColumn):
            return shown(column, self._lengths)
        return da.from_array(column, chunks=(self._lengths, *column.shape[1:]))

    def __sklearn_clone__(self) -> Self:
        # A client is a connection: it is shared, not copied.
        client, self.client = self.client, None
        try:
            copy = super().__sklearn_clone__()
        finally:
            self.client = client
        copy.client = client
        return copy

    def __getstate__(self) -> dict[str, Any]:
        # Neither the connection nor what lies on the workers outlives this process.
        state = super().__getstate__()
        leave = ("_last_round", *ROW_ATTRIBUTES)
        return {k: v for k, v in state.items() if k not in leave} | {"client": None}


class DaskRobustMixin(DaskMixin):
    """What the robust ones have besides."""

    def outlier_table(self, index: Any = None) -> pd.DataFrame:
        """Return the suspect rows, the strangest first.

        Parameters
        ----------
        index : array-like of shape (n_samples,) or None
            Names of the training rows; None numbers them from zero.

        Returns
        -------
        pandas.DataFrame
            As of the estimator in memory; only these rows are brought here.
        """
        check_is_fitted(self, "outliers_")
        n_rows = self.outliers_.shape[0]
        if index is not None and len(index) != n_rows:
            raise ValueError(f"index names {len(index)} rows, the training data had {n_rows}")
        names = [name for name in ROW_ATTRIBUTES if name != "outliers_" and hasattr(self, name)]
        columns = [getattr(self, name) for name in names]
        numbers, *parts = _brought(
            _client(self.client),
            da.flatnonzero(self.outliers_),
            *(column[self.outliers_] for column in columns),
        )
        few = SimpleNamespace(
            outliers_=np.ones(len(numbers), dtype=bool),
            _deviations=self._deviations,
            **dict(zip(names, parts, strict=True)),
        )
        return suspects(few, numbers if index is None else np.asarray(index)[numbers])


def _brought(client: Client, *arrays: da.Array) -> list[HostArray]:
    """Return lazy arrays, computed by this cluster even where another is the default."""
    return gathered(client, client.compute(list(arrays)))


def _client(client: Client | None) -> Client:
    if client is not None:
        return client
    try:
        return default_client()
    except ValueError:
        raise ValueError(
            "there is no Dask client: start one with `from distributed import Client; client = "
            "Client()`, a cluster of processes on this machine, or give the estimator a client"
        ) from None


def _predicted(block: HostArray, model: Any, method: str, params: dict[str, Any]) -> Array:
    if not np.all(np.isfinite(block)):
        row, column = np.argwhere(~np.isfinite(block))[0]
        raise ValueError(
            f"column {column} of X has a missing or infinite value in row {row} of a chunk"
        )
    # One row more, so that a chunk may have none.
    padded = np.concatenate([block, np.zeros_like(block, shape=(1, block.shape[1]))])
    if method == "predict":
        return model._predicted(LocalRows(len(padded)), padded)[:-1]
    return getattr(model, method)(padded, **params)[:-1]
