"""Folds for out-of-fold residuals: which rows are kept from which network, which are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from array_api_compat import device

from .arrays import Array, namespace, to_host64
from .least_squares import Twins
from .problem import Problem, some_rows
from .rows import Column, LocalRows, Rows, Totals

FOLDS = 4
"""Parts of the rows; each is kept from every fourth network. By argument: with two, networks would
know half of the rows, with more a batch costs more. In the ablation folds pay on concrete and laser
(11 to 13 %), cost on friedman (14 %) and make no difference elsewhere."""

FEW_ROWS = 40
"""Below this number no row is kept from a network's growing: a fold would hold fewer than ten. By
argument."""

SAME = 1e-6
"""Share of their ranges by which inputs of rows may differ that count as equal: what is lost in
float32 or a CSV file."""

COMPARED_ROWS = 2**12
"""Rows that are compared with each other at most: as many as the flagship looks at. Changes time
and memory."""


@dataclass(frozen=True)
class Parts:
    """How rows are parted.

    Parameters
    ----------
    fold : column of shape (n_rows,)
        Number of the fold that each row belongs to, -1 where none is kept from any network.
    twins : Twins or None
        Rows of equal inputs; None where all are different, or were not compared.
    n_different : int
        How many different rows there are, as far as that was counted.
    apart : bool
        Whether rows of a fold resemble each other for more than their inputs: then it is no use
        to leave out one of them, and all are.
    """

    fold: Column
    twins: Twins | None
    n_different: int
    apart: bool = False


def parts_of(problem: Problem, seed: int) -> Parts:
    """Return how the rows of a problem with scaled inputs are parted."""
    twins, n_different = twins_of(problem)
    if problem.fold is not None:
        return Parts(problem.fold, twins, n_different, apart=True)
    return Parts(fold_of_rows(problem, seed, n_different), twins, n_different)


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
        Different inputs among the rows that have weight, or among `COMPARED_ROWS` of them. A
        weight of two or a row repeated makes no difference here.
    """
    few = problem
    if not isinstance(problem.rows, LocalRows) or problem.rows.n_rows > COMPARED_ROWS:
        few = some_rows(problem, min(problem.rows.n_rows, COMPARED_ROWS))
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


def mean_left_out(
    rows: Rows, fold: Column, left_out: Sequence[Column], hidden_from: Sequence[int]
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

    return rows.map(mean, fold, *left_out, width=2 * len(left_out))
