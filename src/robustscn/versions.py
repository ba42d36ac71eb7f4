"""What is installed here, for a report of a fault."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

REQUIRED = ("array-api-compat", "joblib", "numpy", "scikit-learn", "scipy", "threadpoolctl")
OPTIONAL = (
    *("dask", "distributed", "matplotlib", "onnx", "onnxruntime", "pandas", "plotly", "pyarrow"),
    *("python-calamine", "rich", "river", "skl2onnx", "skops", "torch", "typer"),
)


def installed(name: str) -> str:
    """Return the version of a package, or a dash where it is not installed.

    Parameters
    ----------
    name : str
        As on PyPI.

    Returns
    -------
    str
        Its version.
    """
    try:
        return version(name)
    except PackageNotFoundError:
        return "-"


def show_versions() -> None:
    """Print the versions of robustscn and of what it works with, and what it runs on.

    Paste it into a report of a fault. Nothing of it is sent anywhere.

    Examples
    --------
    >>> import robustscn
    >>> robustscn.show_versions()  # doctest: +ELLIPSIS
    robustscn ...
    """
    # Not needed before someone asks, and slow to load.
    import numpy as np  # noqa: F401  # brings the BLAS that is looked for
    from threadpoolctl import threadpool_info

    # Asked of the package as it is loaded: this module knows nothing of what is above it.
    ours = sys.modules[__name__.partition(".")[0]].__version__
    lines = {"robustscn": ours, "Python": sys.version.split()[0]}
    lines["system"] = f"{platform.system()} {platform.release()}, {platform.machine()}"
    lines["cores"] = str(os.cpu_count())
    for pool in threadpool_info():
        kernels = pool.get("architecture") or ""
        lines[pool["internal_api"]] = (
            f"{pool['version'] or '?'} {kernels}, {pool['num_threads']} threads"
        )
    lines |= {name: installed(name) for name in (*REQUIRED, *OPTIONAL)}
    width = max(map(len, lines))
    print("\n".join(f"{name:{width}}  {value}" for name, value in lines.items()))
