"""A graph while it is being put together: nodes and constants that name themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

OPSETS = {"": 17, "ai.onnx.ml": 3}
"""Versions of the operators used: old enough for runtimes of the last years."""

KINDS: dict[str, type] = {"i": np.int64, "u": np.int64, "b": np.bool_}
"""What constants become, by the kind of their dtype; float64 else."""


class CannotExport(ValueError):  # noqa: N818
    """A part of the model has no ONNX counterpart."""


@dataclass
class Graph:
    """Nodes and constants so far.

    Parameters
    ----------
    border : dtype
        Of numbers that go in and come out; float64 in between.
    nodes, constants : lists
        As ONNX knows them.
    """

    border: np.dtype[Any]
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(
        self,
        operator: str,
        *inputs: str,
        domain: str = "",
        output: str = "",
        unread: int = 0,
        **attributes: Any,
    ) -> str:
        """Add a node with one output, and more that nobody reads; return the first one's name."""
        from onnx import helper

        output = output or self._new_name(operator)
        self.nodes.append(
            helper.make_node(
                operator,
                inputs,
                [output, *(f"{output}_unread_{k}" for k in range(unread))],
                output,
                domain=domain,
                **attributes,
            )
        )
        return output

    def constant(self, values: Any) -> str:
        """Add a constant; return its name."""
        from onnx import numpy_helper

        values, name = np.asarray(values), self._new_name("constant")
        if values.dtype.kind in "OUS":
            tensor = numpy_helper.from_array(values.astype(object), name)
        else:
            kind = KINDS.get(values.dtype.kind, np.float64)
            tensor = numpy_helper.from_array(np.asarray(values, kind, order="C"), name)
        self.constants.append(tensor)
        return name

    def cast(self, value: str, dtype: Any, *, output: str = "") -> str:
        """Add a change of dtype; return the result's name."""
        from onnx import helper

        to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", value, to=to, output=output)

    def _new_name(self, kind: str) -> str:
        # Inputs have the names of a table's columns, hardly ever one like this.
        return f"/{kind}_{len(self.nodes) + len(self.constants)}"


@dataclass(frozen=True)
class Columns:
    """Columns of a table inside the graph.

    Parameters
    ----------
    parts : sequence of str
        Tensors of shape (n_rows, 1) for each column, or one of shape (n_rows, width).
    width : int
        Number of columns.
    """

    parts: Sequence[str]
    width: int

    def together(self, graph: Graph) -> str:
        """Return the columns as one tensor."""
        return self.parts[0] if len(self.parts) == 1 else graph.add("Concat", *self.parts, axis=1)

    def take(self, graph: Graph, chosen: Any) -> Columns:
        """Return the columns with the given numbers, in that order."""
        if len(self.parts) == self.width:
            return Columns([self.parts[j] for j in chosen], len(chosen))
        if list(chosen) == list(range(self.width)):
            return self
        indices = graph.constant(np.asarray(chosen, dtype=np.int64))
        return Columns([graph.add("Gather", self.parts[0], indices, axis=1)], len(chosen))


def joined(graph: Graph, blocks: Sequence[Columns]) -> Columns:
    """Return the columns of several blocks side by side."""
    width = sum(block.width for block in blocks)
    parts = [part for block in blocks for part in block.parts]
    if len(parts) in (1, width):
        return Columns(parts, width)
    return Columns([graph.add("Concat", *parts, axis=1)], width)
