"""The supervisory inequality: admissible, largest, relaxed, exact, and several at a time."""

import numpy as np
import pytest

import reference
from robustscn.core.nodes import Nodes
from robustscn.core.proposals import Draw
from robustscn.core.recipe import CONTRACTIONS
from robustscn.core.rows import LocalRows
from robustscn.core.search import (
    PoolSums,
    Rule,
    Span,
    admissible,
    chosen_in_turn,
    gains,
    pool_sums,
    pool_sums_exact,
    ranked,
)
from robustscn.core.solve import appended, no_nodes


def noisy(n_outputs=1, seed=0, n_rows=40):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 2))
    y = np.stack([np.sin((3 + q) * X[:, 0]) + X[:, 1] ** 2 for q in range(n_outputs)], axis=1)
    weight = rng.uniform(0.1, 2.0, size=n_rows)
    weight[::7] = 0.0
    return X, y + 0.1 * rng.normal(size=y.shape), weight


def energy(e, weight):
    return np.sum(weight[:, None] * e * e, axis=0)


def squared_error(H, y, weight):
    """Weighted squared error of each output after least squares on the columns."""
    return energy(y - H @ reference.weighted_pinv(H, y, weight), weight)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_sums_and_gains_give_the_scores_of_the_formula(n_outputs):
    X, e, weight = noisy(n_outputs)
    pool = Draw(0, 2, (3.0,), 25).pool(0, X)
    gain = gains(pool_sums(LocalRows(40, block_bytes=2000), X, e, weight, pool))
    H = pool.hidden(X)
    for r in (0.5, 0.99):
        for L in (1, 7):
            scores = gain - ((1 - r - (1 - r) / (L + 1)) * energy(e, weight))[:, None]
            literal = np.stack([reference.xi(e, H[:, j], weight, r, L) for j in range(25)], axis=1)
            np.testing.assert_allclose(scores, literal, rtol=1e-11, atol=1e-12)
            np.testing.assert_array_equal(
                admissible(gain, energy(e, weight), r, L), np.all(literal >= 0, axis=0)
            )


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_the_choice_is_the_formulas(seed, n_outputs):
    X, e, weight = noisy(n_outputs, seed)
    # The first targets are far from centred; a second residual is the harder case.
    e = e - np.average(e, axis=0, weights=weight) if seed % 2 else e
    pool = Draw(seed, 2, (1.0,), 30).pool(0, X)
    gain = gains(pool_sums(LocalRows(40), X, e, weight, pool))
    found = ranked(gain, energy(e, weight), CONTRACTIONS, 5)
    literal = reference.largest_score(e, pool.hidden(X), weight, CONTRACTIONS, 5)
    assert (int(found[0][0]), found[1]) == literal


def test_the_choice_satisfies_the_inequality_and_no_other_scores_more():
    X, e, weight = noisy(2)
    pool = Draw(1, 2, (5.0,), 60).pool(0, X)
    gain = gains(pool_sums(LocalRows(40), X, e, weight, pool))
    order, r = ranked(gain, energy(e, weight), CONTRACTIONS, 2)
    scores = np.stack([reference.xi(e, h, weight, r, 2) for h in pool.hidden(X).T], axis=1)
    assert np.all(scores[:, order[0]] >= 0)
    others = np.all(scores >= 0, axis=0)
    assert np.sum(scores[:, order[0]]) == np.max(np.sum(scores, axis=0)[others])
    assert np.all(np.diff(np.sum(scores, axis=0)[order]) <= 0)


def test_the_largest_score_wins_and_not_the_smallest():
    # Three admissible candidates whose gains are 4, 9 and 1: a rule that takes the smallest
    # admissible score, as a port that circulates does, takes the third.
    gain = np.array([[4.0, 9.0, 1.0]])
    order, r = ranked(gain, np.array([10.0]), (0.95,), 1)
    assert list(order) == [1, 0, 2]
    assert r == 0.95
    # And on rows, where the smallest admissible score belongs to another node.
    X, e, weight = noisy()
    pool = Draw(2, 2, (5.0,), 40).pool(0, X)
    order, _ = ranked(
        gains(pool_sums(LocalRows(40), X, e, weight, pool)), energy(e, weight), (0.999,), 1
    )
    assert len(order) > 5
    errors = [squared_error(h[:, None], e, weight)[0] for h in pool.hidden(X).T]
    assert order[0] == np.argmin(errors)
    assert errors[order[-1]] > 1.1 * errors[order[0]]


def test_one_output_that_gains_too_little_makes_a_candidate_inadmissible():
    gain = np.array([[8.0, 3.0], [0.1, 3.0]])  # the first gains more in sum
    order, _ = ranked(gain, np.array([10.0, 10.0]), (0.8,), 1)
    assert list(order) == [1]


def test_the_contraction_is_relaxed_only_as_far_as_needed():
    # mu = (1 - r) / 2 for the first node, so r asks for a share (1 - r) / 2 of the energy.
    gain, whole = np.array([[0.6, 0.04]]), np.array([100.0])
    contractions = (0.9, 0.99, 0.999, 0.9999)
    order, r = ranked(gain, whole, contractions, 1)
    assert r == 0.99  # asks for 0.5
    assert list(order) == [0]
    order, r = ranked(gain[:, 1:], whole, contractions, 1)
    assert r == 0.9999  # asks for 0.005; 0.999 asks for 0.05
    assert ranked(gain / 1e6, whole, contractions, 1) is None


def test_mu_relaxes_the_first_nodes_most():
    # A gain of 0.6 of (1 - r) of the energy: enough while 1 - 1 / (L + 1) is below 0.6.
    gain, whole = np.array([[0.06]]), np.array([1.0])
    assert [bool(admissible(gain, whole, 0.9, L)[0]) for L in (1, 2, 3)] == [True, False, False]


def test_no_gain_is_never_admissible():
    assert not admissible(np.zeros((1, 1)), np.zeros(1), 0.9, 1)[0]
    dead = PoolSums(np.zeros((1, 1)), np.zeros(1), np.zeros(1))
    np.testing.assert_array_equal(gains(dead), [[0.0]])


def in_turn(*args):
    return chosen_in_turn(*args)[0]


def fitted(X, y, weight, pool, n_nodes, ridge=0.0):
    rows = LocalRows(X.shape[0])
    fit = no_nodes(rows, y, capacity=n_nodes, ridge=ridge)
    if n_nodes:
        fit = appended(rows, X, weight, fit, pool.take(range(n_nodes)))
    return rows, fit


@pytest.mark.parametrize("n_nodes", [0, 1, 6])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_exact_gain_is_the_decrease_of_the_error(n_nodes, n_outputs):
    X, y, weight = noisy(n_outputs)
    pool = Draw(5, 2, (5.0,), n_nodes + 12).pool(0, X)
    rows, fit = fitted(X, y, weight, pool, n_nodes)
    candidates = pool.take(range(n_nodes, n_nodes + 12))
    sums, _ = pool_sums_exact(rows, X, fit.residuals, weight, candidates, Span(fit.basis))
    bound = gains(pool_sums(rows, X, fit.residuals, weight, candidates))
    gain = gains(sums)
    H = pool.hidden(X)
    before = squared_error(H[:, :n_nodes], y, weight) if n_nodes else energy(y, weight)
    for j in range(12):
        columns = np.hstack([H[:, :n_nodes], H[:, [n_nodes + j]]])
        decrease = before - squared_error(columns, y, weight)
        np.testing.assert_allclose(gain[:, j], decrease, rtol=1e-7, atol=1e-10)
    # The paper's rule bounds it from below.
    assert np.all(bound <= gain * (1 + 1e-9))
    if n_nodes == 0:
        np.testing.assert_allclose(bound, gain, rtol=1e-12)


def test_the_exact_gain_with_a_ridge_is_the_decrease_of_the_penalised_error():
    X, y, weight = noisy()
    ridge = 0.3
    pool = Draw(5, 2, (5.0,), 10).pool(0, X)
    rows, fit = fitted(X, y, weight, pool, 4, ridge)
    sums, _ = pool_sums_exact(
        rows, X, fit.residuals, weight, pool.take(range(4, 10)), Span(fit.basis, ridge)
    )
    H = pool.hidden(X)

    def penalised(columns):
        beta = reference.ridge_weights(columns, y, weight, ridge)
        return np.sum(energy(y - columns @ beta, weight)) + ridge * np.sum(beta**2)

    for j, gain in enumerate(gains(sums)[0]):
        columns = np.hstack([H[:, :4], H[:, [4 + j]]])
        assert gain == pytest.approx(penalised(H[:, :4]) - penalised(columns), rel=1e-8)


def test_the_gram_matrix_is_that_of_the_orthogonal_parts():
    X, y, weight = noisy()
    pool = Draw(6, 2, (5.0,), 9).pool(0, X)
    rows, fit = fitted(X, y, weight, pool, 3)
    candidates = pool.take(range(3, 9))
    sums, gram = pool_sums_exact(rows, X, fit.residuals, weight, candidates, Span(fit.basis))
    H = pool.hidden(X)
    apart = H[:, 3:] - H[:, :3] @ reference.weighted_pinv(H[:, :3], H[:, 3:], weight)
    np.testing.assert_allclose(gram, apart.T @ (weight[:, None] * apart), atol=1e-11)
    np.testing.assert_allclose(sums.squares, weight @ H[:, 3:] ** 2, rtol=1e-12)


def test_a_candidate_in_the_span_of_the_network_gains_nothing():
    X, y, weight = noisy()
    pool = Draw(7, 2, (5.0,), 5).pool(0, X)
    rows, fit = fitted(X, y, weight, pool, 5)
    sums, _ = pool_sums_exact(rows, X, fit.residuals, weight, pool, Span(fit.basis))
    assert np.all(gains(sums) < 1e-12 * np.sum(fit.residuals**2))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_each_node_of_a_block_satisfies_the_inequality_at_its_turn(exact, n_outputs):
    X, y, weight = noisy(n_outputs, n_rows=80)
    n_before, r = 3, 0.999
    pool = Draw(8, 2, (4.0,), n_before + 40).pool(0, X)
    rows, fit = fitted(X, y, weight, pool, n_before)
    candidates = pool.take(range(n_before, n_before + 40))
    sums, gram = pool_sums_exact(rows, X, fit.residuals, weight, candidates, Span(fit.basis))
    taken = in_turn(sums, gram, energy(fit.residuals, weight), Rule((r,), exact), n_before + 1, 5)
    assert len(taken) == 5
    H = pool.hidden(X)
    chosen, rest = H[:, :n_before], H[:, n_before:]
    for turn, j in enumerate(taken):
        L = n_before + 1 + turn
        e = y - chosen @ reference.weighted_pinv(chosen, y, weight)
        if exact:
            falls = [
                energy(e, weight) - squared_error(np.column_stack([chosen, h]), y, weight)
                for h in rest.T
            ]
        else:
            share = (1 - r) * (1 - 1 / (L + 1))
            falls = [reference.xi(e, h, weight, r, L) + share * energy(e, weight) for h in rest.T]
        mu = (1 - r) / (L + 1)
        allowed = [np.all(fall >= (1 - r - mu) * energy(e, weight)) for fall in falls]
        assert allowed[j]
        best = max(np.sum(f) for f, a in zip(falls, allowed, strict=True) if a)
        assert np.sum(falls[j]) == pytest.approx(best, rel=1e-8)
        chosen = np.column_stack([chosen, rest[:, j]])


@pytest.mark.parametrize("exact", [False, True])
def test_near_copies_of_a_chosen_node_are_not_taken(exact):
    X, y, weight = noisy(n_rows=80)
    originals = Draw(9, 2, (4.0,), 6).pool(0, X)
    copies = Nodes(originals.weights * (1 + 1e-9), originals.biases)
    pool = originals.joined(copies).joined(originals)
    rows, fit = fitted(X, y, weight, pool, 0)
    sums, gram = pool_sums_exact(rows, X, fit.residuals, weight, pool, Span(fit.basis))
    taken = in_turn(sums, gram, energy(fit.residuals, weight), Rule((1 - 1e-9,), exact), 1, 18)
    assert len(taken) >= 3
    assert len({j % 6 for j in taken}) == len(taken)
    # Without the look at each other's overlap the copies of the best would follow it.
    order, _ = ranked(gains(sums), energy(fit.residuals, weight), CONTRACTIONS, 1)
    assert order[0] % 6 == order[1] % 6 == order[2] % 6


def test_a_block_of_one_is_the_single_choice():
    X, y, weight = noisy()
    pool = Draw(10, 2, (4.0,), 40).pool(0, X)
    rows, fit = fitted(X, y, weight, pool, 0)
    sums, gram = pool_sums_exact(rows, X, y, weight, pool, Span(fit.basis))
    order, r = ranked(gains(sums), energy(y, weight), CONTRACTIONS, 1)
    assert in_turn(sums, gram, energy(y, weight), Rule((r,), True), 1, 1) == (order[0],)


def independent(*gain):
    """Sums of candidates that are orthonormal and gain as told."""
    dots = np.sqrt(np.array([gain]))
    return PoolSums(dots, np.ones(len(gain)), np.ones(len(gain))), np.eye(len(gain))


@pytest.mark.parametrize("exact", [False, True])
def test_the_inequality_of_a_block_moves_on_with_its_nodes(exact):
    # At r = 0.9 the first node must gain 0.1 x 1/2, the second 0.1 x 2/3 of the error left.
    whole = np.array([100.0])
    sums, gram = independent(6.0, 5.8)  # the second would need 0.0667 x 94
    assert in_turn(sums, gram, whole, Rule((0.9,), exact), 1, 2) == (0,)
    sums, gram = independent(60.0, 4.0)  # the second needs 0.0667 x 40, not x 100
    assert in_turn(sums, gram, whole, Rule((0.9,), exact), 1, 2) == (0, 1)
