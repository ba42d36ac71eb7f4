"""Runs of the tests in other surroundings, and a table of how they went."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LAST_BITS = {
    "estimators": (
        "frames", "missing_types", "sample_weight", "weight_of_two", "float32", "memory",
        "believes_planted", "random_state",
    ),
    "bad_input": ("any_size", "float32", "memory"),
}  # fmt: skip
"""Of the estimators' thousands of cases those that depend on last bits, or on what other libraries
hand over; the rest ask the same of every machine."""

ROUND_TRIPS = {"persistence": ("to_the_bit",), "cli": ("one_command", "predictions_do_not_depend")}
"""A model of each estimator saved and loaded; a table, a model, a page, predictions."""

NUMBERS = ("properties", "rvfl", "warm_start")
"""Files beside the core's that are about numbers, not about words, pages or clusters."""

ELSEWHERE = ["--hypothesis-profile=few", "-m", "not slow and not hostile and not site"]
"""What is asked on other processors and versions was asked here with more examples."""


def chosen(
    files: Sequence[str], parts: Mapping[str, Sequence[str]], *, core: bool = True
) -> list[str]:
    """Return arguments for pytest: the core's tests, some files, and parts of long ones.

    Parameters
    ----------
    files : sequence of str
        Names of test files that are taken whole.
    parts : mapping
        For names of others words, of which a test's name has one.
    core : bool
        Whether the core's tests are taken too.

    Returns
    -------
    list of str
        Paths, and which of their tests.
    """
    paths = [f"tests/test_{name}.py" for name in (*files, *parts)]
    whole = " and ".join(f"not test_{name}.py" for name in parts)
    some = [f"(test_{name}.py and ({' or '.join(words)}))" for name, words in parts.items()]
    return [*["tests/core"] * core, *paths, "-k", " or ".join([f"({whole})", *some]), *ELSEWHERE]


def numerical() -> list[str]:
    """Return the tests that another processor could change, for pytest."""
    return chosen(NUMBERS, LAST_BITS | ROUND_TRIPS)


@dataclass(frozen=True)
class Outcome:
    """How one run of the tests went.

    Parameters
    ----------
    passed, failed, skipped : int
        Numbers of tests; an error outside of a test is a failure.
    seconds : float
        How long it took.
    """

    passed: int
    failed: int
    skipped: int
    seconds: float

    @property
    def good(self) -> bool:
        """Whether tests ran and none failed."""
        return self.failed == 0 and self.passed > 0


def outcome_of(
    python: Path, arguments: Sequence[str], environment: Mapping[str, str], *, processes: int = 2
) -> Outcome:
    """Run pytest and return how it went.

    Parameters
    ----------
    python : Path
        Interpreter to run it with.
    arguments : sequence of str
        What to test, in pytest's words.
    environment : mapping
        The whole environment of the run.
    processes : int
        How many share the tests.

    Returns
    -------
    Outcome
        What pytest said is printed only where something failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [str(python), "-m", "pytest", "-q", "-n", str(processes)]
        start = time.perf_counter()
        done = subprocess.run(
            [*command, *arguments, f"--junitxml={report}"],
            cwd=ROOT, env=dict(environment), text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        counts = _counted(report)
    failed = max(counts["failures"] + counts["errors"], int(done.returncode != 0))
    if failed:
        print(done.stdout, flush=True)
    passed = counts["tests"] - counts["failures"] - counts["errors"] - counts["skipped"]
    return Outcome(passed, failed, counts["skipped"], seconds)


def _counted(report: Path) -> dict[str, int]:
    """Return the numbers in a report; zeros where the run was over before there was one."""
    names = ("tests", "failures", "errors", "skipped")
    if not report.exists():
        return dict.fromkeys(names, 0)
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    return {name: sum(int(suite.get(name, "0")) for suite in suites) for name in names}


def finish(rows: Mapping[str, Outcome | str]) -> None:
    """Print a table and end the process: 0 if all that could run here passed, else 1.

    Parameters
    ----------
    rows : mapping
        For the name of each run how it went, or why there was none.
    """
    width = max(len(name) for name in rows)
    print(f"\n| {'':{width}} | passed | failed | skipped | seconds |")
    print(f"| {'-' * width} | -----: | -----: | ------: | ------: |")
    for name, row in rows.items():
        if isinstance(row, str):
            print(f"| {name:{width}} | {row} | | | |")
        else:
            numbers = f"{row.passed:6} | {row.failed:6} | {row.skipped:7} | {row.seconds:7.0f}"
            print(f"| {name:{width}} | {numbers} |")
    sys.exit(any(isinstance(row, Outcome) and not row.good for row in rows.values()))
