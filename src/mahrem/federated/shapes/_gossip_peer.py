"""A peer of gossip learning, and the clock that all peers follow, which carries what they seal."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import Infeasible, InvalidInput
from mahrem.federated.networks import client_seed, wrong_weights
from mahrem.federated.shapes._gossip import Neighbours
from mahrem.federated.shapes._plan import ShapePlan, learning_rows, model_of
from mahrem.federated.weights import SharedModel, SharedSchema
from mahrem.federated.wire import Message, MessageGrid, Seal, sorted_out
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
        key: What the peers share and whoever carries their messages does not have.

    Guarantees:
        - Weights leave for neighbours only, sealed: whoever carries them sees their length.
    """

    def __init__(
        self,
        name: str,
        frame: pl.DataFrame,
        schema: SharedSchema,
        plan: GossipPlan,
        neighbours: Neighbours,
        key: bytes | Seal,
    ) -> None:
        self.name, self.schema, self.plan = name, schema, plan
        self.neighbours = neighbours.of(name)
        self._seal = Seal.of(key)
        self._rows, self._labels = learning_rows(frame, schema)
        self.weights = plan.network.start(self._rows.shape[1], len(schema.classes), plan.seed)
        self._heard: dict[str, Floats] = {}
        self._done = (0, 0, 0)  # round, mix, and step of the last question

    def answer(self, message: Message) -> Message:
        """Answer one question: ``train``, ``offer`` weights, ``hear`` others', or ``settle`` on a step.

        Raises:
            InvalidInput: If it is none, comes late or again, or is about another plan.
        """
        steps = {"train": self._train, "offer": self._offer, "hear": self._hear, "settle": self._settle}
        if message.kind not in steps:
            raise InvalidInput(f"kind={message.kind!r} is no question that this peer answers")
        number, mix = message.body.get("round"), message.body.get("mix")
        if not isinstance(number, int) or not isinstance(mix, int):
            raise InvalidInput("a question without its round")
        now = (number, mix, list(steps).index(message.kind))
        if now <= self._done:
            raise InvalidInput("a question that comes late, or again")
        if number > self.plan.rounds or mix > self.plan.mixes:
            raise InvalidInput(f"rounds={self.plan.rounds} were agreed on, of {self.plan.mixes} mixes each")
        if message.body.get("agreed") != self.plan.fingerprint(self.schema.classes):
            raise InvalidInput("the plan, the classes or the version is not the one agreed on here")
        answer = steps[message.kind](message)
        self._done = now
        return message.reply(**answer)

    def _checked(self, weights: object, sender: str) -> Floats:
        wrong = wrong_weights(weights, len(self.weights))
        if wrong is not None:
            raise InvalidInput(f"peer={sender!r} sent {wrong}")
        return np.asarray(weights)

    def _train(self, message: Message) -> dict[str, object]:
        self.train(message.body["round"])
        return {}

    def train(self, number: int) -> None:
        """Train on the own rows.

        Raises:
            InvalidInput: If it ends in weights that are no numbers; the old ones stay.
        """
        seed = client_seed(self.plan.seed, number, self.name)
        weights = self.plan.network.train(
            self.weights, self._rows, self._labels, len(self.schema.classes), seed=seed
        )
        self.weights = self._checked(weights, self.name)

    def _offer(self, message: Message) -> dict[str, object]:
        """Seal the weights for each neighbour."""
        content, step = self.weights.astype("<f4").tobytes(), message.round
        return {
            other: self._seal.close_bytes(content, message.run, self.name, other, step)
            for other in self.neighbours
        }

    def _hear(self, message: Message) -> dict[str, object]:
        """Open what neighbours offered; says whom it heard."""
        self._heard = {}
        for other in self.neighbours:
            if other not in message.body:
                continue
            try:
                content = self._seal.open_bytes(
                    message.body[other], message.run, other, self.name, message.round
                )
                whole = content if len(content) % 4 == 0 else b""
                self._heard[other] = self._checked(np.frombuffer(whole, "<f4"), other)
            except InvalidInput:
                continue  # it counts as not heard, for both
        return {"heard": sorted(self._heard)}

    def _settle(self, message: Message) -> dict[str, object]:
        """Take the step towards the neighbours that were heard and heard this one; see :func:`mix_values`."""
        both = message.body.get("both")
        mine = self.weights.astype(np.float64)
        named = [name for name in self._heard if isinstance(both, list) and name in both]
        steps = [self.neighbours[name] * (self._heard[name] - mine) for name in named]
        self.weights = (mine + sum(steps)).astype(np.float32)
        self._heard = {}
        return {}

    def model(self) -> SharedModel:
        """Give this peer's model."""
        return model_of(self.schema, self.plan.network, self.weights, self.plan.rounds)


@dataclass
class GossipResult:
    """How many talks there were, and how many of them failed."""

    peers: tuple[str, ...]
    talks: int = 0  # of two neighbours that heard each other
    failed: int = 0  # in which one was not heard
    refused: dict[str, dict[int, str]] = field(default_factory=dict)  # trainings, by peer and round


def learn_by_gossip(
    grid: MessageGrid,
    plan: GossipPlan,
    classes: Sequence[str],
    *,
    after: Callable[[int], None] | None = None,
) -> GossipResult:
    """Learn without a server that knows anything: train, average with neighbours, again.

    Somebody keeps the clock and carries what neighbours seal for each other. It sees who is there, and sizes.

    Args:
        grid: How to reach the peers (:class:`GossipPeer` of the same plan and one graph).
        plan: What is learnt.
        classes: Values of the target.
        after: Told after each round.

    Guarantees:
        - Averaging leaves the mean of all peers' weights as it was, also when peers drop out: an edge counts
          for both ends or for none. (A peer that is lost before the last question of a talk would tilt it.)
        - A peer that drops out joins in when it is back.

    Raises:
        Infeasible: If no two peers ever heard each other.

    References:
        Lian et al.: Can decentralized algorithms outperform centralized algorithms? (D-PSGD), 2017.

    Example:
        >>> from mahrem.federated import LocalGrid, propose_schema
        >>> from mahrem.federated.networks import Network
        >>> rows = pl.DataFrame({"age": list(range(40)) * 5, "old": (["n"] * 20 + ["y"] * 20) * 5})
        >>> schema, plan = propose_schema(rows, "old"), GossipPlan(network=Network(hidden=(), rate=0.5))
        >>> ring = Neighbours.ring(["a", "b", "c"])
        >>> peers = {name: GossipPeer(name, rows, schema, plan, ring, bytes(32)) for name in ring.names}
        >>> learn_by_gossip(LocalGrid(peers), plan, schema.classes).failed
        0
        >>> peers["c"].model().predict(pl.DataFrame({"age": [3, 33]})).tolist()
        ['n', 'y']
    """
    result = GossipResult(tuple(grid.nodes()))
    run, agreed, asked = secrets.token_hex(8), plan.fingerprint(classes), 0

    def ask(kind: str, bodies: Mapping[str, Mapping[str, Any]], number: int, mix: int = 0) -> Any:
        header = {"round": number, "mix": mix, "agreed": agreed}
        questions = {name: Message(kind, run, asked, {**body, **header}) for name, body in bodies.items()}
        return sorted_out(grid.send(questions), questions)

    everybody: dict[str, dict[str, Any]] = {name: {} for name in result.peers}
    for number in range(1, plan.rounds + 1):
        for name, why in ask("train", everybody, number)[1].items():
            result.refused.setdefault(name, {})[number] = why
        for mix in range(1, plan.mixes + 1):
            asked += 1
            offers, _ = ask("offer", everybody, number, mix)
            carried = {
                name: {other: reply.body[name] for other, reply in offers.items() if name in reply.body}
                for name in result.peers
            }
            heard, _ = ask("hear", carried, number, mix)
            listed = {name: set(reply.body.get("heard") or ()) for name, reply in heard.items()}
            both = {
                name: [
                    other
                    for other in carried[name]
                    if other in listed.get(name, ()) and name in listed.get(other, ())
                ]
                for name in result.peers
            }
            ask("settle", {name: {"both": names} for name, names in both.items()}, number, mix)
            _count(result, carried, both)
        if after is not None:
            after(number)
    if not result.talks:
        raise Infeasible(f"talks={result.failed} failed: no two peers heard each other", reached=0)
    return result


def _count(
    result: GossipResult, carried: Mapping[str, Mapping[str, object]], both: Mapping[str, Sequence[str]]
) -> None:
    """Count talks: pairs of which at least one offered something, and those that heard each other."""
    offered = {frozenset((name, other)) for name, held in carried.items() for other in held}
    heard = {frozenset((name, other)) for name, names in both.items() for other in names}
    result.talks += len(heard)
    result.failed += len(offered - heard)
