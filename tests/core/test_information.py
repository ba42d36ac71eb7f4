"""The square-root information filter against fresh weighted least squares."""

import numpy as np
import pytest

from robustscn.core.information import information_of, nothing_known


def _rows(n: int, p: int, q: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n, p))
    return H, H @ rng.normal(size=(p, q)) + rng.normal(size=(n, q)), rng.uniform(0, 2, n)


def _fresh(H: np.ndarray, Y: np.ndarray, w: np.ndarray) -> np.ndarray:
    root = np.sqrt(w)[:, None]
    return np.linalg.lstsq(root * H, root * Y, rcond=None)[0]


@pytest.mark.parametrize("cut", [1, 7, 300])
def test_updates_with_fading_are_weighted_least_squares(cut: int) -> None:
    H, Y, w = _rows(300, 6, 2)
    known, faded = nothing_known(6, 2), np.zeros(0)
    for start in range(0, 300, cut):
        at = slice(start, start + cut)
        known = known.updated(H[at], Y[at], w[at], kept=0.9)
        faded = np.concatenate([0.9 * faded, w[at]])
    np.testing.assert_allclose(known.output_weights(), _fresh(H, Y, faded), rtol=1e-9)
    assert known.weight == pytest.approx(faded.sum())


def test_all_at_once_is_ridge_regression_with_a_free_constant() -> None:
    H, Y, w = _rows(40, 4, 1)
    H[:, -1] = 1.0
    penalty = 0.3 * w.sum() * np.diag([1.0, 1.0, 1.0, 0.0])
    normal = np.linalg.solve(H.T @ (w[:, None] * H) + penalty, H.T @ (w[:, None] * Y))
    np.testing.assert_allclose(information_of(H, Y, w, 0.3).output_weights(), normal, rtol=1e-9)
    goal = np.ones((4, 1))
    pulled = information_of(H, Y, w, 0.3, goal).output_weights()
    less = information_of(H, Y - H @ goal, w, 0.3).output_weights()
    np.testing.assert_allclose(pulled, less + goal, rtol=1e-9)


def test_directions_that_no_row_shows_get_nothing() -> None:
    known = nothing_known(3, 1).updated(np.array([[1.0, 1.0, 0.0]]), np.array([[2.0]]), np.ones(1))
    np.testing.assert_allclose(known.output_weights()[:, 0], [1.0, 1.0, 0.0], atol=1e-12)


def test_no_digit_is_lost_where_products_would_lose_them() -> None:
    rng = np.random.default_rng(3)
    base = rng.normal(size=(4000, 1))
    H = np.hstack([base, base + 1e-7 * rng.normal(size=(4000, 1)), np.ones((4000, 1))])
    truth = np.array([[1.0], [2.0], [3.0]])
    known = nothing_known(3, 1)
    for start in range(0, 4000, 20):
        at = slice(start, start + 20)
        known = known.updated(H[at], H[at] @ truth, np.ones(20), kept=0.999)
    np.testing.assert_allclose(known.output_weights(), truth, rtol=1e-6)


@pytest.mark.slow
def test_a_million_updates_agree_with_a_fresh_solve() -> None:
    rng = np.random.default_rng(0)
    known, kept, truth = nothing_known(20, 1), 2.0 ** (-1 / 2000), rng.normal(size=(20, 1))
    recent: list[tuple[np.ndarray, np.ndarray]] = []
    for number in range(1_000_000):
        h = rng.normal(size=(1, 20))
        y = h @ truth + rng.normal(size=(1, 1))
        known = known.updated(h, y, np.ones(1), kept)
        if number >= 900_000:  # what is older has faded to nothing
            recent.append((h, y))
    H, Y = (np.vstack(part) for part in zip(*recent, strict=True))
    faded = kept ** np.arange(len(H) - 1.0, -1.0, -1.0)
    np.testing.assert_allclose(known.output_weights(), _fresh(H, Y, faded), rtol=1e-6)
