"""Keyed hashes of many short texts at once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner_with, kernel
from mahrem.types import Offsets

__all__ = ["hash_texts"]

Word: TypeAlias = np.uint64
Words: TypeAlias = NDArray[np.uint64]
Bytes: TypeAlias = NDArray[np.uint8]

_LEFT = (np.uint64(13), np.uint64(32), np.uint64(16), np.uint64(21), np.uint64(17), np.uint64(32))
_START = (
    np.uint64(0x736F6D6570736575),
    np.uint64(0x646F72616E646F6D),
    np.uint64(0x6C7967656E657261),
    np.uint64(0x7465646279746573),
)
_BITS = np.uint64(64)
_BYTE = np.uint64(8)
_LAST = np.uint64(0xFF)


@inner_with(inline="always")
def _turn(word: Word, by: Word) -> Word:
    return (word << by) | (word >> (_BITS - by))


@inner_with(inline="always")
def _mix(a: Word, b: Word, c: Word, d: Word) -> tuple[Word, Word, Word, Word]:
    a += b
    c += d
    b = _turn(b, _LEFT[0]) ^ a
    d = _turn(d, _LEFT[2]) ^ c
    a = _turn(a, _LEFT[1])
    c += b
    a += d
    b = _turn(b, _LEFT[4]) ^ c
    d = _turn(d, _LEFT[3]) ^ a
    c = _turn(c, _LEFT[5])
    return a, b, c, d


@kernel
def hash_texts(content: Bytes, offsets: Offsets, key: Words) -> Words:
    """Hash every text with SipHash-2-4; text ``i`` is ``content[offsets[i]:offsets[i + 1]]``.

    Args:
        content: All texts, one after the other.
        offsets: ``(n + 1,)`` where each begins.
        key: ``(2,)`` without it hashes can be neither made nor compared.

    References:
        Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012.
    """
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for text in range(len(hashes)):
        a, b = _START[0] ^ key[0], _START[1] ^ key[1]
        c, d = _START[2] ^ key[0], _START[3] ^ key[1]
        length = offsets[text + 1] - offsets[text]
        for word in range(length // 8 + 1):
            first = offsets[text] + 8 * word
            block = np.uint64(0)
            if word < length // 8:
                for place in range(8):  # one load, as the number of bytes is known
                    block |= np.uint64(content[first + place]) << (_BYTE * np.uint64(place))
            else:
                for place in range(length % 8):
                    block |= np.uint64(content[first + place]) << (_BYTE * np.uint64(place))
                block |= np.uint64(length & 255) << np.uint64(56)
            d ^= block
            for _ in range(2):
                a, b, c, d = _mix(a, b, c, d)
            a ^= block
        c ^= _LAST
        for _ in range(4):
            a, b, c, d = _mix(a, b, c, d)
        hashes[text] = a ^ b ^ c ^ d
    return hashes
