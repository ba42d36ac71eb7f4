"""`partial_fit`: estimators that go on learning from rows as they come.

After `fit`, what the fitted networks say is one column of the stream's own network, with an output
weight of one to begin with: the first prediction on the stream is that of the fit. Without `fit`
the first rows are kept until there are enough for one.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_X_y
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from ..core.arrays import Array, HostArray, to_host64
from ..core.memory import Batch, Plan
from ..core.rows import Column, Rows
from ..core.stream import Stream, begun
from ._base import (
    NetworkRegressor,
    check_size,
    check_weight_range,
    in_unit,
    one_blas_thread,
)
from ._parameters import check_parameters

FIRST_ROWS = 200
"""Rows that are kept for the first networks where there was no `fit`."""

LEARNED = 1000.0
"""Rows that a fit counts as where it does not say how many it had."""


class Drift(NamedTuple):
    """A change of the world that was taken in.

    Parameters
    ----------
    row : int
        Row after which it was recorded, counted from the first row of the stream.
    began : int
        Row at which it seems to have begun.
    size : float
        How far the change moved predictions, by their median, in the unit of y.
    deviations : float
        The same in the robust standard deviations that were usual before it.
    """

    row: int
    began: int
    size: float
    deviations: float


class Suspect(NamedTuple):
    """A row of the stream whose target is strange.

    Parameters
    ----------
    row : int
        Its number, counted from the first row of the stream that had weight.
    observed, expected : float
        Its target, and the prediction that was made before it; of several outputs those that
        are farthest apart.
    deviations : float
        How far apart, in robust standard deviations.
    """

    row: int
    observed: float
    expected: float
    deviations: float


def _learns_on(estimator: Any) -> bool:
    """Return whether an estimator is for rows in memory; those for a cluster read all of them."""
    return not hasattr(estimator, "_local")


class StreamMixin(NetworkRegressor):
    """Adds `partial_fit`, `drift_` and `suspects_` to an estimator of networks."""

    _distrusts = True
    """Whether strange rows count less."""

    @available_if(_learns_on)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn further rows.

        The result is the same however rows are cut into calls. Rows are learned in blocks of
        20; those of a block that is not complete wait, and move no more than the level of the
        predictions until it is. Without a `fit` before, the first 200 rows are kept, and their
        median predicted, until networks are fitted to them. `fit` begins anew.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative. Rows without weight change nothing.

        Returns
        -------
        RobustSCNRegressor
            Itself.
        """
        check_parameters(self)
        is_first = not hasattr(self, "n_features_in_")
        weight = None
        if is_first and sample_weight is not None:
            # A call without any weight must not even settle how many inputs there are.
            checked, _ = check_X_y(
                X, y, multi_output=True, y_numeric=True, ensure_all_finite=self._finite
            )
            weight = _weight(sample_weight, checked)
            if not weight.any():
                return self
        X, y = validate_data(
            self,
            X,
            y,
            reset=is_first,
            multi_output=True,
            y_numeric=True,
            dtype=[np.float64],
            order="C",
            ensure_all_finite=self._finite,
        )
        check_size(X)
        if weight is None:
            weight = _weight(sample_weight, X)
        flat = y.ndim == 1
        y = to_host64(y)
        y = y[:, None] if flat else y
        self._check_outputs(y, flat)
        counted = weight > 0
        if not counted.any():
            return self
        with one_blas_thread():
            self._learn_rows(X[counted], y[counted], weight[counted], flat)
        return self

    def _check_outputs(self, y: HostArray, flat: bool) -> None:
        known = self._n_outputs()
        if known is not None and known != (y.shape[1], flat):
            raise ValueError(
                f"y has {y.shape[1]} outputs in {1 if flat else 2} dimensions; the rows before "
                f"had {known[0]} in {1 if known[1] else 2}"
            )

    def _n_outputs(self) -> tuple[int, bool] | None:
        """Return the number of outputs and whether targets are flat, where that is settled."""
        if hasattr(self, "_scale"):
            networks = self._networks if hasattr(self, "_networks") else (self._network,)
            return networks[0].output_weights.shape[1], self._flat
        first = vars(self).get("_first_rows")
        return None if first is None else (first.y.shape[1], self._flat_first)

    def _learn_rows(self, X: HostArray, y: HostArray, weight: HostArray, flat: bool) -> None:
        if not hasattr(self, "_scale"):
            rows = Batch(X, np.zeros((len(X), 0)), y, weight)
            before = vars(self).get("_first_rows")
            if before is not None:
                rows = before.followed_by(rows, 2**62)
            if len(rows) < FIRST_ROWS:
                self._first_rows, self._flat_first = rows, flat
                return
            at, rest = slice(0, FIRST_ROWS), slice(FIRST_ROWS, None)
            self._begin(Batch(rows.X[at], rows.given[at], rows.y[at], rows.weight[at]), flat)
            X, y, weight = rows.X[rest], rows.y[rest], rows.weight[rest]
        stream = self._stream_so_far()
        stream.learn(self._known(X), self._in_scale(y), weight, self._output)

    def _in_scale(self, y: HostArray) -> HostArray:
        with np.errstate(over="ignore"):
            return np.clip(y / self._scale, -1e12, 1e12)

    def _plan(self) -> Plan:
        half_life = None if self.half_life is None else float(self.half_life)
        return Plan(half_life, self._distrusts, int(self.max_nodes), self._seed(), self.activation)

    def _begin(self, rows: Batch, flat: bool) -> None:
        """Fit networks to the first rows, and begin the stream with these."""
        model = clone(self)
        if not hasattr(model, "n_networks"):
            # One network without a ridge would learn so few rows by heart.
            model.set_params(max_nodes=min(model.max_nodes, FIRST_ROWS // 5))
        model.fit(rows.X, rows.y[:, 0] if flat else rows.y, rows.weight)
        ours = ("n_features_in_", "feature_names_in_")
        fitted = {k: v for k, v in vars(model).items() if k not in model.get_params()}
        self.__dict__.update({k: v for k, v in fitted.items() if k not in ours})
        for name in ("_first_rows", "_flat_first"):
            self.__dict__.pop(name, None)
        X, y = self._known(rows.X), self._in_scale(rows.y)
        given = self._output(X)
        errors = y - given
        if hasattr(self, "residuals_"):  # left-out ones
            errors = to_host64(self.residuals_).reshape(y.shape) / self._scale
        stream = begun(
            self._plan(), n_given=y.shape[1], n_features=X.shape[1], n_outputs=y.shape[1]
        )
        stream.first_rows(Batch(X, given, y, rows.weight), errors)
        self._stream = stream

    def _stream_so_far(self) -> Stream:
        """Return the stream, which begins where the fit has ended."""
        if not hasattr(self, "_stream"):
            n_outputs, _ = self._n_outputs() or (1, True)
            scales = getattr(self, "residual_scale_", None)
            if scales is not None:
                scales = np.maximum(to_host64(scales) / self._scale, 1e-12)
            self._stream = begun(
                self._plan(),
                n_given=n_outputs,
                n_features=self._n_columns(),
                n_outputs=n_outputs,
                learned=getattr(self, "_learned_weight", LEARNED),
                scales=scales,
            )
        return self._stream

    def _n_columns(self) -> int:
        """Return how many columns inputs have once gaps are filled and marked."""
        missing = vars(self).get("_missing")
        return self.n_features_in_ if missing is None else missing.width

    def _predicted(self, rows: Rows, X: Column) -> Array:
        if "_first_rows" in vars(self):
            middle = np.median(self._first_rows.y, axis=0)
            return in_unit(np.repeat(middle[None], rows.n_rows, axis=0), 1.0, self._flat_first)
        if "_stream" not in vars(self):
            return super()._predicted(rows, X)
        width = 2 * (self._width() + len(self._stream.slow.output_weights))

        def predicted(block: Array) -> HostArray:
            return self._stream.predict(to_host64(block), self._output)

        return in_unit(rows.map(predicted, X, width=width), self._scale, self._flat)

    def _ends_lately(self, coverage: float) -> HostArray | None:
        stream = vars(self).get("_stream")
        ends = None if stream is None else stream.ends(coverage)
        return None if ends is None else ends * self._scale

    def _forget_stream(self) -> None:
        for name in ("_stream", "_first_rows", "_flat_first"):
            self.__dict__.pop(name, None)

    @property
    def drift_(self) -> list[Drift]:
        """Changes that `partial_fit` took in, the last thousand at most."""
        events = self._events().drifts.tolist()
        return [Drift(int(r), int(b), s * self._scale, d) for r, b, s, d in events]

    @property
    def suspects_(self) -> list[Suspect]:
        """Rows that `partial_fit` found strange, the last thousand at most, the oldest first.

        A row that a change explains which was recognised later is no suspect any more.
        """
        rows = self._events().suspects.tolist()
        return [Suspect(int(r), y * self._scale, p * self._scale, d) for r, y, p, d in rows]

    def _events(self) -> Stream:
        if "_stream" not in vars(self):
            raise AttributeError("there are drift events and suspects after partial_fit only")
        return self._stream


def _weight(sample_weight: Any, X: HostArray) -> HostArray:
    if sample_weight is None:
        return np.ones(len(X))
    # scikit-learn's own check refuses weights that are all zero: here they change nothing.
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.shape != (len(X),):
        raise ValueError(f"sample_weight has shape {weight.shape}, X has {len(X)} rows")
    if np.any(weight < 0):
        raise ValueError("sample_weight has negative values: give zero for rows to leave out")
    if weight.any():
        counted = weight[weight > 0]
        check_weight_range(float(counted.min()), float(counted.max()))
    return weight
