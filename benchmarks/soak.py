"""An hour of bad luck: fuzzed tables, crafted model files, and whatever can be killed, killed.

`make soak` (or `--minutes N`, as `make soak SOAK='--minutes 20'`). Each part runs until its share
of the time is over, or with `--enough` until it was tried often enough; every batch has a seed of
its own, so that whatever failed can be made again. Counts are written as they come in, and a later
run of the same source adds to them; other source begins anew. A fault ends with exit code 1 after
all parts have run.
"""

from __future__ import annotations

import argparse
import hashlib
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    "dask": lambda what: what.startswith("workers killed"),
    "reproductions": lambda what: what.startswith("resumed"),
    "watches": lambda what: what == "gone on",
    "pipes": lambda _: True,
}
"""Which of the counts of a part add up to how often it was tried."""

ENOUGH = {
    "models": 3_600,
    "tables": 10_000,
    "kills": 200,
    "dask": 20,
    "reproductions": 10,
    "watches": 20,
    "pipes": 500,
}
"""How often each part is tried with `--enough`."""

Part = dict[str, Any]
Once = Callable[[int, Counter[str], list[Any]], None]


def tried(name: str, counts: dict[str, int]) -> int:
    """Return how often a part was tried."""
    return sum(count for what, count in counts.items() if _TRIED[name](what))


def source() -> str:
    """Return a number that changes with the library and with what makes the attacks."""
    files = [
        *(ROOT / "src").rglob("*.py"),
        *(TESTS / f"{n}.py" for n in GENERATORS),
        Path(__file__),
    ]
    content = b"".join(path.read_bytes() for path in sorted(files))
    return hashlib.sha256(content).hexdigest()[:12]


GENERATORS = ("crafted", "fuzzed", "guarded")


def until(
    seconds: float, name: str, once: Once, part: Part, enough: float, keep: Callable[[Part], None]
) -> Part:
    """Repeat something until the time is over or it was done enough; count what comes of it."""
    counts, faults = Counter(part["counts"]), list(part["faults"])
    before, began, kept = part["seconds"], time.monotonic(), 0.0
    spent = 0.0
    while spent < seconds and tried(name, counts) < enough:
        n_faults = len(faults)
        try:
            once(part["next_seed"], counts, faults)
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            faults.append({"seed": part["next_seed"], "hung": str(error)[:300]})
        spent = time.monotonic() - began
        part |= {
            "next_seed": part["next_seed"] + 1,
            "seconds": round(before + spent),
            "counts": dict(counts),
            "faults": faults[:50],
            "n_faults": part["n_faults"] + len(faults) - n_faults,
        }
        if spent - kept > 5:
            kept = spent
            keep(part)
    keep(part)
    return part


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
            began = time.monotonic()
            subprocess.run([*fit, "--seed=1"], env=ENVIRONMENT, check=True, capture_output=True)
            _OLD.update(_contents(out))
            for each in ("page.html", "outliers.csv"):  # so that no new one can be the same
                _OLD[each] += b"old\n"
            _TAKES.append(time.monotonic() - began)
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
        # Half of them while files are written, which is a moment: as soon as so many appear.
        if seed % 2:
            stage = rng.integers(1, len(old) + 1)
            while process.poll() is None and len(os.listdir(out)) < len(old) + stage:
                time.sleep(0.0005)
            time.sleep(rng.uniform(0, 0.03))
        else:
            time.sleep(rng.uniform(0, 1.1) * _TAKES[0])
        process.send_signal(which)
        _, err = process.communicate(timeout=900)
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
        if hidden and which is signal.SIGKILL:  # which nobody can answer
            counts["hidden parts left by SIGKILL"] += 1
        elif hidden:
            faults.append(told | {"hidden parts": len(hidden)})
        if "Traceback" in err:
            faults.append(told | {"stderr": err[-300:]})
        load(out / "model.skops")


_TAKES: list[float] = []
"""Seconds of a fit that nothing interrupts."""

_OLD: dict[str, bytes] = {}
"""What an earlier fit wrote: made once, lying there before each of the others."""

_FILES = {"model": "model.skops", "report": "page.html", "outliers": "outliers.csv"}


def _contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith(".")}


def dask(seed: int, counts: Counter[str], faults: list[Any]) -> None:
    """Kill workers of a cluster during a fit: the same answer, or one line and the old files."""
    import pandas as pd

    sys.path.insert(0, str(TESTS))
    from fuzzed import _captured
    from robustscn.cli import main
    from robustscn.persistence import load

    rng = np.random.default_rng(seed)
    cluster = _cluster()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        draws = np.random.default_rng(0)
        frame = pd.DataFrame({"flow": draws.random(4000), "level": draws.random(4000)})
        frame["size"] = np.sin(5 * frame["flow"]) + frame["level"]
        frame.loc[::8, "size"] += 9
        for number, rows in enumerate(np.array_split(np.arange(len(frame)), 5)):
            frame.iloc[rows].to_parquet(folder / f"part-{number}.parquet")
        model, listed = folder / "model.skops", folder / "outliers.csv"
        words = ["fit", str(folder / "part-*.parquet"), "-t", "size", "--report", "none", "--model"]
        words += [str(model), "--outliers", str(listed), "--scheduler", cluster.scheduler_address]
        words += TINY
        if not _UNDISTURBED:
            began = time.monotonic()
            code, _, err = _captured(main, words)
            if code != 0:
                raise RuntimeError(err)
            _UNDISTURBED["seconds"] = time.monotonic() - began
            _UNDISTURBED["predicted"] = load(model).model.predict(frame)
            _UNDISTURBED["listed"] = listed.read_bytes()
        model.write_bytes(b"old")
        listed.write_bytes(b"old")
        n_killed = int(rng.integers(1, 3))
        moments = np.sort(rng.uniform(0, _UNDISTURBED["seconds"], n_killed))
        killer = threading.Thread(target=_kill_workers, args=(cluster, moments, rng))
        killer.start()
        with _alarm(900):
            code, _, err = _captured(main, words)
        killer.join()
        counts[f"workers killed: {n_killed}"] += 1
        files = sorted(p.name for p in folder.iterdir() if p.suffix != ".parquet")
        if files != ["model.skops", "outliers.csv"]:
            faults.append({"seed": seed, "files": files})
        elif code == 0:
            found = load(model).model.predict(frame)
            same = np.allclose(found, _UNDISTURBED["predicted"], rtol=1e-9, atol=1e-9)
            if same and listed.read_bytes().count(b"\n") == _UNDISTURBED["listed"].count(b"\n"):
                counts["the same answer"] += 1
            else:
                faults.append({"seed": seed, "another answer": float(np.abs(found).max())})
        elif len([e for e in err.splitlines() if e.startswith("error: ")]) == 1:
            counts["one line, files as before"] += 1
            if (model.read_bytes(), listed.read_bytes()) != (b"old", b"old"):
                faults.append({"seed": seed, "code": code, "files": "changed"})
        else:
            faults.append({"seed": seed, "code": code, "stderr": err[-300:]})


_UNDISTURBED: dict[str, Any] = {}
"""What a fit on the cluster comes to when nothing is killed, and how long it takes."""

_CLUSTER: list[Any] = []


def _cluster() -> Any:
    """Return a cluster of two processes, kept from one fit to the next, both workers alive."""
    from distributed import Client, LocalCluster

    if not _CLUSTER:
        _CLUSTER.append(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0"))
    with Client(_CLUSTER[0]) as client:
        client.wait_for_workers(2, timeout=300)
    return _CLUSTER[0]


def _kill_workers(cluster: Any, moments: Any, rng: np.random.Generator) -> None:
    began = time.monotonic()
    for moment in moments:
        time.sleep(max(0.0, moment - (time.monotonic() - began)))
        alive = [nanny.pid for nanny in cluster.workers.values() if nanny.pid is not None]
        if alive:
            try:
                os.kill(alive[rng.integers(len(alive))], signal.SIGKILL)
            except ProcessLookupError:  # killed before, and not started again yet
                continue


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    """Raise where something hangs."""

    def ring(_number: int, _frame: Any) -> None:
        raise TimeoutError(f"hung for {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def reproductions(seed: int, counts: Counter[str], faults: list[Any]) -> None:
    """Kill a small reproduction up to three times and let it go on: the same results as whole."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        if not _WHOLE:
            began = time.monotonic()
            _reproduced(Path(name) / "whole").communicate(timeout=3600)
            _WHOLE["seconds"] = time.monotonic() - began
            _WHOLE["results"] = _results(Path(name) / "whole")
        out = Path(name) / "out"
        for _ in range(rng.integers(1, 4)):
            which = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT][rng.integers(3)]
            process = _reproduced(out)
            time.sleep(rng.uniform(0.2, 1.0) * _WHOLE["seconds"])
            process.send_signal(which)
            _, err = process.communicate(timeout=900)
            counts[
                f"ended by {which.name}" if process.returncode else "done before the signal"
            ] += 1
            if "Traceback" in err:
                faults.append({"seed": seed, "signal": which.name, "stderr": err[-300:]})
            if not _session_ends(process.pid):
                faults.append({"seed": seed, "signal": which.name, "left": "processes"})
            broken = [p.name for p in out.rglob("*.json") if not _is_json(p)]
            hidden = [p.name for p in out.rglob(".*") if which is not signal.SIGKILL]
            if broken or hidden:
                faults.append({"seed": seed, "signal": which.name, "files": broken + hidden})
            for path in out.rglob(".*"):  # so that what SIGKILL left is not another's fault
                path.unlink()
        _, err = _reproduced(out).communicate(timeout=3600)
        counts["resumed"] += 1
        if _results(out) != _WHOLE["results"]:
            faults.append({"seed": seed, "other results": sorted(_results(out)), "err": err[-300:]})


_WHOLE: dict[str, Any] = {}
"""What a reproduction that nothing interrupts comes to, and how long it takes."""


def _reproduced(out: Path) -> subprocess.Popen[str]:
    small = ["table5", "--trials", "1", "--jobs", "1", "--out", str(out)]
    return subprocess.Popen(
        [*COMMAND, "reproduce", *small],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _results(out: Path) -> dict[str, Any]:
    """Return what was found, apart from how long it took, and the page."""
    found: dict[str, Any] = {}
    for path in sorted((out / "cells").glob("*.json")):
        record = json.loads(path.read_text())
        trials = [{k: v for k, v in t.items() if k != "seconds"} for t in record["trials"]]
        found[path.name] = record | {"trials": trials}
    pages = ("README.md", "index.html")
    return found | {each: (out / each).exists() for each in pages}


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text())
    except ValueError:
        return False
    return True


def _session_ends(session: int) -> bool:
    """Wait until no process of a session is left; end those that stay."""
    for _ in range(1200):
        left = []
        for entry in Path("/proc").iterdir():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    left.append(int(entry.name))
            except (OSError, ValueError):
                continue
        if not left:
            return True
        time.sleep(0.05)
    for process in left:
        os.kill(process, signal.SIGKILL)
    return False


def watches(seed: int, counts: Counter[str], faults: list[Any]) -> None:
    """Kill a watch of a stream up to three times and let it go on: no row lost, none twice."""
    import pandas as pd

    from robustscn.persistence import load

    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        draws = np.random.default_rng(0)
        x = draws.random(700)
        y = np.sin(5 * x) + 0.05 * draws.normal(size=700) + 9 * (np.arange(700) % 8 == 0)
        lines = [f"{a},{b}" for a, b in zip(x, y, strict=True)]
        history, stream, model = (folder / n for n in ("old.csv", "new.csv", "model.skops"))
        history.write_text("\n".join(["flow,size", *lines[:100]]) + "\n")
        stream.write_text("\n".join(["flow,size", *lines[100:]]) + "\n")
        nothing = ["--report", "none", "--outliers", "none"]
        fit = ["fit", str(history), "-t", "size", "--model", str(model), *nothing, *TINY]
        subprocess.run([*COMMAND, *fit], env=ENVIRONMENT, check=True, capture_output=True)
        probes = pd.DataFrame({"flow": x})
        command = [*COMMAND, "watch", str(model), str(stream), "-q", "--every", "20"]

        def watched(to: str) -> list[str]:
            files = ["--out", str(folder / f"{to}.jsonl"), "--save", str(folder / f"{to}.skops")]
            return [*command, *files]

        if not _WATCHED:
            began = time.monotonic()
            subprocess.run(watched("whole"), env=ENVIRONMENT, check=True, capture_output=True)
            _WATCHED["seconds"] = time.monotonic() - began
            _WATCHED["told"] = (folder / "whole.jsonl").read_bytes()
            _WATCHED["predicted"] = load(folder / "whole.skops").model.predict(probes)
        for _ in range(rng.integers(1, 4)):
            which = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT][rng.integers(3)]
            process = subprocess.Popen(
                watched("cut"),
                env=ENVIRONMENT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(rng.uniform(0.3, 1.1) * _WATCHED["seconds"])
            process.send_signal(which)
            _, err = process.communicate(timeout=900)
            counts[
                f"ended by {which.name}" if process.returncode else "done before the signal"
            ] += 1
            if "Traceback" in err:
                faults.append({"seed": seed, "signal": which.name, "stderr": err[-300:]})
        done = subprocess.run(
            watched("cut"), env=ENVIRONMENT, capture_output=True, text=True, check=False
        )
        counts["gone on"] += 1
        if done.returncode != 0:
            faults.append({"seed": seed, "code": done.returncode, "stderr": done.stderr[-300:]})
        elif (folder / "cut.jsonl").read_bytes() != _WATCHED["told"]:
            faults.append({"seed": seed, "told": "other lines"})
        elif not np.array_equal(
            load(folder / "cut.skops").model.predict(probes), _WATCHED["predicted"]
        ):
            faults.append({"seed": seed, "learned": "another model"})


_WATCHED: dict[str, Any] = {}
"""What a watch that nothing interrupts tells and learns, and how long it takes."""


def pipes(seed: int, counts: Counter[str], faults: list[Any]) -> None:
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
        timeout=3600,
    )


PARTS: dict[str, tuple[Once, float]] = {
    "models": (models, 0.15),
    "tables": (tables, 0.37),
    "kills": (kills, 0.2),
    "dask": (dask, 0.08),
    "reproductions": (reproductions, 0.1),
    "watches": (watches, 0.08),
    "pipes": (pipes, 0.02),
}
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
            n = tried(name, counts)
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
    parser.add_argument("--enough", action="store_true", help="stop a part that was tried enough")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--page", action="store_true", help="write docs/testing.md only")
    asked = parser.parse_args()
    if asked.page:
        text = page_of(PAGE.read_text(encoding="utf-8"), json.loads(asked.out.read_text()))
        PAGE.write_text(text, encoding="utf-8")
        return 0
    from robustscn.atomic import write_whole

    os.environ["PYTHONPATH"] = ENVIRONMENT["PYTHONPATH"]  # for the workers of a cluster
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
    of, faults = source(), 0
    for name in asked.parts:
        once, share = PARTS[name]
        part = _read(asked.out).get(name, {})
        if part.get("source") != of:
            part = {"source": of, "next_seed": asked.seed, "seconds": 0, "counts": {}}
            part |= {"faults": [], "n_faults": 0}

        def keep(part: Part, name: str = name) -> None:
            # Read again each time: other parts may be running beside, in a process of their own.
            write_whole(
                asked.out,
                (json.dumps(_read(asked.out) | about | {name: part}, indent=1) + "\n").encode(),
            )

        seconds = 60 * asked.minutes * share / total
        enough = ENOUGH[name] if asked.enough else float("inf")
        part = until(seconds, name, once, part, enough, keep)
        while _CLUSTER:
            _CLUSTER.pop().close()
        faults += part["n_faults"]
        print(f"{name}: {part['counts']}, {part['n_faults']} faults", flush=True)
    return 1 if faults else 0


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    raise SystemExit(main())
