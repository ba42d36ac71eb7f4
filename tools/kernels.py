"""The numerical tests on kernels of other processors: `make test-kernels`, under a minute each.

OpenBLAS and NumPy look at the processor when they are loaded and choose their kernels. Each adds
up in an order of its own, so the last bits of a sum are those of one processor, and a test that
knows them passes on that one only. Older kernels run on newer processors: nobody has to own the
machines.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from suite import ELSEWHERE, Outcome, finish, numerical, outcome_of

CORE = (
    "arrays", "density", "growth", "judging", "least_squares", "mixture", "nodes", "race", "rows",
    "search", "second_look", "solve",
)  # fmt: skip
"""Tests that form products themselves; fits hold BLAS to one thread."""


@dataclass(frozen=True)
class Kernels:
    """What a processor's libraries would choose.

    Parameters
    ----------
    needs : str
        Flag that the processor must have to run them.
    widest : {"SSE", "AVX2", "AVX512"}
        Vectors that NumPy is left with.
    """

    needs: str
    widest: str


KERNELS = {
    "Prescott": Kernels("sse2", "SSE"),
    "Nehalem": Kernels("sse4_2", "SSE"),
    "Haswell": Kernels("avx2", "AVX2"),
    "Zen": Kernels("avx2", "AVX2"),
    "SkylakeX": Kernels("avx512f", "AVX512"),
}
"""By the name that OpenBLAS gives them."""

ALIASES = {"Prescott": "Katmai", "Zen": "Haswell"}
"""What OpenBLAS, where it was built with fewer kernels, answers instead."""

DISPATCHED = """
try:
    from numpy._core import _multiarray_umath as made
except ImportError:  # NumPy 1
    from numpy.core import _multiarray_umath as made
print(*(name for name in made.__cpu_dispatch__ if made.__cpu_features__[name]))
"""

CHOSEN = """
import scipy.linalg, threadpoolctl
print(*{each.get("architecture") for each in threadpoolctl.threadpool_info()})
"""


def processor_flags() -> set[str]:
    """Return what the processor can do, in Linux's words; nothing where it does not say."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {flag for line in lines if line.startswith("flags") for flag in line.split()[2:]}


def taken_from_numpy(widest: str) -> str:
    """Return the features NumPy would use here that are wider than allowed."""
    found = _said(DISPATCHED, os.environ)
    wide = [name for name in found if name.startswith(("AVX512", "X86_V4"))]
    return " ".join({"SSE": found, "AVX2": wide, "AVX512": []}[widest])


def _own() -> dict[str, str]:
    """Return the environment in which BLAS chooses for itself."""
    return {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}


def _said(code: str, environment: Mapping[str, str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=dict(environment), stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


def run(name: str, threads: int) -> Outcome | str:
    """Return how the tests go on one set of kernels.

    Parameters
    ----------
    name : str
        OpenBLAS's.
    threads : int
        Of BLAS.

    Returns
    -------
    Outcome or str
        Of all numerical tests with one thread, of those of the core with more; or why none ran.
    """
    if KERNELS[name].needs not in processor_flags():
        return f"no {KERNELS[name].needs} in this processor, not tested"
    disabled = taken_from_numpy(KERNELS[name].widest)
    environment = os.environ | {
        "OPENBLAS_CORETYPE": name,
        "OMP_NUM_THREADS": str(threads),
        "NPY_DISABLE_CPU_FEATURES": disabled,
    }
    taken = _said(CHOSEN, environment)
    if taken != [name] and taken != [ALIASES.get(name)]:
        return "BLAS here is not OpenBLAS with a choice of kernels, not tested"
    if taken[0] in KERNELS and taken != [name]:
        return f"OpenBLAS takes the kernels of {taken[0]} for it"
    if threads == 1 and taken == _said(CHOSEN, _own()) and not disabled:
        return "the processor's own: this is `make test`"
    core = [f"tests/core/test_{one}.py" for one in CORE]
    chosen = [*core, *ELSEWHERE] if threads > 1 else numerical()
    # Two cores: threads of BLAS that wait for a core would spend their time spinning.
    return outcome_of(Path(sys.executable), chosen, environment, processes=2 // threads)


def main() -> None:
    rows: dict[str, Outcome | str] = {}
    for name in sys.argv[1:] or KERNELS:
        # Which thread adds what is the same question on all kernels: one of them answers it.
        for threads in (1, 2) if name == "Haswell" else (1,):
            row = f"{name}, {threads} BLAS thread{'s' * (threads > 1)}"
            print(f"{row} ...", flush=True)
            rows[row] = run(name, threads)
    finish(rows)


if __name__ == "__main__":
    main()
