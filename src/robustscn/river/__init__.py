"""The robust network that keeps learning, for river: rows as dictionaries, one by one.

Needs `pip install 'robustscn[river]'`.
"""

from .regressor import RobustSCN

__all__ = ["RobustSCN"]
