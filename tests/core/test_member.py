"""A network of a committee grows on the rows of all folds but one."""

from dataclasses import replace

import numpy as np
import pytest

import reference
from robustscn.core.folds import parts_of
from robustscn.core.member import grown_without, growth_path
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.recipe import Recipe
from robustscn.core.rows import LocalRows

RIDGE = 1e-6


def recipe(n, number):
    draw = Draw(0, n, (0.3, 1.0, 3.0, 10.0), 10, centres=np.stack([np.zeros(n), np.ones(n)]))
    return Recipe(draw, 20, block=5, exact=True, ridge=RIDGE, round=number)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(240, 3))
    y = (np.sin(5 * X[:, 0]) + X[:, 1])[:, None]
    return Problem(LocalRows(240), X, y, np.ones(240))


def test_a_networks_path_is_the_literal_error_of_each_size_on_either_rows(problem):
    weight = np.random.default_rng(2).uniform(0.5, 2, size=240)
    weight[::5] = 0.0
    weighted = replace(problem, weight=weight)
    fold = parts_of(weighted, 0).fold
    for number in range(4):
        grown = grown_without(weighted, fold, None, number, recipe(3, number))
        kept = fold == grown.kept_from
        for size, *errors in grown.path:
            H = grown.nodes.take(range(int(size))).hidden(problem.X)
            seen = weight * ~kept
            penalty = RIDGE * seen.sum()
            beta = reference.ridge_weights(H, problem.y, seen, penalty)
            squares = np.sum((problem.y - H @ beta) ** 2, axis=1)
            literal = [
                np.sqrt(np.sum((w * squares)[rows]) / np.sum(w[rows]))
                for w, rows in ((weight, ~kept), (weight, kept))
            ]
            np.testing.assert_allclose(errors, literal, rtol=1e-5)


def test_rows_that_are_not_believed_have_no_say_in_what_grows(problem):
    weight, fold = np.where(np.arange(240) % 4 == 1, 0.0, 1.0), parts_of(problem, 0).fold
    grown = []
    for value in (0.0, 1e9):
        y = np.where(weight[:, None] > 0, problem.y, value)
        spoiled = replace(problem, y=y, weight=weight)
        grown.append(grown_without(spoiled, fold, None, 0, recipe(3, 0)))
    one, other = grown
    np.testing.assert_array_equal(one.nodes.weights, other.nodes.weights)
    np.testing.assert_array_equal(one.path, other.path)


def test_a_path_that_ended_early_stays_at_its_last_error():
    long = np.array([[5, 1.0, 2.0], [10, 0.6, 1.0], [15, 0.2, 0.8]])
    short = np.array([[5, 3.0, 4.0], [10, 2.0, 3.0]])
    np.testing.assert_allclose(
        growth_path([long, short]), [[5, 2.0, 3.0], [10, 1.3, 2.0], [15, 1.1, 1.9]]
    )
