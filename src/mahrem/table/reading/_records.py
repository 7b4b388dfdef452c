"""Records of a file of text where they lie: nothing is read but what somebody asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mahrem.threads import available_threads, in_parallel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mahrem.arrays.sketching import RecordHashes
    from mahrem.types import Integers
    from mahrem.words import Note

MOST_PARTS = 8  # looked at side by side
WORTH_A_PART = 1 << 21  # bytes


@dataclass(frozen=True, kw_only=True)
class TextRecords:
    """A CSV file in UTF-8 whose header is known and whose records nobody has looked at.

    Attributes:
        label: Kind and name for messages.
        names: Of all columns, at least two.
        content: The file.
        begin: Where its first record begins.
        delimiter: Between cells; a line feed stands between records.
        notes: What was found out about it that a reader must know.
    """

    label: str
    names: tuple[str, ...]
    content: NDArray[np.uint8] = field(repr=False)
    begin: int
    delimiter: str
    notes: tuple[Note, ...]

    def parts(self) -> tuple[RecordHashes, list[int]]:
        """Give what looks at the records, and the borders of parts that are looked at side by side."""
        from mahrem.arrays.sketching import RecordHashes

        hashes = RecordHashes(self.content, ord(self.delimiter), len(self.names))
        parts = min(available_threads(), MOST_PARTS, 1 + len(self.content) // WORTH_A_PART)
        return hashes, hashes.borders(self.begin, parts)

    def count(self) -> int | None:
        """Count the records; None where one is not as simple as it should be."""
        from mahrem.arrays.sketching import IrregularRecords

        hashes, borders = self.parts()
        try:
            return sum(in_parallel(lambda part: hashes.count(*part), pairwise(borders)))
        except IrregularRecords:
            return None

    def read(self, begins: Integers, ends: Integers) -> pl.DataFrame:
        """Read some records as text; empty cells are missing."""
        from mahrem.arrays.weaving import copy_cells

        if not len(begins):
            return pl.DataFrame(schema=dict.fromkeys(self.names, pl.String))
        offsets = np.concatenate([[0], np.cumsum(ends - begins)])
        records = np.empty(int(offsets[-1]), np.uint8)
        copy_cells(self.content, begins, offsets, records)
        return pl.read_csv(
            records.tobytes(),
            has_header=False,
            new_columns=list(self.names),
            separator=self.delimiter,
            infer_schema=False,
            null_values=[""],
        )
