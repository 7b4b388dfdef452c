"""Trees over columns as Mondrian climbs them: which children does the lowest node over a segment have?

Rows lie as leaves here, -1 for a missing value. Missing values and all others are the two children of
a place above the root, so that a segment that mixes them covers the whole column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner
from mahrem.arrays.cutting._forest import Forest
from mahrem.arrays.cutting._layout import number
from mahrem.arrays.cutting._select import nth, signed
from mahrem.types import Floats, Integers

__all__ = ["Branches", "branch_out", "half_of", "largest_child", "leaf_of", "no_branches", "share_over"]

_U = np.uint64


class Branches(NamedTuple):
    """A :class:`Forest` with its nodes numbered from left to right, and the leaves each of them spans."""

    first: Integers  # (d,) where the column's block begins; -1 = no tree
    leaves: Integers  # (d,)
    levels: Integers  # (d,)
    nodes: NDArray[np.int32]  # at first + level * leaves + leaf: the node over the leaf
    begin: NDArray[np.int32]  # the first leaf under that node
    end: NDArray[np.int32]  # the last leaf under it
    shares: Floats  # how much of the column it covers


def branch_out(forest: Forest) -> Branches:
    """Number the nodes of every level from left to right and note which leaves they span."""
    parts: list[NDArray[np.int32]] = [np.empty((3, 0), np.int32)]
    for first, leaves, levels in zip(forest.first, forest.leaves, forest.levels, strict=True):
        if first < 0:
            continue
        block = forest.nodes[first : first + levels * leaves].reshape(levels, leaves)
        opens = np.ones((levels, leaves), np.bool_)
        opens[:, 1:] = block[:, 1:] != block[:, :-1]
        closes = np.ones((levels, leaves), np.bool_)
        closes[:, :-1] = opens[:, 1:]
        places = np.arange(leaves)
        begin = np.maximum.accumulate(np.where(opens, places, 0), axis=1)
        end = np.minimum.accumulate(np.where(closes, places, leaves)[:, ::-1], axis=1)[:, ::-1]
        stacked = np.stack([opens.cumsum(axis=1) - 1, begin, end]).reshape(3, -1)
        parts.append(stacked.astype(np.int32))
    nodes, begin, end = np.concatenate(parts, axis=1)
    return Branches(forest.first, forest.leaves, forest.levels, nodes, begin, end, forest.shares)


def no_branches(columns: int) -> Branches:
    """Say that no column has a tree."""
    none = np.zeros(columns, np.int64)
    return branch_out(Forest(none - 1, none, none.copy(), np.empty(0, np.int64), np.empty(0)))


@inner
def leaf_of(key: int, leaves: int) -> int:
    """Turn the key of a place on the scaled axis into its leaf; -1 = a missing value, below all places."""
    place = number(key)
    return -1 if place < 0 else signed(np.rint(place * (leaves - 1)))


@inner
def _below(branches: Branches, column: int, low: int, high: int) -> int:
    """Find the level of the children of the lowest node over two different leaves; gives its place."""
    leaves = branches.leaves[column]
    place = branches.first[column]
    while branches.nodes[place + leaves + low] != branches.nodes[place + leaves + high]:
        place += leaves
    return signed(place)


@inner
def share_over(branches: Branches, column: int, low: int, high: int) -> float:
    """Say how much of the column the lowest node over two leaves covers; missing beside present: all."""
    if low == high:
        return 0.0
    if low < 0:
        return 1.0
    return float(branches.shares[_below(branches, column, low, high) + branches.leaves[column] + low])


@inner
def _larger_side(leaves: Integers, start: int, size: int) -> tuple[int, int]:
    """Say whether more values are missing or present; gives how many, and the least leaf of those."""
    missing = 0
    for i in range(_U(start), _U(start + size)):
        missing += leaves[i] < 0
    return (missing, -1) if 2 * missing >= size else (size - missing, 0)


@inner
def largest_child(
    branches: Branches,
    leaves: Integers,
    column: int,
    start: int,
    size: int,
    low: int,
    high: int,
    counts: Integers,
) -> tuple[int, int, int]:
    """Find the child of a segment's lowest node with the most rows, the first on ties.

    Args:
        branches: The trees.
        leaves: The column as leaves.
        column: Which column it is.
        start: Where the segment starts.
        size: How many rows it has.
        low: Its least leaf.
        high: Its greatest leaf, which is another one.
        counts: ``(size,)`` or more, overwritten.

    Returns:
        Its rows, its first and its last leaf.
    """
    if low < 0:
        most, side = _larger_side(leaves, start, size)
        return most, side, (branches.leaves[column] - 1 if side == 0 else -1)
    place = _below(branches, column, low, high)
    level = branches.nodes[place : place + branches.leaves[column]]
    base = signed(level[low])
    children = signed(level[high]) - base + 1
    most, best = 0, 0
    if children <= size:
        counts[:children] = 0
        for i in range(_U(start), _U(start + size)):
            counts[_U(level[_U(leaves[i])] - base)] += 1
        for child in range(children):
            if counts[child] > most:
                most, best = counts[child], child
    else:  # fewer rows than children: sorting the rows is quicker than looking at all children
        for i in range(size):
            counts[i] = level[leaves[start + i]] - base
        counts[:size].sort()
        begin = 0
        for i in range(size):
            if counts[i] != counts[begin]:
                begin = i
            if i - begin + 1 > most:
                most, best = i - begin + 1, counts[i]
    leaf = low + np.searchsorted(level[low : high + 1], base + best)
    return most, signed(branches.begin[place + leaf]), signed(branches.end[place + leaf])


@inner
def half_of(
    branches: Branches,
    leaves: Integers,
    column: int,
    start: int,
    size: int,
    minimum: int,
    low: int,
    high: int,
    scratch: Integers,
) -> int:
    """Find the border between children nearest to the median that leaves ``minimum`` rows on both sides.

    Returns:
        The last leaf before the border; ``high`` when there is no such border.
    """
    middle = nth(leaves, start, size, (size - 1) // 2, scratch)
    begin, end = (-1, -1) if middle < 0 else (0, branches.leaves[column] - 1)
    if low >= 0:
        place = _below(branches, column, low, high)
        begin, end = signed(branches.begin[place + middle]), signed(branches.end[place + middle])
    before, after = 0, 0
    for i in range(_U(start), _U(start + size)):
        before += leaves[i] < begin
        after += leaves[i] > end
    if max(before, after) < minimum:
        return high
    return begin - 1 if before >= after else end
