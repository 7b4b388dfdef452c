"""Who shares a mask with whom: everybody with everybody while they are few, else with some, by chance."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from math import ceil, log2

import numpy as np

from mahrem.types import Integers, Mask

COMPLETE = 40  # so many clients, and everybody shares a mask with everybody
KEPT = 0.75  # of its partners that each client of a sum must keep: fewer, and those who are left may collude


@lru_cache(maxsize=8)  # clients of one process draw the same
def mask_graph(clients: int, seed: bytes) -> Integers:
    """Draw the partners of each client: ``(clients, partners)`` places, the same for all who know the seed.

    Many clients lie on some cycles in random order, and those beside a client are its partners: about three
    for every doubling of the clients. A partner may stand there twice. The chance that some honest one of
    1,000 clients is left with partners that collude, where a fifth of all do, is about 2 in a million.

    Guarantees:
        - Whose partner a client is, is its partner.
        - Without anybody missing, all are connected.

    References:
        Bell, Bonawitz, Gascon, Lepoint, Raykova: Secure single-server aggregation with (poly)logarithmic
        overhead, 2020.

    Example:
        >>> mask_graph(3, b"seed").tolist()
        [[1, 2], [0, 2], [0, 1]]
        >>> mask_graph(1000, b"seed").shape
        (1000, 26)
    """
    if clients <= COMPLETE:
        everybody = np.broadcast_to(np.arange(clients), (clients, clients))
        return everybody[~np.eye(clients, dtype=np.bool_)].reshape(clients, clients - 1)
    cycles = ceil(1.3 * log2(clients))
    drawn = hashlib.shake_256(b"mahrem-graph-1" + seed).digest(8 * cycles * clients)
    order = np.argsort(np.frombuffer(drawn, "<u8").reshape(cycles, clients), axis=1, kind="stable")
    beside = np.empty((clients, 2 * cycles), np.int64)
    for cycle, around in enumerate(order):
        beside[around, 2 * cycle] = np.roll(around, 1)
        beside[around, 2 * cycle + 1] = np.roll(around, -1)
    return beside


def holds_together(graph: Integers, there: Mask) -> bool:
    """Say whether masks hold the clients that are there together, so that no part of their sum can be read.

    Each keeps most of its partners, and from each one can reach every other. Else a server that leaves the
    right clients out would read the sum of a few.

    Example:
        >>> graph = mask_graph(1000, b"seed")
        >>> alone = np.ones(1000, np.bool_)
        >>> alone[graph[0]] = False
        >>> holds_together(graph, np.arange(1000) % 50 > 0), holds_together(graph, alone)
        (True, False)
    """
    if len(graph) <= COMPLETE or there.all():
        return True
    kept = there[graph]
    if (kept[there].sum(axis=1) < KEPT * graph.shape[1]).any():
        return False
    reached = np.zeros(len(graph), np.bool_)
    reached[np.flatnonzero(there)[:1]] = True
    while True:
        more = there & (reached | reached[graph].any(axis=1))
        if np.array_equal(more, reached):
            return bool(more.sum() == there.sum())
        reached = more
