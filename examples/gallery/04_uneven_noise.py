"""
Noise that is not even
======================

A region that is just noisy is not wrong. One scale for all rows would flag half of it and miss
what is wrong where it is quiet; `RobustSCNRegressor` measures each row by the noise around it.
"""

# %%
# Noise grows tenfold from left to right; 40 of 500 targets are wrong.

import matplotlib.pyplot as plt
import numpy as np

from robustscn import RobustSCNRegressor

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 1, 500))[:, None]
noise = 0.05 + 0.5 * X[:, 0] ** 2
y = 2 * np.sin(4 * X[:, 0]) + noise * rng.normal(size=500)
wrong = np.zeros(500, dtype=bool)
wrong[rng.choice(500, 40, replace=False)] = True
y[wrong] += rng.choice([-1, 1], 40) * (0.8 + 6 * noise[wrong])

model = RobustSCNRegressor(n_networks=8, max_nodes=40, random_state=0).fit(X, y)
interval = model.predict_interval(X, coverage=0.9)

# %%
# The band is where nine of ten clean targets should lie.

figure, axis = plt.subplots()
axis.fill_between(X[:, 0], *interval.T, color="#1f5f8b", alpha=0.18, label="90 % of clean rows")
believed = ~model.outliers_
axis.plot(X[believed], y[believed], ".", ms=4, color="#8a97a5", label="believed")
axis.plot(X[~believed], y[~believed], "x", color="#c2371e", label="flagged")
axis.plot(X, model.predict(X), color="#1f5f8b", label="learned")
axis.set(xlabel="x", ylabel="y", ylim=(-5, 6.5), title="Flags follow the noise")
axis.legend(ncols=2, fontsize=9)
plt.show()

# %%
# Beside one scale for all rows: three standard deviations of all residuals.

one_scale = np.abs(model.residuals_) > 3 * model.residual_scale_
right_half = X[:, 0] > 0.5
for name, flags in {"following the noise": model.outliers_, "one scale": one_scale}.items():
    false = flags & ~wrong
    print(
        f"{name:20} found {(flags & wrong).sum():2d} of {wrong.sum()}, "
        f"false alarms {false.sum():2d}, in the noisy half {(false & right_half).sum():2d}"
    )
inside = (y >= interval[:, 0]) & (y <= interval[:, 1])
print(f"clean rows inside the band: {inside[~wrong].mean():.0%}")
