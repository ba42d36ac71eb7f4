"""The estimators for Dask collections.

`fit` is inherited from the estimators for arrays in memory, and what is special to a cluster
from `DaskMixin`. Parameters and their descriptions are those of the estimator in memory and one
more, the client.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, cleandoc, signature
from textwrap import indent
from typing import Any, TypeVar

from ..estimators import RobustSCNRegressor, RSCKDERegressor, SCNRegressor
from ..estimators._base import NetworkRegressor
from ..estimators.flagship import LOOKED_ROWS
from .sharing import DaskMixin, DaskRobustMixin

Estimator = TypeVar("Estimator", bound=type[DaskMixin])

CLIENT = """client : distributed.Client or None, default=None
    The cluster; None takes the client that was made last.
"""

PASSES = """n_passes_ : int
    How often the fit read the training rows.
"""

EXAMPLE = """Examples
--------
>>> import dask.array as da
>>> from distributed import Client
>>> from robustscn.dask import {name}
>>> client = Client()  # doctest: +SKIP
>>> X = da.random.default_rng(0).random((10_000, 3), chunks=(2_500, 3))
>>> y = da.sin(6 * X[:, 0])
>>> model = {name}(random_state=0).fit(X, y)  # doctest: +SKIP
>>> model.predict(X).compute()  # doctest: +SKIP
"""


def on_a_cluster(
    local: type[NetworkRegressor], **defaults: Any
) -> Callable[[Estimator], Estimator]:
    """Give an estimator the parameters and the description of that in memory, and a client.

    Parameters
    ----------
    local : type
        The estimator in memory.
    **defaults : object
        Parameters that have another default on a cluster.

    Returns
    -------
    callable
        Decorates a class.
    """

    def decorated(cls: Estimator) -> Estimator:
        @wraps(local.__init__)
        def made(self: Any, *args: Any, client: Any = None, **params: Any) -> None:
            local.__init__(self, *args, **defaults | params)
            self.client = client

        own = signature(local.__init__)
        params = [
            each.replace(default=defaults.get(name, each.default))
            for name, each in own.parameters.items()
        ]
        params.append(Parameter("client", Parameter.KEYWORD_ONLY, default=None))
        # scikit-learn reads the names of parameters here.
        made.__signature__ = own.replace(parameters=params)  # type: ignore[attr-defined]
        cls.__init__ = made  # type: ignore[method-assign]
        cls.__doc__ = _description(cleandoc(cls.__doc__ or ""), cleandoc(local.__doc__ or ""), cls)
        cls._local = local
        return cls

    return decorated


def _description(summary: str, described: str, cls: type) -> str:
    """Return the description of the estimator in memory, with what is different on a cluster."""
    parameters, rest = described.split("Parameters\n----------\n", 1)[1].split("\n\n", 1)
    attributes, *others = rest.split("\n\nExamples\n", 1)[0].split("\n\n")
    sections = [
        summary,
        f"Parameters\n----------\n{parameters}\n{CLIENT.rstrip()}",
        f"{attributes}\n{PASSES.rstrip()}",
        *others,
        EXAMPLE.format(name=cls.__name__).rstrip(),
    ]
    return indent("\n\n".join(sections), "    ").lstrip() + "\n    "


@on_a_cluster(SCNRegressor)
class DaskSCNRegressor(DaskMixin, SCNRegressor):
    """Stochastic configuration network for Dask arrays and data frames.

    The same nodes as `SCNRegressor`, whatever the chunks.
    """


@on_a_cluster(RSCKDERegressor)
class DaskRSCKDERegressor(DaskRobustMixin, RSCKDERegressor):
    """RSC-KDE for Dask arrays and data frames.

    The same nodes and weights as `RSCKDERegressor`, whatever the chunks. What has an entry for
    each row is a Dask array.
    """


# Columns of each network are kept on the workers while it grows: one at a time.
@on_a_cluster(RobustSCNRegressor, n_jobs=1)
class DaskRobustSCNRegressor(DaskRobustMixin, RobustSCNRegressor):
    """Robust regression from dirty rows alone, for Dask arrays and data frames.

    The same networks and weights as `RobustSCNRegressor`, whatever the chunks. What has an entry
    for each row is a Dask array.
    """

    # Its networks grow on so many rows in this process anyway. Where there are no more, the
    # workers would have nothing to do but to wait for each of its hundreds of small steps.
    _few_rows = LOOKED_ROWS

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        """Predict between which values clean targets lie, lazily for Dask collections.

        Parameters
        ----------
        X : Dask array or data frame, or array-like, of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.9
            Share of clean targets that should lie inside, between 0 and 1.

        Returns
        -------
        array of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            A Dask array in the chunks of X; of an array in memory, an array in memory.
        """
        return self._by_chunks(X, "predict_interval", coverage=coverage)
