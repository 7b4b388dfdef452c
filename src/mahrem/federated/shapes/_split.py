"""Split learning: clients hold rows and the first layers, the server the others and gets the labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.federated.networks import (
    LayerStack,
    Weights,
    cross_entropy_slope,
    first_weights,
    read_values,
    shapes_of,
)
from mahrem.federated.shapes._plan import model_of
from mahrem.federated.shapes._turns import AfterTurns, ClientTurns, ServerTurns, SplitPlan, SplitResult
from mahrem.federated.weights import SharedModel, SharedSchema
from mahrem.federated.wire import Message, MessageGrid, Seal


class SplitClient:
    """A client of vanilla split learning: sends what its layers make of its rows, and their labels.

    Args:
        name: Its name on the grid.
        frame: Its table; never leaves.
        schema: What was agreed on.
        plan: How the network is cut; without a tail.
        key: What the clients share and the server does not have.
    """

    def __init__(
        self, name: str, frame: pl.DataFrame, schema: SharedSchema, plan: SplitPlan, key: bytes | Seal
    ) -> None:
        if plan.tail:
            raise InvalidParameter(f"tail={plan.tail}: split learning without a U has none")
        self.turns = ClientTurns(name, frame, schema, plan, key)

    def answer(self, message: Message) -> Message:
        """Answer one question: ``turn``, ``forward`` or ``end``.

        Raises:
            InvalidInput: If it is none, or out of turn.
        """
        if message.kind != "forward":
            return self.turns.answer(message)
        values = self.turns.forward(message.body.get("slope"))
        labels = {"labels": self.turns.labels[self.turns.batch]} if len(values) else {}
        return message.reply(values=values, **labels)

    def model(self) -> SharedModel:
        """Give the whole network, once it was handed out."""
        return whole_model(self.turns)


def whole_model(turns: ClientTurns) -> SharedModel:
    """Give the whole network of a client that was handed it.

    Raises:
        InvalidInput: If it was not.
    """
    if turns.top is None:
        raise InvalidInput("model: the server has not handed its layers out")
    return join_split(turns, turns.top)


def learn_split(
    grid: MessageGrid,
    plan: SplitPlan,
    classes: Sequence[str],
    *,
    after: AfterTurns | None = None,
    hand_out: bool = False,
) -> SplitResult:
    """Learn a network whose first layers stay with the clients, who take turns.

    Args:
        grid: How to reach the clients (:class:`SplitClient` of the same plan).
        plan: How the network is cut.
        classes: Values of the target.
        after: Told after each round, with what was learnt so far.
        hand_out: Give every client the server's layers in the end, so that it has the whole network.

    Guarantees:
        - Every step is that of the whole network in one place, bit for bit.
        - The server gets values after the cut and labels; rows and the clients' layers stay with the clients.
        - A client that gives no answer misses its turn and the others go on.

    Raises:
        Infeasible: If no client is left.

    References:
        Gupta, Raskar: Distributed learning of deep neural network over multiple agents, 2018.

    Example:
        >>> from mahrem.federated import LocalGrid, propose_schema
        >>> from mahrem.federated.networks import Network
        >>> rows = pl.DataFrame({"age": list(range(40)) * 5, "old": (["n"] * 20 + ["y"] * 20) * 5})
        >>> schema = propose_schema(rows, "old")
        >>> plan = SplitPlan(network=Network(hidden=(8,), rate=0.3, batch=16), rounds=5)
        >>> clients = {name: SplitClient(name, rows, schema, plan, bytes(32)) for name in ("a", "b")}
        >>> learnt = learn_split(LocalGrid(clients), plan, schema.classes)
        >>> model = join_split(clients["b"].turns, learnt.top)
        >>> model.predict(pl.DataFrame({"age": [3, 33]})).tolist()
        ['n', 'y']
    """
    if plan.tail:
        raise InvalidParameter(f"tail={plan.tail}: split learning without a U has none")
    top = server_layers(plan, len(classes))
    right = np.eye(len(classes), dtype=np.float32)
    width = top.layers[0][0].shape[1]

    def learn(_: str, reply: Message) -> Weights:
        values, labels = read_values(reply.body["values"], None, width, "values"), reply.body.get("labels")
        if not isinstance(labels, np.ndarray) or labels.shape != (len(values),) or labels.dtype.kind != "i":
            raise InvalidInput("labels: another number than of rows, or none")
        if not np.isin(labels, np.arange(len(classes))).all():
            raise InvalidInput("labels: a class that was not agreed on")
        slope = top.back(cross_entropy_slope(top.forward(values), right[labels]))
        top.step(plan.network.rate)
        return slope

    return ServerTurns(grid, plan, plan.fingerprint(classes)).learn(top, learn, after, hand_out=hand_out)


def server_layers(plan: SplitPlan, classes: int) -> LayerStack:
    """Give the server's layers with their first weights."""
    shapes = shapes_of(plan.sizes(1, classes)[1])
    flat = first_weights(shapes, np.random.default_rng(plan.seed))
    return LayerStack(flat, shapes, scores=not plan.tail)


def join_split(client: ClientTurns, top: LayerStack) -> SharedModel:
    """Put the clients' layers and the server's together, where they agree to.

    Args:
        client: The one that had the last turn.
        top: What :func:`learn_split` or :func:`learn_u_shaped` gave.
    """
    bottom, *tail = (stack.flat for stack in client.stacks)
    weights = np.concatenate([bottom, top.flat, *tail])
    return model_of(client.schema, client.plan.network, weights, client.plan.rounds)
