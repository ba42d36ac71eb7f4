"""Robust stochastic configuration networks on rows that do not fit one machine.

The algorithm is the one for arrays in memory, word for word, and its answer is the same but for
the order in which sums are added; only where rows live differs.
"""

from importlib.util import find_spec

if not all(find_spec(library) for library in ("dask", "distributed")):  # pragma: no cover
    raise ImportError("robustscn.dask needs Dask: pip install 'robustscn[dask]'")

from .estimators import DaskRobustSCNRegressor, DaskRSCKDERegressor, DaskSCNRegressor
from .rows import DaskRows
from .waiting import ClusterError

__all__ = [
    "ClusterError",
    "DaskRSCKDERegressor",
    "DaskRobustSCNRegressor",
    "DaskRows",
    "DaskSCNRegressor",
]
