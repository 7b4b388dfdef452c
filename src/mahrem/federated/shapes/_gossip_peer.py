"""A peer of gossip learning, and the clock that all peers follow."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.networks import client_seed, wrong_weights
from mahrem.federated.shapes._gossip import Neighbours
from mahrem.federated.shapes._plan import ShapePlan, learning_rows, model_of
from mahrem.federated.weights import SharedModel, SharedSchema
from mahrem.federated.wire import LocalGrid, Message, MessageGrid, ask_all
from mahrem.types import Floats


@dataclass(frozen=True, kw_only=True)
class GossipPlan(ShapePlan):
    """What peers learn by talking with their neighbours.

    Args:
        network: What each trains on its own rows between talks.
        rounds: Rounds of training.
        mixes: How often neighbours average after each.
        seed: Of the first weights, which all peers share, and of the order of the rows.
    """

    mixes: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check.at_least(1, mixes=check.whole(mixes=self.mixes))


class GossipPeer:
    """A peer: trains on its own rows and averages weights with its neighbours, each of whom sees them.

    Args:
        name: Its name on the grid.
        frame: Its table; never leaves.
        schema: What was agreed on.
        plan: What is learnt.
        neighbours: Who talks with whom.
    """

    def __init__(
        self, name: str, frame: pl.DataFrame, schema: SharedSchema, plan: GossipPlan, neighbours: Neighbours
    ) -> None:
        self.name, self.schema, self.plan = name, schema, plan
        self.neighbours = neighbours.of(name)
        self._rows, self._labels = learning_rows(frame, schema)
        self.weights = plan.network.start(self._rows.shape[1], len(schema.classes), plan.seed)
        self._offered: dict[str, Floats] = {}  # neighbours' weights that both may not have yet
        self._heard: dict[str, Floats] = {}

    def answer(self, message: Message) -> Message:
        """Answer a neighbour: ``swap`` weights, or ``keep`` those it offered because it got ours.

        Raises:
            InvalidInput: If it is neither, or from somebody else.
        """
        sender = str(message.body.get("sender"))
        if sender not in self.neighbours:
            raise InvalidInput(f"peer={sender!r} is no neighbour of this one")
        if message.kind == "swap":
            self._offered[sender] = self._checked(message.body.get("weights"), sender)
            return message.reply(weights=self.weights)
        if message.kind == "keep" and sender in self._offered:
            self._heard[sender] = self._offered.pop(sender)
            return message.reply()
        raise InvalidInput(f"kind={message.kind!r} is no question that this peer answers now")

    def _checked(self, weights: object, sender: str) -> Floats:
        wrong = wrong_weights(weights, len(self.weights))
        if wrong is not None:
            raise InvalidInput(f"peer={sender!r} sent {wrong}")
        return np.asarray(weights)

    def train(self, number: int) -> None:
        """Train on the own rows.

        Raises:
            InvalidInput: If it ends in weights that are no numbers; the old ones stay.
        """
        seed = client_seed(self.plan.seed, number, self.name)
        found = self.plan.network.train(
            self.weights, self._rows, self._labels, len(self.schema.classes), seed=seed
        )
        self.weights = self._checked(found, self.name)

    def swap(self, grid: MessageGrid, run: str, number: int) -> int:
        """Swap weights over the edges that begin here; gives how many failed."""
        failed = 0
        for other in self.neighbours:
            if other < self.name:
                continue
            question = Message("swap", run, number, {"sender": self.name, "weights": self.weights})
            answers, _ = ask_all(grid, [other], question)
            try:
                self._heard[other] = self._checked(answers[other].body.get("weights"), other)
            except (KeyError, InvalidInput):
                failed += 1
                continue
            ask_all(grid, [other], Message("keep", run, number, {"sender": self.name}))
        return failed

    def settle(self) -> None:
        """Take the step towards all neighbours that were heard; see :func:`mix_values`."""
        mine = self.weights.astype(np.float64)
        steps = [self.neighbours[name] * (held - mine) for name, held in self._heard.items()]
        self.weights = (mine + sum(steps)).astype(np.float32)
        self._heard.clear()
        self._offered.clear()

    def model(self) -> SharedModel:
        """Give this peer's model."""
        return model_of(self.schema, self.plan.network, self.weights, self.plan.rounds)


@dataclass
class GossipResult:
    """How far apart the peers are in the end, and how many talks failed."""

    peers: tuple[str, ...]
    spread: float  # largest distance of a weight from the mean over the peers
    failed: int  # talks of two neighbours in which one was not heard
    refused: dict[str, dict[int, str]] = field(default_factory=dict)  # trainings, by peer and round


def learn_by_gossip(
    peers: Mapping[str, GossipPeer],
    plan: GossipPlan,
    *,
    grid: MessageGrid | None = None,
    after: Callable[[int], None] | None = None,
) -> GossipResult:
    """Learn without a server: train, average with neighbours, again.

    The peers follow one clock (here this process). Messages pass between neighbours only.

    Args:
        peers: By name, all of one graph.
        plan: What is learnt.
        grid: How peers reach each other; in this process by default.
        after: Told after each round.

    Guarantees:
        - Averaging leaves the mean of all peers' weights as it was, also when peers drop out: an edge counts
          for both ends or for none. (A word lost between the last two messages of a talk would tilt it.)
        - A peer that drops out goes on with its own rows, and joins in when it is back.

    Raises:
        InvalidParameter: If peers and graph do not fit.
        Infeasible: If no two peers ever heard each other.

    References:
        Lian et al.: Can decentralized algorithms outperform centralized algorithms? (D-PSGD), 2017.

    Example:
        >>> from mahrem.federated import propose_schema
        >>> from mahrem.federated.networks import Network
        >>> rows = pl.DataFrame({"age": list(range(40)) * 5, "old": (["n"] * 20 + ["y"] * 20) * 5})
        >>> schema, plan = propose_schema(rows, "old"), GossipPlan(network=Network(hidden=(), rate=0.5))
        >>> ring = Neighbours.ring(["a", "b", "c"])
        >>> peers = {name: GossipPeer(name, rows, schema, plan, ring) for name in ring.names}
        >>> learn_by_gossip(peers, plan).failed
        0
        >>> peers["c"].model().predict(pl.DataFrame({"age": [3, 33]})).tolist()
        ['n', 'y']
    """
    for name, peer in peers.items():
        if name != peer.name or not set(peer.neighbours) <= set(peers):
            raise InvalidParameter(f"peer={name!r} has neighbours that are not here, or another name")
    wire, run = grid or LocalGrid(peers), secrets.token_hex(8)
    result = GossipResult(tuple(sorted(peers)), 0.0, 0)
    for number in range(1, plan.rounds + 1):
        _train(peers, number, result)
        for mix in range(plan.mixes):
            for _, peer in sorted(peers.items()):
                result.failed += peer.swap(wire, run, number * plan.mixes + mix)
            for peer in peers.values():
                peer.settle()
        if after is not None:
            after(number)
    edges = sum(len(peer.neighbours) for peer in peers.values()) // 2
    if result.failed == edges * plan.mixes * plan.rounds:
        raise Infeasible(f"talks={result.failed} failed: no two peers heard each other", reached=0)
    held = np.stack([peer.weights for peer in peers.values()]).astype(np.float64)
    result.spread = float(np.abs(held - held.mean(axis=0)).max())
    return result


def _train(peers: Mapping[str, GossipPeer], number: int, result: GossipResult) -> None:
    for name, peer in sorted(peers.items()):
        try:
            peer.train(number)
        except InvalidInput as error:
            result.refused.setdefault(name, {})[number] = str(error)
