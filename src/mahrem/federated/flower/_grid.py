"""The grid over real processes: questions go through a SuperLink, answers must be signed by their client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mahrem.errors import Infeasible, InvalidInput, OutputFailed
from mahrem.federated.flower._connection import (
    Clock,
    as_content,
    carried,
    from_content,
    other_version,
    our_version,
    reply_statement,
    shown,
)
from mahrem.federated.flower._federation import Federation
from mahrem.federated.wire import (
    Failure,
    Message,
    Replies,
    Traffic,
    pack_message,
    read_public_key,
    unpack_message,
)

LOOK = 0.05  # seconds between two looks for answers
KIND = "query.mahrem"


@dataclass
class FlowerGrid:
    """Clients behind a SuperLink, known by the names of the federation.

    Every answer must carry its client's signature over what it says and what it answers; an answer that
    somebody else sent in a client's place is a failure of that client.
    """

    federation: Federation
    client: Any = field(repr=False)  # Flower's client of the run-time door
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
        from flwr.supercore.primitives.asymmetric import public_key_to_bytes

        names = {
            public_key_to_bytes(read_public_key(key)): name for name, key in self.federation.clients.items()
        }
        online = self.client.GetNodes(GetNodesRequest()).nodes
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
                head, tree = carried(self._question(online[node], packed[id(message)]))
                heads.append(head)
                trees.append(tree)
                waiting[head.metadata.message_id] = node
                sizes[node] = len(packed[id(message)])
        replies: dict[str, Message | Failure] = {node: Failure("not online") for node in messages}
        if heads:
            self.client.PushMessages(PushAppMessagesRequest(messages_list=heads, message_object_trees=trees))
            replies.update(self._answers(waiting, sizes))
        return replies

    def _question(self, node: int, data: bytes) -> Any:
        from flwr.app.message import make_message
        from flwr.app.metadata import Metadata
        from flwr.common.constant import SUPERLINK_NODE_ID

        return make_message(
            Metadata(
                run_id=self.run,
                message_id="",
                src_node_id=SUPERLINK_NODE_ID,
                dst_node_id=node,
                reply_to_message_id="",
                group_id="",
                created_at=time.time() - self.clock.ahead,  # by the server's clock, which lets it expire
                ttl=self.federation.answer_seconds + 60,
                message_type=KIND,
                src_task_id=self.task,
            ),
            as_content(
                data=data,
                federation=self.federation.fingerprint().encode(),
                version=our_version().encode(),
            ),
        )

    def _answers(self, waiting: dict[str, str], sizes: Mapping[str, int]) -> dict[str, Message | Failure]:
        """Wait for the answers to messages, given by name with the client of each."""
        from flwr.proto.runtime_pb2 import PullAppMessagesRequest

        replies: dict[str, Message | Failure] = {}
        end = time.monotonic() + self.federation.answer_seconds
        while waiting and time.monotonic() < end:
            pulled = self.client.PullMessages(PullAppMessagesRequest(message_ids=list(waiting)))
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
        from flwr.common.serde import message_from_proto

        try:
            whole = message_from_proto(head)
            if whole.has_error():
                return Failure("lost before it answered"), 0
            parts = from_content(whole.content)
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
    counted = -1
    while True:
        online = grid.nodes()
        if len(online) >= wanted:
            return online
        if len(online) != counted:
            counted = len(online)
            tell(f"{counted} of {wanted} clients online")
        if time.monotonic() >= end:
            break
        time.sleep(0.2)
    if len(online) < least:
        raise Infeasible(
            f"clients={len(online)}: at least {least} must be online; waited {seconds:g} seconds",
            reached=len(online),
        )
    return online
