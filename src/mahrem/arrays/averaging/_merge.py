"""Merge groups that may not stand, split groups that are larger than they need to be."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner
from mahrem.arrays.averaging._lloyd import least, measure
from mahrem.types import Floats, Integers, Labels, Points, Rows, Sizes

__all__ = ["INNER", "OUTER", "SINGLE", "merge_small", "split_large", "split_rows"]

INNER, OUTER, SINGLE = 0, 1, 2
_FAR = 1e150  # where a group that is no more lies: its square is still a number


@inner
def _partner(one: int, columns: Floats, sizes: Sizes, needed: int, by_loss: bool, room: Floats) -> int:  # noqa: FBT001
    """Find the group to merge with, -1 if there is none: the nearest centre, or the least growth of SSE.

    Only groups that reach ``needed`` rows together with this one are looked at.
    """
    point = np.empty(len(columns))
    for column in range(len(columns)):
        point[column] = columns[column, one]
    measure(columns, point, room)
    for other in range(len(sizes)):
        if other == one or sizes[other] == 0 or sizes[one] + sizes[other] < needed:
            room[other] = np.inf
        elif by_loss:
            room[other] *= sizes[one] * sizes[other] / (sizes[one] + sizes[other])
    partner = least(room.view(np.int64))
    return partner if room[partner] < np.inf else -1


@inner
def _unite(one: int, into: int, columns: Floats, sizes: Sizes, target: Integers) -> None:
    """Merge a group into another."""
    both = sizes[one] + sizes[into]
    for column in range(len(columns)):
        columns[column, into] += (columns[column, one] - columns[column, into]) * (sizes[one] / both)
        columns[column, one] = _FAR
    sizes[one], sizes[into] = 0, both
    target[one] = into


@inner
def _follow(target: Integers) -> None:
    """Lead every group to the one it ended in."""
    for group in range(len(target)):
        end = group
        while target[end] != end:
            end = target[end]
        target[group] = end


@inner
def merge_small(columns: Floats, sizes: Sizes, minimum: int, order: int, by_loss: bool) -> Integers:  # noqa: FBT001
    """Merge groups below the minimum with others; gives the group each one ended in.

    Args:
        columns: ``(d, c)`` centres, changed.
        sizes: ``(c,)`` rows in each group, changed; 0 = there is none.
        minimum: Rows a group needs.
        order: INNER: one group after the other, each until it is large enough. OUTER: all small ones once,
            again and again. SINGLE: each once, with a group that makes it large enough if there is one.
        by_loss: Take the partner that makes SSE grow least; else the one with the nearest centre.
    """
    room = np.empty(len(sizes))
    target = np.arange(len(sizes))
    alive = 0
    for group in range(len(sizes)):
        alive += sizes[group] > 0
    merged = True
    while merged and alive > 1:
        merged = False
        for group in range(len(sizes)):
            while 0 < sizes[group] < minimum and alive > 1:
                into = _partner(group, columns, sizes, minimum if order == SINGLE else 0, by_loss, room)
                if into < 0:
                    into = _partner(group, columns, sizes, 0, by_loss, room)
                merged, alive = True, alive - 1
                if order == INNER:  # the other one comes in, and this one goes on growing
                    _unite(into, group, columns, sizes, target)
                else:
                    _unite(group, into, columns, sizes, target)
    _follow(target)
    return target


@inner
def _centre(points: Points, rows: Rows) -> Floats:
    middle = np.zeros(points.shape[1])
    for column in range(len(middle)):
        for i in range(len(rows)):
            middle[column] += points[rows[i], column]
        middle[column] /= len(rows)
    return middle


@inner
def _apart(points: Points, rows: Rows, point: Floats, room: Floats) -> None:
    for i in range(len(rows)):
        total = 0.0
        for column in range(len(point)):
            total += (points[rows[i], column] - point[column]) ** 2
        room[i] = total


@inner
def _first(values: Floats, part: Integers) -> int:
    """Find the first of the smallest values among those without a group."""
    best = -1
    for i in range(len(values)):
        if part[i] < 0 and (best < 0 or values[i] < values[best]):
            best = i
    return best


@inner
def split_rows(points: Points, rows: Rows, size: int, part: Integers) -> int:
    """Sort some rows into groups by MDAV+; gives how many there are, and the group of each in ``part``."""
    count = len(rows)
    far, near = np.empty(count), np.empty(count)
    _apart(points, rows, _centre(points, rows), far)
    for i in range(count):
        far[i] = -far[i]
        part[i] = -1
    groups, left = 0, count
    centres = np.full((points.shape[1], count // size), _FAR)
    room = np.empty(count // size)
    taken = np.empty(size, np.int32)
    while left >= size:
        _apart(points, rows, points[rows[_first(far, part)]], near)
        for turn in range(size):
            best = _first(near, part)
            part[best] = groups
            taken[turn] = rows[best]
        centre = _centre(points, taken)
        for column in range(len(centre)):
            centres[column, groups] = centre[column]
        groups += 1
        left -= size
    for i in range(count):
        if part[i] < 0:
            measure(centres, points[rows[i]], room)
            part[i] = least(room.view(np.int64))
    return groups


@inner
def split_large(points: Points, labels: Labels, groups: int, minimum: int) -> int:
    """Split every group of ``2 * minimum`` rows or more by MDAV+, in place; gives how many there are then."""
    sizes, ends, fill = np.zeros(groups, np.int64), np.empty(groups, np.int64), np.empty(groups, np.int64)
    for row in range(len(labels)):
        sizes[labels[row]] += 1
    total = 0
    for group in range(groups):
        fill[group] = total
        total += sizes[group]
        ends[group] = total
    rows = np.empty(len(labels), np.int32)
    for row in range(len(labels)):
        rows[fill[labels[row]]] = row
        fill[labels[row]] += 1
    part = np.empty(len(labels), np.int64)
    count = groups
    for group in range(groups):
        if sizes[group] >= 2 * minimum:
            mine = rows[ends[group] - sizes[group] : ends[group]]
            parts = split_rows(points, mine, minimum, part)
            for i in range(len(mine)):
                if part[i] > 0:
                    labels[mine[i]] = count + part[i] - 1
            count += parts - 1
    return count
