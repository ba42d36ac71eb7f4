"""Sketches: all rows or a sample of them in float32, as many as the newest node's gain asks for."""

import numpy as np
import pytest

from robustscn.core.rows import LocalRows
from robustscn.core.sketch import FEWEST_SAMPLED, MOST_SAMPLED, UNSAMPLED_ROWS, sketch_of

MANY = MOST_SAMPLED + 1000


@pytest.fixture(scope="module")
def many():
    X = np.column_stack([np.arange(MANY), -2.0 * np.arange(MANY)]).astype(float)
    return LocalRows(MANY), X, sketch_of(LocalRows(MANY), X)


def test_few_rows_are_sketched_whole_and_in_order():
    rng = np.random.default_rng(0)
    X, e, w = rng.normal(size=(50, 3)), rng.normal(size=(50, 2)), rng.uniform(size=50)
    X[7], e[9] = 1e300, -1e300  # of no weight, perhaps; float32 holds neither
    rows, at, residuals, weight = sketch_of(LocalRows(50), X).columns(LocalRows(50), e, w, 1e-9)
    assert rows.n_rows == 50
    assert at.dtype == residuals.dtype == weight.dtype == np.float32
    np.testing.assert_array_equal(at, np.clip(X, -1e12, 1e12).astype(np.float32))
    np.testing.assert_array_equal(residuals, np.clip(e, -1e15, 1e15).astype(np.float32))
    np.testing.assert_array_equal(weight, w.astype(np.float32))


def test_no_more_than_a_fixed_number_of_rows_is_sketched(many):
    assert sketch_of(LocalRows(UNSAMPLED_ROWS), np.zeros((UNSAMPLED_ROWS, 1))).numbers is None
    _, X, sketch = many
    assert len(set(sketch.numbers)) == MOST_SAMPLED
    np.testing.assert_array_equal(sketch.X, X[sketch.numbers].astype(np.float32))


@pytest.mark.parametrize(
    ("share", "count"),
    [(1.0, FEWEST_SAMPLED), (0.005, 20_000), (0.002, 50_000), (0.0, MOST_SAMPLED)],
)
def test_a_hundred_rows_for_each_share_of_the_error_within_bounds(many, share, count):
    rows, X, sketch = many
    e, w = 3.0 * X[:, :1], X[:, 0] % 7.0
    some, at, residuals, weight = sketch.columns(rows, e, w, share)
    assert some.n_rows == len(at) == count
    number = sketch.numbers[:count]
    np.testing.assert_array_equal(at, X[number].astype(np.float32))
    np.testing.assert_array_equal(residuals, e[number].astype(np.float32))
    np.testing.assert_array_equal(weight, w[number].astype(np.float32))
