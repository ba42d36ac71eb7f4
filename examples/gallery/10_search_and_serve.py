"""
Grid search, then ONNX
======================

Two settings are searched on dirty rows by a score that does not mind them, and the winner is served
without Python in the loop.
"""

# %%
# The simulated grinding circuit, a fifth of its laboratory values wrong.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import pandas as pd
from sklearn.model_selection import GridSearchCV

from robustscn import RobustSCNRegressor
from robustscn.datasets import contaminate, make_grinding
from robustscn.onnx import save_onnx

X, y = make_grinding(500, rng=0)
dirty, wrong = contaminate(y, 0.2, protocol="add", rng=0)

# %%
# Scored by the *median* absolute error: a tenth of the rows being wild does not move it, while it
# decides a squared error alone.

search = GridSearchCV(
    RobustSCNRegressor(n_networks=2, n_rounds=5, second_look=False, n_jobs=1, random_state=0),
    {"max_nodes": [10, 30, 90], "weighting": ["huber", "geman-mcclure", "kde"]},
    scoring="neg_median_absolute_error",
    cv=3,
)
search.fit(X, dirty)
table = pd.DataFrame(search.cv_results_).pivot_table(
    index="param_max_nodes", columns="param_weighting", values="mean_test_score"
)

figure, axis = plt.subplots(figsize=(5.4, 3.6))
image = axis.imshow(-table, cmap="viridis_r")
axis.set_xticks(range(3), table.columns)
axis.set_yticks(range(3), table.index)
axis.grid(False)
axis.set(ylabel="max_nodes", title="median absolute error on rows kept out")
for (row, column), value in np.ndenumerate(-table.to_numpy()):
    axis.text(column, row, f"{value:.4f}", ha="center", va="center", color="white")
plt.show()
print(search.best_params_)

# %%
# The whole prediction, scaling included, as one ONNX graph:

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.onnx"
    save_onnx(search.best_estimator_, path, target_names=["size"])
    session = onnxruntime.InferenceSession(str(path))
    (served,) = session.run(["prediction"], {"X": X.astype("float32")})
    print(f"{path.stat().st_size / 1000:.0f} kB")

python = search.predict(X)
print(
    f"largest difference to predict: {np.abs(served.ravel() - python).max():.1e} of {np.ptp(y):.2f}"
)
