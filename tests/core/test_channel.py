"""The level of a stream follows errors that are believed."""

import numpy as np

from robustscn.core.channel import LEVEL, followed


def test_the_level_skips_what_is_strange() -> None:
    errors = np.array([[1.0], [100.0], [1.0], [1.0], [1.0]])
    levels, tail = followed(np.zeros((LEVEL, 1)), errors, np.ones(1))
    np.testing.assert_array_equal(levels[:, 0], [0, 0, 0, 0, 1])
    assert tail[:, 0].tolist() == [0.0, 1.0, 1.0, 1.0, 1.0]
