"""The door: every request is looked at before anything else sees it.

A plain ASGI wrapper around the whole application. In order: is the host ours (or a page elsewhere made its
name point here), does the request come from a page of ours, has the person come in; and on the way out the
headers that keep a page from loading or running anything that is not ours.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from typing import Any

from mahrem.web._errors import Refused, refusal_of
from mahrem.web._language import LOOK, cookies_of, look_of
from mahrem.web.guard._connections import Connections
from mahrem.web.guard._sessions import Sessions

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_LOG = logging.getLogger("mahrem.web")
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# A report is shown in a frame of ours; it runs nothing, loads nothing and counts as from nowhere.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'; sandbox"
)
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer browsers would call our own forms of origin null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=()",
    "cache-control": "no-store",
}
_SAFE = frozenset({"GET", "HEAD"})
_OPEN = ("/start", "/login", "/look", "/static/")  # paths for people who have not come in yet
_UNREAD = frozenset({413, 415})  # answers that may come before all was read
_SILENCE = 30  # seconds without a byte of a body that was announced
_DRAIN, _DRAIN_SECONDS = 64 * 2**20, 5.0
_MOST = 16 * 2**20  # bytes of a body that is not a file
_MOST_OUTSIDE = 10_000  # bytes that people may send who have not come in


class RequestGuard:
    """Stands before an application.

    Args:
        app: The application.
        sessions: Who may come in.
        hosts: Hosts, with their ports, under which the server is known.
        secure: Whether connections are encrypted.
        show: Makes a page of an error, for people.
    """

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        sessions: Sessions,
        hosts: Iterable[str],
        *,
        secure: bool,
        show: Callable[[Refused], str],
    ) -> None:
        self.app, self.sessions, self.show = app, sessions, show
        self.hosts = frozenset(host.lower() for host in hosts)
        self.scheme = "https" if secure else "http"
        self.connections = Connections()  # those of the socket it is served from

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or say why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send) if scope["type"] == "lifespan" else None
            return
        began, status = time.perf_counter(), 0
        headers = _headers(scope)
        LOOK.set(look_of(scope["method"], scope["path"], headers))
        body = _Body(receive)

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_headers(message.get("headers", ()), secure=self.scheme == "https")
            elif status in _UNREAD and not message.get("more_body"):
                await send({**message, "more_body": True})
                await body.drain()
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        try:
            known = self._check(scope, headers)
            with self.connections.answering(scope.get("client"), known=known):
                await self.app(scope, _limited(scope, body), guarded)
        except Exception as error:  # noqa: BLE001 - the last one to catch it
            if not isinstance(error, Refused):
                _LOG.error("%s at %s", type(error).__name__, _where(error))
            if status == 0:
                await self._answer(scope, guarded, error)
        _log(scope, status, time.perf_counter() - began)

    def _check(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Refuse what may not pass; says whether whoever asks has come in."""
        if headers.get("host", "").lower() not in self.hosts:
            raise Refused(421, "wrong_host")
        self._check_origin(scope, headers)
        path = scope["path"]
        if path.startswith(_OPEN):
            return False
        given, _, key = headers.get("authorization", "").partition(" ")
        if given.lower() == "bearer" and self.sessions.admits_key(key.strip()):
            return True
        if not self.sessions.admits(cookies_of(headers).get(self.sessions.cookie)):
            raise Refused(401, "not_signed_in")
        if scope["method"] not in _SAFE and "origin" not in headers and "sec-fetch-site" not in headers:
            raise Refused(403, "origin_missing")
        return True

    def _check_origin(self, scope: Scope, headers: dict[str, str]) -> None:
        origin = headers.get("origin")
        own = f"{self.scheme}://{headers['host'].lower()}"
        site = headers.get("sec-fetch-site", "same-origin")
        # People may follow a link to the first page from anywhere; everything else is for our own pages.
        elsewhere = site not in {"same-origin", "none"} and not (
            scope["method"] in _SAFE and headers.get("sec-fetch-mode") == "navigate"
        )
        if (origin is not None and origin.lower() != own) or elsewhere:
            raise Refused(403, "wrong_origin")

    async def _answer(self, scope: Scope, send: Send, error: BaseException) -> None:
        refused = refusal_of(error)
        accepted = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
        if scope["path"].startswith("/api/") or "text/html" not in accepted:
            body, kind = json.dumps({"error": refused.detail}).encode(), b"application/json"
        else:
            body, kind = self.show(refused).encode(), b"text/html; charset=utf-8"
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        headers += [(b"connection", b"close")] if refused.status == 413 else []  # the rest is not read
        await send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class _Body:
    """The body of a request, and whether it was read to its end."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False

    async def __call__(self) -> Message:
        try:
            # What comes after the body is the end of the connection: that may take as long as it likes.
            message = await asyncio.wait_for(self._receive(), None if self._ended else _SILENCE)
        except TimeoutError:
            raise Refused(408, "too_slow", seconds=_SILENCE) from None
        self._ended = not message.get("more_body", False)
        return message

    async def drain(self) -> None:
        """Read on for a while after the answer: a browser that is still sending does not listen."""
        deadline, left = time.monotonic() + _DRAIN_SECONDS, _DRAIN
        while not self._ended and left > 0 and time.monotonic() < deadline:
            with suppress(TimeoutError):
                left -= len((await asyncio.wait_for(self(), 1.0)).get("body", b""))


def _with_headers(given: Iterable[tuple[bytes, bytes]], *, secure: bool) -> list[tuple[bytes, bytes]]:
    """Add what is not there; a route may say something stricter or fitting a frame."""
    ours = {"content-security-policy": PAGE_POLICY, **_HEADERS}
    if secure:
        ours["strict-transport-security"] = "max-age=31536000"
    headers = [(name, value) for name, value in given if name.lower() != b"server"]
    present = {name.lower() for name, _ in headers}
    for name, value in ours.items():
        if name.encode() not in present:
            headers.append((name.encode(), value.encode()))
    return headers


def _limited(scope: Scope, receive: Receive) -> Receive:
    """Read no more of a body than a form or a document may have; files are counted where they arrive."""
    path = scope["path"]
    if path == "/projects" or (path.startswith("/api/v1/projects/") and path.endswith("/source")):
        return receive
    most = _MOST_OUTSIDE if path.startswith(_OPEN) else _MOST
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > most:
        raise _too_long(most)
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise _too_long(most)
        return message

    return counted


def _too_long(most: int) -> Refused:
    return Refused(413, "body_too_large", most=f"{most:,}")


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _where(error: BaseException) -> str:
    """Say where in the code something went wrong; never what the error says, for it may hold values."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"


def _log(scope: Scope, status: int, seconds: float) -> None:
    """Note that somebody was here: the pattern of the path, so that no id and no token is written down."""
    route = scope.get("route")
    pattern = getattr(route, "path", "-")
    _LOG.info("%s %s %s %.0f ms", scope["method"], pattern, status, 1000 * seconds)
