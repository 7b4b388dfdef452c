"""The value of a given rank without sorting: a bracket from a sample, then counting."""

from __future__ import annotations

from typing import SupportsInt

import numpy as np

from mahrem.arrays._kernel import inner
from mahrem.types import Integers

__all__ = ["nth", "signed"]

_U = np.uint64  # unsigned positions spare Numba's check for negative ones, which halves the inner loops
_LEAST = -(2**63)
FEW = 40  # up to here counting all pairs is quicker than sampling


@inner
def signed(count: SupportsInt) -> int:
    """Make an unsigned count an ordinary one: Numba takes a mix of both for a fraction."""
    return np.int64(count)  # type: ignore[return-value]  # Numba needs the type said


@inner
def nth_of_few(keys: Integers, start: int, size: int, rank: int) -> int:
    """Find the key of a rank by comparing all pairs, four at a time and without branches."""
    begin, last = _U(start), _U(size - 1)
    best = _LEAST
    for i in range(_U(0), _U(size), _U(4)):
        a = keys[begin + i]
        b = keys[begin + min(i + _U(1), last)]
        c = keys[begin + min(i + _U(2), last)]
        d = keys[begin + min(i + _U(3), last)]
        below_a, below_b, below_c, below_d = 0, 0, 0, 0
        for j in range(_U(size)):
            key = keys[begin + j]
            below_a += key < a
            below_b += key < b
            below_c += key < c
            below_d += key < d
        # the key of rank r is the largest key with at most r smaller ones
        best = max(best, a if below_a <= rank else _LEAST)
        best = max(best, b if below_b <= rank else _LEAST)
        best = max(best, c if below_c <= rank else _LEAST)
        best = max(best, d if below_d <= rank else _LEAST)
    return best


@inner
def _bracket(
    keys: Integers, start: int, size: int, rank: int, sample: Integers, turn: int
) -> tuple[int, int]:
    """Guess two keys that the key of a rank lies between; the positions looked at are pseudo-random."""
    taken, slack = 16, 3
    if size > 600:
        taken, slack = 32, 4
    if size > 8000:
        taken, slack = 64, 6
    state = _U(88172645463325252) + _U(turn)
    for i in range(taken):
        state ^= state << _U(13)
        state ^= state >> _U(7)
        state ^= state << _U(17)
        sample[i] = keys[_U(start) + (((state >> _U(32)) * _U(size)) >> _U(32))]
    middle = taken * rank // size
    low = nth_of_few(sample, 0, taken, max(middle - slack, 0))
    high = nth_of_few(sample, 0, taken, min(middle + slack, taken - 1))
    return low, high


@inner
def _keep(keys: Integers, start: int, size: int, low: int, high: int, kept: Integers) -> tuple[int, int]:
    """Copy the keys within ``[low, high]``; gives how many lie below and how many were copied."""
    below, inside = 0, _U(0)
    begin = _U(start)
    for i in range(_U(size)):
        key = keys[begin + i]
        kept[inside] = key
        below += key < low
        inside += _U((key >= low) & (key <= high))
    return below, signed(inside)


@inner
def nth(keys: Integers, start: int, size: int, rank: int, scratch: Integers) -> int:
    """Find the key of a rank among ``keys[start:start + size]``, which stay as they are.

    Args:
        keys: Keys of which a run is looked at.
        start: Where the run starts.
        size: How many keys it has.
        rank: 0 for the smallest.
        scratch: ``(3, size)`` or more, overwritten.
    """
    if size <= FEW:
        return nth_of_few(keys, start, size, rank)
    turn = 0
    while size > FEW:
        low, high = _bracket(keys, start, size, rank, scratch[2], turn)
        kept = scratch[turn % 2]
        below, inside = _keep(keys, start, size, low, high, kept)
        if rank < below:  # the bracket missed: what lies beside it is still less than all
            below, inside = _keep(keys, start, size, _LEAST, low - 1, kept)
        elif rank >= below + inside:
            below, inside = _keep(keys, start, size, high + 1, 2**63 - 1, kept)
        elif low == high:
            return low
        elif inside == size:  # nothing fell away: take the lowest key out
            below, inside = _keep(keys, start, size, low + 1, high, kept)
            if rank < below:
                return low
        keys, start, size, rank = kept, 0, inside, rank - below
        turn += 1
    return nth_of_few(keys, start, size, rank)
