"""A table in little memory: texts as numbers of the different ones, in as few bytes as these need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

import polars as pl

from mahrem.threads import in_parallel

_BYTES_A_TEXT = 64  # beside its letters, to find its number again
_Width: TypeAlias = type[pl.UInt8] | type[pl.UInt16] | type[pl.UInt32]


class NumberedTable:
    """Columns of a table that come part by part.

    Args:
        names: Of the columns that are taken.

    Guarantees:
        - Cells are equal, or missing, exactly where they were; what is no text stays as it is.
        - A text is kept once, and a cell of text takes one, two or four bytes.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._columns: dict[str, _NumberedTexts | _OtherCells] = {}
        self._names = names

    def add(self, part: pl.DataFrame) -> dict[str, pl.Series]:
        """Take further rows; gives those of them that are texts as categories."""
        for name in self._names:
            if name not in self._columns:
                self._columns[name] = _NumberedTexts() if part.schema[name] == pl.String else _OtherCells()

        coded = in_parallel(lambda name: self._columns[name].add(part[name]), self._names, rows=part.height)
        return {series.name: series for series in coded if isinstance(series.dtype, pl.Categorical)}

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return sum(column.size for column in self._columns.values())

    def frame(self) -> pl.DataFrame:
        """Give all rows, texts as categories; nothing is held any more."""
        return pl.DataFrame([self._columns.pop(name).column(name) for name in self._names])


class _OtherCells:
    """Cells that are no text, as they came."""

    def __init__(self) -> None:
        self._parts: list[pl.Series] = []
        self.size = 0

    def add(self, cells: pl.Series) -> pl.Series:
        self._parts.append(cells)
        self.size += int(cells.estimated_size())
        return cells

    def column(self, name: str) -> pl.Series:
        return pl.concat(self._parts).alias(name)


class _NumberedTexts:
    """Texts of a column: which there are, and which of them each cell has."""

    def __init__(self) -> None:
        self._categories = pl.Categories.random()
        self._kept = pl.Series(dtype=pl.Categorical(self._categories))  # while a column has them, texts stay
        self._parts: list[pl.Series] = []
        self._texts = self._bytes_of_texts = self._bytes_of_cells = 0

    @property
    def size(self) -> int:
        return self._bytes_of_texts + self._bytes_of_cells

    def add(self, cells: pl.Series) -> pl.Series:
        coded = cells.cast(self._kept.dtype)
        numbers = coded.to_physical()
        highest = cast("int | None", numbers.max())
        if highest is not None and highest >= self._texts:
            self._texts = highest + 1
            letters = int(self._categories.to_series().str.len_bytes().sum())
            self._bytes_of_texts = letters + _BYTES_A_TEXT * self._texts
        self._parts.append(numbers.cast(_width(self._texts)))
        self._bytes_of_cells += int(self._parts[-1].estimated_size())
        return coded

    def column(self, name: str) -> pl.Series:
        narrow = pl.Categories.random(physical=_width(self._texts))
        texts = self._categories.to_series().cast(pl.Categorical(narrow))
        # One by one: places of all cells at once would take four bytes each.
        parts = [texts.gather(part) for part in self._parts]
        self._parts.clear()
        return pl.concat(parts, rechunk=True).alias(name)


def _width(texts: int) -> _Width:
    """Give the fewest bytes that hold the numbers of so many texts; the largest number is polars' own."""
    if texts < 1 << 8:
        return pl.UInt8
    return pl.UInt16 if texts < 1 << 16 else pl.UInt32
