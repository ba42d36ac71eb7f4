"""What the command line adds to a fit: reading a CSV, columns to numbers, writing all files.

`robustscn fit` on a table of 20 columns against the estimator alone on the same numbers, with the
same settings, one after the other. What is added hardly depends on the settings, and the fit
grows with them: the ratio shown is near the worst that a user meets.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from robustscn import RobustSCNRegressor
from robustscn.cli import main as robustscn

RESULTS = Path(__file__).parent / "results" / "table_speed.json"
SETTINGS = {"networks": 4, "nodes": 50, "rounds": 5}


def table(n_rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.uniform(size=(n_rows, 20)).round(6), columns=[f"x{j}" for j in range(20)]
    )
    y = np.sin(3 * frame["x0"]) + frame["x1"] * frame["x2"] + 0.05 * rng.normal(size=n_rows)
    frame["y"] = np.where(rng.uniform(size=n_rows) < 0.1, y + rng.uniform(-3, 3, n_rows), y).round(
        6
    )
    return frame


def measured(n_rows: int) -> dict[str, float]:
    frame = table(n_rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measurements.csv"
        frame.to_csv(path, index=False)
        size = path.stat().st_size
        arguments = ["fit", str(path), "--target", "y", "--quiet"]
        for name in ("model.skops", "report.html", "outliers.csv"):
            arguments += [f"--{name.split('.')[0]}", str(Path(folder) / name)]
        for name, value in SETTINGS.items():
            arguments += [f"--{name}", str(value)]
        start = time.perf_counter()
        if robustscn(arguments) != 0:
            raise SystemExit("robustscn fit failed")
        whole = time.perf_counter() - start
    model = RobustSCNRegressor(
        n_networks=SETTINGS["networks"],
        max_nodes=SETTINGS["nodes"],
        n_rounds=SETTINGS["rounds"],
        random_state=0,
    )
    X, y = frame.drop(columns="y").to_numpy(), frame["y"].to_numpy()
    start = time.perf_counter()
    model.fit(X, y)
    alone = time.perf_counter() - start
    return {
        "rows": n_rows,
        "csv_bytes": size,
        "command": whole,
        "fit": alone,
        "ratio": whole / alone,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    lines = []
    for n_rows in arguments.rows:
        lines.append(measured(n_rows))
        line = "{rows:>9,} rows: command {command:.1f} s, fit {fit:.1f} s, ratio {ratio:.2f}"
        print(line.format(**lines[-1]))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    report = {"machine": platform.machine(), "settings": SETTINGS, "lines": lines}
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
