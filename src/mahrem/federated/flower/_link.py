"""The server: Flower's SuperLink behind a guard that lets nodes do a node's work and nobody else anything."""

from __future__ import annotations

import base64
import hmac
import logging
import re
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, TypeAlias

from mahrem.errors import InvalidParameter
from mahrem.federated.flower._connection import OPERATOR, need_flower
from mahrem.federated.flower._federation import Federation
from mahrem.federated.flower._init import FILE, server_folder
from mahrem.federated.wire import MOST_BYTES, read_certificate, read_public_key, refuse_dates

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
NODE_KEY = b"flwr-public-key"  # checked against Flower's own name when the server starts
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

    def __init__(self, inside: Any, keys: frozenset[bytes], token: str) -> None:
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
    import uvicorn

    name, port = federation.host_port()
    listening = _listen(host or name, port)
    token = (server / "operator.token").read_text(encoding="ascii").strip()
    guarded = Guard(_superlink(federation, server, host or name), _keys(federation), token)
    config = uvicorn.Config(
        guarded,
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

    class Telling(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready(f"{host or name}:{port}")

    try:
        Telling(config).run(sockets=[listening])
    finally:
        listening.close()


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


def _pem(federation: Federation, name: str) -> bytes:
    from flwr.supercore.primitives.asymmetric import public_key_to_bytes

    return public_key_to_bytes(read_public_key(federation.clients[name]))


def _keys(federation: Federation) -> frozenset[bytes]:
    return frozenset(_pem(federation, name) for name in federation.clients)


def _superlink(federation: Federation, server: Path, host: str) -> Any:
    """Make Flower's application with the clients' keys registered and nothing that could run a program."""
    from flwr.common.constant import (
        ISOLATION_MODE_PROCESS,
        NOOP_ACCOUNT_NAME,
        NOOP_FLWR_AID,
        TRANSPORT_TYPE_GRPC_RERE,
    )
    from flwr.supercore.constant import FLEET_HTTP_PUBLIC_KEY_HEADER, FLWR_IN_MEMORY_DB_NAME
    from flwr.superlink.auth_plugin import NoOpControlAuthnPlugin
    from flwr.superlink.cli.flower_superlink import SuperLinkLifespan
    from flwr.superlink.config_loader import SuperLinkLifespanConfig
    from flwr.superlink.main import create_app

    if FLEET_HTTP_PUBLIC_KEY_HEADER.lower().encode() != NODE_KEY:
        raise RuntimeError(FLEET_HTTP_PUBLIC_KEY_HEADER)
    config = SuperLinkLifespanConfig(
        control_address="",
        health_server_address=None,
        host=host,
        port=federation.host_port()[1],
        insecure=False,
        certificates=None,
        superexec_auth_secret=None,
        authn_plugin=NoOpControlAuthnPlugin(),  # the guard asks for the operator's token
        event_log_plugin=None,
        fleet_event_log_plugin=None,
        enable_event_log=False,
        artifact_provider=None,
        enable_supernode_auth=True,
        fleet_api_type=TRANSPORT_TYPE_GRPC_RERE,
        fleet_api_address=None,
        simulation=False,
        ssl_ca_certfile=None,
        ssl_certfile=str(server / "server.crt"),
        ssl_keyfile=str(server / "server.key"),
        database=FLWR_IN_MEMORY_DB_NAME,
        isolation=ISOLATION_MODE_PROCESS,  # nothing here starts the programs that runs carry
        runtime_dependency_install=False,
    )
    app = create_app(config, SuperLinkLifespan)
    state = app.state.linkstate_factory.state()
    for name in federation.clients:
        state.create_node(NOOP_FLWR_AID, NOOP_ACCOUNT_NAME, _pem(federation, name), 10.0, name=name)
    return app
