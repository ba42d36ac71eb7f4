"""
Find the bad sensors
====================

Eight sensors of a plant measure quantities that follow from each other. Each is predicted from the
other seven; a sensor that is off disagrees with what they say. Which one is it, and when?
"""

# %%
# Ten days of a simulated plant with two hidden loads. Sensor C sticks for half a day, sensor F is
# off by a wrong calibration for a day, and all of them have a spike now and then.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from robustscn import RobustSCNRegressor

rng = np.random.default_rng(1)
hours = np.arange(0, 240, 0.25)
load = np.sin(hours / 9) + 0.4 * np.sin(hours / 2.3)
heat = np.cos(hours / 13) + 0.3 * rng.normal(size=len(hours)).cumsum() / 20
plant = pd.DataFrame(
    {
        "A": 2 * load + heat,
        "B": load**2 + 0.5 * heat,
        "C": 3 * heat - load,
        "D": np.tanh(load) + heat,
        "E": load * heat,
        "F": 4 * load,
        "G": heat**2 - load,
        "H": load + 2 * heat,
    },
    index=pd.Index(hours, name="hour"),
)
shown = plant + 0.05 * rng.normal(size=plant.shape)
spikes = rng.uniform(size=shown.shape) < 0.01
shown = shown.mask(spikes, shown + rng.choice([-2, 2], size=shown.shape))
shown.loc[60:72, "C"] = shown.loc[60, "C"]
shown.loc[150:174, "F"] += 1.2

# %%
# One fit for each sensor. A few small networks are enough here.

flagged = pd.DataFrame(index=shown.index, columns=shown.columns, dtype=bool)
deviations = flagged.astype(float)
for sensor in shown:
    model = RobustSCNRegressor(n_networks=4, max_nodes=40, n_rounds=6, random_state=0)
    model.fit(shown.drop(columns=sensor), shown[sensor])
    flagged[sensor] = model.outliers_
    deviations[sensor] = model.residuals_ / model.residual_scale_

# %%
# A stripe is a sensor that was off for long. The other sensors pale a little at those hours, since
# they are predicted from the bad one; they are not flagged for it as often.

figure, axis = plt.subplots(figsize=(7.6, 3.8))
image = axis.imshow(
    deviations.T.clip(-10, 10), aspect="auto", cmap="RdBu", vmin=-10, vmax=10, extent=(0, 240, 8, 0)
)
axis.set_yticks(np.arange(8) + 0.5, shown.columns)
axis.grid(False)
axis.set(xlabel="hour", ylabel="sensor", title="Deviation from what the others say")
figure.colorbar(image, label="robust standard deviations")
plt.show()

# %%
# The same as a ranking, in hours flagged:

(flagged.sum() / 4).sort_values(ascending=False).rename("hours flagged")
