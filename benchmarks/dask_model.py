"""How far a fit on Dask goes: time against rows, workers and nodes, from measured costs.

    seconds = start N / W + sum over blocks of [ (a + b k) N / W + ranking + p l + t s C ]

N rows in C chunks on W workers; k nodes before the block; p passes of a round trip l; t tasks for
each chunk, of which the client and the scheduler, one of each, handle one in s. Run as a program
it writes the measured part of `docs/dask.md` from `results/dask.json`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "dask.md"
RESULTS = HERE / "results" / "dask.json"
START = "<!-- measured: rebuilt by `python benchmarks/dask_model.py` -->"
STOP = "<!-- /measured -->"
TASKS = 11
"""For each chunk and block of nodes; tests/test_dask_cost.py counts them."""

CASES = (
    (100_000_000, 10, 100),
    (100_000_000, 100, 100),
    (1_000_000_000, 100, 100),
    (1_000_000_000, 100, 300),
)


@dataclass(frozen=True)
class Model:
    """What the parts of a fit take, in seconds.

    Parameters
    ----------
    start, block, node : float
        For each row of a worker: before growth, for a block of nodes, and more of it for each
        node before the block.
    ranking, round_trip, task : float
        Ranking candidates, waiting for a pass, handling a task outside of the workers.
    passes : int
        Of a block.
    nodes_of_a_block : float
        Fewer than asked for where candidates are near copies of each other.
    chunk_rows : int
        Rows of a chunk.
    """

    start: float
    block: float
    node: float
    ranking: float
    round_trip: float
    task: float
    passes: int
    nodes_of_a_block: float
    chunk_rows: int

    def seconds(self, rows: int, workers: int, nodes: int) -> float:
        """Return how long a fit takes whose rows fit the workers' memory."""
        before = np.arange(0, nodes, self.nodes_of_a_block)
        chunks = max(workers, rows / self.chunk_rows)
        work = (self.start + np.sum(self.block + self.node * before)) * rows / workers
        each = self.ranking + self.passes * self.round_trip + TASKS * chunks * self.task
        return float(work + each * len(before))


def model_of(costs: dict[str, Any]) -> Model:
    """Return the model that the measured costs give."""
    passes, blocks = costs["passes_of_a_block"], costs["blocks"]
    few, _, many = costs["idle_passes"]
    outside = "client_and_scheduler_cpu_seconds"
    task = (many[outside] - few[outside]) / (many["chunks"] - few["chunks"])
    round_trip = few["seconds"] - few["chunks"] * task
    each = costs["ranking_seconds"] + passes * round_trip
    each += TASKS * task * costs["rows"] / costs["chunk_rows"]
    node, block = np.polyfit(
        [one["nodes_before"] for one in blocks], [one["seconds"] - each for one in blocks], 1
    )
    share = 2.0 / costs["rows"]  # two workers
    return Model(
        start=costs["start_seconds"] * share,
        block=float(block) * share,
        node=float(node) * share,
        ranking=costs["ranking_seconds"],
        round_trip=round_trip,
        task=task,
        passes=passes,
        nodes_of_a_block=costs["nodes"] / len(blocks),
        chunk_rows=costs["chunk_rows"],
    )


def overhead_lines(cases: list[dict[str, Any]]) -> list[str]:
    """Return the fits on two workers beside those in memory."""
    lines = [
        f"{cases[0]['rows']:,} x {cases[0]['features']} rows in float32, {cases[0]['nodes']} "
        "nodes, on the same two cores; both chose the same nodes:",
        "",
        "| rows of a chunk | in memory | two workers | ratio | ratio of processor time |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for case in cases:
        assert case["same_nodes"]
        lines.append(
            f"| {case['chunk_rows']:,} | {case['in_memory_seconds']:.1f} s | "
            f"{case['two_workers_seconds']:.1f} s | {case['ratio']:.2f} | {case['cpu_ratio']:.2f} |"
        )
    return lines


def memory_lines(case: dict[str, Any]) -> list[str]:
    """Return the fit that is larger than its workers."""
    assert not case["a_worker_was_killed"]
    peak = max(case["peak_GiB_of_each_worker"])
    return [
        f"{case['rows']:,} x {case['features']} rows in float32, drawn lazily, {case['nodes']} "
        f'nodes, two workers with `memory_limit="{case["memory_limit"]}"`: inputs are '
        f"{case['inputs_GiB']:.1f} GiB and the factor {case['factor_GiB']:.1f} GiB; each worker "
        f"peaked at {peak:.1f} GiB, {case['peak_on_disk_GiB']:.1f} GiB lay on disk, none was "
        f"killed. It took {case['seconds'] / 60:.0f} minutes.",
    ]


def model_lines(costs: dict[str, Any], check: dict[str, Any]) -> list[str]:
    """Return the model and what it says, also of a fit that it was not made from."""
    model, million = model_of(costs), 1e6
    said = model.seconds(check["rows"], 2, check["nodes"])
    lines = [
        f"How far it goes, from what the parts of such a fit with {costs['nodes']} nodes took: "
        "with N rows in C chunks on W workers and k nodes before the block,",
        "",
        "```text",
        f"seconds = {model.start * million:.2f} N/W + sum over blocks of "
        f"[ ({model.block * million:.2f} + {model.node * million:.4f} k) N/W"
        f" + {model.ranking:.2f} + {model.passes} x {model.round_trip:.3f}"
        f" + {TASKS} x {model.task:.4f} C ]        N in millions",
        "```",
        "",
        "The parts of a block are the rows' share of each worker, the ranking of candidates in "
        f"the client, {model.passes} round trips, and {TASKS} tasks for each chunk through the "
        f"client and the one scheduler. With blocks of {model.nodes_of_a_block:.1f} nodes, as "
        f"they came there of ten asked for, and chunks of {model.chunk_rows:,} rows:",
        "",
        "| rows | workers | nodes | time |",
        "| ---: | ---: | ---: | ---: |",
    ]
    for rows, workers, nodes in CASES:
        seconds = model.seconds(rows, workers, nodes)
        shown = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
        lines.append(f"| {rows:,} | {workers} | {nodes} | {shown} |")
    lines += [
        "",
        f"For the first fit above it says {said:.0f} s where {check['two_workers_seconds']:.0f} s "
        "were measured. It has no network between machines and no disk: rows stay where they are, "
        "and only sums and the sample travel, but rows that do not fit memory cost their reading.",
    ]
    return lines


def measured(page: str) -> str:
    """Return the page with its measured part made anew."""
    report = json.loads(RESULTS.read_text())
    before, rest = page.split(START)
    _, after = rest.split(STOP)
    parts = (
        overhead_lines(report["overhead"]),
        memory_lines(report["memory"]),
        model_lines(report["costs"], report["overhead"][0]),
    )
    return before + "\n\n".join((START, *("\n".join(lines) for lines in parts), STOP)) + after


if __name__ == "__main__":
    PAGE.write_text(measured(PAGE.read_text()))
    print(f"{PAGE.name}: measured part written from benchmarks/results")
