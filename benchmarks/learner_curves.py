"""Error against seconds over settings of ours and of boosted trees, and memory; for learner.py.

One draw of each size, a quarter of the targets wrong, seconds by the clock on an idle machine. A
setting that would take longer than `LONGEST` at a size, by what it took at the size before, is left
out there.

    python benchmarks/learner_curves.py --memory 1000000    peak memory of a default fit, as JSON
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from learner_tasks import FAST, FUNCTIONS, Task, ours
from sklearn.ensemble import HistGradientBoostingRegressor

SHOWN = ("smooth", "Friedman")
LONGEST = 120.0
N_INPUTS, MAX_NODES = 20, 200
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
Build = Callable[[], Any]


def hist(trees: int, rate: float) -> Build:
    return lambda: HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=trees, learning_rate=rate, random_state=0
    )


def lightgbm(trees: int, rate: float) -> Build:
    def build() -> Any:
        from lightgbm import LGBMRegressor

        return LGBMRegressor(
            objective="l1", n_estimators=trees, learning_rate=rate, verbose=-1, random_state=0
        )

    return build


FAMILIES: dict[str, dict[str, Build]] = {
    "RobustSCN": {
        "fast": lambda: ours(0, **FAST),
        "4 networks, 6 rounds": lambda: ours(0, n_networks=4, n_rounds=6, second_look=False),
        "defaults": lambda: ours(0),
        "24 networks of 300": lambda: ours(0, n_networks=24, max_nodes=300),
    },
    "HistGradientBoosting, absolute": {
        "100 trees": hist(100, 0.1),
        "300 trees": hist(300, 0.1),
        "1000 trees, rate 0.05": hist(1000, 0.05),
    },
    "LightGBM, absolute": {
        "100 trees": lightgbm(100, 0.1),
        "500 trees": lightgbm(500, 0.1),
        "2000 trees, rate 0.05": lightgbm(2000, 0.05),
    },
}


def curves(sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Return error and seconds of every setting at every size, as far as time allows."""
    found: list[dict[str, Any]] = []
    expected: dict[tuple[str, ...], float] = {}
    for n_rows in sizes:
        for name in SHOWN:
            task = Task(FUNCTIONS[name], n_rows, N_INPUTS, 0.25, 7100)
            for family, settings in FAMILIES.items():
                for setting, build in settings.items():
                    key, row = (name, family, setting), {"function": name, "rows": n_rows}
                    if expected.get(key, 0.0) * n_rows > LONGEST:
                        continue
                    print(f"{n_rows} rows, {', '.join(key)} ...", flush=True)
                    result = task.result(build())
                    # Ours grow on a part of many rows; what is expected of it is too much there.
                    expected[key] = result["seconds"] / n_rows if family != "RobustSCN" else 0.0
                    found.append(row | {"family": family, "setting": setting} | result)
    return found


def memory(n_rows: int) -> dict[str, float]:
    """Return the peak memory of a default fit, in a process of its own, and what it is beside."""
    command = [sys.executable, __file__, "--memory", str(n_rows)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, float] = json.loads(told)
    return found


def _measured(n_rows: int) -> dict[str, float]:
    task = Task(FUNCTIONS["smooth"], n_rows, N_INPUTS, 0.25, 7100)
    ours(0, **FAST).fit(task.X[:1000], task.y[:1000])  # imports are no part of it
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours(0).fit(task.X, task.y)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    allowed = 2 * (task.X.nbytes + 8 * n_rows * MAX_NODES)
    return {
        "rows": n_rows,
        "GiB": round((after - before) / 2**20, 3),
        "inputs_GiB": round(task.X.nbytes / 2**30, 3),
        "allowed_GiB": round(allowed / 2**30, 3),
    }


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw error against seconds, a panel for each function and size."""
    from matplotlib.figure import Figure

    colours = dict(zip(FAMILIES, ("#c2371e", "#5b6770", "#1f77b4"), strict=True))
    sizes = sorted({row["rows"] for row in rows})
    figure = Figure(figsize=(3.1 * len(sizes), 5.6))
    panels = figure.subplots(len(SHOWN), len(sizes), sharey="row", squeeze=False)
    for line, name in zip(panels, SHOWN, strict=True):
        for panel, size in zip(line, sizes, strict=True):
            for family, colour in colours.items():
                chosen = [
                    row
                    for row in rows
                    if (row["function"], row["rows"], row["family"]) == (name, size, family)
                ]
                chosen.sort(key=lambda row: row["seconds"])
                panel.plot(
                    [row["seconds"] for row in chosen],
                    [row["rmse"] for row in chosen],
                    "o-",
                    color=colour,
                    ms=4,
                    lw=1.3,
                    label=family,
                )
            panel.set(xscale="log", yscale="log", title=f"{name}, {size:,} rows")
            panel.title.set_fontsize(9)
            shown = [tick for tick in TICKS if panel.get_xlim()[0] <= tick <= panel.get_xlim()[1]]
            panel.set_xticks(shown, [f"{tick:g}" for tick in shown])
            panel.set_xticks([], minor=True)
            panel.grid(visible=True, which="major", alpha=0.25)
            panel.tick_params(labelsize=8)
            for side in ("top", "right"):
                panel.spines[side].set_visible(False)
        line[0].set_ylabel("error against the truth", fontsize=8)
    for panel in panels[-1]:
        panel.set_xlabel("seconds", fontsize=8)
    panels[0][0].legend(fontsize=7, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def told(results: dict[str, Any], head_of: Callable[..., list[str]]) -> list[str]:
    """Return the page's lines on curves and memory; `head_of` lays a table out."""
    rows = results.get("curves", [])
    if not rows:
        return []
    body = [
        [
            row["function"],
            f"{row['rows']:,}",
            f"{row['family']}: {row['setting']}",
            f"{row['rmse']:.4f}",
            f"{row['seconds']:.2f}",
        ]
        for row in rows
    ]
    lines = [
        "",
        "## Error against seconds",
        "",
        "![error against seconds](learner.png)",
        "",
        "Lines join settings of one method: ours from"
        f" `{FAST}` to 24 networks of 300 nodes, boosted trees by their number. Left and below is"
        f" better. What would take more than {LONGEST:.0f} seconds is left out.",
        "",
        *head_of(["function", "rows", "setting", "error", "seconds"], body),
    ]
    peak = results.get("memory")
    if peak:
        lines += [
            "",
            f"Memory: a default fit of {peak['rows']:,} rows takes {peak['GiB']:.2f} GiB beside its"
            f" data at the most; the inputs are {peak['inputs_GiB']:.2f} GiB, and twice what inputs"
            f" and the nodes of one network hold is {peak['allowed_GiB']:.2f} GiB.",
        ]
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memory", type=int, required=True, help="rows of the fit")
    print(json.dumps(_measured(parser.parse_args().memory)))
