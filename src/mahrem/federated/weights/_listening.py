"""What a curious server has: the weights each client was given, and those it sent back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mahrem.errors import InvalidParameter
from mahrem.federated.networks import Network, TrainableNetwork, layers_of
from mahrem.federated.weights._model import SharedModel
from mahrem.federated.wire import Failure, Message, MessageGrid, Replies
from mahrem.types import Floats


@dataclass
class ListeningGrid:
    """A grid that keeps every update that passes in the clear; to attack a federation with.

    Under masks or encryption nothing of a single client passes in the clear, so nothing is kept.

    Args:
        grid: The grid it listens on.
        heard: By client, pairs of the weights it was given and the weights it sent, round by round.
    """

    grid: MessageGrid
    heard: dict[str, list[tuple[Floats, Floats]]] = field(default_factory=dict, repr=False)

    def nodes(self) -> list[str]:
        """Name the clients."""
        return self.grid.nodes()

    def send(self, messages: Mapping[str, Message]) -> Replies:
        """Send, wait and listen."""
        replies = self.grid.send(messages)
        for node, reply in replies.items():
            given = messages[node].body.get("weights")
            sent = None if isinstance(reply, Failure) else reply.body.get("weights")
            if isinstance(given, np.ndarray) and isinstance(sent, np.ndarray):
                self.heard.setdefault(node, []).append((given, sent))
        return replies

    def models(self, node: str, model: SharedModel) -> tuple[list[SharedModel], list[SharedModel]]:
        """Give what a client was given and what it sent, as models like the one that came out."""
        pairs = self.heard.get(node, [])
        given, sent = (
            [model.next(at, {"weights": pair[side]}) for at, pair in enumerate(pairs)] for side in (0, 1)
        )
        return given, sent


def first_layer(
    network: TrainableNetwork, given: Floats, sent: Floats, width: int, classes: int
) -> tuple[Floats, Floats]:
    """Give how an update moved the matrix and the offset of the first layer.

    Example:
        >>> moved = first_layer(Network(hidden=()), np.zeros(6), np.arange(6.0), 2, 2)
        >>> moved[0].tolist(), moved[1].tolist()
        ([[0.0, 1.0], [2.0, 3.0]], [4.0, 5.0])
    """
    if not isinstance(network, Network):
        raise InvalidParameter("network: only those of mlp and logistic are known layer by layer")
    moved = np.asarray(sent, np.float64) - np.asarray(given, np.float64)
    return layers_of(moved, network.shapes(width, classes))[0]
