"""A sketch of the rows of a table: the smallest keyed hashes, by which two tables are compared later."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays.sketching._siphash import hash_texts
from mahrem.threads import available_threads, in_threads
from mahrem.types import Offsets

if TYPE_CHECKING:  # this room is built where there are no frames
    import polars as pl

_FULL = 2.0**64


@dataclass(frozen=True)
class RowSketch:
    """Different rows of a table, as keyed hashes.

    Attributes:
        rows: How many different ones there are.
        hashes: The smallest of them, ascending.

    Guarantees:
        - The order of rows does not matter.
        - Without the key a hash can be neither made nor traced back.
    """

    rows: int
    hashes: NDArray[np.uint64] = field(repr=False)

    @classmethod
    def of(cls, texts: Iterable[pl.Series], key: bytes, *, kept: int) -> Self:
        """Sketch rows that are written as one text each.

        Args:
            texts: The rows, some at a time.
            key: Secret of who keeps the sketch.
            kept: So many hashes at most.
        """
        return cls.of_bytes(map(bytes_of, texts), key, kept=kept)

    @classmethod
    def of_bytes(cls, rows: Iterable[tuple[NDArray[np.uint8], Offsets]], key: bytes, *, kept: int) -> Self:
        """The same of rows that stand one after the other as bytes, with where each begins and ends."""
        words = np.frombuffer(hashlib.sha256(key).digest()[:16], np.uint64)
        hashes = [_hashed(content, offsets, words) for content, offsets in rows]
        distinct = _distinct(np.concatenate([np.empty(0, np.uint64), *hashes]))
        return cls(len(distinct), distinct[:kept])

    @classmethod
    def read(cls, rows: int, content: bytes) -> Self:
        """Read what :meth:`as_bytes` gave."""
        return cls(rows, np.frombuffer(content, "<u8").astype(np.uint64))

    def as_bytes(self) -> bytes:
        """Give the hashes as they are kept."""
        return self.hashes.astype("<u8").tobytes()

    def overlap(self, other: RowSketch) -> int:
        """Count the rows in both; where not all hashes were kept this is an estimate."""
        ends = [int(side.hashes[-1]) for side in (self, other) if side.rows > len(side.hashes)]
        common = np.intersect1d(self.hashes, other.hashes, assume_unique=True)
        if not ends:
            return len(common)
        last = min(ends)
        return round(int(np.searchsorted(common, np.uint64(last), side="right")) * _FULL / (last + 1))


def _distinct(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sort and drop what is there twice, faster than by hashing once more."""
    hashes.sort()
    first = np.ones(len(hashes), np.bool_)
    first[1:] = np.diff(hashes) != 0
    return hashes[first]


def bytes_of(rows: pl.Series) -> tuple[NDArray[np.uint8], Offsets]:
    """Give texts where they lie."""
    import polars as pl

    if not len(rows):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    _, offsets, content = rows.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()
    starts = np.frombuffer(offsets, np.int64)[: len(rows) + 1].copy()
    return np.frombuffer(b"" if content is None else content, np.uint8), starts


def _hashed(texts: NDArray[np.uint8], starts: Offsets, key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash texts in as many threads as there are cores."""
    hashes = np.empty(len(starts) - 1, np.uint64)
    if not len(hashes):
        return hashes

    def hash_run(first: int, last: int) -> None:
        hashes[first:last] = hash_texts(texts, starts[first : last + 1], key)

    in_threads(hash_run, np.diff(starts), 4 * available_threads())
    return hashes
