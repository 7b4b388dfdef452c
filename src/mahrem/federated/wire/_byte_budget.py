"""A budget of bytes: a run stops before an exchange that would go beyond it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mahrem.errors import Infeasible
from mahrem.federated.wire._grid import Exchange
from mahrem.federated.wire._message import Message, pack_message

UNSEEN = 2  # an answer of a kind not yet seen is taken for so many times its question: masked weights are


class ByteBudgetSpent(Infeasible):
    """The next exchange would go beyond the byte budget; what was learnt before stands."""


def refuse_beyond(budget: int, done: Sequence[Exchange], at: int, messages: Mapping[str, Message]) -> None:
    """Refuse an exchange after which more than a budget of bytes would have gone over the grid.

    Questions are counted as they are. Of answers, the largest of their kind is expected. A round of the model
    begins only if the costliest one so far would still fit; the first can be judged exchange by exchange
    only.

    Args:
        budget: Bytes of a whole run, both ways.
        done: The exchanges so far.
        at: The round of the model that this exchange is part of.
        messages: What is about to be sent.

    Raises:
        ByteBudgetSpent: If it does not fit.

    Example:
        >>> done = [Exchange(1, "train", 2, 2, 400, 400, 0.1, 1)]
        >>> refuse_beyond(1600, done, 2, {"a": Message("train", "run", 2)})
        >>> refuse_beyond(1599, done, 2, {"a": Message("train", "run", 2)})
        Traceback (most recent call last):
        mahrem.federated.wire._byte_budget.ByteBudgetSpent: byte_budget=1,599: 800 are spent, and going on ...
    """
    kind = next((message.kind for message in messages.values()), "")
    sizes = {id(message): len(pack_message(message)) for message in messages.values()}
    down = sum(sizes[id(message)] for message in messages.values())
    seen = [
        -(-exchange.bytes_up // exchange.answered)
        for exchange in done
        if exchange.what == kind and exchange.answered
    ]
    wanted = down + (max(seen) * len(messages) if seen else UNSEEN * down)
    costs: Counter[int] = Counter()
    for exchange in done:
        costs[exchange.model_round] += exchange.bytes
    begun = costs.pop(at, 0)
    costs.pop(0, None)
    wanted = max(wanted, max(costs.values(), default=0) - begun)
    spent = sum(exchange.bytes for exchange in done)
    if spent + wanted > budget:
        raise ByteBudgetSpent(
            f"byte_budget={budget:,}: {spent:,} are spent, and going on may take {wanted:,} more",
            reached=spent,
        )
