"""Rows: blocks of any size give the same columns and sums; quantiles are exact."""

import numpy as np
import pytest

from robustscn.core.rows import LocalRows, added, filled, spread

PARTITIONS = pytest.mark.parametrize("block_bytes", [8, 8 * 7, 8 * 1000])


@PARTITIONS
def test_map_joins_the_blocks_in_order(block_bytes):
    x = np.arange(40.0)[:, None] * [1.0, 2.0]
    rows = LocalRows(40, block_bytes)
    doubled, total = rows.map(lambda block: (2 * block, block.sum(axis=1)), x)
    np.testing.assert_array_equal(doubled, 2 * x)
    np.testing.assert_array_equal(total, x.sum(axis=1))
    np.testing.assert_array_equal(rows.map(lambda block: block + 1, x), x + 1)


@PARTITIONS
def test_reduce_adds_over_all_rows(block_bytes):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(40, 3)), rng.uniform(size=40)
    gram, count = LocalRows(40, block_bytes).reduce(
        lambda a, b: (a.T @ (a * b[:, None]), b.sum()), x, w
    )
    np.testing.assert_allclose(gram, x.T @ np.diag(w) @ x, rtol=1e-13)
    np.testing.assert_allclose(count, w.sum(), rtol=1e-13)


@PARTITIONS
def test_reduce_combines_as_told(block_bytes):
    x = np.random.default_rng(1).normal(size=40)
    (largest,) = LocalRows(40, block_bytes).reduce(
        lambda block: (block.max(),), x, combine=lambda a, b: (np.maximum(a[0], b[0]),)
    )
    assert largest == x.max()


@PARTITIONS
def test_sweep_gives_what_map_and_reduce_give(block_bytes):
    x = np.random.default_rng(2).normal(size=(40, 2))
    rows = LocalRows(40, block_bytes)
    column, (total,) = rows.sweep(lambda block: (block**2, (block.sum(axis=0),)), x)
    np.testing.assert_array_equal(column, x**2)
    np.testing.assert_allclose(total, x.sum(axis=0), rtol=1e-13)


def test_no_block_is_larger_than_asked_for():
    sizes = []
    LocalRows(1000, block_bytes=8 * 60).reduce(
        lambda block: (sizes.append(block.shape[0]) or np.zeros(1),), np.zeros(1000), width=6
    )
    assert max(sizes) == 10
    assert sum(sizes) == 1000


def test_partial_results_of_different_number_are_refused():
    with pytest.raises(ValueError, match="longer"):
        added((np.ones(2),), (np.ones(2), np.ones(2)))


def test_a_stack_keeps_every_version_when_an_older_one_branches():
    rows = LocalRows(5)
    a, b, c = (np.full((5, 1), value) for value in (1.0, 2.0, 3.0))
    one = rows.stack(a, capacity=3).appended(a)
    straight = one.appended(b)
    branch = one.appended(c)
    branch_on = branch.appended(b)
    np.testing.assert_array_equal(one.block(0, 5), a)
    np.testing.assert_array_equal(straight.block(0, 5), np.hstack([a, b]))
    np.testing.assert_array_equal(branch.block(0, 5), np.hstack([a, c]))
    np.testing.assert_array_equal(branch_on.block(0, 5), np.hstack([a, c, b]))
    # The branch has room of its own, so the first line goes on undisturbed.
    np.testing.assert_array_equal(straight.appended(c).block(0, 5), np.hstack([a, b, c]))
    np.testing.assert_array_equal(branch_on.block(0, 5), np.hstack([a, c, b]))


def test_a_stack_that_is_not_branched_is_not_copied():
    rows = LocalRows(5)
    stack = rows.stack(np.ones(5), capacity=4)
    grown = stack.appended(np.ones((5, 1))).appended(np.ones((5, 2)))
    assert grown.buffer is stack.buffer
    assert grown.width == 3


def test_a_stack_grows_beyond_its_capacity():
    columns = np.random.default_rng(3).normal(size=(5, 7))
    stack = LocalRows(5).stack(columns, capacity=1)
    for k in range(7):
        stack = stack.appended(columns[:, [k]])
    np.testing.assert_array_equal(stack.block(0, 5), columns)
    np.testing.assert_array_equal(stack.block(2, 4), columns[2:4])


def test_filled_takes_the_dtype_of_its_reference():
    column = filled(LocalRows(6, block_bytes=16), 2.5, np.zeros((6, 3), dtype=np.float32))
    assert column.dtype == np.float32
    np.testing.assert_array_equal(column, np.full(6, 2.5))


def test_a_sample_spread_over_many_rows_is_the_first_turns_of_the_golden_ratio():
    n_rows = 2**22 + 1000  # more than are looked at at once
    turned = np.arange(n_rows) * 0.6180339887498949
    order = np.argsort(turned - np.floor(turned), kind="stable")
    np.testing.assert_array_equal(spread(n_rows, 300), order[:300])
    np.testing.assert_array_equal(np.sort(spread(50, 80)), np.arange(50))
