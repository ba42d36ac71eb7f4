"""Upkeep of a stream's network: idle nodes go, new ones grow, both channels are solved again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .arrays import HostArray
from .channel import LEVEL, Channel
from .memory import BLOCK, FAST, LONG, SHORT, SLOW, Memory
from .regrowth import Evidence, more_nodes, recipe_of, solved, unit_of
from .running import far, inlier_weight

CARRIES = 0.01
"""Robust standard deviations that a node must move predictions by, or it is removed: nobody would
see it go."""


def renew(memory: Memory) -> None:
    """Solve both channels again from the kept rows, with other nodes where these help."""
    kept = memory.kept
    n_new = min(len(kept), memory.n_rows - memory.since)
    memory.due = memory.n_rows + max(BLOCK, memory.n_rows - memory.since)
    columns = memory.columns(kept.X, kept.given)
    evidence = [
        _evidence(memory, columns @ channel.output_weights, n_new, fast)
        for channel, fast in ((memory.slow, False), (memory.fast, True))
    ]
    unit = unit_of(kept.X)
    memory.nodes, memory.unit = memory.unit.translated(memory.nodes, unit), unit
    carried = _carried(memory, columns)
    if not np.all(carried > CARRIES):
        _keep_nodes(memory, np.flatnonzero(carried > CARRIES))
    if n_new >= 3 * BLOCK:
        _regrow(memory, n_new, evidence[0])
    solve(memory, evidence, memory.columns(kept.X, kept.given))


def _carried(memory: Memory, columns: HostArray) -> HostArray:
    """Return how many standard deviations each node moves the predictions by."""
    n_nodes = len(memory.nodes)
    hidden = columns[:, -1 - n_nodes : -1]
    size = np.maximum(np.abs(memory.slow.output_weights), np.abs(memory.fast.output_weights))
    moved = np.std(hidden, axis=0)[:, None] * size[-1 - n_nodes : -1]
    return np.max(moved / memory.scales(SLOW, LONG), axis=1, initial=0.0)


def _keep_nodes(memory: Memory, numbers: HostArray) -> None:
    """Remove all other nodes; output weights are to be solved for."""
    n_first = len(memory.slow.output_weights) - 1 - len(memory.nodes)
    rows = np.concatenate([np.arange(n_first), n_first + numbers, [-1]])
    memory.nodes = memory.nodes.take(numbers)
    channels = memory.slow, memory.fast
    memory.slow, memory.fast = (
        replace(each, output_weights=each.output_weights[rows]) for each in channels
    )
    memory.archive = [weights[rows] for weights in memory.archive]


def _regrow(memory: Memory, n_new: int, evidence: Evidence) -> None:
    """Take in nodes with which the latest rows are met better; the weakest make room."""
    kept, columns = memory.kept, memory.columns(memory.kept.X, memory.kept.given)
    most, n_nodes = memory.plan.max_nodes, len(memory.nodes)
    n_weak = max(0, n_nodes + most // 4 - most)
    order = np.argsort(-_carried(memory, columns), kind="stable")
    stay = np.sort(order[: n_nodes - n_weak])
    n_first = columns.shape[1] - 1 - n_nodes
    left = np.concatenate([np.arange(n_first), n_first + stay, [columns.shape[1] - 1]])
    recipe = recipe_of(
        kept.X.shape[1],
        most - len(stay),
        memory.plan.seed,
        memory.n_rows // BLOCK,
        memory.plan.activation,
    )
    nodes = more_nodes(
        memory.unit.inputs(kept.X)[-n_new:],
        columns[-n_new:],
        columns[-n_new:, left],
        evidence.last(n_new),
        recipe,
        n_given=kept.given.shape[1],
    )
    if nodes is None:
        return
    _keep_nodes(memory, stay)
    memory.nodes = memory.nodes.joined(nodes)
    memory.archive = [
        np.insert(weights, [-1] * len(nodes), 0.0, axis=0) for weights in memory.archive
    ]


def solve(memory: Memory, evidence: list[Evidence], columns: HostArray) -> None:
    """Let both channels know just what the evidence says."""
    channels = []
    for each in evidence:
        information, ridge, _ = solved(columns, each, memory.kept.given.shape[1])
        weights = information.output_weights()
        tail = memory.kept.y[-LEVEL:] - columns[-LEVEL:] @ weights
        channels.append(Channel(information, weights, ridge, tail))
    memory.slow, memory.fast = channels


def _evidence(memory: Memory, says: HostArray, n_new: int, fast: bool) -> Evidence:
    """Return what a channel knows as kept rows of the present world and what it says of all."""
    kept = memory.kept
    weight = np.where(np.arange(len(kept)) >= len(kept) - n_new, kept.weight, 0.0)
    if memory.plan.robust:
        which, window = (FAST, SHORT) if fast else (SLOW, LONG)
        weight = weight * inlier_weight(far(kept.y - says, memory.scales(which, window)))
    half_life = memory.shorter_half_life() if fast else memory.plan.half_life
    if half_life is not None:
        age = np.append(np.cumsum(kept.weight[:0:-1])[::-1], 0.0)
        weight = weight * 2.0 ** (-age / half_life)
    total = (memory.fast if fast else memory.slow).information.weight
    return Evidence(kept.y, weight, says, max(total - float(weight.sum()), 0.0))
