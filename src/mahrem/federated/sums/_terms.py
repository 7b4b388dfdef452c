"""What was agreed about the sums of a run, and what one client needs to take part in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from mahrem.federated.sums._history import SumHistory
from mahrem.federated.wire import Message
from mahrem.types import Integers


class NumbersClient(Protocol):
    """A client whose whole numbers can be added up, in the clear or hidden."""

    open_kind: ClassVar[str]  # the one kind of question that it answers in the clear where numbers are hidden

    def answer(self, message: Message) -> Message:
        """Give the answer to a question."""

    def numbers(self, kind: str, body: Mapping[str, Any]) -> Integers:
        """Give the numbers that a question of a kind asks for."""


class SumPlan(Protocol):
    """A plan, as far as sums are concerned; see :class:`SumTerms`."""

    @property
    def sum(self) -> str:
        """Which of :data:`SUMS`."""

    @property
    def numbers(self) -> str:
        """Which of :data:`SCHEMES`: what is added up."""

    @property
    def least_clients(self) -> int | None:
        """The least clients of a sum; None where a federation has not said who its members are yet."""

    @property
    def recount(self) -> bool:
        """Whether sums of one run may be over different clients."""

    @property
    def groups(self) -> int:
        """How many groups of clients are summed, each by itself."""


@dataclass(frozen=True, kw_only=True)
class SumTerms:
    """The terms of sums by themselves, without a plan of what is learnt.

    Args:
        sum: How numbers are added: one of :data:`SUMS`.
        numbers: What they are, for those that encrypt them: one of :data:`SCHEMES`.
        least_clients: A sum of fewer is refused by each client, whatever the server says; 2 by default.
        recount: Whether sums of one run may be over different clients; see :class:`SumMembers`.
        groups: How many groups of clients are summed, each by itself.
    """

    sum: str = "masked"
    numbers: str = "counts"
    least_clients: int | None = None
    recount: bool = False
    groups: int = 1


@dataclass(frozen=True, kw_only=True)
class ClientKeys:
    """What a client has besides its table.

    Args:
        secret: The clients' key of homomorphic sums.
        sign: Signs its keys of masked sums with its long-term key, so that the server cannot put its own in
            their place; with ``verify``.
        verify: Says whether a signature of a named client is right.
        history: What it remembers of sums in earlier runs, and holds new ones against.
        members: How many clients the federation has; sums are over all of them where nothing else was agreed.
    """

    secret: bytes | None = field(default=None, repr=False)
    sign: Callable[[bytes], bytes] | None = None
    verify: Callable[[str, bytes, bytes], bool] | None = None
    history: SumHistory | None = field(default=None, repr=False)
    members: int | None = None


def least_of(plan: SumPlan, members: int | None) -> int:
    """Give the least clients of a hidden sum: what was agreed, else all members, at least 2."""
    if plan.least_clients is None:
        return 2 if plan.recount else max(2, (members or 2) // plan.groups)
    return max(2, plan.least_clients)
