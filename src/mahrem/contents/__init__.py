"""What columns really hold, by their values and never by their names: a share and a reason, no cell.

One entry per kind of content (:data:`CONTENTS`) has a detector that takes distinct values with their counts.
:func:`look_into` asks them all, settles which explanation is best, and adds what columns tell about others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.contents._distinct import DistinctCells, count_distinct
    from mahrem.contents._entries import CONTENTS, ContentKind, Detector
    from mahrem.contents._findings import ColumnRelation, ContentFinding, Contents, Household, SeveralRows
    from mahrem.contents._look import look_into, look_into_column, people_with_several_rows, relate_to
    from mahrem.contents._records import RecordSketch, sketch_records
    from mahrem.contents._relations import holds_codes
    from mahrem.contents._repeats import has_favourites
    from mahrem.contents._sketch import (
        ColumnSketch,
        TableSketch,
        content_hashes,
        merge_sketches,
        sketch_table,
    )
    from mahrem.contents._spans import KINDS, redact_texts
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "CONTENTS",
    "KINDS",
    "ColumnRelation",
    "ColumnSketch",
    "ContentFinding",
    "ContentKind",
    "Contents",
    "Detector",
    "DistinctCells",
    "Household",
    "RecordSketch",
    "SeveralRows",
    "TableSketch",
    "content_hashes",
    "count_distinct",
    "has_favourites",
    "holds_codes",
    "look_into",
    "look_into_column",
    "merge_sketches",
    "people_with_several_rows",
    "redact_texts",
    "relate_to",
    "sketch_records",
    "sketch_table",
]
