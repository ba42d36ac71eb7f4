"""A committee of networks that judges each row without having seen its target.

Networks are grown in batches of `FOLDS`; each batch member grows on the rows of all folds but
one, and every network's output weights are judged by leave-one-out residuals. A row's evidence
is its mean left-out residual over the networks whose growing it was kept from, less the median
of all rows' own. Where networks disagree about a row, the row is given the benefit of the doubt.
Two things are chosen on dirty data:

- The ridge of each network, by the lowest weighted leave-one-out error.
- The round that is kept, by the mean absolute evidence, among those with all networks. It counts
  every row, rejected or not: nothing is gained by rejecting good ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from array_api_compat import device

from .arrays import Array, HostArray, like, middle, namespace, to_host64
from .growth import Problem, Recipe, Watcher, grow, watched
from .least_squares import Tuned, Twins, ridge_by_leave_one_out
from .nodes import Network, Nodes, network, pass_through
from .rows import Column, LocalRows, Totals, quantile, spread
from .scale import NORMAL_MAD, distances
from .sketch import sketch_of

GROSS = 10.0
"""Multiples of the 95 % quantile of |y - median| beyond which a target is gross."""

FOLDS = 4
"""Networks grown together; each row is kept from one of them."""

FIRST_TRUSTED_ROUND = 3
"""Networks grown earlier saw the wrong rows with nearly full weight and are replaced."""

SAME = 1e-6
"""Share of their ranges by which inputs of rows may differ that count as equal."""

LOOKED_ROWS = 2**12
"""Rows that networks grow on and that are looked at round after round; where there are more, all
are solved for and judged at the end. On 20,000 rows twice as many gained nothing."""

KEPT_IN_MEMORY = 2**21
"""Hidden values of one network (rows times nodes) up to which they are computed only once."""

PATIENCE = 100
"""Nodes that a network grows on after the rows kept from it were met best. What they cost is left
to the ridge; with 60 and fewer, stock and treasury lost several percent."""

DOUBT = 0.5
"""Share of the networks' disagreement that counts as doubt: as much as the mean of four has."""

FEW_ROWS = 40
"""Below this number no row is kept from a network's growing."""

RIDGES = 10.0 ** np.arange(-9.0, 0.5, 0.5)
"""Penalties tried, for each unit of weight and targets of size one."""


@dataclass(frozen=True)
class Grown:
    """Nodes grown without the rows of one fold.

    Parameters
    ----------
    nodes : Nodes
        The nodes.
    path : array of shape (n_steps, 3)
        After each step: number of nodes, weighted root mean squared error on the rows they were
        grown on, and on the rows of the fold kept from them.
    columns : column of shape (n_rows, n_nodes) or None
        The nodes' values, where there is room for them.
    """

    nodes: Nodes
    path: HostArray
    columns: Column | None = None


@dataclass
class Committee:
    """The networks so far, and how a round of reweighting adds to them.

    Parameters
    ----------
    problem : Problem
        Scaled rows; its weight is the caller's.
    recipe : Recipe
        How networks grow.
    batches : dict of int to int
        How many networks are grown in which round; see `batch_sizes`.
    starts : collection of int
        Rounds in which the networks so far are dismissed.
    each : callable
        Like `map`, perhaps at the same time.
    watch : Watcher or None
        Told of each network's growing; may end it.

    Attributes
    ----------
    doubt : column of shape (n_rows, n_outputs)
        How far the networks of the last build disagree about each row.
    """

    problem: Problem
    recipe: Recipe
    batches: dict[int, int]
    starts: Collection[int] = (FIRST_TRUSTED_ROUND,)
    each: Callable[..., Iterable[Any]] = map
    watch: Watcher | None = None
    layers: list[Grown] = field(default_factory=list)
    kept_from: list[int] = field(default_factory=list)
    paths_by_round: list[list[HostArray]] = field(default_factory=list)
    doubt: Column = None

    def __post_init__(self) -> None:
        self.twins, count = twins_of(self.problem)
        self.folds = fold_of_rows(self.problem, self.recipe.draw.seed, count)

    def build(self, number: int, weight: Column) -> tuple[tuple[Network, ...], Column]:
        """Grow networks where due, solve all under the weights, and judge the rows.

        Parameters
        ----------
        number : int
            The round.
        weight : column of shape (n_rows,)
            The caller's weights times the learned ones.

        Returns
        -------
        networks : tuple of Network
            All of them, solved.
        evidence : column of shape (n_rows, n_outputs)
            Left-out residuals less their median.
        """
        weighted = replace(self.problem, weight=weight)
        if number in self.starts:
            self.layers, self.kept_from = [], []
        new = _folds_of(len(self.layers), self.batches.get(number, 0))
        self.layers = self.layers + self._grown(weighted, self.recipe, number, new, self.watch)
        self.kept_from = self.kept_from + new
        self.paths_by_round.append([layer.path for layer in self.layers])
        tuned = self._solved(weighted, self.layers)
        left_out = [fit.left_out for fit in tuned]
        self.doubt = disagreement(self.problem, left_out)
        evidence = _mean_left_out(self.problem, self.folds, left_out, self.kept_from)
        evidence = centred(self.problem, evidence)
        networks = _networks(self.problem, [layer.nodes for layer in self.layers], tuned)
        return networks, evidence

    def widened(
        self, problem: Problem, networks: Sequence[Network], each: Callable[..., Iterable[Any]]
    ) -> Committee:
        """Return a committee of networks that grew on some rows, for all of them.

        Parameters
        ----------
        problem : Problem
            All rows.
        networks : sequence of Network
            The networks of a round.
        each : callable
            Like `map`, perhaps at the same time.

        Returns
        -------
        Committee
            It grows no more. A row's fold is a function of its inputs, so none is judged by a
            network that grew on it here either.
        """
        nodes = [network.layers[0].beside(problem.X) for network in networks]
        path = np.zeros((0, 3))
        layers = [Grown(each, path, outputs_of(problem, each)) for each in nodes]
        kept_from = _folds_of(0, len(networks))
        return Committee(problem, self.recipe, {}, (), each, None, layers, kept_from)

    def evidence_of(self, networks: Sequence[Network]) -> Column:
        """Return how far rows are from what solved networks say, and set the doubt by these.

        Parameters
        ----------
        networks : sequence of Network
            Solved on a few of the rows.

        Returns
        -------
        column of shape (n_rows, n_outputs)
            Residuals less their median.
        """
        problem = self.problem
        one = partial(_error_of, problem)
        errors = list(self.each(one, networks))
        self.doubt = disagreement(problem, errors)
        return centred(problem, _mean_left_out(problem, self.folds, errors, self.kept_from))

    def left_out_errors(self, problem: Problem, n_nodes: int) -> Column:
        """Return how far networks made for other targets err on rows that they have not seen.

        Parameters
        ----------
        problem : Problem
            The same rows with other targets.
        n_nodes : int
            Size of the networks, one for each fold, at most. Their candidates are those of the
            round that comes next.

        Returns
        -------
        column of shape (n_rows, n_outputs)
            Left-out residuals.
        """
        recipe = replace(self.recipe, max_nodes=min(n_nodes, self.recipe.max_nodes))
        folds = _folds_of(0, FOLDS)
        layers = self._grown(problem, recipe, len(self.paths_by_round), folds, None)
        left_out = [fit.left_out for fit in self._solved(problem, layers)]
        return _mean_left_out(problem, self.folds, left_out, folds)

    def n_steps(self, number: int) -> int:
        """Return how many blocks of nodes the round adds at most, in all its networks."""
        return self.batches.get(number, 0) * self.recipe.n_steps

    def _grown(
        self,
        problem: Problem,
        recipe: Recipe,
        number: int,
        folds: Sequence[int],
        watch: Watcher | None,
    ) -> list[Grown]:
        recipes = [replace(recipe, round=100 * number + k) for k in range(len(folds))]
        grown = partial(_grown_without, problem, self.folds, watch)
        return list(self.each(grown, folds, recipes))

    def _solved(self, weighted: Problem, layers: Sequence[Grown]) -> list[Tuned]:
        return list(self.each(partial(_tuned, weighted, self.twins), layers))


def _error_of(problem: Problem, network: Network) -> Column:
    width = 2 * network.layers[0].n_units
    return problem.rows.map(lambda x, t: t - network.output(x), problem.X, problem.y, width=width)


def _folds_of(start: int, count: int) -> list[int]:
    return [k % FOLDS for k in range(start, start + count)]


def twins_of(problem: Problem) -> tuple[Twins | None, int]:
    """Return which rows have equal inputs, and how many different rows there are.

    Parameters
    ----------
    problem : Problem
        Scaled rows.

    Returns
    -------
    twins : Twins or None
        None where all are different, or are too many or too far away to be compared.
    count : int
        Different inputs among the rows that have weight, or among `LOOKED_ROWS` of them. A
        weight of two or a row repeated makes no difference here.
    """
    few = problem
    if not isinstance(problem.rows, LocalRows) or problem.rows.n_rows > LOOKED_ROWS:
        few = some_rows(problem, min(problem.rows.n_rows, LOOKED_ROWS))
    digits = np.round(to_host64(few.X) / SAME)
    _, group = np.unique(digits, axis=0, return_inverse=True)
    group = group.reshape(-1)
    count = len(np.unique(group[to_host64(few.weight) > 0]))
    n_groups = int(group.max()) + 1
    if few is not problem or n_groups == len(group):
        return None, count
    xp = namespace(problem.X)
    column = xp.asarray(group, dtype=xp.int64, device=device(problem.X))
    return Twins(column, n_groups), count


def not_gross(problem: Problem) -> Column:
    """Return first weights: one, but nothing for targets far outside of all the others.

    The first network is fitted before any residual exists; a single target of a million would
    bend it beyond repair. Rows set aside here are judged again after the first round.
    """
    rows = problem.rows
    scales = []
    for q in range(problem.y.shape[1]):
        size = rows.map(lambda t, q=q: namespace(t).abs(t[:, q]), problem.y)
        scales.append(quantile(rows, size, problem.weight, 0.95) or 1.0)
    return rows.map(
        lambda d: namespace(d).astype(d <= GROSS, d.dtype),
        distances(rows, problem.y, np.array(scales)),
    )


def fold_of_rows(problem: Problem, seed: int, n_different: int) -> Column:
    """Return each row's fold, a function of its inputs: copies of a row stay together.

    Where rows are few, or their distinct inputs so few that a fold would hold nearly half of
    the weight, all rows get the fold -1, which no network leaves out.
    """
    draw = np.random.default_rng((seed, 1)).uniform(1e3, 1e4, problem.X.shape[1])

    def fold(x: Array) -> Array:
        xp = namespace(x)
        mixed = xp.zeros_like(x[:, 0])
        for j in range(x.shape[1]):  # column by column: a row's sum must not depend on others
            mixed = mixed + float(draw[j]) * x[:, j]
        return xp.floor((mixed - xp.floor(mixed)) * FOLDS)

    def masses(f: Array, w: Array) -> Totals:
        xp = namespace(f)
        return (xp.stack([xp.sum(xp.where(f == k, w, xp.zeros_like(w))) for k in range(FOLDS)]),)

    folds = problem.rows.map(fold, problem.X)
    (mass,) = problem.rows.reduce(masses, folds, problem.weight)
    if mass.max() > 0.45 * mass.sum() or n_different < FEW_ROWS:
        return problem.rows.map(lambda f: namespace(f).full_like(f, -1.0), folds)
    return folds


def batch_sizes(n_networks: int, n_rounds: int, n_more: int = 0) -> dict[int, int]:
    """Return how many networks are grown in which round.

    Round 0 grows one batch on rows that are all believed; from `FIRST_TRUSTED_ROUND` to the
    last but one, batches spread evenly make up the ensemble. Where more rounds follow, the
    ensemble grows in these, and one batch is enough before.
    """
    batch = min(FOLDS, n_networks)
    if n_rounds <= FIRST_TRUSTED_ROUND:
        return {0: n_networks}
    first, last = FIRST_TRUSTED_ROUND, max(FIRST_TRUSTED_ROUND, n_rounds - 2)
    due = {0: batch}
    if n_more:
        due[first] = batch
        first, last = n_rounds, n_rounds + n_more - 3
    left = n_networks
    for place in np.linspace(first, last, -(-n_networks // FOLDS)):
        due[round(place)] = due.get(round(place), 0) + min(FOLDS, left)
        left -= FOLDS
    return due


def _grown_without(
    problem: Problem,
    folds: Column,
    watch: Watcher | None,
    fold: int,
    recipe: Recipe,
) -> Grown:
    """Return nodes grown on the rows of all other folds."""

    def others(w: Array, f: Array) -> Array:
        return namespace(w).where(f == fold, namespace(w).zeros_like(w), w)

    weight = problem.rows.map(others, problem.weight, folds)
    seen = replace(problem, weight=weight)
    kept = replace(problem, weight=problem.rows.map(lambda w, s: w - s, problem.weight, weight))
    sizes = [subset.total_weight() * problem.y.shape[1] for subset in (seen, kept)]
    path: list[tuple[float, ...]] = []
    for state in watched(grow(seen, recipe), watch):
        energies = state.energy.sum(), kept.energy(state.fit.residuals).sum()
        shares = [e / n if n else np.nan for e, n in zip(energies, sizes, strict=True)]
        path.append((len(state.nodes), *shares))
        lowest, *_ = min(path, key=lambda point: point[2])
        # Where no rows are kept from it there is nothing to go by, and it grows to its size.
        if sizes[1] and len(state.nodes) - lowest >= PATIENCE:
            break
    nodes = state.nodes.by_units()
    return Grown(nodes, np.array(path) ** (1.0, 0.5, 0.5), outputs_of(problem, nodes))


def outputs_of(problem: Problem, nodes: Nodes) -> Column | None:
    """Return the nodes' outputs on all rows, where there is room for them."""
    if problem.rows.n_rows * len(nodes) > KEPT_IN_MEMORY:
        return None
    return problem.rows.map(nodes.hidden, problem.X, width=2 * nodes.n_units)


def some_rows(problem: Problem, count: int) -> Problem:
    """Return `count` of the rows, spread over all, as a problem on the host.

    In float64: some thousand rows are looked at faster by a processor than by a device that waits
    for each small step.
    """
    numbers = spread(problem.rows.n_rows, count)
    _, taken = problem.rows.some(numbers, problem.X, problem.y, problem.weight)
    X, y, weight = (to_host64(column) for column in taken)
    rows = LocalRows(count)
    return Problem(rows, X, y, weight, sketch_of(rows, X))


def growth_path(paths: Sequence[HostArray]) -> HostArray:
    """Return the mean of the networks' paths; one that ended early stays at its last error."""
    nodes = max((path[:, 0] for path in paths), key=len)
    errors = [
        [np.interp(nodes, path[:, 0], path[:, column]) for path in paths] for column in (1, 2)
    ]
    return np.stack([nodes, *np.mean(errors, axis=1)], axis=1)


def _tuned(problem: Problem, twins: Twins | None, layer: Grown) -> Tuned:
    in_memory = layer.columns is not None
    return ridge_by_leave_one_out(
        problem.rows,
        layer.columns if in_memory else problem.X,
        problem.y,
        problem.weight,
        (lambda columns: columns) if in_memory else layer.nodes.hidden,
        len(layer.nodes),
        RIDGES,
        twins=twins,
        in_memory=in_memory,
    )


def _networks(
    problem: Problem, layers: Sequence[Nodes], tuned: Sequence[Tuned]
) -> tuple[Network, ...]:
    n_features = problem.X.shape[1]
    one = pass_through(n_features, inputs=False, constant=True, reference=problem.X)
    return tuple(
        network((nodes, one), fit.output_weights) for nodes, fit in zip(layers, tuned, strict=True)
    )


def disagreement(problem: Problem, left_out: Sequence[Column]) -> Column:
    """Return how far networks disagree about each row, as far as it counts as doubt.

    Parameters
    ----------
    problem : Problem
        The rows.
    left_out : sequence of columns of shape (n_rows, n_outputs)
        Each network's left-out residuals.

    Returns
    -------
    column of shape (n_rows, n_outputs)
        `DOUBT` times 1.4826 times their median absolute deviation from their median, which one
        odd network cannot move.
    """

    def deviation(*columns: Array) -> Array:
        xp = namespace(*columns)
        stacked = xp.stack(columns)
        return DOUBT * NORMAL_MAD * middle(xp.abs(stacked - middle(stacked)[None, ...]))

    return problem.rows.map(deviation, *left_out, width=2 * len(left_out))


def _mean_left_out(
    problem: Problem, folds: Column, left_out: Sequence[Column], hidden_from: Sequence[int]
) -> Column:
    """Return each row's mean left-out residual over the networks grown without it.

    Rows that no network was grown without, in an ensemble smaller than the folds, take the
    mean over all.
    """

    def mean(f: Array, *columns: Array) -> Array:
        xp = namespace(f)
        stacked = xp.stack(columns)
        unseen = xp.stack([xp.astype(f == k, f.dtype) for k in hidden_from])
        none = xp.astype(xp.sum(unseen, axis=0) == 0, f.dtype)
        votes = unseen + none[None, :]
        return xp.sum(votes[:, :, None] * stacked, axis=0) / xp.sum(votes, axis=0)[:, None]

    return problem.rows.map(mean, folds, *left_out, width=2 * len(left_out))


def centred(problem: Problem, residuals: Column) -> Column:
    """Return residuals less the median of each output.

    Wrong rows that all lie on one side pull every prediction to it. The pull is common to all
    rows; taken off, rows are judged by how they differ from the others.
    """
    rows = problem.rows
    middles = np.array(
        [
            quantile(rows, rows.map(lambda e, q=q: e[:, q], residuals), problem.weight, 0.5)
            for q in range(problem.y.shape[1])
        ]
    )
    return rows.map(lambda e: e - like(middles, e), residuals)


def narrowing(problem: Problem) -> Callable[[int, Column], HostArray]:
    """Return the schedule of scales: a third of the largest residual, halved each round."""
    widest: list[HostArray] = []

    def largest(e: Array, w: Array) -> Totals:
        xp = namespace(e)
        counted = xp.where((w > 0)[:, None], xp.abs(e), xp.zeros_like(e))
        return (xp.max(counted, axis=0),)

    def least_scale(number: int, evidence: Column) -> HostArray:
        if not widest:
            believed = problem.rows.map(lambda s, w: s * w, not_gross(problem), problem.weight)
            (size,) = problem.rows.reduce(
                largest, evidence, believed, combine=lambda a, b: (np.maximum(a[0], b[0]),)
            )
            widest.append(size)
        return widest[0] / 3.0 * 0.5**number

    return least_scale


def mean_sizes(problem: Problem, evidence: Sequence[Column]) -> list[float]:
    """Return the mean absolute residual of all rows, for several sets of residuals.

    Parameters
    ----------
    problem : Problem
        The rows; its weight is the caller's.
    evidence : sequence of columns of shape (n_rows, n_outputs)
        Left-out residuals.

    Returns
    -------
    list of float
        Over rows and outputs. A wrong row adds nearly the same to each; its square would not.
    """

    def sums(e: Array, w: Array) -> Totals:
        xp = namespace(e)
        # In float32 one target of 1e9 would drown all that the rounds differ in.
        return xp.sum(w[:, None] * xp.astype(xp.abs(e), xp.float64)), xp.sum(w)

    totals = [problem.rows.reduce(sums, e, problem.weight) for e in evidence]
    return [float(total / count) / problem.y.shape[1] for total, count in totals]
