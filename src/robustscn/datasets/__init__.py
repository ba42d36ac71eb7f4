"""Data to test robust regression on: a function, four benchmarks, a simulated plant.

Targets come clean; :func:`contaminate` spoils a known share of them.
"""

from .circuit import CircuitParameters, SteadyState, circuit_derivatives, steady_state
from .contamination import contaminate
from .function import function_target, make_function
from .grinding import make_grinding
from .keel import load_keel

__all__ = [
    "CircuitParameters",
    "SteadyState",
    "circuit_derivatives",
    "contaminate",
    "function_target",
    "load_keel",
    "make_function",
    "make_grinding",
    "steady_state",
]
