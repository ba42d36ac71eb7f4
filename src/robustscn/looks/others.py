"""What the other columns say of each column, without the row's own stretch of time.

A model that has seen a bad week vouches for it wherever the inputs tell the time. Each column is
therefore predicted from all others by models that have not seen the row's block of the table, and
simply: by squares and products of the columns, learned robustly, by trees, or by nothing but the
row before, whichever leaves least to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCKS = 12
"""Parts of the table that are judged in turn, by models that have seen neither them nor the parts
beside them: a bad week that reaches into the next part must not be learned there. By argument, what
is left must show every state of the plant."""
REACH = 4.0
"""Robust standard deviations beyond which an input is no farther away: a slip must not lever."""
_TREES = 40
_FAR = 4.685
"""Tukey's biweight has 95 % efficiency for normal noise with it."""


class _Explained(NamedTuple):
    """What models of one kind leave of a column; see `Others`."""

    models: Sequence[Any]
    scale: float
    memory: float
    news: float


class Others:
    """Models of each column of a table from all others, blocks of rows left out.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Numbers without gaps, rows in the order of time.

    Attributes
    ----------
    scale : ndarray of shape (n_columns,)
        Robust standard deviation of the residuals.
    memory : ndarray of shape (n_columns,)
        How far each residual resembles the one before: the coefficient of an AR(1).
    news : ndarray of shape (n_columns,)
        Robust standard deviation, in `scale`, of what a residual is beyond that.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn.looks.others import Others
    >>> rng = np.random.default_rng(0)
    >>> a, b, noise = rng.normal(size=(3, 400))
    >>> others = Others(np.column_stack([a, b, a + b + 0.1 * noise]))
    >>> bool(abs(others.scale[2] - 0.1) < 0.02)
    True
    """

    def __init__(self, table: Array) -> None:
        self.table = table
        self._positive = np.array([_skewed(column) for column in table.T])
        table = self.bent(table)
        n_rows, n_columns = table.shape
        self._block = np.arange(n_rows) * BLOCKS // n_rows
        self._middle = np.median(table, axis=0)
        low, high = np.quantile(table, [0.1, 0.9], axis=0)
        self._unit = np.maximum((high - low) / 2.56, 1e-9 * table.std(axis=0) + 1e-300)
        # Trees are grown without the interpreter, so that threads share the work.
        with ThreadPoolExecutor(effective_n_jobs(-1)) as pool:
            best = list(pool.map(self._learned, range(n_columns)))
        self._models = [each.models for each in best]
        self.scale = np.array([each.scale for each in best])
        self.memory = np.array([each.memory for each in best])
        self.news = np.array([each.news for each in best])

    def bent(self, rows: Array) -> Array:
        """Return rows as they are judged: positive columns with a long tail by their logarithm.

        Parameters
        ----------
        rows : ndarray of shape (n, n_columns)
            As they are, or as they would be.

        Returns
        -------
        ndarray of shape (n, n_columns)
            What is no longer positive is as far away as a number can be.
        """
        logs = np.log(np.maximum(rows, 1e-300))
        return np.where(self._positive, logs, rows)

    def _learned(self, column: int) -> _Explained:
        table = self.bent(self.table)
        inputs, target = self._inputs(table, column), table[:, column]
        found = []
        for make in (_Squares, _Trees, _Nothing):
            models = []
            for block in range(BLOCKS):
                seen = np.abs(self._block - block) > 1
                models.append(make().fit(inputs[seen], target[seen]))
            left = target - self._predicted(models, inputs, np.arange(len(target)))
            scale = max(_wide(left), 1e-6 * float(self._unit[column]))
            memory = memory_of(left / scale)
            news = max(_wide(left[1:] - memory * left[:-1]) / scale, 1e-6)
            found.append(_Explained(models, scale, memory, news))
        return min(found, key=lambda each: each.news * each.scale)

    def _inputs(self, rows: Array, column: int) -> Array:
        bounded = np.clip((rows - self._middle) / self._unit, -REACH, REACH)
        return np.delete(bounded, column, axis=1)

    def _predicted(self, models: Sequence[Any], inputs: Array, places: NDArray[np.int64]) -> Array:
        predicted = np.empty(len(inputs))
        block = self._block[places]
        for number in np.unique(block):
            mine = block == number
            predicted[mine] = models[number].predict(inputs[mine])
        return predicted

    def deviations(
        self,
        rows: Array,
        columns: Sequence[int] | None = None,
        places: NDArray[np.int64] | None = None,
    ) -> Array:
        """Return how far cells lie from what the other cells of their rows say.

        Parameters
        ----------
        rows : ndarray of shape (n, n_columns)
            Rows as they are, or as they would be.
        columns : sequence of int or None
            Which are asked for; None is all.
        places : ndarray of shape (n,) or None
            Where the rows stand in the table; None is all, in order.

        Returns
        -------
        ndarray of shape (n, len(columns))
            In robust standard deviations.
        """
        rows = self.bent(rows)
        places = np.arange(len(rows)) if places is None else places
        columns = range(rows.shape[1]) if columns is None else columns
        each = [
            (rows[:, c] - self._predicted(self._models[c], self._inputs(rows, c), places))
            / self.scale[c]
            for c in columns
        ]
        return np.column_stack(each)

    def expected(
        self, rows: Array, column: int, places: NDArray[np.int64], deviation: Array
    ) -> Array:
        """Return what a column should be in these rows.

        Parameters
        ----------
        rows : ndarray of shape (n, n_columns)
            Their other cells.
        column : int
            Which is asked for.
        places : ndarray of shape (n,)
            Where the rows stand in the table.
        deviation : ndarray of shape (n,)
            How far from what the other cells say, in robust standard deviations.

        Returns
        -------
        ndarray of shape (n,)
            In the column's own unit.
        """
        inputs = self._inputs(self.bent(rows), column)
        bent = self._predicted(self._models[column], inputs, places)
        bent = bent + deviation * self.scale[column]
        return np.exp(bent) if self._positive[column] else bent

    def with_table(self, table: Array) -> Others:
        """Return the same models beside other rows, of which they differ in a few cells.

        Parameters
        ----------
        table : ndarray of shape (n_rows, n_columns)
            As the rows should be.

        Returns
        -------
        Others
            Not learned again: few cells move no robust model. How residuals follow each other is.
        """
        other = copy(self)
        other.table = table
        deviations = other.deviations(table)
        other.memory = np.array([memory_of(each) for each in deviations.T])
        news = deviations[1:] - other.memory * deviations[:-1]
        other.news = np.array([max(_wide(each), 1e-6) for each in news.T])
        return other


def _skewed(column: Array) -> bool:
    """Return whether the logarithm of a column is more even than the column."""
    if column.min() <= 0:
        return False

    def lopsided(values: Array) -> float:
        low, middle, high = np.quantile(values, [0.15, 0.5, 0.85])
        return float(abs(low + high - 2 * middle) / max(high - low, 1e-300))

    return lopsided(np.log(column)) < lopsided(column)


def spread(values: Array) -> float:
    """Return the median absolute deviation as a standard deviation.

    Parameters
    ----------
    values : ndarray
        Numbers.

    Returns
    -------
    float
        1.4826 times the median distance from the median.
    """
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


def _wide(residuals: Array) -> float:
    """Return a robust standard deviation that long tails are not too long for.

    A tenth of the rows may lie anywhere: a bad week does not widen it.
    """
    distance = np.abs(residuals - np.median(residuals))
    return float(max(1.4826 * np.median(distance), np.quantile(distance, 0.9) / 1.645))


def memory_of(deviations: Array) -> float:
    """Return how far each residual resembles the one before: the coefficient of an AR(1).

    Parameters
    ----------
    deviations : ndarray of shape (n_rows,)
        In robust standard deviations, in order.

    Returns
    -------
    float
        From 0 to 0.995; residuals beyond three deviations count as three.
    """
    bounded = np.clip(deviations - np.median(deviations), -3.0, 3.0)
    power = float(bounded @ bounded)
    return float(np.clip(bounded[1:] @ bounded[:-1] / power, 0.0, 0.995)) if power else 0.0


class _Squares:
    """Ridge on the columns, their squares and products, reweighted by Tukey's biweight."""

    def fit(self, inputs: Array, target: Array) -> _Squares:
        from sklearn.linear_model import RidgeCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures, StandardScaler

        self._expanded = make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler())
        features = self._expanded.fit_transform(inputs)
        weight = np.ones(len(target))
        self._ridge = RidgeCV(np.logspace(-2, 4, 7))
        for _ in range(4):
            left = target - self._ridge.fit(features, target, weight).predict(features)
            far = _FAR * max(spread(left), 1e-300)
            weight = np.clip(1 - (left / far) ** 2, 1e-3, 1) ** 2
        return self

    def predict(self, inputs: Array) -> Array:
        return np.asarray(self._ridge.predict(self._expanded.transform(inputs)))


class _Nothing:
    """The median, whatever the other columns say: a price resembles that of yesterday most."""

    def fit(self, inputs: Array, target: Array) -> _Nothing:
        del inputs
        self._median = float(np.median(target))
        return self

    def predict(self, inputs: Array) -> Array:
        return np.full(len(inputs), self._median)


class _Trees:
    """Extremely randomised trees; targets beyond five interquartile ranges count as there."""

    def fit(self, inputs: Array, target: Array) -> _Trees:
        from sklearn.tree import ExtraTreeRegressor

        low, middle, high = np.quantile(target, [0.25, 0.5, 0.75])
        reach = 5 * (high - low)
        bounded = np.clip(target, middle - reach, middle + reach) if reach else target
        # One by one: a forest's fit would reset the warnings' filters, which all threads share.
        seeds, inputs = np.random.RandomState(0), inputs.astype(np.float32)
        self._trees = []
        for _ in range(_TREES):
            seed = seeds.randint(np.iinfo(np.int32).max)
            tree = ExtraTreeRegressor(min_samples_leaf=3, max_features=0.7, random_state=seed)
            self._trees.append(tree.fit(inputs, bounded).tree_)
        return self

    def predict(self, inputs: Array) -> Array:
        # The forest's own would deal trees out to workers: for a few rows that is most of the time.
        rows = inputs.astype(np.float32)
        predicted = np.zeros(len(rows))
        for tree in self._trees:
            predicted += tree.predict(rows)[:, 0]
        return predicted / len(self._trees)
