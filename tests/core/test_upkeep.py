"""Nodes of a stream: idle ones go, others come where they help, both channels are solved again."""

from dataclasses import replace

import numpy as np

from robustscn.core.nodes import Nodes
from robustscn.core.regrowth import Evidence
from robustscn.core.upkeep import renew, solve
from small import after, nothing, plant, stream_alone


def bent(n, seed=0):
    """Inputs and targets that no plane meets."""
    X, clean, _ = plant(n, seed)
    return X, clean + 2 * np.sin(9 * X[:, 1])


def test_a_stream_that_no_plane_meets_grows_nodes() -> None:
    X, y = bent(1500)
    grown, none = after(stream_alone(max_nodes=30), X, y), after(stream_alone(max_nodes=0), X, y)
    assert 0 < len(grown.nodes) <= 30
    assert len(none.nodes) == 0
    probe, truth = bent(300, seed=5)
    errors = [np.mean(np.abs(one.predict(probe, nothing)[:, 0] - truth)) for one in (grown, none)]
    assert errors[0] < 0.6 * errors[1]


def test_idle_nodes_are_removed() -> None:
    X, y = bent(1500)
    stream = after(stream_alone(max_nodes=30), X, y)
    idle = Nodes(np.zeros((3, 2)), np.zeros(2))  # half of one everywhere: they move nothing
    stream.nodes = stream.nodes.joined(idle)
    for name in ("slow", "fast"):
        channel = getattr(stream, name)
        longer = np.insert(channel.output_weights, [-1, -1], 0.0, axis=0)
        setattr(stream, name, replace(channel, output_weights=longer))
    stream.archive = [np.insert(weights, [-1, -1], 0.0, axis=0) for weights in stream.archive]
    renew(stream)
    assert not np.any(np.all(stream.nodes.weights == 0.0, axis=0))
    width = stream.columns(X[:1], nothing(X[:1])).shape[1]
    for channel in (stream.slow, stream.fast):
        assert channel.output_weights.shape == (width, 1)


def test_solving_gives_the_least_squares_of_the_evidence() -> None:
    X, y = bent(400)
    stream = after(stream_alone(max_nodes=0), X, y)
    kept = stream.kept
    columns = stream.columns(kept.X, kept.given)
    exact = columns @ np.array([[1.0], [-2.0], [3.0], [0.5]])
    evidence = Evidence(exact, np.ones(len(exact)), exact, 0.0)
    stream.kept = replace(kept, y=exact)
    solve(stream, [evidence, evidence], columns)
    for channel in (stream.slow, stream.fast):
        np.testing.assert_allclose(columns @ channel.output_weights, exact, atol=1e-4)
        np.testing.assert_allclose(channel.tail, 0.0, atol=1e-4)
