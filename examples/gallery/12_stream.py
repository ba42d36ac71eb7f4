"""
A stream: wrong row or changed world?
=====================================

Rows come one after the other. A spike must not be learned, a new catalyst must. `partial_fit` tells
them apart by what comes next.
"""

# %%
# A simulated soft sensor: spikes, a stuck stretch, a slow drift, and a
# plant that changes at row 1,000.

import matplotlib.pyplot as plt
import numpy as np

from robustscn import RobustSCNRegressor

rng = np.random.default_rng(0)
n, change = 1600, 1000
steps = np.arange(n)
X = np.column_stack([0.5 + 0.4 * np.sin(steps / 27), rng.uniform(size=n)])
true = np.sin(4 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.4 * steps / n + 1.0 * (steps >= change)
shown = true + 0.03 * rng.normal(size=n)
spikes = rng.uniform(size=n) < 0.04
shown[spikes] += rng.uniform(-2, 2, spikes.sum())
shown[600:640] = shown[599] + 0.8

# %%
# Fitted to the first 300 rows. Then each block is predicted before it is learned.

model = RobustSCNRegressor(n_networks=4, max_nodes=40, half_life=500, random_state=0)
model.fit(X[:300], shown[:300])
predicted = np.full(n, np.nan)
for start in range(300, n, 20):
    rows = slice(start, start + 20)
    predicted[rows] = model.predict(X[rows])
    model.partial_fit(X[rows], shown[rows])

# %%
# The error against what the sensor should have shown:

figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7.6, 5))
above.plot(steps, shown, ".", ms=3, color="#8a97a5", label="shown")
above.plot(steps, true, color="#2f3e4e", lw=0.8, label="true")
above.plot(steps, predicted, color="#c2371e", lw=0.8, label="predicted, before it was learned")
above.legend(fontsize=8, ncols=3)
below.semilogy(steps, np.abs(predicted - true), ".", ms=2, color="#c2371e")
below.set(xlabel="row", ylabel="absolute error")
for axis in (above, below):
    axis.axvspan(600, 640, color="#f0b429", alpha=0.3, lw=0)
    axis.axvline(change, color="#1f5f8b", lw=1, ls="--")
plt.show()

# %%
# What it noticed. The stuck stretch (yellow) was passed over, the change (dashed) taken in:

for drift in model.drift_:
    print(f"row {300 + drift.row}: a change since about row {300 + drift.began}, {drift.size:+.2f}")
print(f"{len(model.suspects_)} rows were found strange, {spikes[300:].sum()} had spikes")
