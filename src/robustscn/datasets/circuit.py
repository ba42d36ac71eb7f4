"""A grinding circuit in closed loop: mill, sump and hydrocyclone, and where it settles.

Equations and parameters: le Roux, Craig, Hulbert and Hinde, Minerals Engineering
43-44, 2013, doi 10.1016/j.mineng.2012.10.009. Ore feed, mill water and sump water go
in; the product's fineness comes out (PSE, the share of it under 75 um). Balls are held
constant, and so is the sump's volume, by the cyclone feed.

The state y' = f(y) is stepped by linearised implicit Euler, (I/h - f') dy = f, with h
growing: small steps follow the plant from its start, large ones are Newton's. A feed
the mill cannot grind fills it: that overload is reported as NaN, not raised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Mill water, solids, fines, rocks; sump solids, fines (m3). The sump's water is the
# rest of its volume: a state of its own would make the steady state's Jacobian singular.
START = np.array([4.85, 4.90, 1.09, 1.82, 1.88, 0.42])
_FIRST_STEP = 0.02  # h; the fastest volume, the sump, turns over in about this
_STEP_GROWTH = 1.3
_N_STEPS = 60  # the last step is 10^5 h long: plain Newton
_SETTLED = 1e-8  # m3/h, against flows of some hundreds


@dataclass(frozen=True)
class CircuitParameters:
    """What the circuit is made of; the defaults are the published survey's.

    Parameters
    ----------
    fines_in_ore, rocks_in_ore : float
        Shares of the ore fed (alpha_f, alpha_r).
    ore_density : float
        In t/m3 (D_S).
    mill_volume, ball_volume, sump_volume : float
        In m3 (v_mill, X_b and the held volume of the sump).
    mill_speed, speed_exponent : float
        Share of critical speed and its power (alpha_speed, alpha_P).
    max_power : float
        In kW (P_max), drawn at ``best_filling`` and ``best_rheology``.
    best_filling, best_rheology : float
        Filling and slurry mobility of the largest power (v_Pmax, phi_Pmax).
    filling_loss, rheology_loss : float
        How fast power falls away from them (delta_Pv, delta_Ps).
    max_slurry_solids : float
        Share of solids at which slurry stops flowing (epsilon_sv).
    discharge_rate : float
        In 1/h (V_V).
    rock_energy, fines_energy : float
        In kWh/t, spent to break rocks and to make fines (phi_r, phi_f).
    fines_per_filling : float
        Change of the fines' energy with filling (alpha_phif).
    cyclone_size : float
        In m3/h (epsilon_c).
    cyclone_coarse : tuple of four floats
        Constants of the coarse split (C_1 to C_4).
    underflow_solids : float
        Constant of the underflow's share of solids (alpha_su).

    Examples
    --------
    >>> from robustscn.datasets import CircuitParameters
    >>> CircuitParameters(cyclone_size=140.0).fines_energy
    29.6
    """

    fines_in_ore: float = 0.055
    rocks_in_ore: float = 0.465
    ore_density: float = 3.2
    mill_volume: float = 59.12
    ball_volume: float = 8.51
    sump_volume: float = 5.99
    mill_speed: float = 0.712
    speed_exponent: float = 1.0
    max_power: float = 1662.0
    best_filling: float = 0.34
    best_rheology: float = 0.57
    filling_loss: float = 0.5
    rheology_loss: float = 0.5
    max_slurry_solids: float = 0.6
    discharge_rate: float = 84.0
    rock_energy: float = 6.03
    fines_energy: float = 29.6
    fines_per_filling: float = 0.01
    cyclone_size: float = 129.0
    cyclone_coarse: tuple[float, float, float, float] = (0.6, 0.7, 4.0, 4.0)
    underflow_solids: float = 0.87


CIRCUIT = CircuitParameters()


@dataclass(frozen=True)
class _Mill:
    """Flows out of the mill and inside it (m3/h), and its power (kW)."""

    water: Array
    solids: Array
    fines: Array
    rocks_broken: Array
    fines_made: Array
    power: Array


@dataclass(frozen=True)
class _Cyclone:
    """Flows into the cyclone, and back from it to the mill (m3/h)."""

    water_in: Array
    solids_in: Array
    fines_in: Array
    water_back: Array
    solids_back: Array
    fines_back: Array


def _mill(state: Array, p: CircuitParameters) -> _Mill:
    water, solids, fines, rocks = state[:4]
    thickness = (1 / p.max_slurry_solids - 1) * solids / water
    mobility = np.sqrt(np.clip(1 - thickness, 0, 1))
    discharge = p.discharge_rate * mobility * water / (solids + water)
    filling = (water + solids + rocks + p.ball_volume) / p.mill_volume
    power = (
        p.max_power
        * (
            1
            - p.filling_loss * (filling / p.best_filling - 1) ** 2
            - p.rheology_loss * (mobility / p.best_rheology - 1) ** 2
        )
        * p.mill_speed**p.speed_exponent
    )
    energy = p.fines_energy * (1 + p.fines_per_filling * (filling - p.best_filling))
    return _Mill(
        water=discharge * water,
        solids=discharge * solids,
        fines=discharge * fines,
        rocks_broken=power * mobility / (p.ore_density * p.rock_energy) * rocks / (rocks + solids),
        fines_made=power / (p.ore_density * energy),
        power=power,
    )


def _cyclone(state: Array, feed: Array, p: CircuitParameters) -> _Cyclone:
    c1, c2, c3, c4 = p.cyclone_coarse
    solids, fines = state[4:] / p.sump_volume
    water_in, solids_in, fines_in = feed * (1 - solids), feed * solids, feed * fines
    coarse_back = (
        (solids_in - fines_in)
        * (1 - c1 * np.exp(-feed / p.cyclone_size))
        * (1 - (solids / c2) ** c3)
        * (1 - (fines / solids) ** c4)
    )
    # The underflow thickens towards 0.6 solids, which it cannot pass.
    thickening = np.exp(-coarse_back / (p.underflow_solids * p.cyclone_size))
    solids_under = 0.6 - (0.6 - solids) * thickening
    carried = coarse_back * (1 - solids_under)
    split = carried / (solids_under * (water_in + fines_in) - fines_in)
    return _Cyclone(
        water_in=water_in,
        solids_in=solids_in,
        fines_in=fines_in,
        water_back=split * water_in,
        solids_back=coarse_back + split * fines_in,
        fines_back=split * fines_in,
    )


def _rates(state: Array, inputs: Array, p: CircuitParameters) -> Array:
    """Give the derivatives of states (6, ...) at inputs (3, ...)."""
    feed, mill_water, sump_water = inputs
    mill = _mill(state, p)
    cyclone = _cyclone(state, mill.water + mill.solids + sump_water, p)
    ore = feed / p.ore_density
    return np.array(
        [
            mill_water + cyclone.water_back - mill.water,
            ore * (1 - p.rocks_in_ore) + cyclone.solids_back - mill.solids + mill.rocks_broken,
            ore * p.fines_in_ore + cyclone.fines_back - mill.fines + mill.fines_made,
            ore * p.rocks_in_ore - mill.rocks_broken,
            mill.solids - cyclone.solids_in,
            mill.fines - cyclone.fines_in,
        ]
    )


def circuit_derivatives(
    state: ArrayLike,
    feed: ArrayLike,
    mill_water: ArrayLike,
    sump_water: ArrayLike,
    parameters: CircuitParameters = CIRCUIT,
) -> Array:
    """Rate of change of the circuit's volumes.

    Parameters
    ----------
    state : array-like of shape (6, ...)
        Mill water, solids, fines and rocks, sump solids and fines, in m3. Fines are
        part of the solids; the sump's water is what its solids leave of its volume.
    feed : array-like
        Ore feed, t/h.
    mill_water, sump_water : array-like
        Water fed to the mill and to the sump, m3/h.
    parameters : CircuitParameters, default=CircuitParameters()
        The circuit.

    Returns
    -------
    ndarray of shape (6, ...)
        In m3/h, in the order of ``state``.

    Examples
    --------
    >>> from robustscn.datasets import circuit_derivatives
    >>> volumes = [4.85, 4.90, 1.09, 1.82, 1.88, 0.42]
    >>> circuit_derivatives(volumes, 65.2, 4.64, 140.5).shape
    (6,)
    """
    inputs = np.broadcast_arrays(feed, mill_water, sump_water)
    return _rates(np.asarray(state, dtype=np.float64), np.asarray(inputs, dtype=float), parameters)


@dataclass(frozen=True)
class SteadyState:
    """Where the circuit settles; NaN where it overloads, or leaves what the model covers.

    Parameters
    ----------
    pse : ndarray
        Share of the product's solids under 75 um.
    power : ndarray
        Drawn by the mill, kW.
    cyclone_feed : ndarray
        Flow that holds the sump's volume, m3/h.
    product_water, product_solids, product_fines : ndarray
        Flows leaving the circuit, m3/h; fines are part of the solids.
    state : ndarray of shape (6, ...)
        The volumes, as :func:`circuit_derivatives` takes them.

    Examples
    --------
    >>> from robustscn.datasets import steady_state
    >>> steady_state([60.0, 65.2], 4.64, 140.5).pse.round(3).tolist()
    [0.712, 0.668]
    """

    pse: Array
    power: Array
    cyclone_feed: Array
    product_water: Array
    product_solids: Array
    product_fines: Array
    state: Array


def _jacobian(state: Array, inputs: Array, p: CircuitParameters) -> Array:
    """Forward differences of the derivatives, (n, 6, 6), for states (6, n)."""
    step = 1e-7 * np.maximum(1.0, np.abs(state))
    moved = state[:, np.newaxis] + step[:, np.newaxis] * np.eye(6)[:, :, np.newaxis]
    change = _rates(moved, inputs, p) - _rates(state, inputs, p)[:, None]
    return np.moveaxis(change / step, 2, 0)


def _runs(state: Array, p: CircuitParameters) -> NDArray[np.bool_]:
    """Tell the states (6, n) in which the mill flows and every volume makes sense."""
    water, solids, fines, rocks, sump_solids, sump_fines = state
    return (
        np.all(state > 0, axis=0)
        & (fines < solids)
        & (sump_fines < sump_solids)
        & (sump_solids < p.sump_volume)
        & ((1 / p.max_slurry_solids - 1) * solids < water)
        & (water + solids + rocks + p.ball_volume < p.mill_volume)
    )


def _settled(inputs: Array, p: CircuitParameters) -> tuple[Array, NDArray[np.bool_]]:
    """Follow inputs (3, n) from the start: states (6, n), and which of them are steady."""
    state = np.repeat(START[:, np.newaxis], inputs.shape[1], axis=1)
    running = np.ones(inputs.shape[1], dtype=bool)
    step = _FIRST_STEP
    for _ in range(_N_STEPS):
        rate = _rates(state, inputs, p)
        system = np.eye(6) / step - _jacobian(state, inputs, p)
        state += np.linalg.solve(system, rate.T[:, :, np.newaxis])[:, :, 0].T
        running &= _runs(state, p)
        # Overloaded columns wait at the start, where the equations hold: left to diverge
        # they would spoil the arithmetic of the whole stack.
        state[:, ~running] = START[:, np.newaxis]
        step *= _STEP_GROWTH
    running &= np.abs(_rates(state, inputs, p)).max(axis=0) < _SETTLED
    # Newton also finds states that the plant would leave at the least disturbance.
    modes = np.linalg.eigvals(_jacobian(state[:, running], inputs[:, running], p))
    running[running] = modes.real.max(axis=1) < 0
    return state, running


def steady_state(
    feed: ArrayLike,
    mill_water: ArrayLike,
    sump_water: ArrayLike,
    parameters: CircuitParameters = CIRCUIT,
) -> SteadyState:
    """Find where the circuit settles, for any number of inputs at once.

    Parameters
    ----------
    feed : array-like
        Ore feed, t/h.
    mill_water, sump_water : array-like
        Water fed to the mill and to the sump, m3/h.
    parameters : CircuitParameters, default=CircuitParameters()
        The circuit.

    Returns
    -------
    SteadyState
        Arrays of the inputs' broadcast shape.

    Examples
    --------
    >>> from robustscn.datasets import steady_state
    >>> survey = steady_state(65.2, 4.64, 140.5)
    >>> round(float(survey.pse), 3), round(float(survey.power)), round(float(survey.cyclone_feed))
    (0.668, 1183, 370)
    """
    given = np.stack(np.broadcast_arrays(feed, mill_water, sump_water)).astype(np.float64)
    if not np.all(np.isfinite(given) & (given >= 0)):
        raise ValueError("feed, mill_water and sump_water must be finite and not negative.")
    shape = given.shape[1:]
    inputs = given.reshape(3, -1)
    state, settled = _settled(inputs, parameters)
    state = np.where(settled, state, np.nan)
    mill = _mill(state, parameters)
    cyclone_feed = mill.water + mill.solids + inputs[2]
    cyclone = _cyclone(state, cyclone_feed, parameters)
    solids = cyclone.solids_in - cyclone.solids_back
    fines = cyclone.fines_in - cyclone.fines_back
    return SteadyState(
        pse=(fines / solids).reshape(shape),
        power=mill.power.reshape(shape),
        cyclone_feed=cyclone_feed.reshape(shape),
        product_water=(cyclone.water_in - cyclone.water_back).reshape(shape),
        product_solids=solids.reshape(shape),
        product_fines=fines.reshape(shape),
        state=state.reshape((6, *shape)),
    )
