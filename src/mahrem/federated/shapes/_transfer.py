"""Transfer: clients with different columns share a network's last layers; the first ones stay private."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from mahrem import check
from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.networks import (
    LayerStack,
    Network,
    client_seed,
    cross_entropy_slope,
    even_batches,
    first_weights,
    shapes_of,
    wrong_weights,
)
from mahrem.federated.shapes._plan import ShapePlan, learning_rows, model_of
from mahrem.federated.sums import LARGEST_ROWS
from mahrem.federated.weights import SharedModel, SharedSchema, enough, weighted_average
from mahrem.federated.wire import Message, MessageGrid, ask_all
from mahrem.types import Floats


@dataclass(frozen=True, kw_only=True)
class TransferPlan(ShapePlan):
    """A network whose last layers are common and whose first ones are each client's own.

    Args:
        network: All layers; the widths after the first are the same for all clients.
        head: How many layers are common, counted from the end.
        rounds: Rounds of averaging the head.
        least_clients: A round with fewer answers is an error.
        seed: Of all that is drawn.

    Example:
        >>> TransferPlan(network=Network(hidden=(32, 16)), head=2).head_shapes(2)
        [(16, 32), (16,), (2, 16), (2,)]
    """

    network: Network = field(default_factory=lambda: Network(hidden=(32, 16), rate=0.05))
    head: int = 1
    least_clients: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check.at_least(1, head=check.whole(head=self.head))
        check.at_least(1, least_clients=check.whole(least_clients=self.least_clients))
        if self.head > len(self.network.hidden):
            raise InvalidParameter(f"head={self.head} leaves a client no layer of its own")

    def head_shapes(self, classes: int) -> list[tuple[int, ...]]:
        """Give the shapes of the common layers."""
        return shapes_of([*self.network.hidden, classes][-self.head - 1 :])


class TransferClient:
    """A client with columns of its own: its first layers never leave it.

    Args:
        name: Its name on the grid.
        frame: Its table; never leaves.
        schema: Its own columns; target and classes are those of all.
        plan: What is learnt.
    """

    def __init__(self, name: str, frame: pl.DataFrame, schema: SharedSchema, plan: TransferPlan) -> None:
        self.name, self.schema, self.plan = name, schema, plan
        self._rows, self._labels = learning_rows(frame, schema)
        classes = len(schema.classes)
        seed = client_seed(plan.seed, 0, name)
        self.weights = plan.network.start(self._rows.shape[1], classes, seed)
        self._asked = 0  # the last round that was asked for
        self._size = sum(int(np.prod(shape)) for shape in plan.head_shapes(classes))

    def answer(self, message: Message) -> Message:
        """Answer one question: ``head`` (learn from a common one) or ``take`` (the last one).

        The own layers learn first, with the head held still; so units come to mean the same to all clients,
        and then the head learns from them.

        Raises:
            InvalidInput: If it is neither, the head is of another shape, or training fails; the weights
                are then as before.
        """
        if message.kind not in {"head", "take"}:
            raise InvalidInput(f"kind={message.kind!r} is no question that this client answers")
        if not self._asked < message.round <= self.plan.rounds + (message.kind == "take"):
            raise InvalidInput(f"round={message.round}: late, or again; {self.plan.rounds} were agreed on")
        head = message.body.get("weights")
        wrong = wrong_weights(head, self._size)
        if wrong is not None:
            raise InvalidInput(f"the server sent {wrong}")
        weights = self.weights.copy()
        weights[-self._size :] = head
        rng = np.random.default_rng(client_seed(self.plan.seed, message.round, self.name))
        self._train(weights, slice(0, -self._size), rng)
        if message.kind == "head":
            self._train(weights, slice(-self._size, None), rng)
        wrong = wrong_weights(weights, len(weights))
        if wrong is not None:
            raise InvalidInput(f"training gave {wrong}; a lower rate may help")
        self.weights, self._asked = weights, message.round
        if message.kind == "take":
            return message.reply()
        return message.reply(weights=weights[-self._size :], rows=len(self._rows))

    def _train(self, weights: Floats, part: slice, rng: np.random.Generator) -> None:
        """Go through the rows and learn some of the weights, in their place."""
        network, classes = self.plan.network, len(self.schema.classes)
        stack = LayerStack(weights, network.shapes(self._rows.shape[1], classes))
        right = np.eye(classes, dtype=np.float32)
        for _ in range(network.epochs):
            for batch in even_batches(rng.permutation(len(self._rows)), network.batch):
                scores = stack.forward(self._rows[batch])
                stack.back(cross_entropy_slope(scores, right[self._labels[batch]]), further=False)
                weights[part] -= np.float32(network.rate) * stack.gradient[part]

    def model(self) -> SharedModel:
        """Give this client's whole model: its own layers and the common ones."""
        return model_of(self.schema, self.plan.network, self.weights, self.plan.rounds)


@dataclass
class TransferResult:
    """The common head, who is in it, and answers that were refused."""

    head: Floats = field(repr=False)
    nodes: tuple[str, ...] = ()
    refused: dict[str, dict[int, str]] = field(default_factory=dict)  # by client and round


def learn_transfer(
    grid: MessageGrid,
    plan: TransferPlan,
    classes: Sequence[str],
    *,
    after: Callable[[int], None] | None = None,
) -> TransferResult:
    """Average the last layers of clients whose columns differ.

    Args:
        grid: How to reach the clients (:class:`TransferClient` of the same plan).
        plan: What is learnt.
        classes: Values of the target.
        after: Told after each round.

    Guarantees:
        - Only the common head leaves a client; its columns need no one's agreement.
        - Weights that are not numbers, huge, or of another shape are refused client by client.

    Raises:
        Infeasible: If fewer than ``least_clients`` answer.

    References:
        Liang et al.: Think locally, act globally: federated learning with local and global representations,
        2020.

    Example:
        >>> from mahrem.federated import LocalGrid, propose_schema
        >>> one = pl.DataFrame({"age": list(range(40)) * 5, "old": (["n"] * 20 + ["y"] * 20) * 5})
        >>> two = one.select(born=2000 - pl.col("age"), old="old")
        >>> plan = TransferPlan(network=Network(hidden=(8,), rate=0.3))
        >>> clients = {
        ...     name: TransferClient(name, rows, propose_schema(rows, "old"), plan)
        ...     for name, rows in (("a", one), ("b", two))
        ... }
        >>> learn_transfer(LocalGrid(clients), plan, ("n", "y")).nodes
        ('a', 'b')
        >>> clients["b"].model().predict(pl.DataFrame({"born": [1997, 1967]})).tolist()
        ['n', 'y']
    """
    shapes, run = plan.head_shapes(len(classes)), secrets.token_hex(8)
    result = TransferResult(first_weights(shapes, np.random.default_rng(plan.seed)))
    nodes = grid.nodes()
    for number in range(1, plan.rounds + 1):
        answers, failures = ask_all(grid, nodes, Message("head", run, number, {"weights": result.head}))
        kept: dict[str, Mapping[str, Any]] = {}
        for node, reply in answers.items():
            rows, wrong = reply.body.get("rows"), wrong_weights(reply.body.get("weights"), len(result.head))
            if wrong is None and not (isinstance(rows, int) and 0 < rows <= LARGEST_ROWS):
                wrong = "a number of rows that cannot be"
            if wrong is None:
                kept[node] = reply.body
            else:
                failures[node] = wrong
        for node, why in failures.items():
            result.refused.setdefault(node, {})[number] = why
        enough(len(kept), plan.least_clients, f"round {number}")
        stacked = np.stack([body["weights"] for body in kept.values()])
        many = np.array([body["rows"] for body in kept.values()], np.float64)
        result.head = weighted_average(stacked, many).astype(np.float32)
        result.nodes = tuple(sorted({*result.nodes, *kept}))
        if after is not None:
            after(number)
    ask_all(grid, nodes, Message("take", run, plan.rounds + 1, {"weights": result.head}))
    return result
