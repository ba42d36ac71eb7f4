"""
Networks and trees together
===========================

Networks are at home on smooth relations, trees on steps. `RobustBlendRegressor` lets networks judge
the rows, teaches trees with their weights, and gives each the share of the prediction that rows
kept from both earn it.
"""

# %%
# Three relations, each with a fifth of its targets wrong: smooth, with steps, and half of each.

import matplotlib.pyplot as plt
import numpy as np

from robustscn import RobustBlendRegressor, RobustSCNRegressor

rng = np.random.default_rng(0)
X, new = rng.uniform(size=(1000, 3)), rng.uniform(size=(4000, 3))


def smooth(X):
    return np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2]


def steps(X):
    return 2.0 * (X[:, 0] > 0.4) + 1.0 * (X[:, 1] > 0.7) * (X[:, 2] < 0.6)


relations = {
    "smooth": smooth,
    "half of each": lambda X: 0.5 * smooth(X) + 0.5 * steps(X),
    "steps": steps,
}
errors, shares = [], []
for relation in relations.values():
    y = relation(X) + 0.1 * rng.normal(size=1000)
    wrong = rng.uniform(size=1000) < 0.2
    y[wrong] += rng.uniform(-4, 4, wrong.sum())
    networks = RobustSCNRegressor(n_networks=8, max_nodes=80, random_state=0)
    model = RobustBlendRegressor(networks, random_state=0).fit(X, y)
    parts = model.networks_.predict(new), model.estimator_.predict(new), model.predict(new)
    errors.append([np.sqrt(np.mean((part - relation(new)) ** 2)) for part in parts])
    shares.append(model.share_[0])

# %%
# The error of each part and of both together, and how much of the prediction is the networks':

figure, axis = plt.subplots(figsize=(8, 4))
place = np.arange(3)
for k, (name, colour) in enumerate(
    {"networks": "#8fa3b5", "trees, with their weights": "#d9a27f", "together": "#c2371e"}.items()
):
    axis.bar(place + 0.27 * (k - 1), np.array(errors)[:, k], 0.25, label=name, color=colour)
axis.set_xticks(
    place,
    [f"{name}\nnetworks' share {share:.0%}" for name, share in zip(relations, shares, strict=True)],
)
axis.set_ylabel("error on clean rows")
axis.legend()
plt.show()
