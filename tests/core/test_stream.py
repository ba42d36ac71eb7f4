"""Wrong row or changed world: what a model that keeps learning makes of either."""

import numpy as np

from robustscn.core.memory import BLOCK, LONG
from small import after, nothing, plant, stream_alone


def test_a_wrong_row_hardly_moves_the_next_prediction() -> None:
    X, _, y = plant(800)
    stream = after(stream_alone(), X, y)
    other = after(stream_alone(), X, y)
    probe = np.random.default_rng(5).uniform(size=(200, 3))
    for stray in (1.0, 10.0, 1e6):
        rows, targets = plant(BLOCK, seed=9)[::2]
        spoiled = targets.copy()
        spoiled[-1] += stray
        after(stream, rows, targets)
        after(other, rows, spoiled)
        moved = np.abs(stream.predict(probe, nothing) - other.predict(probe, nothing))
        assert moved.max() < 0.1 * stray


def test_predictions_stay_near_targets_that_were_seen() -> None:
    X, _, y = plant(400)
    stream = after(stream_alone(), X, y)
    far_off = stream.predict(np.full((1, 3), 1e6), nothing)
    assert 2 * y.min() - y.max() <= far_off <= 2 * y.max() - y.min()


def test_where_inputs_say_nothing_the_median_of_the_latest_targets_is_said() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.uniform(size=(1500, 3)), rng.normal(size=1500)
    stream = after(stream_alone(), X, y)
    probe = rng.uniform(size=(50, 3))
    expected = np.median(y[-LONG:])
    np.testing.assert_allclose(stream.predict(probe, nothing), expected, rtol=1e-12)
    low, high = stream.ends(0.8)
    assert expected + low[0] < np.quantile(y, 0.15) < expected < np.quantile(y, 0.85)
    assert expected + high[0] > np.quantile(y, 0.85)


def test_where_inputs_say_something_they_are_asked() -> None:
    X, clean, y = plant(800)
    stream = after(stream_alone(), X, y)
    says = stream.predict(X[-200:], nothing)[:, 0]
    assert np.mean(np.abs(says - clean[-200:])) < 0.3 * np.mean(np.abs(y - np.median(y)))
