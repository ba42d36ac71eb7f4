"""Nodes for a network that no longer suffices, in units of the rows at hand."""

import numpy as np

from robustscn.core.nodes import Nodes
from robustscn.core.regrowth import Unit, unit_of


def test_nodes_in_another_unit_are_the_same_nodes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) * 30 + 100
    one, other = Unit(np.array([1.0, 2.0]), np.array([3.0, 40.0])), unit_of(X)
    nodes = Nodes(rng.normal(size=(2, 3)), rng.normal(size=3), factors=((0,),))
    np.testing.assert_allclose(
        nodes.hidden(one.inputs(X)),
        one.translated(nodes, other).hidden(other.inputs(X)),
        rtol=1e-9,
    )
