"""How wide a class is in a column with a tree: the share of the lowest node over its leaves.

In such a column mosaic works with seats: 0 for a missing value, else the leaf's number plus one. How far two
seats are apart is the share of the lowest node over both leaves; a missing value and another one are a whole
column apart, as their class can only show the root. The leaves under a node are neighbours, so a class is as
wide as its least and its greatest seat are apart. Of three seats two are as far apart as all three together:
with one value more, a class is as wide as the farther of its two ends is from that value. Where leaves are
few the answer for every pair lies in a table, a row of which serves a whole loop; else levels are climbed.
"""

# ruff: noqa: FURB136 - max() and min() of floats keep Numba's loops out of wide registers
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.cutting import Branches, Forest, branch_out
from mahrem.types import Floats, Integers, Points, Written

__all__ = ["Trees", "add_boxes", "add_values", "branches_of", "no_trees", "plant", "seated", "wide"]

_LARGEST = 512  # leaves up to which a table of pairs is made: two megabytes


class Trees(NamedTuple):
    """The trees of columns, with a table of pairs of seats where that is small."""

    forest: Forest
    scale: Floats  # (d,) what a step from seat to seat counts beside numbers; 1 without a tree
    start: Integers  # (d,) where the column's table begins; -1 = none
    table: Floats  # at start + one * (leaves + 1) + other: how far the two seats are apart


def plant(forest: Forest) -> Trees:
    """Make the tables of a forest."""
    here = forest.first >= 0
    cells = np.where(here & (forest.leaves <= _LARGEST), (forest.leaves + 1) ** 2, 0)
    start = np.where(cells > 0, np.cumsum(cells) - cells, -1)
    scale = np.where(here, 1.0 / np.maximum(1, forest.leaves - 1), 1.0)
    trees = Trees(forest, scale, start, np.empty(int(cells.sum())))
    _fill(trees)
    return trees


def no_trees(columns: int) -> Trees:
    """Say that no column has a tree."""
    none = np.zeros(columns, np.int64)
    return plant(Forest(none - 1, none, none.copy(), np.empty(0, np.int64), np.empty(0)))


def branches_of(trees: Trees) -> Branches | None:
    """Give the trees as cuts want them; None if no column has one."""
    return branch_out(trees.forest) if (trees.forest.first >= 0).any() else None


def seated(points: Points, trees: Trees) -> Points:
    """Put seats for places on the scaled axis into the columns with a tree; a copy if there are any."""
    columns = np.flatnonzero(trees.forest.first >= 0)
    if len(columns) == 0:
        return points
    points = points.copy()
    for column in columns.tolist():
        places = points[:, column]
        points[:, column] = np.where(places < 0, 0.0, np.rint(places * (trees.forest.leaves[column] - 1)) + 1)
    return points


@inner
def _climb(forest: Forest, column: int, one: int, other: int) -> float:
    """Say how far two seats are apart, level by level."""
    if one == 0 or other == 0:
        return 0.0 if one == other else 1.0
    leaves = forest.leaves[column]
    for level in range(forest.levels[column]):
        place = forest.first[column] + level * leaves - 1
        if forest.nodes[place + one] == forest.nodes[place + other]:
            return float(forest.shares[place + one])
    return 1.0


@kernel
def _fill(trees: Written[Trees]) -> None:
    for column in range(len(trees.start)):
        seats = trees.forest.leaves[column] + 1
        if trees.start[column] < 0:
            continue
        for one in range(seats):
            for other in range(seats):
                place = trees.start[column] + one * seats + other
                trees.table[place] = _climb(trees.forest, column, one, other)


@inner
def wide(trees: Trees, column: int, low: float, high: float) -> float:
    """Say how much of a column a class over ``[low, high]`` covers, in seats if the column has a tree."""
    if trees.forest.first[column] < 0:
        return high - low
    if trees.start[column] < 0:
        return _climb(trees.forest, column, int(low), int(high))
    seats = trees.forest.leaves[column] + 1
    return float(trees.table[trees.start[column] + int(low) * seats + int(high)])


@inner
def _row(trees: Trees, column: int, seat: float) -> Floats:
    """Give how far all seats are from one."""
    seats = trees.forest.leaves[column] + 1
    first = trees.start[column] + int(seat) * seats
    return trees.table[first : first + seats]


@inner
def add_values(
    trees: Trees, column: int, values: Floats, low: float, high: float, weight: float, total: Floats
) -> None:
    """Add to ``total`` how wide one class, not empty, is with each of many values, times a weight."""
    if trees.start[column] < 0:
        for i in range(len(total)):
            value = values[i]
            bottom, top = (value if value < low else low), (value if value > high else high)
            total[i] += weight * wide(trees, column, bottom, top)
        return
    row, own = _row(trees, column, low), wide(trees, column, low, high)
    for i in range(len(total)):
        apart = row[np.uint32(np.int32(values[i]))]  # unsigned: no check for negative places
        total[i] += weight * (apart if apart > own else own)


@inner
def add_boxes(
    trees: Trees, column: int, value: float, low: Floats, high: Floats, weights: Floats, total: Floats
) -> None:
    """Add to ``total`` how wide each of many classes, none empty, is with one value, times its weight."""
    if trees.start[column] < 0:
        for i in range(len(total)):
            bottom, top = (value if value < low[i] else low[i]), (value if value > high[i] else high[i])
            total[i] += weights[i] * wide(trees, column, bottom, top)
        return
    row = _row(trees, column, value)
    for i in range(len(total)):
        below, above = row[np.uint32(np.int32(low[i]))], row[np.uint32(np.int32(high[i]))]
        total[i] += weights[i] * (above if above > below else below)
