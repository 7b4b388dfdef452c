"""A published table as somebody reads it who knows people: its classes, and which of them fit whom.

Any file will do: cells of our own grammar, plain values, labels of hierarchies. Attacks and checks of
originals share it; distinct values are compared with distinct cells, never rows with rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.matching._assign import assign, recipe_cells
    from mahrem.matching._matching import ColumnMatch, Matching, fit_of, match
    from mahrem.matching._published import (
        People,
        Published,
        as_published,
        as_words,
        codes_of,
        read_people,
        read_published,
    )
    from mahrem.matching._stand_ins import stand_ins
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "ColumnMatch",
    "Matching",
    "People",
    "Published",
    "as_published",
    "as_words",
    "assign",
    "codes_of",
    "fit_of",
    "match",
    "read_people",
    "read_published",
    "recipe_cells",
    "stand_ins",
]
