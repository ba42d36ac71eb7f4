"""Where members disagree there is doubt."""

import numpy as np
import pytest
from scipy.stats import median_abs_deviation

from robustscn.core.doubt import disagreement
from robustscn.core.rows import LocalRows


@pytest.mark.parametrize("count", [1, 2, 3, 4, 12])
def test_disagreement_is_half_the_median_absolute_deviation(count):
    rng = np.random.default_rng(count)
    columns = list(rng.standard_t(2, size=(count, 240, 2)))
    found = disagreement(LocalRows(240), columns)
    literal = median_abs_deviation(np.stack(columns), axis=0, scale="normal")
    np.testing.assert_allclose(found, 0.5 * literal, rtol=1e-6)
