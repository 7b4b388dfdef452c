"""Equal keys among many, by a hash table that grows with how many different ones there are."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Integers, Written

__all__ = ["number_keys"]

Keys: TypeAlias = NDArray[np.uint64]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_DOWN = np.uint64(32)
_BITS = 12  # of the first table: few keys stay in the processor's cache


@inner
def _slot_of(key: np.uint64, down: np.uint64) -> np.int64:
    return np.int64(((key ^ (key >> _DOWN)) * _SPREAD) >> down)


@inner
def _grown(table: Keys, held: Integers, bits: int) -> tuple[Keys, Integers]:
    """Give a table of ``1 << bits`` slots with the same keys and numbers."""
    larger, numbers = np.empty(1 << bits, np.uint64), np.full(1 << bits, -1, np.int64)
    last, down = (1 << bits) - 1, np.uint64(64 - bits)
    for place in range(len(table)):
        if held[place] >= 0:
            slot = _slot_of(table[place], down)
            while numbers[slot] >= 0:
                slot = (slot + 1) & last
            larger[slot], numbers[slot] = table[place], held[place]
    return larger, numbers


@kernel
def number_keys(keys: Keys, numbers: Written[Integers]) -> int:
    """Number rows so that two have the same number exactly where their keys are equal.

    Args:
        keys: ``(n,)`` one for each row.
        numbers: ``(n,)`` written: 0 and up, in the order in which keys first come.

    Returns:
        How many numbers there are.
    """
    bits = _BITS
    table, held = np.empty(1 << bits, np.uint64), np.full(1 << bits, -1, np.int64)
    last, down = (1 << bits) - 1, np.uint64(64 - bits)
    found = 0
    for row in range(len(keys)):
        key = keys[row]
        slot = _slot_of(key, down)
        while held[slot] >= 0 and table[slot] != key:
            slot = (slot + 1) & last
        if held[slot] < 0:
            table[slot], held[slot] = key, found
            found += 1
        numbers[row] = held[slot]
        if 2 * found > last:
            bits += 1
            table, held = _grown(table, held, bits)
            last, down = (1 << bits) - 1, np.uint64(64 - bits)
    return found
