"""A learner that is a function: it is handed weights, and asked nothing that it cannot know."""

import numpy as np
import pytest

from robustscn.core.judging import Plan, judge
from robustscn.core.learner import Opinion, Taught
from robustscn.core.rows import LocalRows
from robustscn.core.weighting import GemanMcClure

CURVE = GemanMcClure()


def test_a_function_says_what_it_returns_for_the_weights_it_is_handed():
    handed = []

    def teach(number, weight):
        handed.append((number, weight))
        return "model", np.full((4, 1), float(number))

    weight = np.arange(4.0)
    said = Taught(teach).opinion(Opinion("earlier", np.ones((4, 1))), Plan(CURVE), 3, weight)
    assert said.model == "model"
    assert handed[0][0] == 3
    assert handed[0][1] is weight
    np.testing.assert_array_equal(said.residuals, 3.0)
    assert said.doubt is None
    assert said.members == ()


@pytest.mark.parametrize("asks", [{"widened": 0.4}, {"local": True}])
def test_a_learner_that_has_seen_every_row_foresees_nothing(asks):
    e = np.linspace(-1, 1, 50)[:, None]
    plans = [Plan(CURVE), Plan(CURVE, **asks)]
    with pytest.raises(NotImplementedError, match="have not seen the rows"):
        list(judge(LocalRows(50), np.ones(50), Taught(lambda _number, _weight: (None, e)), plans))
