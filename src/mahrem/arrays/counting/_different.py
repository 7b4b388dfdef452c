"""Values of a column numbered by which are the same."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import kernel
from mahrem.types import Codes, Integers, Written

__all__ = ["number_different", "number_words"]

Words: TypeAlias = NDArray[np.uint64]

_U = np.uint64
_MIXER = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
_SHARED = 4  # rows that have a value, on average, for which it is worth to know each once
_TRIED, _AGAIN = 1 << 16, 0.8  # rows that show whether values are there again, and their share from which not


@kernel
def number_words(
    words: Words, slots: Written[Codes], firsts: Written[Integers], codes: Written[Codes]
) -> int:
    """Number words by their values, in the order in which they come; gives how many are different.

    Args:
        words: ``(rows,)`` values of any kind as 64 bits.
        slots: A power of two of zeros, more than there is room for; written.
        firsts: Room for the rows where values come first; written.
        codes: ``(rows,)`` numbers; written.

    Returns:
        -1 where there are more different ones than room.
    """
    mask, count = _U(len(slots) - 1), 0
    for row in range(len(words)):
        word = words[row]
        mixed = (word ^ (word >> _HALF)) * _MIXER
        slot = (mixed ^ (mixed >> _HALF)) & mask
        number = slots[slot] - 1
        while number >= 0 and words[firsts[number]] != word:
            slot = (slot + _U(1)) & mask
            number = slots[slot] - 1
        if number < 0:
            if count == len(firsts):
                return -1
            number = np.int32(count)
            firsts[count] = row
            count += 1
            slots[slot] = np.int32(count)
        codes[row] = np.int32(number)
    return count


def number_different(words: Words) -> tuple[Integers, Codes] | None:
    """Number values where they are there again and again; None where that is not so.

    Args:
        words: ``(rows,)`` values of any kind as 64 bits.

    Returns:
        ``(different,)`` where each value comes first, and ``(rows,)`` its number in every row.

    Example:
        >>> firsts, codes = number_different(np.array([7, 9, 7, 7, 7, 9, 9, 9], np.uint64))
        >>> firsts.tolist(), codes.tolist()
        ([0, 1], [0, 1, 0, 0, 0, 1, 1, 1])
    """
    if len(words) > 2 * _TRIED and _numbered(words[:_TRIED], round(_AGAIN * _TRIED)) is None:
        return None
    return _numbered(words, len(words) // _SHARED)


def _numbered(words: Words, most: int) -> tuple[Integers, Codes] | None:
    slots = np.zeros(1 << (2 * most + 2).bit_length(), np.int32)
    firsts, codes = np.empty(most, np.int64), np.empty(len(words), np.int32)
    count = number_words(words, slots, firsts, codes)
    return None if count < 0 else (firsts[:count], codes)
