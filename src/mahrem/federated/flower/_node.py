"""A client in a process of its own: Flower's protocol for nodes, our answers, no code from outside."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from mahrem.errors import InvalidInput, MahremError, OutputFailed
from mahrem.federated.flower._connection import (
    Clock,
    need_flower,
    other_version,
    our_version,
    refused_certificate,
    reply_statement,
)
from mahrem.federated.flower._door import FlowerDoor, make_reply, node_headers, pem_of, read_message, tree_of
from mahrem.federated.flower._federation import Federation
from mahrem.federated.wire import Answerer, Message, pack_message, unpack_message
from mahrem.federated.wire.certificates import sign_bytes
from mahrem.words import Note

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

clock_here = time.time
BEAT = 10.0  # seconds after which a silent node counts as lost; the least that Flower allows
QUICK, SLOW = 0.03, 1.0  # seconds between two looks for work, after work and after a while without


@dataclass
class FlowerNode:
    """A client that speaks Flower's Fleet protocol and answers questions itself.

    A plain SuperNode runs whatever program the server sends. This one never asks for a program: it takes
    messages, answers those its :class:`Answerer` allows, and signs each answer with its long-term key.

    Args:
        federation: What was agreed, and whom to trust.
        key: The client's long-term key.
        answerer: Answers questions.
        patience: Seconds without the server after which it gives up.
        tell: Told what happens, in words without data.
        note: Writes down each question and what became of it; if it cannot, nothing leaves.
    """

    federation: Federation
    key: EllipticCurvePrivateKey = field(repr=False)
    answerer: Answerer = field(repr=False)
    patience: float = 300.0
    tell: Callable[[str], None] = field(default=lambda _: None, repr=False)
    note: Callable[[Message | None, Mapping[str, Any]], None] = field(default=lambda *_: None, repr=False)
    _name: str = ""
    _node: Any = field(default=None, repr=False)
    _door: Any = field(default=None, repr=False)
    _clock: Clock = field(default_factory=Clock, repr=False)
    _taken: bool = False  # the server knows the key as that of a client that is there
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def run(self) -> None:
        """Stay with the server until stopped.

        Raises:
            InvalidInput: If the key is not registered or used elsewhere for longer than ``patience``, the
                server's certificate is refused, or the clock here is too far from the server's.
            OutputFailed: If the server cannot be reached for longer than ``patience``.
        """
        need_flower()
        self._name = self.federation.name_of(self.key)
        self.federation.refuse_expired()
        self._door = FlowerDoor(
            self.federation.address,
            self.federation.authority,
            node_headers(self.key, clock_here),
            "SuperNode",
            self._clock,
        )
        heart = threading.Thread(target=self._beat, daemon=True)
        heart.start()
        try:
            with self._stopped_by_signal():
                self._serve()
        finally:
            self._stop.set()
            heart.join(timeout=BEAT)  # a sign of life after the farewell would bring it back
            self._leave()
            self._door.close()

    def stop(self) -> None:
        """End :meth:`run` soon."""
        self._stop.set()

    @contextmanager
    def _stopped_by_signal(self) -> Iterator[None]:
        """Leave after the answer that is being worked on when told to end; at once when told again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGTERM)

        def leave(number: int, frame: FrameType | None) -> None:
            if self._stop.is_set() and callable(before):
                before(number, frame)
            self.stop()

        signal.signal(signal.SIGTERM, leave)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    def _serve(self) -> None:
        last, wait = time.monotonic(), QUICK
        while not self._stop.is_set():
            try:
                if self._node is None:
                    self._join()
                worked = self._step()
            except Exception as error:  # noqa: BLE001 - no message may end a client; a refusal does
                self._refuse(error)
                if time.monotonic() - last > self.patience:
                    raise self._given_up() from None
                worked, wait = False, SLOW
            else:
                last = time.monotonic()
            wait = QUICK if worked else min(SLOW, wait * 1.2)
            self._stop.wait(wait)

    def _given_up(self) -> MahremError:
        """Say why a client waits no longer."""
        if self._taken:
            return InvalidInput(
                f"client={self._name!r}: another process takes part with this key, on another machine or as "
                "another user; end it first"
            )
        return OutputFailed(f"server={self.federation.address} was not reached for {self.patience:g} seconds")

    def _refuse(self, error: Exception) -> None:
        """Raise what waiting does not mend: a refused certificate, key or clock."""
        import httpx

        if isinstance(error, MahremError):
            raise error
        taken, self._taken = self._taken, False
        why = refused_certificate(error)
        if why is not None:
            raise InvalidInput(
                f"server={self.federation.address}: its certificate is refused: {why}"
            ) from None
        if isinstance(error, httpx.HTTPStatusError):
            code = error.response.status_code
            if code == 403:
                raise InvalidInput(
                    f"client={self._name!r}: the server refuses this key, it is not registered there"
                ) from None
            if (
                code == 412 and self._node is None
            ):  # no two can be one client, and a killed one is for a while
                self._taken = True
                if not taken:
                    self.tell(Note("federation.key_taken", {"client": self._name}))
            if code == 401:  # a wrong clock, or the server was started again and knows us by another number
                self._clock.refuse()
                self._node = None
        elif not isinstance(error, httpx.TransportError):
            self.tell(Note("federation.not_taken", {"client": self._name, "kind": type(error).__name__}))

    def _join(self) -> None:
        from flwr.proto.fleet_pb2 import ActivateNodeRequest
        from flwr.proto.node_pb2 import Node

        request = ActivateNodeRequest(public_key=pem_of(self.key.public_key()), heartbeat_interval=BEAT)
        reply = self._door.ask("fleet/activate-node", request)
        self._node = Node(node_id=reply.node_id)
        self.tell(Note("federation.connected", {"client": self._name, "server": self.federation.address}))

    def _leave(self) -> None:
        from flwr.proto.fleet_pb2 import DeactivateNodeRequest

        if self._node is None:
            return
        try:
            self._door.ask("fleet/deactivate-node", DeactivateNodeRequest(node_id=self._node.node_id))
        except Exception:  # noqa: BLE001 - the server may be gone; it notices by itself
            return
        self.tell(Note("federation.left", {"client": self._name}))

    def _beat(self) -> None:
        import httpx
        from flwr.proto.heartbeat_pb2 import SendNodeHeartbeatRequest

        while not self._stop.wait(BEAT / 3):
            node = self._node
            if node is None:
                continue
            try:
                request = SendNodeHeartbeatRequest(node=node, heartbeat_interval=BEAT)
                self._door.ask("fleet/send-node-heartbeat", request)
            except httpx.HTTPError:
                continue  # the main loop finds out and says so

    def _step(self) -> bool:
        """Take a message if there is one, and answer it."""
        from flwr.proto.fleet_pb2 import PullMessagesRequest, PushMessagesRequest

        pulled = self._door.ask("fleet/pull-messages", PullMessagesRequest(node=self._node))
        if not pulled.messages_list:
            return False
        question = pulled.messages_list[0]
        start = time.perf_counter()
        parts = self._answered(question)
        reply = make_reply(question, parts, time.time() - self._clock.ahead)
        request = PushMessagesRequest(
            node=self._node,
            messages_list=[reply],
            message_object_trees=[tree_of(reply)],
            clientapp_runtime_list=[time.perf_counter() - start],
        )
        self._door.ask("fleet/push-messages", request)
        return True

    def _answered(self, question: Any) -> dict[str, bytes]:
        """Answer; a refusal of ours goes back in words, anything else as a word without detail."""
        asked: Message | None = None
        why: str | None = None
        try:
            asked = self._asked(read_message(question))
            data, kind = pack_message(self.answerer.answer(asked)), b"answer"
            about = {"client": self._name, "question": asked.kind, "bytes": len(data)}
            self.tell(Note("federation.answered", about))
        except MahremError as error:
            data, kind = str(error).encode(), b"refused"
            cause = f" ({error.__cause__})" if error.__cause__ else ""  # for us alone
            why = f"{error}{cause}"
            self.tell(Note("federation.refused", {"client": self._name, "why": why}))
        except Exception as error:  # noqa: BLE001 - a message of ours may be at fault, not this client
            data, kind = b"this client could not answer", b"refused"
            why = f"could not answer ({type(error).__name__})"
            self.tell(Note("federation.unanswered", {"client": self._name, "kind": type(error).__name__}))
        try:
            self.note(asked, {"answer": kind.decode(), "bytes": len(data), "why": why})
        except MahremError as error:
            data, kind = b"this client cannot keep its log, so it answers nothing", b"refused"
            self.tell(Note("federation.refused", {"client": self._name, "why": str(error)}))
        named = question.metadata.message_id
        statement = reply_statement(self.federation.fingerprint(), self._name, named, kind, data)
        signed = sign_bytes(self.key, statement)
        return {
            "data": data,
            "kind": kind,
            "signed": signed,
            "version": our_version().encode(),
            "federation": self.federation.parts().encode(),
        }

    def _asked(self, parts: dict[str, bytes]) -> Message:
        wrong = other_version(parts.get("version", b""))
        if wrong is not None:
            raise InvalidInput(wrong)
        if parts.get("federation", b"").decode(errors="replace") != self.federation.fingerprint():
            raise InvalidInput("federation.toml of the server is another than this client's; compare them")
        return unpack_message(parts.get("data", b""))
