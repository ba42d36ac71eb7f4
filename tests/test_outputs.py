"""Outputs: nothing that was there is destroyed, and several files change together or not at all."""

import os
import pty
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from robustscn.atomic import write_together, write_whole
from robustscn.cli.writing import check_outputs
from robustscn.places import place_of

pytestmark = pytest.mark.hostile


def snapshot(folder):
    """Names, kinds and contents of all that is in a folder."""
    return {
        p.name: (stat.S_IFMT(p.lstat().st_mode), p.read_bytes() if p.is_file() else None)
        for p in folder.iterdir()
    }


@pytest.fixture
def device(tmp_path):
    """A device of our own, so that a fault would not cost the machine's."""
    path = tmp_path / "null"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.close(os.open(path, os.O_WRONLY))
        yield path
    except PermissionError:  # not the superuser, or a container: a terminal is a device too
        path.unlink(missing_ok=True)
        ours, theirs = pty.openpty()
        yield Path(os.ttyname(theirs))
        os.close(ours)
        os.close(theirs)


def test_a_device_is_written_through_and_stays_a_device(device, tmp_path):
    write_whole(device, b"gone")
    assert stat.S_ISCHR(device.lstat().st_mode)
    (tmp_path / "link").symlink_to(device)
    write_whole(tmp_path / "link", b"gone")
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert (tmp_path / "link").is_symlink()
    assert not [p for p in (*tmp_path.iterdir(), *device.parent.iterdir()) if p.name[0] == "."]


def test_a_fifo_is_written_through(tmp_path):
    fifo, got = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
    reader.start()
    write_whole(fifo, b"x" * 200_000)
    reader.join(timeout=30)
    assert got == [b"x" * 200_000]
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    assert os.listdir(tmp_path) == ["fifo"]


def test_a_reader_that_goes_away_leaves_the_files_as_they_were(tmp_path):
    fifo, other = tmp_path / "fifo", tmp_path / "other"
    os.mkfifo(fifo)
    other.write_text("old")
    reader = threading.Thread(target=lambda: os.close(os.open(fifo, os.O_RDONLY)))
    reader.start()
    with pytest.raises(BrokenPipeError) as error:
        write_together(
            {other: lambda p: p.write_text("new"), fifo: lambda p: p.write_bytes(b"x" * 2**21)}
        )
    reader.join(timeout=30)
    assert error.value.filename == str(fifo)
    assert other.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["fifo", "other"]


def test_standard_output_keeps_its_place_in_the_file_it_goes_to(tmp_path):
    code = (
        "import sys; from robustscn.atomic import write_whole; print('first', flush=True); "
        "write_whole('/dev/stdout', b'second\\n'); print('third')"
    )
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "first\nsecond\nthird\n"
    piped = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"first\nsecond\nthird\n"


def test_a_link_is_followed_and_its_file_replaced_where_that_is(tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    (there / "real").write_text("old")
    before = (there / "real").stat().st_ino
    (tmp_path / "first").symlink_to("second")
    (tmp_path / "second").symlink_to(there / "real")
    write_whole(tmp_path / "first", b"new")
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert (there / "real").read_text() == "new"
    assert (there / "real").stat().st_ino != before  # a new file was moved there
    assert os.listdir(there) == ["real"]


def test_a_link_to_nothing_makes_the_file_that_it_names(tmp_path):
    (tmp_path / "link").symlink_to("not yet")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "not yet").read_text() == "new"


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="cannot be written to"):
        write_whole(tmp_path / "a", b"new")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_read_only_file_is_refused_even_to_the_superuser(tmp_path):
    path = tmp_path / "kept"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        write_whole(path, b"new")
    with pytest.raises(ValueError, match="kept is read-only: allow writing"):
        check_outputs([path], [])
    assert snapshot(tmp_path) == {"kept": (stat.S_IFREG, b"old")}


def test_mode_and_owner_are_kept(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    owner = path.stat().st_uid, path.stat().st_gid
    if os.geteuid() == 0:
        owner = (12345, 23456)
        os.chown(path, *owner)
    write_together(
        {path: lambda p: p.write_text("new"), tmp_path / "x": lambda p: p.write_text("")}
    )
    after = path.stat()
    assert path.read_text() == "new"
    assert stat.S_IMODE(after.st_mode) == 0o640
    assert (after.st_uid, after.st_gid) == owner


def test_a_new_file_is_as_open_as_any_and_a_secret_one_is_never_readable(tmp_path):
    modes = []
    secret = tmp_path / "secret"
    secret.write_text("old")
    secret.chmod(0o600)

    def look(part):
        part.write_text("new")
        modes.append(stat.S_IMODE(part.stat().st_mode))

    before = os.umask(0o022)
    try:
        write_together({secret: look, tmp_path / "new": look})
    finally:
        os.umask(before)
    assert modes == [0o600, 0o644]
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o644


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_where_one_file_cannot_be_moved_the_others_are_put_back(
    tmp_path, monkeypatch, number, fault
):
    names = ["a", "b", "new"]
    for name in names[:2]:
        (tmp_path / name).write_text(f"old {name}")
        (tmp_path / name).chmod(0o640)
    before = snapshot(tmp_path)
    replace, moved = os.replace, []

    def failing(source, target):
        if len(moved) == number and Path(target).name in names:
            moved.append(target)
            raise fault
        moved.append(target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(type(fault)) as error:
        write_together({tmp_path / n: lambda p: p.write_text("new") for n in names})
    monkeypatch.undo()
    assert snapshot(tmp_path) == before
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    if isinstance(fault, OSError):
        assert error.value.filename == str(tmp_path / names[number])


def test_a_request_to_end_waits_until_all_files_are_in_place(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from robustscn.atomic import *; "
        "replace = os.replace; "
        "os.replace = lambda *a: (replace(*a), os.kill(os.getpid(), signal.SIGTERM)); "
        "write_together({Path(n): lambda p: p.write_text('new') for n in ('a', 'b', 'c')}); "
        "os._exit(0)"
    )
    for name in "ab":
        (tmp_path / name).write_text("old")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGTERM
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == dict.fromkeys("abc", "new")


def test_where_the_file_system_has_no_second_names_a_copy_is_kept(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").mkdir()
    monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(1, "no links")))
    replace = os.replace

    def failing(source, target):
        if Path(target).name == "c":
            raise OSError(5, "broken")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="broken"):
        write_together({tmp_path / n: lambda p: p.write_text("new") for n in ("a", "c")})
    monkeypatch.undo()
    assert (tmp_path / "a").read_text() == "old"
    write_together({tmp_path / n: lambda p: p.write_text("new") for n in ("a", "c")})
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["n" * 250 + ".csv", "é" * 125, os.fsdecode(b"\xff\xfe.csv")])
def test_any_name_that_the_system_takes_can_be_written(tmp_path, name):
    write_whole(tmp_path / name, b"new")
    write_whole(tmp_path / name, b"newer")
    assert os.listdir(tmp_path) == [name]


def test_a_name_too_long_is_refused_before_the_work(tmp_path):
    with pytest.raises(ValueError, match="too long"):
        check_outputs([tmp_path / ("n" * 300)], [])


def test_an_input_is_found_under_every_name_it_has(tmp_path):
    (tmp_path / "data").write_text("a")
    (tmp_path / "soft").symlink_to("data")
    os.link(tmp_path / "data", tmp_path / "hard")
    for name in ("data", "soft", "hard"):
        with pytest.raises(ValueError, match="would be lost"):
            check_outputs([tmp_path / name], [tmp_path / "data"])
    with pytest.raises(ValueError, match="two outputs"):
        check_outputs([tmp_path / "soft", tmp_path / "hard"], [])


def test_a_full_disk_names_the_file(tmp_path):
    """A limit on the size of files stands for the disk: the system refuses as it would."""

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    code = (
        "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "from robustscn.atomic import write_whole; write_whole(sys.argv[1], b'x' * 100_000)"
    )
    (tmp_path / "model.skops").write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model.skops")],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert f"File too large: '{tmp_path / 'model.skops'}'" in done.stderr
    assert (tmp_path / "model.skops").read_text() == "old"
    assert os.listdir(tmp_path) == ["model.skops"]


@pytest.mark.parametrize("handled", [False, True])
def test_a_request_to_end_leaves_no_hidden_parts(tmp_path, handled):
    answer = "signal.signal(signal.SIGTERM, lambda *_: os._exit(7)); " if handled else ""
    code = (
        "import os, signal; from pathlib import Path; from robustscn.atomic import *; "
        f"{answer}"
        "end = lambda p: (p.write_text('half'), os.kill(os.getpid(), signal.SIGTERM)); "
        "write_together({Path('a'): lambda p: p.write_text('new'), Path('b'): end})"
    )
    (tmp_path / "a").write_text("old")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert (tmp_path / "a").read_text() == "old"
    if handled:  # by the program's own answer, which does not wait
        assert done.returncode == 7
    else:
        assert done.returncode == -signal.SIGTERM
        assert os.listdir(tmp_path) == ["a"]


def test_a_socket_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        with pytest.raises(ValueError, match="is a socket"):
            check_outputs([Path("socket")], [])
        assert stat.S_ISSOCK(os.stat("socket").st_mode)


def test_a_disk_is_refused(tmp_path):
    disk = tmp_path / "disk"
    try:
        os.mknod(disk, 0o666 | stat.S_IFBLK, os.makedev(7, 250))  # of which there is none
    except PermissionError:
        disk = next(p for p in Path("/dev").iterdir() if p.is_block_device())
    with pytest.raises(OSError, match="is a disk"):
        place_of(disk)  # and nothing more: it might be a true one


def test_any_number_of_outputs_may_go_to_nowhere(tmp_path):
    check_outputs([Path(os.devnull), Path(os.devnull)], [])
    (tmp_path / "null").symlink_to(os.devnull)
    check_outputs([tmp_path / "null", Path(os.devnull)], [])
    with pytest.raises(ValueError, match="two outputs"):
        check_outputs([tmp_path / "a", tmp_path / "a"], [])
