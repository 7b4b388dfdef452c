"""Classes of generalised rows: group packed keys again after some of their fields went up a level."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Floats, Integers, Mask, Matrix, Sizes

__all__ = ["Keys", "Lift", "cell_penalties", "class_figures", "nearest_finer", "regroup", "values_by_class"]

Keys = Matrix[
    NDArray[np.uint64]
]  # (m, words) the codes of all columns of a class, side by side in fields of bits

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_WORD = np.uint64(64)
_ONE = np.uint64(1)


class Lift(NamedTuple):
    """Which fields go up, and by what: a key changes by ``delta[first + field]`` in its word."""

    word: Integers  # (f,) which word of the key
    shift: NDArray[np.uint64]  # (f,) where the field begins in it
    mask: NDArray[np.uint64]  # (f,) ones as wide as the field
    first: NDArray[np.uint64]  # (f,) where the column's part of ``delta`` begins
    delta: NDArray[np.uint64]  # what is added to the word, modulo 2**64; shared by all lifts of a lattice


@inner
def _lifted(keys: Keys, lift: Lift) -> Keys:
    """Lift the fields of all keys; field by field, so that the processor does many keys at once."""
    lifted = keys.copy()
    for f in range(len(lift.word)):
        word, shift, mask = lift.word[f], lift.shift[f], lift.mask[f]
        delta = lift.delta[lift.first[f] :]
        for i in range(len(keys)):
            lifted[i, word] += delta[(keys[i, word] >> shift) & mask]
    return lifted


@kernel
def regroup(keys: Keys, counts: Sizes, lift: Lift) -> tuple[Keys, Sizes, NDArray[np.int32]]:
    """Lift the fields of all keys and put equal ones together.

    Args:
        keys: ``(m, words)`` one for each class of a finer table.
        counts: ``(m,)`` rows of each.
        lift: Which fields change, and how.

    Returns:
        Keys and counts of the coarser classes, in the order in which they are first met, and for every finer
        class the coarser one it belongs to.
    """
    finer_classes, words = keys.shape
    lifted = _lifted(keys, lift)
    bits = 4
    while (1 << bits) < 2 * finer_classes:
        bits += 1
    slots = np.full(1 << bits, -1, np.int32)
    last, down = np.uint64((1 << bits) - 1), _WORD - np.uint64(bits)
    total, into = np.empty(finer_classes, np.int64), np.empty(finer_classes, np.int32)
    classes = 0
    for i in range(finer_classes):
        mixed = lifted[i, 0] * _GOLDEN
        for word in range(1, words):
            mixed = ((mixed >> np.uint64(29)) ^ mixed ^ lifted[i, word]) * _GOLDEN
        place = mixed >> down
        while True:
            other = slots[place]
            if other < 0:  # a new class: its key moves to the front, over keys that have been read
                slots[place] = classes
                lifted[classes] = lifted[i]
                total[classes], into[i] = counts[i], classes
                classes += 1
                break
            same = lifted[other, 0] == lifted[i, 0]
            for word in range(1, words):
                same &= lifted[other, word] == lifted[i, word]
            if same:
                total[other] += counts[i]
                into[i] = other
                break
            place = (place + _ONE) & last
    return lifted[:classes].copy(), total[:classes].copy(), into


@kernel
def values_by_class(
    group: NDArray[np.int32], code: NDArray[np.uint64], counts: Sizes, chosen: Mask, values: int
) -> tuple[Integers, Integers, Integers]:
    """Sort what is counted of values by class, and by value within.

    Args:
        group: ``(m,)`` class of each.
        code: ``(m,)`` its value + 1; 0 for none, which is left out.
        counts: ``(m,)`` rows of each.
        chosen: ``(c,)`` classes that are asked about; the others are left out.
        values: How many values there are.

    Returns:
        Class, value and rows of each that is left, sorted by counting: first by value, then by class.
    """
    counted, left = np.empty(len(group), np.int64), 0
    by_value, by_class = np.zeros(values + 2, np.int64), np.zeros(len(chosen) + 1, np.int64)
    for i in range(len(group)):
        if code[i] > 0 and counts[i] > 0 and chosen[group[i]]:
            counted[left] = i
            left += 1
            by_value[code[i] + _ONE] += 1
            by_class[group[i] + 1] += 1
    by_value, by_class = np.cumsum(by_value), np.cumsum(by_class)
    in_order = np.empty(left, np.int64)
    for pair in counted[:left]:
        in_order[by_value[code[pair]]] = pair
        by_value[code[pair]] += 1
    groups, shown, rows = np.empty(left, np.int64), np.empty(left, np.int64), np.empty(left, np.int64)
    for pair in in_order:
        place = by_class[group[pair]]
        by_class[group[pair]] += 1
        groups[place], shown[place], rows[place] = group[pair], np.int64(code[pair]) - 1, counts[pair]
    return groups, shown, rows


@kernel
def nearest_finer(stored: Matrix[Integers], sizes: Sizes, count: int, levels: Integers) -> int:
    """Give the stored table with the fewest classes that is finer than ``levels`` in every column; -1 = none.

    Args:
        stored: ``(s, d)`` levels of the stored tables.
        sizes: ``(s,)`` their classes; 0 for an empty place.
        count: How many places there are to look at.
        levels: ``(d,)`` the levels wanted.
    """
    best = -1
    for i in range(count):
        if sizes[i] == 0 or (best >= 0 and sizes[i] >= sizes[best]):
            continue
        finer = True
        for column in range(len(levels)):
            if stored[i, column] > levels[column]:
                finer = False
                break
        if finer:
            best = i
    return best


@kernel
def cell_penalties(keys: Keys, counts: Sizes, chosen: Mask, lift: Lift, penalties: Floats) -> float:
    """Add up rows times penalty over the cells of the chosen classes; ``lift.delta`` is not looked at."""
    total = 0.0
    for i in range(len(keys)):
        if not chosen[i]:
            continue
        cells = 0.0
        for f in range(len(lift.word)):
            field = (keys[i, lift.word[f]] >> lift.shift[f]) & lift.mask[f]
            cells += penalties[lift.first[f] + field]
        total += cells * counts[i]
    return total


@kernel
def class_figures(sizes: Sizes, admitted: Mask) -> tuple[int, float, int, float, int, int]:
    """Give rows and squares of all classes, then number, squares, rows and smallest of those admitted."""
    rows, classes, kept, smallest = 0, 0, 0, np.iinfo(np.int64).max
    squares, kept_squares = 0.0, 0.0
    for i in range(len(sizes)):
        size = sizes[i]
        square = float(size) * float(size)
        rows += size
        squares += square
        if admitted[i]:
            classes += 1
            kept += size
            kept_squares += square
            smallest = min(smallest, size)
    return rows, squares, classes, kept_squares, kept, smallest if classes else 0
