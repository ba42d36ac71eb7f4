"""Hidden nodes, `h = g(X w + b)`, and where their random parameters come from.

A pool of candidates, one chosen node and a whole hidden layer are the same type, `Nodes`.
Parameters are drawn by a NumPy generator on the host, keyed by (seed, round, node), scope
after scope, and never by the number of rows or by earlier nodes: every machine meets the same
candidates, and a network continued from k nodes to m is the network grown to m at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
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


@dataclass(frozen=True)
class Nodes:
    """Hidden nodes that share an activation.

    Parameters
    ----------
    weights : array of shape (n_features, n_nodes)
        Input weights.
    biases : array of shape (n_nodes,)
        Biases.
    activation : {"logistic", "tanh", "relu", "identity"}
        The node's function.

    Examples
    --------
    >>> import numpy as np
    >>> node = Nodes(np.zeros((2, 1)), np.zeros(1))
    >>> node.hidden(np.ones((3, 2))).tolist()
    [[0.5], [0.5], [0.5]]
    """

    weights: Array
    biases: Array
    activation: str = "logistic"

    def __len__(self) -> int:
        return self.biases.shape[0]

    def hidden(self, X: Array) -> Array:
        """Return the nodes' outputs, shape (n_rows, n_nodes)."""
        # With one input the product is an outer one, which BLAS is slow at.
        z = X * self.weights if X.shape[1] == 1 else X @ self.weights
        z += self.biases
        return ACTIVATIONS[self.activation](z)

    def beside(self, reference: Array) -> Nodes:
        """Return host nodes as nodes with the array library, device and dtype of `reference`."""
        return replace(
            self, weights=like(self.weights, reference), biases=like(self.biases, reference)
        )

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
        chosen = like_index(indices, self.biases)
        return replace(
            self,
            weights=xp.take(self.weights, chosen, axis=1),
            biases=xp.take(self.biases, chosen, axis=0),
        )

    def joined(self, other: Nodes) -> Nodes:
        """Return these nodes followed by the other ones."""
        xp = namespace(self.biases)
        return replace(
            self,
            weights=xp.concat([self.weights, other.weights], axis=1),
            biases=xp.concat([self.biases, other.biases]),
        )


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
class Draw:
    """Where candidate nodes come from.

    Parameters
    ----------
    seed : int
        Seed of all draws.
    n_features : int
        Number of inputs.
    scopes : tuple of float
        Half widths of the intervals that the parameters are drawn from.
    n_candidates : int
        Pool size for each scope.
    centres : None or array of shape (2, n_features)
        None: biases are uniform in [-scope, scope], as in the literature. Otherwise the lower
        and upper corner of the data: a point in the box is drawn and the bias puts the node's
        steepest point there, so no candidate is wasted on a place without data.
    activation : str
        See `Nodes`.
    sparse : bool
        Whether a candidate looks at some of the inputs only. How many is drawn between one and
        all, each octave as likely as the next, and the scope is shared out among them: a node
        of one input may be as steep along it as a node of all is along its own direction.
        Where few inputs matter, or act by themselves, dense nodes hardly ever meet them.
    """

    seed: int
    n_features: int
    scopes: tuple[float, ...]
    n_candidates: int
    centres: HostArray | None = None
    activation: str = "logistic"
    sparse: bool = False

    def pools(self, reference: Array, *, node: int = 0, round: int = 0) -> Iterator[Nodes]:
        """Yield the candidates of one scope after the other, for one place in the network.

        Parameters
        ----------
        reference : array
            Gives the array library, device and dtype.
        node : int
            Number of nodes the network has so far.
        round : int
            Round of reweighting.

        Yields
        ------
        Nodes
            `n_candidates` of them, drawn when they are asked for.
        """
        rng = self._generator(node, round)
        for scope in self.scopes:
            weights, biases = self._drawn(rng, (scope,))
            yield Nodes(like(weights, reference), like(biases, reference), self.activation)

    def pool(self, scope: int, reference: Array, *, node: int = 0, round: int = 0) -> Nodes:
        """Return the candidates of the scope with the given number; see `pools`."""
        return next(islice(self.pools(reference, node=node, round=round), scope, None))

    def all_pools(self, reference: Array, *, node: int = 0, round: int = 0) -> Nodes:
        """Return the candidates of all scopes, scope after scope; see `pools`."""
        weights, biases = self._drawn(self._generator(node, round), self.scopes)
        return Nodes(like(weights, reference), like(biases, reference), self.activation)

    def _generator(self, node: int, round: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, round, node))

    def _drawn(
        self, rng: np.random.Generator, scopes: tuple[float, ...]
    ) -> tuple[HostArray, HostArray]:
        """Return weights and biases, scope after scope; the same drawn together or in turn."""
        d, n = self.n_features, self.n_candidates
        sizes = {"weights": d * n, "biases": n}
        if self.sparse:
            sizes |= {"counts": n, "ranks": d * n}
        if self.centres is not None:
            sizes |= {"points": d * n}
        numbers = rng.uniform(size=(len(scopes), sum(sizes.values())))
        stops = np.cumsum(list(sizes.values()))[:-1]
        drawn = {
            name: part.reshape(len(scopes), -1, n)
            for name, part in zip(sizes, np.split(numbers, stops, axis=1), strict=True)
        }
        width = np.array(scopes)[:, None, None]
        weights = (2.0 * drawn["weights"] - 1.0) * width
        if self.sparse:
            weights *= _shares(drawn["counts"], drawn["ranks"])
        if self.centres is not None:
            low, high = self.centres[:, :, None]
            biases = -np.sum(weights * (low + drawn["points"] * (high - low)), axis=1)
        else:
            biases = ((2.0 * drawn["biases"] - 1.0) * width)[:, 0, :]
        return np.moveaxis(weights, 0, 1).reshape(d, -1), biases.ravel()


def _shares(counts: HostArray, ranks: HostArray) -> HostArray:
    """Return what part of its scope each candidate has for each input; zero for most."""
    count = np.floor(np.exp(counts * np.log(ranks.shape[1] + 1.0)))
    rank = np.argsort(np.argsort(ranks, axis=1), axis=1)
    return np.where(rank < count, 1.0 / count, 0.0)


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
    return Network(
        tuple(replace(n, weights=to_host64(n.weights), biases=to_host64(n.biases)) for n in layers),
        output_weights,
    )
