"""Where candidate nodes come from, and how the search learns where to look.

Parameters are drawn by a NumPy generator on the host, keyed by (seed, round, node), and never by
the number of rows: every machine meets the same candidates, and a network continued from k nodes
to m is the network grown to m at once.

The literal draw looks at all inputs alike. Where inputs are many and few matter, hardly any of its
candidates meets the right ones together. With `Experience` of the nodes chosen so far, an input is
drawn with the probability

    EXPLORED / d + (1 - EXPLORED) * its share of their gains,

and a part of the pool are variations of them: the same inputs, other steepness, other places. The
supervisory inequality still decides. Shares of gains are the same for a weight of two and a row
repeated, and they are rounded, so that machines whose last bits differ draw the same candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from .arrays import Array, HostArray
from .nodes import Nodes, nonempty

EXPLORED = 0.2
"""Share of the draws of an input that what was learned has no say in: an input that matters late is
still met. One draw in five as in the experiments that showed what learning is worth (learner.md);
not tuned."""

FORGOTTEN = 0.02
"""Share of the gains so far that each further node makes forgotten: later nodes need others. So the
last fifty count; not tuned."""

ROUNDED = 1024
"""Shares of gains are multiples of one part in so many: machines whose last bits differ draw the
same candidates."""

REMEMBERED = 512
"""Chosen nodes that are varied, at most; the newest. More than any network has by default: a bound
on memory."""

VARIED = 0.4
"""Share of a pool that are variations of chosen nodes, once there are any. Measured while it was
made: Friedman with 200 inputs errs a third less with
them than without, tables about alike; the share was not tuned."""

VARIATION = 0.5
"""Standard deviation of the logarithm of what a varied weight is multiplied by: mostly between a
half and twice. Not tuned."""

BOXES = 0.5
"""Share of the other candidates that are boxes, where boxes are wanted. Measured while it was made:
targets with
steps err a quarter less, most tables up to a tenth less, house prices a little more."""

EDGES = 3
"""Edges of a box at most: products of more are hardly ever other than zero."""

FLAT = 0.5
"""Steepness of nodes that stand for lines. By argument; at 1 errors are the same, at 3 a line is no
longer met."""

LEAST_STEEP = 10.0
"""Edges are no flatter than this, for inputs in [0, 1]: flat ones are what single units are."""


@dataclass(frozen=True)
class Experience:
    """What the nodes chosen so far teach the search.

    Parameters
    ----------
    gains : array of shape (n_features,)
        What nodes gained with each input, as shares of the error that was left, the older ones
        partly forgotten.
    chosen : Nodes or None
        The newest of them, on the host; None before the first.
    told : array of shape (n_features,) or None
        How much each input tells of the present residual, where inputs were asked; it then counts
        as much as what nodes gained.
    """

    gains: HostArray
    chosen: Nodes | None = None
    told: HostArray | None = None

    def probabilities(self) -> HostArray:
        """Return how probable it is that an input is drawn, for each."""
        alike = 1.0 / len(self.gains)
        known = [v / v.sum() for v in (self.gains, self.told) if v is not None and v.sum() > 0]
        if not known:
            return np.full(len(self.gains), alike)
        shares = np.round(ROUNDED * np.mean(known, axis=0)) / ROUNDED
        return EXPLORED * alike + (1.0 - EXPLORED) * shares

    def learned(self, nodes: Nodes, gains: HostArray) -> Experience:
        """Return the experience with newly chosen nodes.

        Parameters
        ----------
        nodes : Nodes
            The new nodes.
        gains : array of shape (n_nodes,)
            Share of the error that each removed.

        Returns
        -------
        Experience
            A node's gain is shared out among its units, a unit's by the size of its weights.
        """
        nodes = nodes.on_host()
        kept = (1.0 - FORGOTTEN) ** np.arange(len(nodes) - 1, -1, -1.0)
        old = (1.0 - FORGOTTEN) ** len(nodes) * self.gains
        both = nodes if self.chosen is None else self.chosen.joined(nodes)
        newest = range(max(0, len(both) - REMEMBERED), len(both))
        chosen = both if newest.start == 0 else both.take(newest)
        return Experience(old + looked_at(nodes) @ (kept * gains), chosen)


def flat(n_inputs: int, n_features: int, activation: str) -> Nodes:
    """Return a node for each of the first inputs that is as good as a line in it, and a constant.

    Parameters
    ----------
    n_inputs : int
        How many inputs, scaled to [0, 1].
    n_features : int
        How many columns there are.
    activation : str
        See `Nodes`.

    Returns
    -------
    Nodes
        Together they span what is linear in these inputs, bent by less than a hundredth.
    """
    weights = np.hstack([FLAT * np.eye(n_features)[:, :n_inputs], np.zeros((n_features, 1))])
    # About their middle most are lines; a rectifier is one beyond its edge.
    at = -0.5 if activation == "relu" else 0.5
    biases = np.full(n_inputs + 1, -FLAT * at)
    biases[-1] = 1.0
    return Nodes(weights, biases, activation)


def looked_at(nodes: Nodes) -> HostArray:
    """Return what share of each node's look goes to each input, shape (n_features, n_nodes)."""
    owner = owners(nodes)
    size = np.abs(nodes.weights)
    size = size / np.maximum(size.sum(axis=0), 1e-300)
    shares = np.zeros((size.shape[0], len(nodes)))
    np.add.at(shares.T, owner, size.T)
    return shares / np.bincount(owner, minlength=len(nodes))


def owners(nodes: Nodes) -> HostArray:
    """Return the number of the node that each unit belongs to, shape (n_units,)."""
    return np.concatenate([np.arange(len(nodes)), *(np.array(m, int) for m in nodes.factors)])


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
    boxes : bool
        Whether half of the candidates are boxes: products of up to three steep one-input units.
        Needs `centres`.
    """

    seed: int
    n_features: int
    scopes: tuple[float, ...]
    n_candidates: int
    centres: HostArray | None = None
    activation: str = "logistic"
    sparse: bool = False
    boxes: bool = False

    def pools(
        self,
        reference: Array,
        *,
        node: int = 0,
        round: int = 0,
        experience: Experience | None = None,
    ) -> Iterator[Nodes]:
        """Yield the candidates of one scope after the other, for one place in the network.

        Parameters
        ----------
        reference : array
            Gives the array library, device and dtype.
        node : int
            Number of nodes the network has so far.
        round : int
            Round of reweighting.
        experience : Experience or None
            What nodes chosen so far teach; None draws blindly.

        Yields
        ------
        Nodes
            `n_candidates` of them, drawn when they are asked for.
        """
        rng = self._generator(node, round)
        for scope in self.scopes:
            yield self._pool(rng, (scope,), experience).beside(reference)

    def pool(self, scope: int, reference: Array, *, node: int = 0, round: int = 0) -> Nodes:
        """Return the candidates of the scope with the given number; see `pools`."""
        return next(islice(self.pools(reference, node=node, round=round), scope, None))

    def all_pools(
        self,
        reference: Array,
        *,
        node: int = 0,
        round: int = 0,
        experience: Experience | None = None,
    ) -> Nodes:
        """Return the candidates of all scopes in one pool; see `pools`."""
        return self._pool(self._generator(node, round), self.scopes, experience).beside(reference)

    def _generator(self, node: int, round: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, round, node))

    def _pool(
        self, rng: np.random.Generator, scopes: tuple[float, ...], experience: Experience | None
    ) -> Nodes:
        """Return candidates of all kinds on the host; without experience or boxes, of one."""
        size, n_varied, n_boxes = self.n_candidates * len(scopes), 0, 0
        if experience is not None and experience.chosen is not None:
            n_varied = int(VARIED * size)
        if self.boxes:
            n_boxes = int(BOXES * (size - n_varied))
        n_plain = -(-(size - n_varied - n_boxes) // len(scopes))
        inputs = None if experience is None else experience.probabilities()
        pool = self._plain(rng, scopes, n_plain, inputs)
        if n_boxes:
            pool = pool.joined(self._boxes(rng, n_boxes, max(scopes), inputs))
        if n_varied:
            assert experience is not None
            pool = pool.joined(self._variations(rng, n_varied, experience.chosen))
        return pool.by_units()

    def _boxes(
        self, rng: np.random.Generator, n: int, steepest: float, inputs: HostArray | None
    ) -> Nodes:
        """Return boxes of one to `EDGES` edges; an input may have two, which makes an interval."""
        assert self.centres is not None
        count = rng.integers(1, EDGES + 1, size=n)
        factors = tuple(tuple(np.flatnonzero(count > level).tolist()) for level in range(1, EDGES))
        n_units = n + sum(len(members) for members in factors)
        chances = np.full(self.n_features, 1.0) if inputs is None else inputs
        edges = np.cumsum(chances / chances.sum())[:-1]
        at = np.searchsorted(edges, rng.uniform(size=n_units), side="right")
        low, high = np.log(LEAST_STEEP), np.log(max(steepest, LEAST_STEEP))
        steep = np.exp(rng.uniform(low, high, n_units)) * rng.choice((-1.0, 1.0), n_units)
        place = self.centres[0, at] + rng.uniform(size=n_units) * np.ptp(self.centres, axis=0)[at]
        weights = np.zeros((self.n_features, n_units))
        weights[at, np.arange(n_units)] = steep
        return Nodes(weights, -steep * place, self.activation, nonempty(factors))

    def _variations(self, rng: np.random.Generator, n: int, chosen: Nodes | None) -> Nodes:
        """Return chosen nodes with other weights and in other places.

        Of a box about half of the edges stay where they are.
        """
        assert chosen is not None
        nodes = chosen.take(rng.integers(len(chosen), size=n))
        owner = owners(nodes)
        weights = nodes.weights * np.exp(VARIATION * rng.normal(size=nodes.weights.shape))
        points = rng.uniform(size=weights.shape)
        if self.centres is None:
            biases = (2.0 * points[0] - 1.0) * np.abs(weights).max(axis=0)
        else:
            low, high = self.centres[:, :, None]
            biases = -np.sum(weights * (low + points * (high - low)), axis=0)
        of_many = np.bincount(owner, minlength=n)[owner] > 1
        stays = of_many & (rng.uniform(size=len(owner)) < 0.5)
        return replace(
            nodes,
            weights=np.where(stays, nodes.weights, weights),
            biases=np.where(stays, nodes.biases, biases),
        )

    def _plain(
        self,
        rng: np.random.Generator,
        scopes: tuple[float, ...],
        n: int,
        inputs: HostArray | None,
    ) -> Nodes:
        """Return single units, scope after scope; the same drawn together or in turn."""
        d = self.n_features
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
            weights *= _shares(drawn["counts"], drawn["ranks"], inputs)
        if self.centres is not None:
            low, high = self.centres[:, :, None]
            biases = -np.sum(weights * (low + drawn["points"] * (high - low)), axis=1)
        else:
            biases = ((2.0 * drawn["biases"] - 1.0) * width)[:, 0, :]
        return Nodes(np.moveaxis(weights, 0, 1).reshape(d, -1), biases.ravel(), self.activation)


def _shares(counts: HostArray, ranks: HostArray, inputs: HostArray | None) -> HostArray:
    """Return what part of its scope each candidate has for each input; zero for most."""
    count = np.floor(np.exp(counts * np.log(ranks.shape[1] + 1.0)))
    if inputs is not None:
        # The smallest of exponential variables: drawn without replacement, by their rates.
        ranks = -np.log1p(-ranks) / inputs[:, None]
    rank = np.argsort(np.argsort(ranks, axis=1), axis=1)
    return np.where(rank < count, 1.0 / count, 0.0)
