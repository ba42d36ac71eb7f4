"""Recipes: steps to a size, the flagship's, and reasons to stop that people can read."""

import numpy as np
import pytest

from robustscn.core.proposals import Draw
from robustscn.core.recipe import Recipe, Stop, learned_search


def test_a_reason_is_a_sentence():
    assert all(len(stop.value.split()) > 3 for stop in Stop)
    assert len({stop.value for stop in Stop}) == len(Stop)


@pytest.mark.parametrize(("max_nodes", "block", "steps"), [(8, 1, 8), (10, 4, 3), (3, 5, 1)])
def test_steps_are_whole_blocks_and_a_last_one(max_nodes, block, steps):
    assert Recipe(Draw(0, 1, (1.0,), 5), max_nodes, block=block).n_steps == steps


def test_blocks_swell_with_the_network_as_far_as_there_is_room():
    recipe = Recipe(Draw(0, 1, (1.0,), 5), 100, block=10, swelling=0.5)
    assert [recipe.wanted(n) for n in (0, 19, 20, 23, 60, 80, 100)] == [10, 10, 10, 11, 30, 20, 0]
    assert [Recipe(Draw(0, 1, (1.0,), 5), 9, block=4).wanted(n) for n in (0, 7, 9)] == [4, 2, 0]


def test_the_search_that_learns_begins_without_experience():
    draw = Draw(3, 4, (1.0,), 5, sparse=True)
    made = learned_search(draw, 40, ridge=1e-5, round=7)
    assert made.draw is draw
    assert (made.max_nodes, made.ridge, made.round) == (40, 1e-5, 7)
    assert made.exact
    assert made.pursued
    np.testing.assert_array_equal(made.experience.gains, np.zeros(4))
