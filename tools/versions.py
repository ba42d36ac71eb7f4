"""The tests on other Pythons and on the lowest versions that are allowed: `make test-versions`.

Each gets a virtual environment of its own under `out/versions`. A Python that is neither on the
machine nor to be had for it is named in the table as not tested.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from suite import LAST_BITS, NUMBERS, ROOT, ROUND_TRIPS, Outcome, chosen, finish, outcome_of

LIBRARIES = ("cli", "onnx", "persistence", "streams")
"""Where other versions of libraries show, beside the numbers."""

UV = Path(sys.executable).with_name("uv")


@dataclass(frozen=True)
class Setup:
    """A Python and which versions it gets.

    Parameters
    ----------
    python : str
        Its version.
    lowest : bool
        Whether all that pyproject names is installed in the lowest version that it allows.
    """

    python: str
    lowest: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"Python {self.python}, {'lowest' if self.lowest else 'newest'} versions"


SETUPS = (Setup("3.11", lowest=True), Setup("3.11"), Setup("3.12"), Setup("3.13"))


def interpreter(version: str) -> Path | None:
    """Return a Python of that version: on the path, of pyenv, or one that uv can fetch."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    for found in (which(f"python{version}"), *kept):
        # What is on the path may be a stand-in that only says where the real one could be.
        if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return Path(found)
    fetched = subprocess.run(
        [UV, "python", "install", "--quiet", version],
        env=os.environ | {"UV_HTTP_TIMEOUT": "10", "UV_HTTP_RETRIES": "0"}, capture_output=True,
    )  # fmt: skip
    if fetched.returncode:
        return None
    place = subprocess.run([UV, "python", "find", version], capture_output=True, text=True)
    return Path(place.stdout.strip())


def environment_of(setup: Setup, python: Path) -> Path:
    """Make the virtual environment of a setup and return its interpreter."""
    folder = ROOT / "out" / "versions" / setup.name.replace("Python ", "").replace(", ", "-")
    made = folder / "bin" / "python"
    subprocess.run([UV, "venv", "--quiet", "--clear", "--python", python, folder], check=True)
    resolution = "lowest-direct" if setup.lowest else "highest"
    subprocess.run(
        [UV, "pip", "install", "--quiet", "--python", made, "--resolution", resolution,
         "--editable", f"{ROOT}[cli,dask,onnx,test]"], check=True,
    )  # fmt: skip
    return made


def run(setup: Setup) -> Outcome | str:
    """Return how the tests go in a setup, or why there is nothing to tell."""
    here = "{}.{}".format(*sys.version_info)
    if setup == Setup(here):
        return "this is `make test`"
    python = interpreter(setup.python)
    if python is None:
        return "not on this machine, not tested"
    # torch and a browser are in none of these: what needs them is counted as skipped. uv leaves it
    # to the first import to compile a library; where that may not be kept, every process does it.
    unwanted = ("ROBUSTSCN_NO_SKIPS", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
    environment = {k: v for k, v in os.environ.items() if k not in unwanted}
    # Old libraries use what newer ones under them call deprecated; that is not ours to mend.
    patience = ["-W", "default::DeprecationWarning"] if setup.lowest else []
    # Another Python has the libraries of `make test`: there it is enough that all works.
    few = {"estimators": LAST_BITS["estimators"]} | ROUND_TRIPS
    tests = (
        chosen((*NUMBERS, *LIBRARIES), LAST_BITS) if setup.lowest else chosen((), few, core=False)
    )
    return outcome_of(environment_of(setup, python), [*tests, *patience], environment)


def main() -> None:
    rows: dict[str, Outcome | str] = {}
    # `lowest` or a Python's version: these alone.
    asked = sys.argv[1:]
    for setup in SETUPS:
        if asked and ("lowest" if setup.lowest else setup.python) not in asked:
            continue
        print(f"{setup.name} ...", flush=True)
        rows[setup.name] = run(setup)
    finish(rows)


if __name__ == "__main__":
    main()
