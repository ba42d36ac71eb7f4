"""
Several outputs
===============

Targets that are measured together are learned together: one set of networks, one judgement of each
row, and a table that says which output was the strange one.
"""

# %%
# A point on a spiral is measured by two gauges. Some rows have one of them wrong.

import matplotlib.pyplot as plt
import numpy as np

from robustscn import RobustSCNRegressor

rng = np.random.default_rng(0)
t = np.sort(rng.uniform(0, 1, 400))
Y = np.column_stack([t * np.cos(9 * t), t * np.sin(9 * t)]) + 0.01 * rng.normal(size=(400, 2))
wrong = rng.choice(400, 60, replace=False)
Y[wrong, rng.integers(0, 2, 60)] += rng.choice([-1, 1], 60) * rng.uniform(0.3, 1, 60)

model = RobustSCNRegressor(n_networks=6, max_nodes=80, random_state=0).fit(t[:, None], Y)
curve = model.predict(t[:, None])

# %%
# The flagged points, and where they should have been:

figure, axis = plt.subplots(figsize=(5.6, 5))
flagged = model.outliers_
for observed, expected in zip(Y[flagged], model.expected_[flagged], strict=True):
    axis.plot(*np.transpose([observed, expected]), color="#e4a08a", lw=0.8)
axis.plot(*Y[~flagged].T, ".", ms=4, color="#8a97a5")
axis.plot(*Y[flagged].T, "x", color="#c2371e")
axis.plot(*curve.T, color="#1f5f8b", lw=1.5)
axis.set(xlabel="first gauge", ylabel="second gauge", aspect="equal", title="From where to where")
plt.show()

# %%
# `output` names the gauge:

model.outlier_table().head(6).round(3)
