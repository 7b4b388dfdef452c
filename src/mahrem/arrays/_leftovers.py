"""What is left over: grouped nearest first, joined to the class that grows least, or merged with it."""

from __future__ import annotations

import numpy as np
from numba import njit

from mahrem.types import Floats, Integers, Labels, Points, Rows, Sizes

__all__ = ["group_nearest", "join_least", "least_merge"]

_BLOCK = 128  # rows within which the nearest are looked for; more are cut in two first, so that n log n holds
_DEEP = 128


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _squares(points: Points, order: Integers, start: int, size: int, origin: Floats, squares: Floats) -> None:
    for i in range(size):
        total = 0.0
        for column in range(points.shape[1]):
            difference = points[order[start + i], column] - origin[column]
            total += difference * difference
        squares[i] = total


@njit(cache=True, nogil=True)
def _take_nearest(points: Points, order: Integers, start: int, size: int, squares: Floats) -> None:
    """Order a block by the distance from the record farthest from its centre."""
    centre = np.zeros(points.shape[1])
    for i in range(start, start + size):
        centre += points[order[i]]
    _squares(points, order, start, size, centre / size, squares)
    edge = points[order[start + np.argmax(squares[:size])]]
    _squares(points, order, start, size, edge, squares)
    order[start : start + size] = order[start : start + size][np.argsort(squares[:size], kind="mergesort")]


@njit(cache=True, nogil=True)
def group_nearest(points: Points, k: int, labels: Labels) -> int:
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


@njit(cache=True, nogil=True)
def join_least(points: Points, rows: Rows, low: Floats, high: Floats, labels: Labels) -> None:
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


@njit(cache=True, nogil=True)
def least_merge(low: Floats, high: Floats, sizes: Sizes, one: int) -> int:
    """Find the class that costs least to merge with class ``one``, in rows times widths; -1 = none left."""
    best, least = -1, np.inf
    for group in range(len(low)):
        if group == one or sizes[group] == 0:
            continue
        both, own = 0.0, 0.0
        for column in range(low.shape[1]):
            both += max(high[group, column], high[one, column]) - min(low[group, column], low[one, column])
            own += high[group, column] - low[group, column]
        cost = both * (sizes[group] + sizes[one]) - own * sizes[group]
        if cost < least:
            best, least = group, cost
    return best
