"""Tables as fuzz makes them, and what must become of each: a model, or one line.

`fuzzed.py N SEED` tries that many in this process, under a limit on its memory, and prints the
counts, what failed, and how memory and open files have grown.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd

MEMORY = 6_000_000_000
TINY = ["--networks", "2", "--nodes", "4", "--rounds", "1", "--report", "none", "--json"]
_WORDS = (
    "nan inf -inf 1e400 -1e400 1e-320 1e308 -1e307 0x10 1_000 1,5 1.2.3 - -- + = =1+1 @x "
    "n/a #DIV/0! NULL None true TRUE 2024-01-01 31.12.2024 25:61 99999999999999999999 "
    "0000012 1e1e1 % $5 \u0661\u0662 \u2212 \u00a0 \ufeff \x00 \x1b[31m \" '' \\ \t ; | ,"
)
ODD = _WORDS.split(" ")


def sound(rng: np.random.Generator) -> pd.DataFrame:
    """A table with a few columns of random kinds."""
    n = int(rng.integers(3, 60))
    frame = pd.DataFrame({"flow": rng.normal(size=n) * 10.0 ** rng.integers(-9, 10)})
    if rng.random() < 0.6:
        frame["mill"] = rng.choice(["A", "B", "C d", "\u00d6"], n)
    if rng.random() < 0.4:
        hours = pd.to_timedelta(np.arange(n), unit="h")
        frame["when"] = pd.Timestamp("2024-01-01") + hours
    if rng.random() < 0.4:
        frame["on"] = rng.random(n) < 0.5
    size = np.nan_to_num(frame["flow"]) + rng.normal(size=n)
    return frame.assign(size=size * 10.0 ** rng.integers(-3, 4))


def fuzzed(n: int, seed: int) -> Iterator[bytes]:
    """Yield files: sound tables with values, lines and bytes of them spoiled."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield _file(rng)


def _file(rng: np.random.Generator) -> bytes:
    frame = sound(rng)
    if rng.random() < 0.15:
        file = io.BytesIO()
        frame.to_parquet(file)
        return _spoiled(file.getvalue(), rng, most=6)
    separator = [",", ";", "\t", "|"][rng.choice(4, p=[0.6, 0.2, 0.1, 0.1])]
    text = frame.to_csv(index=False, sep=separator)
    for _ in range(rng.integers(0, 6)):
        text = _CHANGES[rng.integers(len(_CHANGES))](text, separator, rng)
    encoding = ["utf-8", "utf-16", "cp1252", "utf-8-sig"][rng.choice(4, p=[0.8, 0.1, 0.05, 0.05])]
    content = text.encode(encoding, "replace")
    if rng.random() < 0.3:
        content = _spoiled(content, rng, most=4)
    if rng.random() < 0.1:
        content = gzip.compress(content, mtime=0)  # else the clock is in the file
        content = _spoiled(content, rng, most=2) if rng.random() < 0.5 else content
    return content


def _spoiled(content: bytes, rng: np.random.Generator, most: int) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.integers(1, most + 1)):
        if not changed:
            break
        place = int(rng.integers(len(changed)))
        match rng.integers(4):
            case 0:
                changed[place] = int(rng.integers(256))
            case 1:
                del changed[place : place + int(rng.integers(1, 40))]
            case 2:
                changed[place:place] = bytes(rng.integers(0, 256, rng.integers(1, 9)).tolist())
            case 3:
                changed[place:place] = changed[: int(rng.integers(1, 80))]
    return bytes(changed)


def _odd_cells(text: str, separator: str, rng: np.random.Generator) -> str:
    lines = [line.split(separator) for line in text.split("\n")]
    for _ in range(rng.integers(1, 8)):
        line = lines[rng.integers(len(lines))]
        line[rng.integers(len(line))] = ODD[rng.integers(len(ODD))]
    return "\n".join(separator.join(line) for line in lines)


def _column_of_one(text: str, separator: str, rng: np.random.Generator) -> str:
    lines = [line.split(separator) for line in text.split("\n")]
    which, what = rng.integers(len(lines[0])), ODD[rng.integers(len(ODD))]
    for line in lines[1:]:
        if which < len(line):
            line[which] = what
    return "\n".join(separator.join(line) for line in lines)


def _lines_moved(text: str, _separator: str, rng: np.random.Generator) -> str:
    lines = text.split("\n")
    at, to = rng.integers(len(lines), size=2)
    lines.insert(int(to), lines[at] if rng.random() < 0.5 else lines.pop(at))
    return "\n".join(lines)


def _cut(text: str, _separator: str, rng: np.random.Generator) -> str:
    return text[: rng.integers(len(text) + 1)]


def _other_ends(text: str, _separator: str, rng: np.random.Generator) -> str:
    return text.replace("\n", ["\r\n", "\r", "\n\n", "\n\r"][rng.integers(4)])


def _huge_values(text: str, separator: str, rng: np.random.Generator) -> str:
    lines = [line.split(separator) for line in text.split("\n")]
    for line in lines[1:]:
        if rng.random() < 0.3:
            line[-1] = f"{rng.normal():.3f}e{rng.integers(-320, 309)}"
    return "\n".join(separator.join(line) for line in lines)


_CHANGES: list[Callable[[str, str, np.random.Generator], str]] = [
    _odd_cells,
    _odd_cells,
    _column_of_one,
    _lines_moved,
    _cut,
    _other_ends,
    _huge_values,
]


def outcome(content: bytes, folder: Path) -> str:
    """Fit a table and predict it; return what became of it, or "fault: ..." where none may."""
    from robustscn.cli import main

    data, model = folder / "data", folder / "model.skops"
    data.write_bytes(content)
    names = {"--model": "model.skops", "--outliers": "outliers.csv"}
    if len(content) % 8 == 0:  # of some the page too, which takes longer than all the rest
        names["--report"] = "report.html"
    files = [word for option, name in names.items() for word in (option, str(folder / name))]
    code, out, err = _captured(main, ["fit", str(data), "-t", "size", *TINY, *files])
    written = sorted(p.name for p in folder.iterdir() if p != data)
    if code == 0:
        if written != sorted(names.values()):
            return f"fault: wrote {written}"
        code, out, warned = _captured(main, ["predict", str(model), str(data), "--json"])
        err += warned
        for name in written:
            (folder / name).unlink()
        if code != 0:
            return f"fault: fitted but not predicted: {err[-200:]}"
        if " encountered in " in err:  # as numpy says that a number went beyond its range
            return f"fault: warned: {err[-200:]!r}"
        values = [v for each in json.loads(out)["predictions"].values() for v in each]
        return "model" if None not in values else "fault: a prediction that is not finite"
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    if len(lines) != 1 or not lines[0].startswith("error: ") or not lines[0].isprintable():
        return f"fault: not one line: {err[-300:]!r}"
    if written or out:
        return f"fault: an error, but wrote {written} {out[:80]!r}"
    return "unexplained line" if "--debug" in lines[0] else "line"


def _captured(main: Callable[[list[str]], int], arguments: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(arguments)
        except BaseException as error:
            return 99, out.getvalue(), f"{type(error).__name__}: {error}"
    return code, out.getvalue(), err.getvalue()


def tried(n: int, seed: int, most_faults: int = 10) -> dict:
    """Return the counts of what became of `n` tables, and the first faults with their numbers."""
    counts: Counter[str] = Counter()
    faults, after_warm_up = [], None
    with tempfile.TemporaryDirectory() as folder:
        for number, content in enumerate(fuzzed(n, seed)):
            if number == min(50, n // 2):
                after_warm_up = _held()
            what = outcome(content, Path(folder))
            counts[what.split(":")[0]] += 1
            if what.startswith(("fault", "unexplained")) and len(faults) < most_faults:
                faults.append({"number": number, "seed": seed, "what": what})
    now = _held()
    return {
        "counts": dict(counts),
        "faults": faults,
        "memory_growth_bytes": now[0] - after_warm_up[0],
        "open_files_growth": now[1] - after_warm_up[1],
    }


def _held() -> tuple[int, int]:
    """Memory of this process, and how many files it has open."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    print(json.dumps(tried(int(sys.argv[1]), int(sys.argv[2]))))
