"""
Prices: noise that grows with the target
========================================

Prices are met within percents, not within euros, and their errors are factors: a decimal sign in
the wrong place, a price for two. One scale for all of them distrusts what is dear and believes
what is cheap. `RobustTransformedRegressor` looks whether residuals grow with the value and learns
logarithms where they do.
"""

# %%
# Flats by area and distance to the centre; a tenth of the prices is off by a factor.

import matplotlib.pyplot as plt
import numpy as np

from robustscn import RobustSCNRegressor, RobustTransformedRegressor

rng = np.random.default_rng(0)
area, distance = rng.uniform(25, 180, 1000), rng.uniform(0, 20, 1000)
X = np.column_stack([area, distance])
fair = 40 * area**0.9 * (1 + 3 * np.exp(-distance / 4))
price = fair * np.exp(0.12 * rng.normal(size=1000))
wrong = rng.uniform(size=1000) < 0.1
price[wrong] *= rng.choice([0.1, 0.4, 2.5, 10.0], wrong.sum())

# %%
# The same estimator on prices and on what it found to be better:

quick = RobustSCNRegressor(n_networks=8, max_nodes=80, random_state=0)
models = {
    "prices as they are": RobustTransformedRegressor(quick, transformation="none"),
    "auto": RobustTransformedRegressor(quick),
}
figure, axes = plt.subplots(1, 2, figsize=(9.6, 4), sharey=True)
for axis, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, price)
    found = model.outliers_
    axis.loglog(model.expected_, price, ".", ms=3, color="#b8c1ca", label="right")
    axis.loglog(
        model.expected_[wrong & ~found], price[wrong & ~found], "x", color="#2f3e4e", label="missed"
    )
    axis.loglog(
        model.expected_[wrong & found],
        price[wrong & found],
        "o",
        ms=4,
        color="#c2371e",
        label="found",
    )
    axis.loglog(
        model.expected_[~wrong & found],
        price[~wrong & found],
        "s",
        ms=4,
        mfc="none",
        color="#c2371e",
        label="flagged, but right",
    )
    axis.set(
        title=f"{name}: learned as {model.transformation_}\n{(found & wrong).sum()} of "
        f"{wrong.sum()} wrong prices found",
        xlabel="expected",
    )
axes[0].set_ylabel("price in the table")
axes[1].legend(loc="lower right", fontsize=8)
plt.tight_layout()
plt.show()

# %%
# Why it chose logarithms: the rank correlation of the sizes of left-out residuals with the value,
# for the prices and for their logarithms. Predictions and intervals are in euros either way, and
# what is predicted is the median.

auto = models["auto"]
print({name: round(found, 2) for name, found in auto.evenness_.items()})
for flat, (low, high) in zip(X[:3], auto.predict_interval(X[:3]), strict=True):
    print(f"{flat[0]:.0f} square metres, {flat[1]:.0f} km out: {low:,.0f} to {high:,.0f}")
