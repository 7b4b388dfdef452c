"""Sketches of rows and texts that add up in any order, keyed hashes and a keyed shuffle.

Nothing of them can be turned back into a row.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.arrays.sketching._record_sketch import IrregularRecords as IrregularRecords
    from mahrem.arrays.sketching._record_sketch import RecordBlock as RecordBlock
    from mahrem.arrays.sketching._record_sketch import RecordHashes as RecordHashes
    from mahrem.arrays.sketching._row_sketch import RowSketch as RowSketch
    from mahrem.arrays.sketching._row_sketch import bytes_of as bytes_of
    from mahrem.arrays.sketching._shuffle import shuffled as shuffled
    from mahrem.arrays.sketching._siphash import hash_texts as hash_texts
    from mahrem.arrays.sketching._text_sketch import NO_TEXT as NO_TEXT
    from mahrem.arrays.sketching._text_sketch import SHAPES as SHAPES
    from mahrem.arrays.sketching._text_sketch import SPREAD as SPREAD
    from mahrem.arrays.sketching._text_sketch import LeastTexts as LeastTexts
    from mahrem.arrays.sketching._text_sketch import hashes_and_shapes as hashes_and_shapes
    from mahrem.arrays.sketching._text_sketch import stay as stay
else:
    __getattr__, __dir__, __all__ = offered(__name__)
