"""A robust plane through the latest rows."""

import numpy as np
import pytest

from robustscn.core.line import robust_line


def _rows(n: int = 300, shift: float = 1e6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3)) * [1.0, 100.0, 0.01] + shift
    return X, ((X - shift) @ [2.0, 0.03, -50.0] + 7.0 + 0.1 * rng.normal(size=n))[:, None]


def _slopes_but_for_wrong(X, y, right) -> np.ndarray:
    centred = X - X.mean(axis=0)
    design = np.hstack([centred, np.ones((len(X), 1))])[right]
    return np.linalg.lstsq(design, y[right], rcond=None)[0][:-1]


@pytest.mark.parametrize("burst", [0, 40, 80])
def test_bursts_do_not_move_it(burst: int) -> None:
    X, y = _rows()
    spoiled, right = y.copy(), np.ones(len(y), bool)
    spoiled[100 : 100 + burst] += 20.0
    right[100 : 100 + burst] = False
    line = robust_line(X, spoiled, np.ones(len(y)))
    expected = _slopes_but_for_wrong(X, y, right)
    width = X.std(axis=0)[:, None]
    np.testing.assert_allclose(line.slopes * width, expected * width, atol=0.02)
    assert np.mean(np.abs(line.says(X) - y)) < 0.12


def test_a_weight_of_two_is_the_row_twice() -> None:
    X, y = _rows(100)
    weight = np.where(np.arange(100) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(100), weight.astype(int))
    once = robust_line(X, y, np.ones(100))
    heavy = robust_line(X, y, weight, once)
    repeated = robust_line(X[twice], y[twice], np.ones(len(twice)), once)
    # The running scale counts rows, not weights: equal but for that.
    np.testing.assert_allclose(heavy.says(X), repeated.says(X), atol=0.02)


def test_inputs_that_say_nothing_get_no_slope() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 8)), rng.normal(size=(200, 1))
    line = robust_line(X, y, np.ones(200))
    least_squares = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    assert np.linalg.norm(line.slopes) < 0.7 * np.linalg.norm(least_squares)


def test_going_on_from_the_plane_before_arrives_at_the_same() -> None:
    X, y = _rows()
    fresh = robust_line(X, y, np.ones(300))
    gone_on = robust_line(X, y, np.ones(300), robust_line(X[:280], y[:280], np.ones(280)))
    np.testing.assert_allclose(gone_on.says(X), fresh.says(X), atol=1e-3)
