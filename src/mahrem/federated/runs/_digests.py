"""What tells the people of a table from those it held before, without a cell of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import polars as pl

PART = 100_000  # cells that are written at once


def digest_columns(frame: pl.DataFrame) -> dict[str, str]:
    """Give for each column what tells its cells from others; the order of rows does not count.

    By column, so that tables can be compared of which two federations read different ones.

    Example:
        >>> one = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
        >>> digest_columns(one) == digest_columns(one.reverse()), differing(digest_columns(one), {"c": "0"})
        (True, frozenset())
        >>> sorted(differing(digest_columns(one), digest_columns(one.with_columns(b=pl.lit("x")))))
        ['b']
    """
    return {name: _digest(frame[name].cast(pl.String).sort()) for name in frame.columns}


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> frozenset[str]:
    """Name the columns that both tables have and that hold other cells."""
    return frozenset(name for name in one.keys() & other.keys() if one[name] != other[name])


def _digest(cells: pl.Series) -> str:
    digest = hashlib.sha256(cells.null_count().to_bytes(8, "big"))
    for first in range(0, len(cells), PART):
        part = cells.slice(first, PART).drop_nulls().to_list()
        digest.update(b"".join(len(cell).to_bytes(4, "big") + cell.encode() for cell in part))
    return digest.hexdigest()[:16]
