"""Pictures of a fitted estimator, as scikit-learn's Display classes draw them.

Each class holds the numbers of one picture: `from_estimator` takes them from a fitted estimator
(or a pipeline that ends in one), the constructor takes them from anywhere, and `plot` draws them
with matplotlib on axes of the caller's or new ones. Importing this needs no matplotlib.
"""

from .growth import GrowthDisplay
from .residuals import ResidualDensityDisplay
from .rounds import RoundsDisplay
from .suspects import SuspectRowsDisplay

__all__ = ["GrowthDisplay", "ResidualDensityDisplay", "RoundsDisplay", "SuspectRowsDisplay"]
