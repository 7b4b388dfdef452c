"""Weighted average of weights: FedAvg, with or without the clients' pull of FedProx."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from mahrem.errors import Infeasible
from mahrem.types import Floats

if TYPE_CHECKING:
    from mahrem.federated.weights._plan import LearningPlan


class Aggregation(Protocol):
    """How weights of several clients become one model."""

    @classmethod
    def of(cls, plan: LearningPlan) -> Self:
        """Make it as a plan says."""

    def require(self, clients: int) -> None:
        """Refuse a number of clients for which the result means nothing."""

    def __call__(self, weights: Floats, rows: Floats) -> Floats:
        """Put ``(clients, size)`` weights together; ``rows`` says how many rows each client has."""


def enough(clients: int, least: int, what: str) -> None:
    """Refuse too few clients; a round without an answer to this is an error, never an empty model."""
    if clients < least:
        raise Infeasible(f"clients={clients}: {what} needs at least {least}", reached=clients)


def weighted_average(weights: Floats, rows: Floats) -> Floats:
    """Average weights, each client by its number of rows.

    Args:
        weights: ``(clients, size)``.
        rows: ``(clients,)`` rows of each, above 0.

    Guarantees:
        - Each weight lies between the smallest and largest of the clients'.

    References:
        McMahan et al.: Communication-efficient learning of deep networks from decentralized data, 2017.

    Example:
        >>> weighted_average(np.array([[0.0, 1.0], [4.0, 1.0]]), np.array([3, 1])).tolist()
        [1.0, 1.0]
    """
    mean = np.average(np.asarray(weights, np.float64), axis=0, weights=rows)
    return np.clip(mean, weights.min(axis=0), weights.max(axis=0))  # rounding may leave the range


@dataclass(frozen=True, kw_only=True)
class FedAvg:
    """:func:`weighted_average` as data.

    FedProx is the same average; its pull is the clients' part (:attr:`LearningPlan.proximal`).

    References:
        Li et al.: Federated optimization in heterogeneous networks, 2020 (FedProx).
    """

    @classmethod
    def of(cls, plan: LearningPlan) -> Self:  # noqa: ARG003 - there is nothing to say about it
        """Make one."""
        return cls()

    def require(self, clients: int) -> None:
        """Ask for one client."""
        enough(clients, 1, "an average")

    def __call__(self, weights: Floats, rows: Floats) -> Floats:
        """See :func:`weighted_average`."""
        return weighted_average(weights, rows)
