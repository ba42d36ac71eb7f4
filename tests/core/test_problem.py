"""Weighted rows: their sums, and some of them on the host."""

from dataclasses import replace

import numpy as np
import pytest

from robustscn.core.problem import Problem, some_rows, weighed
from robustscn.core.rows import LocalRows
from robustscn.core.sketch import sketch_of
from small import problem


def test_energy_and_total_weight():
    rows = problem(n_outputs=2, block_bytes=64)
    np.testing.assert_allclose(
        rows.energy(rows.y), np.sum(rows.weight[:, None] * rows.y**2, axis=0), rtol=1e-12
    )
    assert rows.total_weight() == pytest.approx(np.sum(rows.weight), rel=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_some_rows_are_rows_spread_over_all_in_float64(dtype):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(5000), rng.uniform(size=5000)]).astype(dtype)
    y, weight = (X[:, :1] * 3 + 1).astype(dtype), (X[:, 0] + 0.5).astype(dtype)
    some = some_rows(Problem(LocalRows(5000), X, y, weight), 700)
    assert some.rows.n_rows == 700
    number = some.X[:, 0].astype(int)
    assert len(set(number)) == 700
    np.testing.assert_array_equal(some.X, X[number].astype(float))
    np.testing.assert_array_equal(some.y, y[number].astype(float))
    np.testing.assert_array_equal(some.weight, weight[number].astype(float))
    assert some.X.dtype == some.y.dtype == some.weight.dtype == np.float64
    # Each tenth of the rows is there by its share.
    counts = np.bincount(number // 500, minlength=10)
    assert np.all(np.abs(counts - 70) <= 5)
    np.testing.assert_array_equal(some.sketch.X, some.X.astype(np.float32))


def test_weighed_rows_are_those_with_weight_in_their_order():
    rows = problem(n_outputs=2)
    weight = np.where(np.arange(50) % 3 == 0, 0.0, rows.weight)
    sketched = replace(rows, weight=weight, sketch=sketch_of(rows.rows, rows.X))
    few, numbers = weighed(sketched), np.flatnonzero(weight)
    assert few.rows.n_rows == len(numbers) < 50
    for name in ("X", "y", "weight"):
        np.testing.assert_array_equal(getattr(few, name), getattr(sketched, name)[numbers])
    np.testing.assert_array_equal(few.sketch.X, few.X.astype(np.float32))
    all_ = replace(rows, weight=np.ones(50))
    assert weighed(all_) is all_
    nothing = replace(rows, weight=np.zeros(50))
    assert weighed(nothing) is nothing  # a network of nothing needs its rows all the same
