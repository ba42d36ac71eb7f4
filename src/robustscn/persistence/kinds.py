"""What a model file may hold: the types that our models and pipelines are made of, by name.

The list is ours and short. skops trusts all of scikit-learn's estimators; some of those read
memory by numbers from the file without looking, start processes or open files named in the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import estimators, weighting
from ..core.channel import Channel
from ..core.forest import Forest
from ..core.information import Information
from ..core.inputs import Scaling
from ..core.line import Line
from ..core.memory import Batch, Plan
from ..core.missing import Missing
from ..core.nodes import Network, Nodes
from ..core.regrowth import Unit
from ..core.stream import Stream
from ..estimators._crossfit import ByValue, Fitted


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


MODELS = frozenset(_name(getattr(estimators, name)) for name in estimators.__all__)
"""What a file may predict with. Other people's regressors within them are theirs to vouch for."""

PIPELINE = "sklearn.pipeline.Pipeline"
TRANSFORMED_TARGET = "sklearn.compose._target.TransformedTargetRegressor"

TRUSTED = (
    MODELS
    | {_name(type(named)) for named in weighting.NAMED.values()}
    | {_name(kind) for kind in (Missing, Network, Nodes, Scaling)}
    | {_name(kind) for kind in (ByValue, Fitted, Forest)}
    | {_name(kind) for kind in (Batch, Channel, Information, Line, Plan, Stream, Unit)}
    | {
        # By name: a model without a table needs nothing of tables.
        "robustscn.tables.columns.DateParts",
        "robustscn.tables.columns.Numbers",
        "robustscn.tables.columns.Text",
        PIPELINE,
        TRANSFORMED_TARGET,
        "sklearn.compose._column_transformer.ColumnTransformer",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.impute._base.MissingIndicator",
        "sklearn.impute._base.SimpleImputer",
        "sklearn.preprocessing._data.MaxAbsScaler",
        "sklearn.preprocessing._data.MinMaxScaler",
        "sklearn.preprocessing._data.RobustScaler",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.preprocessing._encoders.OneHotEncoder",
        # What a column transformer passes columns through with; its function must be none.
        "sklearn.preprocessing._function_transformer.FunctionTransformer",
        "numpy.dtype",
    }
)
"""Types that are loaded without being named by the caller."""

SCALARS = frozenset(
    {f"builtins.{name}" for name in ("bool", "float", "int", "str")}
    | {
        f"numpy.{name}"
        for name in ("bool", "bool_", "float32", "float64", "int32", "int64", "object_", "str_")
    }
)
"""Types that may be the value of a setting, or the type of a dictionary's keys."""

ARRAYS = frozenset({"numpy.ndarray", *(name for name in SCALARS if name.startswith("numpy."))})

ARRAY_KINDS = "biufU"
"""Arrays of truth values, numbers and texts, as `numpy.dtype.kind` has it."""


def _one_process(value: Any) -> bool:
    return value is None or (type(value) is int and value == 1)


def _nothing(value: Any) -> bool:
    return value is None


SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "n_jobs": (_one_process, "starts processes"),
    "memory": (_nothing, "reads and writes files"),
    "func": (_nothing, "runs a function"),
    "inverse_func": (_nothing, "runs a function"),
}
"""Settings of scikit-learn's types that do more than compute: which values do not, and what."""
