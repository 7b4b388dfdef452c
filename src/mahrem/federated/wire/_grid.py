"""The grid: how a server reaches its clients. In one process for simulation and tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Protocol, TypeAlias, TypeVar

from mahrem.errors import InvalidParameter, MahremError
from mahrem.federated.wire._message import Failure, Message, pack_message, unpack_message

Replies: TypeAlias = Mapping[str, "Message | Failure"]
Given = TypeVar("Given")
Product = TypeVar("Product")


class Answerer(Protocol):
    """A client: answers one message at a time."""

    def answer(self, message: Message) -> Message:
        """Give the answer to a question."""


class Household(Protocol):
    """Clients that live in one process, which can answer a question for all of them in one message."""

    def answer_together(self, message: Message, nodes: Sequence[str]) -> Message | None:
        """Give the answers of these clients in one; None if each has to be asked by itself."""


class MessageGrid(Protocol):
    """How messages reach clients and answers come back."""

    def nodes(self) -> list[str]:
        """Name the clients that can be reached now, sorted."""

    def send(self, messages: Mapping[str, Message]) -> Replies:
        """Send each client its message and wait; one that gives no answer in time is a :class:`Failure`."""


@dataclass(frozen=True)
class Exchange:
    """One exchange: what was asked of how many, and what it cost."""

    round: int
    what: str
    clients: int
    answered: int
    bytes_down: int  # from the server to all clients
    bytes_up: int
    seconds: float
    model_round: int = 0  # the round of averaging or the tree that it is part of; 0 before the first

    @property
    def bytes(self) -> int:
        """Both ways."""
        return self.bytes_down + self.bytes_up


@dataclass
class Traffic:
    """What went over the grid: bytes to and from each client, and where the time went."""

    rounds: int = 0
    client_seconds: float = 0.0  # all clients' answers together
    wire_seconds: float = 0.0  # writing messages to bytes and reading them, on both sides
    _both: dict[str, tuple[int, int]] = field(default_factory=dict, repr=False)
    _shared: dict[tuple[str, ...], tuple[int, int]] = field(
        default_factory=dict, repr=False
    )  # to each, in all

    @property
    def sent(self) -> dict[str, int]:
        """Bytes from the server to each client."""
        return {node: down for node, (down, _) in self._settled().items()}

    @property
    def received(self) -> dict[str, int]:
        """Bytes from each client to the server."""
        return {node: up for node, (_, up) in self._settled().items()}

    def add(self, node: str, sent: int, received: int) -> None:
        """Count one exchange."""
        down, up = self._both.get(node, (0, 0))
        self._both[node] = down + sent, up + received

    def add_together(self, nodes: tuple[str, ...], sent: int, received: int) -> None:
        """Count one exchange with clients of one process: each got the question, and shares the answer."""
        down, up = self._shared.get(nodes, (0, 0))
        self._shared[nodes] = down + sent, up + received // len(nodes)

    def _settled(self) -> Mapping[str, tuple[int, int]]:
        """Give everybody's bytes; shares are handed out when somebody looks, not at every exchange."""
        for nodes, (sent, share) in self._shared.items():
            for node in nodes:
                self.add(node, sent, share)
        self._shared.clear()
        return self._both


@dataclass
class LocalGrid:
    """Clients in this process. Every message is written to bytes and read again, as over a wire.

    So a client shares no object with the server or with another client, and the bytes are real ones. Clients
    that say that they are of one ``household`` are asked once and answer in one message, where the server
    can read one.

    Args:
        clients: By name.
        lost: Asked before each message; True means that the client gets it and its answer never arrives.

    Example:
        >>> class Echo:
        ...     def answer(self, message):
        ...         return message.reply(twice=2 * message.body["number"])
        >>> grid = LocalGrid({"a": Echo()})
        >>> grid.send({"a": Message("echo", "run", 1, {"number": 4})})["a"].body
        {'twice': 8}
    """

    clients: Mapping[str, Answerer]
    lost: Callable[[str, Message], bool] | None = None
    traffic: Traffic = field(default_factory=Traffic)

    def nodes(self) -> list[str]:
        """Name all clients."""
        return sorted(self.clients)

    def send(self, messages: Mapping[str, Message]) -> Replies:
        """Ask the clients one after the other.

        A client's own refusal (:class:`~mahrem.errors.MahremError`) becomes a failure; anything else is a
        bug and is raised.
        """
        self.traffic.rounds += 1
        packed: dict[int, bytes] = {}
        replies: dict[str, Message | Failure] = {}
        for node, message in messages.items():
            if node not in self.clients:
                raise InvalidParameter(f"client={node!r} is not on the grid")
            if id(message) not in packed:  # one message to all is written once
                packed[id(message)] = self._timed(pack_message, message)
            replies[node] = self._ask(node, message, packed[id(message)])
        return replies

    @cached_property
    def _household(self) -> Household | None:
        houses = {id(getattr(client, "household", None)) for client in self.clients.values()}
        first = next(iter(self.clients.values()), None)
        household: Household | None = getattr(first, "household", None)
        return household if len(houses) == 1 and self.lost is None else None

    def ask_together(self, nodes: Sequence[str], message: Message) -> Message | None:
        """Send one message for many clients and give the one answer; None if there is none for all.

        A refusal is each client's own, so each is asked then.
        """
        if self._household is None or len(nodes) < 2:
            return None
        write, read = partial(pack_message, squeeze=False), partial(unpack_message, widen=False)
        data = self._timed(write, message)
        there = self._timed(unpack_message, data)
        start = time.perf_counter()
        try:
            answer = self._household.answer_together(there, nodes)
        except MahremError:
            return None
        finally:
            self.traffic.client_seconds += time.perf_counter() - start
        if answer is None:
            return None
        back = self._timed(write, answer)
        self.traffic.rounds += 1
        self.traffic.add_together(tuple(nodes), len(data), len(back))
        reply: Message = self._timed(read, back)
        return reply if reply.answers(message) else None

    def _ask(self, node: str, message: Message, data: bytes) -> Message | Failure:
        lost = self.lost is not None and self.lost(node, message)
        there = self._timed(unpack_message, data)
        start = time.perf_counter()
        try:
            answer = self.clients[node].answer(there)
        except MahremError as error:
            self.traffic.add(node, len(data), 0)
            return Failure(str(error))
        finally:
            self.traffic.client_seconds += time.perf_counter() - start
        back = self._timed(pack_message, answer)
        self.traffic.add(node, len(data), 0 if lost else len(back))
        return Failure("no answer in time") if lost else self._timed(unpack_message, back)

    def _timed(self, work: Callable[[Given], Product], given: Given) -> Product:
        start = time.perf_counter()
        try:
            return work(given)
        finally:
            self.traffic.wire_seconds += time.perf_counter() - start


def ask_together(grid: MessageGrid, nodes: Sequence[str], message: Message) -> Message | None:
    """Ask clients of one process in one message; None where each has to be asked by itself."""
    ask: Callable[[Sequence[str], Message], Message | None] | None = getattr(grid, "ask_together", None)
    return None if ask is None else ask(nodes, message)


def ask_all(
    grid: MessageGrid, nodes: Iterable[str], message: Message
) -> tuple[dict[str, Message], dict[str, str]]:
    """Send one message to many clients; gives the answers, and why the others gave none."""
    return sorted_out(grid.send(dict.fromkeys(nodes, message)), dict.fromkeys(nodes, message))


def sorted_out(
    replies: Replies, questions: Mapping[str, Message]
) -> tuple[dict[str, Message], dict[str, str]]:
    """Part answers from failures; an answer to another question (late, replayed) is a failure."""
    answers: dict[str, Message] = {}
    failures: dict[str, str] = {}
    for node, question in questions.items():
        reply = replies.get(node, Failure("no answer in time"))
        if isinstance(reply, Failure):
            failures[node] = reply.reason
        elif not reply.answers(question):
            failures[node] = "an answer to another run or round"
        else:
            answers[node] = reply
    return answers, failures
