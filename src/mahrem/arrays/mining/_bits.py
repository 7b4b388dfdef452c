"""Tables as bits: for each item the rows that show it, 64 rows a word, rows of one class side by side.

A class owns whole words, so that counting by class is counting in a run of words.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, kernel
from mahrem.types import Codes, Integers, Mask, Matrix, Written

__all__ = ["Bits", "ItemMatrix", "Words", "count_items", "count_sets", "pack_bits", "popcount"]

Words = NDArray[np.uint64]
ItemMatrix = Matrix[NDArray[np.int32]]  # (m, longest) items of each set in rising order, -1 behind the last

_U = np.uint64
_ONE, _SIX, _LOW = _U(1), _U(6), _U(63)


@dataclass(frozen=True)
class Bits:
    """A table of items and classes as bits; place ``p`` is bit ``p & 63`` of word ``p >> 6``."""

    items: Words = field(repr=False)  # (items, words) who shows the item
    everyone: Words = field(repr=False)  # (words,) places that are rows
    starts: Integers = field(repr=False)  # (classes + 1,) first word of each class
    place: Integers = field(repr=False)  # (n,) place of each row

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.place)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.starts) - 1

    def totals(self) -> Integers:
        """Count the rows of each class."""
        before = np.concatenate([[0], np.cumsum(np.bitwise_count(self.everyone), dtype=np.int64)])
        return np.diff(before[self.starts])

    def chosen(self, items: Integers) -> Bits:
        """Give the same table with these items only; -1 is an item that nobody shows."""
        held = self.items[np.maximum(items, 0)] if len(self.items) else self._nobody(len(items))
        if len(self.items) and (items < 0).any():
            held[items < 0] = _U(0)
        return Bits(held, self.everyone, self.starts, self.place)

    def _nobody(self, items: int) -> Words:
        return np.zeros((items, len(self.everyone)), np.uint64)


@inner
def popcount(word: np.uint64) -> int:
    """Count the ones of a word."""
    word -= (word >> _ONE) & _U(0x5555555555555555)
    word = (word & _U(0x3333333333333333)) + ((word >> _U(2)) & _U(0x3333333333333333))
    word = (word + (word >> _U(4))) & _U(0x0F0F0F0F0F0F0F0F)
    return int(np.int64((word * _U(0x0101010101010101)) >> _U(56)))


@kernel
def _set_bits(codes: Matrix[Codes], place: Integers, bits: Written[Matrix[Words]]) -> None:
    rows, columns = codes.shape
    for row in range(rows):
        word, bit = place[row] >> 6, _ONE << _U(place[row] & 63)
        for column in range(columns):
            if codes[row, column] >= 0:
                bits[codes[row, column], word] |= bit


def pack_bits(codes: Codes, items: int, target: Integers, classes: int) -> Bits:
    """Pack a table into bits.

    Args:
        codes: ``(n, d)`` item of each row in each column, -1 for none.
        items: How many items there are.
        target: ``(n,)`` class of each row.
        classes: How many classes there are.

    Guarantees:
        - Each row has one place; rows of a class stand in the table's order.

    Example:
        >>> table = pack_bits(np.array([[0], [1], [0]], np.int32), 2, np.array([1, 0, 1]), 2)
        >>> table.totals().tolist(), np.bitwise_count(table.items).tolist()
        ([1, 2], [[0, 2], [1, 0]])
    """
    sizes = np.bincount(target, minlength=classes)
    starts = np.concatenate([[0], np.cumsum((sizes + 63) // 64)]).astype(np.int64)
    order = np.argsort(target, kind="stable")
    place = np.empty(len(target), np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    within = np.arange(len(target)) - np.repeat(first, sizes)
    place[order] = np.repeat(starts[:-1] * 64, sizes) + within
    bits = np.zeros((items, starts[-1]), np.uint64)
    everyone = np.zeros((1, starts[-1]), np.uint64)
    _set_bits(np.ascontiguousarray(codes, np.int32), place, bits)
    _set_bits(np.zeros((len(target), 1), np.int32), place, everyone)
    return Bits(bits, everyone[0], starts, place)


@kernel
def count_items(bits: Matrix[Words], starts: Integers, counts: Written[Matrix[Integers]]) -> None:
    """Count by class who shows each item."""
    for item in range(len(bits)):
        for group in range(len(starts) - 1):
            total = 0
            for word in range(starts[group], starts[group + 1]):
                total += popcount(bits[item, word])
            counts[item, group] = total


@kernel
def _count_sets(
    bits: Matrix[Words],
    everyone: Words,
    starts: Integers,
    sets: ItemMatrix,
    counts: Written[Matrix[Integers]],
) -> None:
    """Count sets in lexicographic order: what two neighbours share is intersected once."""
    many, longest = sets.shape
    held = np.empty((longest + 1, len(everyone)), np.uint64)
    held[0] = everyone
    for number in range(many):
        depth = 0
        if number > 0:
            while (
                depth < longest
                and sets[number, depth] >= 0
                and sets[number, depth] == sets[number - 1, depth]
            ):
                depth += 1
        while depth < longest and sets[number, depth] >= 0:
            item = sets[number, depth]
            for word in range(len(everyone)):
                held[depth + 1, word] = held[depth, word] & bits[item, word]
            depth += 1
        for group in range(len(starts) - 1):
            total = 0
            for word in range(starts[group], starts[group + 1]):
                total += popcount(held[depth, word])
            counts[number, group] = total


def count_sets(table: Bits, sets: ItemMatrix, *, ordered: Mask | bool = False) -> Integers:
    """Count by class who shows all items of each set; the empty set is shown by all.

    Args:
        table: The table.
        sets: ``(m, longest)`` items of each set, -1 behind the last.
        ordered: The sets already come in lexicographic order, which saves sorting them.

    Example:
        >>> table = pack_bits(np.array([[0, 2], [1, 2]], np.int32), 3, np.array([0, 1]), 2)
        >>> count_sets(table, np.array([[0, 2], [2, -1], [-1, -1]], np.int32)).tolist()
        [[1, 0], [1, 1], [1, 1]]
    """
    counts = np.zeros((len(sets), table.classes), np.int64)
    if ordered or sets.shape[1] == 0:
        _count_sets(table.items, table.everyone, table.starts, sets, counts)
        return counts
    order = np.lexsort(sets.T[::-1])
    sorted_counts = np.zeros_like(counts)
    _count_sets(table.items, table.everyone, table.starts, np.ascontiguousarray(sets[order]), sorted_counts)
    counts[order] = sorted_counts
    return counts
