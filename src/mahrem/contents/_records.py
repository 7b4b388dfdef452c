"""A sketch of a file of text, made where its records lie: the table is never read as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from mahrem.arrays.sketching import IrregularRecords, LeastTexts, RecordHashes, hashes_and_shapes
from mahrem.arrays.weaving import copy_cells
from mahrem.contents._distinct import LONGEST
from mahrem.contents._sketch import OF_EACH, ROWS, VALUES, ColumnSketch, TableSketch, merge_sketches, rows_of
from mahrem.table.reading import TextRecords
from mahrem.threads import in_parallel
from mahrem.types import Integers

Tags = NDArray[np.uint16]


@dataclass(frozen=True)
class RecordSketch:
    """What a look at every record of a file leaves."""

    table: TableSketch
    last: pl.DataFrame = field(repr=False)  # the last record


def sketch_records(records: TextRecords) -> RecordSketch | None:
    """Look at every record of a file once; None where one is not as simple as it should be.

    Guarantees:
        - The sketch is that of the table which :func:`~mahrem.table.open_source` reads from the file.
    """
    hashes = RecordHashes(records.content, ord(records.delimiter), len(records.names))
    try:
        seen = in_parallel(lambda part: _Part.of(records, hashes, *part), hashes.parts(records.begin))
    except IrregularRecords:
        return None
    if not seen:
        return None
    places = _Places(records, seen)
    placed = merge_sketches([part.sketch(base) for part, base in zip(seen, places.bases, strict=True)])
    table = places.with_texts(placed)
    if table is None:
        return None
    last = places.read(np.array([len(places.begins) - 1]))
    return RecordSketch(replace(table, rows_with=places.having), last)


@dataclass(frozen=True)
class _Part:
    """A part of a file: the least hashes of each column and of rows, and where records lie."""

    names: tuple[str, ...]
    columns: Sequence[LeastTexts]
    together: LeastTexts
    begins: Integers = field(repr=False)
    ends: Integers = field(repr=False)
    tags: Sequence[Tags] = field(repr=False)  # (columns, some rows) a few bits of the hash of every cell

    @staticmethod
    def of(records: TextRecords, hashes: RecordHashes, begin: int, end: int) -> _Part:
        """Look at the records between two places."""
        columns = [LeastTexts(overall=VALUES, each=OF_EACH) for _ in records.names]
        together = LeastTexts(overall=ROWS, each=ROWS)
        begins, ends, tags = [np.empty(0, np.int64)], [np.empty(0, np.int64)], []
        for block in hashes.blocks(begin, end):
            for least, cells, shapes in zip(columns, block.hashes, block.shapes, strict=False):
                least.add(cells, shapes)
            together.add(block.hashes[-1], np.zeros(len(block.begins), np.int32))
            begins.append(block.begins.copy())
            ends.append(block.ends.copy())
            tags.append(block.hashes[:-1].astype(np.uint16))
        return _Part(records.names, columns, together, np.concatenate(begins), np.concatenate(ends), tags)

    @property
    def rows(self) -> int:
        return len(self.begins)

    def sketch(self, base: int) -> TableSketch:
        """Sketch the part with the numbers of records instead of texts, counted from some number on."""
        columns = {}
        for name, least in zip(self.names, self.columns, strict=True):
            places, hashes, shapes, counts, more = least.chosen()
            numbers = pl.Series(places + base)
            columns[name] = ColumnSketch(numbers, hashes, shapes, counts, self.rows, least.written, more)
        places, hashes, _, counts, _ = self.together.chosen()
        return TableSketch(columns, pl.DataFrame({"place": places + base}), counts, hashes, self.rows)


class _Places:
    """Where the records of a file lie, and how to read some of them."""

    def __init__(self, records: TextRecords, parts: Sequence[_Part]) -> None:
        self._records, self._parts = records, parts
        self.bases = np.cumsum([0, *(part.rows for part in parts[:-1])])
        self.begins = np.concatenate([part.begins for part in parts])
        self._ends = np.concatenate([part.ends for part in parts])

    def read(self, rows: Integers) -> pl.DataFrame:
        """Read records by their numbers, in ascending order, as text; empty cells are missing."""
        begins, ends = self.begins[rows], self._ends[rows]
        offsets = np.concatenate([[0], np.cumsum(ends - begins)])
        shown = np.empty(int(offsets[-1]), np.uint8)
        copy_cells(self._records.content, begins, offsets, shown)
        names = self._records.names
        if not len(rows):
            return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        return pl.read_csv(
            shown.tobytes(),
            has_header=False,
            new_columns=list(names),
            separator=self._records.delimiter,
            infer_schema=False,
            null_values=[""],
        )

    def with_texts(self, placed: TableSketch) -> TableSketch | None:
        """Put texts instead of numbers of records; None where they are not what was hashed."""
        numbers = {name: column.values.to_numpy() for name, column in placed.columns.items()}
        rows = placed.sample["place"].to_numpy()
        needed = np.unique(np.concatenate([rows, *numbers.values()]))
        shown = self.read(needed)
        if shown.height != len(needed):
            return None
        columns = {}
        for name, column in placed.columns.items():
            texts = shown[name].gather(np.searchsorted(needed, numbers[name]))
            hashes, shapes = hashes_and_shapes(texts)
            if (hashes != column.hashes).any() or (shapes != column.shapes).any():
                return None
            columns[name] = replace(column, values=texts.str.slice(0, LONGEST + 1))
        return replace(placed, columns=columns, sample=shown[np.searchsorted(needed, rows)])

    def having(self, names: Sequence[str], values: pl.DataFrame) -> pl.DataFrame:
        """Give all records that have some values in some columns; tags leave out most others."""
        asked = np.ones(len(self.begins), np.bool_)
        for name in names:
            wanted = np.zeros(1 << 16, np.bool_)
            wanted[hashes_and_shapes(values[name])[0].astype(np.uint16)] = True
            asked &= wanted[self._tags(name)]
        return rows_of(self.read(np.flatnonzero(asked)))(names, values)

    def _tags(self, name: str) -> Tags:
        column = self._records.names.index(name)
        return np.concatenate([some[column] for part in self._parts for some in part.tags])
