"""What columns really hold, by their values and never by their names: a share and a reason, no cell.

One entry per kind of content (:data:`CONTENTS`) has a detector that takes distinct values with their counts.
:func:`look_into` asks them all, settles which explanation is best, and adds what columns tell about others.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.contents._distinct import DistinctCells as DistinctCells
    from mahrem.contents._distinct import count_distinct as count_distinct
    from mahrem.contents._entries import CONTENTS as CONTENTS
    from mahrem.contents._entries import ContentKind as ContentKind
    from mahrem.contents._entries import Detector as Detector
    from mahrem.contents._findings import ColumnRelation as ColumnRelation
    from mahrem.contents._findings import ContentFinding as ContentFinding
    from mahrem.contents._findings import Contents as Contents
    from mahrem.contents._findings import Household as Household
    from mahrem.contents._findings import SeveralRows as SeveralRows
    from mahrem.contents._look import look_into as look_into
    from mahrem.contents._look import look_into_column as look_into_column
    from mahrem.contents._look import people_with_several_rows as people_with_several_rows
    from mahrem.contents._look import relate_to as relate_to
    from mahrem.contents._records import RecordSketch as RecordSketch
    from mahrem.contents._records import sketch_records as sketch_records
    from mahrem.contents._relations import holds_codes as holds_codes
    from mahrem.contents._repeats import has_favourites as has_favourites
    from mahrem.contents._sketch import ColumnSketch as ColumnSketch
    from mahrem.contents._sketch import TableSketch as TableSketch
    from mahrem.contents._sketch import content_hashes as content_hashes
    from mahrem.contents._sketch import merge_sketches as merge_sketches
    from mahrem.contents._sketch import sketch_table as sketch_table
    from mahrem.contents._spans import redact_texts as redact_texts
else:
    __getattr__, __dir__, __all__ = offered(__name__)
