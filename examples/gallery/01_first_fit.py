"""
A first fit
===========

A quarter of the targets is wrong, and nobody says which. `RobustSCNRegressor` learns the relation
as it is without them and flags them.
"""

# %%
# The data: a function with two peaks, 150 of 600 targets replaced by noise.

import matplotlib.pyplot as plt
import numpy as np

from robustscn import RobustSCNRegressor
from robustscn.datasets import contaminate, make_function

X, y = make_function(600, rng=0)
dirty, wrong = contaminate(y, 0.25, protocol="replace", rng=0)

# %%
# One line. Nothing is tuned, and no row is known to be clean.

model = RobustSCNRegressor(random_state=0).fit(X, dirty)
model

# %%
# Beside what the rows really were:

grid, truth = make_function(400, grid=True)
prediction = model.predict(grid)

figure, axis = plt.subplots()
flagged = model.outliers_
axis.plot(X[~flagged], dirty[~flagged], ".", ms=4, color="#9aa5b1", label="believed")
axis.plot(X[flagged], dirty[flagged], "x", ms=5, color="#c2371e", label="flagged")
axis.plot(grid, truth, color="#2f3e4e", lw=3, alpha=0.4, label="truth")
axis.plot(grid, prediction, color="#1f5f8b", lw=1.6, label="learned")
axis.set(xlabel="x", ylabel="y", title=f"{flagged.sum()} of {len(y)} rows flagged")
axis.legend(ncols=2, fontsize=9)
plt.show()

# %%
# How many of the wrong rows were found, and how many right ones flagged with them:

print(f"{(flagged & wrong).sum()} of {wrong.sum()} wrong rows found")
print(f"{(flagged & ~wrong).sum()} right rows flagged")
print(f"error {np.sqrt(np.mean((prediction - truth) ** 2)):.4f}")

# %%
# The flagged rows as a table, the strangest first.

model.outlier_table().head(8).round(3)
