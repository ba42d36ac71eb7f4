"""Wrong rows are taken off the spread of the right ones, on the side where they are."""

import numpy as np
import pytest
from scipy.stats import norm

from robustscn.core.certainty import certainty_of
from robustscn.core.mixture import BINS, CENTRES, Kinds
from robustscn.core.right_quantiles import EDGES, right_quantiles
from robustscn.core.rows import LocalRows

SHARES = (np.arange(2000) + 0.5) / 2000
INSIDE = slice(20, -20)


@pytest.mark.parametrize("wrong", [(0.15, 0.15), (0.0, 0.3), (0.3, 0.0)])
@pytest.mark.parametrize("units", [(1.0, 1.0), (0.5, 2.0)])
def test_what_wrong_rows_have_is_taken_off_exactly(wrong, units):
    kinds, wrong = Kinds(share=0.3, width=9.0, degrees=6.0), np.array(wrong)
    right = 0.7 * np.diff(norm.cdf(EDGES))
    expected = kinds.densities(CENTRES)[1] * np.diff(EDGES)
    expected *= 0.3 / expected.sum()
    asked = right + wrong[:, None] / 0.3 * expected
    found = right_quantiles(asked, np.zeros((2, BINS)), wrong, kinds, units)
    literal = norm.ppf(SHARES)
    literal *= np.where(literal < 0, units[0], units[1])
    np.testing.assert_allclose(found[INSIDE], literal[INSIDE], atol=0.03)


def test_known_rows_count_wherever_they_lie():
    kinds, known = Kinds(share=0.002, width=3.0), np.zeros((2, BINS))
    known[1, 700] = 1.0
    found = right_quantiles(np.zeros((2, BINS)), known, np.zeros(2), kinds, (1.0, 1.0))
    assert np.all((found >= EDGES[700]) & (found <= EDGES[701]))


def test_wrong_rows_in_the_shoulders_do_not_widen():
    covered = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        wrong = np.arange(2000) < 700
        e = np.where(wrong, rng.uniform(-11, 11, size=2000), rng.normal(size=2000))
        found, probability = certainty_of(LocalRows(2000), e[:, None], np.ones(2000), 0.1)
        order = np.argsort(e)
        mass = np.cumsum(1 - probability[order])
        plain = e[order][np.searchsorted(mass / mass[-1], [0.05, 0.95])]
        ends, right = found.quantiles[[100, 1900], 0], e[~wrong]
        covered.append([np.mean((a <= right) & (right <= b)) for a, b in (ends, plain)])
    corrected, counted = np.mean(covered, axis=0) - 0.9
    assert abs(corrected) < 0.02
    # Rows counted by their probability to be right, one by one, cover too much.
    assert counted > abs(corrected) + 0.01
