"""The judging: which rows are believed, round after round.

    believe -> learn -> out-of-fold residuals -> scale -> standardise -> weigh -> believe ...

In the field's words: iteratively reweighted least squares on out-of-fold (cross-fitted) residuals
with an annealed scale (graduated non-convexity). `Plan` is one round, a schedule is a tuple of
them, and `judge` runs a schedule with any learner: a committee of networks, one network, other
people's regressors.

- The scale by which residuals are judged starts at a third of the largest and halves each round,
  so that what is true but not yet learned, a narrow peak, is kept until it is.
- Where the members of an ensemble disagree (their spread), a row gets the benefit of the doubt.
- A second look: wrong rows lie scattered, what a learner has missed does not. Members are asked to
  predict from the inputs which rows were rejected. Where they can, the scale is widened again and
  narrows once more; if nothing was missed, the rows are rejected again.

Nothing here knows what a learner is made of or where rows live, and nothing is changed in place:
a round is a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .noise import Noise, logarithm, noise_of
from .rows import Column, Rows, Totals, filled, quantile
from .scale import at_least, distances
from .weighting import Weighting, at_most_one, mean_one

Model = TypeVar("Model")

GROSS = 10.0
"""Multiples of the 95 % quantile of |y - median| beyond which a target is gross."""

BATCH = 4
"""Members grown together, one for each fold of the rows."""

FIRST_TRUSTED_ROUND = 3
"""Members grown earlier saw the wrong rows with nearly full weight and are replaced."""

WIDEST = 1.0 / 3.0
"""First scale, as a share of the largest residual: three deviations reach it."""

HALVED = 0.5
"""Share of the scale's floor that is left after each round."""

GRAIN = 2.0**-10
"""Inlier weights are told apart by a thousandth: nothing hangs on less."""

LOOKS_AGAIN = 7
"""Rounds of the second look."""

SETTLED = 2
"""Its rounds after which rows are weighed by how probable it is that they are right."""

NOISE_ASKED = (0, 3, LOOKS_AGAIN - 1)
"""Its rounds in which members are asked how noise depends on the inputs: any may be the one that
is kept, and what is asked again is asked of better networks."""

VOTE = 100.0
"""One over the inlier weight from which on a row counts fully when noise is measured."""

NARROWING = 0.4
"""Share of the widened doubt that is left after each of its rounds."""


@dataclass(frozen=True)
class Plan:
    """What happens in one round.

    Parameters
    ----------
    weighting : Weighting
        Turns standardised residuals into inlier weights.
    grow : int
        Members to grow; those there are already are refitted under the round's weights.
    restart : bool
        Whether earlier members are dismissed first.
    floor : float
        What one standard deviation is at least taken to be, as a share of the largest residual
        of the first round.
    widened : float or None
        A number begins or goes on with the second look: the share of the residuals' size that
        counts as doubt where rejection is predictable. None: no second look.
    local : bool
        Whether to ask anew how noise depends on the inputs; the scale follows what was found
        last.
    grain : float
        Inlier weights are rounded to multiples of this before the learner is taught with them.
        What a weight of two and a row twice differ in, or the kernels of two processors, is
        rounding; round after round it would grow, where rows are few to what can be seen.
    """

    weighting: Weighting
    grow: int = 0
    restart: bool = False
    floor: float = 0.0
    widened: float | None = None
    local: bool = False
    grain: float = 0.0


def schedule(
    n_members: int,
    n_rounds: int,
    weighting: Weighting,
    final: Weighting,
    *,
    second_look: bool = True,
) -> tuple[Plan, ...]:
    """Return the flagship's rounds.

    Parameters
    ----------
    n_members : int
        Members of the ensemble.
    n_rounds : int
        Rounds before the second look.
    weighting, final : Weighting
        How rows are weighed, and how when the second look has settled.
    second_look : bool
        Whether there is one; it needs more than `FIRST_TRUSTED_ROUND` rounds before.

    Returns
    -------
    tuple of Plan
        Round 0 grows one batch on rows that are all believed. Batches spread evenly from
        `FIRST_TRUSTED_ROUND` to the last but one make up the ensemble or, where a second look
        follows, one batch before it and the ensemble in it.

    Examples
    --------
    >>> from robustscn.core.weighting import GemanMcClure
    >>> [plan.grow for plan in schedule(12, 10, GemanMcClure(), GemanMcClure())]
    [4, 0, 0, 4, 0, 0, 0, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0]
    """
    floors = [WIDEST * HALVED**k for k in range(n_rounds)]
    first = [Plan(weighting, floor=floor, grain=GRAIN) for floor in floors]
    if n_rounds <= FIRST_TRUSTED_ROUND:
        first[0] = replace(first[0], grow=n_members)
        return tuple(first)
    batch = min(BATCH, n_members)
    first[0] = replace(first[0], grow=batch)
    trusted = FIRST_TRUSTED_ROUND
    first[trusted] = replace(first[trusted], restart=True)
    if not second_look:
        for number in (-2, -1):
            first[number] = replace(first[number], local=True)
        return _with_ensemble(first, n_members, trusted, max(trusted, n_rounds - 2))
    first[trusted] = replace(first[trusted], grow=batch)
    weightings = [weighting] * SETTLED + [final] * (LOOKS_AGAIN - SETTLED)
    again = [
        Plan(
            each,
            floor=floors[-1],
            widened=NARROWING ** (k + 1),
            local=k in NOISE_ASKED,
            grain=GRAIN,
        )
        for k, each in enumerate(weightings)
    ]
    again[0] = replace(again[0], restart=True)
    last = n_rounds + LOOKS_AGAIN - 3
    return _with_ensemble(first + again, n_members, n_rounds, last)


def _with_ensemble(
    plans: Sequence[Plan], n_members: int, first: int, last: int
) -> tuple[Plan, ...]:
    """Return the plans with the members' batches spread evenly over a range of rounds."""
    made, left = list(plans), n_members
    for place in np.linspace(first, last, -(-n_members // BATCH)):
        plan = made[round(place)]
        made[round(place)] = replace(plan, grow=plan.grow + min(BATCH, left))
        left -= BATCH
    return tuple(made)


@dataclass(frozen=True)
class Opinion(Generic[Model]):
    """What a learner says of the rows under given weights.

    Parameters
    ----------
    model : object
        What predicts.
    residuals : column of shape (n_rows, n_outputs)
        Targets minus what is expected for them, by members that have not seen them if it can be.
    doubt : column of shape (n_rows, n_outputs) or None
        How far the learner may be from the truth at each row.
    members : tuple
        What the next round goes on from.
    """

    model: Model
    residuals: Column
    doubt: Column | None = None
    members: tuple[Any, ...] = ()


class Learner(Protocol[Model]):
    """Anything that can be taught with weights and asked about rows."""

    def opinion(
        self, before: Opinion[Model] | None, plan: Plan, number: int, weight: Column
    ) -> Opinion[Model]:
        """Return what it says when taught with these weights, going on from what was before."""
        ...

    def foreseen(self, target: Column, number: int) -> Column:
        """Return what members foresee of another column for rows that they have not seen."""
        ...

    def scatter(
        self, sizes: Column, weight: Column, said: Opinion[Model], number: int
    ) -> tuple[Column, Any]:
        """Return what is foreseen of the sizes of residuals that were not seen.

        Beside it, what makes such forecasts for other inputs.
        """
        ...


@dataclass(frozen=True)
class Taught(Generic[Model]):
    """A learner that is a function: the plainest kind, taught anew with each set of weights.

    Parameters
    ----------
    teach : callable
        From the round's number and weights to a model and its residuals.
    """

    teach: Callable[[int, Column], tuple[Model, Column]]

    def opinion(
        self,
        before: Opinion[Model] | None,  # noqa: ARG002
        plan: Plan,  # noqa: ARG002
        number: int,
        weight: Column,
    ) -> Opinion[Model]:
        """Return the model and its residuals."""
        return Opinion(*self.teach(number, weight))

    def foreseen(self, target: Column, number: int) -> Column:
        """Raise: what has seen every row foresees nothing."""
        raise NotImplementedError("a second look needs members that have not seen the rows")

    def scatter(
        self, sizes: Column, weight: Column, said: Opinion[Model], number: int
    ) -> tuple[Column, Any]:
        """Raise: what has seen every row foresees nothing."""
        raise NotImplementedError("local noise needs members that have not seen the rows")


@dataclass(frozen=True)
class Verdict:
    """How residuals are judged.

    Parameters
    ----------
    scale : array of shape (n_outputs,)
        One robust standard deviation, of rows without doubt: what everything is measured by.
    standardised : column of shape (n_rows, n_outputs)
        Residuals over a multiple of the root of scale^2 + doubt^2: the one that makes their own
        robust standard deviation one, or less where the scale is held up.
    inlier_weight : column of shape (n_rows,)
        How far rows are believed.
    left : array of shape (n_outputs,)
        That multiple: residuals were divided by the root of scale^2 + (left doubt)^2.
    """

    scale: HostArray
    standardised: Column
    inlier_weight: Column
    left: HostArray


@dataclass(frozen=True)
class Round(Generic[Model]):
    """One round of reweighting.

    Parameters
    ----------
    plan : Plan
        What was to happen.
    opinion : Opinion
        What the learner said; residuals that count as none are zero.
    verdict : Verdict
        How rows are judged by that, and the inlier weights that follow.
    doubt : column of shape (n_rows, n_outputs) or None
        The learner's doubt or, where it is larger, what the second look allows.
    weight_used : column of shape (n_rows,)
        Inlier weights that the learner was taught with.
    widest : array of shape (n_outputs,)
        What floors are shares of.
    noise : Noise or None
        How the scale depends on the inputs; None where one serves all rows.
    """

    plan: Plan
    opinion: Opinion[Model]
    verdict: Verdict
    doubt: Column | None
    weight_used: Column
    widest: HostArray
    noise: Noise | None = None

    @property
    def model(self) -> Model:
        """What predicts."""
        return self.opinion.model

    @property
    def evidence(self) -> Column:
        """Residuals by which rows are judged."""
        return self.opinion.residuals

    @property
    def inlier_weight(self) -> Column:
        """Inlier weights that its residuals suggest."""
        return self.verdict.inlier_weight


def judge(
    rows: Rows,
    sample_weight: Column,
    learner: Learner[Model],
    plans: Sequence[Plan],
    *,
    start: Column | None = None,
    negligible: float = 0.0,
    widest: HostArray | None = None,
    noise: Noise | None = None,
) -> Iterator[Round[Model]]:
    """Yield the rounds of: teach with the present weights, judge rows by what was learned.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        The caller's weights.
    learner : Learner
        What is taught.
    plans : sequence of Plan
        The rounds.
    start : column of shape (n_rows,) or None
        Inlier weights of the first round; None believes every row.
    negligible : float
        Residuals up to this size count as none: where every row is met, what is left is
        rounding, and no row is stranger than another for it.
    widest : array of shape (n_outputs,) or None
        What floors are shares of; None takes the largest residuals of the first round among
        the rows that it believes.
    noise : Noise or None
        How the scale depends on the inputs, where that is known to begin with.

    Yields
    ------
    Round
        After each.
    """
    believed = believable = filled(rows, 1.0, sample_weight) if start is None else start
    last: Round[Model] | None = None
    look: SecondLook | None = None
    for number, plan in enumerate(plans):
        if plan.widened is not None and look is None and last is not None:
            look = second_look(rows, sample_weight, learner, number, last, believable)
            doubt = look.widened(rows, last.opinion.doubt, 1.0)
            floor = last.widest * plan.floor
            relative = None if noise is None else noise.relative
            believed = verdict(
                rows, sample_weight, last.evidence, doubt, plan.weighting, floor, relative
            ).inlier_weight
        if plan.grain > 0:
            believed = rows.map(lambda b, g=plan.grain: namespace(b).round(b / g) * g, believed)
        weight = rows.map(_product, sample_weight, believed)
        before = None if last is None else last.opinion
        opinion = learner.opinion(before, plan, number, weight)
        evidence = rows.map(lambda e: _without(e, negligible), opinion.residuals)
        opinion = replace(opinion, residuals=evidence)
        if widest is None:
            widest = np.zeros(evidence.shape[1])
            if any(each.floor for each in plans):
                widest = _largest(rows, evidence, weight)
        doubt = opinion.doubt
        if look is not None and plan.widened is not None:
            doubt = look.widened(rows, doubt, plan.widened)
        if plan.local:
            votes = rows.map(_votes, sample_weight, believed)
            noise = _noise(rows, votes, learner, opinion, plan.weighting, number)
        floor, relative = widest * plan.floor, None if noise is None else noise.relative
        judged = verdict(rows, sample_weight, evidence, doubt, plan.weighting, floor, relative)
        last = Round(plan, opinion, judged, doubt, believed, widest, noise)
        yield last
        believed = judged.inlier_weight


def informed(
    rows: Rows, sample_weight: Column, learner: Learner[Model], kept: Round[Model], number: int
) -> Round[Model]:
    """Return a round that knows how noise depends on the inputs.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        The caller's weights.
    learner : Learner
        Who is asked.
    kept : Round
        The round.
    number : int
        A round that was not.

    Returns
    -------
    Round
        As it was, if its plan or an earlier one has asked already.
    """
    if kept.noise is not None:
        return kept
    votes = rows.map(_votes, sample_weight, kept.weight_used)
    noise = _noise(rows, votes, learner, kept.opinion, kept.plan.weighting, number)
    return replace(kept, noise=noise)


def verdict(
    rows: Rows,
    sample_weight: Column,
    residuals: Column,
    doubt: Column | None,
    weighting: Weighting,
    floor: HostArray | None = None,
    relative: Column | None = None,
) -> Verdict:
    """Return how residuals are judged: one scale, standardised residuals, inlier weights.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        How often each row counts.
    residuals : column of shape (n_rows, n_outputs)
        Residuals.
    doubt : column of shape (n_rows, n_outputs) or None
        How far the model may be from the truth there.
    weighting : Weighting
        Says what one standard deviation is, and what standardised residuals weigh.
    floor : array of shape (n_outputs,) or None
        What one standard deviation is at least taken to be.
    relative : column of shape (n_rows, n_outputs) or None
        Local scales as multiples of the overall one.

    Returns
    -------
    Verdict
        Its weights have the weighted mean one.
    """
    even = residuals if relative is None else rows.map(_quotient, residuals, relative)
    scale = at_least(weighting.scale(rows, even, sample_weight), floor)
    if relative is None:
        standard = standardised(rows, residuals, doubt, scale)
    else:
        local = rows.map(lambda r: _local(r, scale, floor), relative)
        standard = rows.map(_quotient, residuals, local)
        doubt = None if doubt is None else rows.map(_quotient, doubt, local)
        standard = standardised(rows, standard, doubt, np.ones(len(scale)))
    left = np.ones(len(scale))
    if doubt is not None:
        # Doubt explains a part of what was taken for noise: what is left of that is the scale.
        left = weighting.scale(rows, standard, sample_weight)
        left = at_least(left, None if floor is None else floor / scale)
        standard, scale = rows.map(lambda z: z / like(left, z), standard), scale * left
    weight = weighting.inlier_weight(rows, standard, sample_weight)
    if weighting.normalised:
        weight = mean_one(rows, weight, sample_weight)
    return Verdict(scale, standard, weight, left)


def standardised(rows: Rows, residuals: Column, doubt: Column | None, scale: HostArray) -> Column:
    """Return residuals over the root of scale^2 + doubt^2.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    residuals : column of shape (n_rows, n_outputs)
        Residuals.
    doubt : column of shape (n_rows, n_outputs) or None
        How far the model may be from the truth there.
    scale : array of shape (n_outputs,)
        One standard deviation.

    Returns
    -------
    column of shape (n_rows, n_outputs)
        Not beyond 1e18, the square of which float32 can hold.
    """

    def plain(e: Array) -> Array:
        return namespace(e).clip(e / like(scale, e), -1e18, 1e18)

    def doubted(e: Array, d: Array) -> Array:
        xp = namespace(e)
        # Where nearly all rows are met exactly, the quotient or its square would overflow.
        share = xp.minimum(d, like(1e9 * scale, d)) / like(scale, d)
        return plain(e / xp.sqrt(1.0 + share * share))

    return rows.map(plain, residuals) if doubt is None else rows.map(doubted, residuals, doubt)


@dataclass(frozen=True)
class SecondLook:
    """Where rejection can be predicted, and how large residuals are there.

    Parameters
    ----------
    suspicion : column of shape (n_rows,)
        Between 0, where rows are rejected no more often than elsewhere, and 1, where all are.
    size : array of shape (n_outputs,)
        Root mean square of the residuals, rows counted by their suspicion and gross targets
        not at all.
    """

    suspicion: Column
    size: HostArray

    def widened(self, rows: Rows, doubt: Column | None, share: float) -> Column:
        """Return the doubt or, where it is larger, a share of the size of suspected residuals.

        Parameters
        ----------
        rows : Rows
            Where the rows live.
        doubt : column of shape (n_rows, n_outputs) or None
            The learner's own.
        share : float
            Between 1, when the second look begins, and 0.

        Returns
        -------
        column of shape (n_rows, n_outputs)
            How far the learner may be from the truth at each row.
        """
        size = share * self.size

        def allowed(s: Array) -> Array:
            return s[:, None] * like(size, s)[None, :]

        if doubt is None:
            return rows.map(allowed, self.suspicion)
        return rows.map(lambda d, s: namespace(d).maximum(d, allowed(s)), doubt, self.suspicion)


def second_look(
    rows: Rows,
    sample_weight: Column,
    learner: Learner[Any],
    number: int,
    last: Round[Any],
    believable: Column,
) -> SecondLook:
    """Return where a learner rejects rows that lie together.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        The caller's weights.
    learner : Learner
        Predicts rejection, one minus the inlier weight, for rows that its members have not seen.
    number : int
        The round that comes next.
    last : Round
        The last round of the first look.
    believable : column of shape (n_rows,)
        Zero where targets are gross: one of a million, suspected ever so little, would widen
        the scale to nonsense.

    Returns
    -------
    SecondLook
        Where rows are suspected, and how much.
    """
    believed = at_most_one(rows, last.inlier_weight, sample_weight)
    rejected = rows.map(lambda theta: 1.0 - theta[:, None], believed)

    def sums(t: Array, w: Array) -> Totals:
        return w[None, :] @ t, namespace(w).sum(w)

    mass, count = rows.reduce(sums, rejected, sample_weight)
    share = float(mass[0, 0] / count)
    target = rows.map(lambda t: t - share, rejected)
    foreseen = learner.foreseen(target, number)

    def suspicion(t: Array) -> Array:
        # Where every row is rejected nothing is left to compare with.
        return namespace(t).clip(t[:, 0] / max(1.0 - share, 1e-9), 0.0, 1.0)

    suspected = rows.map(suspicion, foreseen)

    def squares(e: Array, s: Array, w: Array, b: Array) -> Totals:
        counted = s * w * b
        e = e * b[:, None]
        return counted[None, :] @ (e * e), namespace(w).sum(counted)

    square, count = rows.reduce(squares, last.evidence, suspected, sample_weight, believable)
    return SecondLook(suspected, np.sqrt(square[0] / max(float(count), 1e-300)))


def not_gross(rows: Rows, y: Column, sample_weight: Column) -> Column:
    """Return first weights: one, but nothing for targets far outside of all the others.

    The first model is fitted before any residual exists; a single target of a million would bend
    it beyond repair. Rows set aside here are judged again after the first round.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    y : column of shape (n_rows, n_outputs)
        Targets, less their medians.
    sample_weight : column of shape (n_rows,)
        How often each row counts.

    Returns
    -------
    column of shape (n_rows,)
        Zeros and ones.
    """
    scales = []
    for q in range(y.shape[1]):
        size = rows.map(lambda t, q=q: namespace(t).abs(t[:, q]), y)
        scales.append(quantile(rows, size, sample_weight, 0.95) or 1.0)
    far = distances(rows, rows.map(lambda t: t / like(np.array(scales), t), y))
    return rows.map(lambda d: namespace(d).astype(d <= GROSS, d.dtype), far)


def centred(rows: Rows, residuals: Column, sample_weight: Column) -> Column:
    """Return residuals less the median of each output.

    Wrong rows that all lie on one side pull every prediction to it. The pull is common to all
    rows; taken off, rows are judged by how they differ from the others.
    """
    middles = np.array(
        [
            quantile(rows, rows.map(lambda e, q=q: e[:, q], residuals), sample_weight, 0.5)
            for q in range(residuals.shape[1])
        ]
    )
    return rows.map(lambda e: e - like(middles, e), residuals)


def mean_size(rows: Rows, residuals: Column, sample_weight: Column) -> float:
    """Return the mean absolute residual over rows and outputs, by which rounds are compared.

    It counts every row, rejected or not: nothing is gained by rejecting good ones. A wrong row
    adds nearly the same in each round; its square would not.
    """

    def sums(e: Array, w: Array) -> Totals:
        xp = namespace(e)
        # In float32 one target of 1e9 would drown all that the rounds differ in.
        return xp.sum(w[:, None] * xp.astype(xp.abs(e), xp.float64)), xp.sum(w)

    total, count = rows.reduce(sums, residuals, sample_weight)
    return float(total / count) / residuals.shape[1]


def _noise(
    rows: Rows,
    weight: Column,
    learner: Learner[Any],
    opinion: Opinion[Any],
    weighting: Weighting,
    number: int,
) -> Noise:
    """Return how the size of the residuals of believed rows depends on the inputs."""
    scale = weighting.scale(rows, opinion.residuals, weight)
    sizes = rows.map(lambda e: logarithm(e, scale), opinion.residuals)
    return noise_of(rows, weight, sizes, learner.scatter(sizes, weight, opinion, number))


def _votes(sample_weight: Array, believed: Array) -> Array:
    """Return how far rows count when it is asked how large residuals are.

    Believed by halves they would count by halves, most of all where noise is large, and it would
    look smaller than it is: a row that is not rejected has its vote.
    """
    return sample_weight * namespace(believed).clip(VOTE * believed, 0.0, 1.0)


def _local(relative: Array, own: HostArray, floor: HostArray | None) -> Array:
    scale = relative * like(own, relative)
    return scale if floor is None else namespace(scale).maximum(scale, like(floor, scale)[None, :])


def _quotient(left: Array, right: Array) -> Array:
    return left / right


def _largest(rows: Rows, residuals: Column, weight: Column) -> HostArray:
    """Return the largest residual of each output among rows that have weight."""

    def largest(e: Array, w: Array) -> Totals:
        xp = namespace(e)
        counted = xp.where((w > 0)[:, None], xp.abs(e), xp.zeros_like(e))
        return (xp.max(counted, axis=0),)

    (size,) = rows.reduce(
        largest, residuals, weight, combine=lambda a, b: (np.maximum(a[0], b[0]),)
    )
    return size


def _without(residuals: Array, negligible: float) -> Array:
    xp = namespace(residuals)
    return xp.where(xp.abs(residuals) > negligible, residuals, xp.zeros_like(residuals))


def _product(left: Array, right: Array) -> Array:
    return left * right
