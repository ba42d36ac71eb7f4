"""river's own checks of its estimators, run on ours."""

import numpy as np
import pytest

river = pytest.importorskip("river")

from river import checks, datasets  # noqa: E402

from robustscn import RobustSCNRegressor  # noqa: E402
from robustscn.river import RobustSCN  # noqa: E402


def _small() -> RobustSCN:
    return RobustSCN(n_networks=1, max_nodes=5)


@pytest.mark.parametrize("check", list(checks.yield_checks(_small())), ids=lambda c: c.__name__)
def test_rivers_checks(check) -> None:
    check(_small())


def test_it_is_the_estimator_of_scikit_learn() -> None:
    rows = [(x, y) for x, y in datasets.TrumpApproval().take(230)]
    one, many = _small(), _small()
    for x, y in rows:
        one.learn_one(x, y)
    X, y = np.array([list(x.values()) for x, _ in rows]), np.array([y for _, y in rows])
    import pandas as pd

    frame = pd.DataFrame([x for x, _ in rows])
    many.learn_many(frame[:100], pd.Series(y[:100]))
    many.learn_many(frame[100:], pd.Series(y[100:]))
    names = sorted(rows[0][0])
    order = [list(rows[0][0]).index(name) for name in names]
    direct = RobustSCNRegressor(n_networks=1, max_nodes=5, n_jobs=1, random_state=0)
    direct.partial_fit(X[:, order], y)
    expected = direct.predict(X[-5:, order])
    np.testing.assert_allclose([one.predict_one(x) for x, _ in rows[-5:]], expected, rtol=1e-12)
    np.testing.assert_array_equal(many.predict_many(frame[-5:]), expected)
    assert one.suspects == direct.suspects_
    assert one.drifts == direct.drift_


def test_missing_and_new_inputs_are_no_error() -> None:
    model = _small()
    for i in range(30):
        model.learn_one({"a": i, "b": 2.0 * i}, float(i))
    assert np.isfinite(model.predict_one({"a": 3, "new": 1}))


def test_gaps_are_filled_as_if_rows_came_one_by_one() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(230, 2))
    y = X.sum(axis=1)
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    one, many = _small(), _small()
    for (a, b), target in zip(X, y, strict=True):
        one.learn_one({"a": a, "b": None if np.isnan(b) else b}, target)
    many.learn_many(pd.DataFrame(X, columns=["a", "b"]), pd.Series(y))
    probe = {"a": None, "b": 0.3}
    assert one.predict_one(probe) == many.predict_one(probe)
