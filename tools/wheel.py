"""The wheel and the sdist, built and tried as a user gets them: `make test-wheel`.

Each is installed into a new virtual environment, without extras and with each of them, and used
from an empty folder, so that nothing of the repository is in reach.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

from suite import ROOT

BIN = Path(sys.executable).parent

WITHOUT_EXTRAS = """
import sys
import numpy as np
import robustscn, robustscn.datasets, robustscn.plots, robustscn.weighting
from robustscn.paper.published import table_5, tables
assert tables() and table_5()
X = np.linspace(0, 1, 80)[:, None]
y = np.sin(6 * X[:, 0])
robustscn.show_versions()
for name in robustscn.estimators.__all__:
    kind = getattr(robustscn, name)
    size = {"n_networks": 2, "max_nodes": 8} if name == "RobustSCNRegressor" else {}
    assert kind(random_state=0, **size).fit(X, y).score(X, y) > 0.5, name
optional = {"dask", "matplotlib", "onnx", "pandas", "plotly", "rich", "skops", "typer"}
assert not optional & set(sys.modules), optional & set(sys.modules)
"""

SPOILED = """
import numpy as np
from robustscn import RSCKDERegressor
X = np.linspace(0, 1, 200)[:, None]
y = np.sin(6 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=200)
y[::10] += 3.0
model = RSCKDERegressor(max_nodes=10, random_state=0).fit(X, y)
"""

CLI = """
import subprocess, sys
from pathlib import Path
rows = [f"{i / 60},{(i / 60) ** 2 + 5 * (i % 20 == 0)}" for i in range(60)]
Path("t.csv").write_text("\\n".join(["x,y", *rows]))
command = Path(sys.executable).with_name("robustscn")
for words in ("fit t.csv --target y --quiet", "predict model.skops t.csv --out p.csv",
              "outliers model.skops t.csv", "report model.skops t.csv --out r.html"):
    subprocess.run([command, *words.split()], check=True, stdout=subprocess.DEVNULL)
assert all(Path(name).stat().st_size for name in ("model.skops", "outliers.csv", "p.csv", "r.html"))
"""

DASK = """
import dask.array as da
from distributed import Client
from robustscn.dask import DaskSCNRegressor
if __name__ == "__main__":
    X = da.random.default_rng(0).uniform(size=(400, 2), chunks=(200, 2))
    with Client(processes=False, dashboard_address=None) as client:
        model = DaskSCNRegressor(max_nodes=5, random_state=0, client=client).fit(X, X[:, 0])
        assert model.predict(X).compute().shape == (400,)
"""

ONNX = """
import onnxruntime
from robustscn.onnx import to_onnx
session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
(found,) = session.run(["prediction"], {"X": X.astype(np.float32)})
assert np.allclose(found.ravel(), model.predict(X), atol=1e-4)
"""

PLOTS = """
import matplotlib
matplotlib.use("Agg")
from robustscn.plots import ResidualDensityDisplay
ResidualDensityDisplay.from_estimator(model)
"""

APP = """
import json, signal, subprocess, sys, urllib.error, urllib.request
from pathlib import Path
command = [Path(sys.executable).with_name("robustscn"), "app", "--no-browser", "--json"]
server = subprocess.Popen(command, stdout=subprocess.PIPE)
address = json.loads(server.stdout.readline())["address"]
assert b"Go on" in urllib.request.urlopen(address).read()
try:
    urllib.request.urlopen(address.split("?")[0])
except urllib.error.HTTPError as refused:
    assert refused.code == 403
server.send_signal(signal.SIGINT)
assert server.wait(60) == 0
"""

USES = {
    "plots": SPOILED + PLOTS,
    "frames": SPOILED + "assert len(model.outlier_table()) >= 20",
    "cli": CLI,
    "dask": DASK,
    "onnx": SPOILED + ONNX,
    "app": APP,
}
"""What each extra promises, used once."""


def said(*command: object, folder: str | Path = ROOT) -> str:
    """Run a command and return what it printed; raise where it failed."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout}")
    return done.stdout


def check_contents(wheel: Path, sdist: Path) -> None:
    """End the process where a file is missing from the wheel or one too many is in either."""
    tracked = said("git", "ls-files", "src/robustscn").split()
    expected = {name.removeprefix("src/") for name in tracked}
    with zipfile.ZipFile(wheel) as opened:
        packed = {name for name in opened.namelist() if ".dist-info/" not in name}
    if packed != expected:
        sys.exit(f"{wheel.name} and the sources differ in {sorted(packed ^ expected)}")
    around = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", ".gitignore",
              "pyproject.toml"}  # fmt: skip
    with tarfile.open(sdist) as opened_sdist:
        names = {name.partition("/")[2] for name in opened_sdist.getnames()}
    if names != {*tracked, *around}:
        sys.exit(f"{sdist.name} and the sources differ in {sorted(names ^ {*tracked, *around})}")


def tried(what: str, place: Path, code: str) -> Path:
    """Install a distribution into a new environment, run code there and return its programs."""
    uv, programs = BIN / "uv", place / "env" / "bin"
    said(uv, "venv", "--quiet", "--python", sys.executable, place / "env")
    said(uv, "pip", "install", "--quiet", "--python", programs / "python", what)
    empty = place / "empty"
    empty.mkdir()
    (empty / "use.py").write_text(code)
    said(programs / "python", "use.py", folder=empty)
    return programs


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        said(BIN / "uv", "build", "--quiet", "--out-dir", here / "dist", ROOT)
        (wheel,), (sdist,) = (here / "dist").glob("*.whl"), (here / "dist").glob("*.tar.gz")
        check_contents(wheel, sdist)
        print(f"{wheel.name} and {sdist.name}: all of the sources and nothing else")
        print(said(BIN / "twine", "check", "--strict", wheel, sdist).strip())
        for kind, built in (("wheel", wheel), ("sdist", sdist)):
            programs = tried(str(built), here / kind, WITHOUT_EXTRAS)
            version = said(programs / "robustscn", "--version", folder=here).strip()
            print(f"{kind} without extras: every estimator fits; robustscn --version: {version}")
        for extra in project["optional-dependencies"]:
            asked = f"{wheel}[{extra}]"
            if extra in USES:
                tried(asked, here / extra, USES[extra])
                print(f"wheel with [{extra}]: does what it is for", flush=True)
            else:  # for work on the project; heavy, so only whether it can be installed
                python = here / "wheel" / "env" / "bin" / "python"
                said(BIN / "uv", "pip", "install", "--dry-run", "--python", python, asked)
                print(f"wheel with [{extra}]: can be installed", flush=True)


if __name__ == "__main__":
    main()
