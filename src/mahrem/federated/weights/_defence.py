"""What a server's defence against single clients' updates is given, and what it says about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mahrem.types import Floats

ErrorOfWeights = Callable[[Floats], float]  # on rows that no client has


@dataclass
class JudgedUpdates:
    """The updates of one round on their way through the defences.

    Args:
        given: ``(size,)`` the weights that all clients were given.
        updates: ``(clients, size)`` what each changed; a defence may shorten them.
        reasons: Why an update does not count.
        notes: What was done to an update that may count.
        figures: What was found out about each, by field of :class:`UpdateVerdict`.
    """

    given: Floats = field(repr=False)
    updates: Floats = field(repr=False)
    reasons: list[list[str]] = field(init=False)
    notes: list[list[str]] = field(init=False)
    figures: dict[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reasons = [[] for _ in self.updates]
        self.notes = [[] for _ in self.updates]

    def refuse_above(self, figures: Floats, most: float, why: str) -> None:
        """Refuse updates whose figure is above ``most`` or no number; ``why`` says it with the figure."""
        for place in np.flatnonzero(~(figures <= most)):
            self.reasons[place].append(why.format(figures[place]))


@dataclass(frozen=True)
class Defence(ABC):
    """Looks at all updates of a round.

    Args:
        most: The value of its switch.
        error: The error of weights on held-out rows, where there are some.
    """

    most: float
    error: ErrorOfWeights | None = field(default=None, repr=False)

    def require(self, clients: int) -> None:  # noqa: B027 - most defences judge any number of clients
        """Refuse a number of clients that is too small to compare them."""

    @abstractmethod
    def judge(self, judged: JudgedUpdates) -> None:
        """Say what is wrong with updates, or change them."""
