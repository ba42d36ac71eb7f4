"""
Rows in chunks, on a cluster
============================

The same estimators for Dask arrays and data frames. Here the cluster is this machine; an address in
``Client("tcp://...")`` makes it another.
"""

# %%
# 60,000 rows in six chunks, a tenth of the targets wrong. Nothing is computed yet.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from robustscn.dask import DaskRSCKDERegressor

random = da.random.default_rng(0)
X = random.uniform(size=(60_000, 4), chunks=(10_000, 4))
clean = da.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2]
hit = random.uniform(size=60_000, chunks=10_000) < 0.1
y = da.where(hit, clean + random.uniform(-3, 3, size=60_000, chunks=10_000), clean)

# %%
# Threads in this process keep the example short. For work, ``LocalCluster()`` starts processes, and
# a script then needs ``if __name__ == "__main__":`` around this.

with LocalCluster(
    n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
) as cluster, Client(cluster):  # fmt: skip
    X, y, hit = X.persist(), y.persist(), hit.persist()
    model = DaskRSCKDERegressor(
        60, block=10, n_rounds=3, scopes=(1, 5, 20), scope_order="pooled", random_state=0
    ).fit(X, y)
    print(f"{model.n_nodes_} nodes, all rows read {model.n_passes_} times")
    suspects = model.outlier_table()
    flagged = model.outliers_.compute()
    part, truth = X[:3000].compute(), clean[:3000].compute()
    hit = hit.compute()
    local = model.to_local()

print(f"{(flagged & hit).sum()} of {hit.sum()} wrong rows found, {(flagged & ~hit).sum()} falsely")

# %%
# ``to_local`` gives the estimator without Dask: save it, export it, predict anywhere.

predicted = local.predict(part)
figure, axis = plt.subplots(figsize=(5.4, 4.4))
axis.plot(truth, predicted, ".", ms=3, alpha=0.4, color="#1f5f8b")
axis.plot([-1, 2], [-1, 2], color="#8a97a5", lw=1)
error = np.sqrt(np.mean((predicted - truth) ** 2))
axis.set(xlabel="truth", ylabel="predicted", title=f"error {error:.3f} from rows with 10 % wrong")
plt.show()

# %%
# Only the suspect rows were brought here:

suspects.head(5).round(3)
