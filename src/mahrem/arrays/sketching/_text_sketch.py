"""Some different texts of many, every way of writing among them, chosen by hashes: order does not matter."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, inner_with, kernel
from mahrem.types import Integers, Mask, Offsets, Written

if TYPE_CHECKING:  # this room is built where there are no frames
    import polars as pl

__all__ = ["NO_TEXT", "SHAPES", "SPREAD", "LeastTexts", "hashes_and_shapes", "stay"]

Word: TypeAlias = np.uint64
Hashes: TypeAlias = NDArray[np.uint64]
HashTable: TypeAlias = Annotated[NDArray[np.uint64], 2]
Shapes: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]

SHAPES = 1024  # ways of writing that are told apart
NO_TEXT = -1  # instead of a shape
_SLOTS = 1 << 13  # to begin with: what stays in the processor's cache
_WITHIN = np.uint64(12)  # bytes of a text that its view holds
_SEED = np.uint64(0x6D616872656D2E63)  # public: nothing is hidden by it
NOTHING = np.uint64(0xA0761D6478BD642F)  # hash of a cell without a text
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # between the cells of a row; odd: no bit of a hash is lost
_ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
# Signs of a text are counted together, seven bits a class: digits, letters, blanks, dots, dashes, and the
# telling ones, at, bracket, colon and slash.
_CLASSES = np.uint64(9)
_BITS, _MOST, _ENOUGH = np.uint64(7), np.uint64(127), np.uint64(63)
AT_ONCE, _BLOCK, _LOOKED_AT = np.uint64(127), np.uint64(60), np.uint64(4000)  # bytes
_SIGNS, _DIGITS, _BLANKS, _LETTERS = (np.uint64(256 + 128 * place) for place in range(4))  # parts of lookups


@cache
def sign_weights() -> Hashes:
    """Give what each byte adds to the counts, and what counts add to the shape.

    Digits tell a year, a postcode, a date, numbers of people and of accounts apart; of the signs the most
    telling counts.
    """
    weights = np.zeros(256, np.uint64)
    digit, letter, blank, dot, dash, at, bracket, colon, slash = (1 << 7 * place for place in range(9))
    weights[48:58] = digit
    weights[65:91] = weights[97:123] = weights[192:] = letter  # a letter of any script begins so
    weights[32], weights[45], weights[64], weights[58] = blank, dash, at, colon
    weights[[44, 46]] = dot
    weights[[40, 91, 123]] = bracket
    weights[[47, 92]] = slash
    flags = np.arange(128)[:, None] >> np.arange(7) & 1  # at, bracket, colon, dots, dashes, slash, a dot
    signs = np.where(flags.any(1), flags.argmax(1) + 1, 0)
    counts = np.arange(128)[:, None]
    digits, blanks, letters = (
        (counts > np.array(steps)).sum(1) for steps in ((0, 4, 6, 8, 10, 12, 16), (0, 1, 4), (0, 3, 24))
    )
    return np.concatenate([weights, 16 * signs, 128 * digits, 4 * blanks, letters]).astype(np.uint64)


@inner_with(inline="always")
def _stirred(word: Word) -> Word:
    """Let every bit of a word change every other: the finalizer of MurmurHash3."""
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return word ^ (word >> np.uint64(33))


@inner_with(inline="always")
def shape_of(total: Word, lookups: Hashes) -> np.int32:
    """Say how a text with such counts is written."""
    dots, dashes = (total >> np.uint64(21)) & _MOST, (total >> np.uint64(28)) & _MOST
    signs = np.uint64((total >> np.uint64(35)) & _MOST > np.uint64(0))
    signs |= np.uint64((total >> np.uint64(42)) & _MOST > np.uint64(0)) << np.uint64(1)
    signs |= np.uint64((total >> np.uint64(49)) & _MOST > np.uint64(0)) << np.uint64(2)
    signs |= np.uint64(dots >= np.uint64(3)) << np.uint64(3)
    signs |= np.uint64(dashes >= np.uint64(2)) << np.uint64(4)
    signs |= np.uint64(total >> np.uint64(56) > np.uint64(0)) << np.uint64(5)
    signs |= np.uint64(dots > np.uint64(0)) << np.uint64(6)
    shape = lookups[_SIGNS + signs] + lookups[_DIGITS + (total & _MOST)]
    shape += lookups[_BLANKS + ((total >> np.uint64(14)) & _MOST)]
    return np.int32(shape + lookups[_LETTERS + ((total >> _BITS) & _MOST)])


@inner
def count_signs(content: Bytes, start: Word, length: Word, lookups: Hashes) -> Word:
    """Count the signs of a text, a long one some bytes at a time: more than enough of a class is enough."""
    total = np.uint64(0)
    if length <= AT_ONCE:
        for place in range(length):
            total += lookups[content[start + np.uint64(place)]]
        return total
    length = min(length, _LOOKED_AT)
    for first in range(np.uint64(0), length, _BLOCK):
        for place in range(np.uint64(first), min(length, np.uint64(first) + _BLOCK)):
            total += lookups[content[start + np.uint64(place)]]
        for place in range(_CLASSES):
            by = _BITS * np.uint64(place)
            count = (total >> by) & _MOST
            if count > _ENOUGH:
                total -= (count - _ENOUGH) << by
    return total


@inner_with(inline="always")
def eight_bytes(content: Bytes, start: Word) -> Word:
    """Give eight bytes as one word: one load, as their number is known."""
    word = np.uint64(0)
    for place in range(np.uint64(8)):
        word |= np.uint64(content[start + place]) << (np.uint64(8) * place)
    return word


@inner_with(inline="always")
def view_of(content: Bytes, start: Word, length: Word) -> tuple[Word, Word]:
    """Give a text of at most twelve bytes as Arrow's view of it: its length and bytes, zeros behind them."""
    first, second = np.uint64(0), np.uint64(0)
    if start + _WITHIN <= np.uint64(len(content)):  # two loads; what is behind the text is masked
        low = eight_bytes(content, start) & np.uint64(0xFFFFFFFF)
        high = eight_bytes(content, start + np.uint64(4))
        if length <= np.uint64(4):
            first = low & ((np.uint64(1) << (np.uint64(8) * length)) - np.uint64(1))
        else:
            first, second = low, high & (_ALL_ONES >> (np.uint64(8) * (_WITHIN - length)))
    else:
        for place in range(min(length, np.uint64(4))):
            first |= np.uint64(content[start + place]) << (np.uint64(8) * place)
        for place in range(np.uint64(4), max(length, np.uint64(4))):
            second |= np.uint64(content[start + place]) << (np.uint64(8) * (place - np.uint64(4)))
    return length | first << np.uint64(32), second


@inner_with(inline="always")
def hash_view(first: Word, second: Word) -> Word:
    """Hash a text of at most twelve bytes, as its view holds them."""
    return _stirred(_stirred(first ^ _SEED) + second)


@inner_with(inline="always")
def hash_bytes(content: Bytes, start: Word, length: Word) -> Word:
    """Hash a longer text, eight bytes at a time."""
    mixed = _SEED ^ length
    for block in range(length >> np.uint64(3)):
        mixed = _stirred(mixed ^ eight_bytes(content, start + np.uint64(8) * np.uint64(block)))
    left, word = length & np.uint64(7), np.uint64(0)
    if left:  # the last eight bytes, without those that were hashed
        word = eight_bytes(content, start + length - np.uint64(8)) >> (np.uint64(64) - np.uint64(8) * left)
    return _stirred(mixed ^ word)


@kernel
def sketch_texts(
    views: Hashes,
    content: Bytes,
    bases: Offsets,
    there: Bytes,
    lookups: Hashes,
    hashes: Written[Hashes],
    shapes: Written[Shapes],
) -> None:
    """Hash every text and say how it is written: digits, letters, words, and its most telling sign.

    Texts lie as Arrow's views: two words each, a length and up to twelve bytes, or where a longer one is.

    Args:
        views: ``(2n,)`` words.
        content: Longer texts, all buffers one after the other.
        bases: Where each buffer begins.
        there: ``(n,)`` 0 where there is no text; none if all are there.
        lookups: What bytes add to counts, and counts to a shape.
        hashes: ``(n,)`` written.
        shapes: ``(n,)`` written.
    """
    low, half, byte = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(255)
    for text in range(len(hashes)):
        if len(there) and there[text] == 0:
            hashes[text], shapes[text] = NOTHING, NO_TEXT
            continue
        first, second = views[2 * text], views[2 * text + 1]
        length = first & low
        total = np.uint64(0)
        if length <= _WITHIN:
            hashes[text] = hash_view(first, second)
            for place in range(4):  # bytes behind the text are 0 and add nothing: no branch, no guess
                total += lookups[(first >> np.uint64(32 + 8 * place)) & byte]
            for place in range(8):
                total += lookups[(second >> np.uint64(8 * place)) & byte]
        else:
            start = np.uint64(bases[second & low]) + (second >> half)
            hashes[text] = hash_bytes(content, start, length)
            total = count_signs(content, start, length, lookups)
        shapes[text] = shape_of(total, lookups)


@kernel
def gather_least(
    hashes: Hashes,
    shapes: Shapes,
    first: int,
    overall: int,
    each: int,
    slots: Written[HashTable],
    by_shape: Written[HashTable],
    used: int,
) -> int:
    """Count the texts with the smallest hashes, overall and of each shape, in a table of slots.

    A text whose hash lies above the limit of its shape is left out at once. Limits only go down, so the
    counts of texts that stay are exact.

    Args:
        hashes: Of further rows.
        shapes: Of the same.
        first: The number of the first of them.
        overall: Texts that are kept whatever their shape.
        each: Texts that are kept of every shape.
        slots: ``(s, 4)`` hash, count, row and shape of a text; at most half of them are used.
        by_shape: ``(2, SHAPES)`` the limit of each shape, and its rows.
        used: How many slots are.

    Returns:
        How many slots are used; or, where too few are left, how many rows were looked at, below zero.
    """
    mask, one = np.uint64(len(slots) - 1), np.uint64(1)
    for row in range(len(hashes)):
        if shapes[row] == NO_TEXT:
            continue
        shape, key = np.uint64(shapes[row]), hashes[row]
        by_shape[1, shape] += one
        if key > by_shape[0, shape]:
            continue
        slot = key & mask
        while slots[slot, 1] and slots[slot, 0] != key:
            slot = (slot + one) & mask
        if slots[slot, 1] == 0:
            slots[slot, 0], slots[slot, 2], slots[slot, 3] = key, np.uint64(first + row), shape
            used += 1
        slots[slot, 1] += one
        if 2 * used >= len(slots):
            used = _shrink(overall, each, slots, by_shape)
            if 4 * used > len(slots):
                return -(row + 1)
    return used


@inner
def _shrink(overall: int, each: int, slots: HashTable, by_shape: HashTable) -> int:
    """Keep the smallest hashes alone, and lower the limits of shapes that lost some."""
    places = np.flatnonzero(slots[:, 1])
    order = places[np.argsort(slots[places, 0])]
    kept = slots[order]
    slots[:, 1] = np.uint64(0)
    kept_counts = np.zeros(by_shape.shape[1], np.int64)
    last = np.zeros(by_shape.shape[1], np.uint64)
    lost = np.zeros(by_shape.shape[1], np.bool_)
    used = 0
    for rank in range(len(kept)):
        shape = kept[rank, 3]
        if rank >= overall and kept_counts[shape] >= each:
            lost[shape] = True
            continue
        kept_counts[shape] += 1
        last[shape] = kept[rank, 0]
        kept[used] = kept[rank]
        used += 1
    _place(kept[:used], slots)
    for shape in range(len(kept_counts)):
        if lost[shape]:
            by_shape[0, shape] = last[shape]
    return used


@inner
def _place(kept: HashTable, slots: HashTable) -> None:
    """Put different texts into slots that are free."""
    mask, one = np.uint64(len(slots) - 1), np.uint64(1)
    for text in range(len(kept)):
        slot = kept[text, 0] & mask
        while slots[slot, 1]:
            slot = (slot + one) & mask
        slots[slot] = kept[text]


@kernel
def place_texts(kept: HashTable, slots: Written[HashTable]) -> None:
    """Put different texts, each with its hash, count, row and shape, into slots that are free."""
    _place(kept, slots)


def hashes_and_shapes(texts: pl.Series) -> tuple[Hashes, Shapes]:
    """Give a hash and a shape for every text; a cell without one has the shape ``NO_TEXT``.

    Guarantees:
        - Equal texts have equal hashes and shapes, on every machine; cells without a text share a hash.
    """
    import polars as pl

    rows = len(texts)
    hashes, shapes = np.empty(rows, np.uint64), np.empty(rows, np.int32)
    if not rows:
        return hashes, shapes
    stored = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.newest())
    _, views, *content = stored.buffers()
    longer = [np.frombuffer(part, np.uint8) for part in content]
    sketch_texts(
        np.frombuffer(views, np.uint64)[2 * stored.offset : 2 * (stored.offset + rows)],
        longer[0] if len(longer) == 1 else np.concatenate([*longer, np.empty(0, np.uint8)]),
        np.cumsum([0, *(len(part) for part in longer)]),
        texts.is_not_null().to_numpy().view(np.uint8) if texts.null_count() else np.empty(0, np.uint8),
        sign_weights(),
        hashes,
        shapes,
    )
    return hashes, shapes


class LeastTexts:
    """Some different texts of many: those with the smallest hashes, overall and of each shape.

    Args:
        overall: So many whatever their shape.
        each: So many of every shape.

    Guarantees:
        - The order of rows does not matter, except for which of equal rows is named.
        - What is chosen from parts, and then from what was chosen, is what is chosen from the whole.
    """

    def __init__(self, *, overall: int, each: int) -> None:
        self._overall, self._each = overall, each
        self._rows = self._used = 0
        self._slots = np.zeros((_SLOTS, 4), np.uint64)
        self._by_shape = np.zeros((2, SHAPES), np.uint64)
        self._by_shape[0] = _ALL_ONES

    def add(self, hashes: Hashes, shapes: Shapes) -> None:
        """Look at further rows."""
        first = 0
        while first < len(hashes):
            answer = gather_least(
                hashes[first:], shapes[first:], self._rows + first, self._overall, self._each,
                self._slots, self._by_shape, self._used,
            )  # fmt: skip
            self._used = max(answer, 0)
            if answer >= 0:
                break
            first += -answer
            self._make_room()
        self._rows += len(hashes)

    def _make_room(self) -> None:
        """Double the slots: more texts stay than they were made for."""
        kept = self._slots[self._slots[:, 1] > 0]
        self._slots = np.zeros((2 * len(self._slots), 4), np.uint64)
        place_texts(kept, self._slots)
        self._used = len(kept)

    @property
    def written(self) -> Integers:
        """``(SHAPES,)`` rows by how they are written."""
        return np.asarray(self._by_shape[1].astype(np.int64))

    def chosen(self) -> tuple[Integers, Hashes, Shapes, Integers, Mask]:
        """Give what was chosen.

        Returns:
            A row where each stands, by ascending hash; its hash and shape; in how many rows it stands; and
            which shapes have others.
        """
        kept = self._slots[self._slots[:, 1] > 0]
        kept = kept[np.argsort(kept[:, 0])]
        shapes = kept[:, 3].astype(np.int32)
        stays = stay(shapes, overall=self._overall, each=self._each)
        more = self._by_shape[0] < _ALL_ONES
        more[shapes[~stays]] = True
        kept = kept[stays]
        rows, counts = kept[:, 2].astype(np.int64), kept[:, 1].astype(np.int64)
        return rows, kept[:, 0].copy(), shapes[stays], counts, more


def stay(shapes: Shapes, *, overall: int, each: int) -> Mask:
    """Mark what is among the first overall, or among the first of its shape; they come by ascending hash."""
    ranks = np.zeros(len(shapes), np.int64)
    order = np.argsort(shapes, kind="stable")
    by_shape = shapes[order]
    first = np.ones(len(shapes), np.bool_)
    first[1:] = by_shape[1:] != by_shape[:-1]
    starts = np.flatnonzero(first)
    ranks[order] = np.arange(len(shapes)) - np.repeat(starts, np.diff(np.append(starts, len(shapes))))
    return np.asarray((np.arange(len(shapes)) < overall) | (ranks < each))
