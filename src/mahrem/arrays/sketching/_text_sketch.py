"""Some different texts of many, every way of writing among them, chosen by hashes: order does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner, inner_with, kernel
from mahrem.types import Integers, Mask, Offsets, Written

if TYPE_CHECKING:  # this room is built where there are no frames
    import polars as pl

__all__ = ["NO_TEXT", "SHAPES", "hashes_and_shapes", "least_hashes", "stay"]

Word: TypeAlias = np.uint64
Hashes: TypeAlias = NDArray[np.uint64]
Shapes: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]

SHAPES = 1024  # ways of writing that are told apart
NO_TEXT = -1  # instead of a shape
_SLOTS = 1 << 17
_WITHIN = 12  # bytes of a text that its view holds
_SEED = np.uint64(0x6D616872656D2E63)  # public: nothing is hidden by it
_NOTHING = np.uint64(0xA0761D6478BD642F)  # hash of a cell without a text
_ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


def _weights() -> Hashes:
    """Give what each byte adds to the counts of a text, twelve bits each."""
    digits, letters, blanks, dots, dashes = (1 << (12 * place) for place in range(5))
    weights = np.zeros(256, np.uint64)
    weights[48:58] = digits
    weights[65:91] = weights[97:123] = weights[192:] = letters  # a letter of any script begins so
    weights[32] = blanks
    weights[[44, 46]] = dots
    weights[45] = dashes
    return weights


def _telling() -> Bytes:
    """Give the telling sign that each byte is: at, bracket, colon, slash."""
    marks = np.zeros(256, np.uint8)
    marks[64] = 1
    marks[[40, 91, 123]] = 2
    marks[58] = 4
    marks[[47, 92]] = 8
    return marks


@inner_with(inline="always")
def _stirred(word: Word) -> Word:
    """Let every bit of a word change every other: the finalizer of MurmurHash3."""
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    word = (word ^ (word >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return word ^ (word >> np.uint64(33))


@inner_with(inline="always")
def _shape(total: Word, marked: int) -> int:
    """Say how a text with such counts and telling signs is written."""
    twelve, bits = np.uint64(12), np.uint64(4095)
    digits = int(total & bits)
    letters = int((total >> twelve) & bits)
    blanks = int((total >> (twelve + twelve)) & bits)
    dots = int((total >> np.uint64(36)) & bits)
    dashes = int((total >> np.uint64(48)) & bits)
    signs = 7 * (dots > 0)
    if marked & 1:
        signs = 1
    elif marked & 2:
        signs = 2
    elif marked & 4:
        signs = 3
    elif dots >= 3:
        signs = 4
    elif dashes >= 2:
        signs = 5
    elif marked & 8:
        signs = 6
    # Digits: a year, a postcode, a date, numbers of people and of accounts.
    many = (digits > 0) + (digits > 4) + (digits > 6) + (digits > 8) + (digits > 10) + (digits > 12)
    many += digits > 16
    words = (blanks > 0) + (blanks > 1) + (blanks > 4)
    wordy = (letters > 0) + (letters > 3) + (letters > 24)
    return ((many * 8 + signs) * 4 + words) * 4 + wordy


@kernel
def sketch_texts(
    views: Hashes,
    content: Bytes,
    bases: Offsets,
    there: Bytes,
    weights: Hashes,
    marks: Bytes,
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
        weights: ``(256,)`` what a byte adds to the counts.
        marks: ``(256,)`` which telling sign a byte is.
        hashes: ``(n,)`` written.
        shapes: ``(n,)`` written.
    """
    low, half, byte = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(8)
    for text in range(len(hashes)):
        if len(there) and there[text] == 0:
            hashes[text], shapes[text] = _NOTHING, NO_TEXT
            continue
        first, second = views[2 * text], views[2 * text + 1]
        length = int(first & low)
        total, marked = np.uint64(0), 0
        if length <= _WITHIN:
            hashes[text] = _stirred(_stirred(first ^ _SEED) + second)
            rest = first >> half
            for place in range(length):
                sign = int(rest & np.uint64(255)) if place < 4 else int(second & np.uint64(255))
                if place < 4:
                    rest >>= byte
                else:
                    second >>= byte
                total += weights[sign]
                marked |= int(marks[sign])
        else:
            start = bases[int(second & low)] + int(second >> half)
            mixed = _SEED ^ np.uint64(length)
            for block in range(length // 8):
                word = np.uint64(0)
                for place in range(8):  # one load, as the number of bytes is known
                    word |= np.uint64(content[start + 8 * block + place]) << (byte * np.uint64(place))
                mixed = _stirred(mixed ^ word)
            word = np.uint64(0)
            for place in range(length % 8):
                word |= np.uint64(content[start + length // 8 * 8 + place]) << (byte * np.uint64(place))
            hashes[text] = _stirred(mixed ^ word)
            for place in range(start, start + min(length, 4000)):
                total += weights[content[place]]
                marked |= int(marks[content[place]])
        shapes[text] = _shape(total, marked)


@kernel
def gather_least(
    hashes: Hashes,
    shapes: Shapes,
    overall: int,
    each: int,
    keys: Written[Hashes],
    counts: Written[Integers],
    rows: Written[Integers],
    limits: Written[Hashes],
) -> int:
    """Count the texts with the smallest hashes, overall and of each shape, in a table of slots.

    A text whose hash lies above the limit of its shape is left out at once. Limits only go down, so the
    counts of texts that stay are exact.
    """
    mask = np.uint64(len(keys) - 1)
    used = 0
    for row in range(len(hashes)):
        shape = shapes[row]
        if shape == NO_TEXT or hashes[row] > limits[shape]:
            continue
        slot = hashes[row] & mask
        while counts[slot] and keys[slot] != hashes[row]:
            slot = (slot + np.uint64(1)) & mask
        if counts[slot] == 0:
            keys[slot], rows[slot] = hashes[row], row
            used += 1
        counts[slot] += 1
        if 2 * used > len(keys):
            used = _shrink(shapes, overall, each, keys, counts, rows, limits)
    return used


@inner
def _shrink(
    shapes: Shapes,
    overall: int,
    each: int,
    keys: Hashes,
    counts: Integers,
    rows: Integers,
    limits: Hashes,
) -> int:
    """Keep the smallest hashes alone, and lower the limits of shapes that lost some."""
    places = np.flatnonzero(counts)
    order = places[np.argsort(keys[places])]
    kept_keys, kept_counts, kept_rows = keys[order], counts[order], rows[order]
    counts[:] = 0
    seen = np.zeros(len(limits), np.int64)
    last = np.zeros(len(limits), np.uint64)
    lost = np.zeros(len(limits), np.bool_)
    mask = np.uint64(len(keys) - 1)
    used = 0
    for rank in range(len(order)):
        shape = shapes[kept_rows[rank]]
        if rank >= overall and seen[shape] >= each:
            lost[shape] = True
            continue
        seen[shape] += 1
        last[shape] = kept_keys[rank]
        slot = kept_keys[rank] & mask
        while counts[slot]:
            slot = (slot + np.uint64(1)) & mask
        keys[slot], counts[slot], rows[slot] = kept_keys[rank], kept_counts[rank], kept_rows[rank]
        used += 1
    for shape in range(len(limits)):
        if lost[shape]:
            limits[shape] = last[shape]
    return used


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
        _weights(),
        _telling(),
        hashes,
        shapes,
    )
    return hashes, shapes


def least_hashes(
    hashes: Hashes, shapes: Shapes, *, overall: int, each: int
) -> tuple[Integers, Integers, Mask]:
    """Choose some different texts: those with the smallest hashes, overall and of each shape.

    Returns:
        A row where each stands, by ascending hash; in how many rows it stands; and which shapes have others.

    Guarantees:
        - The order of rows does not matter, except for which of equal rows is named.
        - What is chosen from parts, and then from what was chosen, is what is chosen from the whole.
    """
    slots = min(_SLOTS, 1 << max(4, int(4 * len(hashes)).bit_length()))
    keys, counts, rows = np.zeros(slots, np.uint64), np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    limits = np.full(SHAPES, _ALL_ONES)
    gather_least(hashes, shapes, overall, each, keys, counts, rows, limits)
    places = np.flatnonzero(counts)
    places = places[np.argsort(keys[places])]
    chosen = stay(shapes[rows[places]], overall=overall, each=each)
    more = limits < _ALL_ONES
    more[shapes[rows[places]][~chosen]] = True
    return rows[places][chosen], counts[places][chosen], more


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
