"""Rows of text put together from pieces: each row names the piece it shows in every strand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import inner_with, kernel
from mahrem.threads import available_threads, in_threads
from mahrem.types import Integers, Offsets, Written

__all__ = ["Strand", "copy_pieces", "weave", "weave_rows"]

Bytes: TypeAlias = NDArray[np.uint8]
Word: TypeAlias = np.uint64

_U = np.uint64
_FEW = 4_096  # rows below which a second thread is not worth starting


class Strand(NamedTuple):
    """Pieces of text one after the other, and which of them each row shows."""

    content: Bytes
    offsets: Offsets  # (pieces + 1,) where each begins
    place: Integers  # (rows,) the piece of each row


@inner_with(inline="always")
def _copy_eight(out: Bytes, to: Word, content: Bytes, begin: Word) -> None:
    """Copy eight bytes as one word: one load and one store, as their number is known."""
    word = _U(0)
    for byte in range(_U(8)):
        word |= _U(content[begin + byte]) << (_U(8) * byte)
    for byte in range(_U(8)):
        out[to + byte] = np.uint8((word >> (_U(8) * byte)) & _U(255))


@kernel
def copy_pieces(
    out: Written[Bytes],
    at: Written[Integers],
    content: Bytes,
    offsets: Offsets,
    place: Integers,
    first: int,
    last: int,
) -> None:
    """Copy the pieces of rows ``first`` to ``last`` to where each row goes on, and move that on."""
    for row in range(_U(first), _U(last)):
        piece = _U(place[row])
        begin, end = _U(offsets[piece]), _U(offsets[piece + _U(1)])
        to = _U(at[row])
        size = end - begin
        if size < _U(8):
            for byte in range(size):
                out[to + byte] = content[begin + byte]
        else:  # by words, the last of which may overlap the one before it: no call, no guess
            for word in range(size >> _U(3)):
                _copy_eight(out, to + (word << _U(3)), content, begin + (word << _U(3)))
            _copy_eight(out, to + size - _U(8), content, end - _U(8))
        at[row] = np.int64(to + size)


def weave(strands: Sequence[Strand], room: Bytes | None = None) -> Bytes:
    """Put rows together: of every strand, in their order, the piece that a row shows.

    Args:
        strands: At least one; all speak of the same rows.
        room: Where to put them, if there is enough: new memory takes as long as the rows themselves.

    Guarantees:
        - Rows stand one after the other, and nothing between them.

    Example:
        >>> ages = Strand(np.frombuffer(b"[18, 25];64;", np.uint8), np.array([0, 9, 12]), np.array([0, 1, 0]))
        >>> ills = Strand(np.frombuffer(b"flu|gout|", np.uint8), np.array([0, 4, 9]), np.array([1, 1, 0]))
        >>> weave([ages, ills]).tobytes()
        b'[18, 25];gout|64;gout|[18, 25];flu|'
    """
    return weave_rows(strands, room)[0]


def weave_rows(strands: Sequence[Strand], room: Bytes | None = None) -> tuple[Bytes, Offsets]:
    """Put rows together as :func:`weave` does; gives where each begins, and where the last ends, too."""
    rows = len(strands[0].place)
    lengths = np.zeros(rows, np.int64)
    for strand in strands:
        lengths += np.diff(strand.offsets)[strand.place]
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    at = offsets[:-1].copy()
    size = int(offsets[-1])
    out = np.empty(size, np.uint8) if room is None or len(room) < size else room[:size]

    def copy(first: int, last: int) -> None:
        for strand in strands:
            copy_pieces(out, at, *strand, first, last)

    in_threads(copy, lengths, 4 * available_threads() if rows > _FEW else 1)
    return out, offsets
