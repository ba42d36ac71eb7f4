"""Which nodes join: the order of scopes, the exact rule, screening, the best of a block first."""

import numpy as np
import pytest

import reference
from robustscn.core.growth import grow
from robustscn.core.recipe import CONTRACTIONS
from small import problem, recipe


def test_scopes_are_tried_in_order_or_all_together():
    rows = problem()
    ascending = next(iter(grow(rows, recipe(pooled=False))))
    together = next(iter(grow(rows, recipe(pooled=True))))
    first = recipe().draw.pool(0, rows.X)
    # The smallest scope has an admissible candidate for the first node, though others are
    # better: in order it is used, all together it is not.
    assert ascending.nodes.biases[0] in first.biases
    assert together.nodes.biases[0] not in first.biases
    assert together.energy.sum() < ascending.energy.sum()


def test_a_scope_without_an_admissible_candidate_is_passed_over():
    rows = problem()
    how = recipe(max_nodes=30, pooled=False)
    scopes_used = set()
    e = rows.y
    for state in grow(rows, how):
        if state.stop is not None:
            break
        node = len(state.nodes) - 1
        scores = []
        for scope in range(3):
            pool = how.draw.pool(scope, rows.X, node=node)
            if state.nodes.biases[-1] in pool.biases:
                break
            H = pool.hidden(rows.X)
            scores.append(reference.largest_score(e, H, rows.weight, CONTRACTIONS, node + 1))
        assert scores == [None] * scope
        scopes_used.add(scope)
        e = state.fit.residuals
    assert len(scopes_used) > 1


@pytest.mark.parametrize("exact", [True, False])
def test_the_exact_rule_takes_the_candidate_after_which_the_error_is_least(exact):
    rows = problem()
    how = recipe(exact=exact, max_nodes=6)
    agree = []
    before = np.zeros((50, 0))
    for state in grow(rows, how):
        node = len(state.nodes) - 1
        H = np.hstack([how.draw.pool(s, rows.X, node=node).hidden(rows.X) for s in range(3)])
        errors = []
        for h in H.T:
            columns = np.column_stack([before, h])
            e = rows.y - columns @ reference.weighted_pinv(columns, rows.y, rows.weight)
            errors.append(np.sum(rows.weight[:, None] * e**2))
        agree.append(state.energy.sum() == pytest.approx(min(errors), rel=1e-8))
        before = state.nodes.hidden(rows.X)
    assert all(agree) == exact


def test_a_shortlist_is_ranked_by_the_exact_decrease_among_the_largest_bounds():
    rows = problem()
    best_was_left_out = []
    for n in range(1, 8):
        *_, start = grow(rows, recipe(n))
        H = recipe().draw.all_pools(rows.X, node=n).hidden(rows.X)
        bounds = [reference.xi(start.fit.residuals, h, rows.weight, 1.0, n)[0] for h in H.T]
        errors = []
        for h in H.T:
            columns = np.column_stack([start.nodes.hidden(rows.X), h])
            e = rows.y - columns @ reference.weighted_pinv(columns, rows.y, rows.weight)
            errors.append(np.sum(rows.weight[:, None] * e**2))
        short = np.argsort(bounds)[::-1][:3]
        *_, longer = grow(rows, recipe(n + 1, exact=True, shortlist=3), start)
        assert longer.energy.sum() == pytest.approx(min(np.array(errors)[short]), rel=1e-9)
        best_was_left_out.append(np.argmin(errors) not in short)
    assert any(best_was_left_out), "the list must have decided at least once"


def test_a_block_takes_the_best_node_first():
    rows = problem(n_rows=120)
    single, several = (
        next(iter(grow(rows, recipe(block=block, contractions=(0.9999,))))) for block in (1, 4)
    )
    assert several.nodes.biases[0] == single.nodes.biases[0]
    assert len(set(several.nodes.biases.tolist())) == 4
