"""
A model as a file that runs no code
===================================

Saved, looked into without building it, loaded again to the bit; and what happens when a file holds
a type that nobody vouched for.
"""

# %%
# A small model with a weighting of our own in it.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from robustscn import RSCKDERegressor
from robustscn.datasets import make_function
from robustscn.weighting import Curve


class Hard(Curve):
    """Rows beyond three standard deviations do not count at all."""

    def weight(self, distance):
        return 1.0 * (distance < 3)


X, y = make_function(200, rng=0)
ours = RSCKDERegressor(max_nodes=20, n_rounds=2, random_state=0).fit(X, y)
strange = RSCKDERegressor(max_nodes=20, n_rounds=2, random_state=0, weighting=Hard()).fit(X, y)

# %%
# Saving writes the whole file or nothing. ``inspect`` says what is in a file and builds none of it.

from robustscn.persistence import UntrustedModel, inspect, load, save

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "model.skops"
save(ours, path, info={"target": "y"})
contents = inspect(path)
saved = load(path)
print(
    f"{path.stat().st_size / 1000:.0f} kB, {type(contents).__name__}, target {saved.info['target']}"
)
print("the same to the bit:", np.array_equal(saved.model.predict(X), ours.predict(X)))

order = np.argsort(X[:, 0])
plt.plot(X[order], y[order], ".", color="0.7", label="rows")
plt.plot(X[order], saved.model.predict(X)[order], label="the loaded model")
plt.legend()
plt.show()

# %%
# A type from elsewhere is refused by name, before anything of it is built. Who knows where the file
# comes from can vouch for it: ``load(path, trusted=[...])``.

save(strange, path)
try:
    load(path)
except UntrustedModel as refusal:
    print(str(refusal)[:160])
folder.cleanup()
