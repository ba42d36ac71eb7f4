"""Which rows are kept from which network, and which rows are one and the same."""

import numpy as np
import pytest

from robustscn.core.folds import FEW_ROWS, FOLDS, fold_of_rows, mean_left_out, parts_of, twins_of
from robustscn.core.problem import Problem
from robustscn.core.rows import LocalRows


def problem_of(X, y=None, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    y = np.zeros(len(X)) if y is None else y
    return Problem(LocalRows(len(X)), X, y.reshape(len(X), -1), weight)


@pytest.fixture(name="X")
def inputs():
    return np.random.default_rng(0).uniform(size=(240, 3))


def test_copies_of_a_row_share_a_fold_and_folds_are_balanced(X):
    folds = fold_of_rows(problem_of(X), 0, 240)
    counts = np.bincount(folds.astype(int), minlength=FOLDS)
    assert counts.min() > 0.15 * len(folds)
    again = np.repeat(X, 3, axis=0)
    np.testing.assert_array_equal(fold_of_rows(problem_of(again), 0, 240), np.repeat(folds, 3))


def test_a_fold_is_the_literal_function_of_the_inputs(X):
    draw = np.random.default_rng((5, 1)).uniform(1e3, 1e4, 3)
    literal = [int(4 * (sum(d * x for d, x in zip(draw, row, strict=True)) % 1.0)) for row in X]
    np.testing.assert_array_equal(fold_of_rows(problem_of(X), 5, 240), literal)


def test_the_order_of_the_rows_does_not_change_their_folds(X):
    order = np.random.default_rng(1).permutation(240)
    folds = fold_of_rows(problem_of(X), 0, 240)
    np.testing.assert_array_equal(fold_of_rows(problem_of(X[order]), 0, 240), folds[order])


def test_inputs_with_two_values_are_not_cut_into_folds():
    X = np.tile([[0.0], [1.0]], (60, 1))
    assert np.all(fold_of_rows(problem_of(X), 0, len(X)) == -1)


def test_few_different_rows_are_not_cut_into_folds(X):
    assert np.all(parts_of(problem_of(X[: FEW_ROWS - 1]), 0).fold == -1)
    assert np.any(parts_of(problem_of(X[:FEW_ROWS]), 0).fold >= 0)
    # Copies do not make them many.
    assert np.all(parts_of(problem_of(np.repeat(X[: FEW_ROWS - 1], 9, axis=0)), 0).fold == -1)


def test_rows_of_equal_inputs_are_twins_and_count_once():
    X = np.array([[0.1, 0.2], [0.1, 0.2 + 1e-9], [0.1, 0.3], [0.4, 0.2], [0.4, 0.2]])
    twins, count = twins_of(problem_of(X, None, np.array([3.0, 1.0, 0.2, 0.0, 0.0])))
    assert count == 2  # the last two have no weight
    assert twins.count == 3
    group = twins.group
    assert group[0] == group[1]
    assert group[3] == group[4]
    assert len(set(group)) == 3
    assert twins_of(problem_of(X[[0, 2, 3]])) == (None, 3)


@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_a_row_has_the_literal_mean_over_networks_that_grew_without_it(X, count):
    rng = np.random.default_rng(count)
    fold = fold_of_rows(problem_of(X), 0, 240)
    left_out = [rng.normal(size=(240, 2)) for _ in range(count)]
    hidden_from = [k % FOLDS for k in range(count)]
    found = mean_left_out(LocalRows(240, 64), fold, left_out, hidden_from)
    for i in range(240):
        unseen = [e[i] for e, k in zip(left_out, hidden_from, strict=True) if k == fold[i]]
        # In a small ensemble all have seen some of the rows.
        literal = np.mean(unseen or [e[i] for e in left_out], axis=0)
        np.testing.assert_allclose(found[i], literal, rtol=1e-12)
