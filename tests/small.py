"""Small problems, the nodes and networks that are made on them, and columns of odd values."""

from __future__ import annotations

import numpy as np

from robustscn.core.memory import Plan
from robustscn.core.problem import Problem
from robustscn.core.proposals import Draw
from robustscn.core.recipe import Recipe
from robustscn.core.rows import LocalRows
from robustscn.core.stream import Stream, begun

SCOPES = (0.5, 2.0, 8.0)


def problem(n_rows=50, n_outputs=1, seed=0, block_bytes=2**21):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 2))
    y = np.stack([np.sin((3 + q) * X[:, 0]) + X[:, 1] ** 2 for q in range(n_outputs)], axis=1)
    y += 0.05 * rng.normal(size=y.shape)
    weight = rng.uniform(0.2, 2.0, size=n_rows)
    weight[::11] = 0.0
    return Problem(LocalRows(n_rows, block_bytes), X, y, weight)


def recipe(max_nodes=8, seed=3, n_candidates=15, scopes=SCOPES, **options):
    return Recipe(Draw(seed, 2, scopes, n_candidates), max_nodes, **options)


def pools(some):
    """The candidates that the library meets, as the reference wants them."""

    def drawn(node, round=0):
        at = [some.draw.pool(s, np.zeros((1, 2)), node=node, round=round) for s in range(3)]
        return [(pool.weights, pool.biases) for pool in at]

    return drawn


def identical(left, right):
    """Fail unless two states of growth are equal to the last bit."""
    np.testing.assert_array_equal(left.nodes.weights, right.nodes.weights)
    np.testing.assert_array_equal(left.fit.output_weights, right.fit.output_weights)
    np.testing.assert_array_equal(left.fit.residuals, right.fit.residuals)
    np.testing.assert_array_equal(left.energy, right.energy)
    assert left.stop == right.stop


def data(n_rows=120, n_outputs=2, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 3))
    y = np.stack([np.sin((2 + q) * X[:, 0]) * X[:, 1] for q in range(n_outputs)], axis=1)
    y += 0.1 * rng.normal(size=y.shape)
    weight = rng.uniform(0.2, 2.0, size=n_rows)
    weight[::9] = 0.0
    return X.astype(dtype), y.astype(dtype), weight.astype(dtype)


def steep(n_nodes, n_features=3, seed=0):
    """Nodes that differ: condition numbers of some hundreds."""
    return Draw(seed, n_features, (6.0,), n_nodes).pool(0, np.zeros((1, n_features)))


def weighted_square(e, weight):
    return float(np.sum(weight[:, None] * e * e))


def ill_conditioned(n_rows=300):
    """Shallow nodes of one input: the hidden matrix has hardly ten directions."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(n_rows, 1))
    y = np.sin(5 * X) + 0.1 * rng.normal(size=X.shape)
    return X, y, rng.uniform(0.1, 2.0, size=n_rows), Draw(0, 1, (0.5,), 60).pool(0, X)


VALUES = {
    "normal": lambda rng: rng.normal(size=50),
    "ties": lambda rng: rng.integers(0, 4, size=50).astype(float),
    "equal": lambda _: np.full(50, -3.0),
    "neighbouring floats": lambda rng: 1.0 + rng.integers(0, 3, 50) * np.finfo(np.float64).eps,
    "twelve decades": lambda rng: rng.normal(size=50) * 10.0 ** rng.integers(-6, 6, 50),
    "one gross": lambda rng: np.append(rng.normal(size=49), 1e12),
}


def plant(n: int, seed: int = 0, wrong: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, clean targets and targets with some wrong ones."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    clean = np.sin(6 * X[:, 0]) + X[:, 1] + 10.0
    y = clean + 0.05 * rng.normal(size=n)
    hit = rng.uniform(size=n) < wrong
    y[hit] += rng.uniform(-5, 5, hit.sum())
    return X, clean, y


def nothing(X: np.ndarray) -> np.ndarray:
    return np.zeros((len(X), 0))


def stream_alone(
    half_life: float | None = None, n_features: int = 3, max_nodes: int = 30
) -> Stream:
    """Return a stream without a fitted model."""
    plan = Plan(half_life, True, max_nodes, 0)
    return begun(plan, n_given=0, n_features=n_features, n_outputs=1)


def after(stream: Stream, X: np.ndarray, y: np.ndarray) -> Stream:
    stream.learn(X, y[:, None], np.ones(len(y)), nothing)
    return stream
