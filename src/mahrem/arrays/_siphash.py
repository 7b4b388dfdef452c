"""Keyed hashes of many short texts at once."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mahrem.types import Offsets

__all__ = ["hash_texts"]

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

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


@njit(cache=True, nogil=True, inline="always")
def _turn(word: np.uint64, by: np.uint64) -> np.uint64:
    return (word << by) | (word >> (_BITS - by))


@njit(cache=True, nogil=True)
def _mix(state: Words, rounds: int) -> None:
    for _ in range(rounds):
        state[0] += state[1]
        state[2] += state[3]
        state[1] = _turn(state[1], _LEFT[0]) ^ state[0]
        state[3] = _turn(state[3], _LEFT[2]) ^ state[2]
        state[0] = _turn(state[0], _LEFT[1])
        state[2] += state[1]
        state[0] += state[3]
        state[1] = _turn(state[1], _LEFT[4]) ^ state[2]
        state[3] = _turn(state[3], _LEFT[3]) ^ state[0]
        state[2] = _turn(state[2], _LEFT[5])


@njit(cache=True, nogil=True)
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
    state = np.empty(4, np.uint64)
    for text in range(len(hashes)):
        for part in range(4):
            state[part] = _START[part] ^ key[part % 2]
        length = offsets[text + 1] - offsets[text]
        for word in range(length // 8 + 1):
            first = offsets[text] + 8 * word
            block = np.uint64(0)
            for place in range(min(8, offsets[text + 1] - first)):
                block |= np.uint64(content[first + place]) << (_BYTE * np.uint64(place))
            if word == length // 8:
                block |= np.uint64(length & 255) << np.uint64(56)
            state[3] ^= block
            _mix(state, 2)
            state[0] ^= block
        state[2] ^= _LAST
        _mix(state, 4)
        hashes[text] = state[0] ^ state[1] ^ state[2] ^ state[3]
    return hashes
