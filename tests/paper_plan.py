"""A plan of the paper's experiments that takes no time, and how its results are compared."""

import json

import reference
from robustscn.core.proposals import Draw
from robustscn.paper.runner import (
    Plan,
    execute,
)
from robustscn.paper.settings import (
    Experiment,
    Task,
)
from robustscn.paper.store import Store

SMALL = Task(
    "function",
    (1.0, 30.0),
    (10, 20),
    trials=8,
    figure_size=20,
    figure_scopes=(1.0, 30.0),
    steep=True,
)
"""The function with a grid that takes no time."""
TINY = Plan((Experiment(SMALL, levels=(0.10, 0.20), tuned_at=(0.10,)),), ("choice", "layers"), 7)


def without_seconds(trials):
    return [{k: v for k, v in trial.items() if k != "seconds"} for trial in trials]


def stored(folder):
    """All that was stored, apart from how long it took."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text())
        found[path.name] = record | {"trials": without_seconds(record["trials"])}
    return found


def quiet(*_):
    pass


def run_whole(folder):
    """Return a folder with all cells of the plan, and what the run told of itself."""
    told = []
    execute(TINY, Store(folder), 1, lambda *what: told.append(what))
    return folder, told


def hidden(X, seed, scope, size, largest=None):
    """The first nodes of a draw, and their outputs by the literal formula."""
    nodes = Draw(seed, X.shape[1], (scope,), largest or size).pool(0, X)
    return reference.hidden(X, nodes.weights[:, :size], nodes.biases[:size])
