"""The judging: which rows are believed, round after round. This page is the method.

    believe -> learn -> out-of-fold residuals -> scale -> standardise -> weigh -> believe ...

In the field's words: iteratively reweighted least squares (IRLS) with a redescending M-estimator on
out-of-fold (cross-fitted) residuals, its scale annealed (graduated non-convexity). `Plan` is one
round, a schedule is a tuple of them, and `judge` runs a schedule with any learner: a committee of
networks, one network, other people's regressors.

- The scale by which residuals are judged starts at a third of the largest and halves each round,
  so that what is true but not yet learned, a narrow peak, is kept until it is (verdict.py).
- Where the members of an ensemble disagree (their spread), a row gets the benefit of the doubt.
- A second look asks whether rejection can be predicted from the inputs; where it can, something
  true was missed, and the scale widens and narrows once more (second_look.py).

Nothing here knows what a learner is made of or where rows live (learner.py, rows.py), and nothing
is changed in place: a round is a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .learner import Learner, Model, Opinion
from .noise import Noise, logarithm, noise_of, votes
from .rows import Column, Rows, filled
from .scale import largest_residuals
from .second_look import SecondLook, second_look
from .verdict import Verdict, verdict
from .weighting import Weighting, trusting

BATCH = 4
"""Members grown together, one for each fold of the rows (folds.py): fewer would leave folds out."""

FIRST_TRUSTED_ROUND = 3
"""Members grown earlier saw the wrong rows with nearly full weight and are replaced: by then they
were judged by a twelfth of the largest residual. By argument, not tuned."""

WIDEST = 1.0 / 3.0
"""First scale, as a share of the largest residual: three deviations reach it, so that no row is
rejected before anything was learned. By argument; that the scale starts wide at all is sure (the
function's error is 6.6 times as large without), and on other sets it makes no difference."""

HALVED = 0.5
"""Share of the scale's floor that is left after each round. Slower costs rounds, faster loses
peaks; a half, the usual step of graduated non-convexity, was not tuned."""

GRAIN = 2.0**-10
"""Inlier weights are told apart by a thousandth: nothing hangs on less. A power of two, so that
rounding to it is exact."""

LOOKS_AGAIN = 7
"""Rounds of the second look: after as many the widened doubt is 0.2 % of what it was, which is
below any noise. That there is a second look pays on the function (1.8 times the error without) and
nowhere else for sure."""

NOISE_ASKED = (0, 3, LOOKS_AGAIN - 1)
"""Its rounds in which members are asked how noise depends on the inputs: any may be the one that
is kept, and what is asked again is asked of better networks."""

GROWN_COST, SIZED_COST = 2.5, 3.75
"""What growing a member takes, and growing one that may be cut back, in rounds that only refit:
measured on 700 to 100,000 rows."""

NARROWING = 0.4
"""Share of the widened doubt that is left after each of its rounds: faster than the scale, because
networks have the shape already. Not tuned beyond the function."""


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
    sized : bool
        Whether new members may be cut back to the size at which rows kept from them were met
        best. Not before wrong rows are known: beside them a narrow peak looks like noise, and
        what does not learn it rejects it. Cut in all rounds, the function errs twice as much.
    contest : bool
        Whether new members are grown in all ways that the learner has, of which it keeps one from
        then on. Not before wrong rows are known either.
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
    sized: bool = False
    contest: bool = False
    floor: float = 0.0
    widened: float | None = None
    local: bool = False
    grain: float = 0.0

    @property
    def cost(self) -> float:
        """Return how long the round takes, in rounds that only refit, as measured; for progress."""
        each = SIZED_COST if self.sized else GROWN_COST
        return 1.0 + each * self.grow * (1 + self.contest)


def schedule(
    n_members: int,
    n_rounds: int,
    weighting: Weighting,
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
    weighting : Weighting
        How rows are weighed.
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
    >>> [plan.grow for plan in schedule(12, 10, GemanMcClure())]
    [4, 0, 0, 4, 0, 0, 0, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0]
    """
    floors = [WIDEST * HALVED**k for k in range(n_rounds)]
    first = [Plan(weighting, floor=floor, grain=GRAIN) for floor in floors]
    if n_rounds <= FIRST_TRUSTED_ROUND:
        first[0] = replace(first[0], grow=n_members, contest=True)
        return tuple(first)
    batch = min(BATCH, n_members)
    first[0] = replace(first[0], grow=batch)
    trusted = FIRST_TRUSTED_ROUND
    first[trusted] = replace(first[trusted], restart=True, contest=not second_look)
    if not second_look:
        for number in (-2, -1):
            first[number] = replace(first[number], local=True)
        return _with_ensemble(first, n_members, trusted, max(trusted, n_rounds - 2))
    first[trusted] = replace(first[trusted], grow=batch)
    again = [
        Plan(
            weighting,
            restart=k == 0,
            sized=True,
            contest=k == 0,
            floor=floors[-1],
            widened=NARROWING ** (k + 1),
            local=k in NOISE_ASKED,
            grain=GRAIN,
        )
        for k in range(LOOKS_AGAIN)
    ]
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
class Start:
    """What is known before the first round.

    Parameters
    ----------
    believed : column of shape (n_rows,) or None
        Inlier weights of the first round; None believes every row.
    widest : array of shape (n_outputs,) or None
        What floors are shares of; None takes the largest residuals of the first round among
        the rows that it believes.
    noise : Noise or None
        How the scale depends on the inputs, where that is known to begin with.
    trusted : column of shape (n_rows,) or None
        One where a row is known to be right: it is believed in full in every round.
    """

    believed: Column | None = None
    widest: HostArray | None = None
    noise: Noise | None = None
    trusted: Column | None = None


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
    start: Start = Start(),
    *,
    negligible: float = 0.0,
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
    start : Start
        What is known before the first.
    negligible : float
        Residuals up to this size count as none: where every row is met, what is left is
        rounding, and no row is stranger than another for it.

    Yields
    ------
    Round
        After each.
    """
    believable = start.believed
    if believable is None:
        believable = filled(rows, 1.0, sample_weight)
    believable = trusting(rows, believable, sample_weight, start.trusted)
    believed, widest, noise = believable, start.widest, start.noise
    last: Round[Model] | None = None
    look: SecondLook | None = None
    for number, plan in enumerate(plans):
        if plan.widened is not None and look is None and last is not None:
            foresee = partial(learner.foreseen, number=number)
            look = second_look(
                rows, sample_weight, last.inlier_weight, last.evidence, believable, foresee
            )
            doubt = look.widened(rows, last.opinion.doubt, 1.0)
            judged = _judged(rows, sample_weight, plan, last.evidence, doubt, last.widest, noise)
            believed = trusting(rows, judged.inlier_weight, sample_weight, start.trusted)
        believed = rows.map(lambda b, grain=plan.grain: _rounded(b, grain), believed)
        weight = rows.map(lambda w, b: w * b, sample_weight, believed)
        before = None if last is None else last.opinion
        opinion = learner.opinion(before, plan, number, weight)
        evidence = rows.map(lambda e: _without(e, negligible), opinion.residuals)
        opinion, doubt = replace(opinion, residuals=evidence), opinion.doubt
        if widest is None:
            widest = np.zeros(evidence.shape[1])
            if any(each.floor for each in plans):
                widest = largest_residuals(rows, evidence, weight)
        if look is not None and plan.widened is not None:
            doubt = look.widened(rows, doubt, plan.widened)
        if plan.local:
            noise = _noise(rows, sample_weight, believed, learner, opinion, plan.weighting, number)
        judged = _judged(rows, sample_weight, plan, evidence, doubt, widest, noise)
        suggested = trusting(rows, judged.inlier_weight, sample_weight, start.trusted)
        judged = replace(judged, inlier_weight=suggested)
        last = Round(plan, opinion, judged, doubt, believed, widest, noise)
        yield last
        believed = suggested


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
    believed, weighting = kept.weight_used, kept.plan.weighting
    noise = _noise(rows, sample_weight, believed, learner, kept.opinion, weighting, number)
    return replace(kept, noise=noise)


def judged_again(
    rows: Rows,
    sample_weight: Column,
    learner: Learner[Model],
    kept: Round[Model],
    plan: Plan,
    trusted: Column | None,
) -> Round[Model]:
    """Return a round whose rows are judged by another plan than its own.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    sample_weight : column of shape (n_rows,)
        The caller's weights.
    learner : Learner
        Who is asked how noise depends on the inputs, where that is not known.
    kept : Round
        The round.
    plan : Plan
        Weighting and floor.
    trusted : column of shape (n_rows,) or None
        One where a row is known to be right.

    Returns
    -------
    Round
        With the same model and the same evidence.
    """
    kept = informed(rows, sample_weight, learner, kept, 0)
    evidence, doubt = kept.evidence, kept.opinion.doubt
    judged = _judged(rows, sample_weight, plan, evidence, doubt, kept.widest, kept.noise)
    suggested = trusting(rows, judged.inlier_weight, sample_weight, trusted)
    return replace(kept, plan=plan, doubt=doubt, verdict=replace(judged, inlier_weight=suggested))


def _judged(
    rows: Rows,
    sample_weight: Column,
    plan: Plan,
    evidence: Column,
    doubt: Column | None,
    widest: HostArray,
    noise: Noise | None,
) -> Verdict:
    floor, relative = widest * plan.floor, None if noise is None else noise.relative
    return verdict(rows, sample_weight, evidence, doubt, plan.weighting, floor, relative)


def _noise(
    rows: Rows,
    sample_weight: Column,
    believed: Column,
    learner: Learner[Any],
    opinion: Opinion[Any],
    weighting: Weighting,
    number: int,
) -> Noise:
    """Return how the size of the residuals of believed rows depends on the inputs."""
    weight = rows.map(votes, sample_weight, believed)
    scale = weighting.scale(rows, opinion.residuals, weight)
    sizes = rows.map(lambda e: e / like(scale, e), opinion.residuals)
    scattered = rows.map(logarithm, sizes)
    foreseen = learner.scatter(scattered, weight, opinion, number)
    return noise_of(rows, sample_weight, weight, sizes, foreseen)


def _rounded(weight: Array, grain: float) -> Array:
    return namespace(weight).round(weight / grain) * grain if grain > 0 else weight


def _without(residuals: Array, negligible: float) -> Array:
    xp = namespace(residuals)
    return xp.where(xp.abs(residuals) > negligible, residuals, xp.zeros_like(residuals))
