"""The server: Flower's SuperLink behind a guard that lets nodes do a node's work and nobody else anything."""

from __future__ import annotations

import base64
import hmac
import logging
import re
import socket
import sys
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeAlias

from mahrem.errors import InvalidParameter, OutputFailed
from mahrem.federated.flower._connection import OPERATOR, need_flower
from mahrem.federated.flower._door import MEDIA, pem_of
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._init import FILE, read_token, server_folder
from mahrem.federated.wire import MOST_BYTES
from mahrem.federated.wire.certificates import read_certificate, read_public_key, refuse_dates

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

NODE_PATHS = frozenset(
    f"/v1/fleet/{verb}"
    for verb in (
        "activate-node",
        "deactivate-node",
        "pull-messages",
        "push-messages",
        "send-node-heartbeat",
    )
)
NODE_KEY = b"flwr-public-key"
OPTIONS = (  # of flower-superlink: nothing starts the programs that runs carry
    "enable-supernode-auth",
    "isolation=process",
    "disable-runtime-dependency-installation",
)
MOST_BODY = MOST_BYTES + (
    1 << 20
)  # bytes of a node's request; keys are public, so anybody may try to send more
HOST = re.compile(rb"[A-Za-z0-9.\-:\[\]]*")
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"  # of TLS 1.2; 1.3 has no weak ones


class Guard:
    """Stands before Flower's web application, which has three doors on one port.

    - Nodes may use what a node needs, with a registered key; Flower checks that they own it. They cannot
      register themselves or fetch programs.
    - Whoever has the operator's token may use the control and the run-time door.
    - Everybody else is refused before Flower sees the request.
    """

    def __init__(self, inside: Any, keys: Collection[bytes], token: str) -> None:
        self.inside = inside
        self.keys = keys
        self.token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on or refuse it."""
        if scope["type"] == "lifespan":
            await self.inside(scope, receive, send)
            return
        if self._may(scope):
            await self.inside(scope, _bounded(receive) if scope["path"] in NODE_PATHS else receive, send)
            return
        if scope["type"] != "http":
            return
        head = [(b"content-type", b"text/plain"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 403, "headers": head})
        await send({"type": "http.response.body", "body": b"refused"})

    def _may(self, scope: Scope) -> bool:
        if scope["type"] != "http":
            return False
        headers, path = dict(scope["headers"]), scope["path"]
        if len(headers) < len(scope["headers"]) or not HOST.fullmatch(headers.get(b"host", b"")):
            return False  # one header twice, or a host with a path in it: Flower might read another request
        if path in NODE_PATHS:
            return self._registered(headers.get(NODE_KEY, b""))
        if path.startswith(("/v1/control/", "/v1/runtime/")):
            return hmac.compare_digest(headers.get(OPERATOR.encode(), b""), self.token)
        return False

    def _registered(self, sent: bytes) -> bool:
        try:
            return base64.b64decode(sent, validate=True) in self.keys
        except ValueError:
            return False


def _bounded(receive: Receive) -> Receive:
    """Hang up on a request that is longer than any of ours."""
    taken = 0

    async def counted() -> MutableMapping[str, Any]:
        nonlocal taken
        part = await receive()
        taken += len(part.get("body", b""))
        return part if taken <= MOST_BODY else {"type": "http.disconnect"}

    return counted


def serve_federation(
    folder: Path, *, host: str | None = None, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serve a federation until stopped.

    Messages and counts are kept in memory only; after a restart clients come back by themselves.

    Args:
        folder: What ``init`` made.
        host: Address to listen on; the federation's own by default.
        ready: Told where it listens, once it does.
    """
    server = server_folder(folder)
    federation = Federation.read(folder / FILE)
    federation.refuse_expired()
    refuse_dates(read_certificate((server / "server.crt").read_bytes(), "server.crt"), "server.crt")
    need_flower(server / "flower")
    name, port = federation.host_port()
    listening = _listen(host or name, port)
    token = read_token(server)

    def serve(superlink: Any) -> None:
        guard = Guard(superlink, {pem_of(read_public_key(key)) for key in federation.clients.values()}, token)
        _registering(guard, server, superlink, federation, lambda: ready(f"{host or name}:{port}")).run(
            sockets=[listening]
        )

    try:
        _run_superlink(server, serve)
    finally:
        listening.close()


def _registering(
    guard: Guard, server: Path, superlink: Any, federation: Federation, ready: Callable[[], None]
) -> Any:
    """Make a web server that registers the clients with Flower once it is up, and then says so."""
    import uvicorn

    class Registered(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            await _register(superlink, federation)
            ready()

    config = uvicorn.Config(
        guard,
        ssl_keyfile=server / "server.key",
        ssl_certfile=server / "server.crt",
        ssl_ciphers=CIPHERS,
        proxy_headers=False,
        log_config=None,
        log_level=logging.ERROR,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=2,
        server_header=False,
    )
    return Registered(config)


def _run_superlink(server: Path, serve: Callable[[Any], None]) -> None:
    """Run Flower's own program, as people do from a shell, but serve its application behind our guard.

    The program makes its application and hands it to uvicorn. It would listen on a port where everybody on
    this machine may control it; here ``serve`` takes the application instead, and no such port exists.

    Raises:
        OutputFailed: If this version of the program does not hand its application to uvicorn.
    """
    import uvicorn

    (program,) = entry_points(group="console_scripts", name="flower-superlink")
    served = False

    def take(app: Any, **_: Any) -> None:
        nonlocal served
        served = True
        serve(app)

    main = program.load()
    logging.getLogger("flwr").setLevel(logging.ERROR)
    files = {"ssl-certfile": "server.crt", "ssl-keyfile": "server.key", "ssl-ca-certfile": "server.crt"}
    options = [*OPTIONS, *(f"{option}={server / file}" for option, file in files.items())]
    before, arguments = uvicorn.run, sys.argv
    uvicorn.run, sys.argv = take, ["flower-superlink", *(f"--{option}" for option in options)]
    try:
        main()
    except SystemExit as error:
        if served:
            raise
        raise OutputFailed(f"flower-superlink ended with {error.code} before it served anything") from None
    finally:
        uvicorn.run, sys.argv = before, arguments
    if not served:
        raise OutputFailed("flower-superlink of this version serves in another way; install flwr 1.41")


async def _register(superlink: Any, federation: Federation) -> None:
    """Make the clients' keys known to Flower, by its own door; nobody else can."""
    import httpx
    from flwr.proto.control_pb2 import RegisterNodeRequest

    transport = httpx.ASGITransport(superlink)
    async with httpx.AsyncClient(transport=transport, base_url="http://superlink") as inside:
        for name, key in federation.clients.items():
            request = RegisterNodeRequest(public_key=pem_of(read_public_key(key)), name=name)
            content = request.SerializeToString()
            answer = await inside.post(
                "/v1/control/register-node", content=content, headers={"content-type": MEDIA, "accept": MEDIA}
            )
            if answer.is_error:
                raise OutputFailed(f"client={name!r} cannot be registered with Flower ({answer.status_code})")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InvalidParameter(f"address={host}:{port} cannot be listened on: {error.strerror}") from None
    return listening
