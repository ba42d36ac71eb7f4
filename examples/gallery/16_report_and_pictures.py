"""
A page to show to others, and the same pictures in Python
=========================================================

What ``robustscn fit`` writes as ``report.html`` can be written from code, and each of its pictures
drawn by matplotlib.
"""

# %%
# A simulated mill, a fifth of its laboratory values wrong.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from robustscn import RobustSCNRegressor
from robustscn.datasets import contaminate, make_grinding

X, y = make_grinding(300, rng=0)
dirty, _ = contaminate(y, 0.2, protocol="add", rng=0)
features = ["ore feed", "mill water", "sump water"]
mill = pd.DataFrame(X, columns=features).assign(size=dirty)
model = RobustSCNRegressor(n_networks=4, max_nodes=30, n_rounds=6, random_state=0)
model.fit(mill[features], mill["size"])

# %%
# A record holds all that the page says, as plain data; it can be kept and rendered elsewhere.

from robustscn.report import record_of, render, write_report

record = record_of(model, mill, targets="size", features=features)
with tempfile.TemporaryDirectory() as folder:
    page = write_report(record, Path(folder) / "report.html")
    print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB, needs no network")
print(render(record).split("<h1>")[1].split("</h1>")[0])

# %%
# How residuals are spread, and what a row is worth at each distance:

from robustscn.plots import ResidualDensityDisplay, RoundsDisplay

ResidualDensityDisplay.from_estimator(model)
plt.show()

# %%
# How the error fell, round after round of judging:

RoundsDisplay.from_estimator(model)
plt.show()
