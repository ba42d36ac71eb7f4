"""Hidden nodes, `h = g(X w + b)`, or products of these.

A pool of candidates, one chosen node and a whole hidden layer are the same type, `Nodes`. A node
is a unit g(x'w + b) or the product of several: of one-input sigmoids that is a box with soft
edges, what a leaf of a tree is. Where nodes come from is in `proposals.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array

from .arrays import Array, HostArray, like, namespace, to_host64


def logistic(z: Array) -> Array:
    """Return 1 / (1 + exp(-z)), accurate in the far tail; `z` may be overwritten."""
    xp = namespace(z)
    if is_numpy_array(z) and z.flags.writeable:
        # exp may overflow to infinity, whose reciprocal is the zero that is wanted.
        with np.errstate(over="ignore"):
            np.exp(np.negative(z, out=z), out=z)
        z += 1.0
        return np.reciprocal(z, out=z)
    limit = 700.0 if z.dtype == xp.float64 else 87.0
    return 1.0 / (1.0 + xp.exp(-xp.clip(z, -limit, None)))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "logistic": logistic,
    "tanh": lambda z: namespace(z).tanh(z),
    "relu": lambda z: namespace(z).clip(z, 0.0, None),
    "identity": lambda z: z,
}
"""What a unit makes of x'w + b, by name."""


@dataclass(frozen=True)
class Nodes:
    """Hidden nodes that share an activation.

    Parameters
    ----------
    weights : array of shape (n_features, n_units)
        Input weights: the first unit of every node, then the second of those that have one, and
        so on.
    biases : array of shape (n_units,)
        Biases, in the same order.
    activation : {"logistic", "tanh", "relu", "identity"}
        The units' function.
    factors : tuple of tuples of int
        Which nodes have a second unit, which a third, in increasing order. A node's output is
        the product of its units'.

    Examples
    --------
    >>> import numpy as np
    >>> node = Nodes(np.zeros((2, 1)), np.zeros(1))
    >>> node.hidden(np.ones((3, 2))).tolist()
    [[0.5], [0.5], [0.5]]
    >>> corner = Nodes(np.zeros((2, 2)), np.zeros(2), factors=((0,),))
    >>> len(corner), corner.hidden(np.ones((1, 2))).tolist()
    (1, [[0.25]])
    """

    weights: Array
    biases: Array
    activation: str = "logistic"
    factors: tuple[tuple[int, ...], ...] = ()

    def __len__(self) -> int:
        return self.n_units - sum(len(members) for members in self.factors)

    @property
    def n_units(self) -> int:
        """Number of units, at least one for each node: what a row costs."""
        return self.biases.shape[0]

    def hidden(self, X: Array) -> Array:
        """Return the nodes' outputs, shape (n_rows, n_nodes)."""
        # With one input the product is an outer one, which BLAS is slow at.
        z = X * self.weights if X.shape[1] == 1 else X @ self.weights
        z += self.biases
        units = ACTIVATIONS[self.activation](z)
        hidden, start = units[:, : len(self)], len(self)
        for members in self.factors:
            stop = start + len(members)
            hidden, start = _multiplied(hidden, members, units[:, start:stop]), stop
        return hidden

    def beside(self, reference: Array) -> Nodes:
        """Return host nodes as nodes with the array library, device and dtype of `reference`."""
        return replace(
            self, weights=like(self.weights, reference), biases=like(self.biases, reference)
        )

    def on_host(self) -> Nodes:
        """Return the nodes in float64 on the host."""
        return replace(self, weights=to_host64(self.weights), biases=to_host64(self.biases))

    def astype(self, reference: Array) -> Nodes:
        """Return the nodes in the dtype of `reference`."""
        if self.biases.dtype == reference.dtype:
            return self
        xp, dtype = namespace(self.biases), reference.dtype
        return replace(
            self, weights=xp.astype(self.weights, dtype), biases=xp.astype(self.biases, dtype)
        )

    def take(self, indices: Any) -> Nodes:
        """Return the nodes with the given numbers, in that order."""
        xp = namespace(self.biases)
        numbers = [int(i) for i in indices]
        units, factors, start = list(numbers), [], len(self)
        for members in self.factors:
            unit = {node: start + place for place, node in enumerate(members)}
            having = tuple(new for new, node in enumerate(numbers) if node in unit)
            units += [unit[numbers[new]] for new in having]
            factors.append(having)
            start += len(members)
        chosen = like_index(units, self.biases)
        return Nodes(
            xp.take(self.weights, chosen, axis=1),
            xp.take(self.biases, chosen, axis=0),
            self.activation,
            nonempty(factors),
        )

    def joined(self, other: Nodes) -> Nodes:
        """Return these nodes followed by the other ones."""
        xp = namespace(self.biases)
        n_mine, levels = len(self), max(len(self.factors), len(other.factors)) + 1
        mine, others = self._levels(levels), other._levels(levels)
        places = [slice_ for pair in zip(mine, others, strict=True) for slice_ in pair]
        sources = [self, other] * levels
        factors = [
            (*self._members(level), *(n_mine + member for member in other._members(level)))
            for level in range(levels - 1)
        ]
        return Nodes(
            xp.concat([n.weights[:, at] for n, at in zip(sources, places, strict=True)], axis=1),
            xp.concat([n.biases[at] for n, at in zip(sources, places, strict=True)]),
            self.activation,
            nonempty(factors),
        )

    def by_units(self) -> Nodes:
        """Return the nodes with few units first: those with more are neighbours then."""
        if not self.factors:
            return self
        count = np.ones(len(self), int)
        for members in self.factors:
            count[list(members)] += 1
        return self.take(np.argsort(count, kind="stable"))

    def _members(self, level: int) -> tuple[int, ...]:
        return self.factors[level] if level < len(self.factors) else ()

    def _levels(self, count: int) -> list[slice]:
        """Return where the first units stand, where the second, and so on."""
        sizes = [len(self), *(len(self._members(level)) for level in range(count - 1))]
        stops = np.cumsum(sizes).tolist()
        return [slice(stop - size, stop) for stop, size in zip(stops, sizes, strict=True)]


@dataclass(frozen=True)
class AtHand:
    """Nodes whose outputs have been computed: what they are asked for is what they are given.

    Parameters
    ----------
    count : int
        How many they are.
    """

    count: int

    def __len__(self) -> int:
        return self.count

    @property
    def n_units(self) -> int:
        """Number of columns that a row has in memory."""
        return self.count

    def hidden(self, columns: Array) -> Array:
        """Return the outputs, which take the place of the inputs."""
        return columns


def _multiplied(hidden: Array, members: tuple[int, ...], units: Array) -> Array:
    """Return the hidden columns with those of some nodes multiplied by a unit more."""
    if is_numpy_array(hidden) and hidden.flags.writeable:
        first, last = members[0], members[-1] + 1
        # Neighbours, as in `by_units`, are multiplied several times faster than scattered ones.
        hidden[:, slice(first, last) if last - first == len(members) else list(members)] *= units
        return hidden
    # The standard knows no writing to chosen columns: the others are multiplied by one.
    xp = namespace(hidden)
    factor = xp.concat([units, xp.ones_like(hidden[:, :1])], axis=1)
    place = np.full(hidden.shape[1], len(members))
    place[list(members)] = np.arange(len(members))
    return hidden * xp.take(factor, like_index(place, hidden), axis=1)


def nonempty(factors: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Return the levels of factors that some node has."""
    return tuple(members for members in factors if members)


def like_index(indices: Any, reference: Array) -> Array:
    """Return row or node numbers as an index array beside `reference`."""
    xp = namespace(reference)
    return xp.asarray(
        [int(i) for i in indices], dtype=xp.int64, device=getattr(reference, "device", None)
    )


def pass_through(n_features: int, *, inputs: bool, constant: bool, reference: Array) -> Nodes:
    """Return nodes that hand on the inputs (the direct link), a constant one (the bias), or both.

    Parameters
    ----------
    n_features : int
        Number of inputs.
    inputs : bool
        Whether to hand on the inputs.
    constant : bool
        Whether to add a node that is always one.
    reference : array
        Gives the array library, device and dtype.

    Returns
    -------
    Nodes
        With the identity as activation.
    """
    weights = np.hstack([np.eye(n_features)] * inputs + [np.zeros((n_features, 1))] * constant)
    biases = np.concatenate([np.zeros(n_features)] * inputs + [np.ones(1)] * constant)
    return Nodes(like(weights, reference), like(biases, reference), "identity")


@dataclass(frozen=True)
class Network:
    """A fitted network, kept on the host so that it goes wherever its file goes.

    Parameters
    ----------
    layers : tuple of Nodes
        Groups of hidden nodes, side by side.
    output_weights : array of shape (n_nodes, n_outputs)
        Output weights.
    """

    layers: tuple[Nodes, ...]
    output_weights: HostArray

    def output(self, X: Array) -> Array:
        """Return the network's output for a block of inputs, shape (n_rows, n_outputs)."""
        layers = tuple(layer.beside(X) for layer in self.layers)
        return hidden_of(layers, X) @ like(self.output_weights, X)


def hidden_of(layers: tuple[Nodes, ...], X: Array) -> Array:
    """Return the outputs of several groups of nodes side by side."""
    if len(layers) == 1:
        return layers[0].hidden(X)
    return namespace(X).concat([layer.hidden(X) for layer in layers], axis=1)


def network(layers: tuple[Nodes, ...], output_weights: HostArray) -> Network:
    """Return the network with its nodes copied to the host."""
    return Network(tuple(layer.on_host() for layer in layers), output_weights)
