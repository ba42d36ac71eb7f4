"""The command line on a bad day: odd files, odd names, odd terminals, and Ctrl-C at any moment."""

import bz2
import gzip
import io
import json
import lzma
import os
import resource
import signal
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from robustscn.cli import main
from robustscn.cli.messages import print_json
from robustscn.cli.spreadsheets import defused, defused_text
from robustscn.persistence import load
from robustscn.sizes import size_from_words, size_in_words
from robustscn.tables import TableError, opening, read_table
from robustscn.text import one_line

pytestmark = pytest.mark.hostile

SMALL = ["--networks", "4", "--nodes", "30", "--rounds", "5", "-q"]
TINY = ["--networks", "2", "--nodes", "5", "--rounds", "1", "-q"]
COMMAND = [sys.executable, "-m", "robustscn.cli"]


def rows(n=60, target="size"):
    rng = np.random.default_rng(0)
    flow = rng.random(n)
    return pd.DataFrame({"flow": flow, "water": rng.random(n), target: np.sin(4 * flow)})


def places(folder, **others):
    files = {"model": "model.skops", "report": "none", "outliers": "none"} | others
    return [f"--{k}={v if v == 'none' else folder / v}" for k, v in files.items()]


def run(*arguments, **settings):
    """Run a command in a process of its own."""
    environment = os.environ | settings.pop("env", {})
    return subprocess.run(
        [*COMMAND, *map(os.fspath, arguments)],
        capture_output=True,
        check=False,
        timeout=120,
        env=environment,
        **settings,
    )


def one_error(streams):
    (line,) = streams.err.splitlines()
    assert line.startswith("error: ")
    assert line.isprintable()
    assert len(line) < 1100
    return line


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    rows().to_csv(folder / "data.csv", index=False)
    assert main(["fit", str(folder / "data.csv"), "-t", "size", *places(folder), *TINY]) == 0
    return folder


# Outputs


def test_a_fit_into_a_device_leaves_it_a_device(tmp_path):
    null = tmp_path / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.close(os.open(null, os.O_WRONLY))
    except PermissionError:  # then a FIFO, which any user can make
        null.unlink(missing_ok=True)
        os.mkfifo(null)
        os.open(null, os.O_RDWR)
    before = null.stat()
    rows().to_csv(tmp_path / "data.csv", index=False)
    arguments = places(tmp_path, outliers="null")
    assert main(["fit", str(tmp_path / "data.csv"), "-t", "size", *arguments, *TINY]) == 0
    assert (null.stat().st_mode, null.stat().st_rdev) == (before.st_mode, before.st_rdev)
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "model.skops", "null"]


def test_a_read_only_output_is_refused_before_the_fit(tmp_path, capsys, monkeypatch):
    rows().to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "model.skops").write_text("mine")
    (tmp_path / "model.skops").chmod(0o400)
    monkeypatch.setattr("robustscn.cli.fitting.learned", lambda *_: pytest.fail("fitted"))
    assert main(["fit", str(tmp_path / "data.csv"), "-t", "size", *places(tmp_path), *TINY]) == 2
    assert "model.skops is read-only" in one_error(capsys.readouterr())
    assert (tmp_path / "model.skops").read_text() == "mine"


def test_a_disk_that_is_full_is_said_with_the_name_of_the_file(fitted, tmp_path):
    done = run(
        "predict",
        fitted / "model.skops",
        fitted / "data.csv",
        "--out",
        tmp_path / "predictions.csv",
        preexec_fn=lambda: (
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        ),
        env={"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 1
    assert done.stderr.decode() == f"error: {tmp_path / 'predictions.csv'}: File too large\n"
    assert os.listdir(tmp_path) == []


# Names and terminals


def test_file_names_of_any_bytes_are_read_and_written(tmp_path):
    name = os.fsdecode(b"m\xff\xfeasure.csv")
    rows().to_csv(tmp_path / name, index=False)
    model = os.fsdecode(b"mod\xffel.skops")
    done = run(
        *["fit", tmp_path / name, "-t", "size", *TINY[:-1]],
        *places(tmp_path, model=model, report="page.html"),
    )
    assert done.returncode == 0, done.stderr
    assert b"m\\xff\\xfeasure.csv" in done.stdout
    assert b"mod\\xffel.skops" in done.stdout
    assert "measure.csv" not in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert load(tmp_path / model).info["targets"] == ["size"]
    done = run("predict", tmp_path / model, tmp_path / name, "--json", "-o", tmp_path / "p.csv")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 60


def test_a_terminal_that_knows_ascii_only_is_enough(tmp_path):
    rows(target="Größe").to_csv(tmp_path / "data.csv", index=False)
    plain = {"PYTHONIOENCODING": "ascii"}
    fit = ["fit", tmp_path / "data.csv", "-t", "Größe", *places(tmp_path)]
    done = run(*fit, *TINY[:-1], env=plain)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    arguments = ["predict", tmp_path / "model.skops", tmp_path / "data.csv"]
    done = run(*arguments, env=plain)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == b"line,predicted Gr\\xf6\\xdfe,outside"
    done = run(*arguments, "--json", env=plain)
    assert "predicted Größe" in json.loads(done.stdout)["predictions"]
    done = run("fit", tmp_path / "data.csv", "-t", "Grösse", env=plain)
    assert done.returncode == 2
    assert b"did you mean 'Gr\\xf6\\xdfe'?" in done.stderr


def test_names_from_a_table_cannot_move_the_cursor(tmp_path, capsys):
    table = rows().rename(columns={"flow": "flow\x1b[2J\x1b]0;title\x07"})
    table.assign(**{"x\x1b[31m": "\x1b[5msame"}).to_parquet(tmp_path / "data.parquet")
    assert main(["fit", str(tmp_path / "data.parquet"), "-t", "sise"]) == 2
    one_error(capsys.readouterr())
    arguments = ["fit", str(tmp_path / "data.parquet"), "-t", "size", *places(tmp_path)]
    assert main([*arguments, *TINY[:-1]]) == 0
    streams = capsys.readouterr()
    assert (streams.out + streams.err).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "name", ["a\x9b2J", "a\x7f", "a\u202eb", "a\u2028b", "a\x1b[2J", "Gr\xf6\xdfe"]
)
def test_json_is_printable_and_the_same(capsys, name):
    print_json({"columns": [name], name: 1.5})
    out = capsys.readouterr().out
    assert out.removesuffix("\n").isprintable()
    assert json.loads(out) == {"columns": [name], name: 1.5}


def test_lines_are_printable_and_bounded():
    assert one_line("a\x1b[31m\nb\t c") == "a [31m b c"
    assert one_line("x" * 5000) == "x" * 999 + "…"
    assert one_line(os.fsdecode(b"\xff") + "\ud800\u202e") == "\\xff"


# Spreadsheets


@pytest.mark.parametrize("text", ["=1+1", "+1", "-x", "@SUM(1)", "\t=1", "\n@x", "\uff1d1", " =1"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(text):
    assert defused_text(text).startswith("'")
    assert defused_text(text).isprintable()


def test_numbers_and_other_texts_are_left_alone():
    frame = pd.DataFrame({"a": [-1.5, 2.0], "b": ["flow", "x=1"]}, index=pd.Index([1, 2], name="i"))
    pd.testing.assert_frame_equal(defused(frame), frame)


def test_targets_named_like_formulas_are_no_formulas_in_the_lists(tmp_path, capsys):
    names = ["=cmd|' /C calc'!A0", "@SUM(1+1)"]
    table = rows(150).rename(columns={"size": names[0]})
    table[names[1]] = table["water"]
    table.loc[::15, names[0]] += 50
    table.to_csv(tmp_path / "data.csv", index=False)
    arguments = places(tmp_path, outliers="outliers.csv")
    targets = [word for name in names for word in ("-t", name)]
    assert main(["fit", str(tmp_path / "data.csv"), *targets, *arguments, *SMALL]) == 0
    capsys.readouterr()
    written = (tmp_path / "outliers.csv").read_text()
    model, data = str(tmp_path / "model.skops"), str(tmp_path / "data.csv")
    assert main(["outliers", model, data]) == 0
    printed = capsys.readouterr().out
    for text in (written, printed):
        cells = [cell for line in text.splitlines() for cell in line.split(",")]
        assert [cell for cell in cells if "cmd" in cell]
        assert all(cell.startswith(("'=", "\"'=")) for cell in cells if "cmd" in cell)


# Sizes of tables


CSV = b"flow,size\n" + b"0.5,1.5\n" * 200_000


def packed_in(kind):
    if kind == "gzip":
        return gzip.compress(CSV)
    if kind == "bzip2":
        return bz2.compress(CSV)
    if kind == "xz":
        return lzma.compress(CSV)
    if kind == "zstd":
        return pa.compress(CSV, "zstd", asbytes=True)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.csv", CSV)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz", "zstd", "zip"])
def test_what_unpacks_to_more_than_the_limit_is_refused(kind):
    content = packed_in(kind)
    assert len(content) < 20_000
    with pytest.raises(TableError, match=r"more than 1\.0 MB.*--max-size"):
        read_table(content, max_size=1_000_000)
    assert len(read_table(content, max_size=10_000_000)) == 200_000


def test_many_short_values_are_counted_by_what_they_take_in_memory():
    with pytest.raises(TableError, match="200,000 rows of 2 columns take 3"):
        read_table(CSV, max_size=2_000_000)


def test_a_parquet_file_of_few_bytes_and_many_rows_is_refused(tmp_path):
    table = pa.table({"flow": pa.array(np.zeros(5_000_000)), "size": pa.array(np.zeros(5_000_000))})
    parquet.write_table(table, tmp_path / "many.parquet")
    assert (tmp_path / "many.parquet").stat().st_size < 100_000
    with pytest.raises(TableError, match="5,000,000 rows of 2 columns take"):
        read_table(tmp_path / "many.parquet", max_size=1_000_000)
    long = pa.array(["x" * 100_000]).dictionary_encode()
    rows = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(2_000, dtype=np.int32)), long.dictionary
    )
    parquet.write_table(pa.table({"a": rows.cast(pa.large_string())}), tmp_path / "long.parquet")
    with pytest.raises(TableError, match="unpacks to"):
        read_table(tmp_path / "long.parquet", max_size=100_000_000)


def test_the_limit_is_an_option(fitted, capsys):
    arguments = ["predict", str(fitted / "model.skops"), str(fitted / "data.csv")]
    assert main([*arguments, "--max-size", "1kB"]) == 2
    assert "the limit is 1 kB" in one_error(capsys.readouterr())
    assert main([*arguments, "--max-size", "1GB"]) == 0
    capsys.readouterr()
    assert main([*arguments, "--max-size", "much"]) == 2
    assert "'much' is no size" in one_error(capsys.readouterr())


def test_the_limit_is_no_more_than_half_the_memory(monkeypatch):
    pages = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert opening.most_bytes() == 2_048_000
    monkeypatch.setitem(pages, "SC_PHYS_PAGES", 10**9)
    assert opening.most_bytes() == opening.MOST_BYTES


def test_sizes_in_words():
    for words, n_bytes in {"1": 1, "2kB": 2000, "1.5 GB": 1_500_000_000, "3m": 3_000_000}.items():
        assert size_from_words(words) == n_bytes
    for words in ("", "GB", "0", "-1GB", "1e9", "nan", "1 XB", "9" * 100):
        with pytest.raises(ValueError, match="is no size"):
            size_from_words(words)
    assert size_in_words(8_600_000_000) == "8.6 GB"


def test_devices_without_end_are_no_tables(fitted, capsys):
    for device in ("/dev/zero", "/dev/urandom"):
        assert main(["predict", str(fitted / "model.skops"), device]) == 2
        assert "is a device and no table" in one_error(capsys.readouterr())
    with open("/dev/zero", "rb") as zero:
        done = run("predict", fitted / "model.skops", "-", stdin=zero)
    assert done.returncode == 2
    assert b"standard input is a device" in done.stderr


def test_a_pipe_without_end_is_read_to_the_limit(fitted):
    with subprocess.Popen(["yes", "1,2"], stdout=subprocess.PIPE) as endless:
        done = run(
            "predict", fitted / "model.skops", "-", "--max-size", "20MB", stdin=endless.stdout
        )
        endless.kill()
    assert done.returncode == 2
    assert b"more than 20.0 MB" in done.stderr


# Interrupts


@pytest.mark.parametrize("seconds", [0.05, 0.15, 0.3, 0.5, 0.8, 1.2, 1.7])
def test_an_interrupt_at_any_time_is_one_line_and_130(fitted, tmp_path, seconds):
    process = subprocess.Popen(
        [*COMMAND, "report", str(fitted / "model.skops"), str(fitted / "data.csv")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    while not listens(process.pid):  # Python itself, before any of ours is there to answer
        time.sleep(0.005)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    if process.returncode == 0:  # a fast machine was done before
        assert os.listdir(tmp_path) == ["report.html"]
        return
    assert process.returncode == 130, err.decode()
    assert err.decode().strip().splitlines() == ["error: interrupted, nothing was written"]
    assert os.listdir(tmp_path) == []


def listens(pid):
    """Whether a process has a library of ours or of what we import, and so our first line."""
    try:
        return any(word in Path(f"/proc/{pid}/maps").read_text() for word in ("numpy", "_typer"))
    except FileNotFoundError:
        return True


def test_an_import_that_dresses_an_interrupt_up_is_still_an_interrupt(fitted, capsys, monkeypatch):
    def interrupted(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ImportError("cannot import name 'x'") from None

    monkeypatch.setattr("robustscn.cli.model_rows.read_table", interrupted)
    assert main(["predict", str(fitted / "model.skops"), str(fitted / "data.csv")]) == 130
    assert "interrupted" in one_error(capsys.readouterr())


def test_a_killed_fit_leaves_old_files_or_new_ones(tmp_path):
    rows().to_csv(tmp_path / "data.csv", index=False)
    out = tmp_path / "out"
    out.mkdir()
    arguments = places(out, outliers="outliers.csv", report="page.html")
    fit = ["fit", str(tmp_path / "data.csv"), "-t", "size", *arguments, *TINY]
    assert main([*fit, "--seed", "1"]) == 0
    old = {p.name: p.read_bytes() for p in out.iterdir()}
    rng = np.random.default_rng(0)
    for number in range(4):
        process = subprocess.Popen([*COMMAND, *fit, "--seed", "2"], stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(1.0, 5.0))
        process.send_signal([signal.SIGKILL, signal.SIGTERM][number % 2])
        process.wait(timeout=60)
        there = {p.name: p.read_bytes() for p in out.iterdir() if not p.name.startswith(".")}
        assert there.keys() == old.keys()
        assert load(out / "model.skops").info["targets"] == ["size"]
        if there["model.skops"] == old["model.skops"]:
            assert there == old


def test_a_target_at_the_end_of_floating_point_overflows_nowhere(tmp_path, capsys):
    table = rows()
    table["size"] *= 1e-4
    table.loc[7, "size"] = 1e308
    table.to_csv(tmp_path / "data.csv", index=False)
    files = places(tmp_path, outliers="o.csv", report="r.html")
    arguments = ["fit", str(tmp_path / "data.csv"), "-t", "size", *files]
    assert main([*(str(each) for each in arguments), *TINY[:-1]]) == 0
    assert "encountered" not in capsys.readouterr().err
