"""Connections to a server: so many at a time, and none that is held open without asking for anything."""

from __future__ import annotations

import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast

PATIENCE = 10.0  # seconds for a handshake, the head of a request, or the next one
_MOST = 400
_LEAST = 16
_LOOK = 1.0  # seconds between two looks


@dataclass
class _Connection:
    """An open connection, and since when it has been waiting."""

    socket: socket.socket
    since: float = field(default_factory=time.monotonic)
    asking: int = 0  # requests that are being answered
    known: bool = False  # whether whoever asks has come in


class Connections:
    """All open connections of a server.

    A new connection is never refused: it takes the place of one whose owner has not come in, first of the one
    that has waited longest and asks for nothing. So nobody keeps others out by holding many, and whoever has
    come in keeps a connection that rests between two pages.

    Guarantees:
        - No more than ``most`` are open, and they leave half of the files this process may open to jobs.
        - None waits longer than ``PATIENCE`` seconds, half sent requests and handshakes included.

    Args:
        most: Connections at a time; by default as many as files allow, 400 at most.
    """

    def __init__(self, most: int | None = None) -> None:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        allowed = _MOST if files == resource.RLIM_INFINITY else min(_MOST, files // 2)
        self.most = max(_LEAST, allowed) if most is None else most
        self._lock = threading.Lock()
        self._open: dict[tuple[str, int], _Connection] = {}

    def take(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        """Note a new connection; another may have to go for it."""
        with self._lock:
            self._drop_closed()
            while len(self._open) >= self.most:
                self._close(min(self._open, key=self._worth))
            self._open[address[0], address[1]] = _Connection(connection)

    @contextmanager
    def answering(self, client: tuple[str, int] | None, *, known: bool) -> Iterator[None]:
        """Keep a connection while a request is answered, all the more if whoever asks has come in."""
        held = None if client is None else self._open.get((client[0], client[1]))
        if held is None:
            yield
            return
        held.asking, held.known = held.asking + 1, held.known or known
        try:
            yield
        finally:
            held.asking, held.since = held.asking - 1, time.monotonic()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Close what waits too long, as long as the block lasts."""
        ended = threading.Event()

        def look() -> None:
            while not ended.wait(_LOOK):
                self.close_waiting()

        thread = threading.Thread(target=look, name="connections", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def close_waiting(self) -> None:
        """Close connections that have asked for nothing for too long."""
        before = time.monotonic() - PATIENCE
        with self._lock:
            self._drop_closed()
            for address, held in list(self._open.items()):
                if not held.asking and held.since < before:
                    self._close(address)

    def _worth(self, address: tuple[str, int]) -> tuple[bool, bool, float]:
        held = self._open[address]
        return held.known, held.asking > 0, held.since

    def _drop_closed(self) -> None:
        self._open = {address: held for address, held in self._open.items() if held.socket.fileno() != -1}

    def _close(self, address: tuple[str, int]) -> None:
        with suppress(OSError):  # it may have gone by itself; whoever reads from it sees its end
            self._open.pop(address).socket.shutdown(socket.SHUT_RDWR)


class ListeningSocket(socket.socket):
    """A socket that tells of every connection it accepts."""

    connections: Connections

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection and have it noted."""
        connection, address = super().accept()
        if self.family != socket.AF_UNIX:  # whoever reaches that one is this user
            # Head and body of an answer are sent apart: waiting to join them costs 40 ms a request.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.take(connection, cast("tuple[Any, ...]", address))
        return connection, address
