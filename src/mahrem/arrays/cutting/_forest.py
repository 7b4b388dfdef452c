"""Trees over columns, packed into flat arrays: how much of a column do two of its places cover together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner
from mahrem.types import Floats, Integers

__all__ = ["Forest", "covered", "leaf_at"]


class Forest(NamedTuple):
    """A tree for some of the columns; the leaves under any node are neighbours.

    The node over a leaf at a level is ``nodes[first[column] + level * leaves[column] + leaf]``; level 0
    holds the leaves, the last level the root. ``shares`` says at the same place how much of the column the
    node covers: 0 for one leaf, else its leaves over all.
    """

    first: Integers  # (d,) where the column's block begins; -1 = no tree
    leaves: Integers  # (d,)
    levels: Integers  # (d,)
    nodes: Integers  # (sum of levels * leaves,)
    shares: Floats  # the same


@inner
def leaf_at(forest: Forest, column: int, place: float) -> int:
    """Give the leaf that stands at a place of the scaled axis; -1 = a missing value, below all places."""
    if place < 0:
        return -1
    return int(np.rint(place * (forest.leaves[column] - 1)))


@inner
def covered(forest: Forest, column: int, low: float, high: float) -> float:
    """Say how much of a column a cell over ``[low, high]`` covers: its width, or the share of its node."""
    first = forest.first[column]
    if first < 0 or low < 0:
        return high - low
    leaves = forest.leaves[column]
    start, stop = leaf_at(forest, column, low), leaf_at(forest, column, high)
    for level in range(forest.levels[column]):
        place = first + level * leaves
        if forest.nodes[place + start] == forest.nodes[place + stop]:
            return float(forest.shares[place + start])
    return 1.0
