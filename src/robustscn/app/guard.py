"""Who may speak to the page: only a browser that was given the key, from the page itself.

Every program and every web site on this machine can reach a port of it. The key in the address
becomes a cookie at the first visit, and a request without it is refused. A name that leads here
but is not ours (DNS rebinding) is refused by its Host, a form on another site by its Origin.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import URL, Headers, MutableHeaders, QueryParams
from starlette.responses import HTMLResponse, PlainTextResponse, Response

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of every answer: it is kept nowhere, and no other site sees any of it."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may do: nothing but what comes from here."""

# A redirect would not do: where the address was clicked on another site, a browser sends no
# strict cookie along with it. A page that goes on by itself asks in its own name.
_ENTRANCE = (
    "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>robustscn</title>"
    '<meta http-equiv="refresh" content="0;url=/"><p><a href="/">Go on</a>'
)
_NO_KEY = "Open the address that 'robustscn app' printed: it holds the key to this page.\n"


class Guard:
    """Lets through what comes from the page, and nothing else.

    Parameters
    ----------
    inner : ASGI application
        What answers.
    token : str
        What the address holds.
    port : int
        Where it is served.
    """

    def __init__(self, inner: Any, token: str, port: int) -> None:
        self.inner = inner
        self.token = token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"robustscn-{port}"  # browsers do not keep cookies of two ports apart

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def told(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Content-Security-Policy", POLICY)
            await send(message)

        answer = self._answer(scope) or self.inner
        await answer(scope, receive, told)

    def _answer(self, scope: Any) -> Response | None:
        """Return what is said instead of the page, if anything is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.hosts:
            return PlainTextResponse("This is no address of the page.\n", 403)
        if scope["method"] not in ("GET", "HEAD") and headers.get("origin") != f"http://{host}":
            return PlainTextResponse("Only the page itself may ask for this.\n", 403)
        asked = QueryParams(URL(scope=scope).query)
        if scope["path"] == "/" and self._is_key(asked.get("token", "")):
            entrance = HTMLResponse(_ENTRANCE)
            entrance.set_cookie(self.cookie, self.token, path="/", httponly=True, samesite="strict")
            return entrance
        if not self._is_key(self._shown(headers)):
            return PlainTextResponse(_NO_KEY, 403)
        return None

    def _shown(self, headers: Headers) -> str:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return cookie.value if cookie is not None else ""

    def _is_key(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())
