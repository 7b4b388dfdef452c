"""A published table as somebody reads it who knows people: its classes, and which of them fit whom.

Any file will do: cells of our own grammar, plain values, labels of hierarchies. Attacks and checks of
originals share it; distinct values are compared with distinct cells, never rows with rows.
"""

from mahrem.lazily import TYPE_CHECKING, offered

if TYPE_CHECKING:
    from mahrem.matching._assign import assign as assign
    from mahrem.matching._assign import recipe_cells as recipe_cells
    from mahrem.matching._matching import ColumnMatch as ColumnMatch
    from mahrem.matching._matching import Matching as Matching
    from mahrem.matching._matching import fit_of as fit_of
    from mahrem.matching._matching import match as match
    from mahrem.matching._published import People as People
    from mahrem.matching._published import Published as Published
    from mahrem.matching._published import as_published as as_published
    from mahrem.matching._published import as_words as as_words
    from mahrem.matching._published import codes_of as codes_of
    from mahrem.matching._published import read_people as read_people
    from mahrem.matching._published import read_published as read_published
    from mahrem.matching._stand_ins import stand_ins as stand_ins
else:
    __getattr__, __dir__, __all__ = offered(__name__)
