"""What is linear is learned as well as by a linear regression that is robust."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor

from robustscn import RobustSCNRegressor


@pytest.mark.parametrize(("n_rows", "n_inputs"), [(400, 8), (300, 20)])
def test_a_linear_truth_under_wrong_targets_is_met_as_well_as_by_huber(n_rows, n_inputs):
    errors = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        slope, X = rng.normal(size=n_inputs), rng.normal(size=(n_rows, n_inputs))
        wrong = rng.uniform(size=n_rows) < 0.2
        y = X @ slope + 0.5 * rng.normal(size=n_rows) + wrong * rng.uniform(-15, 15, size=n_rows)
        X_test = rng.normal(size=(1000, n_inputs))
        models = (RobustSCNRegressor(random_state=0), HuberRegressor(max_iter=1000))
        predictions = (model.fit(X, y).predict(X_test) for model in models)
        errors.append([np.sqrt(np.mean((p - X_test @ slope) ** 2)) for p in predictions])
    ours, huber = np.mean(errors, axis=0)
    assert ours < 1.1 * huber
