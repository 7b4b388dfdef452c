"""Cuts through a table: Mondrian's splits and their kin, from one segment of rows to classes.

Segments are laid out once and split in place; trees of words and what is left over stand beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mahrem.lazily import offered

if TYPE_CHECKING:
    from mahrem.arrays.cutting._branches import Branches, branch_out
    from mahrem.arrays.cutting._descend import SIDES, Asked, CutTree, Tally, descend, tally
    from mahrem.arrays.cutting._forest import Forest
    from mahrem.arrays.cutting._groups import class_extremes, triplets
    from mahrem.arrays.cutting._grow import grow
    from mahrem.arrays.cutting._layout import Rooms, Scratch, Split, fill_labels
    from mahrem.arrays.cutting._leftovers import group_nearest, join_least, merge_refused
    from mahrem.arrays.cutting._rounds import Rounds, list_rows
    from mahrem.arrays.cutting._select import nth, signed
    from mahrem.arrays.cutting._split import divide, move
else:
    __getattr__, __dir__ = offered(__name__)

__all__ = [
    "SIDES",
    "Asked",
    "Branches",
    "CutTree",
    "Forest",
    "Rooms",
    "Rounds",
    "Scratch",
    "Split",
    "Tally",
    "branch_out",
    "class_extremes",
    "descend",
    "divide",
    "fill_labels",
    "group_nearest",
    "grow",
    "join_least",
    "list_rows",
    "merge_refused",
    "move",
    "nth",
    "signed",
    "tally",
    "triplets",
]
