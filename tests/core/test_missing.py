"""What stands for missing inputs: medians of what is known, marks where something was not."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from robustscn.core.arrays import to_host
from robustscn.core.missing import Missing, missing_of
from robustscn.core.rows import LocalRows
from robustscn.core.statistics import SORTED_ROWS


def gappy(n=101, n_features=3, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    X[rng.random(X.shape) < share] = np.nan
    return X, rng.integers(0, 4, n).astype(float)


def learned(X, weight=None):
    return missing_of(LocalRows(len(X)), X, np.ones(len(X)) if weight is None else weight)


def lower_median(values):
    return np.quantile(values, 0.5, method="inverted_cdf")


@pytest.mark.parametrize("n", [101, SORTED_ROWS + 1000])
def test_gaps_get_the_median_of_rows_repeated_as_often_as_they_weigh(n):
    X, weight = gappy(n)
    X[:, 1] = np.arange(n)
    found, repeated = learned(X, weight), np.repeat(X, weight.astype(int), axis=0)
    known = [column[~np.isnan(column)] for column in repeated.T]
    assert_array_equal(found.fill, [lower_median(column) for column in known])
    assert found.marked == (0, 2)


def test_rows_without_weight_neither_move_medians_nor_make_marks():
    X, weight = gappy()
    X[:, 1] = np.where(weight > 0, 1.0, np.nan)
    found, without = learned(X, weight), learned(X[weight > 0], weight[weight > 0])
    assert_array_equal(found.fill, without.fill)
    assert found.marked == without.marked == (0, 2)


def test_columns_are_filled_and_marked():
    missing = Missing(np.array([5.0, 6.0, 7.0]), (0, 2))
    X = np.array([[np.nan, 1.0, 2.0], [3.0, np.nan, np.nan]])
    assert_array_equal(missing.filled(X), [[5, 1, 2, 1, 0], [3, 6, 7, 0, 1]])
    assert np.isnan(X).sum() == 3, "the caller's array is left as it was"


def test_what_has_no_gap_is_passed_through_as_it_is():
    X = np.ones((4, 2))
    assert learned(X).filled(X) is X


def test_an_input_that_was_never_known_is_zero_whatever_it_holds():
    X = np.column_stack([np.full(4, np.nan), np.arange(4.0)])
    missing = learned(X)
    assert missing.marked == ()
    assert missing.width == 2
    X[0, 0] = 99.0
    assert_array_equal(missing.filled(X), np.column_stack([np.zeros(4), np.arange(4.0)]))


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_other_libraries_have_the_same_numbers(library, dtype):
    xp = pytest.importorskip(library)
    X, weight = (a.astype(dtype) for a in gappy())
    X[:, 1] = np.nan
    there, weights = xp.asarray(X.copy()), xp.asarray(weight.copy())
    found, wanted = missing_of(LocalRows(len(X)), there, weights), learned(X, weight)
    assert_array_equal(found.fill, wanted.fill)
    assert found.marked == wanted.marked
    filled = found.filled(there)
    assert filled.dtype == there.dtype
    assert_array_equal(to_host(filled), wanted.filled(X))


@pytest.mark.parametrize(
    ("fill", "marked"),
    [
        (np.zeros((2, 1)), ()),
        (np.zeros(2, dtype=int), ()),
        ([0.0, 1.0], ()),
        (np.array([0.0, np.inf]), ()),
        (np.zeros(2), (2,)),
        (np.zeros(2), (-1,)),
        (np.zeros(2), (1, 0)),
        (np.zeros(2), (1, 1)),
        (np.zeros(2), (0.0,)),
        (np.zeros(2), [0]),
    ],
)
def test_parts_that_do_not_agree_are_not_sound(fill, marked):
    assert not Missing(fill, marked).sound()
    assert Missing(np.array([0.0, np.nan]), (0,)).sound()
