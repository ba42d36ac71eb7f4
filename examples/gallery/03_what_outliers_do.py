"""
What each outlier does
======================

Add wrong targets one after the other and watch what a least-squares network, boosted trees with
the absolute error and `RobustSCNRegressor` make of the same rows. Move the slider.
"""

# %%
# 200 rows of a sine. The wrong targets come in a fixed order, all on one side: the case that hurts
# most, since they do not cancel.

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from sklearn.ensemble import HistGradientBoostingRegressor

from robustscn import RobustSCNRegressor, SCNRegressor

rng = np.random.default_rng(3)
X = np.sort(rng.uniform(0, 1, 200))[:, None]
truth = np.sin(2 * np.pi * X[:, 0])
y = truth + 0.1 * rng.normal(size=200)
order = rng.permutation(200)
jump = rng.uniform(1, 3, 200)
counts = [0, 10, 20, 40, 60, 80]

models = {
    "least squares": lambda: SCNRegressor(15, random_state=0),
    "boosting, absolute error": lambda: HistGradientBoostingRegressor(
        loss="absolute_error", min_samples_leaf=10, random_state=0
    ),
    "RobustSCN": lambda: RobustSCNRegressor(n_networks=4, max_nodes=40, random_state=0),
}

# %%
# Six fits of each.

grid = np.linspace(0, 1, 150)[:, None]
steps = []
for count in counts:
    dirty = y.copy()
    dirty[order[:count]] += jump[order[:count]]
    curves = {name: make().fit(X, dirty).predict(grid) for name, make in models.items()}
    steps.append((dirty, curves))

# %%
# The figure can be zoomed and hovered over.

clean = np.sin(2 * np.pi * grid[:, 0])
figure = make_subplots(1, 3, shared_yaxes=True, subplot_titles=list(models))
for column, name in enumerate(models, start=1):
    dirty, curves = steps[0]
    place = {"row": 1, "col": column, "showlegend": False}
    figure.add_scatter(
        x=X[:, 0], y=dirty, mode="markers", marker={"size": 4, "color": "#8a97a5"}, **place
    )
    figure.add_scatter(x=grid[:, 0], y=curves[name], line={"color": "#d1495b", "width": 3}, **place)
    figure.add_scatter(x=grid[:, 0], y=clean, line={"color": "#8a97a5", "dash": "dot"}, **place)


def frame(count, dirty, curves):
    """Return the rows and the curve of each panel, and the error above it."""
    data = [go.Scatter(y=y) for curve in curves.values() for y in (dirty, curve)]
    errors = {name: np.sqrt(np.mean((curve - clean) ** 2)) for name, curve in curves.items()}
    titles = [{"text": f"{name}<br>error {error:.3f}"} for name, error in errors.items()]
    return go.Frame(
        name=str(count), data=data, traces=[0, 1, 3, 4, 6, 7], layout={"annotations": titles}
    )


figure.frames = [frame(count, *step) for count, step in zip(counts, steps, strict=True)]
at_once = {"mode": "immediate", "frame": {"duration": 0}}
slider = {
    "currentvalue": {"prefix": "wrong rows of 200: "},
    "pad": {"t": 30},
    "steps": [
        {"label": each.name, "method": "animate", "args": [[each.name], at_once]}
        for each in figure.frames
    ],
}
figure.update_yaxes(range=[-1.6, 4])
figure.update_layout(sliders=[slider], height=440)
figure.show()

# %%
# The same in one picture: error against the number of wrong rows.

import matplotlib.pyplot as plt

for name, colour in zip(models, ("#8a97a5", "#e4a08a", "#1f5f8b"), strict=True):
    errors = [np.sqrt(np.mean((curves[name] - clean) ** 2)) for _, curves in steps]
    plt.plot(counts, errors, "o-", color=colour, label=name)
plt.gca().set(xlabel="wrong rows of 200", ylabel="error against the truth", ylim=(0, None))
plt.legend()
plt.show()
