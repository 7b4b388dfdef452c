"""Nearest and farthest of the rows still there: leaves of neighbours, each with the box around it.

A leaf whose box is too far away (or too near) is passed over. Distances and bounds are squared, and added up
column by column in the same order, so that rounding cannot put a row beyond the bound of its box: answers
are those of looking at every row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner
from mahrem.arrays.cutting import grow, signed
from mahrem.types import Floats, Integers, Matrix, Points, Rows, Sizes

__all__ = ["Pool", "farthest", "nearest", "pool_of", "take"]

_U = np.uint64
_LEAF = 16  # rows of a leaf at least: few boxes to look at against few rows in each


class Pool(NamedTuple):
    """Rows that can be found and taken away."""

    points: Points  # (n, d) all rows, as they came
    values: Matrix[Floats]  # (d, m) columns of the rows in the pool, leaf after leaf
    order: Rows  # (m,) the row at each place
    place: Integers  # (n,) the place of each row
    leaf: Integers  # (n,) the leaf of each row
    start: Integers  # (leaves,) where a leaf begins
    alive: Sizes  # (leaves,) rows still there, at the leaf's beginning
    low: Matrix[Floats]  # (d, leaves) the box
    high: Matrix[Floats]  # (d, leaves)
    bounds: Floats  # (leaves,) room for the bounds of one question
    room: Floats  # (largest leaf,) room for distances


def pool_of(points: Points, rows: Rows) -> Pool:
    """Lay the given rows out in leaves; ``rows`` are in ascending order."""
    split = grow(points[rows], _LEAF, strict=False)
    by_leaf = np.argsort(split.labels, kind="stable")
    order = rows[by_leaf].astype(np.int32)
    values = np.ascontiguousarray(points[order].T)
    alive = np.bincount(split.labels, minlength=split.classes)
    start = np.cumsum(alive) - alive
    place, leaf = np.zeros((2, len(points)), np.int64)
    place[order] = np.arange(len(order))
    leaf[order] = split.labels[by_leaf]
    return Pool(
        points=points,
        values=values,
        order=order,
        place=place,
        leaf=leaf,
        start=start,
        alive=alive,
        low=np.minimum.reduceat(values, start, axis=1),
        high=np.maximum.reduceat(values, start, axis=1),
        bounds=np.empty(split.classes),
        room=np.empty(int(alive.max())),
    )


@inner
def take(pool: Pool, row: int) -> None:
    """Take a row away; the last of its leaf fills the gap."""
    leaf = pool.leaf[row]
    pool.alive[leaf] -= 1
    gap, last = pool.place[row], pool.start[leaf] + pool.alive[leaf]
    moved = pool.order[last]
    for column in range(pool.values.shape[0]):
        pool.values[column, gap] = pool.values[column, last]
    pool.order[gap] = moved
    pool.place[moved] = gap


@inner
def _measure(pool: Pool, leaf: int, point: Floats) -> int:
    """Write the distances of a leaf's rows; gives how many there are."""
    start, count = _U(pool.start[leaf]), _U(pool.alive[leaf])
    room = pool.room
    for i in range(count):
        room[i] = 0.0
    for column in range(pool.values.shape[0]):
        values, at = pool.values[column], point[column]
        for i in range(count):
            gap = values[start + i] - at
            room[i] += gap * gap
    return signed(count)


@inner
def _insert(distance: float, row: int, held: int, most: int, apart: Floats, rows: Rows) -> int:
    """Put a row in its place among the nearest so far; of equal ones the first row is the nearer."""
    at = held if held < most else most - 1
    while at > 0 and (apart[at - 1] > distance or (apart[at - 1] == distance and rows[at - 1] > row)):
        apart[at], rows[at] = apart[at - 1], rows[at - 1]
        at -= 1
    apart[at], rows[at] = distance, row
    return min(held + 1, most)


@inner
def _search(pool: Pool, leaf: int, point: Floats, held: int, most: int, apart: Floats, rows: Rows) -> int:
    """Look for nearer rows in one leaf."""
    start = pool.start[leaf]
    for i in range(_measure(pool, leaf, point)):
        distance = pool.room[i]
        if held == most and distance > apart[most - 1]:
            continue
        row = pool.order[start + i]
        if held == most and distance == apart[most - 1] and row > rows[most - 1]:
            continue
        held = _insert(distance, row, held, most, apart, rows)
    return held


@inner
def nearest(pool: Pool, point: Floats, most: int, apart: Floats, rows: Rows) -> int:
    """Find the nearest rows of a point, the nearest first; of equal ones the first row.

    Args:
        pool: Rows to look through.
        point: ``(d,)``.
        most: How many to find.
        apart: ``(most,)`` or more; their distances.
        rows: ``(most,)`` or more; the rows.
    """
    bounds = pool.bounds
    leaves = _U(len(bounds))
    for leaf in range(leaves):
        bounds[leaf] = 0.0
    for column in range(pool.low.shape[0]):
        low, high, at = pool.low[column], pool.high[column], point[column]
        for leaf in range(leaves):
            gap = max(low[leaf] - at, at - high[leaf], 0.0)
            bounds[leaf] += gap * gap
    first, best = -1, np.inf
    for leaf in range(len(bounds)):
        if bounds[leaf] < best and pool.alive[leaf] > 0:
            first, best = leaf, bounds[leaf]
    if first < 0:
        return 0
    held = _search(pool, first, point, 0, most, apart, rows)
    for leaf in range(len(bounds)):
        if leaf != first and pool.alive[leaf] > 0 and (held < most or bounds[leaf] <= apart[most - 1]):
            held = _search(pool, leaf, point, held, most, apart, rows)
    return held


@inner
def farthest(pool: Pool, point: Floats) -> int:
    """Find the row farthest from a point; of equal ones the first row. The pool is not empty."""
    bounds = pool.bounds
    leaves = _U(len(bounds))
    for leaf in range(leaves):
        bounds[leaf] = 0.0
    for column in range(pool.low.shape[0]):
        low, high, at = pool.low[column], pool.high[column], point[column]
        for leaf in range(leaves):
            gap = max(at - low[leaf], high[leaf] - at)
            bounds[leaf] += gap * gap
    first, best = 0, -1.0
    for leaf in range(len(bounds)):
        if bounds[leaf] > best and pool.alive[leaf] > 0:
            first, best = leaf, bounds[leaf]
    best, farthest_row = -1.0, 0
    for turn in range(-1, len(bounds)):
        leaf = first if turn < 0 else turn
        if turn == first or bounds[leaf] < best:
            continue
        start = pool.start[leaf]
        for i in range(_measure(pool, leaf, point)):
            distance, row = pool.room[i], pool.order[start + i]
            if distance > best or (distance == best and row < farthest_row):
                best, farthest_row = distance, row
    return farthest_row
