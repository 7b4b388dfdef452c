"""Rows that are equal in some of their columns, by a hash table that compares the values themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Integers, Mask, Matrix, Rows, Written

__all__ = ["number_equal"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_DOWN = np.uint64(29)


@inner
def _hash_of(codes: Matrix[NDArray[np.int32]], row: int, kept: Mask) -> np.uint64:
    mixed = np.uint64(0)
    for column in range(len(kept)):
        if kept[column]:
            mixed = ((mixed >> _DOWN) ^ mixed ^ np.uint64(codes[row, column] + 2)) * _GOLDEN
    return mixed


@inner
def _same(codes: Matrix[NDArray[np.int32]], row: int, other: int, kept: Mask) -> bool:
    for column in range(len(kept)):
        if kept[column] and codes[row, column] != codes[other, column]:
            return False
    return True


@kernel
def number_equal(codes: Matrix[NDArray[np.int32]], rows: Rows, kept: Mask, numbers: Written[Integers]) -> int:
    """Number some rows so that two have the same number exactly where they are equal in the kept columns.

    Args:
        codes: ``(n, d)`` values of all rows; -1 and above.
        rows: ``(m,)`` the rows asked about.
        kept: ``(d,)`` the columns that count.
        numbers: ``(m,)`` written: 0 and up, in the order in which rows come.

    Returns:
        How many numbers there are.
    """
    bits = 4
    while (1 << bits) < 2 * len(rows):
        bits += 1
    slots = np.full(1 << bits, -1, np.int32)
    last, down = (1 << bits) - 1, np.uint64(64 - bits)
    count = 0
    for place in range(len(rows)):
        row = rows[place]
        slot = np.int64(_hash_of(codes, row, kept) >> down)
        while True:
            other = slots[slot]
            if other < 0:
                slots[slot] = place
                numbers[place] = count
                count += 1
                break
            if _same(codes, row, rows[other], kept):
                numbers[place] = numbers[other]
                break
            slot = (slot + 1) & last
    return count
