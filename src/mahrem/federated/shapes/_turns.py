"""Taking turns: clients hold the first layers and hand them on, sealed; the server holds the next ones."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.federated.networks import (
    LayerStack,
    Weights,
    client_seed,
    even_batches,
    first_weights,
    read_values,
    shapes_of,
    wrong_weights,
)
from mahrem.federated.shapes._plan import ShapePlan, learning_rows
from mahrem.federated.weights import SharedSchema
from mahrem.federated.wire import Message, MessageGrid, Seal, ask_all


@dataclass(frozen=True, kw_only=True)
class SplitPlan(ShapePlan):
    """A network that is cut into a part of the clients, a part of the server and, U-shaped, a tail.

    Args:
        network: The whole network, its rate, its batch, and passes through a client's rows in a turn.
        cut: How many layers the clients have before the server's.
        tail: How many they have after it; vanilla split learning has none.
        rounds: How often every client has its turn.
        seed: Of the order of the rows and of the server's first weights. The clients' come from their key.

    Example:
        >>> SplitPlan(cut=1, tail=1).sizes(40, 2)
        ((40, 64), (64, 32, 16), (16, 2))
    """

    cut: int = 1
    tail: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        layers = len(self.network.hidden) + 1
        check.at_least(1, cut=check.whole(cut=self.cut))
        check.at_least(0, tail=check.whole(tail=self.tail))
        if self.cut + self.tail >= layers:
            raise InvalidParameter(
                f"cut={self.cut} and tail={self.tail} leave none of layers={layers} to the server"
            )

    def sizes(self, width: int, classes: int) -> tuple[tuple[int, ...], ...]:
        """Give the widths of the clients' first part, of the server's and of the tail."""
        whole = (width, *self.network.hidden, classes)
        end = len(whole) - 1 - self.tail
        return whole[: self.cut + 1], whole[self.cut : end + 1], whole[end:]


class ClientTurns:
    """A client's side of taking turns.

    Args:
        name: Its name on the grid.
        frame: Its table; never leaves.
        schema: What was agreed on.
        plan: How the network is cut.
        key: What the clients share and the server does not have: seals what they hand on.
        every: Learn from rows of no agreed class too: whoever randomises labels hides that they have none.
    """

    def __init__(
        self,
        name: str,
        frame: pl.DataFrame,
        schema: SharedSchema,
        plan: SplitPlan,
        key: bytes | Seal,
        *,
        every: bool = False,
    ) -> None:
        self.name, self.schema, self.plan = name, schema, plan
        self._seal = Seal.of(key)
        self.rows, self.labels = learning_rows(frame, schema, every=every)
        sizes = plan.sizes(self.rows.shape[1], len(schema.classes))
        ends = [(sizes[0], False)] + ([(sizes[2], True)] if plan.tail else [])
        self.stacks = []
        for number, (size, scores) in enumerate(ends):
            rng = np.random.default_rng(self._seal.seed("start", str(plan.seed), str(number)))
            shapes = shapes_of(size)
            self.stacks.append(LayerStack(first_weights(shapes, rng), shapes, scores=scores))
        self._first = self._weights()
        self._batches: list[Any] = []
        self._batch: Any = None  # rows whose slope has not come back
        self._round = 0  # of the last turn
        self.top: LayerStack | None = None  # the server's layers, once they were handed out

    @property
    def bottom(self) -> LayerStack:
        """The layers before the server's."""
        return self.stacks[0]

    @property
    def batch(self) -> Any:
        """Rows that went to the server last.

        Raises:
            InvalidInput: If none did.
        """
        if self._batch is None:
            raise InvalidInput("no rows of this client are with the server")
        return self._batch

    def _weights(self) -> Weights:
        return np.concatenate([stack.flat for stack in self.stacks])

    def answer(self, message: Message) -> Message:
        """Answer what all clients that take turns are asked: ``turn``, ``end`` or ``take``.

        Raises:
            InvalidInput: If it is neither, or out of turn.
        """
        if message.kind == "turn":
            return message.reply(**self._begin(message))
        if message.kind == "end":
            return message.reply(**self._end(message))
        if message.kind == "take":
            return message.reply(**self._take(message))
        raise InvalidInput(f"kind={message.kind!r} is no question that this client answers")

    def _begin(self, message: Message) -> dict[str, object]:
        """Take over the clients' layers from whoever had the last turn."""
        if not self._round < message.round <= self.plan.rounds:
            raise InvalidInput(f"round={message.round}: late, or again; {self.plan.rounds} were agreed on")
        self._take_over(message)
        self._round = message.round
        rng = np.random.default_rng(client_seed(self.plan.seed, message.round, self.name))
        orders = [rng.permutation(len(self.rows)) for _ in range(self.plan.network.epochs)]
        batch = self.plan.network.batch
        self._batches = [rows for order in orders for rows in even_batches(order, batch)]
        self._batch = None
        return {}

    def _take_over(self, message: Message) -> None:
        """Put the clients' layers in the place of one's own."""
        body = message.body
        if body.get("agreed") != self.plan.fingerprint(self.schema.classes):
            raise InvalidInput("the plan, the classes or the version is not the one agreed on here")
        held = self._first
        if body.get("turn", -1) >= 0:
            held = self._seal.open(body.get("sealed"), message.run, "client", "client", body["turn"]).ravel()
        if held.shape != self._first.shape or not np.isfinite(held).all():
            raise InvalidInput("layers of another shape, or not numbers; a lower rate may help")
        at = 0
        for stack in self.stacks:
            stack.flat[:] = held[at : at + len(stack.flat)]
            at += len(stack.flat)

    def _take(self, message: Message) -> dict[str, object]:
        """Take the layers of the last turn and the server's: the whole network, to keep."""
        self._take_over(message)
        shapes = shapes_of(self.plan.sizes(self.rows.shape[1], len(self.schema.classes))[1])
        wrong = wrong_weights(message.body.get("top"), sum(int(np.prod(shape)) for shape in shapes))
        if wrong is not None:
            raise InvalidInput(f"the server sent {wrong}")
        flat = np.array(message.body["top"], np.float32)
        self.top = LayerStack(flat, shapes, scores=not self.plan.tail)
        return {}

    def forward(self, slope: object) -> Weights:
        """Learn from the slope that came back; give values of the next rows, none when all were there."""
        if self._batch is not None:
            back = read_values(slope, len(self._batch), self.bottom.layers[-1][1].size, "slope")
            self.bottom.back(back, further=False)
            self.bottom.step(self.plan.network.rate)
            self._batch = None
        if not self._batches:
            return np.empty((0, self.bottom.layers[-1][1].size), np.float32)
        self._batch = self._batches.pop(0)
        return self.bottom.forward(self.rows[self._batch])

    def _end(self, message: Message) -> dict[str, object]:
        """Hand the clients' layers on; the server carries what it cannot open."""
        if self._batches or self._batch is not None:
            raise InvalidInput("a turn that is not over")
        turn = int(message.body.get("turn", 0))
        return {"sealed": self._seal.close(self._weights(), message.run, "client", "client", turn)}


class LostClient(Exception):
    """A client that gave no answer in its turn."""


@dataclass
class SplitResult:
    """The server's part of the network, who had a turn, and why others had none."""

    top: LayerStack = field(repr=False)
    nodes: tuple[str, ...] = ()
    last: str = ""  # who had the last turn and so has the clients' layers
    missed: dict[str, dict[int, str]] = field(default_factory=dict)  # by client and round
    without: dict[str, str] = field(default_factory=dict)  # who did not take the whole network, and why


AfterTurns = Callable[[int, SplitResult], None]  # told the round and what was learnt so far


@dataclass
class ServerTurns:
    """The server's side: gives every client its turn and carries the sealed layers on."""

    grid: MessageGrid
    plan: SplitPlan
    agreed: str
    run: str = field(default_factory=lambda: secrets.token_hex(8))
    sealed: bytes = b""
    turn: int = -1  # whose layers are carried
    asked: int = 0

    def ask(self, node: str, kind: str, body: Mapping[str, object], number: int | None = None) -> Message:
        """Ask one client.

        Raises:
            LostClient: If it gives no answer.
        """
        self.asked += 1
        question = Message(kind, self.run, self.asked if number is None else number, body)
        answers, failures = ask_all(self.grid, [node], question)
        if failures:
            raise LostClient(failures[node])
        return answers[node]

    def learn(
        self,
        top: LayerStack,
        learn: Callable[[str, Message], Weights],
        after: AfterTurns | None,
        *,
        hand_out: bool = False,
    ) -> SplitResult:
        """Give turns until all rounds are over; ``learn`` takes a step and gives the slope for the client."""
        result = SplitResult(top)
        nodes = self.grid.nodes()
        for number in range(1, self.plan.rounds + 1):
            for place, node in enumerate(nodes):
                try:
                    self._turn(node, number, (number - 1) * len(nodes) + place, learn)
                except (LostClient, InvalidInput) as error:
                    result.missed.setdefault(node, {})[number] = str(error)
                else:
                    result.nodes, result.last = tuple(sorted({*result.nodes, node})), node
            if all(number in result.missed.get(node, {}) for node in nodes):
                why = next(
                    (str(reasons[number]) for reasons in result.missed.values()), "none is on the grid"
                )
                raise Infeasible(f"clients=0 had a turn in round {number} ({why})", reached=0)
            if after is not None:
                after(number, result)
        if hand_out:
            result.without = self.hand_out(top)
        return result

    def hand_out(self, top: LayerStack) -> dict[str, str]:
        """Give every client the whole network, to keep; gives why some did not take it."""
        body = {"agreed": self.agreed, "turn": self.turn, "sealed": self.sealed, "top": top.flat}
        question = Message("take", self.run, self.asked + 1, body)
        return ask_all(self.grid, self.grid.nodes(), question)[1]

    def _turn(self, node: str, number: int, turn: int, learn: Callable[[str, Message], Weights]) -> None:
        body = {"agreed": self.agreed, "turn": self.turn, "sealed": self.sealed}
        self.ask(node, "turn", body, number)
        reply = self.ask(node, "forward", {})
        while _some(reply.body.get("values")):
            reply = self.ask(node, "forward", {"slope": learn(node, reply)})
        sealed = self.ask(node, "end", {"turn": turn}).body.get("sealed")
        if isinstance(sealed, bytes):
            self.sealed, self.turn = sealed, turn


def _some(values: object) -> bool:
    """Say whether a client sent values; none end its turn.

    Raises:
        InvalidInput: If what it sent has no rows.
    """
    if not isinstance(values, np.ndarray) or values.ndim == 0:
        raise InvalidInput("values: no numbers in the message")
    return len(values) > 0
