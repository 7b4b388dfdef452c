"""Lower the squared error of groups: move, swap, dissolve, split, while every group keeps its minimum.

A row at distance ``d`` (squared) from the centre of a group of ``m`` adds ``m / (m + 1) * d`` to its squared
error when it joins and takes ``m / (m - 1) * d`` away when it leaves; no change needs more than centres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.arrays.averaging._lloyd import least, measure
from mahrem.arrays.averaging._merge import split_rows
from mahrem.types import Floats, Integers, Labels, Points, Rows, Sizes, Written

__all__ = ["improve"]

_FAR = 1e150  # where a group that is no more lies: its square is still a number
_LITTLE = 1e-12  # share of the squared error that a change must gain: rounding is no gain


class Groups(NamedTuple):
    """Groups that rows come to and leave."""

    points: Points  # (n, d)
    labels: Labels  # (n,)
    members: Rows  # (g, 4 * minimum) the rows of each group
    slot: Integers  # (n,) where a row stands among its group's members
    sizes: Sizes  # (g,) 0 = the group is no more
    columns: Floats  # (d, g) centres
    weight: Floats  # (g,) m / (m + 1)
    room: Floats  # (g,)
    minimum: int


@inner
def _resize(groups: Groups, group: int, size: int) -> None:
    groups.sizes[group] = size
    groups.weight[group] = size / (size + 1.0)
    if size == 0:
        groups.weight[group] = 1.0
        for column in range(groups.columns.shape[0]):
            groups.columns[column, group] = _FAR


@inner
def _join(groups: Groups, row: int, group: int) -> None:
    size = groups.sizes[group] + 1
    for column in range(groups.columns.shape[0]):
        at = groups.columns[column, group] if size > 1 else 0.0
        groups.columns[column, group] = at + (groups.points[row, column] - at) / size
    groups.members[group, size - 1] = row
    groups.slot[row] = size - 1
    groups.labels[row] = group
    _resize(groups, group, size)


@inner
def _leave(groups: Groups, row: int) -> None:
    group = groups.labels[row]
    size = groups.sizes[group] - 1
    last = groups.members[group, size]
    groups.members[group, groups.slot[row]] = last
    groups.slot[last] = groups.slot[row]
    if size > 0:
        for column in range(groups.columns.shape[0]):
            at = groups.columns[column, group]
            groups.columns[column, group] = at + (at - groups.points[row, column]) / size
    _resize(groups, group, size)


@inner
def _settle(groups: Groups) -> None:
    """Compute all centres anew: small steps leave small errors."""
    points, columns = groups.points, groups.columns
    for group in range(len(groups.sizes)):
        size = groups.sizes[group]
        for column in range(columns.shape[0] if size > 0 else 0):
            total = 0.0
            for i in range(size):
                total += points[groups.members[group, i], column]
            columns[column, group] = total / size


@inner
def _gap(groups: Groups, row: int, group: int) -> float:
    total = 0.0
    for column in range(groups.columns.shape[0]):
        total += (groups.points[row, column] - groups.columns[column, group]) ** 2
    return total


@inner
def _error(groups: Groups, group: int) -> float:
    total = 0.0
    for i in range(groups.sizes[group]):
        total += _gap(groups, groups.members[group, i], group)
    return total


@inner
def _split(groups: Groups, group: int) -> None:
    """Split a group of twice the minimum or more; the first of the parts stays, others take free places."""
    size = groups.sizes[group]
    rows = np.empty(size, np.int32)
    for i in range(size):
        rows[i] = groups.members[group, i]
    part = np.empty(size, np.int64)
    parts = split_rows(groups.points, rows, groups.minimum, part)
    free = 0
    for new in range(1, parts):
        while groups.sizes[free] > 0:
            free += 1
        for i in range(size):
            if part[i] == new:
                _leave(groups, rows[i])
                _join(groups, rows[i], free)


@inner
def _move(groups: Groups, row: int, little: float) -> bool:
    """Move a row to the group whose error grows least, if that gains; ``room`` holds its distances."""
    own, room = groups.labels[row], groups.room
    size = groups.sizes[own]
    gain = room[own] * size / (size - 1.0)
    for group in range(len(room)):
        room[group] *= groups.weight[group]
    room[own] = np.inf
    into = least(room.view(np.int64))
    if room[into] >= gain - little:
        return False
    _leave(groups, row)
    _join(groups, row, into)
    if groups.sizes[into] >= 2 * groups.minimum:
        _split(groups, into)
    return True


@inner
def _swap(groups: Groups, row: int, tries: int, little: float) -> bool:
    """Swap a row with the best one of the nearest groups, if that gains; ``room`` holds its distances."""
    own, room, points = groups.labels[row], groups.room, groups.points
    bits = room.view(np.int64)
    here = room[own]
    room[own] = np.inf
    best, partner = -little, -1
    for _ in range(tries):
        group = least(bits)
        there = room[group]
        if there >= _FAR:
            break
        room[group] = np.inf
        share = 1.0 / groups.sizes[own] + 1.0 / groups.sizes[group]
        for i in range(groups.sizes[group]):
            other = groups.members[group, i]
            between, to_own, to_its = 0.0, 0.0, 0.0
            for column in range(points.shape[1]):
                at = points[other, column]
                between += (at - points[row, column]) ** 2
                to_own += (at - groups.columns[column, own]) ** 2
                to_its += (at - groups.columns[column, group]) ** 2
            change = to_own - to_its + there - here - between * share
            if change < best:
                best, partner = change, other
    if partner < 0:
        return False
    group = groups.labels[partner]
    _leave(groups, row)
    _leave(groups, partner)
    _join(groups, row, group)
    _join(groups, partner, own)
    return True


@inner
def _sweep(groups: Groups, tries: int, little: float) -> int:
    """Try to move or swap every row once; gives how many changes were made."""
    changed = 0
    for row in range(len(groups.points)):
        own = groups.labels[row]
        measure(groups.columns, groups.points[row], groups.room)
        if groups.room[own] == 0.0:
            continue
        if groups.sizes[own] > groups.minimum:
            if _move(groups, row, little):
                changed += 1
                continue
            if tries > 0:
                measure(groups.columns, groups.points[row], groups.room)
        if tries > 0 and _swap(groups, row, tries, little):
            changed += 1
    return changed


@inner
def _dissolve(groups: Groups, group: int, little: float) -> bool:
    """Give every row of a group to another one, each where the error grows least, if that gains in all."""
    size = groups.sizes[group]
    if size == 0:
        return False
    error, cost = _error(groups, group) - little, 0.0
    rows = np.empty(size, np.int32)
    for i in range(size):
        rows[i] = groups.members[group, i]
    moved = 0
    for i in range(size):
        measure(groups.columns, groups.points[rows[i]], groups.room)
        for other in range(len(groups.room)):
            groups.room[other] *= groups.weight[other]
        groups.room[group] = np.inf
        into = least(groups.room.view(np.int64))
        cost += groups.room[into]
        if cost >= error:
            break
        _leave(groups, rows[i])
        _join(groups, rows[i], into)
        moved += 1
    if moved < size:
        for i in range(moved):
            _leave(groups, rows[i])
            _join(groups, rows[i], group)
        return False
    for i in range(size):
        into = groups.labels[rows[i]]
        if groups.sizes[into] >= 2 * groups.minimum:
            _split(groups, into)
    return True


@kernel
def improve(points: Points, labels: Written[Labels], minimum: int, tries: int, rounds: int) -> float:
    """Change groups while that lowers their squared error; gives the error left.

    Args:
        points: ``(n, d)``.
        labels: ``(n,)`` groups ``0 .. g-1`` of ``minimum .. 2 * minimum - 1`` rows, ``g <= n // minimum``;
            changed, and afterwards some numbers below ``n // minimum`` may be unused.
        minimum: Rows each group keeps.
        tries: Groups in which a partner for a swap is looked for; 0: no swaps.
        rounds: How often all rows are looked at, at most.
    """
    slots = len(points) // minimum
    groups = Groups(
        points,
        labels,
        np.empty((slots, 4 * minimum), np.int32),
        np.empty(len(points), np.int64),
        np.zeros(slots, np.int64),
        np.full((points.shape[1], slots), _FAR),
        np.ones(slots),
        np.empty(slots),
        minimum,
    )
    for row in range(len(points)):
        _join(groups, row, labels[row])
    _settle(groups)
    error = 0.0
    for group in range(slots):
        error += _error(groups, group)
    little = error * _LITTLE
    changed = 1
    while changed > 0 and rounds > 0 and error > 0.0:
        changed = 1
        while changed > 0 and rounds > 0:
            changed = _sweep(groups, tries, little)
            _settle(groups)
            rounds -= 1
        changed = 0
        for group in range(slots):
            if _dissolve(groups, group, little):
                changed += 1
        _settle(groups)
    error = 0.0
    for group in range(slots):
        error += _error(groups, group)
    return error
