"""Sketches of rows and texts that add up in any order, keyed hashes and a keyed shuffle.

Nothing of them can be turned back into a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays.sketching._record_sketch import IrregularRecords, RecordBlock, RecordHashes
    from mahrem.arrays.sketching._row_sketch import RowSketch, bytes_of
    from mahrem.arrays.sketching._shuffle import shuffled
    from mahrem.arrays.sketching._siphash import hash_texts
    from mahrem.arrays.sketching._text_sketch import (
        NO_TEXT,
        SHAPES,
        SPREAD,
        LeastTexts,
        hashes_and_shapes,
        stay,
    )
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "NO_TEXT",
    "SHAPES",
    "SPREAD",
    "IrregularRecords",
    "LeastTexts",
    "RecordBlock",
    "RecordHashes",
    "RowSketch",
    "bytes_of",
    "hash_texts",
    "hashes_and_shapes",
    "shuffled",
    "stay",
]
