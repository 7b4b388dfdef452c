"""Starting and stopping a server."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mahrem.check import extra
from mahrem.errors import InvalidParameter
from mahrem.web._orders import Json
from mahrem.web._settings import ServeSettings, check_unread_by_others
from mahrem.web.guard import Connections, ListeningSocket

if TYPE_CHECKING:
    from mahrem.web.guard import RequestGuard


def create_app(
    settings: ServeSettings | None = None,
    *,
    port: int | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> RequestGuard:
    """Make the application for any ASGI server; :func:`serve` does this and runs it.

    Args:
        settings: What the server is told.
        port: The port it will be reached at, if that is not the one in the settings.
        announce: Called with each new start token.
    """
    try:
        from mahrem.web._app import build_app
    except ImportError as error:
        raise _missing(error) from None
    given = settings or ServeSettings()
    reached = given.port if port is None else port
    return build_app(given, _hosts(given, reached), announce, reached)


def serve(
    settings: ServeSettings, *, ready: Callable[[str], None] = lambda _: None, log: bool = False
) -> None:
    """Serve the page until ctrl-C.

    Args:
        settings: What the server is told.
        ready: Called with every start address: one that works once, or where to type the password.
        log: Note every request: its kind, the pattern of its path, status and time, never what was sent.

    Guarantees:
        - It listens on a loopback address, or with TLS and a password.
        - Jobs that run when it stops are stopped, and say so after the next start.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise _missing(error) from None
    with _listen(settings) as listening:
        port = settings.port if settings.socket is not None else listening.getsockname()[1]
        scheme = "https" if settings.secure else "http"
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        home = f"{scheme}://{host}:{port}"
        app = create_app(settings, port=port, announce=lambda token: ready(f"{home}/start?token={token}"))
        app.connections = listening.connections
        if settings.password_file is not None:
            ready(f"{home}/login")
        _set_up_log(log=log)
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                loop="asyncio",  # another one would accept connections past our count
                log_config=None,
                access_log=False,  # it would write tokens and ids down
                lifespan="on",
                server_header=False,
                date_header=False,
                proxy_headers=False,
                ws="none",
                timeout_graceful_shutdown=5,
                **_tls(settings),
            )
        )
        try:
            with (
                suppress(KeyboardInterrupt),
                listening.connections.watched(),
            ):  # said again after everything has been stopped
                server.run(sockets=[listening])
        finally:
            if settings.socket is not None:
                settings.socket.unlink(missing_ok=True)
        failed: Exception | None = app.app.state.failed  # type: ignore[attr-defined]
        if failed is not None:
            raise failed


def _tls(settings: ServeSettings) -> Json:
    if settings.certificate is None or settings.key is None:
        return {}
    check_unread_by_others("key", settings.key)
    return {"ssl_certfile": str(settings.certificate), "ssl_keyfile": str(settings.key)}


def _listen_on_file(path: Path) -> ListeningSocket:
    """Listen on a Unix socket that only this user can reach; another server's is never taken away."""
    listening = ListeningSocket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.connections = Connections()
    before = os.umask(0o177)
    try:
        if path.is_socket():
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
                answers = asked.connect_ex(str(path)) == 0
            if not answers:  # left behind by a server that was killed
                path.unlink()
        listening.bind(str(path))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise InvalidParameter(
            f"socket={path.name!r} cannot be used: {error.strerror or 'its path is too long'}"
        ) from None
    finally:
        os.umask(before)
    return listening


def _listen(settings: ServeSettings) -> ListeningSocket:
    if settings.socket is not None:
        return _listen_on_file(settings.socket)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = ListeningSocket(family, socket.SOCK_STREAM)
    listening.connections = Connections()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise InvalidParameter(
            f"port={settings.port} cannot be used: {error.strerror}; take another with --port, or --port 0"
        ) from None
    return listening


def _hosts(settings: ServeSettings, port: int) -> list[str]:
    """Name every host under which the server may be asked for; anything else is refused."""
    names = [settings.host, *settings.names]
    if settings.host in {"127.0.0.1", "localhost"}:
        names += ["127.0.0.1", "localhost"]
    if settings.socket is not None:  # whoever reaches it calls it as they like; most say localhost
        return [*names, *(f"{name}:{port}" for name in names if ":" not in name)]
    written = [f"[{name}]" if ":" in name else name for name in names]
    usual = 443 if settings.secure else 80
    return [f"{name}:{port}" for name in written] + (written if port == usual else [])


def _set_up_log(*, log: bool) -> None:
    logger = logging.getLogger("mahrem.web")
    logger.setLevel(logging.INFO if log else logging.ERROR)
    if log and not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        logger.addHandler(handler)
    for talkative in ("uvicorn", "asyncio", "python_multipart"):
        logging.getLogger(talkative).setLevel(logging.CRITICAL)  # tracebacks may show what was sent


def _missing(error: ImportError) -> Exception:
    if (error.name or "").partition(".")[0] in {
        "fastapi",
        "starlette",
        "uvicorn",
        "pydantic",
        "python_multipart",
    }:
        return extra("web", needed_for="the page")
    return error
