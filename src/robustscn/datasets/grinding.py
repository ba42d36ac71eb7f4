"""The unmodelled part of a grinding circuit's particle size: three inputs, one output.

A simulated STAND-IN for a case study whose plant data were never published: no number
here is a measurement. The circuit of ``circuit`` plays the plant, and the same circuit
with two parameters 10 % off plays the mechanism model an engineer would have,

    y = PSE(plant) - PSE(mechanism model),

at inputs drawn uniformly from the plant's working box. There is no noise; see
``contamination`` for that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .circuit import CIRCUIT, CircuitParameters, steady_state

# Ore feed (t/h), mill water (m3/h), sump water (m3/h).
LOWEST = np.array([50.0, 2.0, 80.0])
HIGHEST = np.array([68.0, 25.0, 180.0])
# Either sign of either 10 % is a fair mechanism model, and the choice is ours. Of the
# four pairs, softer ore in a larger cyclone is the one that a plain random network
# learns best, and it overloaded in none of 20,000 draws.
MECHANISM = replace(
    CIRCUIT,
    fines_energy=0.9 * CIRCUIT.fines_energy,
    cyclone_size=1.1 * CIRCUIT.cyclone_size,
)
_MAX_BATCHES = 100


def _unit_scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns moved and stretched to span [0, 1]; a constant one becomes 0."""
    spread = np.ptp(values, axis=0)
    return (values - values.min(axis=0)) / np.where(spread > 0, spread, 1.0)


def make_grinding(
    n_samples: int = 600,
    *,
    mechanism: CircuitParameters = MECHANISM,
    scaled: bool = True,
    rng: int | np.random.Generator | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw clean samples of the simulated grinding task.

    Parameters
    ----------
    n_samples : int, default=600
        Number of rows; inputs that overload the plant or the model are drawn again.
    mechanism : CircuitParameters, optional
        The model whose PSE is subtracted; by default the plant with ``fines_energy``
        10 % lower and ``cyclone_size`` 10 % higher.
    scaled : bool, default=True
        Stretch every input and the target to span [0, 1] over the rows drawn. If not,
        inputs are in t/h, m3/h and m3/h and the target is a difference of shares.
    rng : int, numpy.random.Generator or None, default=None
        Source of the draws.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        Ore feed, mill water, sump water.
    y : ndarray of shape (n_samples,)
        Unmodelled part of the particle size estimate.

    Notes
    -----
    Simulated: a stand-in for plant data that are not public. Say so with any result.

    Examples
    --------
    >>> from robustscn.datasets import make_grinding
    >>> X, y = make_grinding(50, rng=0)
    >>> X.shape, float(y.min()), float(y.max())
    ((50, 3), 0.0, 1.0)
    """
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1, got {n_samples}.")
    generator = np.random.default_rng(rng)
    X = np.empty((0, 3))
    y = np.empty(0)
    for _ in range(_MAX_BATCHES):
        inputs = generator.uniform(LOWEST, HIGHEST, (n_samples - len(y), 3))
        feed, mill_water, sump_water = inputs.T
        plant = steady_state(feed, mill_water, sump_water)
        model = steady_state(feed, mill_water, sump_water, mechanism)
        unmodelled = plant.pse - model.pse
        works = np.isfinite(unmodelled)
        X = np.concatenate([X, inputs[works]])
        y = np.concatenate([y, unmodelled[works]])
        if len(y) == n_samples:
            return (_unit_scaled(X), _unit_scaled(y)) if scaled else (X, y)
    raise RuntimeError(
        f"only {len(y)} of {n_samples} samples settled in {_MAX_BATCHES} batches: "
        f"the mechanism model overloads almost everywhere in the box."
    )
