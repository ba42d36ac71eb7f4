"""A soft sensor that keeps learning: spikes, a stuck sensor, a slow drift and a changed plant.

Run `python examples/stream.py --picture FILE.png`. The plant is simulated. The model is fitted to
its first 300 rows, and then predicts each row before it learns it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from robustscn import RobustSCNRegressor

N_ROWS, FITTED = 2400, 300
STUCK = slice(900, 960)
BURST = slice(1200, 1215)
CHANGE = 1600


def plant(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs, what the sensor should show, and what it shows."""
    rng = np.random.default_rng(seed)
    steps = np.arange(N_ROWS)
    X = np.stack(
        [
            0.5 + 0.4 * np.sin(2 * np.pi * steps / 170) + 0.05 * rng.normal(size=N_ROWS),
            rng.uniform(size=N_ROWS),
        ],
        axis=1,
    )
    drift = 0.6 * steps / N_ROWS
    true = np.sin(4 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + drift + 1.0 * (steps >= CHANGE)
    shown = true + 0.03 * rng.normal(size=N_ROWS)
    spikes = rng.uniform(size=N_ROWS) < 0.05
    shown[spikes] += rng.uniform(-2, 2, spikes.sum())
    shown[STUCK] = shown[STUCK.start - 1] + 0.8
    shown[BURST] -= 1.5
    return X, true, shown


def watched(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, RobustSCNRegressor]:
    """Return predictions, each made before its row was learned, and the model after all."""
    model = RobustSCNRegressor(n_networks=4, max_nodes=50, half_life=500, random_state=0)
    model.fit(X[:FITTED], y[:FITTED])
    predicted = np.full(len(y), np.nan)
    for start in range(FITTED, len(y), 10):
        at = slice(start, start + 10)
        predicted[at] = model.predict(X[at])
        model.partial_fit(X[at], y[at])
    return predicted, model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--picture", type=Path, help="where to draw it")
    args = parser.parse_args()
    X, true, shown = plant()
    predicted, model = watched(X, shown)
    error = np.abs(predicted - true)[FITTED:]
    print(f"mean error against what the sensor should show: {error.mean():.3f}")
    print(f"of the sensor itself: {np.abs(shown - true)[FITTED:].mean():.3f}")
    for each in model.drift_:
        print(f"change: row {FITTED + each.row}, began {FITTED + each.began}, {each.size:+.2f}")
    if args.picture:
        draw(args.picture, true, shown, predicted, model)


def draw(
    path: Path,
    true: np.ndarray,
    shown: np.ndarray,
    predicted: np.ndarray,
    model: RobustSCNRegressor,
) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 5), sharex=True, layout="constrained")
    rows = np.arange(len(true))
    suspects = np.array([FITTED + each.row for each in model.suspects_])
    above.plot(rows, shown, ".", ms=2, color="0.6", label="sensor")
    above.plot(suspects, shown[suspects], "x", ms=4, color="tab:red", label="suspect")
    above.plot(rows, predicted, lw=0.8, color="tab:blue", label="predicted, before it was learned")
    for each in model.drift_:
        above.axvline(FITTED + each.row, color="tab:green", lw=1)
    above.set_ylabel("measured")
    above.legend(loc="upper left", fontsize=8)
    below.plot(rows, predicted - true, lw=0.6, color="tab:blue")
    below.set_ylabel("error against the truth")
    below.set_xlabel("row")
    for axes in (above, below):
        axes.axvspan(STUCK.start, STUCK.stop, color="tab:orange", alpha=0.2)
        axes.axvspan(BURST.start, BURST.stop, color="tab:orange", alpha=0.2)
        axes.axvline(CHANGE, color="k", ls=":", lw=1)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
