"""Classes of a table that does not fit into memory, told apart by hashes of what they show."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.types import Integers, Labels, Sizes

_BITS = 5  # of a hash that say which bucket a class falls to
_TOP = np.uint64(64 - _BITS)

Hashes = NDArray[np.uint64]


def class_hashes(quasi: Sequence[str], names: Sequence[str]) -> list[pl.Expr]:
    """Give two hashes of what a row shows, each with a key of its own that nobody knows before."""
    return [pl.struct(quasi).hash(secrets.randbits(64)).alias(name) for name in names]


def hashed_parts(
    numbers: pl.LazyFrame, keys: Sequence[str], passes: int
) -> Iterator[tuple[pl.DataFrame, Labels, Sizes]]:
    """Give rows part by part, with the number of each row's class in its part and the sizes of classes.

    Every pass reads the table, holds the rows that fall to it by their hash, in buckets, and numbers the
    classes of one bucket after the other: what is held of a row are its hashes and codes, once.

    Args:
        numbers: Two hashes of every row, and what else is to be known of it; read again in every pass.
        keys: The names of the hashes.
        passes: How often to read.

    Guarantees:
        - All rows of a class lie in one part, and rows of two classes never share a number.
    """
    for number in range(passes):
        asked = numbers if passes == 1 else numbers.filter(pl.col(keys[0]) % passes == number)
        held: list[tuple[pl.DataFrame, Integers]] = []
        for batch in asked.collect_batches(maintain_order=False):
            bucket = (batch[keys[0]].to_numpy() >> _TOP).astype(np.uint8)
            order = np.argsort(bucket, kind="stable")
            ends = np.searchsorted(bucket[order], np.arange(2**_BITS + 1))
            held.append((batch[order], ends))
        empty = number == passes - 1 and not any(batch.height for batch, _ in held)
        for place in range(2**_BITS):
            pieces = [batch[int(ends[place]) : int(ends[place + 1])] for batch, ends in held]
            if not any(piece.height for piece in pieces) and not (empty and place == 0):
                continue
            rows = pl.concat(pieces or [numbers.head(0).collect()])
            first, second = (rows[key].to_numpy() for key in keys)
            yield rows.drop(keys), *number_classes(first, second)
            del rows, pieces


def number_classes(first: Hashes, second: Hashes) -> tuple[Labels, Sizes]:
    """Number rows by two hashes, by sorting: it takes a third of the memory of grouping."""
    order = np.argsort(first)
    new = np.ones(len(order), np.bool_)
    new[1:] = np.diff(first[order]) != 0
    if (~new[1:] & (np.diff(second[order]) != 0)).any():  # the first hash alone does not tell them apart
        order = np.lexsort((second, first))
        new[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    number = np.cumsum(new) - 1
    labels = np.empty(len(order), np.int64)
    labels[order] = number
    return labels, np.bincount(number)
