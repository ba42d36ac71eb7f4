"""The local page: who may speak to it, and that it is the command line with a face."""

import asyncio
import csv
import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import chdir, redirect_stderr, redirect_stdout
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

from apps import LONG, SMALL, Visitor, app, as_csv, measurements, processes_in, until
from robustscn.app.forms import CHOICE, as_typed, file_name, filled_in, fit_words, guessed_target
from robustscn.cli import main
from robustscn.persistence import load

uvicorn = pytest.importorskip("uvicorn")
if not os.path.isdir("/proc"):
    pytest.skip("processes are looked for in /proc", allow_module_level=True)

pytestmark = pytest.mark.browser  # without one, but about the same page, and no shorter


@pytest.fixture(scope="module")
def served():
    with app() as running:
        yield running


@pytest.fixture(scope="module")
def visitor(served):
    return served.visitor()


# Who may speak to it

PATHS = [
    ("GET", "/"), ("GET", "/state"), ("GET", "/asset/page.js"), ("GET", "/suspects"),
    ("GET", "/report"), ("GET", "/files/model.skops"), ("GET", "/nothing"), ("PUT", "/table"),
    ("POST", "/do/fit"), ("POST", "/end"), ("DELETE", "/state"),
]  # fmt: skip


def test_the_address_gives_a_cookie_that_scripts_and_other_sites_never_see(visitor):
    attributes = {each.strip().lower() for each in visitor.cookie.split(";")[1:]}
    assert attributes == {"httponly", "path=/", "samesite=strict"}
    assert visitor.ask("GET", "/").status == 200


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_who_has_no_key_is_told_nothing(visitor, method, path):
    for cookie in (None, "", "robustscn=x", visitor.headers["Cookie"][:-1], "\xff"):
        answer = visitor.ask(method, path, Cookie=cookie)
        assert answer.status == 403
        assert b"address" in answer.content
        assert "Set-Cookie" not in answer.headers
    assert visitor.ask("GET", "/?token=guess", Cookie=None).status == 403
    assert visitor.ask("GET", "/?token=", Cookie=None).status == 403


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_another_name_of_this_machine_is_refused_with_the_key_too(visitor, method, path):
    port = visitor.host.split(":")[1]
    for host in (f"evil.example:{port}", "127.0.0.1", "localhost", f"127.0.0.1.evil.io:{port}"):
        assert visitor.ask(method, path, Host=host).status == 403
    assert (
        visitor.ask("GET", f"/?{visitor.address.split('?')[1]}", Host="evil.example").status == 403
    )


def test_forms_on_other_sites_are_refused(visitor):
    for origin in (None, "null", "http://evil.example", "http://127.0.0.1:1", "https://x"):
        for method, path in (
            ("POST", "/do/cancel"),
            ("PUT", "/table?name=t.csv"),
            ("POST", "/end"),
        ):
            assert visitor.ask(method, path, "", Origin=origin).status == 403
    assert visitor.state()["table"] is None
    assert visitor.do("cancel")[0] == 200


def test_only_this_machine_can_reach_it(visitor):
    port = int(visitor.host.split(":")[1])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)


def test_the_page_allows_itself_nothing_from_elsewhere(visitor):
    for path in ("/", "/asset/page.css", "/asset/page.js", "/state", "/nothing"):
        answer = visitor.ask("GET", path)
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert not re.search(rb"(src|href|url)\W+(https?:)?//", answer.content)


def test_folders_cannot_be_walked(served, visitor):
    for path in ("/files/..%2f..%2fetc%2fpasswd", "/files/%2e%2e/x", "/asset/..%2froutes.py",
                 "/asset/routes.py", "/files//etc/passwd"):  # fmt: skip
        assert visitor.ask("GET", path).status == 404
    for name, kept in (
        ("../../evil.csv", "evil.csv"),
        ("..\\..\\evil.csv", "evil.csv"),
        ("/etc/cron.d/x", "x"),
        ("\0\n..", "table"),
        ("outliers.csv", "table-outliers.csv"),
    ):
        answer = visitor.ask("PUT", f"/table?name={quote(name, safe='')}", b"a,b\n1,2\n")
        assert json.loads(answer.content)["table"]["name"] == kept
        files = [path for path in served.folder.rglob("*") if path.is_file()]
        assert [path.name for path in files] == [kept]  # the one before is gone


@pytest.mark.parametrize("name", ["numpy.py", "--debug"])
def test_a_name_is_only_a_name(visitor, name):
    # Python would import the first from the folder it runs in; the second would be an option.
    look = visitor.take(name, as_csv(measurements(60)))
    assert look["error"] is None
    assert look["rows"] == 60


def test_what_cannot_be_asked_is_refused(visitor):
    visitor.take("t.csv", as_csv(measurements(30)))
    assert visitor.ask("POST", "/do/fit", b"[1]").status == 400
    assert visitor.ask("POST", "/do/fit", b"{").status == 400
    assert visitor.ask("POST", "/do/nothing", b"{}").status == 404
    assert visitor.ask("POST", "/do/fit", b" " * 1_100_000).status == 413
    assert visitor.do("answer", {"30": "fine"})[0] == 409
    assert visitor.do("answer", {"-1": "fine"})[0] == 409
    status, said = visitor.do("refit")
    assert (status, said["error"].split(":")[0]) == (409, "no row is marked yet")
    for what in ("fit", "look"):
        status, said = visitor.do(what, {"target": "x" * 30_000, "sheet": "x" * 30_000})
        assert (status, said["error"]) == (409, "a field is too long")
    # What is no field of the form is no part of a command, and of a wrong kind is nothing.
    state, _ = visitor.fit({"target": ["size"], "model": "/tmp/x", "id": {"a": 1}, "debug": True})
    assert state["fit"]["command"] == "robustscn fit t.csv --target ''"
    assert state["fit"]["error"].startswith("no target is named")


# Sizes


class Small:
    """The same application with a limit of a thousand bytes, in this process."""

    def __init__(self, folder):
        from robustscn.app.desk import Desk
        from robustscn.app.guard import Guard
        from robustscn.app.routes import routes

        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        guarded = Guard(routes(Desk(folder), 1000, lambda: None), "secret", port)
        config = uvicorn.Config(guarded, log_config=None, lifespan="off", ws="none", http="h11")
        self.server = uvicorn.Server(config)
        work = self.server.serve(sockets=[listener])
        self.thread = threading.Thread(target=asyncio.run, args=(work,))
        self.thread.start()
        self.address = f"http://127.0.0.1:{port}/?token=secret"


def test_a_table_beyond_the_limit_is_refused_as_soon_as_that_is_known(tmp_path):
    small = Small(tmp_path)
    try:
        visitor = Visitor(small.address)
        # As large as it says it is, of which nothing was sent.
        connection = http.client.HTTPConnection(visitor.host, timeout=60)
        connection.putrequest("PUT", "/table?name=t.csv")
        for name, value in (visitor.headers | {"Content-Length": "1001"}).items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 413
        assert "more than 1 kB" in json.loads(answer.read())["error"]
        connection.close()
        # Larger than it can know.
        parts = iter([b"x" * 600, b"x" * 600])
        connection = http.client.HTTPConnection(visitor.host, timeout=60)
        connection.request("PUT", "/table?name=t.csv", parts, visitor.headers, encode_chunked=True)
        assert connection.getresponse().status == 413
        connection.close()
        assert os.listdir(tmp_path) == []
        assert visitor.state()["table"] is None
        assert visitor.take("t.csv", b"x" * 1000)["error"] is not None  # it was taken and read
    finally:
        small.server.should_exit = True
        small.thread.join()


# What it runs


def command_line(folder, *words):
    """Run the command line in a folder; return what it printed and its error."""
    printed, said = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(printed), redirect_stderr(said):
        main(words)
    return printed.getvalue(), said.getvalue().strip().removeprefix("error: ")


@pytest.mark.parametrize(
    "content",
    [b"a,b\n1,2\n3\n", b"%PDF-1.7 x", b""],
)
def test_a_bad_file_is_what_the_command_line_says_it_is(visitor, tmp_path, content):
    (tmp_path / "bad.csv").write_bytes(content)
    look = visitor.take("bad.csv", content)
    assert look["error"] == command_line(tmp_path, "check", "bad.csv")[1]
    status, said = visitor.do("fit", SMALL)
    assert (status, said["error"]) == (409, "the table has not been read yet")


def test_a_fit_that_is_refused_says_why_in_the_same_words(visitor, tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(measurements(60)))
    visitor.take("t.csv", as_csv(measurements(60)))
    for asked in ({"target": "mill"}, {"target": "--size", "networks": "1"}):
        state, _ = visitor.fit(asked)
        expected = command_line(tmp_path, *fit_words("t.csv", asked, {}), "--json")[1]
        assert state["fit"]["error"] == expected
        assert state["result"] is None


def test_states_are_numbered_in_the_order_they_are_told(visitor):
    numbers = [visitor.state()["number"], visitor.do("cancel")[1]["number"]]
    numbers.append(visitor.state()["number"])
    assert numbers == sorted(set(numbers))


def test_columns_are_shown_with_what_they_are(visitor):
    frame = measurements(60).assign(same=1, y=0.5)
    frame.loc[5:8, "flow"] = -999
    look = visitor.take("t.csv", as_csv(frame))
    kinds = {each["name"]: each["kind"] for each in look["columns"]}
    assert list(kinds) == list(frame.columns)
    assert (kinds["when"], kinds["flow"], kinds["mill"]) == ("date", "number", "category")
    assert kinds["same"] == "left out"
    assert look["guess"] == "size"
    assert any(each["column"] == "flow" and "-999" in each["words"] for each in look["findings"])
    visitor.do("look", {"na": ["-999"]})
    assert not [each for each in visitor.looked()["findings"] if each["column"] == "flow"]


def test_answers_are_forgotten_where_other_rows_are_read(visitor):
    visitor.take("t.csv", as_csv(measurements(60)))
    visitor.do("answer", {"7": "fine"})
    visitor.do("look", {"na": ["-999"]})
    visitor.looked()
    assert visitor.state()["answers"] == {"fine": 1}
    visitor.do("look", {"skip_rows": "1"})
    assert visitor.looked()["rows"] == 59
    assert visitor.state()["answers"] == {}


@pytest.fixture(scope="module")
def first_fit(visitor):
    """A table and a fit of it on the page: what was brought, the state after, and on the way."""
    content = as_csv(measurements())
    visitor.take("mill 3.csv", content)
    return (content, *visitor.fit(SMALL))


def page_without_clock(page):
    return re.sub(rb"Made by robustscn on [^.]*\.", b"", page)


def test_a_fit_on_the_page_is_the_command_that_is_shown(visitor, first_fit, tmp_path):
    content, state, _ = first_fit
    words = ["fit", "mill 3.csv", "--target", "size", "--networks", "4", "--nodes", "30"]
    words += ["--rounds", "5"]
    assert state["result"]["command"] == as_typed(words)
    (tmp_path / "mill 3.csv").write_bytes(content)
    printed = json.loads(command_line(tmp_path, *words, "--json")[0])
    for name in ("outliers.csv", "episodes.csv"):
        assert visitor.file(name) == (tmp_path / name).read_bytes()
    page = (tmp_path / "report.html").read_bytes()
    assert page_without_clock(visitor.file("report.html")) == page_without_clock(page)
    (tmp_path / "ours.skops").write_bytes(visitor.file("model.skops"))
    ours, theirs = load(tmp_path / "ours.skops"), load(tmp_path / "model.skops")
    assert ours.info == theirs.info
    frame = measurements(50)
    np.testing.assert_array_equal(ours.model.predict(frame), theirs.model.predict(frame))
    result = state["result"]
    assert (result["rows"], result["flagged"]) == (200, printed["flagged_rows"])
    assert result["episodes"] == [each["sentence"] for each in printed["episodes"]]


def test_progress_is_that_of_the_fit(first_fit):
    _, _, seen = first_fit
    stages = [each["stage"] for each in seen]
    assert stages[0] == "starting"
    assert stages[-1] == ""
    shares = [each["progress"]["share"] for each in seen if each["progress"]]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert all(each["progress"]["round"] <= each["progress"]["rounds"] for each in seen[-1:])


@pytest.mark.usefixtures("first_fit")
def test_suspects_are_those_of_the_file_beside_what_was_measured(visitor):
    listed = json.loads(visitor.ask("GET", "/suspects").content)
    table = pd.read_csv(io.BytesIO(visitor.file("outliers.csv")))
    frame = measurements()
    labels = [each["label"] for each in listed["columns"]]
    assert labels[:5] == ["line", "observed", "expected", "deviations", "probably wrong"]
    assert labels[5:] == ["when", "flow", "mill"]
    assert [row["at"] for row in listed["rows"]] == (table["line"] - 2).tolist()
    for row in listed["rows"]:
        assert row["texts"][1] == f"{frame['size'][row['at']]:.6g}"
        assert row["texts"][6] == f"{frame['flow'][row['at']]:.6g}"


@pytest.mark.usefixtures("first_fit")
def test_the_report_is_shown_in_a_frame_that_can_reach_nothing(visitor):
    answer = visitor.ask("GET", "/report")
    policy = answer.headers["Content-Security-Policy"]
    assert "sandbox allow-scripts allow-downloads" in policy
    assert "allow-same-origin" not in policy
    assert "connect-src" not in policy  # nothing, as of all else
    assert policy.startswith("default-src 'none'")
    assert answer.headers["Content-Type"].startswith("text/html")
    assert answer.content == visitor.file("report.html")


@pytest.mark.usefixtures("first_fit")
def test_cancel_ends_the_fit_and_leaves_what_was_there(served, visitor):
    before = visitor.file("outliers.csv")
    visitor.do("fit", LONG)
    until(lambda: visitor.state()["fit"]["progress"])
    assert processes_in(served.folder) != []
    assert visitor.ask("PUT", "/table?name=other.csv", b"a,b\n1,2\n").status == 409
    status, state = visitor.do("cancel")
    assert status == 200
    assert state["fit"] == state["fit"] | {"stage": "", "cancelled": True, "error": None}
    assert processes_in(served.folder) == []
    assert len(list(served.folder.glob("fit-*"))) == 1
    assert visitor.file("outliers.csv") == before
    assert state["result"]["choice"] == SMALL


def test_refit_with_answers(visitor, first_fit, tmp_path):
    content, _, _ = first_fit
    listed = json.loads(visitor.ask("GET", "/suspects").content)["rows"]
    wrong, fine, unsure = (row["at"] for row in listed[:3])
    visitor.do("answer", {str(wrong): "wrong", str(fine): "wrong", str(unsure): "fine"})
    visitor.do("answer", {str(fine): "fine", str(unsure): "unsure"})
    assert visitor.state()["answers"] == {"wrong": 1, "fine": 1}
    state, _ = visitor.fit(what="refit")
    assert state["fit"]["error"] is None
    command = "robustscn fit 'mill 3-reviewed.csv' --target size --reviewed review"
    assert state["result"]["command"].startswith(command)
    listed = json.loads(visitor.ask("GET", "/suspects").content)
    places = [row["at"] for row in listed["rows"]]
    assert wrong not in places
    assert fine not in places
    assert unsure in places
    assert listed["answers"] == {str(wrong): "wrong", str(fine): "fine"}
    assert "1 known to be wrong" in dict(state["result"]["lines"])["rows"]
    # The table with answers, and the same command on it.
    reviewed = visitor.file("reviewed")
    rows = list(csv.DictReader(io.StringIO(reviewed.decode())))
    answered = {at: row["review"] for at, row in enumerate(rows) if row["review"]}
    assert answered == {wrong: "wrong", fine: "fine"}
    cut = [line.rsplit(",", 1)[0] for line in reviewed.decode().splitlines()]
    assert "\n".join(cut) + "\n" == content.decode()  # all else is as it was
    (tmp_path / "mill 3-reviewed.csv").write_bytes(reviewed)
    words = fit_words("mill 3-reviewed.csv", SMALL, {}, "review")
    command_line(tmp_path, *words, "--json")
    assert visitor.file("outliers.csv") == (tmp_path / "outliers.csv").read_bytes()


def test_an_episode_is_answered_as_a_whole_with_rows_that_were_not_flagged(visitor):
    frame = measurements()
    frame.loc[3, "size"] = None  # positions are those of the table, whatever was learned from
    frame.loc[111:139, "size"] = frame.loc[111, "size"]
    visitor.take("stuck.csv", as_csv(frame))
    state, _ = visitor.fit(SMALL)
    number = next(n for n, words in enumerate(state["result"]["episodes"]) if "constant" in words)
    assert visitor.do("answer-episode", {"episode": 99, "word": "wrong"})[0] == 409
    assert visitor.do("answer-episode", {"episode": number, "word": "wrong"})[0] == 200
    listed = json.loads(visitor.ask("GET", "/suspects").content)["answers"]
    assert listed == {str(row): "wrong" for row in range(112, 140)}
    visitor.do("answer-episode", {"episode": number, "word": "unsure"})
    assert visitor.state()["answers"] == {}
    visitor.do("answer-episode", {"episode": number, "word": "wrong"})
    state, _ = visitor.fit(what="refit")
    assert "28 known to be wrong" in dict(state["result"]["lines"])["rows"]
    assert not any("constant" in words for words in state["result"]["episodes"])


def test_answers_are_taken_up_again_from_the_table_that_was_kept(visitor):
    frame = measurements(100).assign(review="", sample="S1")  # names that are not unique
    frame.loc[10, "review"] = "wrong"
    look = visitor.take("kept.csv", as_csv(frame))
    assert look["reviewed"] == "review"
    state, _ = visitor.fit(SMALL | {"reviewed": "review", "id": "sample"})
    listed = json.loads(visitor.ask("GET", "/suspects").content)["rows"]
    assert {row["texts"][0] for row in listed} == {"S1"}
    places = [row["at"] for row in listed]
    assert len(set(places)) == len(places)
    assert 10 not in places
    for row in listed:
        assert row["texts"][1] == f"{frame['size'][row['at']]:.6g}"
    visitor.do("answer", {str(places[0]): "fine"})
    state, _ = visitor.fit(what="refit")
    assert "--drop review --id sample --reviewed review_2" in state["result"]["command"]
    rows = csv.DictReader(io.StringIO(visitor.file("reviewed").decode()))
    answered = {at: row["review_2"] for at, row in enumerate(rows) if row["review_2"]}
    assert answered == {10: "wrong", places[0]: "fine"}


# From its start to its end


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_in_good_order_whatever_it_does(tmp_path, number):
    (tmp_path / "t.csv").write_bytes(as_csv(measurements()))
    with app("t.csv", cwd=tmp_path) as running:
        if number == signal.SIGINT:  # in the middle of a fit, else of a look at the table
            visitor = running.visitor()
            assert visitor.looked()["rows"] == 200
            visitor.do("fit", LONG)
        assert until(lambda: processes_in(running.folder))
        code, said = running.end(number)
        assert code == 0
        assert said.splitlines()[-1] == (
            f"ended; {running.folder}, where tables and results were kept, is removed"
        )
        assert not running.folder.exists()
        assert processes_in(running.folder) == []
        assert os.listdir(tmp_path) == ["t.csv"]


def test_the_page_can_end_it_and_a_file_of_the_user_stays(tmp_path):
    (tmp_path / "t.csv").write_bytes(as_csv(measurements(40)))
    with app(tmp_path / "t.csv") as running:
        visitor = running.visitor()
        visitor.looked()
        state, _ = visitor.fit({"target": "size", "networks": "2", "nodes": "5", "rounds": "1"})
        assert state["result"]["command"].startswith(f"robustscn fit {tmp_path}/t.csv --target")
        assert visitor.ask("POST", "/end").status == 200
        assert running.process.wait(60) == 0
        assert not running.folder.exists()
    assert os.listdir(tmp_path) == ["t.csv"]


def test_what_cannot_begin_says_so_in_a_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = command_line(tmp_path, "app", "--no-browser", "--port", str(port))[1]
    assert re.fullmatch(
        rf"port {port} cannot be used \(.*\): leave out --port for a free one", said
    )
    (tmp_path / "mill.csv").write_text("a,b\n")
    said = command_line(tmp_path, "app", "--no-browser", "mil.csv")[1]
    assert said == "mil.csv is not there: did you mean 'mill.csv'?"
    said = command_line(tmp_path, "app", "--no-browser", ".")[1]
    assert said.startswith(". is a folder and no table")


MISSING = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"starlette", "uvicorn"}:
            raise ModuleNotFoundError(name, name=name.split(".")[0])

sys.meta_path.insert(0, Missing())
from robustscn.cli import main
assert main(["app", "--help"]) == 0
sys.exit(main(["app"]))
"""


def test_without_its_libraries_it_says_how_to_get_them(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MISSING], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert re.fullmatch(
        r"error: the page needs (starlette|uvicorn): pip install 'robustscn\[app\]'",
        done.stderr.strip(),
    )


# Words


def test_what_begins_like_an_option_is_none():
    words = fit_words("t.csv", {"target": "--json", "drop": ["-x", "a,b"]}, {"na": ["-999"]})
    assert words == ["fit", "t.csv", "--target=--json", "--drop=-x", "--drop", "a,b", "--na=-999"]


def test_usual_settings_are_not_spelled_out():
    usual = {"target": "y", "learner": "networks", "transform": "auto", "rounds": "", "drop": []}
    chosen = filled_in(usual, CHOICE)
    assert as_typed(fit_words("my t.csv", chosen, {})) == "robustscn fit 'my t.csv' --target y"
    others = {"target": "y", "learner": "both", "transform": "log", "keep_time": "on", "time": "t"}
    words = fit_words("t.csv", others, {"skip_rows": "2", "separator": ";"})
    assert words[4:] == [
        "--time", "t", "--keep-time", "--learner", "both", "--transform", "log",
        "--separator", ";", "--skip-rows", "2",
    ]  # fmt: skip


def test_the_target_is_guessed():
    kinds = {"id": "number", "y": "number", "flow": "number", "mill": "category"}
    assert guessed_target(kinds, {}) == "y"
    assert guessed_target(kinds, {"y": "counts the rows"}) == "flow"
    assert guessed_target({"mill": "category"}, {}) is None


@pytest.mark.parametrize("given", ["", ".", "..", "...", "a/..", "-", "\u0000", "---", "\ud800"])
def test_every_name_becomes_one_that_can_be_kept(given, tmp_path):
    name = file_name(given)
    assert name
    assert not name.startswith(("-", "."))
    (tmp_path / name).write_bytes(b"x")
    assert [path.name for path in tmp_path.iterdir()] == [name]
