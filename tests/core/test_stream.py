"""Wrong row or changed world: what a model that keeps learning makes of either."""

import numpy as np

from robustscn.core.memory import BLOCK
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
