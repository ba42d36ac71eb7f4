"""Tables as people have them: read from any usual file, made into numbers by a stored pipeline."""

from .adding import with_column
from .columns import DateParts, Numbers, Text
from .faults import TableError, nearest, require_columns
from .pipeline import (
    Plan,
    columns_needed,
    plan_columns,
    table_pipeline,
    unread_values,
    without_row_names,
)
from .quantities import tidied
from .reading import read_table
from .reviews import reviews_of
from .targets import Targets, targets_of

__all__ = [
    "DateParts",
    "Numbers",
    "Plan",
    "TableError",
    "Targets",
    "Text",
    "columns_needed",
    "nearest",
    "plan_columns",
    "read_table",
    "require_columns",
    "reviews_of",
    "table_pipeline",
    "targets_of",
    "tidied",
    "unread_values",
    "with_column",
    "without_row_names",
]
