"""Any regressor made robust: the judge apart from the learner.

Networks judge the rows and clones of a regressor, each fitted without the rows of one fold, are
taught with the weights; or, where networks cannot read the inputs, the clones take the networks'
place in the judging. The learner is a parameter of it; everything else is the same code.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Array, HostArray
from ..core.doubt import disagreement_of
from ..core.judging import HALVED, WIDEST, Plan, Round, Start, judge, judged_again
from ..core.keeping import kept_round
from ..core.noise import relative_scale
from ..core.recipe import Stop
from ..core.scale import centred, mean_size
from ..core.verdict import not_gross
from ..core.weighting import Weighting, named
from ._around import Around
from ._base import Training, told
from ._crossfit import MANY_ROWS, CrossFitted, Fitted
from ._judges import JUDGED_AND_TAUGHT, SAID, judge_of, taught_by
from ._watch import Watch, told_of, with_callbacks
from .flagship import RobustSCNRegressor

FINAL_ROUNDS = 2
"""Last rounds, in which rows are weighed by how probable it is that they are right."""

ROUNDS, FEW_ROUNDS = 6, 3
"""Rounds, and where rows are many; the scale narrows from and to the same."""

LOCAL_ROUNDS = 3
"""Last rounds, in which the scale follows the noise."""


class RobustRegressor(Around):
    """Any regressor, made robust against wrong targets, with no clean rows and no tuning.

    Rows are judged by networks, or by clones of the regressor, that have not seen them; wrong rows
    lose their weight; the regressor is then fitted to all rows with these weights.

    *When to use it*: a regressor that suits the data is there already, such as trees for steps and
    categories or a linear model that shall stay one, and some targets are wrong.

    Parameters
    ----------
    estimator : regressor or None, default=None
        What is to be made robust; None takes scikit-learn's histogram boosting with small leaves,
        as many trees as left-out rows ask for, and predicts with the mean of the trees grown on
        all rows and of the clones. From 20,000 rows on it is HistGradientBoostingRegressor as is.
        Weights go to the `sample_weight` of its `fit`, for a pipeline to that of its last step.
        A regressor without it is fitted to rows that are drawn as often as their weights say.
    judge : str or estimator, default="auto"
        Who says which rows are wrong. "networks": `RobustSCNRegressor`, which sees more than most
        regressors, and wrong rows that they would not notice; "clones": the regressor itself, in
        rounds; "auto": networks for tables of numbers of fewer than 20,000 rows, clones for all
        others and where `n_rounds` or `weighting` is chosen; or a robust estimator of this package.
    n_folds : int or None, default=None
        Parts of the rows, each kept from one of the clones; None takes five, and two for 20,000
        rows and more.
    n_rounds : int or None, default=None
        Rounds of judging by clones; None takes six, and three for 20,000 rows and more.
    weighting : str or Weighting, default="auto"
        How residuals become weights; as in `RobustSCNRegressor`.
    fdr : float, default=0.1
        False discovery rate: share of right rows allowed among those in `outliers_`.
    n_jobs : int or None, default=None
        Clones fitted at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the parts. The regressor's own is its own affair.

    Attributes
    ----------
    estimator_ : regressor
        Fitted to all rows, as far as they are believed; a list of these, one for each output,
        where it knows only one. Of the default regressor the trees, as plain arrays that model
        files and ONNX can carry.
    inlier_weight_ : array of shape (n_samples,)
        How far each row is believed, between 0 and 1.
    outliers_ : bool array of shape (n_samples,)
        The rows that are flagged: the most probably wrong ones, as many as `fdr` allows.
    outlier_probability_ : array of shape (n_samples,)
        How probable it is that each row is wrong, given its left-out residual.
    estimated_outlier_share_ : float
        Share of all rows that is wrong, flagged or not.
    expected_ : array of shape (n_samples,) or (n_samples, n_outputs)
        What the judge predicts for rows that it has not seen, shifted alike for all so that as
        many targets lie above as below.
    residuals_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Targets minus `expected_`.
    residual_scale_ : array of shape (n_outputs,)
        One robust standard deviation of the residuals.
    error_path_ : array of shape (n_rounds,)
        Mean absolute left-out residual of all rows in each round; with a judge, the judge's rounds
        and then the clones'.
    n_rounds_ : int
        The round that was kept: the last, unless an earlier one clearly met left-out rows better.
    judged_by_ : str
        "networks", "clones", or the name of the judge's class: whose word flags and weights are.
        Clones that are taught by a judge and meet left-out rows better have the last word.
    stop_reason_ : str
        Which round was kept and why.
    n_features_in_ : int
        Number of inputs, where they can be counted.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    See Also
    --------
    RobustSCNRegressor : The networks alone, which need no regressor to be chosen.
    RobustBlendRegressor : Networks and a regressor that predict together.

    Notes
    -----
    Costs the networks and `3 * n_folds + 1` fits of the regressor, 16 by default; judged by clones
    `n_folds * n_rounds + 1`, all but the last of them to a part of the rows: 31 by default, and
    from 20,000 rows on six to half of the rows and one to all.

    Clones are taught with the networks' weights and with those of a scale four and sixteen times
    as wide, of which that is kept by which left-out rows are met best.

    References
    ----------
    S. Geman, D. E. McClure, "Statistical methods for tomographic image reconstruction", Bulletin
    of the International Statistical Institute 52 (1987).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from robustscn import RobustRegressor
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> y = 2 * X[:, 0] + 0.01 * np.sin(100 * X[:, 0])
    >>> y[::10] += 3.0
    >>> model = RobustRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> bool(model.outliers_[::10].all()), round(float(model.predict([[0.5]])[0]), 2)
    (True, 1.0)
    """

    _may_be_none = ("n_rounds",)

    def __init__(
        self,
        estimator: Any = None,
        *,
        judge: Any = "auto",
        n_folds: int | None = None,
        n_rounds: int | None = None,
        weighting: str | Weighting = "auto",
        fdr: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.judge = judge
        self.n_folds = n_folds
        self.n_rounds = n_rounds
        self.weighting = weighting
        self.fdr = fdr
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        trusted: Any = None,
        groups: Any = None,
    ) -> Self:
        """Learn from dirty rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, of any kind that the regressor takes.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative.
        trusted : array-like of bool of shape (n_samples,) or None
            Rows that are known to be right: they are believed in full and never flagged.
        groups : array-like of shape (n_samples,) or None
            What rows that belong together have in common: a day, a batch, a plant. A row is then
            judged by clones that have seen none of its group, which cannot vouch for it.

        Returns
        -------
        RobustRegressor
            Itself.
        """
        seed = self._seed()
        training = told(self._training(X, y, sample_weight), trusted, groups, seed)
        self._flat, self._scale = training.flat, training.scale
        learner = self._clones(training.problem, seed)
        appointed = judge_of(self, X, seed)
        plans = self._schedule(training.problem.rows.n_rows)
        costs = [1.0] * len(plans) if appointed is None else JUDGED_AND_TAUGHT
        watch = Watch(self, costs, X, y)
        if appointed is None:
            self._judged_by_clones(training, learner, plans, watch)
        else:
            with watch.part():  # its rounds are what there is to tell of, and to end early
                told_of(appointed, self).fit(X, y, sample_weight, trusted=trusted, groups=groups)
            self._taught_by(appointed, training, learner, watch)
        watch.end()
        return self

    def _judged_by_clones(
        self, training: Training, learner: CrossFitted, plans: list[Plan], watch: Watch
    ) -> None:
        """Let clones judge the rows, round after round, and keep what the best one says."""
        problem = training.problem
        rows, weight = problem.rows, problem.weight
        first = not_gross(rows, centred(rows, problem.y, weight)[0], weight)
        judging = judge(rows, weight, learner, plans, Start(first, trusted=problem.trusted))
        rounds: list[Round[tuple[Fitted, ...]]] = []
        for _ in plans:
            watch.begin_round()
            last = next(judging)
            rounds.append(last)
            taught = weight * last.inlier_weight
            if watch.end_round(partial(_predicting, learner, taught, last.model, training.flat)):
                break
        number = kept_round(rows, weight, [each.evidence for each in rounds])
        kept = rounds[number]
        self._keep_clones(learner.on_all_rows(weight * kept.weight_used, kept.model), kept.model)
        self.error_path_ = np.array([mean_size(rows, r.evidence, weight) for r in rounds])
        # A round that believed nearly all rows teaches well; which are wrong the last plan says.
        kept = judged_again(rows, weight, learner, kept, plans[len(rounds) - 1], problem.trusted)
        self._keep_weights(training, kept)
        self.n_rounds_, self.judged_by_ = number + 1, "clones"
        self.stop_reason_ = (
            f"round {number + 1} of {len(rounds)} is the last of those with the lowest error on "
            "left-out rows"
        )
        if len(rounds) < len(plans):
            self.stop_reason_ += f"; {Stop.CALLER.value}"

    def _taught_by(
        self, appointed: Any, training: Training, learner: CrossFitted, watch: Watch
    ) -> None:
        """Teach clones with a judge's weights; keep its word on the rows, or theirs if better."""
        problem = training.problem
        rows, weight = problem.rows, problem.weight
        kept = taught_by(appointed.inlier_weight_, problem, learner, watch)
        self._keep_clones(learner.on_all_rows(weight * kept.weight_used, kept.model), kept.model)
        self.judged_by_ = "clones"
        heard = np.asarray(appointed.residuals_, dtype=np.float64).reshape(problem.y.shape)
        if kept_round(rows, weight, [kept.evidence, heard]) == 0:
            self._keep_weights(training, kept)
        else:
            # How far clones err on right rows is asked of those that the judge takes for right.
            right = weight * (1.0 - appointed.outlier_probability_)
            asked = replace(problem, weight=right, trusted=np.ones_like(right))
            self._keep_weights(replace(training, problem=asked), kept)
            for name in SAID:
                setattr(self, name, getattr(appointed, name))
            networks = isinstance(appointed, RobustSCNRegressor)
            self.judged_by_ = "networks" if networks else type(appointed).__name__
        met = mean_size(rows, kept.evidence, weight)
        self.error_path_ = np.append(appointed.error_path_, met)
        self.n_rounds_ = len(self.error_path_)
        self.stop_reason_ = f"rows are judged by {self.judged_by_}; {appointed.stop_reason_}"

    def _point(self, X: Any) -> Array:
        """Return what the regressor predicts, fitted to the rows that are believed."""
        check_is_fitted(self)
        self._look_at(X, reset=False)
        y = self._fitted.output(X)
        return y[:, 0] if self._flat else y

    def __sklearn_tags__(self) -> Tags:
        """Return what the regressor can do, and the judge where there must be one."""
        tags = super().__sklearn_tags__()
        if self.judge in ("auto", "clones"):
            return tags
        judge = RobustSCNRegressor() if self.judge == "networks" else self.judge
        takes_gaps = tags.input_tags.allow_nan
        tags.input_tags = get_tags(judge).input_tags
        tags.input_tags.allow_nan &= takes_gaps
        return tags

    def _schedule(self, n_rows: int) -> list[Plan]:
        """Return what happens in which round: a scale that narrows, then adaptive weights."""
        auto = self.weighting == "auto"
        first = named("geman-mcclure" if auto else self.weighting)
        final = named("mixture") if auto else first
        count = self.n_rounds or (ROUNDS if n_rows < MANY_ROWS else FEW_ROUNDS)
        narrowest = HALVED ** (ROUNDS - 1)
        return [
            Plan(
                final if k >= count - FINAL_ROUNDS else first,
                floor=WIDEST * narrowest ** (k / max(1, count - 1)),
                local=k >= count - LOCAL_ROUNDS,
            )
            for k in range(count)
        ]

    def _spread(self, X: Any) -> tuple[Array, Array, Array]:
        self._look_at(X, reset=False)
        found = self._fitted.output(X)
        doubt = disagreement_of(np.stack([member.output(X) for member in self._members]))
        if self._noise is None:
            return found, doubt, np.ones_like(found)
        by_value, slope, centre = self._noise
        return found, doubt, relative_scale(by_value.forecast(found), slope, centre)


def _predicting(
    learner: CrossFitted, weight: HostArray, members: tuple[Fitted, ...], flat: bool
) -> dict[str, Any]:
    """Return the attributes by which the estimator predicts as after a round."""
    return {"_fitted": learner.on_all_rows(weight, members), "_flat": flat}
