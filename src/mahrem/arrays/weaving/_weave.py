"""Rows of text put together from pieces: each row names the piece it shows in every strand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays._kernel import kernel
from mahrem.threads import available_threads, in_threads
from mahrem.types import Integers, Offsets, Written

__all__ = ["Strand", "copy_pieces", "weave"]

Bytes: TypeAlias = NDArray[np.uint8]

_U = np.uint64
_FEW = 4_096  # rows below which a second thread is not worth starting


class Strand(NamedTuple):
    """Pieces of text one after the other, and which of them each row shows."""

    content: Bytes
    offsets: Offsets  # (pieces + 1,) where each begins
    place: Integers  # (rows,) the piece of each row


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
        for byte in range(end - begin):
            out[to + _U(byte)] = content[begin + _U(byte)]
        at[row] = np.int64(to + end - begin)


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
    rows = len(strands[0].place)
    lengths = np.zeros(rows, np.int64)
    for strand in strands:
        lengths += np.diff(strand.offsets)[strand.place]
    ends = np.cumsum(lengths)
    at = ends - lengths
    size = int(ends[-1]) if rows else 0
    out = np.empty(size, np.uint8) if room is None or len(room) < size else room[:size]

    def copy(first: int, last: int) -> None:
        for strand in strands:
            copy_pieces(out, at, *strand, first, last)

    in_threads(copy, lengths, 4 * available_threads() if rows > _FEW else 1)
    return out
