"""What the page asks for, and what it gets."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from ..sizes import size_in_words
from ..text import one_line
from .desk import Desk, Refusal, Table
from .forms import OUTPUTS, file_name

REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "script-src 'unsafe-inline'; frame-ancestors 'self'; sandbox allow-scripts allow-downloads"
)
"""Around the report's own policy, which allows three scripts by their digests: no way back here."""

MOST_ASKED = 1_000_000
"""Bytes of a request that is no table."""

_TYPES = {".css": "text/css", ".js": "text/javascript", ".html": "text/html"}


def routes(desk: Desk, limit: int, end: Callable[[], None]) -> Starlette:
    """Return the application behind the page.

    Parameters
    ----------
    desk : Desk
        The state.
    limit : int
        Most bytes of a table.
    end : callable
        What ends the program.

    Returns
    -------
    starlette.applications.Starlette
        To be guarded.
    """
    answers = _Answers(desk, limit, end)
    return Starlette(
        routes=[
            Route("/", answers.page),
            Route("/asset/{name}", answers.asset),
            Route("/state", answers.state),
            Route("/table", answers.table, methods=["PUT"]),
            Route("/do/{what}", answers.done, methods=["POST"]),
            Route("/suspects", answers.suspects),
            Route("/report", answers.report),
            Route("/files/{name}", answers.file),
            Route("/end", answers.end, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _said, Refusal: _refused},
    )


class _Answers:
    """One for each thing that the page asks."""

    def __init__(self, desk: Desk, limit: int, end: Callable[[], None]) -> None:
        self.desk = desk
        self.limit = limit
        self.ending = end
        self.count = 0

    async def page(self, _request: Request) -> Response:
        return _file("page.html")

    async def asset(self, request: Request) -> Response:
        return _file(request.path_params["name"])

    async def state(self, _request: Request) -> Response:
        # Numbered, because answers may arrive in another order than they were given.
        self.count += 1
        return JSONResponse({**self.desk.state(), "limit": self.limit, "number": self.count})

    async def table(self, request: Request) -> Response:
        await _take(self.desk, request, self.limit)
        return await self.state(request)

    async def done(self, request: Request) -> Response:
        await _done(self.desk, request.path_params["what"], await _json(request))
        return await self.state(request)

    async def suspects(self, _request: Request) -> Response:
        if self.desk.result is None:
            raise HTTPException(404, "there is no fit yet")
        answers = {str(place): word for place, word in self.desk.answers.items()}
        return JSONResponse({**self.desk.result.suspects, "answers": answers})

    async def report(self, _request: Request) -> Response:
        return _result_file(self.desk, "report.html", inline=True)

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name != "reviewed":
            return _result_file(self.desk, name)
        choice = self.desk.result.choice if self.desk.result else {}
        try:
            content, called, _ = await run_in_threadpool(self.desk.reviewed, choice)
        except ValueError as fault:  # a table that has changed since it was read
            raise Refusal(one_line(fault)) from None
        return _attached(content, called)

    async def end(self, _request: Request) -> Response:
        self.ending()
        return JSONResponse({})


async def _done(desk: Desk, what: str, asked: dict[str, Any]) -> None:
    """Do one of the things that the page has buttons for."""
    doing: dict[str, Callable[[], Awaitable[None] | None]] = {
        "look": lambda: desk.look_at(asked),
        "fit": lambda: desk.start(asked),
        "refit": lambda: desk.start(
            desk.result.choice if desk.result else asked, with_answers=True
        ),
        "cancel": desk.cancel,
        "answer": lambda: desk.answer(asked),
        "answer-episode": lambda: desk.answer_episode(asked),
        "forget": desk.answers.clear,
    }
    if what not in doing:
        raise HTTPException(404, "there is nothing of that name")
    try:
        waiting = doing[what]()
        if waiting is not None:
            await waiting
    except ValueError as fault:
        raise Refusal(str(fault)) from None


async def _take(desk: Desk, request: Request, limit: int) -> None:
    """Keep an uploaded table, all of it or nothing."""
    if desk.fitting:
        raise Refusal("a fit is running: cancel it before you take another table")
    name = file_name(request.query_params.get("name", ""))
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > limit:
        raise HTTPException(413, _too_large(name, limit))
    place = desk.place()
    path, size = place / name, 0
    try:
        with open(path, "wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise HTTPException(413, _too_large(name, limit))
                file.write(chunk)
        await desk.take(Table(path, name, ours=True))
    except ClientDisconnect:
        desk.discard(place)
    except OSError as fault:
        desk.discard(place)
        raise HTTPException(507, f"{name} cannot be kept: {fault.strerror}") from None
    except BaseException:
        desk.discard(place)
        raise


def _too_large(name: str, limit: int) -> str:
    return (
        f"{one_line(name, 60)} has more than {size_in_words(limit)}, which is the limit here: keep "
        "the rows and columns that matter, or use the command line with --max-size"
    )


async def _json(request: Request) -> dict[str, Any]:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_ASKED:
            raise HTTPException(413, "this is too long to be asked")
    try:
        asked = json.loads(content or b"{}")
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        raise HTTPException(400, "this is no JSON object")
    return asked


def _file(name: str) -> Response:
    """Return one of the page's own files; its style is the report's with a few lines more."""
    package = resources.files("robustscn")
    if name not in ("page.html", "page.css", "page.js"):
        raise HTTPException(404, "there is nothing of that name")
    text = (package / "app" / name).read_text(encoding="utf-8")
    if name == "page.css":
        text = by_system((package / "report" / name).read_text(encoding="utf-8")) + text
    return Response(text, media_type=_TYPES[f".{name.partition('.')[2]}"])


def by_system(style: str) -> str:
    """Return the report's style with its dark theme where the system is dark, without a script.

    Parameters
    ----------
    style : str
        Of the report.

    Returns
    -------
    str
        Of the page.
    """
    return re.sub(
        r':root\[data-theme="dark"\] (\{.*?\})',
        r"@media (prefers-color-scheme: dark) { :root \1 }",
        style,
        flags=re.S,
    )


def _result_file(desk: Desk, name: str, *, inline: bool = False) -> Response:
    # Only names that we know: none leads out of the folder.
    if desk.result is None or name not in OUTPUTS:
        raise HTTPException(404, "there is no such file")
    path = desk.result.folder / name
    if inline:
        return HTMLResponse(path.read_bytes(), headers={"Content-Security-Policy": REPORT_POLICY})
    return FileResponse(path, media_type="application/octet-stream", filename=name)


def _attached(content: bytes, name: str) -> Response:
    headers = {"Content-Disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}"}
    return Response(content, media_type="application/octet-stream", headers=headers)


async def _said(_request: Request, fault: Exception) -> Response:
    code = fault.status_code if isinstance(fault, HTTPException) else 500
    return JSONResponse({"error": getattr(fault, "detail", "") or str(fault)}, code)


async def _refused(_request: Request, fault: Exception) -> Response:
    return JSONResponse({"error": str(fault)}, 409)
