"""Quantiles against sorting, and sums and extremes that count a weight as repetition."""

import numpy as np
import pytest

from reference import by_sorting
from robustscn.core.rows import LocalRows
from robustscn.core.statistics import larger, outermost, quantile, quantiles, total_weight
from small import VALUES


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("name", VALUES)
def test_quantile_equals_sorting(name, share, dtype):
    rng = np.random.default_rng(4)
    values = VALUES[name](rng).astype(dtype)
    weight = rng.integers(0, 4, size=50).astype(dtype)
    for block_bytes in (8, 2**21):
        found = quantile(LocalRows(50, block_bytes), values, weight, share)
        assert found == by_sorting(values, weight, share)


@pytest.mark.parametrize("sorted_rows", [0, 3])
@pytest.mark.parametrize("name", VALUES)
def test_quantile_of_rows_too_many_to_sort_equals_sorting(name, sorted_rows, monkeypatch):
    monkeypatch.setattr("robustscn.core.statistics.SORTED_ROWS", sorted_rows)
    rng = np.random.default_rng(6)
    values, weight = VALUES[name](rng), rng.integers(0, 4, size=50).astype(float)
    for share in (0.0, 0.1, 0.5, 0.95, 1.0):
        found = quantile(LocalRows(50, 8 * 7), values, weight, share)
        assert found == by_sorting(values, weight, share)


def test_quantile_counts_a_weight_as_repetition():
    rng = np.random.default_rng(5)
    values, times = rng.normal(size=30), rng.integers(0, 4, size=30)
    repeated = np.repeat(values, times)
    for share in (0.25, 0.5, 0.75):
        assert quantile(LocalRows(30), values, times.astype(float), share) == quantile(
            LocalRows(len(repeated)), repeated, np.ones(len(repeated)), share
        )


def test_quantile_does_not_see_rows_without_weight():
    values, weight = np.array([1.0, 2.0, 3.0, 1e9, -1e9]), np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    assert quantile(LocalRows(5), values, weight, 0.0) == 1.0
    assert quantile(LocalRows(5), values, weight, 0.5) == 2.0
    assert quantile(LocalRows(5), values, weight, 1.0) == 3.0


@pytest.mark.parametrize("sorted_rows", [3, 2**15])
def test_quantile_of_rows_without_weight_is_below_all(sorted_rows, monkeypatch):
    monkeypatch.setattr("robustscn.core.statistics.SORTED_ROWS", sorted_rows)
    assert quantile(LocalRows(5), np.arange(5.0), np.zeros(5), 0.5) == -np.inf


def test_quantile_of_float32_spans_its_whole_range():
    values = np.array([1e-30, 1.1e-30, 1.2e-30, 1.3e-30, 1e12], dtype=np.float32)
    assert quantile(LocalRows(5), values, np.ones(5, np.float32), 0.5) == np.float32(1.2e-30)


def test_quantiles_are_those_of_each_column():
    rng = np.random.default_rng(4)
    columns, weight = rng.normal(size=(60, 3)), rng.integers(0, 4, size=60).astype(float)
    rows = LocalRows(60, 8 * 7)
    for share in (0.05, 0.5, 0.95):
        for signs, values in ((False, columns), (True, np.abs(columns))):
            literal = [quantile(rows, values[:, q].copy(), weight, share) for q in range(3)]
            found = quantiles(rows, columns, weight, share, of_sizes=signs)
            np.testing.assert_array_equal(found, literal)


def test_the_total_weight_is_the_same_for_any_blocks():
    weight = np.arange(50.0)
    assert total_weight(LocalRows(50), weight) == total_weight(LocalRows(50, 8), weight) == 1225.0


def test_extremes_are_combined_each_by_itself():
    a, b = (
        (np.array([1.0, 5.0]), np.array([2.0, 6.0])),
        (np.array([3.0, 4.0]), np.array([0.0, 9.0])),
    )
    np.testing.assert_array_equal(larger(a, b), [[3.0, 5.0], [2.0, 9.0]])
    np.testing.assert_array_equal(outermost(a, b), [[1.0, 4.0], [2.0, 9.0]])
