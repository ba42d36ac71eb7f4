"""The local page as its tests meet it: a process of its own, spoken to over HTTP."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
import pandas as pd

COMMAND = [sys.executable, "-m", "robustscn.cli"]
SMALL = {"target": "size", "networks": "4", "nodes": "30", "rounds": "5"}
LONG = {"target": "size", "networks": "8", "nodes": "150", "rounds": "60"}


def measurements(n=200):
    """A table of which every tenth target is wrong."""
    rng = np.random.default_rng(0)
    flow, mill = rng.random(n), rng.choice(["A", "B"], n)
    size = np.sin(4 * flow) + (mill == "A") + 0.02 * rng.normal(size=n)
    size[::10] += rng.choice([-4, 4], len(size[::10]))
    when = pd.date_range("2026-01-01", periods=n, freq="h")
    return pd.DataFrame(
        {"when": when, "flow": flow.round(6), "mill": mill, "size": size.round(6)}
    ).assign(sample=[f"S{i:03d}" for i in range(n)])


def as_csv(frame):
    return frame.to_csv(index=False).encode()


def until(happens, seconds=120.0):
    """Return what a function says as soon as it is true; on a busy machine that takes a while."""
    end = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)
    return found


class Visitor:
    """A browser without a face: keeps the cookie, says where it comes from."""

    def __init__(self, address):
        self.address = address
        self.host = urlsplit(address).netloc
        self.headers = {"Origin": f"http://{self.host}"}
        entrance = self.ask("GET", f"/?{urlsplit(address).query}")
        self.cookie = entrance.headers["Set-Cookie"]
        self.headers["Cookie"] = self.cookie.split(";")[0]

    def ask(self, method, path, content=None, **headers):
        """Send one request and return the answer, its content in `content`."""
        connection = http.client.HTTPConnection(self.host, timeout=120)
        given = {k.replace("_", "-"): v for k, v in headers.items()}
        sent = {k: v for k, v in (self.headers | given).items() if v is not None}
        connection.request(method, path, content, sent, encode_chunked=False)
        answer = connection.getresponse()
        answer.content = answer.read()
        connection.close()
        return answer

    def state(self):
        return json.loads(self.ask("GET", "/state").content)

    def do(self, what, asked=None):
        answer = self.ask("POST", f"/do/{what}", json.dumps(asked or {}))
        return answer.status, json.loads(answer.content)

    def take(self, name, content):
        """Bring a table and return what was seen in it."""
        answer = self.ask("PUT", f"/table?name={quote(name, safe='')}", content)
        assert answer.status == 200, answer.content
        return self.looked()

    def looked(self):
        until(lambda: not self.state()["look"]["running"])
        return self.state()["look"]

    def fit(self, asked=None, what="fit"):
        """Fit and return what came of it, and all that was seen of it on the way."""
        status, begun = self.do(what, asked)
        assert status == 200, begun
        seen = [begun["fit"]]

        def ended():
            seen.append(self.state()["fit"])
            return not seen[-1]["stage"]

        until(ended)
        return self.state(), seen

    def file(self, name):
        answer = self.ask("GET", f"/files/{name}")
        assert answer.status == 200, answer.content
        return answer.content


def processes_in(folder):
    """Return the processes that run in a folder or below."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            inside = os.readlink(each / "cwd").startswith(str(folder))
            if inside and (each / "cmdline").read_bytes():
                found.append(int(each.name))
        except OSError:  # gone already, or another user's
            continue
    return found


class App:
    """A server that runs."""

    def __init__(self, *arguments, **more):
        command = [*COMMAND, "app", "--no-browser", "--json", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
        )
        printed = json.loads(self.process.stdout.readline())
        self.said = None
        self.address, self.folder = printed["address"], Path(printed["folder"])

    def visitor(self):
        return Visitor(self.address)

    def end(self, number=signal.SIGINT):
        """End it as a user would; return its exit code and what it said."""
        if self.said is None:
            if self.process.poll() is None:
                self.process.send_signal(number)
            self.said = self.process.communicate(timeout=60)[1]
        return self.process.returncode, self.said


@contextmanager
def app(*arguments, **more):
    """Serve the page; gone in the end, whatever happened."""
    running = App(*arguments, **more)
    try:
        yield running
    finally:
        try:
            running.end()
        finally:  # also where it does not listen
            running.process.kill()
