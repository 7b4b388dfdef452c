"""Weighted average of weights: FedAvg, and FedProx, which holds clients near the model they were given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from mahrem import check
from mahrem.errors import Infeasible
from mahrem.types import Floats

__all__ = ["Aggregation", "FedAvg", "FedProx", "enough", "weighted_average"]


class Aggregation(Protocol):
    """How weights of several clients become one model."""

    linear: ClassVar[bool]  # a weighted sum is all it needs, so it works on a secure sum

    @property
    def proximal(self) -> float:
        """How strongly clients are held near the model they were given."""

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
    found = np.average(np.asarray(weights, np.float64), axis=0, weights=rows)
    return np.clip(found, weights.min(axis=0), weights.max(axis=0))  # rounding may leave the range


@dataclass(frozen=True, kw_only=True)
class FedAvg:
    """:func:`weighted_average` as data."""

    linear: ClassVar[bool] = True
    proximal: ClassVar[float] = 0.0

    def require(self, clients: int) -> None:
        """Ask for one client."""
        enough(clients, 1, "an average")

    def __call__(self, weights: Floats, rows: Floats) -> Floats:
        """See :func:`weighted_average`."""
        return weighted_average(weights, rows)


@dataclass(frozen=True, kw_only=True)
class FedProx:
    """The same average; each client's loss gains ``proximal / 2`` times its squared distance from the model.

    References:
        Li et al.: Federated optimization in heterogeneous networks, 2020.
    """

    proximal: float = 0.01
    linear: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.between(0, 1000, proximal=check.finite(proximal=self.proximal))

    def require(self, clients: int) -> None:
        """Ask for one client."""
        enough(clients, 1, "an average")

    def __call__(self, weights: Floats, rows: Floats) -> Floats:
        """See :func:`weighted_average`."""
        return weighted_average(weights, rows)
