"""What a stream remembers: rows in order, half-lives, columns, and never more than a bound."""

import pickle

import numpy as np
import pytest

from robustscn.core.memory import SHORTEST, Batch
from small import after, plant, stream_alone


def batch(start, stop):
    rows = np.arange(start, stop, dtype=float)
    return Batch(rows[:, None], rows[:, None] + 0.5, -rows[:, None], rows)


@pytest.mark.parametrize(("most", "first"), [(100, 0), (7, 3), (2, 8), (1, 9)])
def test_the_latest_rows_are_kept_in_order(most: int, first: int) -> None:
    kept = batch(0, 6).followed_by(batch(6, 10), most)
    literal = batch(first, 10)
    for name in ("X", "given", "y", "weight"):
        np.testing.assert_array_equal(getattr(kept, name)[-len(literal) :], getattr(literal, name))


def test_columns_are_what_was_given_inputs_nodes_and_a_constant() -> None:
    X, _, y = plant(800)
    stream = after(stream_alone(), X, y)
    assert len(stream.nodes) > 0
    columns = stream.columns(X[:9], np.full((9, 0), 0.0))
    inputs = stream.unit.inputs(X[:9])
    np.testing.assert_array_equal(columns[:, :3], inputs)
    np.testing.assert_array_equal(columns[:, 3:-1], stream.nodes.hidden(inputs))
    np.testing.assert_array_equal(columns[:, -1], 1.0)


@pytest.mark.parametrize(("half_life", "expected"), [(None, SHORTEST), (20.0, 20.0), (1e4, 50.0)])
def test_the_believing_channel_forgets_sooner(half_life: float | None, expected: float) -> None:
    assert stream_alone(half_life).shorter_half_life() == expected


def test_half_life_forgets() -> None:
    X, _, y = plant(1500)
    slope = np.linspace(0, 1, 1500)
    short = after(stream_alone(half_life=50.0), X, y + slope)
    assert short.slow.information.weight < 120
    assert after(stream_alone(), X, y).slow.information.weight > 1000


def test_memory_does_not_grow() -> None:
    X, _, y = plant(3000, wrong=0.4)
    stream = after(after(stream_alone(max_nodes=2), X, y), X, y)
    size = len(pickle.dumps(stream))
    assert len(pickle.dumps(after(after(stream, X, y), X, y))) < 1.01 * size
