"""How many rows each row could be, where a hidden cell is taken to be equal to every value."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.errors import InvalidParameter
from mahrem.types import Integers, Mask, Sizes
from mahrem.verify._classes import SUPPRESSED, published_classes

Hashes = NDArray[np.uint64]


def matching_rows(table: pl.DataFrame, columns: Sequence[str], *, enough: int | None = None) -> Sizes:
    """Count for each row the rows it could be: those that show the same wherever both show something.

    Args:
        table: What is published; ``*`` and missing cells are equal to every value.
        columns: The columns that somebody knows.
        enough: Rows that are not asked about any further once so many show the same.

    Guarantees:
        - No count is below that of the rows which show the same in every column.
        - Values are compared by sums of random numbers of 64 bits, new ones each time: that a million rows
          are miscounted has a chance below 1e-6.

    Example:
        >>> shown = pl.DataFrame({"age": ["20", "*", "30"], "sex": ["f", "f", "f"]})
        >>> matching_rows(shown, ["age", "sex"]).tolist()
        [2, 3, 2]
    """
    if not columns:
        raise InvalidParameter("columns=() must name at least one column")
    labels, sizes = published_classes(table, list(columns))
    if not len(labels):
        return np.zeros(0, np.int64)
    first = np.zeros(len(sizes), np.int64)
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    shown = table.select(columns)[first.tolist()]
    rng = np.random.default_rng(secrets.randbits(128))
    coded = [_hashed(series, rng) for series in shown]
    classes = _Shown(np.stack([hashes for hashes, _ in coded]), np.stack([mask for _, mask in coded]), sizes)
    return classes.counts(np.iinfo(np.int64).max if enough is None else enough)[labels]


@dataclass(frozen=True)
class _Shown:
    """Published classes: a random number for each cell, which cells hide something, and rows of each."""

    hashes: Hashes = field(repr=False)  # (d, c)
    hidden: Mask = field(repr=False)  # (d, c)
    sizes: Sizes = field(repr=False)

    def counts(self, enough: int) -> Sizes:
        """Add up, for classes that are not large enough by themselves, all they could be."""
        counts = np.asarray(self.sizes, np.int64).copy()
        packed = np.packbits(self.hidden, axis=0)
        _, which = np.unique(packed, axis=1, return_inverse=True)
        members = [np.flatnonzero(which.reshape(-1) == mask) for mask in range(int(which.max()) + 1)]
        for own in members:
            asked = own[counts[own] < enough]
            if len(asked):
                counts[asked] = sum(self._matches(asked, others) for others in members)
        return counts

    def _matches(self, asked: Integers, others: Integers) -> Sizes:
        """Count the rows of other classes that agree wherever both show something; all hide alike."""
        compared = ~self.hidden[:, asked[0]] & ~self.hidden[:, others[0]]
        mine = self.hashes[np.ix_(compared, asked)].sum(axis=0, dtype=np.uint64)
        theirs = self.hashes[np.ix_(compared, others)].sum(axis=0, dtype=np.uint64)
        keys, place = np.unique(theirs, return_inverse=True)
        rows = np.bincount(place.reshape(-1), weights=self.sizes[others]).astype(np.int64)
        at = np.minimum(np.searchsorted(keys, mine), len(keys) - 1)
        return np.asarray(np.where(keys[at] == mine, rows[at], 0))


def _hashed(series: pl.Series, rng: np.random.Generator) -> tuple[Hashes, Mask]:
    """Give every value a random number, and say which cells show nothing."""
    text = series.cast(pl.String)
    shown = text.set(text == SUPPRESSED, None)
    hidden = shown.is_null().to_numpy()
    codes = (shown.rank("dense").cast(pl.Int64) - 1).fill_null(0).to_numpy()
    numbers = rng.integers(0, 2**64, int(codes.max(initial=0)) + 1, dtype=np.uint64)
    return numbers[codes], hidden
