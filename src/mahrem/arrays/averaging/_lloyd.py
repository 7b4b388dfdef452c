"""Lloyd's algorithm: every row to its nearest centre, every centre to the middle of its rows."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Floats, Integers, Labels, Mask, Matrix, Points, Sizes, Written

__all__ = ["assign", "least", "lloyd", "measure", "middles", "spread_centres"]

_U = np.uint64
_MOST = 2**63 - 1


@inner
def measure(columns: Floats, point: Floats, room: Floats) -> None:
    """Write the squared distances of a point to all centres, given as columns ``(d, c)``."""
    count = _U(columns.shape[1])
    for centre in range(count):
        room[centre] = 0.0
    for column in range(columns.shape[0]):
        values, at = columns[column], point[column]
        for centre in range(count):
            gap = values[centre] - at
            room[centre] += gap * gap


@inner
def least(bits: Integers) -> int:
    """Find the first of the smallest; numbers not below zero are in the order of their bits."""
    best = _MOST
    for i in range(_U(len(bits))):
        best = min(best, bits[i])
    for i in range(len(bits)):
        if bits[i] == best:
            return i
    return 0


@kernel
def assign(points: Points, columns: Matrix[Floats], labels: Written[Labels]) -> int:
    """Give every row its nearest centre, the first of equal ones; gives how many rows changed."""
    room = np.empty(columns.shape[1])
    bits = room.view(np.int64)
    changed = 0
    for row in range(len(points)):
        measure(columns, points[row], room)
        label = least(bits)
        changed += label != labels[row]
        labels[row] = label
    return changed


@inner
def _reassign(points: Points, columns: Floats, moved: Mask, labels: Labels) -> int:
    """Do what :func:`assign` does, when only some centres have moved since.

    A row whose own centre has not moved can only change to one that has.
    """
    which, count = np.empty(len(moved), np.int64), 0
    for centre in range(len(moved)):
        if moved[centre]:
            which[count] = centre
            count += 1
    near = np.empty((columns.shape[0], count))
    for column in range(len(near)):
        for i in range(count):
            near[column, i] = columns[column, which[i]]
    room, few = np.empty(columns.shape[1]), np.empty(count)
    changed = 0
    for row in range(len(points)):
        label = labels[row]
        if moved[label]:
            measure(columns, points[row], room)
            label = least(room.view(np.int64))
        elif count > 0:
            own = 0.0
            for column in range(len(columns)):
                own += (columns[column, label] - points[row, column]) ** 2
            measure(near, points[row], few)
            i = least(few.view(np.int64))
            if few[i] < own or (few[i] == own and which[i] < label):
                label = which[i]
        changed += label != labels[row]
        labels[row] = label
    return changed


@kernel
def middles(points: Points, labels: Labels, columns: Written[Matrix[Floats]], sizes: Written[Sizes]) -> None:
    """Move every centre to the mean of its rows; one without rows stays where it is."""
    for centre in range(len(sizes)):
        sizes[centre] = 0
    for row in range(len(points)):
        sizes[labels[row]] += 1
    for column in range(len(columns)):
        for centre in range(len(sizes)):
            if sizes[centre] > 0:
                columns[column, centre] = 0.0
        for row in range(len(points)):
            columns[column, labels[row]] += points[row, column]
        for centre in range(len(sizes)):
            columns[column, centre] /= max(sizes[centre], 1)


@kernel
def lloyd(points: Points, columns: Written[Matrix[Floats]], most: int, labels: Written[Labels]) -> int:
    """Move the centres until no row changes; gives how many rounds that took.

    Args:
        points: ``(n, d)``.
        columns: ``(d, c)`` centres, moved.
        most: Rounds at most.
        labels: ``(n,)`` the nearest centre of each row, written; -1 at first.
    """
    sizes = np.empty(columns.shape[1], np.int64)
    moved, before = np.ones(columns.shape[1], np.bool_), np.empty(columns.shape)
    for turn in range(most):
        changed = assign(points, columns, labels) if turn == 0 else _reassign(points, columns, moved, labels)
        if changed == 0:
            return turn
        for column in range(len(columns)):
            for centre in range(len(moved)):
                before[column, centre] = columns[column, centre]
        middles(points, labels, columns, sizes)
        for centre in range(len(moved)):
            moved[centre] = False
            for column in range(len(columns)):
                moved[centre] |= before[column, centre] != columns[column, centre]
    return most


@kernel
def spread_centres(points: Points, drawn: Floats, chosen: Written[Integers]) -> None:
    """Choose rows as centres, each with a chance that grows with its distance to those chosen (k-means++).

    Args:
        points: ``(n, d)``.
        drawn: ``(c,)`` uniform numbers in [0, 1).
        chosen: ``(c,)`` the rows, written. Where all rows lie on chosen ones, any row.
    """
    apart = np.full(len(points), np.inf)
    for turn in range(len(chosen)):
        row = int(drawn[turn] * len(points))
        total = 0.0 if turn == 0 else apart.sum()
        if total > 0.0:
            wanted, row = drawn[turn] * total, 0
            for i in range(len(points)):  # rows on a centre have no chance
                if apart[i] > 0.0:
                    row = i
                    wanted -= apart[i]
                    if wanted < 0.0:
                        break
        chosen[turn] = row
        for i in range(len(points)):
            gap = 0.0
            for column in range(points.shape[1]):
                gap += (points[i, column] - points[row, column]) ** 2
            apart[i] = min(apart[i], gap)
