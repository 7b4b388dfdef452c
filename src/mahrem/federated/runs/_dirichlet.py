"""Rows shared among clients so that classes are unevenly spread."""

from __future__ import annotations

import numpy as np

from mahrem import check
from mahrem.errors import InvalidParameter
from mahrem.types import Integers


def dirichlet_rows(labels: Integers, clients: int, alpha: float, *, seed: int = 0) -> list[Integers]:
    """Share rows so that each class is spread over the clients by a draw from a Dirichlet distribution.

    Args:
        labels: ``(n,)`` class of each row.
        clients: How many clients.
        alpha: Small is uneven (most of a class at one client), large is even.
        seed: Of the draws.

    Guarantees:
        - Each row has one client, and each client has a row if there are enough.

    References:
        Hsu, Qi, Brown: Measuring the effects of non-identical data distribution for federated visual
        classification, 2019.

    Example:
        >>> parts = dirichlet_rows(np.repeat([0, 1], 50), 4, 0.5)
        >>> sorted(np.concatenate(parts).tolist()) == list(range(100))
        True
    """
    check.at_least(1, clients=check.whole(clients=clients))
    if not 0 < check.finite(alpha=alpha) <= 1e6:
        raise InvalidParameter(f"alpha={alpha!r} must be above 0 and at most 1e6")
    rng = np.random.default_rng(seed)
    owner = np.empty(len(labels), np.int64)
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        ends = np.cumsum(rng.dirichlet(np.full(clients, alpha)))[:-1]
        owner[rows] = np.searchsorted(ends, (np.arange(len(rows)) + 0.5) / len(rows))
    _nobody_empty(owner, clients)
    return [np.flatnonzero(owner == client) for client in range(clients)]


def _nobody_empty(owner: Integers, clients: int) -> None:
    """Give a row of the largest client to each that has none."""
    sizes = np.bincount(owner, minlength=clients)
    for empty in np.flatnonzero(sizes == 0):
        largest = int(sizes.argmax())
        if sizes[largest] < 2:
            return
        owner[np.flatnonzero(owner == largest)[-1]] = empty
        sizes[largest] -= 1
        sizes[empty] += 1
