"""A look at a table before a fit, and at what a fit distrusted: findings and episodes in words."""

from .columns import look
from .episodes import Episode, episodes_of, with_causes
from .finding import Finding
from .order import Order, order_of

__all__ = ["Episode", "Finding", "Order", "episodes_of", "look", "order_of", "with_causes"]
