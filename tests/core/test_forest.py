"""Trees as plain arrays: the same predictions, and no way out of the arrays."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from robustscn.core import forest
from robustscn.core.forest import LEAF, Forest, mean_of
from robustscn.estimators._forest import forest_of


def by_hand():
    """Return one tree: x0 <= 1 gives 10, or x1 <= 2 gives 20, else 30; missing x1 goes right."""
    return Forest(
        0.5,
        np.array([0]),
        np.array([0, LEAF, 1, LEAF, LEAF]),
        np.array([1.0, 0.0, 2.0, 0.0, 0.0]),
        np.array([1, 0, 3, 0, 0]),
        np.array([2, 0, 4, 0, 0]),
        np.array([True, False, False, False, False]),
        np.array([0.0, 10.0, 0.0, 20.0, 30.0]),
        2,
    )


def test_a_tree_by_hand():
    X = [[1.0, 9.0], [1.1, 2.0], [5.0, 2.1], [np.nan, 9.0], [2.0, np.nan]]
    np.testing.assert_array_equal(by_hand().predict(np.array(X)), [10.5, 20.5, 30.5, 10.5, 30.5])


def test_trees_predict_what_scikit_learns_do(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nansum(X, axis=1) + np.where(np.isnan(X[:, 0]), 3.0, 0.0)
    model = HistGradientBoostingRegressor(max_iter=30).fit(X, y, sample_weight=rng.random(700))
    found = forest_of(model)
    np.testing.assert_allclose(found.predict(X), model.predict(X), rtol=1e-12)
    # In pieces of a few rows it is the same.
    monkeypatch.setattr(forest, "AT_ONCE", 100)
    np.testing.assert_allclose(found.predict(X), model.predict(X), rtol=1e-12)
    assert found.sound()
    with pytest.raises(ValueError, match="3 inputs, the trees ask for 4"):
        found.predict(X[:, :3])


def test_only_what_arrays_can_say_becomes_trees():
    X = np.arange(60.0).reshape(30, 2) % 7
    assert forest_of(HistGradientBoostingRegressor(loss="poisson").fit(X, X[:, 0])) is None
    with_categories = HistGradientBoostingRegressor(categorical_features=[0])
    assert forest_of(with_categories.fit(X, X[:, 0])) is None
    assert forest_of(object()) is None


@pytest.mark.parametrize(
    ("column", "place", "value"),
    [
        ("left", 0, 5),  # beyond the end
        ("right", 2, -1),
        ("left", 2, 2),  # to itself, for ever
        ("right", 2, 0),  # back to the root
        ("inputs", 0, 2),  # an input that is not there
        ("inputs", 2, -2),
        ("roots", 0, 5),
        ("roots", 0, -1),
    ],
)
def test_ways_that_lead_astray_are_seen(column, place, value):
    assert by_hand().sound()
    changed = getattr(by_hand(), column).copy()
    changed[place] = value
    assert not replace(by_hand(), **{column: changed}).sound()


@pytest.mark.parametrize("column", ["thresholds", "values", "missing_left", "left"])
def test_columns_of_other_lengths_are_seen(column):
    assert not replace(by_hand(), **{column: getattr(by_hand(), column)[:-1]}).sound()
    assert not replace(by_hand(), left=by_hand().left.astype(float)).sound()


def random_trees(rng, n_trees, n_features, most_leaves):
    """Return trees that split a leaf at random until there are enough, with values of all kinds."""
    columns = {name: [] for name in ("inputs", "thresholds", "left", "right", "missing", "values")}
    roots = []
    for _ in range(n_trees):
        start = len(columns["inputs"])
        roots.append(start)
        ends = [start]
        for column, value in zip(columns.values(), (LEAF, 0.0, 0, 0, False, 0.0), strict=True):
            column.append(value)
        for _ in range(rng.integers(most_leaves)):  # none: a tree that is a leaf
            place = ends.pop(rng.integers(len(ends)))
            columns["inputs"][place] = rng.integers(n_features)
            columns["thresholds"][place] = rng.integers(5) / 4
            columns["missing"][place] = bool(rng.random() < 0.5)
            for side in ("left", "right"):
                columns[side][place] = len(columns["inputs"])
                ends.append(len(columns["inputs"]))
                for column, value in zip(
                    columns.values(), (LEAF, 0.0, 0, 0, False, rng.normal()), strict=True
                ):
                    column.append(value)
    kept = [np.array(column) for column in columns.values()]
    return Forest(rng.normal(), np.array(roots), *kept, n_features)


def test_striking_leaves_out_leads_where_the_way_down_does(monkeypatch):
    rng = np.random.default_rng(0)
    for n_features, most_leaves in ((1, 31), (5, 31), (3, 4)):
        trees = random_trees(rng, 150, n_features, most_leaves)
        assert trees.sound()
        X = rng.integers(-1, 6, size=(600, n_features)) / 4  # on, below and beyond all thresholds
        X[rng.random(X.shape) < 0.2] = np.nan
        X[0], X[1] = np.inf, -np.inf
        struck_out = trees.predict(X)
        with monkeypatch.context() as patched:
            patched.setattr(forest, "MANY_ROWS", len(X) + 1)
            np.testing.assert_allclose(struck_out, trees.predict(X), rtol=1e-12)
        np.testing.assert_allclose(struck_out[:9], trees.predict(X[:9]), rtol=1e-12)


def test_trees_of_more_leaves_than_a_word_has_bits_are_followed_down():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 2))
    model = HistGradientBoostingRegressor(max_iter=5, max_leaf_nodes=60, min_samples_leaf=2)
    model.fit(X, rng.normal(size=800))
    found = forest_of(model).predict(X)
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)


def test_a_mean_of_forests_is_the_mean_of_what_they_predict():
    rng = np.random.default_rng(2)
    several = [random_trees(rng, n, 3, 20) for n in (4, 1, 9)]
    shares = [0.5, 0.2, 0.3]
    X = rng.random((50, 3))
    X[::7, 1] = np.nan
    one = mean_of(several, shares)
    assert one.sound()
    expected = sum(share * each.predict(X) for share, each in zip(shares, several, strict=True))
    np.testing.assert_allclose(one.predict(X), expected, rtol=1e-12)
