"""The core on other array libraries: the same numbers, the same dtype, nothing written into.

NumPy is what the others are held against; read-only NumPy shows that no input is written
into, array_api_strict that only the standard is used, torch that a real other library works.
"""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from sklearn import config_context

from robustscn import RobustSCNRegressor, RSCKDERegressor
from robustscn.core import arrays
from robustscn.core.arrays import eps, histogram, like, namespace, to_host, to_host64
from robustscn.core.density import _summed, binned, density
from robustscn.core.early_stopping import validated
from robustscn.core.growth import empty, grow, step
from robustscn.core.judging import Plan, judge
from robustscn.core.learner import Taught
from robustscn.core.least_squares import (
    Design,
    least_squares,
    leave_one_out,
    ridge_by_leave_one_out,
)
from robustscn.core.nodes import ACTIVATIONS, Nodes, network, pass_through
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.recipe import Recipe
from robustscn.core.rows import LocalRows, filled
from robustscn.core.scale import distances, robust_scales, standard_deviation, trimmed_scales
from robustscn.core.search import Span, gains, pool_sums, pool_sums_exact
from robustscn.core.solve import appended, newest_only, no_nodes, window
from robustscn.core.statistics import SORTED_ROWS, quantile
from robustscn.core.verdict import standardised
from robustscn.core.weighting import KDE, NAMED, at_most_one


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def strict(array):
    return pytest.importorskip("array_api_strict").asarray(array.copy())


def torch(array):
    return pytest.importorskip("torch").asarray(array.copy())


LIBRARIES = {"numpy": np.array, "read-only numpy": read_only, "strict": strict, "torch": torch}
TOLERANCE = {"float64": 1e-9, "float32": 2e-4}


@pytest.fixture(params=LIBRARIES)
def place(request):
    return LIBRARIES[request.param]


@pytest.fixture(params=TOLERANCE)
def dtype(request):
    return request.param


class Data:
    """The same rows in NumPy's float64 and in the library and dtype under test."""

    def __init__(self, place, dtype, n_rows=60, n_outputs=2):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, size=(n_rows, 3)).astype(dtype)
        y = np.stack([np.sin((2 + q) * X[:, 0]) + X[:, 1] for q in range(n_outputs)], axis=1)
        y = (y + 0.1 * rng.normal(size=y.shape)).astype(dtype)
        y[::10] += 3.0
        weight = rng.integers(0, 3, size=n_rows).astype(dtype)
        self.dtype, self.tolerance = dtype, TOLERANCE[dtype]
        self.host = tuple(array.astype(np.float64) for array in (X, y, weight))
        self.placed = tuple(place(array) for array in (X, y, weight))
        self.rows = LocalRows(n_rows, block_bytes=8 * 200)

    def pool(self, n=12):
        return Draw(0, 3, (4.0,), n).pool(0, self.host[0])

    def same(self, found, expected, *, row_array=True):
        if row_array:
            assert namespace(found) is namespace(self.placed[0])
            assert str(found.dtype).endswith(self.dtype)
        size = max(1.0, float(np.max(np.abs(expected))))
        np.testing.assert_allclose(to_host64(found), expected, atol=self.tolerance * size)


@pytest.fixture
def data(place, dtype):
    return Data(place, dtype)


# --- the bridges ----------------------------------------------------------------------------


def test_host_copies_and_back(place, dtype):
    array = np.random.default_rng(0).normal(size=(4, 3)).astype(dtype)
    placed = place(array)
    np.testing.assert_array_equal(to_host(placed), array)
    assert to_host64(placed).dtype == np.float64
    back = like(array[::-1].astype(np.float64), placed)
    assert namespace(back) is namespace(placed)
    assert back.dtype == placed.dtype
    np.testing.assert_array_equal(to_host(back), array[::-1])
    np.testing.assert_array_equal(to_host(like(2.5, placed)), 2.5)
    assert eps(placed) == np.finfo(dtype).eps


def test_histogram_sums_weights_by_bin(place, dtype):
    bins, weight = np.array([3, 0, 3, 1]), np.array([0.5, 1.0, 0.25, 2.0], dtype=dtype)
    found = histogram(place(bins), place(weight), 5)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, [1.0, 2.0, 0.0, 0.75, 0.0])


# --- rows and nodes -------------------------------------------------------------------------


def test_rows(data):
    x = data.placed[0]
    host = data.host[0]
    data.same(data.rows.map(lambda block: block * 2.0, x), 2 * host)
    data.same(filled(data.rows, 0.5, x), np.full(60, 0.5))
    (total,) = data.rows.reduce(lambda block: (namespace(block).sum(block, axis=0),), x)
    data.same(total, host.sum(axis=0), row_array=False)
    stack = data.rows.stack(x, 1).appended(x).appended(x[:, :1])
    data.same(stack.block(5, 20), np.hstack([host, host[:, :1]])[5:20])


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_quantile(data, share):
    values, weight = data.placed[1][:, 0], data.placed[2]
    expected = quantile(LocalRows(60), data.host[1][:, 0], data.host[2], share)
    assert quantile(data.rows, values, weight, share) == expected


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_nodes(data, activation):
    nodes = replace(data.pool(), activation=activation)
    placed = nodes.beside(data.placed[0])
    data.same(placed.hidden(data.placed[0]), nodes.hidden(data.host[0]))
    data.same(placed.take([3, 1]).hidden(data.placed[0]), nodes.take([3, 1]).hidden(data.host[0]))
    data.same(
        placed.joined(placed).hidden(data.placed[0]), nodes.joined(nodes).hidden(data.host[0])
    )
    drawn = Draw(0, 3, (4.0,), 12).pool(0, data.placed[0])
    data.same(drawn.weights, data.pool().weights)


def test_network(data):
    nodes = data.pool()
    extra = pass_through(3, inputs=True, constant=True, reference=data.host[0])
    beta = np.random.default_rng(1).normal(size=(16, 2))
    expected = network((extra, nodes), beta).output(data.host[0])
    placed = tuple(group.beside(data.placed[0]) for group in (extra, nodes))
    data.same(network(placed, beta).output(data.placed[0]), expected)


# --- search and solve -----------------------------------------------------------------------


def test_pool_sums(data):
    X, y, weight = data.placed
    pool = data.pool()
    found = pool_sums(data.rows, X, y, weight, pool.beside(X))
    expected = pool_sums(data.rows, *data.host, pool)
    for name in ("dots", "squares", "remainders"):
        data.same(getattr(found, name), getattr(expected, name), row_array=False)


def fits(rows, X, y, weight, nodes):
    """An appended fit, and the pool sums with remainders beside it."""
    fit = no_nodes(rows, y, capacity=3, ridge=1e-3)
    for block in ([0], [1, 2, 3]):
        fit = appended(rows, X, weight, fit, nodes.take(block))
    sums, gram = pool_sums_exact(
        rows, X, fit.residuals, weight, nodes.take(range(4, 12)), Span(fit.basis, 1e-3)
    )
    return fit, gains(sums), gram


def test_appended_columns_and_exact_sums(data):
    found, gain, gram = fits(data.rows, *data.placed, data.pool().beside(data.placed[0]))
    expected, expected_gain, expected_gram = fits(data.rows, *data.host, data.pool())
    data.same(found.residuals, expected.residuals)
    data.same(found.basis.block(0, 60), expected.basis.block(0, 60))
    for a, b in (
        (found.output_weights, expected.output_weights),
        (gain, expected_gain),
        (gram, expected_gram),
    ):
        assert a.dtype == np.float64
        data.same(a, b, row_array=False)
    shares = np.linspace(0.0, 1.0, 60)
    data.same(
        leave_one_out(found.residuals, arrays.like(shares, found.residuals)),
        leave_one_out(expected.residuals, shares),
    )


def test_a_dependent_node_is_refused(data):
    X, y, weight = data.placed
    nodes = data.pool().beside(X)
    fit = no_nodes(data.rows, y, capacity=3)
    fit = appended(data.rows, X, weight, fit, nodes.take([0, 1, 2]))
    assert appended(data.rows, X, weight, fit, nodes.take([2])) is None
    assert appended(data.rows, X, weight, fit, nodes.take([3])) is not None


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_least_squares(data, ridge):
    nodes = data.pool(6)
    found = least_squares(
        Design(data.rows, *data.placed, nodes.beside(data.placed[0]).hidden, 6), ridge=ridge
    )
    expected = least_squares(Design(data.rows, *data.host, nodes.hidden, 6), ridge=ridge)
    data.same(found.residuals, expected.residuals)
    data.same(found.output_weights, expected.output_weights, row_array=False)


def test_ridge_by_leave_one_out(data):
    nodes, ridges = data.pool(6), np.array([1e-4, 1e-2, 1.0])
    (X, y, weight), (host_X, host_y, host_weight) = data.placed, data.host
    placed = nodes.beside(X).hidden
    found = ridge_by_leave_one_out(Design(data.rows, X, y, weight, placed, 6), ridges)
    expected = ridge_by_leave_one_out(
        Design(data.rows, host_X, host_y, host_weight, nodes.hidden, 6), ridges
    )
    assert found.ridge == expected.ridge
    data.same(found.left_out, expected.left_out)
    data.same(found.output_weights, expected.output_weights, row_array=False)


def test_older_output_weights_stay(data):
    X, y, weight = data.placed
    how = Recipe(Draw(0, 3, (4.0,), 5), 3, solve="newest")
    nodes, host_nodes = data.pool().beside(X), data.pool()
    start = empty(Problem(data.rows, X, y, weight), how).fit
    host_start = empty(Problem(data.rows, *data.host), how).fit
    found = newest_only(data.rows, X, weight, start, nodes.take([0]))
    host = newest_only(data.rows, data.host[0], data.host[2], host_start, host_nodes.take([0]))
    data.same(found.residuals, host.residuals)
    found = window(data.rows, X, weight, found, nodes.take([0, 1]), 2)
    host = window(data.rows, data.host[0], data.host[2], host, host_nodes.take([0, 1]), 2)
    data.same(found.residuals, host.residuals)
    data.same(found.output_weights, host.output_weights, row_array=False)


# --- densities and weightings ---------------------------------------------------------------


@pytest.mark.parametrize("exclude_self", [False, True])
def test_exact_density(data, exclude_self):
    _, e, weight = data.placed
    found = density(data.rows, e, weight, 0.3, exclude_self=exclude_self)
    data.same(found, density(data.rows, data.host[1], data.host[2], 0.3, exclude_self=exclude_self))


def test_binned_density(place, dtype):
    data = Data(place, dtype, n_rows=300, n_outputs=1)
    found = binned(data.rows, data.placed[1], data.placed[2], 0.3)
    data.same(found, binned(data.rows, data.host[1], data.host[2], 0.3))


def test_sampled_density(data):
    _, e, weight = data.host
    centres = (e[::3], weight[::3])
    found = _summed(data.rows, *data.placed[1:], 0.3, centres)
    data.same(found, _summed(data.rows, e, weight, 0.3, centres))


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_many_rows_take_the_fast_ways(place, n_outputs):
    data = Data(place, "float64", n_rows=2500, n_outputs=n_outputs)
    rows = LocalRows(2500)
    found = density(rows, data.placed[1], data.placed[2], 0.3, exclude_self=True)
    data.same(found, density(rows, data.host[1], data.host[2], 0.3, exclude_self=True))


@pytest.mark.parametrize("name", NAMED)
def test_weightings(data, name):
    weighting = NAMED[name]
    found = weighting.inlier_weight(data.rows, *data.placed[1:])
    data.same(found, weighting.inlier_weight(data.rows, *data.host[1:]))
    scale = weighting.scale(data.rows, *data.placed[1:])
    data.same(scale, weighting.scale(data.rows, *data.host[1:]), row_array=False)


@pytest.mark.parametrize("doubted", [False, True])
def test_standardised(data, doubted):
    scale = np.array([0.5, 2.0])
    placed, host = (each[1] * each[1] if doubted else None for each in (data.placed, data.host))
    data.same(
        standardised(data.rows, data.placed[1], placed, scale),
        standardised(data.rows, data.host[1], host, scale),
    )


def test_scales_and_distances(data):
    for scale in (standard_deviation, robust_scales, trimmed_scales):
        found = np.asarray(scale(data.rows, *data.placed[1:]))
        data.same(found, scale(data.rows, *data.host[1:]), row_array=False)
    scales = np.array([0.5, 2.0])
    data.same(
        distances(data.rows, data.placed[1], scales), distances(data.rows, data.host[1], scales)
    )


# --- growth ---------------------------------------------------------------------------------

RECIPES = {
    "SC-III": {},
    "SC-II": {"solve": "window", "window": 3},
    "SC-I": {"solve": "newest"},
    "exact": {"exact": True, "ridge": 1e-4},
    "block": {"block": 3, "ridge": 1e-4},
    "in order": {"pooled": False},
}


@pytest.mark.parametrize("name", RECIPES)
def test_grow(data, name):
    how = Recipe(Draw(2, 3, (1.0, 4.0), 10), 6, **RECIPES[name])
    *_, found = grow(Problem(data.rows, *data.placed), how)
    *_, expected = grow(Problem(data.rows, *data.host), how)
    # The same candidates are met and the same are taken, whatever the library and dtype.
    data.same(found.nodes.weights, expected.nodes.weights)
    data.same(found.fit.residuals, expected.fit.residuals)
    data.same(found.energy, expected.energy, row_array=False)
    assert found.fit.output_weights.dtype == np.float64
    assert found.stop == expected.stop


def test_validated(data):
    how = Recipe(Draw(2, 3, (1.0, 4.0), 10), 6)
    ones = data.placed[2] * 0.0 + 1.0
    pairs = [
        list(validated(grow(Problem(data.rows, X, y, w), how), X, y, v, 100))
        for (X, y, w), v in ((data.placed, ones), (data.host, np.ones(60)))
    ]
    errors = [np.array([error for _, error in pair]) for pair in pairs]
    data.same(*errors, row_array=False)


@pytest.mark.parametrize("weighting", [KDE(robust=False), KDE(), NAMED["tukey"]], ids=str)
def test_judge(data, weighting):
    how = Recipe(Draw(2, 3, (1.0, 4.0), 10), 4)

    def last_round(X, y, weight):
        def build(number, combined):
            *_, state = grow(Problem(data.rows, X, y, combined), replace(how, round=number))
            return state, state.fit.residuals

        *_, last = judge(data.rows, weight, Taught(build), [Plan(weighting)] * 2)
        return last

    found, expected = last_round(*data.placed), last_round(*data.host)
    data.same(found.weight_used, expected.weight_used)
    data.same(found.inlier_weight, expected.inlier_weight)
    data.same(found.evidence, expected.evidence)
    data.same(
        at_most_one(data.rows, found.inlier_weight, data.placed[2]),
        at_most_one(data.rows, expected.inlier_weight, data.host[2]),
    )


def test_inputs_are_left_as_they_were(dtype):
    # Writing into read-only arrays would raise above; this is for arrays that can be written.
    for name in ("numpy", "strict"):
        data = Data(LIBRARIES[name], dtype)
        before = [to_host(array).copy() for array in data.placed]
        list(grow(Problem(data.rows, *data.placed), Recipe(Draw(2, 3, (4.0,), 10), 4)))
        for weighting in NAMED.values():
            weighting.inlier_weight(data.rows, *data.placed[1:])
        for array, copy in zip(data.placed, before, strict=True):
            np.testing.assert_array_equal(to_host(array), copy)


# --- memory ---------------------------------------------------------------------------------

MIB = 2**20
MANY, WIDE, POOL = 200_000, 20, 500


@pytest.fixture(scope="module")
def many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(MANY, WIDE))
    return Problem(LocalRows(MANY), X, np.sin(X[:, :1]), np.ones(MANY))


def peak_while(call):
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def test_scoring_a_pool_needs_little_memory_beside_the_rows(many_rows):
    pool = Draw(0, WIDE, (1.0,), POOL).pool(0, many_rows.X)
    peak, sums = peak_while(
        lambda: pool_sums(many_rows.rows, many_rows.X, many_rows.y, many_rows.weight, pool)
    )
    # The hidden outputs of the whole pool would be 763 MiB.
    assert peak < 64 * MIB
    some = pool.take([7])
    np.testing.assert_allclose(sums.squares[7], np.sum(some.hidden(many_rows.X) ** 2), rtol=1e-10)


def test_a_step_needs_the_factor_and_a_handful_of_row_vectors(many_rows):
    how = Recipe(Draw(0, WIDE, (1.0,), 50), max_nodes=4)
    state = empty(many_rows, how)  # its factor is not traced
    for _ in range(2):
        state = step(many_rows, how, state)
    peak, longer = peak_while(lambda: step(many_rows, how, state))
    row_vector = 8 * MANY
    assert len(longer.nodes) == 3
    assert peak < 64 * MIB + 8 * row_vector
    # Nothing as large as the factor's columns stays behind but residuals.
    assert longer.fit.basis.buffer is state.fit.basis.buffer


def test_growing_holds_one_factor(many_rows):
    how = Recipe(Draw(0, WIDE, (1.0,), 20), max_nodes=30)
    three = [None] * 3

    def grow_three():
        states = grow(many_rows, how)
        for k in range(3):
            three[k] = next(states)

    peak, _ = peak_while(grow_three)
    factor = 8 * MANY * how.max_nodes
    # Each state keeps its own residuals; all share the factor.
    assert factor < peak < factor + 64 * MIB + 3 * 4 * 8 * MANY


def test_densities_of_many_rows_need_little_memory():
    e = np.random.default_rng(0).normal(size=(100_000, 1))
    weight = np.ones(100_000)
    peak, _ = peak_while(lambda: KDE().inlier_weight(LocalRows(100_000), e, weight))
    assert peak < 64 * MIB


def test_nodes_know_their_number():
    assert len(Nodes(np.zeros((2, 3)), np.zeros(3))) == 3


@pytest.mark.parametrize(
    "model",
    [
        RSCKDERegressor(20, n_rounds=3, n_candidates=20, scopes=(1.0,), block=10, random_state=0),
        RobustSCNRegressor(
            n_networks=1, max_nodes=20, n_rounds=2, n_candidates=5, scopes=(1.0,), random_state=0
        ),
    ],
    ids=["rsc-kde", "flagship"],
)
def test_rows_stay_where_they_are_during_a_fit(model, monkeypatch):
    library = pytest.importorskip("torch")
    n_rows = SORTED_ROWS + 2000  # samples and sorted rows are at most so many
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n_rows, 3))
    y = np.sin(4 * X[:, 0]) + X[:, 1] + (rng.uniform(size=n_rows) < 0.1)
    moved, bridge = [], arrays.to_host

    def watched(array):
        moved.append(max(array.shape, default=1))
        return bridge(array)

    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # scikit-learn insists
    monkeypatch.setattr(arrays, "to_host", watched)
    with config_context(array_api_dispatch=True):
        weight = library.ones(n_rows, dtype=library.float64)
        model.fit(library.asarray(X), library.asarray(y), sample_weight=weight)
    assert moved
    assert max(moved) < n_rows
