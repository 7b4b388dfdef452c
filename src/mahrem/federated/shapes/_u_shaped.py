"""U-shaped split learning: the network begins and ends at the clients, so labels stay where the rows are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from mahrem.dp import Ledger, refuse_one_value_twice
from mahrem.errors import InvalidParameter
from mahrem.federated.networks import Weights, cross_entropy_slope, read_values
from mahrem.federated.shapes._label_noise import LabelNoise
from mahrem.federated.shapes._split import server_layers, whole_model
from mahrem.federated.shapes._turns import AfterTurns, ClientTurns, ServerTurns, SplitPlan, SplitResult
from mahrem.federated.weights import SharedModel, SharedSchema
from mahrem.federated.wire import Message, MessageGrid, Seal


class UShapedClient:
    """A client that keeps rows and labels: it has the first layers and the last ones.

    Args:
        name: Its name on the grid.
        frame: Its table; never leaves.
        schema: What was agreed on.
        plan: How the network is cut; with a tail.
        key: What the clients share and the server does not have.
        noise: Randomises this client's labels, so that slopes do not give them away.
        ledger: Pays for that.
    """

    def __init__(
        self,
        name: str,
        frame: pl.DataFrame,
        schema: SharedSchema,
        plan: SplitPlan,
        key: bytes | Seal,
        *,
        noise: LabelNoise | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        _need_tail(plan)
        if noise is not None:
            refuse_one_value_twice(schema.target, schema.classes)
        self.turns = ClientTurns(name, frame, schema, plan, key, every=noise is not None)
        self._labels = self.turns.labels
        if noise is not None:
            self._labels = noise(self._labels, len(schema.classes), ledger)
        self._right = np.eye(len(schema.classes), dtype=np.float32)

    def answer(self, message: Message) -> Message:
        """Answer one question: ``turn``, ``forward``, ``tail`` or ``end``.

        Raises:
            InvalidInput: If it is none, or out of turn.
        """
        if message.kind == "forward":
            return message.reply(values=self.turns.forward(message.body.get("slope")))
        if message.kind == "tail":
            return message.reply(slope=self._tail(message.body.get("values")))
        return self.turns.answer(message)

    def model(self) -> SharedModel:
        """Give the whole network, once it was handed out."""
        return whole_model(self.turns)

    def _tail(self, held: object) -> Weights:
        """Finish the way forward, compare with the labels, and begin the way back."""
        batch, tail = self.turns.batch, self.turns.stacks[1]
        values = read_values(held, len(batch), tail.layers[0][0].shape[1], "values")
        scores = tail.forward(values)
        slope = tail.back(cross_entropy_slope(scores, self._right[self._labels[batch]]))
        tail.step(self.turns.plan.network.rate)
        return slope


def _need_tail(plan: SplitPlan) -> None:
    if not plan.tail:
        raise InvalidParameter("tail=0: a U ends at the client; at least one layer")


def learn_u_shaped(
    grid: MessageGrid,
    plan: SplitPlan,
    classes: Sequence[str],
    *,
    after: AfterTurns | None = None,
    hand_out: bool = False,
) -> SplitResult:
    """Learn a network of which the server has the middle only.

    Args:
        grid: How to reach the clients (:class:`UShapedClient` of the same plan).
        plan: How the network is cut.
        classes: Values of the target.
        after: Told after each round, with what was learnt so far.
        hand_out: Give every client the server's layers in the end, so that it has the whole network.

    Guarantees:
        - Every step is that of the whole network in one place, bit for bit.
        - Neither rows nor labels go over the wire; values and slopes between layers do, and slopes differ by
          class: who sees them can sort rows by label, see the guide.
        - A client that gives no answer misses its turn and the others go on.

    Raises:
        Infeasible: If no client is left.

    References:
        Vepakomma et al.: Split learning for health: distributed deep learning without sharing raw patient
        data, 2018 (U-shaped, "boomerang").

    Example:
        >>> from mahrem.federated import LocalGrid, propose_schema
        >>> from mahrem.federated.networks import Network
        >>> from mahrem.federated.shapes import join_split
        >>> rows = pl.DataFrame({"age": list(range(40)) * 5, "old": (["n"] * 20 + ["y"] * 20) * 5})
        >>> schema = propose_schema(rows, "old")
        >>> plan = SplitPlan(network=Network(hidden=(8, 8), rate=0.3, batch=16), tail=1, rounds=5)
        >>> clients = {name: UShapedClient(name, rows, schema, plan, bytes(32)) for name in ("a", "b")}
        >>> learnt = learn_u_shaped(LocalGrid(clients), plan, schema.classes)
        >>> model = join_split(clients["b"].turns, learnt.top)
        >>> model.predict(pl.DataFrame({"age": [3, 33]})).tolist()
        ['n', 'y']
    """
    _need_tail(plan)
    middle = server_layers(plan, len(classes))
    inside, outside = middle.layers[0][0].shape[1], middle.layers[-1][1].size
    server = ServerTurns(grid, plan, plan.fingerprint(classes))

    def learn(node: str, reply: Message) -> Weights:
        values = middle.forward(read_values(reply.body["values"], None, inside, "values"))
        answer = server.ask(node, "tail", {"values": values})
        slope = middle.back(read_values(answer.body.get("slope"), len(values), outside, "slope"))
        middle.step(plan.network.rate)
        return slope

    return server.learn(middle, learn, after, hand_out=hand_out)
