"""What the second look does for the flagship: peaks found, gross targets kept out."""

import numpy as np
import pytest

from robustscn import RobustSCNRegressor
from robustscn.core.judging import LOOKS_AGAIN
from robustscn.datasets import contaminate, make_function


@pytest.mark.parametrize("seeds", [(4, 9), pytest.param((4, 9, 10), marks=pytest.mark.slow)])
def test_peaks_that_the_first_look_takes_for_outliers_are_found(seeds):
    errors = {}
    X_test, y_test = make_function(600, grid=True)
    for again in (False, True):
        errors[again] = []
        for seed in seeds:
            X, y = make_function(600, rng=seed)
            y, _ = contaminate(y, 0.3, protocol="replace", rng=seed + 7000)
            model = RobustSCNRegressor(n_networks=5, second_look=again, random_state=seed).fit(X, y)
            error = model.predict(X_test) - y_test
            errors[again].append(np.sqrt(np.mean(error**2)))
    assert np.mean(errors[True]) < 0.6 * np.mean(errors[False])


def test_gross_targets_among_many_wrong_ones_do_not_mislead_it():
    X, y = make_function(200, rng=0)
    truth = y.copy()
    y, _ = contaminate(y, 0.25, protocol="replace", rng=0)
    y[:3] = 1e6
    errors = []
    for again in (False, True):
        model = RobustSCNRegressor(n_networks=5, second_look=again, random_state=0).fit(X, y)
        errors.append(np.sqrt(np.mean((model.predict(X) - truth) ** 2)))
    assert errors[1] < 3 * errors[0]


@pytest.mark.parametrize(("n_rounds", "total"), [(1, 1), (3, 3), (4, 4 + LOOKS_AGAIN)])
def test_it_needs_a_first_look_that_has_settled(n_rounds, total):
    X, y = make_function(80, rng=0)
    model = RobustSCNRegressor(n_networks=2, max_nodes=10, n_rounds=n_rounds, random_state=0)
    assert len(model.fit(X, y).error_path_) == total
    model.set_params(second_look=False)
    assert len(model.fit(X, y).error_path_) == n_rounds
