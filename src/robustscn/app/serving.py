"""The server: on this machine alone, from its start to the last file that it removes."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn

from ..cli.messages import UnusableError, print_json, say
from .desk import Desk, Table
from .guard import Guard
from .routes import routes

HOST = "127.0.0.1"
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""What ends it in good order: Ctrl-C, a request to end, a terminal that is closed."""


class _Server(uvicorn.Server):
    """Ends in good order, where uvicorn's own would let the signal end us before we tidy up."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        numbers = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
        before = {each: signal.signal(each, self._asked_to_end) for each in numbers}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _asked_to_end(self, *_signal: object) -> None:
        self.should_exit = True


def serve(
    file: Path | None, port: int, *, browser: bool = True, json: bool = False, quiet: bool = False
) -> None:
    """Serve the page until it is ended.

    Parameters
    ----------
    file : Path or None
        Table to begin with.
    port : int
        Where; 0 takes a free one.
    browser : bool
        Whether to open it.
    json : bool
        Whether to print the address as a JSON object.
    quiet : bool
        Whether to say nothing else.
    """
    with _listening(port) as listener, TemporaryDirectory(prefix="robustscn-app-") as folder:
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32)
        address = f"http://{HOST}:{port}/?token={token}"
        if json:
            print_json({"address": address, "folder": folder})
        else:
            print(f"The page: {address}", flush=True)
        if not quiet:
            say("Ctrl-C ends it and removes what it keeps; downloads are yours", style="dim")
        asyncio.run(_served(listener, Path(folder), token, file, address if browser else None))
    if not quiet:
        say(f"ended; {folder}, where tables and results were kept, is removed", style="dim")


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        if hasattr(signal, "SIGHUP"):  # elsewhere the option means that others may listen too
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as fault:
            raise UnusableError(
                f"port {port} cannot be used ({fault.strerror}): leave out --port for a free one"
            ) from None
        listener.listen()
        yield listener


async def _served(
    listener: socket.socket, folder: Path, token: str, file: Path | None, opened: str | None
) -> None:
    from ..tables.opening import most_bytes

    desk = Desk(folder)

    def end() -> None:
        server.should_exit = True

    guarded = Guard(routes(desk, most_bytes(), end), token, listener.getsockname()[1])
    server = _Server(
        uvicorn.Config(
            guarded, http="h11", ws="none", lifespan="off", log_config=None, access_log=False,
            log_level="warning", server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=3,
        )
    )  # fmt: skip
    if file is not None:
        await desk.take(Table(file, file.name, ours=False))
    if opened is not None:  # the port is open already: what comes early waits
        threading.Thread(target=webbrowser.open, args=(opened,), daemon=True).start()
    try:
        await server.serve(sockets=[listener])
    finally:
        await desk.close()
