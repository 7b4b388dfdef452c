"""Cutting one segment of rows in two: choose a column, choose a value, move the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner
from mahrem.arrays.cutting._layout import Scratch, Work, number
from mahrem.arrays.cutting._select import nth, signed
from mahrem.types import Integers

__all__ = ["cut", "divide", "extremes", "halve", "move", "next_widest", "settle"]

_U = np.uint64  # unsigned positions spare Numba's check for negative ones, which halves the inner loops


@inner
def next_widest(low: Integers, high: Integers, slot: int, previous: int) -> int:
    """Give the column after ``previous`` from wide to narrow, the first on ties; -1 = only constants left."""
    bound = np.inf
    if previous >= 0:
        bound = number(high[slot, previous]) - number(low[slot, previous])
    best, widest = -1, 0.0
    for column in range(low.shape[1]):
        width = number(high[slot, column]) - number(low[slot, column])
        if width > widest and (width < bound or (width == bound and column > previous)):
            best, widest = column, width
    return best


@inner
def divide(
    keys: Integers, column: int, start: int, size: int, value: int, index: NDArray[np.uint32], base: int
) -> int:
    """List the rows ``<= value`` from the front and the others from the back; gives how many go left."""
    begin, left, right = _U(start), _U(base), _U(base + size - 1)
    for i in range(_U(size)):
        goes = _U(keys[column, begin + i] <= value)
        index[left] = i
        index[right] = i
        left += goes
        right -= _U(1) - goes
    return signed(left) - base


@inner
def halve(
    keys: Integers,
    start: int,
    size: int,
    column: int,
    low: Integers,
    high: Integers,
    slot: int,
    scratch: Scratch,
    base: int,
) -> int:
    """List exactly half of the rows as going left; ties go by the other columns, then by position."""
    half = size // 2
    value = nth(keys[column], start, size, half - 1, scratch.keys)
    if divide(keys, column, start, size, value, scratch.listed, base) == half:
        return half
    ties, need = 0, half
    for i in range(size):
        key = keys[column, start + i]
        scratch.side[i] = key < value
        need -= key < value
        scratch.listed[base + ties] = i
        ties += key == value
    other = next_widest(low, high, slot, -1)
    while other >= 0 and need < ties:
        if other != column:
            for j in range(ties):
                scratch.keys[3, j] = keys[other, start + scratch.listed[base + j]]
            value = nth(scratch.keys[3], 0, ties, need - 1, scratch.keys)
            left = 0
            for j in range(ties):
                row, key = scratch.listed[base + j], scratch.keys[3, j]
                scratch.side[row] = key < value
                need -= key < value
                scratch.listed[base + left] = row
                left += key == value
            ties = left
        other = next_widest(low, high, slot, other)
    for j in range(need):
        scratch.side[scratch.listed[base + j]] = 1
    front, back = 0, size - 1
    for i in range(size):
        goes = scratch.side[i] > 0
        scratch.listed[base + front] = i
        scratch.listed[base + back] = i
        front += goes
        back -= 1 - goes
    return half


@inner
def move(
    values: NDArray[Any],
    start: int,
    size: int,
    left: int,
    index: NDArray[np.uint32],
    base: int,
    aside: NDArray[Any],
) -> None:
    """Bring one column of a segment into the listed order."""
    begin, middle, front, last = _U(start), _U(left), _U(base), _U(base + size - 1)
    for j in range(_U(size - left)):
        aside[j] = values[begin + _U(index[last - j])]
    for j in range(middle):
        values[begin + j] = values[begin + _U(index[front + j])]
    for j in range(_U(size - left)):
        values[begin + middle + j] = aside[j]


@inner
def extremes(keys: Integers, start: int, stop: int) -> tuple[int, int]:
    """Give the least and the greatest key of a run."""
    least = keys[start]
    greatest = least
    for i in range(_U(start), _U(stop)):
        key = keys[i]
        least = min(least, key)
        greatest = max(greatest, key)
    return least, greatest


@inner
def cut(
    keys: Integers,
    start: int,
    size: int,
    minimum: int,
    strict: bool,  # noqa: FBT001 - kernels take arguments by position
    tried: tuple[int, int, bool],
    low: Integers,
    high: Integers,
    slot: int,
    scratch: Scratch,
    base: int,
) -> tuple[int, int, int, bool]:
    """Find the next cut after the one ``tried`` that leaves ``minimum`` rows on both sides.

    Args:
        keys: Columns of keys.
        start: Where the segment starts.
        size: How many rows it has.
        minimum: Rows that each side must have.
        strict: Keep equal values on one side; else halve exactly.
        tried: Column, value and variant of the cut before; column -1 for none.
        low: Least key of every column, in row ``slot``.
        high: Greatest key of every column, in row ``slot``.
        slot: The segment's place in ``low`` and ``high``.
        scratch: Its ``listed`` names the rows that go left and right.
        base: Where in ``listed``.

    Returns:
        Rows that go left (0 = there is no further cut), column, value, and whether left is ``< value``.
    """
    column, value, below = tried
    if not strict:
        following = next_widest(low, high, slot, column)
        if column < 0 and following < 0:
            following = 0  # all rows are equal: halve by position
        if following < 0:
            return 0, column, value, below
        return halve(keys, start, size, following, low, high, slot, scratch, base), following, value, False
    while True:
        if column < 0 or below:
            column = next_widest(low, high, slot, column)
            if column < 0:
                return 0, column, value, below
            value = nth(keys[column], start, size, (size - 1) // 2, scratch.keys)
            below = False
            left = divide(keys, column, start, size, value, scratch.listed, base)
            if size - left >= minimum:
                return left, column, value, below
        below = True
        left = divide(keys, column, start, size, value - 1, scratch.listed, base)
        if left >= minimum:
            return left, column, value, below


@inner
def settle(
    work: Work,
    start: int,
    size: int,
    left: int,
    minimum: int,
    low: Integers,
    high: Integers,
    first: int,
    second: int,
    scratch: Scratch,
    base: int,
) -> None:
    """Move the rows of a segment as listed; sides that can be cut again get their extremes in two slots."""
    move(work.order, start, size, left, scratch.listed, base, scratch.rows)
    right = size - left
    if max(left, right) < 2 * minimum:
        return
    middle, stop = start + left, start + size
    for column in range(work.keys.shape[0]):
        keys = work.keys[column]
        move(keys, start, size, left, scratch.listed, base, scratch.keys[0])
        if left >= 2 * minimum:  # right after moving, while the column is still in the cache
            low[first, column], high[first, column] = extremes(keys, start, middle)
        if right >= 2 * minimum:
            low[second, column], high[second, column] = extremes(keys, middle, stop)
