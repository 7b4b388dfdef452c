"""FP-growth: frequent sets by a tree of shared beginnings, which has a count by class at each node."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.mining._bits import Bits, ItemMatrix, count_items
from mahrem.arrays.mining._itemsets import in_canonical_order, is_frequent, spelt
from mahrem.types import Codes, Integers, Matrix, Written

__all__ = ["fp_growth_sets"]

_ROOM = 1 << 15


@inner
def _insert(
    path: Integers,
    length: int,
    weight: Integers,
    nodes: Integers,  # (room, 5): rank, parent, first child, next sibling, next of the same rank
    counts: Integers,
    heads: Integers,
    used: int,
) -> int:
    """Add one path of rising ranks to a tree; gives how many nodes it now has."""
    node = 0
    for place in range(length):
        child = nodes[node, 2]
        while child >= 0 and nodes[child, 0] != path[place]:
            child = nodes[child, 3]
        if child < 0:
            child = used
            used += 1
            nodes[child] = (path[place], node, -1, nodes[node, 2], heads[path[place]])
            counts[child] = 0
            nodes[node, 2] = child
            heads[path[place]] = child
        node = child
        counts[node] += weight
    return used


@kernel
def _grow(  # noqa: C901, PLR0912, PLR0915 - a tree of trees
    nodes: Matrix[Integers],
    counts: Matrix[Integers],
    heads: Integers,
    depth: int,
    parent: int,
    limits: Integers,
    parents: Written[Integers],
    lasts: Written[Integers],
    all_counts: Written[Matrix[Integers]],
    count: int,
) -> int:
    """Record every frequent rank of a tree and grow the tree of what stands before it."""
    minimum, by_rule, longest = limits[0], limits[1] > 0, limits[2]
    if depth >= longest:
        return count
    ranks, classes = len(heads), counts.shape[1]
    for rank in range(ranks - 1, -1, -1):
        total = np.zeros(classes, np.int64)
        node = heads[rank]
        while node >= 0:
            total += counts[node]
            node = nodes[node, 4]
        if not is_frequent(total, minimum, by_rule):
            continue
        if count < len(parents):
            parents[count], lasts[count] = parent, rank
            all_counts[count] = total
        name = count
        count += 1
        if depth + 1 >= longest or rank == 0:
            continue
        before = np.zeros((rank, classes), np.int64)
        steps = 1
        node = heads[rank]
        while node >= 0:
            up = nodes[node, 1]
            while up > 0:
                before[nodes[up, 0]] += counts[node]
                steps += 1
                up = nodes[up, 1]
            node = nodes[node, 4]
        keeps = np.zeros(rank, np.bool_)
        for other in range(rank):
            keeps[other] = is_frequent(before[other], minimum, by_rule)
        if not keeps.any():
            continue
        inner = np.empty((steps, 5), np.int64)
        inner[0] = (-1, -1, -1, -1, -1)
        inner_counts = np.zeros((steps, classes), np.int64)
        inner_heads = np.full(rank, -1, np.int64)
        path = np.empty(rank, np.int64)
        used = 1
        node = heads[rank]
        while node >= 0:
            length = 0
            up = nodes[node, 1]
            while up > 0:
                if keeps[nodes[up, 0]]:
                    path[length] = nodes[up, 0]
                    length += 1
                up = nodes[up, 1]
            path[:length] = path[:length][::-1].copy()
            used = _insert(path, length, counts[node], inner, inner_counts, inner_heads, used)
            node = nodes[node, 4]
        count = _grow(
            inner,
            inner_counts,
            inner_heads,
            depth + 1,
            name,
            limits,
            parents,
            lasts,
            all_counts,
            count,
        )
    return count


@kernel
def _plant(
    ranked: Matrix[Codes],
    target: Integers,
    nodes: Written[Matrix[Integers]],
    counts: Written[Matrix[Integers]],
    heads: Written[Integers],
) -> int:
    """Put rows of ranks, rising and with -1 in front, into the first tree."""
    used = 1
    nodes[0] = (-1, -1, -1, -1, -1)
    path = np.empty(ranked.shape[1], np.int64)
    weight = np.zeros(counts.shape[1], np.int64)
    for row in range(len(ranked)):
        length = 0
        for place in range(ranked.shape[1]):
            if ranked[row, place] >= 0:
                path[length] = ranked[row, place]
                length += 1
        weight[target[row]] = 1
        used = _insert(path, length, weight, nodes, counts, heads, used)
        weight[target[row]] = 0
    return used


def fp_growth_sets(
    codes: Codes, target: Integers, table: Bits, minimum: int, longest: int, *, by_rule: bool = False
) -> tuple[ItemMatrix, Integers]:
    """Find all frequent sets by FP-growth; result as of :func:`mahrem.arrays.mining.eclat_sets`.

    Args:
        codes: ``(n, d)`` item of each row in each column, -1 for none.
        target: ``(n,)`` class of each row.
        table: The same rows as bits.
        minimum: Rows that make a set frequent.
        longest: Most items of a set.
        by_rule: Count the rows of the set's most frequent class instead of all its rows.

    References:
        Han, Pei, Yin: Mining frequent patterns without candidate generation, 2000.
    """
    single = np.zeros((len(table.items), table.classes), np.int64)
    count_items(table.items, table.starts, single)
    totals = single.sum(axis=1)
    weights = single.max(axis=1, initial=0) if by_rule else totals
    items = np.flatnonzero(weights >= minimum)
    items = items[np.argsort(-totals[items], kind="stable")]
    rank = np.full(len(totals) + 1, -1, np.int32)  # the last place is that of no item
    rank[items] = np.arange(len(items), dtype=np.int32)
    ranked = np.ascontiguousarray(np.sort(rank[codes], axis=1))
    room = int((ranked >= 0).sum()) + 1
    nodes, counts = np.empty((room, 5), np.int64), np.zeros((room, table.classes), np.int64)
    heads = np.full(len(items), -1, np.int64)
    used = _plant(ranked, target, nodes, counts, heads)
    nodes, counts = nodes[:used].copy(), counts[:used].copy()
    limits = np.array([minimum, by_rule, longest], np.int64)
    room = _ROOM
    while True:
        parents, lasts = np.empty(room, np.int64), np.empty(room, np.int64)
        held = np.empty((room, table.classes), np.int64)
        count = _grow(nodes, counts, heads, 0, -1, limits, parents, lasts, held, 0)
        if count <= room:
            return in_canonical_order(spelt(parents[:count], items[lasts[:count]], longest), held[:count])
        room = count
