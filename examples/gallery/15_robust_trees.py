"""
Make your own model robust
==========================

Trees that fit your data well need not be given up because of wrong targets: `RobustRegressor` puts
the same judging around any regressor.
"""

# %%
# Steps suit trees. A fifth of the targets is wrong.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from robustscn import RobustRegressor

rng = np.random.default_rng(0)
X = rng.uniform(size=(1200, 3))


def steps(X):
    return np.floor(4 * X[:, 0]) + 2 * (X[:, 1] > 0.6)


y = steps(X) + 0.1 * rng.normal(size=1200)
wrong = rng.uniform(size=1200) < 0.2
y[wrong] += rng.uniform(-6, 6, wrong.sum())

# %%
# The squared error, the absolute error, and the squared error with judged rows:

trees = HistGradientBoostingRegressor(min_samples_leaf=10, random_state=0)
models = {
    "squared error": trees,
    "absolute error": HistGradientBoostingRegressor(
        loss="absolute_error", min_samples_leaf=10, random_state=0
    ),
    "RobustRegressor(trees)": RobustRegressor(trees, random_state=0),
}
new = rng.uniform(size=(4000, 3))
section = np.column_stack([np.linspace(0, 1, 500), np.full(500, 0.8), np.full(500, 0.5)])

figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.4), sharey=True)
for axis, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    error = np.sqrt(np.mean((model.predict(new) - steps(new)) ** 2))
    near = np.abs(X[:, 1] - 0.8) < 0.2
    axis.plot(X[near, 0], y[near], ".", ms=3, color="#b8c1ca")
    axis.plot(section[:, 0], steps(section), color="#2f3e4e", lw=1)
    axis.plot(section[:, 0], model.predict(section), color="#c2371e", lw=1.6)
    axis.set(title=f"{name}\nerror {error:.3f}", xlabel="x", ylim=(-2, 8))
plt.show()

# %%
# And it says which rows it did not believe:

robust = models["RobustRegressor(trees)"]
flagged = robust.outliers_
print(f"{(flagged & wrong).sum()} of {wrong.sum()} wrong rows flagged")
print(f"{(flagged & ~wrong).sum()} right rows flagged")
print(f"estimated share of wrong rows: {robust.estimated_outlier_share_:.0%}")
