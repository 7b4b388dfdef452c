"""Sums of the clients' counts: in the clear, where the server sees and checks each client's numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.sums._terms import ClientKeys, NumbersClient, SumPlan
from mahrem.federated.wire import Answerer, Message, MessageGrid, ask_all
from mahrem.types import Integers

Fault = Callable[[Integers], str | None]  # what is wrong with counts, if anything


@dataclass(frozen=True)
class SumResult:
    """A sum, who is in it, and why the others are not."""

    total: Integers = field(repr=False)
    nodes: tuple[str, ...]
    failures: Mapping[str, str]


class Adder(Protocol):
    """How counts of many clients become one sum; ``hides`` says that the server sees nothing but the sum."""

    @property
    def hides(self) -> bool:
        """Whether single clients' counts stay hidden."""

    def __call__(self, grid: MessageGrid, nodes: Sequence[str], question: Message, fault: Fault) -> SumResult:
        """Ask all clients the question and add up what they count."""


@dataclass(frozen=True)
class PlainSum:
    """Counts go to the server as they are: it sees each client's, and refuses those that cannot be."""

    hides: ClassVar[bool] = False

    @classmethod
    def make(cls, plan: SumPlan, public: bytes | None) -> PlainSum:  # noqa: ARG003 - there is nothing to make
        """Make one; nothing of the plan matters."""
        return cls()

    @staticmethod
    def hide(name: str, client: NumbersClient, plan: SumPlan, keys: ClientKeys) -> Answerer:  # noqa: ARG004
        """Give the client as it is."""
        return client

    def __call__(self, grid: MessageGrid, nodes: Sequence[str], question: Message, fault: Fault) -> SumResult:
        """See :class:`Adder`."""
        answers, failures = ask_all(grid, nodes, question)
        total: Integers | None = None
        kept: list[str] = []
        for node, reply in answers.items():
            numbers = reply.body.get("numbers")
            if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "iu":
                failures[node] = "no whole numbers in the answer"
                continue
            wrong = fault(numbers)
            if wrong is not None:
                failures[node] = wrong
                continue
            if total is None:
                total = np.zeros(numbers.shape, np.int64)  # they travel narrow; their sum is wider
            total += numbers
            kept.append(node)
        return SumResult(np.zeros((), np.int64) if total is None else total, tuple(kept), failures)


def answer_openly(client: NumbersClient) -> Callable[[Message], Message]:
    """Give what a client answers in the clear although its numbers are hidden."""

    def answer(message: Message) -> Message:
        if message.kind != client.open_kind:
            raise InvalidInput(f"kind={message.kind!r} is refused: numbers leave this client hidden only")
        return client.answer(message)

    return answer


def refuse_sum(total: Integers, fault: Fault) -> None:
    """Refuse a sum that cannot be, where nobody can say whose fault it is."""
    wrong = fault(total)
    if wrong is not None:
        raise InvalidInput(f"the clients' sum cannot be: {wrong}; under masks nobody can say who sent it")
