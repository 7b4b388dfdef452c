"""Krum: the weights of the client whose nearest fellows are nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from mahrem import check
from mahrem.federated.weights._average import enough
from mahrem.types import Floats, Integers

if TYPE_CHECKING:
    from mahrem.federated.weights._plan import LearningPlan


def krum(weights: Floats, malicious: int, keep: int = 1) -> Integers:
    """Choose the clients whose weights lie nearest to those of their ``n - malicious - 2`` nearest fellows.

    Args:
        weights: ``(clients, size)``, at least ``2 * malicious + 3`` clients.
        malicious: How many may lie.
        keep: How many to choose; more than one is multi-Krum.

    Returns:
        ``(keep,)`` their numbers, best first; of equal ones the first.

    References:
        Blanchard et al.: Machine learning with adversaries: Byzantine tolerant gradient descent, 2017.

    Example:
        >>> krum(np.array([[0.0], [1.0], [2.0], [4.0], [9.0]]), 1).tolist()
        [1]
    """
    clients = len(weights)
    enough(clients, 2 * malicious + 3, f"Krum with malicious={malicious}")
    values = np.asarray(weights, np.float64)
    near = clients - malicious - 2
    scores = np.empty(clients)
    for place in range(clients):  # one row of distances at a time
        apart = np.square(values - values[place]).sum(axis=1)
        apart[place] = np.inf
        scores[place] = np.partition(apart, near - 1)[:near].sum()
    return np.argsort(scores, kind="stable")[:keep]


@dataclass(frozen=True, kw_only=True)
class Krum:
    """:func:`krum` as data; the mean of the ``keep`` best becomes the model."""

    malicious: int = 1
    keep: int = 1

    def __post_init__(self) -> None:
        check.at_least(0, malicious=check.whole(malicious=self.malicious))
        check.at_least(1, keep=check.whole(keep=self.keep))

    @classmethod
    def of(cls, plan: LearningPlan) -> Self:
        """Allow for as many liars as the plan."""
        return cls(malicious=plan.malicious)

    def require(self, clients: int) -> None:
        """Ask for ``2 * malicious + 3`` clients, and enough honest ones to keep."""
        enough(
            clients,
            max(2 * self.malicious + 3, self.keep + self.malicious),
            f"Krum with malicious={self.malicious} and keep={self.keep}",
        )

    def __call__(self, weights: Floats, rows: Floats) -> Floats:  # noqa: ARG002 - as the protocol says
        """Average the best clients' weights; numbers of rows are not used."""
        self.require(len(weights))
        best = krum(weights, self.malicious, self.keep)
        return np.asarray(np.asarray(weights, np.float64)[best].mean(axis=0))
