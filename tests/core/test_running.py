"""Running scales are those of a fit."""

import numpy as np
import pytest

from robustscn.core.rows import LocalRows
from robustscn.core.running import RUN, far, in_runs, running_scales, trimmed_mean
from robustscn.core.scale import distances, trimmed_scales


@pytest.mark.parametrize("wrong", [0.0, 0.25])
def test_running_scale_and_distance_are_those_of_a_fit(wrong: float) -> None:
    rng = np.random.default_rng(1)
    e = rng.normal(size=(401, 1)) * 3.0
    e[: int(wrong * 401)] += 50.0
    rows = LocalRows(len(e))
    scales = running_scales(e)
    np.testing.assert_allclose(scales, trimmed_scales(rows, e, np.ones(len(e))), rtol=1e-12)
    many = np.hstack([e, 2 * e[::-1]])
    both = np.array([1.0, 2.0])
    np.testing.assert_allclose(far(many, both), distances(rows, many, both), rtol=1e-12)
    np.testing.assert_allclose(far(e, scales), distances(rows, e, scales), rtol=1e-12)


def test_the_largest_do_not_move_a_trimmed_mean() -> None:
    sizes = np.array([1.0, 2.0, 3.0, 4.0])
    assert trimmed_mean(sizes, 0.5) == trimmed_mean(np.array([1.0, 1e9, 2.0, 7.0]), 0.5) == 1.5


def test_rows_stand_in_a_run_that_are_off_in_the_same_way() -> None:
    errors = 0.5 * np.random.default_rng(0).normal(size=(60, 2))
    errors[20 : 20 + RUN, 1] += 4.0
    errors[40, 1] = 1e9  # one alone is no run
    found = in_runs(errors)
    assert not found[:, 0].any()
    assert found[20 : 20 + RUN, 1].all()
    # A run that reaches beyond it by less than half is off too.
    assert not found[: 20 - RUN // 2, 1].any()
    assert not found[20 + RUN + RUN // 2 :, 1].any()
    assert not in_runs(errors[: RUN - 1] + 9.0).any()
