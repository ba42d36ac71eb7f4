"""The estimator for users who have dirty data and nothing else.

Rounds of weighted growth, as in RSC-KDE, with changes that make a clean validation set
unnecessary: rows are judged by a committee of networks that have not seen them; the scale by
which residuals are judged starts at the largest of them and halves each round, so that what is
true but not yet learned, a narrow peak, is kept until it is; rows that were rejected together are
looked at again; networks of several rounds are solved again under each round's weights, and their
median predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from array_api_compat import is_numpy_array
from joblib import effective_n_jobs

from ..core.arrays import Array, like, middle, namespace
from ..core.committee import Committee
from ..core.doubt import disagreement_of
from ..core.folds import FEW_ROWS, parts_of
from ..core.inputs import Scaling, scaled, scaling_of
from ..core.judging import Plan, Round, Start, informed, judge, schedule
from ..core.member import growth_path
from ..core.nodes import Network
from ..core.noise import relative_scale
from ..core.problem import Problem, some_rows
from ..core.proposals import Draw, flat
from ..core.recipe import Stop, learned_search
from ..core.rows import Column, LocalRows
from ..core.scale import mean_size
from ..core.verdict import not_gross, verdict
from ..core.weighting import Weighting, named
from ._base import (
    NetworkRegressor,
    Training,
    Validation,
    one_blas_thread,
    rows_of,
    told,
)
from ._certainty import CertainMixin
from ._missing import MissingMixin
from ._stream import StreamMixin
from ._watch import Watch, with_callbacks

LOOKED_ROWS = 2**12
"""Rows that networks grow on and that are looked at round after round; where there are more, all
are solved for and judged at the end. On 20,000 rows twice as many gained nothing."""


CLOSED = 1.4
"""What solving for and judging as many rows in the end takes, in rounds that only refit: measured
on 20,000 and 100,000 rows; for progress."""

ROWS_FOR_AN_INPUT = 10
"""Where there are fewer different rows for each input, ranks counted, inputs are screened: a slope
in all of them would be chance. Ten observations for each coefficient are the usual rule of thumb;
where there are more, screening gained nothing (concrete erred 4 % more)."""

ROWS_FOR_A_LINE = 5
"""Different rows for each input from which networks begin with what is linear in all of them. Five
observations for a coefficient: of 300 rows and 40 inputs, wrong ones among them, the line is still
met better than by any nodes that are drawn."""

SEVERAL_INPUTS = 5
"""Inputs below which none is screened: they are measured by their median, which says nothing of a
few. By argument."""


class RobustSCNRegressor(MissingMixin, StreamMixin, CertainMixin, NetworkRegressor):
    """Robust regression from dirty data alone: no clean rows, no tuning, raw units.

    Several stochastic configuration networks share one set of row weights. A row is judged by
    what networks predict for it that have not seen its target; the same left-out residuals
    choose the ridge of each network and the round that is kept.

    *When to use it*: numbers in, numbers out, some targets wrong, and nobody knows which. Not for
    wrong inputs, nor where wrong rows agree with each other and are the majority somewhere. Steps
    and many categories are met better by `RobustRegressor` around trees.

    *Missing inputs* are NaN. Each is replaced by the weighted median of its input's known values,
    and an input that has gaps in training gets a column beside it that says where they were: that
    a value is missing may say something of the target. An input that first has gaps at prediction
    gets the median alone; one of which no value was known in training is left out of account.

    Parameters
    ----------
    n_networks : int, default=12
        Networks of which the median predicts.
    max_nodes : int, default=200
        Hidden nodes of each at most; fewer where rows kept from it are met no better by more,
        and no more than half the number of different rows, or 20 where these are few.
    n_rounds : int, default=10
        Rounds of reweighting, before the second look; one round believes every row.
    second_look : bool, default=True
        Whether rows that were rejected together are looked at again, in seven more rounds:
        wrong rows lie scattered, what the networks have missed does not. Takes half as long
        again, and needs more than three rounds before.
    weighting : str or Weighting, default="geman-mcclure"
        How residuals become weights: "geman-mcclure", "mixture", "kde", "kde-textbook", "huber",
        "tukey", "cauchy", "welsch", "laplace", "student-t", or an object of your own.
    n_candidates : int, default=27
        Candidates drawn for each scope and step.
    scopes : sequence of float, default=(1, 3, 10, 30, 100, 300)
        How steep nodes may be, for inputs scaled to [0, 1]; a node's scope is shared out among
        the inputs that it looks at, of which there may be one or all.
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
    fdr : float, default=0.1
        False discovery rate: share of right rows allowed among those in `outliers_`.
    n_jobs : int or None, default=-1
        Networks fitted at the same time; -1 uses all cores.
    half_life : float or None, default=None
        Rows after which a row that `partial_fit` learned counts half; None never forgets, but a
        change of the world is still taken in.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    inlier_weight_ : array of shape (n_samples,)
        How far each row is believed, between 0 and 1.
    outliers_ : bool array of shape (n_samples,)
        The rows that are flagged: the most probably wrong ones, as many as `fdr` allows. Of
        these about the share `fdr` may be right.
    outlier_probability_ : array of shape (n_samples,)
        How probable it is that each row is wrong, given its left-out residual, measured by a
        robust standard deviation that follows the noise from place to place and by doubt: half
        of what the networks disagree about the row, or what the second look still allows it.
    estimated_outlier_share_ : float
        Share of all rows that is wrong, flagged or not.
    n_nodes_ : int
        Hidden nodes of all networks together.
    n_rounds_ : int
        The round that was kept.
    expected_ : array of shape (n_samples,) or (n_samples, n_outputs)
        What networks predict for each row that have not seen its target, shifted alike for all
        rows so that as many targets lie above as below.
    residuals_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Targets minus `expected_`: what rows are judged by.
    residual_scale_ : array of shape (n_outputs,)
        One robust standard deviation of the residuals.
    error_path_ : array
        Mean absolute left-out residual of all rows in each round, those of the second look last.
    growth_path_ : dict of arrays
        `nodes` and the mean of the networks' weighted root mean squared errors at that size:
        `training_error` on the rows each was grown on, `left_out_error` on those kept from it.
    stop_reason_ : str
        Which round was kept and why.
    drift_ : list of Drift
        Changes that `partial_fit` took in: `row`, `began`, `size`, `deviations`.
    suspects_ : list of Suspect
        Rows that `partial_fit` found strange: `row`, `observed`, `expected`, `deviations`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    See Also
    --------
    RobustRegressor : The same judging around any regressor.
    RSCKDERegressor : The published method, which needs clean rows to know when to stop.

    Notes
    -----
    Candidates are admitted by the supervisory inequality of RSC-KDE, its equations (4) and (8),
    and output weights solve its weighted least squares (12), with a ridge. What differs is how
    rows are judged: by left-out residuals instead of those that the network was fitted to, with
    Geman and McClure's weights instead of a density.

    With n rows, d inputs, L nodes and C candidates for each, a network costs
    O(min(n, 4096) L (C d + L)) and all of them a few readings of all rows at the end; memory is
    O(n) for each network.

    References
    ----------
    D. Wang, M. Li, "Robust stochastic configuration networks with kernel density estimation for
    uncertain data regression", Information Sciences 412-413 (2017).

    S. Geman, D. E. McClure, "Statistical methods for tomographic image reconstruction", Bulletin
    of the International Statistical Institute 52 (1987).

    B. Efron, "Microarrays, empirical Bayes and the two-groups model", Statistical Science 23
    (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import RobustSCNRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> y[::10] += 3.0
    >>> model = RobustSCNRegressor(random_state=0).fit(X, y)
    >>> bool(model.outliers_[::10].all())
    True
    """

    def __init__(
        self,
        *,
        n_networks: int = 12,
        max_nodes: int = 200,
        n_rounds: int = 10,
        second_look: bool = True,
        weighting: str | Weighting = "geman-mcclure",
        n_candidates: int = 27,
        scopes: Sequence[float] = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
        activation: str = "logistic",
        fdr: float = 0.1,
        n_jobs: int | None = -1,
        half_life: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_networks = n_networks
        self.max_nodes = max_nodes
        self.n_rounds = n_rounds
        self.second_look = second_look
        self.weighting = weighting
        self.n_candidates = n_candidates
        self.scopes = scopes
        self.activation = activation
        self.fdr = fdr
        self.n_jobs = n_jobs
        self.half_life = half_life
        self.random_state = random_state

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        trusted: Any = None,
        groups: Any = None,
    ) -> Self:
        """Learn from dirty rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, NaN where they are missing.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative; 2 is the same as the row twice.
        X_val, y_val : array-like or None
            Other rows that are right, if there are any: they then choose the round that is kept,
            which is otherwise one of those with all networks.
        trusted : array-like of bool of shape (n_samples,) or None
            Rows that are known to be right: they are believed in full and never flagged.
        groups : array-like of shape (n_samples,) or None
            What rows that belong together have in common: a day, a batch, a plant. A row is then
            judged by networks that have seen none of its group, which cannot vouch for it.

        Returns
        -------
        RobustSCNRegressor
            Itself.
        """
        training = self._training(X, y, sample_weight)
        if trusted is not None or groups is not None:
            training = told(training, trusted, groups, self._seed())
        validation = self._validation(X_val, y_val, training)
        scaling = self._units(training.problem)
        problem = scaled(training.problem, scaling)
        many = problem.rows.n_rows > LOOKED_ROWS
        looked_at = some_rows(problem, LOOKED_ROWS) if many else problem
        workers = effective_n_jobs(self.n_jobs)
        plans = self._schedule()
        closing = 0.0 if looked_at is problem else CLOSED * problem.rows.n_rows / LOOKED_ROWS
        watch = Watch(self, [plan.cost for plan in plans], X, y, closing)
        with ThreadPoolExecutor(workers) as pool, one_blas_thread():
            at_once = pool.map if workers > 1 else map
            each = map if _on_device(looked_at) else at_once
            committee = self._committee(looked_at, scaling, each, watch)
            rounds = list(self._rounds(training, scaling, committee, plans, watch))
            losses = [mean_size(looked_at.rows, r.evidence, looked_at.weight) for r in rounds]
            errors = losses
            if validation is not None:
                errors = [_validation_error(validation, scaling, each.model) for each in rounds]
            # Other rows do not favour more networks, and what was cut short is not complete.
            everything = validation is not None or watch.ended
            compared = range(len(rounds)) if everything else _complete(rounds)
            best = min(compared, key=lambda number: errors[number])
            kept = informed(looked_at.rows, looked_at.weight, committee, rounds[best], len(rounds))
            paths = [member.path for member in kept.opinion.members]
            if looked_at is not problem:
                parts = parts_of(problem, committee.recipe.draw.seed)
                at_once = map if _on_device(problem) else at_once
                everyone = committee.widened(problem, parts, kept.model, at_once)
                kept = self._judged_on_all(training, everyone, kept)
        self._keep_round(training, scaling, kept)
        self.n_rounds_ = best + 1
        self.error_path_ = np.array(losses) * training.scale
        nodes, training_error, left_out_error = growth_path(paths).T
        self.growth_path_ = {
            "nodes": nodes.astype(int),
            "training_error": training_error * training.scale,
            "left_out_error": left_out_error * training.scale,
        }
        judged_by = "validation rows" if validation is not None else "left-out residuals"
        self.stop_reason_ = f"round {best + 1} of {len(rounds)} had the lowest error on {judged_by}"
        if len(compared) < len(rounds):
            self.stop_reason_ += f" among those with all {len(rounds[best].model)} networks"
        if watch.ended:
            self.stop_reason_ += f"; {Stop.CALLER.value}"
        watch.end()
        return self

    # The parts of the method, one by one; benchmarks/ablation.py takes each of them out.

    def _units(self, problem: Problem) -> Scaling:
        """Return how inputs and targets are scaled."""
        return scaling_of(problem)

    def _first_weights(self, problem: Problem) -> Column:
        """Return how far rows are believed before there is any residual."""
        return not_gross(problem.rows, problem.y, problem.weight)

    def _schedule(self) -> tuple[Plan, ...]:
        """Return what happens in which round."""
        return schedule(
            self.n_networks, self.n_rounds, named(self.weighting), second_look=self.second_look
        )

    def _rounds(
        self,
        training: Training,
        scaling: Scaling,
        committee: Committee,
        plans: Sequence[Plan],
        watch: Watch,
    ) -> Iterator[Round[tuple[Network, ...]]]:
        """Yield the rounds, telling of each when it begins and when it is over."""
        problem, recipe = committee.problem, committee.recipe
        rounds = judge(
            problem.rows,
            problem.weight,
            committee,
            plans,
            Start(self._first_weights(problem), trusted=problem.trusted),
            negligible=training.negligible(1e-6),
        )
        for plan in plans:
            watch.begin_round(plan.grow * recipe.n_steps, recipe.block)
            round_ = next(rounds)
            yield round_
            if watch.end_round(partial(self._fitted, training, scaling, round_.model)):
                return

    def _judged_on_all(
        self,
        training: Training,
        everyone: Committee,
        kept: Round[tuple[Network, ...]],
    ) -> Round[tuple[Network, ...]]:
        """Return the kept round with its networks solved on all rows and all rows judged."""
        rows, weight = everyone.problem.rows, everyone.problem.weight
        weighting = kept.plan.weighting
        said = everyone.opinion_of(kept.model)
        floor, noise = kept.widest * kept.plan.floor, kept.noise
        if noise is not None and np.any(noise.slope > 0):
            forecast = everyone.forecast(noise.model)
            noise = replace(noise, relative=rows.map(noise.at, forecast))
        else:
            noise = None
        relative = None if noise is None else noise.relative
        first = verdict(rows, weight, said.residuals, said.doubt, weighting, floor, relative)
        (final,) = judge(
            rows,
            weight,
            everyone,
            [Plan(weighting, floor=kept.plan.floor, grain=kept.plan.grain)],
            Start(first.inlier_weight, kept.widest, noise, everyone.problem.trusted),
            negligible=training.negligible(1e-6),
        )
        return final

    def _committee(
        self, problem: Problem, scaling: Scaling, each: Callable[..., Any], watch: Watch
    ) -> Committee:
        n_features, seed = problem.X.shape[1], self._seed()
        parts = parts_of(problem, seed)
        n_different = parts.n_different
        draw = Draw(
            seed,
            n_features,
            tuple(float(scope) for scope in self.scopes),
            self.n_candidates,
            centres=np.stack([np.zeros(n_features), np.ones(n_features)]),
            activation=self.activation,
            sparse=True,
            # A steep box around one of a handful of rows shields it from all judging.
            boxes=self.activation == "logistic" and n_different >= FEW_ROWS,
        )
        max_nodes = min(self.max_nodes, max(FEW_ROWS // 2, n_different // 2))
        screened = n_features >= SEVERAL_INPUTS and n_different < ROWS_FOR_AN_INPUT * n_features
        recipe = learned_search(draw, max_nodes, ridge=1e-6, screened=screened)
        n_inputs, opening = len(scaling.low), None
        if 1 < n_inputs < min(max_nodes // 2, n_different // ROWS_FOR_A_LINE):
            opening = flat(n_inputs, n_features, self.activation)
        return Committee(problem, recipe, parts, each, watch.step, opening=opening)

    def _keep_round(
        self, training: Training, scaling: Scaling, kept: Round[tuple[Network, ...]]
    ) -> None:
        for name, value in self._fitted(training, scaling, kept.model).items():
            setattr(self, name, value)
        self.n_nodes_ = sum(len(network.layers[0]) for network in self._networks)
        self._keep_weights(training, kept)

    @staticmethod
    def _fitted(
        training: Training, scaling: Scaling, networks: tuple[Network, ...]
    ) -> dict[str, Any]:
        """Return the attributes by which these networks predict."""
        return {
            "_networks": networks,
            "_missing": training.missing,
            "_scaling": scaling,
            "_scale": training.scale,
            "_flat": training.flat,
        }

    def _output(self, X: Array) -> Array:
        return ensemble_output(self._networks, self._scaling, X)

    def _width(self) -> int:
        return max(n.output_weights.shape[0] for n in self._networks)

    def _spread(self, X: Any) -> tuple[Array, Array, Array]:
        X = self._known(self._inputs(X))
        rows = rows_of(X)

        def spread(x: Array) -> tuple[Array, Array, Array]:
            x = self._scaling.inputs(x)
            xp = namespace(x)
            outputs = xp.stack([each.output(x) for each in self._networks])
            found = middle(outputs) + like(self._scaling.centre, x)
            doubt = disagreement_of(outputs)
            if self._noise is None:
                return found, doubt, xp.ones_like(found)
            networks, slope, centre = self._noise
            forecast = xp.mean(xp.stack([each.output(x) for each in networks]), axis=0)
            return found, doubt, relative_scale(forecast, slope, centre)

        with one_blas_thread():
            return rows.map(spread, X, width=2 * self._width() * len(self._networks))


def _on_device(problem: Problem) -> bool:
    """Return whether rows are on a device, which does one thing at a time."""
    return isinstance(problem.rows, LocalRows) and not is_numpy_array(problem.X)


def _complete(rounds: Sequence[Round[tuple[Network, ...]]]) -> list[int]:
    """Return the numbers of the rounds with the most networks.

    More networks have the smaller left-out residuals, whatever the weights are worth.
    """
    sizes = [len(round_.model) for round_ in rounds]
    return [number for number, size in enumerate(sizes) if size == max(sizes)]


def _validation_error(
    validation: Validation, scaling: Scaling, networks: tuple[Network, ...]
) -> float:
    error = validation.y - ensemble_output(networks, scaling, validation.X)
    return float(namespace(error).mean(error * error))


def ensemble_output(networks: tuple[Network, ...], scaling: Scaling, X: Array) -> Array:
    """Return the median of the networks' outputs for raw inputs: none of them can run wild."""
    X = scaling.inputs(X)
    outputs = namespace(X).stack([each.output(X) for each in networks])
    return middle(outputs) + like(scaling.centre, X)
