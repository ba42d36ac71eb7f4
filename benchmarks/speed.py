"""How long fits take, beside peers on the same rows in the same run; a ratio for each line.

Every fit runs in a process of its own, which fits a small task first, then the task several times,
and prints its median and the memory it came to need. The sides of a line alternate. Peers that are
not installed are left out, and the run says so. Processor seconds, of all threads, are kept beside
seconds: they tell how busy the machine was with other things.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1

HERE = Path(__file__).parent
RESULTS, PICTURE = HERE / "results" / "speed.json", HERE.parent / "docs" / "speed.png"
OURS, OURS64 = "RSC-KDE float32", "RSC-KDE float64"
TREES, LIGHT = "HistGradientBoosting absolute_error", "LightGBM l1"
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def robust(dtype: str) -> Callable[..., Any]:
    """Return a fit of one network: 100 nodes, 500 candidates, five rounds of KDE weights."""

    def fit(X, y):
        from robustscn import RSCKDERegressor

        model = RSCKDERegressor(
            100, n_rounds=5, n_candidates=500, scopes=(1.0,), block=10, random_state=0
        )
        return model.fit(X.astype(dtype, copy=False), y.astype(dtype, copy=False)).predict

    return fit


def trees(X, y):
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(loss="absolute_error", random_state=0).fit(X, y).predict


def light(X, y):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(objective="l1", random_state=0, verbose=-1).fit(X, y).predict


def support_vectors(X, y):
    from sklearn.svm import SVR

    return SVR().fit(X, y).predict


def supervised(dtype: str, block: int) -> Callable[..., Any]:
    """Return a fit of 500 nodes in blocks."""

    def fit(X, y):
        from robustscn import SCNRegressor

        model = SCNRegressor(
            500, n_candidates=200, scopes=(0.5,), rule="exact", block=block, tol=0, random_state=0
        )
        model.fit(X.astype(dtype, copy=False), y.astype(dtype, copy=False))
        return lambda X: model.predict(X.astype(dtype, copy=False))

    return fit


def hpelm(X, y):
    from hpelm import ELM

    model = ELM(X.shape[1], 1)
    model.add_neurons(500, "sigm")
    model.train(X, y[:, None], "r")
    return lambda X: model.predict(X)[:, 0]


def gfdl(X, y):
    from gfdl.model import GFDLRegressor

    return GFDLRegressor(hidden_layer_sizes=[500], activation="sigmoid", seed=0).fit(X, y).predict


FITS: dict[str, Callable[..., Any]] = {
    OURS: robust("float32"),
    OURS64: robust("float64"),
    TREES: trees,
    LIGHT: light,
    "SVR": support_vectors,
    "SCN float32": supervised("float32", 50),
    "SCN float64": supervised("float64", 50),
    "hpelm": hpelm,
    "gfdl": gfdl,
}


def drawn(n_rows: int, wrong: float, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Friedman's function of five of 20 inputs, of unit variance, and its clean values."""
    X, clean = make_friedman1(n_rows, 20, random_state=0)
    clean = (clean - clean.mean()) / clean.std()
    rng = np.random.default_rng(0)
    y = clean + (0.05 * rng.normal(size=n_rows) if wrong else 0.0)
    hit = rng.uniform(size=n_rows) < wrong
    y[hit] += rng.uniform(-2, 2, size=hit.sum())
    return X.astype(dtype), y.astype(dtype), clean


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def one(name: str, n_rows: int, wrong: float, repeats: int) -> dict[str, Any]:
    """Return one side of a line, measured in this process."""
    dtype = "float64" if "64" in name or name in ("hpelm", "gfdl") else "float32"
    fit = FITS[name]
    fit(*drawn(2000, wrong, dtype)[:2])
    before = peak_bytes()
    X, y, _ = drawn(n_rows, wrong, dtype)
    made = peak_bytes()
    seconds, of_processor = [], []
    for _ in range(repeats):
        start, start_of_processor = time.perf_counter(), time.process_time()
        predict = fit(X, y)
        seconds.append(time.perf_counter() - start)
        of_processor.append(time.process_time() - start_of_processor)
    peak = peak_bytes()
    tested, _, clean = drawn(20_000, 0.0, dtype)
    found = {
        "seconds": statistics.median(seconds),
        "seconds_range": [min(seconds), max(seconds)],
        "processor_seconds": statistics.median(of_processor),
        "rmse_on_clean_rows": float(np.sqrt(np.mean((predict(tested) - clean) ** 2))),
    }
    if peak > made:  # otherwise making the data needed more than the fit
        found["peak_bytes_with_X"] = peak - before
    return found


def measured(name: str, n_rows: int, wrong: float, repeats: int) -> dict[str, Any] | None:
    """Return one side of a line, measured in a process of its own; None if it is not installed."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", name, str(n_rows), str(wrong), str(repeats)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        missing = "ModuleNotFoundError" in done.stderr or "min_python_version" in done.stderr
        if not missing:
            raise SystemExit(done.stderr)
        print(f"{name:<40}not installed", flush=True)
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{name:<40}{n_rows:>10,} rows{found['seconds']:>9.3f} s"
        f"{found['processor_seconds']:>9.3f} s of processor"
        f"  RMSE {found['rmse_on_clean_rows']:.4f}",
        flush=True,
    )
    return found


def by_rows(rows: tuple[int, ...], repeats: int) -> dict[str, Any]:
    """Return seconds against rows for us and peers, and the exponent of each."""
    table: dict[str, Any] = {}
    for n_rows in rows:
        for name in (OURS, TREES, OURS64, LIGHT):
            found = measured(name, n_rows, 0.1, repeats if n_rows < 500_000 else min(repeats, 3))
            if found is not None:
                table.setdefault(name, {})[str(n_rows)] = found
    most = str(max(rows))
    return {
        "seconds": table,
        "exponents": {name: exponent(line, "seconds") for name, line in table.items()},
        "exponents_of_processor_seconds": {
            name: exponent(line, "processor_seconds") for name, line in table.items()
        },
        "ratio_to_trees": {
            what: {
                name: table[name][most][what] / table[TREES][most][what]
                for name in table
                if name != TREES
            }
            for what in ("seconds", "processor_seconds")
        },
        "memory": {name: memory(line[most], name, int(most)) for name, line in table.items()},
    }


def exponent(line: dict[str, dict[str, Any]], what: str) -> float:
    """Return the slope of log seconds against log rows."""
    rows = np.log([int(n) for n in line])
    return float(np.polyfit(rows, np.log([each[what] for each in line.values()]), 1)[0])


def memory(found: dict[str, Any], name: str, n_rows: int) -> dict[str, float] | None:
    """Return the peak as a share of X and the hidden outputs of 100 nodes."""
    if "peak_bytes_with_X" not in found or not name.startswith("RSC"):
        return None
    whole = n_rows * 120 * (8 if "64" in name else 4)
    peak = found["peak_bytes_with_X"]
    return {"peak_bytes": peak, "of_X_and_hidden": peak / whole}


def wide(n_rows: int, repeats: int) -> dict[str, Any]:
    """Return 500 supervised nodes beside 500 plain random ones, on clean targets."""
    sides = {
        name: measured(name, n_rows, 0.0, repeats)
        for name in ("SCN float32", "SCN float64", "hpelm", "gfdl")
    }
    found = {name: side for name, side in sides.items() if side is not None}
    peers = [name for name in ("hpelm", "gfdl") if name in found]
    return {
        "rows": n_rows,
        "sides": found,
        "ratio": {
            f"{ours} to {peer}": found[ours]["seconds"] / found[peer]["seconds"]
            for ours in ("SCN float32", "SCN float64")
            for peer in peers
        },
    }


def small(repeats: int) -> dict[str, Any]:
    """Return a small robust fit beside a support vector machine's."""
    return {name: measured(name, 1000, 0.1, repeats) for name in (OURS64, TREES, LIGHT, "SVR")}


def picture(table: dict[str, dict[str, dict[str, Any]]], path: Path) -> None:
    """Draw seconds against rows."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for name, line in table.items():
        style = {"marker": "o", "linewidth": 2.2} if name.startswith("RSC") else {"marker": "s"}
        axes.plot(
            [int(n) for n in line], [each["seconds"] for each in line.values()], label=name, **style
        )
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    shortest = min(each["seconds"] for line in table.values() for each in line.values())
    ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if t > 0.7 * shortest]
    axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.set_title("20 inputs, 10 % wrong targets, two cores", fontsize=10)
    axes.legend(frameon=False, fontsize=9)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=4, metavar=("NAME", "ROWS", "WRONG", "REPEATS"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parts", nargs="*", choices=("by_rows", "nodes_500", "rows_1000"))
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, one run each")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    parser.add_argument("--draw", action="store_true", help="only draw what was measured last")
    arguments = parser.parse_args()
    if arguments.one:
        name, n_rows, wrong, repeats = arguments.one
        print(json.dumps(one(name, int(n_rows), float(wrong), int(repeats))))
        return
    if arguments.draw:
        measured_last = json.loads(arguments.out.read_text())
        picture(measured_last["by_rows"]["seconds"], arguments.picture)
        return
    repeats = 1 if arguments.quick else arguments.repeats
    rows = tuple(n for n in ROWS if n <= 100_000) if arguments.quick else ROWS
    parts = {
        "by_rows": lambda: by_rows(rows, repeats),
        "nodes_500": lambda: wide(5000 if arguments.quick else 20_000, repeats),
        "rows_1000": lambda: small(repeats),
    }
    # A part that is not asked for stays as it was measured last.
    report = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    report["what"] = "seconds of one fit, medians; 20 inputs; each fit in a process of its own"
    for part in arguments.parts or parts:
        report[part] = parts[part]() | {"load_of_the_last_minute": os.getloadavg()[0]}
    report["machine"] = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "architecture": platform.machine(),
        "cpu_count": os.cpu_count(),
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print("ratios", json.dumps(report["by_rows"]["ratio_to_trees"], indent=1))
    print("exponents", json.dumps(report["by_rows"]["exponents"], indent=1))
    picture(report["by_rows"]["seconds"], arguments.picture)


if __name__ == "__main__":
    main()
