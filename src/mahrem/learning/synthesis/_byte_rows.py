"""Rows of groups as bytes, column by column: tables of them are counted by kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mahrem.arrays.counting import Tables, count_tables
from mahrem.errors import InvalidParameter
from mahrem.types import Floats, Integers

VALUES = 256  # groups of a column at most


def laid_out(sets: Sequence[Sequence[int]], sizes: Sequence[int]) -> Tables:
    """Lay out tables over these columns, one after the other."""
    columns = np.full((len(sets), max((len(one) for one in sets), default=0)), -1, dtype=np.int64)
    for table, one in enumerate(sets):
        columns[table, : len(one)] = one
    values = np.where(columns < 0, 1, np.asarray(sizes, dtype=np.int64)[columns])
    ends = np.cumprod(values[:, ::-1], axis=1)[:, ::-1]  # cells that a column and those behind it make
    starts = np.cumsum(np.append(0, ends[:, 0] if ends.size else []), dtype=np.int64)
    return Tables(columns, ends // values, starts)


@dataclass(frozen=True)
class ByteRows:
    """Groups of rows.

    Attributes:
        values: ``(d, n)`` groups.
        sizes: Groups of each column.
    """

    values: NDArray[np.uint8] = field(repr=False)
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, rows: Integers, sizes: Sequence[int]) -> ByteRows:
        """Take ``(n, d)`` groups."""
        if max(sizes) > VALUES:
            raise InvalidParameter(f"sizes={max(sizes)}: a column may have {VALUES} groups at most")
        return cls(np.ascontiguousarray(rows.T, dtype=np.uint8), tuple(sizes))

    def taken(self, places: Integers) -> ByteRows:
        """Take rows by their place, as often as it is named."""
        return replace(self, values=np.ascontiguousarray(self.values[:, places]))

    def whole(self) -> Integers:
        """Give ``(n, d)`` groups."""
        return np.ascontiguousarray(self.values.T, dtype=np.int64)

    def counts(self, sets: Sequence[Sequence[int]], weights: Floats) -> list[Floats]:
        """Add up the weights of rows over each set of columns."""
        if not sets:
            return []
        tables = laid_out(sets, self.sizes)
        counts = np.zeros(tables.starts[-1])
        count_tables(self.values, weights, tables, counts)
        shapes = [[self.sizes[column] for column in one] for one in sets]
        return [
            counts[start:end].reshape(shape)
            for start, end, shape in zip(tables.starts[:-1], tables.starts[1:], shapes, strict=True)
        ]
