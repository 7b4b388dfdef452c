"""The grid over real processes: questions go through a SuperLink, answers must be signed by their client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mahrem.errors import Infeasible, InvalidInput, OutputFailed
from mahrem.federated.flower._connection import Clock, other_version, our_version, reply_statement, shown
from mahrem.federated.flower._door import SERVER, make_message, pem_of, read_message, tree_of
from mahrem.federated.flower._federation import Federation
from mahrem.federated.wire import Failure, Message, Replies, Traffic, pack_message, unpack_message
from mahrem.federated.wire.certificates import read_public_key
from mahrem.words import Note

LOOK = 0.05  # seconds between two looks for answers
KIND = "query.mahrem"


@dataclass
class FlowerGrid:
    """Clients behind a SuperLink, known by the names of the federation.

    Every answer must carry its client's signature over what it says and what it answers; an answer that
    somebody else sent in a client's place is a failure of that client.
    """

    federation: Federation
    door: Any = field(repr=False)  # Flower's run-time door
    run: int
    task: int
    clock: Clock = field(default_factory=Clock, repr=False)
    traffic: Traffic = field(default_factory=Traffic)

    def nodes(self) -> list[str]:
        """Name the registered clients that are online, sorted."""
        with self._server_there():
            return sorted(self._online())

    def send(self, messages: Mapping[str, Message]) -> Replies:
        """Send each client its message and wait at most as long as was agreed.

        Raises:
            OutputFailed: If the server itself is lost.
        """
        with self._server_there():
            return self._send(messages)

    @contextmanager
    def _server_there(self) -> Iterator[None]:
        import httpx

        try:
            yield
        except httpx.HTTPError as error:
            again = (
                "go on with: mahrem federate run --resume" if self.federation.task.goes_on else "run again"
            )
            raise OutputFailed(
                f"server={self.federation.address} was lost during the run ({type(error).__name__}); "
                f"clients come back by themselves, start the server and {again}"
            ) from None

    def _online(self) -> dict[str, int]:
        from flwr.proto.runtime_pb2 import GetNodesRequest

        names = {pem_of(read_public_key(key)): name for name, key in self.federation.clients.items()}
        online = self.door.ask("runtime/get-nodes", GetNodesRequest()).nodes
        return {names[node.public_key]: node.node_id for node in online if node.public_key in names}

    def _send(self, messages: Mapping[str, Message]) -> Replies:
        from flwr.proto.runtime_pb2 import PushAppMessagesRequest

        self.traffic.rounds += 1
        online = self._online()
        packed: dict[int, bytes] = {}
        sizes: dict[str, int] = {}
        heads, trees, waiting = [], [], {}
        for node, message in messages.items():
            if id(message) not in packed:
                packed[id(message)] = pack_message(message)
            if node in online:
                head = self._question(online[node], packed[id(message)])
                heads.append(head)
                trees.append(tree_of(head))
                waiting[head.metadata.message_id] = node
                sizes[node] = len(packed[id(message)])
        replies: dict[str, Message | Failure] = {node: Failure("not online") for node in messages}
        if heads:
            request = PushAppMessagesRequest(messages_list=heads, message_object_trees=trees)
            self.door.ask("runtime/push-messages", request)
            replies.update(self._answers(waiting, sizes))
        return replies

    def _question(self, node: int, data: bytes) -> Any:
        parts = {
            "data": data,
            "federation": self.federation.fingerprint().encode(),
            "version": our_version().encode(),
        }
        return make_message(
            parts,
            run_id=self.run,
            src_node_id=SERVER,
            dst_node_id=node,
            created_at=time.time() - self.clock.ahead,  # by the server's clock, which lets it expire
            ttl=self.federation.answer_seconds + 60,
            message_type=KIND,
            src_task_id=self.task,
        )

    def _answers(self, waiting: dict[str, str], sizes: Mapping[str, int]) -> dict[str, Message | Failure]:
        """Wait for the answers to messages, given by name with the client of each."""
        from flwr.proto.runtime_pb2 import PullAppMessagesRequest

        replies: dict[str, Message | Failure] = {}
        end = time.monotonic() + self.federation.answer_seconds
        while waiting and time.monotonic() < end:
            request = PullAppMessagesRequest(message_ids=list(waiting))
            pulled = self.door.ask("runtime/pull-messages", request)
            for head in pulled.messages_list:
                node = waiting.pop(head.metadata.reply_to_message_id, None)
                if node is not None:
                    replies[node], size = self._opened(node, head)
                    self.traffic.add(node, sizes[node], size)
            if waiting and not pulled.messages_list:
                time.sleep(LOOK)
        for node in waiting.values():
            self.traffic.add(node, sizes[node], 0)
            replies[node] = Failure("no answer in time")
        return replies

    def _opened(self, node: str, head: Any) -> tuple[Message | Failure, int]:
        """Give an answer if it is the client's own."""
        try:
            if head.HasField("error"):
                return Failure("lost before it answered"), 0
            parts = read_message(head)
            data = parts.get("data", b"")
            wrong = self._fault(node, head.metadata.reply_to_message_id, parts)
            if wrong is not None:
                return Failure(wrong), len(data)
            return unpack_message(data), len(data)
        except InvalidInput as error:
            return Failure(str(error)), 0
        except (ValueError, TypeError, LookupError, AttributeError):  # what Flower makes of nonsense
            return Failure("an answer that cannot be read"), 0

    def _fault(self, node: str, asked: str, parts: Mapping[str, bytes]) -> str | None:
        """Say why an answer does not count, if so: another version, another's word, or a refusal."""
        other = other_version(parts.get("version", b""))
        if other is not None:
            return other
        differs = self.federation.differs(parts.get("federation", b""))
        if differs is not None:
            return differs
        data, kind = parts.get("data", b""), parts.get("kind", b"")
        statement = reply_statement(self.federation.fingerprint(), node, asked, kind, data)
        if not self.federation.signed_by(node, statement, parts.get("signed", b"")):
            return "an answer that this client did not sign"
        return None if kind == b"answer" else shown(data)


def wait_for_clients(
    grid: FlowerGrid, wanted: int, least: int, seconds: float, tell: Callable[[str], None]
) -> list[str]:
    """Wait until so many clients are online, or for so long.

    Raises:
        Infeasible: If fewer than ``least`` came in time.
    """
    end = time.monotonic() + seconds
    last_online: list[str] | None = None
    while True:
        online = grid.nodes()
        if len(online) >= wanted:
            return online
        missing = named([name for name in grid.federation.clients if name not in online])
        if online != last_online:
            last_online = online
            away = sorted(name for name in grid.federation.clients if name not in online)
            tell(Note("federation.online", {"online": len(online), "wanted": wanted, "missing": away}))
        if time.monotonic() >= end:
            break
        time.sleep(0.2)
    if len(online) < least:
        raise Infeasible(
            f"clients={len(online)}: at least {least} must be online; waited {seconds:g} seconds; "
            f"missing: {missing}",
            reached=len(online),
        )
    return online


def named(names: Sequence[str]) -> str:
    """Name clients, at most ten of them."""
    rest = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(sorted(names)[:10]) + rest
