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

figure = make_subplots(1, 3, shared_yaxes=True, subplot_titles=list(models))
for column in (1, 2, 3):
    rows = {"mode": "markers", "showlegend": False, "hoverinfo": "y"}
    figure.add_scatter(
        x=X[:, 0], y=y, marker={"size": 4, "color": "#8a97a5"}, row=1, col=column, **rows
    )
    lines = {"mode": "lines", "showlegend": False, "hoverinfo": "skip"}
    figure.add_scatter(
        x=grid[:, 0], y=np.sin(2 * np.pi * grid[:, 0]), line={"color": "#8a97a5", "dash": "dot"},
        row=1, col=column, **lines,
    )  # fmt: skip
    curve = next(iter(models.values()))
    figure.add_scatter(
        x=grid[:, 0],
        y=grid[:, 0],
        line={"color": "#d1495b", "width": 3},
        row=1,
        col=column,
        **lines,
    )

clean = np.sin(2 * np.pi * grid[:, 0])
figure.frames = [
    go.Frame(
        name=str(count),
        data=[
            trace
            for curve in curves.values()
            for trace in (go.Scatter(y=dirty), go.Scatter(y=curve))
        ],
        traces=[0, 2, 3, 5, 6, 8],
        layout={
            "annotations": [
                {"text": f"{name}<br>error {np.sqrt(np.mean((curve - clean) ** 2)):.3f}"}
                for name, curve in curves.items()
            ]
        },
    )
    for count, (dirty, curves) in zip(counts, steps, strict=True)
]
for trace, wanted in zip(figure.frames[0].data, (0, 2, 3, 5, 6, 8), strict=True):
    figure.data[wanted].y = trace.y
for note, wanted in zip(
    figure.layout.annotations, figure.frames[0].layout.annotations, strict=True
):
    note.text = wanted.text
slider = {
    "currentvalue": {"prefix": "wrong rows of 200: "},
    "pad": {"t": 30},
    "steps": [
        {
            "label": str(c),
            "method": "animate",
            "args": [[str(c)], {"mode": "immediate", "frame": {"duration": 0}}],
        }
        for c in counts
    ],
}
figure.update_yaxes(range=[-1.6, 4])
figure.update_layout(
    sliders=[slider], height=440, margin={"l": 30, "r": 10, "t": 60, "b": 20},
    paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", font_color="#7a8794",
)  # fmt: skip
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
