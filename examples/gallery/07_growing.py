"""
Growing a network, node by node
===============================

What is *stochastic configuration*? Candidates are drawn at random, but only one that is sure to
reduce the error joins. Press play and watch fifteen nodes find their places.
"""

# %%
# The whole algorithm fits on a page when speed is no matter. A candidate with outputs :math:`h` is
# scored by the supervisory inequality:
# :math:`\xi = (e^\top h)^2 / h^\top h - (1 - r - \mu) e^\top e`
# must not be negative, and the largest wins. Then all output weights are solved again.

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from robustscn.datasets import make_function

X, y = make_function(400, rng=0)
grid, truth = make_function(200, grid=True)
rng = np.random.default_rng(0)


def hidden(x, weights, biases):
    return 1 / (1 + np.exp(-np.clip(x * weights + biases, -500, 500)))


weights, biases, history, residual = np.empty(0), np.empty(0), [], y.copy()
for n_nodes in range(15):
    drawn = rng.uniform(-1, 1, (2, 300)) * 100
    outputs = hidden(X, *drawn)
    gain = (residual @ outputs) ** 2 / np.sum(outputs**2, axis=0)
    for r in (0.9, 0.99, 0.999, 0.9999):
        xi = gain - (1 - r - (1 - r) / (n_nodes + 2)) * residual @ residual
        if (xi >= 0).any():
            break
    best = np.argmax(xi)
    weights, biases = np.append(weights, drawn[0, best]), np.append(biases, drawn[1, best])
    layer = hidden(X, weights, biases)
    solved = np.linalg.lstsq(layer, y, rcond=None)[0]
    residual = y - layer @ solved
    error = np.sqrt(np.mean(residual**2))
    history.append((drawn, xi, best, hidden(grid, weights, biases) @ solved, error))

# %%
# Left: the candidates of each step by the place and the steepness of their slope; grey ones are not
# admissible, the ringed one joins. Right: the network so far.


def frame(drawn, xi, best, curve):
    place = np.clip(-drawn[1] / drawn[0], -2, 2)
    steepness = np.abs(drawn[0])
    allowed = xi >= 0
    return [
        go.Scatter(x=place[~allowed], y=steepness[~allowed]),
        go.Scatter(x=place[allowed], y=steepness[allowed], marker={"color": xi[allowed]}),
        go.Scatter(x=[place[best]], y=[steepness[best]]),
        go.Scatter(x=grid[:, 0], y=curve),
    ]


figure = make_subplots(1, 2, subplot_titles=["candidates", "network"])
looks = {"mode": "markers", "showlegend": False}
figure.add_scatter(marker={"color": "#b8c1ca", "size": 5}, row=1, col=1, **looks)
figure.add_scatter(marker={"colorscale": "Viridis", "size": 7}, row=1, col=1, **looks)
ring = {"color": "rgba(0,0,0,0)", "size": 16, "line": {"color": "#d1495b", "width": 3}}
figure.add_scatter(marker=ring, row=1, col=1, **looks)
figure.add_scatter(line={"color": "#1f77b4", "width": 3}, showlegend=False, row=1, col=2)
figure.add_scatter(
    x=grid[:, 0], y=truth, line={"color": "#8a97a5", "dash": "dot"}, showlegend=False, row=1, col=2
)
figure.frames = [
    go.Frame(
        name=str(number),
        data=frame(*step[:4]),
        traces=[0, 1, 2, 3],
        layout={
            "annotations": [
                {"text": "candidates"},
                {"text": f"{number} nodes, error {step[4]:.4f}"},
            ]
        },
    )
    for number, step in enumerate(history, start=1)
]
for trace, first in zip(figure.data[:4], figure.frames[0].data, strict=True):
    trace.update(x=first.x, y=first.y)
figure.data[1].marker.color = figure.frames[0].data[1].marker.color

play = {"frame": {"duration": 700}, "transition": {"duration": 300}, "fromcurrent": True}
at_once = {"frame": {"duration": 0}, "mode": "immediate"}
figure.update_xaxes(range=[-1.6, 1.6], title="place", row=1, col=1)
figure.update_yaxes(range=[0, 105], title="steepness", row=1, col=1)
figure.update_yaxes(range=[-0.2, 0.8], row=1, col=2)
figure.update_layout(
    height=480,
    updatemenus=[{
        "type": "buttons", "x": 0.08, "y": -0.25, "bgcolor": "#ffffff",
        "buttons": [{"label": "▶ play", "method": "animate", "args": [None, play]}],
    }],
    sliders=[{
        "x": 0.15, "len": 0.85, "pad": {"t": 50}, "currentvalue": {"prefix": "nodes: "},
        "steps": [
            {"label": f.name, "method": "animate", "args": [[f.name], at_once]}
            for f in figure.frames
        ],
    }],
)  # fmt: skip
figure.show()

# %%
# `SCNRegressor` does the same with an orthogonal factorisation that grows along, in float32 where
# that is enough and in blocks of rows. Its error, step by step, beside the page above:

import matplotlib.pyplot as plt

from robustscn import SCNRegressor

model = SCNRegressor(15, scopes=(100,), n_candidates=300, random_state=0).fit(X, y)
plt.plot(range(1, 16), [step[4] for step in history], "o-", color="#8a97a5", label="the page above")
plt.plot(range(1, 16), model.error_path_, "o-", color="#1f5f8b", label="SCNRegressor")
plt.gca().set(xlabel="nodes", ylabel="error on the training rows", yscale="log")
plt.legend()
plt.show()
