"""A recorder on the wire, and clients that lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mahrem.federated.wire import Answerer, LocalGrid, Message, Replies
from mahrem.federated.wire._message import _written

__all__ = ["Lying", "Recorder"]


@dataclass
class Recorder:
    """A grid that keeps every message that goes over it, both ways."""

    grid: LocalGrid
    seen: list[Message] = field(default_factory=list)

    def nodes(self) -> list[str]:
        """Name the clients."""
        return self.grid.nodes()

    def send(self, messages: Mapping[str, Message]) -> Replies:
        """Send, wait and keep."""
        replies = self.grid.send(messages)
        self.seen += [
            *messages.values(),
            *(reply for reply in replies.values() if isinstance(reply, Message)),
        ]
        return replies

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """Give every array that went over the wire in the clear."""
        return [held for one in self.seen for held in one.body.values() if isinstance(held, np.ndarray)]

    def bytes(self) -> bytes:
        """Give everything that went over the wire, unfolded: in compressed bytes nothing would be found."""
        return b"".join(_written(one)[0] for one in self.seen)


@dataclass
class Lying:
    """A client that changes what it says when it is asked one kind of question."""

    client: Answerer
    kind: str
    lie: Callable[[dict[str, Any]], dict[str, Any]]

    def answer(self, message: Message) -> Message:
        """Answer, perhaps with a lie."""
        said = self.client.answer(message)
        return message.reply(**self.lie(dict(said.body))) if message.kind == self.kind else said
