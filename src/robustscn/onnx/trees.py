"""Trees as a node of a graph: ONNX has an operator for them.

Runtimes compare an input with a threshold in the input's own type, float64 here as everywhere in
the graph. What the operator gives is float32 by its definition; the baseline is added after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.forest import LEAF, Forest
from ..estimators._crossfit import Fitted
from .graph import CannotExport, Graph


def trees_of(fitted: Fitted) -> tuple[Forest, ...]:
    """Return the trees of a regressor that another estimator is around, a forest for each output.

    Parameters
    ----------
    fitted : Fitted
        The regressor, or one of its clones.

    Returns
    -------
    tuple of Forest
        In the outputs' order.

    Raises
    ------
    CannotExport
        Where the regressor is somebody else's.
    """
    for part in fitted.parts:
        if not isinstance(part, Forest):
            raise CannotExport(
                f"{type(part).__name__} is not exported to ONNX: only the default trees are"
            )
    return tuple(fitted.parts)


def tree_outputs(graph: Graph, forests: tuple[Forest, ...], x: str) -> str:
    """Return what trees predict, shape (n_rows, n_outputs)."""
    columns = [_output(graph, forest, x) for forest in forests]
    return columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)


def _output(graph: Graph, forest: Forest, x: str) -> str:
    from onnx import numpy_helper

    def tensor(values: Any) -> Any:
        return numpy_helper.from_array(np.asarray(values, dtype=np.float64))

    n = len(forest.inputs)
    tree = np.searchsorted(forest.roots, np.arange(n), side="right") - 1
    number = np.arange(n) - forest.roots[tree]
    leaf = forest.inputs == LEAF
    # A leaf has no children; what is written for them is not read.
    left, right = (np.where(leaf, 0, c - forest.roots[tree]) for c in (forest.left, forest.right))
    total = graph.add(
        "TreeEnsembleRegressor",
        x,
        domain="ai.onnx.ml",
        n_targets=1,
        post_transform="NONE",
        aggregate_function="SUM",
        nodes_treeids=tree.tolist(),
        nodes_nodeids=number.tolist(),
        nodes_featureids=np.where(leaf, 0, forest.inputs).tolist(),
        nodes_modes=["LEAF" if end else "BRANCH_LEQ" for end in leaf],
        nodes_values_as_tensor=tensor(np.where(leaf, 0.0, forest.thresholds)),
        nodes_truenodeids=left.tolist(),
        nodes_falsenodeids=right.tolist(),
        nodes_missing_value_tracks_true=(forest.missing_left & ~leaf).astype(int).tolist(),
        target_treeids=tree[leaf].tolist(),
        target_nodeids=number[leaf].tolist(),
        target_ids=[0] * int(leaf.sum()),
        target_weights_as_tensor=tensor(forest.values[leaf]),
    )
    return graph.add("Add", graph.cast(total, np.float64), graph.constant(forest.baseline))
