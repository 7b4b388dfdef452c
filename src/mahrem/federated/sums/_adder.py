"""Sums of the clients' counts: in the clear, where the server sees and checks each client's numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from mahrem.errors import InvalidInput
from mahrem.federated.sums._terms import ClientKeys, NumbersClient, SumPlan
from mahrem.federated.wire import Answerer, Message, MessageGrid, ask_all, ask_together
from mahrem.types import Integers

Fault = Callable[[Integers], str | None]  # what is wrong with counts, if anything


@runtime_checkable
class FaultOfMany(Protocol):
    """A fault that can be looked for in many clients' numbers at once."""

    def of_many(self, numbers: Integers) -> list[str | None]:
        """Say what is wrong with each of ``(clients, length)`` numbers, if anything."""


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
        bundled = _of_household(grid, nodes, question, fault)
        if bundled is not None:
            return bundled
        answers, failures = ask_all(grid, nodes, question)
        total: Integers = np.zeros((), np.int64)
        kept: list[str] = []
        for nodes_of_size, numbers in _stacked(answers, failures):
            wrong = fault.of_many(numbers) if isinstance(fault, FaultOfMany) else list(map(fault, numbers))
            good = [why is None for why in wrong]
            failures |= {node: why for node, why in zip(nodes_of_size, wrong, strict=True) if why is not None}
            if any(good):
                failures |= dict.fromkeys(kept, "another length than most clients sent")
                kept = [node for node, fits in zip(nodes_of_size, good, strict=True) if fits]
                total = (numbers if all(good) else numbers[good]).sum(axis=0, dtype=np.int64)
        return SumResult(total, tuple(sorted(kept)), failures)


def _of_household(
    grid: MessageGrid, nodes: Sequence[str], question: Message, fault: Fault
) -> SumResult | None:
    """Add up what clients of one process answered in one message; None if each has to be asked."""
    of_many: Callable[[Integers], list[str | None]] | None = getattr(fault, "of_many", None)
    reply = None if of_many is None else ask_together(grid, nodes, question)
    numbers = None if reply is None else reply.body.get("numbers")  # (length, clients)
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "iu" or numbers.dtype == np.uint64:
        return None
    if of_many is None or numbers.ndim != 2 or numbers.shape[1] != len(nodes):
        return None
    wrong = of_many(numbers.T)
    failures = {node: why for node, why in zip(nodes, wrong, strict=True) if why is not None}
    if failures:
        numbers = numbers[:, [why is None for why in wrong]]
    kept = tuple(node for node in nodes if node not in failures)
    return SumResult(numbers.sum(axis=1, dtype=np.int64), kept, failures)


def _stacked(
    answers: Mapping[str, Message], failures: dict[str, str]
) -> Iterator[tuple[list[str], Integers]]:
    """Give the clients' numbers, those of one length together; the length that most have comes last."""
    sizes: dict[int, list[str]] = {}
    for node, reply in answers.items():
        numbers = reply.body.get("numbers")
        if not isinstance(numbers, np.ndarray) or numbers.dtype.kind != "i" or numbers.ndim != 1:
            failures[node] = "no whole numbers in the answer"
        else:
            sizes.setdefault(len(numbers), []).append(node)
    for nodes in sorted(sizes.values(), key=len):
        yield nodes, np.stack([answers[node].body["numbers"] for node in nodes])


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
