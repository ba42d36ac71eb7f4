"""An hour of bad luck: fuzzed tables, crafted model files, fits killed, readers that go away.

`make soak` (or `--minutes N`, as `make soak SOAK='--minutes 20'`). Each part runs until its share
of the time is over, in processes of their own with a limit on memory; every batch has a seed of
its own, so that whatever failed can be made again. The counts are the result, and a fault ends
with exit code 1 after all parts have run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests"
RESULT = ROOT / "benchmarks" / "results" / "soak.json"
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(TESTS)])}
COMMAND = [sys.executable, "-m", "robustscn.cli"]
TINY = ["--networks", "2", "--nodes", "5", "--rounds", "1", "-q"]
BATCH = 300

PAGE = ROOT / "docs" / "testing.md"

_TRIED: dict[str, Callable[[str], bool]] = {
    "models": lambda _: True,
    "tables": lambda what: "memory" not in what,
    "kills": lambda what: what.startswith("SIG"),
    "streams": lambda _: True,
}
"""Which of the counts of a part add up to how often it was tried."""

Part = dict[str, Any]


def until(seconds: float, once: Callable[[int, Counter[str], list[Any]], None], seed: int) -> Part:
    """Repeat something until the time is over; count what comes of it."""
    counts: Counter[str] = Counter()
    faults: list[Any] = []
    began = time.monotonic()
    number = 0
    while time.monotonic() - began < seconds:
        once(seed + number, counts, faults)
        number += 1
    return {
        "seed": seed,
        "seconds": round(time.monotonic() - began),
        "counts": dict(counts),
        "faults": faults[:50],
        "n_faults": len(faults),
    }


def models(seed: int, counts: Counter[str], faults: list[Any]) -> None:
    """Try a batch of crafted model files: loaded and used in a process that is watched."""
    sys.path.insert(0, str(TESTS))
    from crafted import crafted

    with tempfile.TemporaryDirectory() as name:
        folder, touched = Path(name) / "files", Path(name) / "touched"
        folder.mkdir()
        names = []
        for number, (what, content) in enumerate(crafted(2 * BATCH, seed, str(touched), seed > 0)):
            (folder / f"{number:05}.skops").write_bytes(content)
            names.append(what)
        done = _child([str(TESTS / "guarded.py"), str(folder)])
        if done.returncode != 0 or touched.exists():
            last = [line for line in done.stderr.splitlines() if line.endswith(".skops")][-1:]
            which = names[int(last[0][:5])] if last else None
            faults.append({"seed": seed, "code": done.returncode, "file": which})
            return
    facts = json.loads(done.stdout)
    counts.update(facts["outcomes"])
    faults += [{"seed": seed, "noted": each} for each in facts["noted"]]
    if facts["children"] or facts["threads"]:
        faults.append({"seed": seed, "left": [facts["children"], facts["threads"]]})


def tables(seed: int, counts: Counter[str], faults: list[Any]) -> None:
    """Try a batch of fuzzed tables: a model or one line each; memory and open files watched."""
    done = _child([str(TESTS / "fuzzed.py"), str(BATCH), str(seed)])
    if done.returncode != 0:
        faults.append({"seed": seed, "code": done.returncode, "stderr": done.stderr[-500:]})
        return
    facts = json.loads(done.stdout.splitlines()[-1])
    counts.update(facts["counts"])
    faults += facts["faults"]
    counts["largest growth of memory, MB"] = max(
        counts["largest growth of memory, MB"], facts["memory_growth_bytes"] // 1_000_000
    )
    if facts["open_files_growth"] > 0:
        faults.append({"seed": seed, "open files": facts["open_files_growth"]})


def kills(seed: int, counts: Counter[str], faults: list[Any]) -> None:
    """Fit over old files and end it by a signal at a random moment: old files or new ones."""
    from robustscn.persistence import load

    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "out"
        out.mkdir()
        x = np.random.default_rng(0).random(80)
        y = np.sin(5 * x) + 9 * (np.arange(80) % 8 == 0)  # so that the list of suspects has some
        lines = [f"{a},{b}" for a, b in zip(x, y, strict=True)]
        (folder / "data.csv").write_text("\n".join(["flow,size", *lines]))
        files = [f"--{k}={out / v}" for k, v in _FILES.items()]
        fit = [*COMMAND, "fit", str(folder / "data.csv"), "-t", "size", *files, *TINY]
        if not _OLD:
            subprocess.run([*fit, "--seed=1"], env=ENVIRONMENT, check=True, capture_output=True)
            _OLD.update(_contents(out))
        for file, content in _OLD.items():
            (out / file).write_bytes(content)
        old = _contents(out)
        which = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT][seed % 3]
        began = time.monotonic()
        process = subprocess.Popen(
            [*fit, "--seed=2"],
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        # Half of them while files are written, which is a moment: as soon as the first appears.
        if seed % 2:
            while process.poll() is None and len(os.listdir(out)) == len(old):
                time.sleep(0.0005)
            time.sleep(rng.uniform(0, 0.03))
        else:
            time.sleep(rng.uniform(0.2, 6.0))
        process.send_signal(which)
        _, err = process.communicate(timeout=120)
        new = _contents(out)
        counts[f"{which.name}, {'while writing' if seed % 2 else 'any time'}"] += 1
        told = {"seed": seed, "signal": which.name, "after": round(time.monotonic() - began, 3)}
        if new.keys() != old.keys() or not all(new.values()):
            faults.append(told | {"files": sorted(new)})
            return
        same = [new[each] == old[each] for each in old]
        counts["files as before" if all(same) else "files new" if not any(same) else "mixed"] += 1
        hidden = [p.read_bytes() for p in out.iterdir() if p.name.startswith(".")]
        # Between two moves, which no program survives: then the old ones must lie beside.
        lost = [each for each in old if new[each] != old[each] and old[each] not in hidden]
        if any(same) and lost:
            faults.append(told | {"mixed": same, "lost": lost})
        if which is not signal.SIGKILL and any(each.startswith(".") for each in os.listdir(out)):
            counts["hidden parts left"] += 1
        if "Traceback" in err:
            faults.append(told | {"stderr": err[-300:]})
        load(out / "model.skops")


_OLD: dict[str, bytes] = {}
"""What an earlier fit wrote: made once, lying there before each of the others."""

_FILES = {"model": "model.skops", "report": "page.html", "outliers": "outliers.csv"}


def _contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith(".")}


def streams(seed: int, counts: Counter[str], faults: list[Any]) -> None:
    """Write a FIFO and a file together; the reader may leave after a random number of bytes."""
    from robustscn.atomic import write_together

    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        fifo, file = Path(name) / "fifo", Path(name) / "file"
        os.mkfifo(fifo)
        file.write_bytes(b"old")
        whole = rng.bytes(int(rng.integers(1, 400_000)))
        wanted = len(whole) if rng.random() < 0.5 else int(rng.integers(0, len(whole)))
        got: list[bytes] = []

        def read() -> None:
            with open(fifo, "rb", buffering=0) as stream:
                left = wanted + (wanted == len(whole))  # to the end, or not as far
                while left > 0 and (chunk := stream.read(min(left, 65536))):
                    got.append(chunk)
                    left -= len(chunk)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            write_together(
                {file: lambda p: p.write_bytes(b"new"), fifo: lambda p: p.write_bytes(whole)}
            )
            written = True
        except BrokenPipeError:
            written = False
        reader.join()
        counts["written" if written else "reader gone, nothing changed"] += 1
        expected = b"new" if written else b"old"
        complete = not written or b"".join(got) == whole[: len(b"".join(got))]
        if file.read_bytes() != expected or not fifo.is_fifo() or not complete:
            faults.append({"seed": seed, "written": written})
        if len(os.listdir(name)) != 2:
            faults.append({"seed": seed, "left": os.listdir(name)})


def _child(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        timeout=1800,
    )


PARTS = {"models": (models, 0.3), "tables": (tables, 0.4), "kills": (kills, 0.28)}
PARTS |= {"streams": (streams, 0.02)}
"""What is run, and its share of the time."""


def page_of(text: str, result: dict[str, Any]) -> str:
    """Return the page with the counts between its marks."""
    n_minutes = sum(result[name]["seconds"] for name in PARTS if name in result) / 60
    lines = [
        f"{n_minutes:.0f} minutes of work on {result['processors']} shared cores "
        "([soak.json](../benchmarks/results/soak.json)).",
        "",
        "| part | tried | what became of them | faults |",
        "| --- | ---: | --- | ---: |",
    ]
    for name in PARTS:
        if name in result:
            counts = dict(result[name]["counts"])
            n = sum(counts[each] for each in counts if _TRIED[name](each))
            became = ", ".join(f"{each} {count:,}" for each, count in sorted(counts.items()))
            lines.append(f"| {name} | {n:,} | {became} | {result[name]['n_faults']} |")
    start, end = text.index("<!-- soak"), text.index("<!-- /soak -->")
    mark = text[start : text.index("\n", start)]
    table = "\n".join(lines)
    return f"{text[:start]}{mark}\n\n{table}\n\n{text[end:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--page", action="store_true", help="write docs/testing.md only")
    asked = parser.parse_args()
    if asked.page:
        text = page_of(PAGE.read_text(encoding="utf-8"), json.loads(asked.out.read_text()))
        PAGE.write_text(text, encoding="utf-8")
        return 0
    # In the background of a script interrupts are ignored, and children would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    total = sum(PARTS[name][1] for name in asked.parts)
    about = {
        "versions": {
            n: version(n) for n in ("numpy", "scikit-learn", "pandas", "pyarrow", "skops")
        },
        "python": platform.python_version(),
        "processors": os.cpu_count(),
    }
    faults = 0
    for name in asked.parts:
        part, share = PARTS[name]
        found = until(60 * asked.minutes * share / total, part, asked.seed)
        # Read again each time: other parts may be running beside, in a process of their own.
        result = json.loads(asked.out.read_text()) if asked.out.exists() else {}
        result |= about | {name: found}
        faults += found["n_faults"]
        print(f"{name}: {found['counts']}, {found['n_faults']} faults", flush=True)
        asked.out.write_text(json.dumps(result, indent=1) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    raise SystemExit(main())
