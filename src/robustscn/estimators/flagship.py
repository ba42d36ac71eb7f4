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
from functools import partial
from typing import Any, Self

import numpy as np
from array_api_compat import is_numpy_array
from joblib import effective_n_jobs

from ..core.arrays import Array, like, middle, namespace
from ..core.committee import (
    FEW_ROWS,
    FIRST_TRUSTED_ROUND,
    LOOKED_ROWS,
    Committee,
    batch_sizes,
    growth_path,
    mean_sizes,
    narrowing,
    not_gross,
    some_rows,
    twins_of,
)
from ..core.growth import Problem, Recipe, Stop
from ..core.inputs import Scaling, scaled, scaling_of
from ..core.nodes import Network
from ..core.proposals import Draw, Experience
from ..core.rounds import Round, doubted, renewed_weight, reweight
from ..core.rows import Column, LocalRows
from ..core.second_look import ROUNDS, SETTLED, second_look
from ..core.weighting import Weighting, named
from ._base import NetworkRegressor, RobustMixin, Training, Validation, one_blas_thread
from ._stream import StreamMixin
from ._watch import Watch, with_callbacks


class RobustSCNRegressor(StreamMixin, RobustMixin, NetworkRegressor):
    """Robust regression from dirty data alone: no clean rows, no tuning, raw units.

    Several stochastic configuration networks share one set of row weights. A row is judged by
    what networks predict for it that have not seen its target; the same left-out residuals
    choose the ridge of each network and the round that is kept.

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
    weighting : str or Weighting, default="auto"
        How residuals become weights: "geman-mcclure", "mixture", "kde", "kde-textbook", "huber",
        "tukey", "cauchy", "welsch", "laplace", "student-t", or an object of your own. "auto" is
        "geman-mcclure" and, when the second look has settled, "mixture": how probable it is that
        a row is right, given how many are wrong.
    n_candidates : int, default=27
        Candidates drawn for each scope and step.
    scopes : sequence of float, default=(1, 3, 10, 30, 100, 300)
        How steep nodes may be, for inputs scaled to [0, 1]; a node's scope is shared out among
        the inputs that it looks at, of which there may be one or all.
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
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
        Rows whose left-out residual is beyond three times robust standard deviation and doubt
        together (root of the sum of squares). The standard deviation is 1.4826 times the median
        absolute residual, computed again without such rows until it settles, and not below the
        scale of the kept round, under which rows were not told apart; doubt is half of what the
        networks disagree about the row, or what the second look still allows it.
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
        weighting: str | Weighting = "auto",
        n_candidates: int = 27,
        scopes: Sequence[float] = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
        activation: str = "logistic",
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
        self.n_jobs = n_jobs
        self.half_life = half_life
        self.random_state = random_state

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Learn from dirty rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative; 2 is the same as the row twice.
        X_val, y_val : array-like or None
            Trusted rows, if there are any: they then choose the round that is kept, which is
            otherwise one of those with all networks.

        Returns
        -------
        RobustSCNRegressor
            Itself.
        """
        training = self._training(X, y, sample_weight)
        validation = self._validation(X_val, y_val, training)
        scaling = scaling_of(training.problem)
        problem = scaled(training.problem, scaling)
        looked_at = problem
        if problem.rows.n_rows > LOOKED_ROWS:
            looked_at = some_rows(problem, LOOKED_ROWS)
        workers = effective_n_jobs(self.n_jobs)
        watch = Watch(self, self.n_rounds + self._n_more_rounds(), X, y)
        with ThreadPoolExecutor(workers) as pool, one_blas_thread():
            at_once = pool.map if workers > 1 else map
            committee = self._committee(looked_at, map if _on_device(looked_at) else at_once, watch)
            rounds = list(self._rounds(training, scaling, looked_at, committee, watch))
            losses = mean_sizes(looked_at, [round_.evidence for round_ in rounds])
            errors = losses
            if validation is not None:
                errors = [_validation_error(validation, scaling, each.model) for each in rounds]
            # Other rows do not favour more networks, and what was cut short is not complete.
            everything = validation is not None or watch.ended
            compared = range(len(rounds)) if everything else _complete(rounds)
            best = min(compared, key=lambda number: errors[number])
            kept = rounds[best]
            if looked_at is not problem:
                at_once = map if _on_device(problem) else at_once
                everyone = committee.widened(problem, kept.model, at_once)
                kept = self._judged_on_all(training, everyone, kept)
        self._keep_round(training, scaling, kept)
        self.n_rounds_ = best + 1
        self.error_path_ = np.array(losses) * training.scale
        nodes, training_error, left_out_error = growth_path(committee.paths_by_round[best]).T
        self.growth_path_ = {
            "nodes": nodes.astype(int),
            "training_error": training_error * training.scale,
            "left_out_error": left_out_error * training.scale,
        }
        judge = "validation rows" if validation is not None else "left-out residuals"
        self.stop_reason_ = f"round {best + 1} of {len(rounds)} had the lowest error on {judge}"
        if len(compared) < len(rounds):
            self.stop_reason_ += f" among those with all {len(rounds[best].model)} networks"
        if watch.ended:
            self.stop_reason_ += f"; {Stop.CALLER.value}"
        watch.end()
        return self

    def _judged_on_all(
        self,
        training: Training,
        everyone: Committee,
        kept: Round[tuple[Network, ...]],
    ) -> Round[tuple[Network, ...]]:
        """Return the kept round with its networks solved on all rows and all rows judged."""
        problem = everyone.problem
        weighting = named("mixture" if self.weighting == "auto" else self.weighting)
        least = kept.least_scale
        assert least is not None
        evidence = everyone.evidence_of(kept.model)
        judged = doubted(problem.rows, evidence, everyone.doubt, problem.weight, least)
        first = renewed_weight(problem.rows, judged, problem.weight, weighting, least)
        (final,) = reweight(
            problem.rows,
            problem.weight,
            everyone.build,
            weighting,
            n_rounds=1,
            start=first,
            negligible=training.negligible(1e-6),
            least_scale=lambda _number, _evidence: least,
            doubt=lambda _number: everyone.doubt,
        )
        return final

    def _rounds(
        self,
        training: Training,
        scaling: Scaling,
        problem: Problem,
        committee: Committee,
        watch: Watch,
    ) -> Iterator[Round[tuple[Network, ...]]]:
        for round_ in self._looks(training, problem, committee, watch):
            yield round_
            if watch.end_round(partial(self._fitted, training, scaling, round_.model)):
                return

    def _looks(
        self,
        training: Training,
        problem: Problem,
        committee: Committee,
        watch: Watch,
    ) -> Iterator[Round[tuple[Network, ...]]]:
        """Yield the rounds of the first look and then, from where it ended, of the second."""

        def build(number: int, weight: Column) -> tuple[tuple[Network, ...], Column]:
            watch.begin_round(committee.n_steps(number), committee.recipe.block)
            return committee.build(number, weight)

        auto = self.weighting == "auto"
        weighting = named("geman-mcclure" if auto else self.weighting)
        final = named("mixture") if auto else weighting
        again = partial(
            reweight, problem.rows, problem.weight, negligible=training.negligible(1e-6)
        )
        for last in again(
            build,
            weighting,
            n_rounds=self.n_rounds,
            start=not_gross(problem),
            least_scale=narrowing(problem),
            doubt=lambda _number: committee.doubt,
        ):
            yield last
        if self._n_more_rounds():
            look = second_look(committee, last)
            yield from again(
                lambda number, weight: build(self.n_rounds + number, weight),
                [weighting] * SETTLED + [final] * (ROUNDS - SETTLED),
                n_rounds=ROUNDS,
                start=look.first_weights(weighting),
                least_scale=look.least_scale,
                doubt=lambda number: look.doubt(number + 1),
            )

    def _n_more_rounds(self) -> int:
        """Return how many rounds the second look has."""
        return ROUNDS if self.second_look and self.n_rounds > FIRST_TRUSTED_ROUND else 0

    def _committee(self, problem: Problem, each: Callable[..., Any], watch: Watch) -> Committee:
        n_features = problem.X.shape[1]
        _, n_different = twins_of(problem)
        recipe = Recipe(
            Draw(
                self._seed(),
                n_features,
                tuple(float(scope) for scope in self.scopes),
                self.n_candidates,
                centres=np.stack([np.zeros(n_features), np.ones(n_features)]),
                activation=self.activation,
                sparse=True,
                # A steep box around one of a handful of rows shields it from all judging.
                boxes=self.activation == "logistic" and n_different >= FEW_ROWS,
            ),
            max_nodes=min(self.max_nodes, max(FEW_ROWS // 2, n_different // 2)),
            block=10,
            exact=True,
            shortlist=40,
            worth=0.1,
            pursued=True,
            ridge=1e-6,
            experience=Experience(np.zeros(n_features)),
        )
        batches = batch_sizes(self.n_networks, self.n_rounds, self._n_more_rounds())
        starts = (FIRST_TRUSTED_ROUND, self.n_rounds)
        return Committee(problem, recipe, batches, starts, each, watch.step)

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
            "_scaling": scaling,
            "_scale": training.scale,
            "_flat": training.flat,
        }

    def _output(self, X: Array) -> Array:
        return ensemble_output(self._networks, self._scaling, X)

    def _width(self) -> int:
        return max(n.output_weights.shape[0] for n in self._networks)


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
