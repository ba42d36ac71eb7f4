"""Data to test robust regression on: a function, four benchmarks, plants simulated and real.

Targets come clean, but for the real plants; :func:`contaminate` spoils a known share of them.
"""

from .circuit import CircuitParameters, SteadyState, circuit_derivatives, steady_state
from .contamination import contaminate
from .function import function_target, make_function
from .grinding import make_grinding
from .industry import fetch_process, fetch_wind_turbines
from .keel import load_keel

__all__ = [
    "CircuitParameters",
    "SteadyState",
    "circuit_derivatives",
    "contaminate",
    "fetch_process",
    "fetch_wind_turbines",
    "function_target",
    "load_keel",
    "make_function",
    "make_grinding",
    "steady_state",
]
