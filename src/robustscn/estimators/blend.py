"""Networks and trees together: the flagship judges rows, and trees help where they are strong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Array, HostArray
from ..core.doubt import DOUBT, disagreement_of
from ..core.folds import FOLDS
from ..core.judging import Start, judge
from ..core.learner import Opinion, Task
from ..core.noise import relative_scale
from ..core.scale import mean_size
from ._around import Around
from ._base import told
from ._crossfit import ByValue, CrossFitted, Fitted
from ._judges import JUDGED_AND_TAUGHT, taught_by
from ._watch import Watch, told_of, with_callbacks
from .flagship import RobustSCNRegressor


class RobustBlendRegressor(Around):
    """Networks and trees, blended by what both say of rows that they have not seen.

    Networks judge the rows; trees are taught with the networks' weights; a share of the prediction
    is the trees', as far as left-out residuals show beyond chance that they help.

    *When to use it*: tables of thousands of rows and more with steps, categories or many inputs of
    which trees make more than networks do, and some targets are wrong. On smooth relations it is
    the flagship, a little later.

    Parameters
    ----------
    networks : RobustSCNRegressor or None, default=None
        Who judges the rows; None takes the default.
    estimator : regressor or None, default=None
        What is taught with their weights; None takes boosted trees, as many as left-out rows ask
        for (as in `RobustRegressor`), which model files and ONNX can carry.
    n_folds : int or None, default=None
        Parts of the rows, each kept from one of the clones whose predictions the shares follow
        from; None takes five, and two for 20,000 rows and more.
    fdr : float, default=0.1
        False discovery rate: share of right rows allowed among those in `outliers_`.
    n_jobs : int or None, default=None
        Clones fitted at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the networks and of the parts.

    Attributes
    ----------
    networks_ : RobustSCNRegressor
        Fitted.
    estimator_ : regressor
        Fitted to all rows, as far as they are believed; as that of `RobustRegressor`.
    share_ : array of shape (n_outputs,)
        The networks' share of the prediction; the rest is the regressor's.
    inlier_weight_ : array of shape (n_samples,)
        How far each row is believed, between 0 and 1.
    outliers_ : bool array of shape (n_samples,)
        The rows that are flagged: the most probably wrong ones, as many as `fdr` allows.
    outlier_probability_ : array of shape (n_samples,)
        How probable it is that each row is wrong, given its left-out residual.
    estimated_outlier_share_ : float
        Share of all rows that is wrong, flagged or not.
    expected_ : array of shape (n_samples,) or (n_samples, n_outputs)
        What both together predict for rows that they have not seen.
    residuals_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Targets minus `expected_`.
    residual_scale_ : array of shape (n_outputs,)
        One robust standard deviation of the residuals.
    error_path_ : array of shape (n_rounds_,)
        Mean absolute left-out residual: of the networks in each round, then of both.
    n_rounds_ : int
        Rounds of the networks, and one.
    n_nodes_ : int
        Hidden nodes of all networks.
    growth_path_ : dict of array
        As that of `networks_`.
    stop_reason_ : str
        The networks' share, and why they ended.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.

    See Also
    --------
    RobustSCNRegressor : The networks alone.
    RobustRegressor : One regressor alone, judged by itself.

    Notes
    -----
    The share `a` minimises the weighted squared left-out residuals of `a f + (1 - a) g`, with `f`
    the networks and `g` the trees. A row's left-out `f` is the mean of a quarter of the networks,
    and `predict` asks all of them: what that takes off the variance is taken off the denominator.
    One standard error is added, so that trees get a share only where it is not chance.

    Clones are taught with the networks' weights and with those of a scale four and sixteen times
    as wide, of which that is kept by which left-out rows are met best: at the edges of steps
    networks take right rows for wrong ones.

    Costs the networks and `3 * n_folds + 1` fits of the regressor.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import RobustBlendRegressor, RobustSCNRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 2))
    >>> y = np.where(X[:, 0] > 0.5, 1.0, 0.0) + X[:, 1]
    >>> y[::10] += 3.0
    >>> networks = RobustSCNRegressor(n_networks=4, max_nodes=20, random_state=0)
    >>> model = RobustBlendRegressor(networks, random_state=0).fit(X, y)
    >>> bool(model.outliers_[::10].all()), bool(0 <= model.share_[0] <= 1)
    (True, True)
    """

    def __init__(
        self,
        networks: RobustSCNRegressor | None = None,
        estimator: Any = None,
        *,
        n_folds: int | None = None,
        fdr: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.networks = networks
        self.estimator = estimator
        self.n_folds = n_folds
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
            Inputs: numbers, NaN where they are missing if the regressor takes that.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, of which some may be wrong.
        sample_weight : array-like of shape (n_samples,) or None
            Weights, none negative.
        trusted : array-like of bool of shape (n_samples,) or None
            Rows that are known to be right: they are believed in full and never flagged.
        groups : array-like of shape (n_samples,) or None
            What rows that belong together have in common: a day, a batch, a plant. A row is then
            judged by members that have seen none of its group, which cannot vouch for it.

        Returns
        -------
        RobustBlendRegressor
            Itself.
        """
        seed = self._seed()
        training = told(self._training(X, y, sample_weight), trusted, groups, seed)
        problem = training.problem
        rows, weight = problem.rows, problem.weight
        networks = RobustSCNRegressor(random_state=seed)
        if self.networks is not None:
            networks = clone(self.networks)
        watch = Watch(self, JUDGED_AND_TAUGHT, X, y)
        with watch.part():
            networks = told_of(networks, self)
            self.networks_ = networks.fit(X, y, sample_weight, trusted=trusted, groups=groups)
        clones = self._clones(problem, seed)
        taught = taught_by(networks.inlier_weight_, problem, clones, watch)
        both = Both(clones, taught.opinion, *_said_by(networks, problem.X))
        plan, start = taught.plan, Start(taught.weight_used, trusted=problem.trusted)
        (last,) = judge(rows, weight, both, [plan], start)
        self.share_ = last.model
        self._keep_clones(
            clones.on_all_rows(weight * taught.weight_used, taught.model), taught.model
        )
        self.error_path_ = np.append(networks.error_path_, mean_size(rows, last.evidence, weight))
        self.n_rounds_, self.n_nodes_ = len(self.error_path_), networks.n_nodes_
        self.growth_path_ = networks.growth_path_
        said = ", ".join(f"{share:.0%}" for share in self.share_)
        self.stop_reason_ = f"networks have {said} of the prediction; {networks.stop_reason_}"
        self._flat, self._scale = training.flat, training.scale
        self._keep_weights(training, last)
        watch.end()
        return self

    def _point(self, X: Any) -> Array:
        """Return what networks and trees predict together."""
        check_is_fitted(self)
        self._look_at(X, reset=False)
        y = self._blended(_columns(self.networks_.predict(X)), self._fitted.output(X))
        return y[:, 0] if self._flat else y

    def __sklearn_tags__(self) -> Tags:
        """Return what both can do: the networks take numbers only."""
        tags = super().__sklearn_tags__()
        takes_gaps = tags.input_tags.allow_nan
        tags.input_tags = get_tags(RobustSCNRegressor()).input_tags
        tags.input_tags.allow_nan &= takes_gaps
        return tags

    def _blended(self, networks: HostArray, others: HostArray) -> HostArray:
        return self.share_ * networks + (1.0 - self.share_) * others

    def _spread(self, X: Any) -> tuple[Array, Array, Array]:
        self._look_at(X, reset=False)
        unit = self.networks_._scale
        middle, doubt, _ = self.networks_._spread(X)
        outputs = np.stack([member.output(X) for member in self._members])
        found = self._blended(unit * middle, self._fitted.output(X))
        doubt = self._blended(unit * doubt, disagreement_of(outputs))
        if self._noise is None:
            return found, doubt, np.ones_like(found)
        by_value, slope, centre = self._noise
        return found, doubt, relative_scale(by_value.forecast(found), slope, centre)


@dataclass(frozen=True)
class Both:
    """A learner made of networks and of clones, all of them taught already.

    Parameters
    ----------
    clones : CrossFitted
        The others.
    said : Opinion
        What they say of rows that they have not seen.
    residuals, doubt : arrays of shape (n_rows, n_outputs)
        What the networks leave of rows that they have not seen, and how far they disagree.
    averaged : array of shape (n_rows, n_outputs)
        Variance that their left-out predictions have and the mean of all has not.
    centre : array of shape (n_outputs,)
        What was taken off all of the networks' residuals alike.
    """

    clones: CrossFitted
    said: Opinion[tuple[Fitted, ...]]
    residuals: HostArray
    doubt: HostArray
    averaged: HostArray
    centre: HostArray

    def opinion(
        self,
        before: Opinion[HostArray] | None,  # noqa: ARG002
        task: Task,  # noqa: ARG002
        number: int,  # noqa: ARG002
        weight: HostArray,
    ) -> Opinion[HostArray]:
        """Return what both say together; the model is the networks' share."""
        said = self.said
        share = network_share(self.residuals, said.residuals, self.averaged, weight)
        residuals = share * self.residuals + (1.0 - share) * said.residuals
        assert said.doubt is not None
        doubt = share * self.doubt + (1.0 - share) * said.doubt
        assert said.centre is not None
        centre = share * self.centre + (1.0 - share) * said.centre
        return Opinion(share, residuals, doubt, said.members, centre)

    def foreseen(self, target: HostArray, number: int) -> HostArray:
        """Return what clones say of another column for rows that they have not seen."""
        return self.clones.foreseen(target, number)

    def scatter(
        self, sizes: HostArray, weight: HostArray, said: Opinion[Any], number: int
    ) -> tuple[HostArray, ByValue]:
        """Return what is foreseen of the sizes of residuals from the value that is expected."""
        return self.clones.scatter(sizes, weight, said, number)


def network_share(
    networks: HostArray, others: HostArray, averaged: HostArray, weight: HostArray
) -> HostArray:
    """Return the networks' share of a blend, for each output.

    Parameters
    ----------
    networks, others : arrays of shape (n_rows, n_outputs)
        Left-out residuals of both.
    averaged : array of shape (n_rows, n_outputs)
        Variance of the networks' left-out predictions that is gone when all of them are asked.
    weight : array of shape (n_rows,)
        How far each row counts.

    Returns
    -------
    array of shape (n_outputs,)
        Between 0 and 1, one standard error nearer to one than the least squares.

    Examples
    --------
    >>> good, bad = np.zeros((4, 1)), np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> network_share(good, bad, 0 * good, np.ones(4)).tolist()
    [1.0]
    >>> network_share(bad, good, 0 * good, np.ones(4)).tolist()
    [0.0]
    """
    w = weight[:, None]
    apart = others - networks
    whole = np.sum(w * apart**2, axis=0)
    # Where hardly more than chance tells both apart, what is left of it decides nothing.
    size = np.maximum(whole - np.sum(w * averaged, axis=0), 0.2 * whole)
    safe = np.where(size > 0, size, 1.0)
    share = np.sum(w * apart * others, axis=0) / safe
    error = np.sqrt(np.sum((w * apart * (others - share * apart)) ** 2, axis=0)) / safe
    return np.where(size > 0, np.clip(share + error, 0.0, 1.0), 1.0)


def _said_by(networks: RobustSCNRegressor, X: Any) -> tuple[HostArray, ...]:
    """Return the networks' left-out residuals, doubt, what averaging takes off, the centre."""
    _, doubt, _ = networks._spread(X)
    doubt = networks._scale * doubt
    count = len(networks._networks)
    asked = max(1.0, count / FOLDS)
    variance = (doubt / DOUBT) ** 2
    averaged = variance * (1.0 / asked - 1.0 / count)
    return _columns(networks.residuals_), doubt, averaged, networks._scale * networks._centre


def _columns(values: Any) -> HostArray:
    values = np.asarray(values, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values
