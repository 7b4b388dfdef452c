"""What is left over: grouped nearest first, joined to the class that grows least, or merged if refused."""

from __future__ import annotations

import numpy as np

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Floats, Integers, Labels, Mask, Matrix, Offsets, Points, Rows, Sizes, Written

__all__ = ["group_nearest", "join_least", "merge_refused"]

_BLOCK = 128  # rows within which the nearest are looked for; more are cut in two first, so that n log n holds
_DEEP = 128


@inner
def _widest(points: Points, order: Integers, start: int, size: int) -> int:
    best, widest = 0, -1.0
    for column in range(points.shape[1]):
        low = high = points[order[start], column]
        for i in range(start + 1, start + size):
            low = min(low, points[order[i], column])
            high = max(high, points[order[i], column])
        if high - low > widest:
            best, widest = column, high - low
    return best


@inner
def _squares(points: Points, order: Integers, start: int, size: int, origin: Floats, squares: Floats) -> None:
    for i in range(size):
        total = 0.0
        for column in range(points.shape[1]):
            difference = points[order[start + i], column] - origin[column]
            total += difference * difference
        squares[i] = total


@inner
def _take_nearest(points: Points, order: Integers, start: int, size: int, squares: Floats) -> None:
    """Order a block by the distance from the record farthest from its centre."""
    centre = np.zeros(points.shape[1])
    for i in range(start, start + size):
        centre += points[order[i]]
    _squares(points, order, start, size, centre / size, squares)
    edge = points[order[start + np.argmax(squares[:size])]]
    _squares(points, order, start, size, edge, squares)
    order[start : start + size] = order[start : start + size][np.argsort(squares[:size], kind="mergesort")]


@kernel
def group_nearest(points: Points, k: int, labels: Written[Labels]) -> int:
    """Label all records, ``n // k`` classes of ``k`` and the last with the rest; gives how many classes.

    Within a block the record farthest from the centre and its ``k - 1`` nearest become a class, again and
    again; a larger block is first cut on its widest column, such that only the last part has a rest.
    """
    order = np.arange(len(points))
    squares, block = np.empty(len(points)), max(_BLOCK, 8 * k)
    first, last = np.empty(_DEEP, np.int64), np.empty(_DEEP, np.int64)
    first[0], last[0] = 0, len(points)
    top, label = 0, 0
    while top >= 0:
        start, size = first[top], last[top] - first[top]
        if size >= 2 * k and size > block and points.shape[1] > 0:
            column = _widest(points, order, start, size)
            for i in range(size):
                squares[i] = points[order[start + i], column]
            sorted_ = np.argsort(squares[:size], kind="mergesort")
            order[start : start + size] = order[start : start + size][sorted_]
            middle = start + (size // k // 2) * k
            first[top], last[top] = middle, start + size
            first[top + 1], last[top + 1] = start, middle
            top += 1
            continue
        top -= 1
        while size > 0:
            taken = k if size >= 2 * k else size
            if size >= 2 * k:
                _take_nearest(points, order, start, size, squares)
            for i in range(start, start + taken):
                labels[order[i]] = label
            label += 1
            start += taken
            size -= taken
    return label


@kernel
def join_least(
    points: Points,
    rows: Rows,
    low: Written[Matrix[Floats]],
    high: Written[Matrix[Floats]],
    labels: Written[Labels],
) -> None:
    """Give every one of ``rows`` to the class whose widths grow least; ``low`` and ``high`` grow along."""
    for row in rows:
        best, least = 0, np.inf
        for group in range(len(low)):
            growth = 0.0
            for column in range(points.shape[1]):
                value = points[row, column]
                growth += max(low[group, column] - value, 0.0) + max(value - high[group, column], 0.0)
            if growth < least:
                best, least = group, growth
        labels[row] = best
        for column in range(points.shape[1]):
            low[best, column] = min(low[best, column], points[row, column])
            high[best, column] = max(high[best, column], points[row, column])


@inner
def _cost(one: int, other: int, low: Floats, high: Floats, sizes: Sizes, by_error: bool) -> float:  # noqa: FBT001
    """Say what merging two classes adds: to the squared error, or to rows times widths."""
    total, own = 0.0, 0.0
    for column in range(low.shape[1]):
        if by_error:
            total += (low[one, column] - low[other, column]) ** 2
        else:
            total += max(high[other, column], high[one, column]) - min(low[other, column], low[one, column])
            own += high[other, column] - low[other, column]
    both = sizes[one] + sizes[other]
    cost: float = total * sizes[one] * sizes[other] / both if by_error else total * both - own * sizes[other]
    return cost


@inner
def _unite(one: int, into: int, low: Floats, high: Floats, sizes: Sizes, by_error: bool) -> None:  # noqa: FBT001
    both = sizes[one] + sizes[into]
    for column in range(low.shape[1]):
        if by_error:
            low[into, column] += (low[one, column] - low[into, column]) * (sizes[one] / both)
        else:
            low[into, column] = min(low[into, column], low[one, column])
            high[into, column] = max(high[into, column], high[one, column])
    sizes[one], sizes[into] = 0, both


@kernel
def merge_refused(
    order: Integers,
    tile_of: Integers,
    members: Rows,
    starts: Offsets,
    refused: Mask,
    low: Written[Matrix[Floats]],
    high: Written[Matrix[Floats]],
    sizes: Written[Sizes],
    by_error: bool,  # noqa: FBT001 - kernels take arguments by position
    target: Written[Integers],
) -> Mask:
    """Merge each refused class once with the class of its tile that costs least; says which ones grew.

    Args:
        order: ``(c,)`` in which order classes are looked at.
        tile_of: ``(c,)`` tile of each class.
        members: ``(c,)`` classes, tile by tile.
        starts: Tile ``i`` holds ``members[starts[i]:starts[i + 1]]``.
        refused: ``(c,)`` classes that may not stand.
        low: ``(c, d)`` least values, or centres if ``by_error``; changed.
        high: ``(c, d)`` greatest values; changed.
        sizes: ``(c,)`` rows; 0 for a class that went into another. Changed.
        by_error: Count the squared error; else rows times widths.
        target: ``(c,)`` the class each one ended in, written.

    Returns:
        ``(c,)`` classes that grew: they are judged again before they move.
    """
    grown = np.zeros(len(sizes), np.bool_)
    for group in range(len(target)):
        target[group] = group
    for one in order:
        if not refused[one] or grown[one] or sizes[one] == 0:
            continue
        best, least = -1, np.inf
        for i in range(starts[tile_of[one]], starts[tile_of[one] + 1]):
            other = members[i]
            if other != one and sizes[other] > 0:
                cost = _cost(one, other, low, high, sizes, by_error)
                if cost < least:
                    best, least = other, cost
        if best >= 0:
            _unite(one, best, low, high, sizes, by_error)
            target[one], grown[best] = best, True
    for group in range(len(target)):
        while target[target[group]] != target[group]:
            target[group] = target[target[group]]
    return grown
