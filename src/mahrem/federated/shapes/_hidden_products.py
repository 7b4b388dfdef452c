"""Products that nobody sees whole: one party's matrix times another's vectors, under noise of a dealer."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahrem.errors import InvalidInput
from mahrem.federated.sums import keystream
from mahrem.federated.wire import KEY, Words
from mahrem.types import Integers

MOST_WORDS = 30_000_000  # of a matrix: what one message holds


def draw_words(seed: bytes, shape: tuple[int, int]) -> Words:
    """Stretch a seed to a matrix of 64-bit numbers."""
    return keystream(seed, shape[0] * shape[1]).reshape(shape)


def new_seed() -> bytes:
    """Draw what noise is made from."""
    return secrets.token_bytes(KEY)


def read_seed(body: Mapping[str, object]) -> bytes:
    """Read a seed that was dealt.

    Raises:
        InvalidInput: If it is none.
    """
    seed = body.get("seed")
    if not isinstance(seed, bytes) or len(seed) != KEY:
        raise InvalidInput(f"seed: {KEY} bytes are dealt")
    return seed


def refuse_large(cells: int, rows: int) -> None:
    """Refuse a matrix that does not fit into a message.

    Raises:
        InvalidInput: If so.
    """
    if cells * rows > MOST_WORDS:
        raise InvalidInput(
            f"rows={rows}, cells={cells}: their product is hidden number by number, and at most "
            f"{MOST_WORDS:,} fit; agree on fewer columns or values, or learn from fewer rows"
        )


@dataclass
class MatrixHolder:
    """Has the matrix; sees vectors under noise only.

    All is reckoned modulo 2^64, where a number plus one that is drawn evenly says nothing.

    Args:
        matrix: ``(cells, rows)`` whole numbers: ones where a row counts in a cell, or fixed point.

    Guarantees:
        - What leaves is evenly distributed for whoever lacks the seeds; the party with the vectors learns the
          product, the dealer nothing, as long as these two do not put together what they know.

    References:
        Beaver: Efficient multiparty protocols using circuit randomization, 1991. Du, Atallah: Privacy-
        preserving cooperative scientific computations, 2001 (with a commodity server).

    Example:
        >>> holder, asker = MatrixHolder(np.array([[1, 0, 1]])), VectorHolder(np.array([[5], [7], [-2]]))
        >>> one, two, three = (bytes([place]) * 32 for place in range(3))
        >>> asker.shifted = holder.shift(one)
        >>> answer = holder.product(asker.mask(two), three)
        >>> asker.product(answer, Dealer(1, 3, one).deal(two, three, 1)).tolist()
        [[3]]
    """

    matrix: NDArray[Any] = field(repr=False)
    _noise: Words = field(init=False, repr=False)

    def shift(self, seed: bytes) -> Words:
        """Give the matrix less noise; once, for one seed hides one matrix."""
        refuse_large(*self.matrix.shape)
        self._noise = draw_words(seed, (len(self.matrix), self.matrix.shape[1]))
        return self.matrix.astype(np.int64).view(np.uint64) - self._noise

    def product(self, masked: Words, seed: bytes, rows: Integers | None = None) -> Words:
        """Give the noise times masked vectors, of some rows or of all, under noise of its own."""
        noise = self._noise if rows is None else self._noise[:, rows]
        return noise @ masked + draw_words(seed, (len(self.matrix), masked.shape[1]))


@dataclass
class Dealer:
    """Hands out noise that fits together, and sees no number of anybody.

    Args:
        cells: Rows of the matrix.
        rows: Its columns.
        seed: Of the noise on it.
    """

    cells: int
    rows: int
    seed: bytes = field(default_factory=new_seed, repr=False)
    _noise: Words | None = field(default=None, repr=False)

    def deal(self, vectors: bytes, answer: bytes, width: int, rows: Integers | None = None) -> Words:
        """Give what is left of the noise on vectors and on the answer, by their seeds."""
        if self._noise is None:
            self._noise = draw_words(self.seed, (self.cells, self.rows))
        noise = self._noise if rows is None else self._noise[:, rows]
        drawn = draw_words(vectors, (noise.shape[1], width))
        return noise @ drawn - draw_words(answer, (self.cells, width))


@dataclass
class VectorHolder:
    """Has the vectors ``(rows, width)``, and learns their product with a matrix that it does not see."""

    vectors: Integers = field(repr=False)
    shifted: Words = field(default_factory=lambda: np.empty((0, 0), np.uint64), repr=False)

    def mask(self, seed: bytes) -> Words:
        """Give the vectors less noise; a seed serves once."""
        rows, width = self.vectors.shape
        return self.vectors.astype(np.int64).view(np.uint64) - draw_words(seed, (rows, width))

    def product(self, answer: Words, dealt: Words) -> Integers:
        """Give the product, from what the holder of the matrix said and what was dealt."""
        whole = self.shifted @ self.vectors.astype(np.int64).view(np.uint64) + answer + dealt
        return np.asarray(whole.view(np.int64))
