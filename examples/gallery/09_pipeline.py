"""
Missing values and categories in a pipeline
===========================================

A table as it comes: gaps, a column of text, prices off by a factor of ten. The estimator is the
last step of an ordinary scikit-learn pipeline.
"""

# %%
# Flats, simulated. Three in a hundred prices lost or gained a zero when they were typed.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from robustscn import RobustSCNRegressor

rng = np.random.default_rng(0)
n = 800
flats = pd.DataFrame(
    {
        "area": rng.lognormal(4.2, 0.35, n).round(),
        "floor": rng.integers(0, 9, n).astype(float),
        "year": rng.integers(1900, 2020, n).astype(float),
        "quarter": rng.choice(["north", "east", "south", "harbour"], n),
    }
)
worth = flats["quarter"].map({"north": 0.9, "east": 1.0, "south": 1.2, "harbour": 1.6})
price = 3.1 * flats["area"] * worth * (1 + 0.01 * flats["floor"]) * rng.lognormal(0, 0.06, n)
flats.loc[rng.choice(n, 90, replace=False), "year"] = np.nan
flats.loc[rng.choice(n, 60, replace=False), "quarter"] = None
typed = price.copy()
slipped = rng.choice(n, 24, replace=False)
typed.iloc[slipped] *= rng.choice([0.1, 10], 24)

# %%
# Gaps are filled and marked, text becomes columns. The target is learned in logarithms: a slip of
# a zero is then the same step for a cellar and for a palace.

columns = make_column_transformer(
    (SimpleImputer(add_indicator=True), ["area", "floor", "year"]),
    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["quarter"]),
)
model = make_pipeline(columns, RobustSCNRegressor(n_networks=6, max_nodes=60, random_state=0))
model.fit(flats, np.log10(typed))
model

# %%
# The displays take pipelines.

from robustscn.plots import SuspectRowsDisplay

display = SuspectRowsDisplay.from_estimator(model)
display.ax_.set(xlabel="log10 of the price expected", ylabel="log10 of the price typed")
plt.show()

# %%
# And the slips, with the rows they are in:

judge = model[-1]
found = np.flatnonzero(judge.outliers_)
print(f"{np.isin(slipped, found).sum()} of {len(slipped)} slips found, {len(found)} rows flagged")
judge.outlier_table(index=flats.index).head(5).round(2)
