"""The estimators for Dask collections.

`fit` is inherited from the estimators for arrays in memory, and what is special to a cluster
from `DaskMixin`; a constructor has one parameter more, the client.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from distributed import Client

from ..core.growth import CONTRACTIONS
from ..core.weighting import Weighting
from ..estimators import RobustSCNRegressor, RSCKDERegressor, SCNRegressor
from ..estimators.flagship import LOOKED_ROWS
from ..estimators.scn import SCOPES
from .sharing import DaskMixin, DaskRobustMixin


class DaskSCNRegressor(DaskMixin, SCNRegressor):
    """Stochastic configuration network for Dask arrays and data frames.

    The same nodes as `SCNRegressor`, whatever the chunks.

    Parameters
    ----------
    max_nodes : int, default=100
        Largest number of hidden nodes.
    algorithm : {"SC-III", "SC-II", "SC-I"}, default="SC-III"
        Which output weights are renewed when a node is added: all, those of the last `window`
        nodes, or only the new one.
    window : int, default=20
        Number of nodes that SC-II refits.
    n_candidates : int, default=100
        Candidates drawn for each scope.
    scopes : sequence of float, default=(0.5, 1, 3, ..., 200)
        Half widths of the interval that weights and biases are drawn from.
    scope_order : {"ascending", "pooled"}, default="ascending"
        Try scopes one after the other and stop at the first with an admissible candidate, or
        choose among the candidates of all scopes.
    proposals : {"random", "adaptive"}, default="random"
        How candidates are drawn: "random" as in the literature, "adaptive" with a few of the
        inputs each, those with which earlier nodes gained the more often, and two fifths of them
        as variations of these nodes. For many inputs of which few matter.
    contractions : sequence of float, default=(0.9, 0.99, ..., 0.999999)
        Values of r in the inequality, tried in this order.
    rule : {"inequality", "exact"}, default="inequality"
        Rank candidates by the inequality's bound, or by how far the error really falls. The
        exact rule needs SC-III, finds better nodes and costs more time for each.
    block : int, default=1
        Nodes added in one step; more than one needs SC-III.
    ridge : float, default=0.0
        Penalty on the squared output weights, for each unit of sample weight; needs SC-III.
    tol : float, default=1e-6
        Growth ends when the weighted error is below this share of the targets' size.
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
    patience : int, default=20
        With validation data, nodes to add without a lower validation error before stopping.
    warm_start : bool, default=False
        Go on from the nodes of the last fit, up to a larger `max_nodes`. On the same rows, with
        the same integer `random_state`, the network is that of one longer fit.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    client : distributed.Client or None, default=None
        The cluster; None takes the client that was made last.

    Attributes
    ----------
    n_nodes_ : int
        Number of hidden nodes.
    error_path_ : array of shape (n_steps,)
        Weighted root mean squared training error after each step.
    validation_path_ : array of shape (n_steps,)
        Root mean squared validation error after each step; empty without validation data.
    stop_reason_ : str
        Why growth ended.
    output_weights_ : array of shape (n_nodes, n_outputs)
        Output weights.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.
    n_passes_ : int
        How often the fit read the training rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from robustscn.dask import DaskSCNRegressor
    >>> client = Client()  # doctest: +SKIP
    >>> X = da.random.default_rng(0).random((10_000, 3), chunks=(2_500, 3))
    >>> y = da.sin(6 * X[:, 0])
    >>> model = DaskSCNRegressor(max_nodes=20, random_state=0).fit(X, y)  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
    """

    _local = SCNRegressor

    def __init__(
        self,
        max_nodes: int = 100,
        *,
        algorithm: str = "SC-III",
        window: int = 20,
        n_candidates: int = 100,
        scopes: Sequence[float] = SCOPES,
        scope_order: str = "ascending",
        proposals: str = "random",
        contractions: Sequence[float] = CONTRACTIONS,
        rule: str = "inequality",
        block: int = 1,
        ridge: float = 0.0,
        tol: float = 1e-6,
        activation: str = "logistic",
        patience: int = 20,
        warm_start: bool = False,
        random_state: Any = None,
        client: Client | None = None,
    ) -> None:
        super().__init__(
            max_nodes,
            algorithm=algorithm,
            window=window,
            n_candidates=n_candidates,
            scopes=scopes,
            scope_order=scope_order,
            proposals=proposals,
            contractions=contractions,
            rule=rule,
            block=block,
            ridge=ridge,
            tol=tol,
            activation=activation,
            patience=patience,
            warm_start=warm_start,
            random_state=random_state,
        )
        self.client = client


class DaskRSCKDERegressor(DaskRobustMixin, RSCKDERegressor):
    """RSC-KDE for Dask arrays and data frames.

    The same nodes and weights as `RSCKDERegressor`, whatever the chunks.

    Parameters
    ----------
    max_nodes : int, default=100
        Largest number of hidden nodes.
    n_rounds : int, default=5
        Rounds, each of which builds a network with the weights that the last one suggests.
    weighting : str or Weighting, default="kde-textbook"
        How residuals become weights: "kde-textbook" is the paper's; "kde", "mixture",
        "geman-mcclure", "huber", "tukey", "cauchy", "welsch", "laplace", "student-t" or an object
        of your own.
    rebuild : {"auto"} or bool, default="auto"
        True grows each round's network from nothing, as the paper does; False keeps the first
        round's nodes and renews only the output weights. "auto" is True up to 32768 rows,
        grows nodes in the first and the last round up to 131072, and is False beyond.
    algorithm : {"SC-III", "SC-II", "SC-I"}, default="SC-III"
        Which output weights are renewed when a node is added.
    window : int, default=20
        Number of nodes that SC-II refits.
    n_candidates : int, default=100
        Candidates drawn for each scope.
    scopes : sequence of float, default=(0.5, 1, 3, ..., 200)
        Half widths of the interval that weights and biases are drawn from.
    scope_order : {"ascending", "pooled"}, default="ascending"
        Try scopes one after the other, or choose among the candidates of all scopes.
    proposals : {"random", "adaptive"}, default="random"
        How candidates are drawn: "random" as in the literature, "adaptive" with a few of the
        inputs each, those with which earlier nodes gained the more often, and two fifths of them
        as variations of these nodes. For many inputs of which few matter.
    contractions : sequence of float, default=(0.9, 0.99, ..., 0.999999)
        Values of r in the inequality, tried in this order.
    rule : {"inequality", "exact"}, default="inequality"
        Rank candidates by the inequality's bound, or by how far the error really falls.
    block : int, default=1
        Nodes added in one step; more than one needs SC-III.
    ridge : float, default=0.0
        Penalty on the squared output weights, for each unit of weight.
    tol : float, default=1e-6
        Growth ends when the weighted error is below this share of the targets' size.
    activation : {"logistic", "tanh", "relu"}, default="logistic"
        Activation of the nodes.
    patience : int, default=20
        With validation data, nodes to add without a lower validation error before stopping.
    warm_start : bool, default=False
        Go on with further rounds, up to a larger `n_rounds`, from the row weights of the last
        fit, which must have been on the same rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    client : distributed.Client or None, default=None
        The cluster; None takes the client that was made last.

    Attributes
    ----------
    inlier_weight_ : Dask array of shape (n_samples,)
        How far each row is believed, between 0 and 1, from the last round's residuals.
    outliers_ : Dask array of bool of shape (n_samples,)
        Rows whose residual is beyond three robust standard deviations: 1.4826 times the
        median absolute residual, computed again without such rows until it settles.
    expected_ : Dask array of shape (n_samples,) or (n_samples, n_outputs)
        The kept network's predictions for the training rows.
    residuals_ : Dask array of shape (n_samples,) or (n_samples, n_outputs)
        Targets minus `expected_`: what rows are judged by.
    residual_scale_ : array of shape (n_outputs,)
        One robust standard deviation of the residuals.
    n_nodes_ : int
        Number of hidden nodes.
    n_rounds_ : int
        The round whose network was kept: the last, or the one with the lowest validation
        error.
    nodes_round_ : int
        The round in which its nodes were grown; later rounds up to `n_rounds_` renewed their
        output weights.
    error_path_ : array of shape (n_steps,)
        Weighted root mean squared training error after each step in which they were grown.
    validation_path_ : array of shape (n_steps,)
        Its validation error after each step; empty without validation data.
    stop_reason_ : str
        Why its growth ended.
    output_weights_ : array of shape (n_nodes, n_outputs)
        Output weights.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.
    n_passes_ : int
        How often the fit read the training rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from robustscn.dask import DaskRSCKDERegressor
    >>> client = Client()  # doctest: +SKIP
    >>> X = da.random.default_rng(0).random((10_000, 3), chunks=(2_500, 3))
    >>> y = da.sin(6 * X[:, 0])
    >>> model = DaskRSCKDERegressor(max_nodes=20, random_state=0).fit(X, y)  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
    """

    _local = RSCKDERegressor

    def __init__(
        self,
        max_nodes: int = 100,
        *,
        n_rounds: int = 5,
        weighting: str | Weighting = "kde-textbook",
        rebuild: bool | str = "auto",
        algorithm: str = "SC-III",
        window: int = 20,
        n_candidates: int = 100,
        scopes: Sequence[float] = SCOPES,
        scope_order: str = "ascending",
        proposals: str = "random",
        contractions: Sequence[float] = CONTRACTIONS,
        rule: str = "inequality",
        block: int = 1,
        ridge: float = 0.0,
        tol: float = 1e-6,
        activation: str = "logistic",
        patience: int = 20,
        warm_start: bool = False,
        random_state: Any = None,
        client: Client | None = None,
    ) -> None:
        super().__init__(
            max_nodes,
            n_rounds=n_rounds,
            weighting=weighting,
            rebuild=rebuild,
            algorithm=algorithm,
            window=window,
            n_candidates=n_candidates,
            scopes=scopes,
            scope_order=scope_order,
            proposals=proposals,
            contractions=contractions,
            rule=rule,
            block=block,
            ridge=ridge,
            tol=tol,
            activation=activation,
            patience=patience,
            warm_start=warm_start,
            random_state=random_state,
        )
        self.client = client


class DaskRobustSCNRegressor(DaskRobustMixin, RobustSCNRegressor):
    """Robust regression from dirty rows alone, for Dask arrays and data frames.

    The same networks and weights as `RobustSCNRegressor`, whatever the chunks.

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
        Whether rows that were rejected together are looked at again, in seven more rounds.
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
    n_jobs : int or None, default=1
        Networks grown at the same time; the columns of each are kept on the workers while it
        grows.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    client : distributed.Client or None, default=None
        The cluster; None takes the client that was made last.

    Attributes
    ----------
    inlier_weight_ : Dask array of shape (n_samples,)
        How far each row is believed, between 0 and 1.
    outliers_ : Dask array of bool of shape (n_samples,)
        Rows whose left-out residual is beyond three times robust standard deviation and doubt
        together; see `robustscn.RobustSCNRegressor`.
    n_nodes_ : int
        Hidden nodes of all networks together.
    n_rounds_ : int
        The round that was kept.
    expected_ : Dask array of shape (n_samples,) or (n_samples, n_outputs)
        What networks predict for each row that have not seen its target, shifted alike for all
        rows so that as many targets lie above as below.
    residuals_ : Dask array of shape (n_samples,) or (n_samples, n_outputs)
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
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the inputs, if the training data had names.
    n_passes_ : int
        How often the fit read the training rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from robustscn.dask import DaskRobustSCNRegressor
    >>> client = Client()  # doctest: +SKIP
    >>> X = da.random.default_rng(0).random((10_000, 3), chunks=(2_500, 3))
    >>> y = da.sin(6 * X[:, 0])
    >>> model = DaskRobustSCNRegressor(random_state=0).fit(X, y)  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
    """

    _local = RobustSCNRegressor
    # Its networks grow on so many rows in this process anyway. Where there are no more, the
    # workers would have nothing to do but to wait for each of its hundreds of small steps.
    _few_rows = LOOKED_ROWS

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
        n_jobs: int | None = 1,
        random_state: Any = None,
        client: Client | None = None,
    ) -> None:
        super().__init__(
            n_networks=n_networks,
            max_nodes=max_nodes,
            n_rounds=n_rounds,
            second_look=second_look,
            weighting=weighting,
            n_candidates=n_candidates,
            scopes=scopes,
            activation=activation,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.client = client
