"""The scikit-learn face: validate, call the core, unpack."""

from .anyone import RobustRegressor as RobustRegressor
from .blend import RobustBlendRegressor as RobustBlendRegressor
from .flagship import RobustSCNRegressor as RobustSCNRegressor
from .robust_rvfl import ImprovedRVFLRegressor as ImprovedRVFLRegressor
from .robust_rvfl import PRNNRWRegressor as PRNNRWRegressor
from .rsc_kde import RSCKDERegressor as RSCKDERegressor
from .rvfl import RVFLRegressor as RVFLRegressor
from .scn import SCNRegressor as SCNRegressor
from .transformed import RobustTransformedRegressor as RobustTransformedRegressor

__all__ = sorted(name for name in dir() if name.endswith("Regressor"))  # noqa: PLE0605
