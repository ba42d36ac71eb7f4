"""
Choosing nodes without clean data
=================================

A validation set is the usual way to stop a network from growing, but with dirty rows the validation
rows are dirty too. Left-out residuals of believed rows do as well.
"""

# %%
# A fifth of the targets is off. A plain network learns them by heart as it grows:

import matplotlib.pyplot as plt
import numpy as np

from robustscn import RobustSCNRegressor, SCNRegressor
from robustscn.datasets import contaminate, make_function
from robustscn.plots import GrowthDisplay

X, y = make_function(300, rng=2)
dirty, wrong = contaminate(y, 0.2, protocol="replace", rng=2)
grid, truth = make_function(400, grid=True)

sizes = [5, 10, 20, 40, 80, 120]
errors, shown = [], []
plain = SCNRegressor(5, scopes=(50, 100), n_candidates=50, warm_start=True, random_state=0)
for size in sizes:
    plain.set_params(max_nodes=size).fit(X, dirty)
    errors.append(np.sqrt(np.mean((plain.predict(grid) - truth) ** 2)))
    shown.append(plain.error_path_[-1])

# %%
# `RobustSCNRegressor` keeps a quarter of the rows from each network. Their weighted error says when
# to stop; what the last nodes cost is left to the ridge.

model = RobustSCNRegressor(n_networks=8, random_state=0).fit(X, dirty)
error = np.sqrt(np.mean((model.predict(grid) - truth) ** 2))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.plot(sizes, shown, "o--", color="#8a97a5", label="what it sees: dirty training rows")
left.plot(sizes, errors, "o-", color="#c2371e", label="what is true: the function")
left.axhline(error, color="#1f5f8b", label="RobustSCN, true error")
left.set(xlabel="nodes of a plain network", ylabel="error", yscale="log")
left.legend(fontsize=8)
GrowthDisplay.from_estimator(model, ax=right)
right.set_title("RobustSCN: the mean of its networks", fontsize=10)
plt.show()

# %%
# Why it stopped, in its own words, and how many nodes each network has on average:

print(model.stop_reason_)
print(f"{model.n_nodes_ / model.n_networks:.0f} nodes")
